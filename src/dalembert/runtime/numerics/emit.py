"""Straight-line LLVM text for a tape, in functions of a few hundred operations.

    void name.prologue(const double *p, double *work)
    void name(const double *x, const double *p, double *y, double *work)

The prologue fills the head of `work` with what depends on parameters only; it is run once for any
number of states. Values that one function hands to the next live in `work` too. With lanes every
number is a vector, one state in each lane. The arrays must not overlap.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.jit import Target, host
from dalembert.runtime.numerics.llvm_types import constant, intrinsic_suffix, vector_type
from dalembert.runtime.numerics.lowering import Operation, Program, lower
from dalembert.symbolic.algebra.tape import DATA, Node

# operations of a program that is one function, and of each function of a longer program: the time
# of LLVM's register allocation grows faster than a function
CHUNK: Final = 1000
PART: Final = 400
# how many angles of one state go through the kernel together
_SINCOS_WIDTH: Final = 4
_OPCODES: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


@dataclass(frozen=True)
class EmittedFunction:
    """LLVM text, the name of the function it defines, and how many numbers `work` must hold."""

    ir: str
    name: str
    work_size: int

    @property
    def ir_with_size(self) -> str:
        """The text, and that number under the name of the function."""
        return f"{self.ir}\n@{self.name}.size = constant i64 {self.work_size}"


def emit(
    nodes: Sequence[Node],
    outs: Sequence[int],
    state: Sequence[int],
    parameters: Sequence[int],
    *,
    name: str = "f",
    target: Target | None = None,
    chunk: int = CHUNK,
    store_width: int = 1,
    tables: bool = False,
) -> EmittedFunction:
    """The functions that compute the nodes `outs` of a tape from its symbols `state` and
    `parameters`; by default for one state here.

    Where groups of outs are read again at once, they are best written so: `in_groups` at a time.
    `tables` is for wide programs and little-endian processors: loops in place of instructions.
    """
    target = host() if target is None else target
    pack = _SINCOS_WIDTH if target.lanes == 1 and target.fused else 1
    program = lower(nodes, outs, state, parameters, fuse=target.fused, pack=pack)
    if tables:
        from dalembert.runtime.numerics.operation_tables import emit_tables

        return emit_tables(program, name, target, chunk)
    return ProgramEmitter(program, name, target, chunk, store_width).text()


class ProgramEmitter:
    """The text of one program."""

    def __init__(
        self, program: Program, name: str, target: Target, chunk: int, in_groups: int
    ) -> None:
        lanes, self.in_groups = target.lanes, in_groups
        self.program, self.name, self.lanes, self.chunk, self.is_fused = (
            program,
            name,
            lanes,
            chunk,
            target.fused,
        )
        self.real, self.suffix = vector_type(lanes), intrinsic_suffix(vector_type(lanes))
        self.leaves = {i: constant(x, vector_type(lanes)) for i, x in program.numbers.items()}
        self.places: dict[int, tuple[str, int]] = {i: ("%x", k) for i, k in program.inputs.items()}
        self.places |= {i: ("%p", k) for i, k in program.parameters.items()}
        self.size = 0
        self.used: dict[str, str] = {}
        self.targets: dict[int, list[int]] = {}

    def text(self) -> EmittedFunction:
        """Prologue, body, and the kernels they call."""
        program = self.program
        wanted = {a for operation in program.body for a in operation.arguments} | set(program.outs)
        prologue = self._split(program.prologue)
        self._allocate_prologue_slots(prologue, wanted)
        before = self._section(f"{self.name}.prologue", "pw", prologue, ())
        body = self._split(program.body)
        for k, i in enumerate(program.outs):
            self.targets.setdefault(i, []).append(k)
        made = {r for operation in program.body for r in operation.results}
        self._allocate_chunk_slots(body)
        if len(body) > 1:
            # neighbours may come from different functions
            self.in_groups = 1
        after = self._section(self.name, "xpyw", body, [i for i in self.targets if i not in made])
        parts = [
            math_kernels.declarations(self.lanes, _SINCOS_WIDTH),
            *self.used.values(),
            before,
            after,
        ]
        return EmittedFunction("\n".join(parts), self.name, self.size)

    # ---- where values live -------------------------------------------------------------------

    def _split(self, operations: list[Operation]) -> list[list[Operation]]:
        """Chunks of equal size, none empty but an only one."""
        most = self.chunk if len(operations) <= self.chunk else min(self.chunk, PART)
        count = max(1, -(-len(operations) // most))
        size = max(1, -(-len(operations) // count))
        return [operations[k * size : (k + 1) * size] for k in range(count)]

    def _allocate_prologue_slots(self, chunks: list[list[Operation]], wanted: set[int]) -> None:
        """A place in `work` for every value of the prologue that is wanted outside its chunk."""
        made = {
            r: k
            for k, operations in enumerate(chunks)
            for operation in operations
            for r in operation.results
        }
        crossing = {
            a
            for k, operations in enumerate(chunks)
            for operation in operations
            for a in operation.arguments
            if made.get(a, k) != k
        }
        for i in made:
            if i in wanted or i in crossing:
                self.places[i] = ("%w", self.size)
                self.size += 1

    def _allocate_chunk_slots(self, chunks: list[list[Operation]]) -> None:
        """A place in `work` for values used in later chunks, free again after the last of them."""
        last = {
            a: k
            for k, operations in enumerate(chunks)
            for operation in operations
            for a in operation.arguments
        }
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        for k, operations in enumerate(chunks):
            for operation in operations:
                for i in operation.results:
                    if last.get(i, k) > k:
                        if not free:
                            free.append(self.size)
                            self.size += 1
                        slot = free.pop()
                        self.places[i] = ("%w", slot)
                        ending.setdefault(last[i], []).append(slot)
            free.extend(reversed(ending.get(k, ())))

    # ---- text --------------------------------------------------------------------------------

    def _section(
        self, name: str, arguments: str, chunks: list[list[Operation]], rest: Sequence[int]
    ) -> str:
        """One function per chunk, and one that calls them in order."""
        head = (
            f"({', '.join(f'ptr noalias %{a}' for a in arguments)}) "
            f"{math_kernels.attributes(self.lanes)} {{"
        )
        if len(chunks) == 1:
            return self._function(f"define void @{name}{head}", chunks[0], rest)
        calls, parts = [], []
        for k, operations in enumerate(chunks):
            parts.append(
                self._function(
                    f"define internal void @{name}.{k}{head}",
                    operations,
                    rest if k == len(chunks) - 1 else (),
                )
            )
            calls.append(f"  call void @{name}.{k}({', '.join(f'ptr %{a}' for a in arguments)})")
        return "\n".join([*parts, f"define void @{name}{head}", *calls, "  ret void", "}"])

    def _function(self, head: str, operations: list[Operation], rest: Sequence[int]) -> str:
        lines = _FunctionBody(self)
        for operation in operations:
            lines.compute(operation)
        for i in rest:
            lines.store_output(i)
        return "\n".join([head, *lines.lines, "  ret void", "}"])

    def require_kernel(self, function: str, text: Callable[[], str]) -> str:
        """The name of a kernel, whose text is included."""
        if function not in self.used:
            self.used[function] = text()
        return function


class _FunctionBody:
    """The body of one function; a value is loaded where it is first used."""

    def __init__(self, emission: ProgramEmitter) -> None:
        self.emission, self.real, self.suffix = emission, emission.real, emission.suffix
        self.lanes, self.align = emission.lanes, 8 * emission.lanes
        self.names: dict[int, str] = dict(emission.leaves)
        self.lines: list[str] = []
        # the lanes of groups of outs that are known so far
        self.groups: dict[int, dict[int, str]] = {}

    def value(self, i: int) -> str:
        """The operand that stands for value i."""
        name = self.names.get(i)
        if name is None:
            base, k = self.emission.places[i]
            name = self.names[i] = f"%v{i}"
            self.lines.append(f"  %a{i} = getelementptr {self.real}, ptr {base}, i64 {k}")
            self.lines.append(f"  {name} = load {self.real}, ptr %a{i}, align {self.align}")
        return name

    def define(self, i: int, expression: str) -> None:
        self.lines.append(f"  %v{i} = {expression}")
        self.store_where_needed(i)

    def store_where_needed(self, i: int) -> None:
        """Store value i wherever it is wanted."""
        self.names[i] = f"%v{i}"
        place = self.emission.places.get(i)
        if place is not None:
            self.store(i, f"%s{i}", *place)
        if i in self.emission.targets:
            self.store_output(i)

    def store_output(self, i: int) -> None:
        for k in self.emission.targets[i]:
            if self.emission.in_groups == 1:
                self.store(i, f"%y{i}.{k}", "%y", k)
            else:
                self.collect_output(i, k)

    def collect_output(self, i: int, k: int) -> None:
        """Out number k with its neighbours, written when all of them are known."""
        width = self.emission.in_groups
        group = self.groups.setdefault(k // width, {})
        group[k % width] = self.value(i)
        if len(group) == width:
            vector, last = vector_type(width), "poison"
            for lane, value in sorted(group.items()):
                name = f"%g{k}.{lane}"
                self.lines.append(
                    f"  {name} = insertelement {vector} {last}, {self.real} {value}, i32 {lane}"
                )
                last = name
            self.lines.append(f"  %g{k} = getelementptr {self.real}, ptr %y, i64 {k - k % width}")
            self.lines.append(f"  store {vector} {last}, ptr %g{k}, align 8")

    def store(self, i: int, pointer: str, base: str, k: int) -> None:
        value = self.value(i)
        self.lines.append(f"  {pointer} = getelementptr {self.real}, ptr {base}, i64 {k}")
        self.lines.append(f"  store {self.real} {value}, ptr {pointer}, align {self.align}")

    def compute(self, operation: Operation) -> None:
        op, arguments, results = operation
        if op == "sincos":
            self.sincos(arguments, results)
            return
        values = [self.value(a) for a in arguments]
        plain = _OPCODES.get(op)
        if plain is not None:
            self.define(results[0], f"{plain} {self.real} {values[0]}, {values[1]}")
        else:
            self.define(results[0], self.other_operation(op, results[0], values))

    def other_operation(self, op: str, i: int, values: list[str]) -> str:
        """The right-hand side of an operation that is not one instruction on two numbers."""
        real = self.real
        if op in ("multiply-add", "multiply-subtract", "subtract-product"):
            return self.fma_call(op, i, values)
        if op == "neg":
            return f"fneg {real} {values[0]}"
        if op == "reciprocal":
            return f"fdiv {real} {constant(1.0, vector_type(self.lanes))}, {values[0]}"
        if op in ("abs", "sqrt"):
            return (
                f"call {real} @llvm.{'fabs' if op == 'abs' else op}.{self.suffix}({real} "
                f"{values[0]})"
            )
        if op == "sign":
            return self.sign(i, values[0])
        if op in ("sin", "cos"):
            return (
                f"extractvalue {{{real}, {real}}} "
                f"{self.sincos_call(i, values[0], self.lanes)}, "
                f"{0 if op == 'sin' else 1}"
            )
        name = f"table_{op}" if op in DATA else op
        function = self.emission.require_kernel(
            f"each.{name}.{self.lanes}",
            functools.partial(math_kernels.per_lane_ir, name, self.lanes, len(values)),
        )
        return f"call {real} @{function}({', '.join(f'{real} {v}' for v in values)})"

    def fma_call(self, op: str, i: int, values: list[str]) -> str:
        """± a b ± c in one rounding."""
        a, b, c = values
        real = self.real
        if op == "multiply-subtract":
            self.lines.append(f"  %n{i} = fneg {real} {c}")
            c = f"%n{i}"
        elif op == "subtract-product":
            self.lines.append(f"  %n{i} = fneg {real} {a}")
            a = f"%n{i}"
        return f"call {real} @llvm.fma.{self.suffix}({real} {a}, {real} {b}, {real} {c})"

    def sign(self, i: int, x: str) -> str:
        """−1, 1, or the argument itself where that is zero or not a number."""
        real, lanes = self.real, self.lanes
        flag = "i1" if lanes == 1 else f"<{lanes} x i1>"
        zero, one, minus = (constant(v, vector_type(lanes)) for v in (0.0, 1.0, -1.0))
        self.lines.append(f"  %b{i} = fcmp olt {real} {x}, {zero}")
        self.lines.append(f"  %c{i} = select {flag} %b{i}, {real} {minus}, {real} {x}")
        self.lines.append(f"  %d{i} = fcmp ogt {real} {x}, {zero}")
        return f"select {flag} %d{i}, {real} {one}, {real} %c{i}"

    def sincos(self, angles: tuple[int, ...], results: tuple[int, ...]) -> None:
        """sin and cos; several angles of one state go through one vector."""
        width = self.lanes if len(angles) == 1 else _SINCOS_WIDTH
        real, r = vector_type(width), results[0]
        values = [self.value(a) for a in angles]
        both = self.sincos_call(
            r, values[0] if len(angles) == 1 else self.pack_values(r, values, width), width
        )
        if len(angles) == 1:
            for part, i in enumerate(results):
                self.define(i, f"extractvalue {{{real}, {real}}} {both}, {part}")
            return
        for part in (0, 1):
            self.lines.append(f"  {both}.{part} = extractvalue {{{real}, {real}}} {both}, {part}")
        for k, i in enumerate(results):
            self.define(i, f"extractelement {real} {both}.{k % 2}, i32 {k // 2}")

    def sincos_call(self, r: int, argument: str, width: int) -> str:
        """{sin, cos} of the numbers of a vector."""
        for function in ("sin", "cos"):
            self.emission.require_kernel(
                f"each.{function}.{width}",
                functools.partial(math_kernels.per_lane_ir, function, width),
            )
        text, real = (
            functools.partial(math_kernels.sincos, width, fused=self.emission.is_fused),
            vector_type(width),
        )
        function = self.emission.require_kernel(f"sincos.{width}", text)
        self.lines.append(f"  %r{r} = call {{{real}, {real}}} @{function}({real} {argument})")
        return f"%r{r}"

    def pack_values(self, r: int, values: list[str], width: int) -> str:
        """Numbers packed into a vector, zeros after the last."""
        before = constant(0.0, vector_type(width))
        for k, value in enumerate(values):
            self.lines.append(
                f"  %p{r}.{k} = insertelement {vector_type(width)} {before}, double {value}, i32 "
                f"{k}"
            )
            before = f"%p{r}.{k}"
        return before
