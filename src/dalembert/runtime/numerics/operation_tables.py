"""w[d + i] = w[a_i] ∘ w[b_i]: wide programs as tables of operands, read by one loop per operation.
Keywords: level scheduling.

Operations of one kind whose operands are all known do not depend on each other. They form a batch:
their operands are a table of places in the scratch space, their results a block of it. Nothing is
compiled but the loops, and long code runs at least as fast as from its own instructions, which no
cache holds. The operations are those of the straight-line program, so that the bits are the same.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.emit import EmittedFunction, ProgramEmitter
from dalembert.runtime.numerics.jit import Target
from dalembert.runtime.numerics.llvm_types import constant, intrinsic_suffix, vector_type
from dalembert.runtime.numerics.lowering import Operation, Program

# {operation: how many operands it takes}; a batch names its operation by the place in this table
OPERANDS: Final = {
    "add": 2,
    "sub": 2,
    "mul": 2,
    "div": 2,
    "neg": 1,
    "reciprocal": 1,
    "sqrt": 1,
    "abs": 1,
    "multiply-add": 3,
    "multiply-subtract": 3,
    "subtract-product": 3,
}
_PLAIN: Final = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_NEVER: Final = 1 << 60
Batch = list[Operation]


def emit_tables(program: Program, name: str, target: Target, chunk: int) -> EmittedFunction:
    """The functions `name` and `name.prologue` of a program that is wide."""
    straight, tabulated = split_program(program)
    emitter = ProgramEmitter(straight, f"{name}.straight", target, chunk, 1)
    text = emitter.text()
    # what the prologue has kept is read where it is
    kept = {
        r: emitter.places[r][1] for o in straight.prologue for r in o.results if r in emitter.places
    }
    tables = _Tables(tabulated, name, target.lanes, text.work_size)
    return tables.text(text.ir, straight.outs, kept)


def split_program(program: Program) -> tuple[Program, Program]:
    """The operations without a loop with all that they need, and the others, which also give the
    outs.
    """
    operations = [*program.prologue, *program.body]
    needed: set[int] = set()
    for operation in reversed(operations):
        if operation.op not in OPERANDS or not needed.isdisjoint(operation.results):
            needed.update(operation.arguments, operation.results)

    def part(section: Batch, *, straight: bool) -> Batch:
        return [o for o in section if (o.results[0] in needed) == straight]

    rest = replace(
        program,
        prologue=part(program.prologue, straight=False),
        body=part(program.body, straight=False),
    )
    wanted = {a for o in (*rest.prologue, *rest.body) for a in o.arguments} | set(program.outs)
    made = [r for o in operations if o.results[0] in needed for r in o.results if r in wanted]
    straight = replace(
        program,
        prologue=part(program.prologue, straight=True),
        body=part(program.body, straight=True),
        outs=made,
    )
    return straight, rest


def batches(operations: Iterable[Operation]) -> list[Batch]:
    """Operations of one kind at one depth, the shallowest first."""
    depths: dict[int, int] = {}
    known: dict[tuple[int, str], Batch] = {}
    depth_of = depths.get
    for operation in operations:
        op, arguments, results = operation
        depth = 1 + max([depth_of(a, 0) for a in arguments])
        depths[results[0]] = depth
        known.setdefault((depth, op), []).append(operation)
    return [known[key] for key in sorted(known)]


class _Blocks:
    """Contiguous places, the lowest that are free first."""

    def __init__(self, first: int) -> None:
        self.size = first
        # (first place, length) in order of places
        self.free: list[tuple[int, int]] = []

    def take(self, length: int) -> int:
        for k, (place, room) in enumerate(self.free):
            if room >= length:
                self.free[k : k + 1] = [(place + length, room - length)] if room > length else []
                return place
        place, self.size = self.size, self.size + length
        return place

    def give_back(self, returned: Sequence[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for place, length in sorted([*self.free, *returned]):
            if merged and sum(merged[-1]) == place:
                merged[-1] = merged[-1][0], merged[-1][1] + length
            else:
                merged.append((place, length))
        self.free = merged


class _Tables:
    """Where every value of the tabulated operations lives, and the text that computes them."""

    def __init__(self, program: Program, name: str, lanes: int, size: int) -> None:
        self.program, self.name, self.lanes, self.size = program, name, lanes, size
        self.real = vector_type(lanes)
        self.places: dict[int, int] = {}
        self.used = {a for o in (*program.prologue, *program.body) for a in o.arguments}
        self.used.update(program.outs)
        self.constants: list[str] = []

    def text(
        self, straight: str, results: Sequence[int], kept: Mapping[int, int]
    ) -> EmittedFunction:
        """With the straight-line code that gives `results`, of which it has kept some itself."""
        program, name = self.program, self.name
        numbers = self._numbers()
        parameters = self._leaves("parameters", program.parameters, "%p")
        inputs = self._leaves("inputs", program.inputs, "%x")
        first = self._allocate(results)
        self.places.update(kept)
        head = f"{math_kernels.attributes(self.lanes)} {{"
        lines = [
            straight,
            _copy_loop(name, self.real, head),
            _splat_loop(name, self.lanes, head),
            _operation_loops(name, self.lanes, head),
            f"define void @{name}.prologue(ptr noalias %p, ptr noalias %w) {head}",
            f"  call void @{name}.straight.prologue(ptr %p, ptr %w)",
            numbers,
            parameters,
            self._operations("before", program.prologue, lasting=True),
            "  ret void\n}",
            f"define void @{name}({', '.join(f'ptr noalias %{a}' for a in 'xpyw')}) {head}",
            f"  %r = getelementptr {self.real}, ptr %w, i64 {first}",
            f"  call void @{name}.straight(ptr %x, ptr %p, ptr %r, ptr %w)",
            inputs,
            self._operations("each", program.body, lasting=False),
            self._copy("outs", ("%y", 0), "%w", [self.places[i] for i in program.outs]),
            "  ret void\n}",
        ]
        return EmittedFunction("\n".join([*self.constants, *lines]), name, self.size)

    def _allocate(self, values: Iterable[int]) -> int:
        """The first of as many places."""
        first = self.size
        for i in values:
            self.places[i] = self.size
            self.size += 1
        return first

    def _numbers(self) -> str:
        """The call that writes the numbers to their places."""
        known = [i for i in self.program.numbers if i in self.used]
        data = struct.pack(f"<{len(known)}d", *(self.program.numbers[i] for i in known))
        first, table = self._allocate(known), self._constant("numbers", data)
        return (
            f"  %n = getelementptr {self.real}, ptr %w, i64 {first}\n"
            f"  call void @{self.name}.splat(ptr %n, ptr {table}, i64 {len(known)})"
        )

    def _leaves(self, what: str, leaves: Mapping[int, int], source: str) -> str:
        """The call that copies parameters or the state to their places."""
        known = [i for i in leaves if i in self.used]
        place = "%w", self._allocate(known)
        return self._copy(what, place, source, [leaves[i] for i in known])

    def _copy(self, what: str, place: tuple[str, int], source: str, chosen: list[int]) -> str:
        table = self._constant(what, _bytes(array("i", chosen)))
        return (
            f"  %{what} = getelementptr {self.real}, ptr {place[0]}, i64 {place[1]}\n"
            f"  call void @{self.name}.copy(ptr %{what}, ptr {source}, ptr {table}, "
            f"i64 {len(chosen)})"
        )

    # ---- tables ------------------------------------------------------------------------------

    def _constant(self, what: str, data: bytes) -> str:
        """The name of bytes that the code reads, in the order of little-endian processors."""
        name = f"@{self.name}.{what}"
        content = "\\" + data.hex("\\") if data else ""
        self.constants.append(
            f'{name} = internal constant [{len(data)} x i8] c"{content}", align 16'
        )
        return name

    def _operations(self, what: str, operations: Batch, *, lasting: bool) -> str:
        """The call that computes operations, whose results get places; those of the prologue keep
        theirs.
        """
        grouped = batches(operations)
        blocks, places = _Blocks(self.size), self.places
        last = {} if lasting else self._last_uses(grouped)
        ending: dict[int, list[tuple[int, int]]] = {}
        heads, operands = array("i"), array("i")
        codes = {op: k for k, op in enumerate(OPERANDS)}
        for k, batch in enumerate(grouped):
            first = blocks.take(len(batch))
            places.update({o.results[0]: first + n for n, o in enumerate(batch)})
            heads.extend((codes[batch[0].op], first, len(batch)))
            operands.extend([places[a] for o in batch for a in o.arguments])
            end = _NEVER if lasting else max([last.get(o.results[0], k) for o in batch])
            if end < _NEVER:
                ending.setdefault(end, []).append((first, len(batch)))
            if k in ending:
                blocks.give_back(ending.pop(k))
        self.size = blocks.size
        return (
            f"  call void @{self.name}.loops(ptr %w, ptr "
            f"{self._constant(f'{what}.batches', _bytes(heads))}, ptr "
            f"{self._constant(f'{what}.operands', _bytes(operands))}, i64 {len(grouped)})"
        )

    def _last_uses(self, grouped: Sequence[Batch]) -> dict[int, int]:
        """{value: the last batch that reads it}"""
        last = {a: k for k, batch in enumerate(grouped) for o in batch for a in o.arguments}
        return last | dict.fromkeys(self.program.outs, _NEVER)


def _bytes(numbers: array[int]) -> bytes:
    """Whole numbers of 32 bits, the lowest byte first."""
    if sys.byteorder == "big":
        numbers = array("i", numbers)
        numbers.byteswap()
    return numbers.tobytes()


# ---- loops ---------------------------------------------------------------------------------------


def _copy_loop(name: str, real: str, head: str) -> str:
    """to[i] = from[k_i]"""
    return f"""define internal void @{name}.copy(ptr %to, ptr %from, ptr %k, i64 %count) {head}
  %none = icmp eq i64 %count, 0
  br i1 %none, label %done, label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.1, %next ]
  %k.a = getelementptr i32, ptr %k, i64 %i
  %k.32 = load i32, ptr %k.a, align 4
  %k.64 = zext i32 %k.32 to i64
  %a = getelementptr {real}, ptr %from, i64 %k.64
  %v = load {real}, ptr %a, align 8
  %b = getelementptr {real}, ptr %to, i64 %i
  store {real} %v, ptr %b, align 8
  %i.1 = add i64 %i, 1
  %more = icmp ult i64 %i.1, %count
  br i1 %more, label %next, label %done
