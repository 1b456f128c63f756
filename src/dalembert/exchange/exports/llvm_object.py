"""The functions of the C header as LLVM text, and as an object file for this or another
processor, which needs only a linker.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from dalembert.exchange.exports.c import CSource
from dalembert.exchange.exports.code_generation import (
    AssignmentWriter,
    LanguageSyntax,
    LoweredFunction,
    Step,
    Value,
    precompute_code,
)
from dalembert.exchange.exports.exported_model import (
    MAX_NEWTON_ITERATIONS,
    POSITION_STEP,
    SPEED_STEP,
    ExportedFunction,
    ExportedModel,
)
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.emit import CHUNK
from dalembert.runtime.numerics.jit import CannotCompile, Target, host
from dalembert.runtime.numerics.llvm_types import DOUBLE, constant
from dalembert.runtime.numerics.math_kernels import LIBRARY

_PLAIN: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_CALLED: Final = ("sin", "cos", *LIBRARY)


@dataclass(frozen=True)
class LLVMSource:
    """Constants stand first in the structure of C and what is derived from them after, so that
    it is one array of numbers here.
    """

    c: CSource

    @property
    def real(self) -> str:
        """float or double"""
        return self.c.real

    @cached_property
    def notation(self) -> LanguageSyntax:
        """Operations on numbers of that type; sin and cos are those of the platform."""
        real, f = self.real, "f" if self.real == "float" else ""
        bits = "f32" if f else "f64"
        table = {op: f"{name} {real} {{0}}, {{1}}" for op, name in _PLAIN.items()}
        table |= {name: f"call {real} @{name}{f}({real} {{0}})" for name in _CALLED}
        table |= {
            "abs": f"call {real} @llvm.fabs.{bits}({real} {{0}})",
            "sqrt": f"call {real} @llvm.sqrt.{bits}({real} {{0}})",
        }
        table |= {
            "neg": f"fneg {real} {{0}}",
            "reciprocal": f"fdiv {real} {self._number(1.0)}, {{0}}",
        }
        table |= {
            "sign": f"call {real} @sign.of({real} {{0}})",
            "atan2": f"call {real} @atan2{f}({real} {{0}}, {real} {{1}})",
        }
        return LanguageSyntax(table, "  {0} = {1}", self._number)

    def _number(self, x: float) -> str:
        """LLVM writes a float as the double that equals it."""
        return constant(
            struct.unpack("f", struct.pack("f", x))[0] if self.real == "float" else x, DOUBLE
        )

    @cached_property
    def _leaves(self) -> dict[int, str]:
        model = self.c.model
        return model.leaves(
            "%x{}", "%w{}", "%p{}", {p.name: str(k) for k, p in enumerate(model.parameters)}, t="%t"
        )

    @cached_property
    def _precomputed(self) -> tuple[list[str], dict[Value, int]]:
        kept = len(self.c.model.parameters)
        store = lambda k, name: self._store("p", kept + k, name)  # noqa: E731
        return precompute_code(
            self.c.lowered_functions.values(), self.notation, self._leaves, store, "%v"
        )

    # ---- memory ------------------------------------------------------------------------------

    def _load(self, array: str, k: int, name: str) -> str:
        return (
            f"  {name}.at = getelementptr {self.real}, ptr %{array}, i32 {k}\n  {name} = load "
            f"{self.real}, ptr {name}.at"
        )

    def _store(self, array: str, k: int, value: str) -> str:
        place = f"%{array}.{k}.to"
        return (
            f"  {place} = getelementptr {self.real}, ptr %{array}, i32 {k}\n  store "
            f"{self.real} "
            f"{value}, ptr {place}"
        )

    def _copy(
        self, source: str, target: str, count: int, first: int = 0, mark: str = ""
    ) -> Iterator[str]:
        """target[first + k] = source[k]"""
        for k in range(count):
            name = f"%{source}{mark}.{k}"
            yield self._load(source, k, name)
            yield (
                f"  {name}.to = getelementptr {self.real}, ptr %{target}, i32 {first + k}\n  "
                f"store {self.real} {name}, ptr {name}.to"
            )

    # ---- functions ---------------------------------------------------------------------------

    def text(self) -> str:
        """The whole module."""
        lines = [*self._declarations(), *self._defaults(), *self._prepare()]
        for f in self.c.model.functions:
            lines += self._function(f)
        if self.c.model.has_projection:
            lines += self._project()
        return "\n".join([*lines, ""])

    @property
    def exported_names(self) -> list[str]:
        """The names of the functions that the header declares."""
        model = self.c.model
        names = [
            "defaults",
            "prepare",
            *(f.name for f in model.public_functions),
            *(["project"] if model.has_projection else []),
        ]
        return [f"{self.c.name}_{name}" for name in names]

    def _declarations(self) -> Iterator[str]:
        real, f = self.real, "f" if self.real == "float" else ""
        yield from (f"declare {real} @{name}{f}({real}) nobuiltin" for name in _CALLED)
        yield f"declare {real} @atan2{f}({real}, {real}) nobuiltin"
        yield from (
            f"declare {real} @llvm.{name}.{'f32' if f else 'f64'}({real})"
            for name in ("fabs", "sqrt")
        )
        one, zero = self._number(1.0), self._number(0.0)
        yield f"define internal {real} @sign.of({real} %x) nounwind {{"
        yield f"  %above = fcmp ogt {real} %x, {zero}\n  %below = fcmp olt {real} %x, {zero}"
        yield f"  %other = select i1 %below, {real} {self._number(-1.0)}, {real} %x"
        yield f"  %sign = select i1 %above, {real} {one}, {real} %other\n  ret {real} %sign\n}}"

    def _defaults(self) -> Iterator[str]:
        yield f"define void @{self.c.name}_defaults(ptr %p) nounwind {{"
        for k, p in enumerate(self.c.model.parameters):
            yield self._store("p", k, self._number(float("nan") if p.value is None else p.value))
        yield f"  call void @{self.c.name}_prepare(ptr %p)\n  ret void\n}}"

    def _prepare(self) -> Iterator[str]:
        yield f"define void @{self.c.name}_prepare(ptr %p) nounwind {{"
        yield from (self._load("p", k, f"%p{k}") for k in range(len(self.c.model.parameters)))
        yield from self._precomputed[0] or [
            self._store("p", len(self.c.model.parameters), self._number(0.0))
        ]
        yield "  ret void\n}"

    def _function(self, f: ExportedFunction) -> Iterator[str]:
        """In pieces of about a thousand operations: the time that LLVM takes grows faster than
        the length of a piece.
        """
        lowered = self.c.lowered_functions[f.name]
        arguments = ["%x", "%w", "%p", *(f"%{r.name}" for r in f.results)]
        head = f"{self.real} %t, {', '.join(f'ptr noalias {a}' for a in arguments)}"
        linkage = "internal " if f.name in (POSITION_STEP, SPEED_STEP) else ""
        body = lowered.body
        pieces = [body[k : k + CHUNK] for k in range(0, len(body), CHUNK)] or [[]]
        if len(pieces) == 1:
            yield from self._chunk(
                f"{linkage}void @{self.c.name}_{f.name}({head})", lowered, f, body, {}, f.nodes
            )
            return
        made = {lowered.value(r): k for k, piece in enumerate(pieces) for r, _, _ in piece}
        kept = _crossing_values(lowered, pieces, made)
        for k, piece in enumerate(pieces):
            given = [i for i in f.nodes if made.get(lowered.value(i), 0) == k]
            signature = f"internal void @{f.name}.{k}({head}, ptr noalias %kept)"
            yield from self._chunk(signature, lowered, f, piece, kept, given)
        yield (
            f"define {linkage}void @{self.c.name}_{f.name}({head}) nounwind {{\n"
            f"  %kept = alloca [{len(kept)} x {self.real}]"
        )
        passed = f"{self.real} %t, {', '.join(f'ptr {a}' for a in (*arguments, '%kept'))}"
        yield from (f"  call void @{f.name}.{k}({passed})" for k in range(len(pieces)))
        yield "  ret void\n}"

    def _chunk(
        self,
        head: str,
        lowered: LoweredFunction,
        f: ExportedFunction,
        body: Sequence[Step],
        kept: Mapping[Value, int],
        given: Sequence[int],
    ) -> Iterator[str]:
        """Some operations of a function: what they read, the lines, what later pieces read, and
        the results among them.
        """
        constants = len(self.c.model.parameters)
        made = dict.fromkeys(lowered.value(r) for r, _, _ in body)
        read = {lowered.value(a) for _, _, arguments in body for a in arguments} | {
            lowered.value(i) for i in given
        }
        derived = {
            value: constants + k for value, k in self._precomputed[1].items() if value in read
        }
        earlier = {value: k for value, k in kept.items() if value in read and value not in made}
        writing = AssignmentWriter(lowered, self.notation, self._leaves, "%v")
        writing.names |= {value: f"%p{k}" for value, k in derived.items()}
        writing.names |= {value: f"%kept{k}" for value, k in earlier.items()}
        writing.run(body)
        yield f"define {head} nounwind {{"
        yield from self._load_variables(read)
        for array, places in (("p", derived.values()), ("kept", earlier.values())):
            yield from (self._load(array, k, f"%{array}{k}") for k in places)
        yield from writing.lines
        later = [value for value in made if value in kept]
        yield from (self._store("kept", kept[value], writing.names[value]) for value in later)
        yield from self._store_results(f, writing, set(given))
        yield "  ret void\n}"

    def _load_variables(self, read: Container[Value]) -> Iterator[str]:
        model = self.c.model
        for array, variables in (("x", model.states), ("w", model.inputs), ("p", model.parameters)):
            places = [k for k, v in enumerate(variables) if v.node in read]
            yield from (self._load(array, k, f"%{array}{k}") for k in places)

    def _store_results(
        self, f: ExportedFunction, writing: AssignmentWriter, given: Container[int]
    ) -> Iterator[str]:
        for r in f.results:
            for k, i in enumerate(r.nodes):
                if i in given:
                    yield self._store(r.name, k, writing.name(i))

    def _project(self) -> Iterator[str]:
        """The loop of the projection in C: Newton steps on positions while the residual halves,
        then on speeds.
        """
        real, name, model = self.real, self.c.name, self.c.model
        n_q, n_u, given = len(model.q), len(model.u), f"{self.real} %t, ptr %x, ptr %w, ptr %p"
        yield f"define {real} @{name}_project({given}) nounwind {{"
        yield (
            f"entry:\n  %q = alloca [{n_q} x {real}]\n  %u = alloca [{n_u} x {real}]\n  %left = "
            f"alloca {real}"
        )
        yield f"  store {real} {self._number(0.0)}, ptr %left"
        if POSITION_STEP in model.named:
            yield "  br label %newton\nnewton:\n  %k = phi i32 [0, %entry], [%next, %moved]"
            yield (
                f"  %before = phi {real} [{self._number(float('inf'))}, %entry], [%residual, "
                f"%moved]"
            )
            yield (
                f"  call void @{name}_{POSITION_STEP}({given}, ptr %q, ptr %left)\n  %residual "
                f"= "
                f"load {real}, ptr %left"
            )
            yield (
                f"  %half = fmul {real} %before, {self._number(0.5)}\n  %less = fcmp olt {real} "
                f"%residual, %half"
            )
            yield "  br i1 %less, label %moved, label %speeds\nmoved:"
            yield from self._copy("q", "x", n_q)
            yield (
                f"  %next = add i32 %k, 1\n  %more = icmp slt i32 %next, "
                f"{MAX_NEWTON_ITERATIONS}\n  br i1 %more, label %newton, label %speeds\nspeeds:"
            )
        for k in range(model.speed_iterations if SPEED_STEP in model.named else 0):
            yield f"  call void @{name}_{SPEED_STEP}({given}, ptr %u)"
            yield from self._copy("u", "x", n_u, n_q, f".{k}")
        yield f"  %result = load {real}, ptr %left\n  ret {real} %result\n}}"


# ---- object code -----------------------------------------------------------------------------

# processors whose plain form has no unit for numbers: the unit and the calling convention that
# systems for them expect
_RISCV_DEFAULTS: Final = {
    "riscv64": ("+m,+a,+f,+d,+c", "lp64d"),
    "riscv32": ("+m,+a,+f,+d,+c", "ilp32d"),
}


def _crossing_values(
    lowered: LoweredFunction, pieces: Sequence[Sequence[Step]], made: Mapping[Value, int]
) -> dict[Value, int]:
    """A place for each value that another piece reads than the one it is made in."""
    crossing = dict.fromkeys(
        value
        for k, piece in enumerate(pieces)
        for _, _, read in piece
        for a in read
        if made.get(value := lowered.value(a), k) != k
    )
    return {value: n for n, value in enumerate(crossing)}


def select_target(triple: str = "", cpu: str = "", features: str = "") -> Target:
    """The processor of that name; without one, any of the kind that this machine has."""
    if triple.startswith(("arm", "thumb")) and triple.endswith("hf"):
        msg = (
            f"target={triple!r}: this LLVM hands numbers over in the registers of "
            f"{triple.removesuffix('hf')} only; take that target "
            "and -mfloat-abi=softfp, with cpu= where the unit for numbers is to be used, or export "
            "C"
        )
        raise CannotCompile(msg)
    usual, abi = _RISCV_DEFAULTS.get(triple.partition("-")[0], ("", ""))
    return Target(triple or host().triple, cpu=cpu, features=features or usual, abi=abi)


def files(
    model: ExportedModel,
    name: str,
    target: str = "",
    real: str = "double",
    cpu: str = "",
    features: str = "",
) -> dict[str, str | bytes]:
    """{name.h, name.o}"""
    source = CSource(model, name, real)
    # a straight line without common subexpressions leaves LLVM's own passes nothing to do
    image = select_target(target, cpu, features).object_code(LLVMSource(source).text(), optimize=0)
    return {f"{name}.h": source.header(), f"{name}.o": image}