done:
  ret void
}}"""


def _splat_loop(name: str, lanes: int, head: str) -> str:
    """to[i] = x_i, the same number in all lanes."""
    real = vector_type(lanes)
    lines = [] if lanes > 1 else [f"  %v = fadd {real} %x, {constant(-0.0, real)}"]
    for k in range(lanes if lanes > 1 else 0):
        before = "poison" if k == 0 else f"%v{k - 1}"
        result = "%v" if k == lanes - 1 else f"%v{k}"
        lines.append(f"  {result} = insertelement {real} {before}, double %x, i32 {k}")
    return f"""define internal void @{name}.splat(ptr %to, ptr %from, i64 %count) {head}
  %none = icmp eq i64 %count, 0
  br i1 %none, label %done, label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i.1, %next ]
  %a = getelementptr double, ptr %from, i64 %i
  %x = load double, ptr %a, align 8
{chr(10).join(lines)}
  %b = getelementptr {real}, ptr %to, i64 %i
  store {real} %v, ptr %b, align 8
  %i.1 = add i64 %i, 1
  %more = icmp ult i64 %i.1, %count
  br i1 %more, label %next, label %done
done:
  ret void
}}"""


def _operation_loops(name: str, lanes: int, head: str) -> str:
    """For every batch the loop of its operation."""
    cases = " ".join(f"i32 {k}, label %op{k}" for k in range(len(OPERANDS)))
    ends = ", ".join(f"[ %o{k}.1, %op{k} ]" for k in range(len(OPERANDS)))
    loops = "\n".join(_loop(k, op, lanes) for k, op in enumerate(OPERANDS))
    arrays = ", ".join(f"ptr noalias %{a}" for a in ("w", "batches", "operands"))
    return f"""define internal void @{name}.loops({arrays}, i64 %n) {head}
  %none = icmp eq i64 %n, 0
  br i1 %none, label %done, label %next
next:
  %k = phi i64 [ 0, %0 ], [ %k.1, %end ]
  %o = phi ptr [ %operands, %0 ], [ %o.1, %end ]
  %h = getelementptr [3 x i32], ptr %batches, i64 %k
  %op = load i32, ptr %h, align 4
  %h.1 = getelementptr i32, ptr %h, i64 1
  %first.32 = load i32, ptr %h.1, align 4
  %first = zext i32 %first.32 to i64
  %h.2 = getelementptr i32, ptr %h, i64 2
  %count.32 = load i32, ptr %h.2, align 4
  %count = zext i32 %count.32 to i64
  %to = getelementptr {vector_type(lanes)}, ptr %w, i64 %first
  %stop = getelementptr {vector_type(lanes)}, ptr %to, i64 %count
  switch i32 %op, label %done [ {cases} ]
{loops}
end:
  %o.1 = phi ptr {ends}
  %k.1 = add i64 %k, 1
  %more = icmp ult i64 %k.1, %n
  br i1 %more, label %next, label %done
done:
  ret void
}}"""


def _loop(k: int, op: str, lanes: int) -> str:
    """The loop of one operation, which ends with the pointer to the operands of the next batch."""
    real, count = vector_type(lanes), OPERANDS[op]
    lines = [f"op{k}:", f"  %d{k} = phi ptr [ %to, %next ], [ %d{k}.1, %op{k} ]"]
    lines.append(f"  %o{k} = phi ptr [ %o, %next ], [ %o{k}.1, %op{k} ]")
    for j in range(count):
        v = f"%v{k}.{j}"
        lines += [
            f"  {v}.a = getelementptr i32, ptr %o{k}, i64 {j}",
            f"  {v}.32 = load i32, ptr {v}.a, align 4",
            f"  {v}.64 = zext i32 {v}.32 to i64",
            f"  {v}.p = getelementptr {real}, ptr %w, i64 {v}.64",
            f"  {v} = load {real}, ptr {v}.p, align 8",
        ]
    values = [f"%v{k}.{j}" for j in range(count)]
    lines += [
        *_result(k, op, lanes, values),
        f"  store {real} %r{k}, ptr %d{k}, align 8",
        f"  %o{k}.1 = getelementptr i32, ptr %o{k}, i64 {count}",
        f"  %d{k}.1 = getelementptr {real}, ptr %d{k}, i64 1",
        f"  %m{k} = icmp eq ptr %d{k}.1, %stop",
        f"  br i1 %m{k}, label %end, label %op{k}",
    ]
    return "\n".join(lines)


def _result(k: int, op: str, lanes: int, values: list[str]) -> list[str]:
    """%r of operation number k."""
    real, suffix = vector_type(lanes), intrinsic_suffix(vector_type(lanes))
    a = values[0]
    if op in _PLAIN:
        return [f"  %r{k} = {_PLAIN[op]} {real} {a}, {values[1]}"]
    if op == "neg":
        return [f"  %r{k} = fneg {real} {a}"]
    if op == "reciprocal":
        return [f"  %r{k} = fdiv {real} {constant(1.0, real)}, {a}"]
    if op in ("sqrt", "abs"):
        function = "fabs" if op == "abs" else op
        return [f"  %r{k} = call {real} @llvm.{function}.{suffix}({real} {a})"]
    lines = []
    reversed_sign = {"multiply-subtract": 2, "subtract-product": 0}.get(op)
    if reversed_sign is not None:
        # frozen: the sign of a number in memory would be changed in a general register
        lines.append(f"  %f{k} = freeze {real} {values[reversed_sign]}")
        lines.append(f"  %n{k} = fneg {real} %f{k}")
        values[reversed_sign] = f"%n{k}"
    arguments = ", ".join(f"{real} {v}" for v in values)
    return [*lines, f"  %r{k} = call {real} @llvm.fma.{suffix}({arguments})"]
