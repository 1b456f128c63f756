"""The Taylor coefficients of expressions along a motion as native code, order after order, for any order.

    void first(space, double t, const double *y, double *dy)                 order 0: dy = f(t, y)
    void raise(space, double h, int64 order, double *rows, int64 width)      orders 1 … order

`rows` holds the coefficients of y(t + h τ), a row for each order; row 0 is y. `raise` comes after `first` at the same y. It writes
the coefficients of ∫ f dt to the columns from `column` on: for a motion, whose rates f are, these are the coefficients of y itself;
what rides along is written beside a motion whose rows are there already.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy

from dalembert.algebra.tape import Node, Tape
from dalembert.numerics import emit, jit
from dalembert.numerics.compiled import writers
from dalembert.numerics.jet_form import shortest_recurrence
from dalembert.numerics.jet_sums import SumLayout, sums_text
from dalembert.numerics.jets import ImpliedRates
from dalembert.numerics.jit import Target, host
from dalembert.numerics.joining import joined
from dalembert.numerics.llvm_types import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[numpy.float64]

LARGEST_ORDER: Final = 40
# up to so many numbers are copied one by one, which need not wait until they are in memory
_FEW: Final = 16
_FIELDS: Final = ("first", "raise", "p", "x", "values", "zero_work", "inputs", "table", "next_work", "sums")


class CompiledJets:
    """Expressions `outs` of the state (q, u, …, t) and the parameters, with all their Taylor coefficients along the motion."""

    def __init__(
        self,
        tape: Tape,
        outs: Sequence[int],
        state: Sequence[int],
        parameters: Sequence[int],
        *,
        column: int = 0,
        implied: ImpliedRates | None = None,
    ) -> None:
        rule = shortest_recurrence(tape, outs, state, implied)
        self.n_in, self.n_out, self.pairs, self.operations = len(state) - 1, len(outs), len(rule.pairs), rule.operations
        self._layout = _Layout(len(state), len(outs), len(rule.pairs), column)
        self._rule, self._state, self._parameters = rule, tuple(state), tuple(parameters)
        series = [[rule.series(s) for s in side] for side in zip(*rule.pairs, strict=True)] or [[], []]
        # order 0 and what later ones take of it; a row of the table, one order after the other
        self.zero = JetPart(rule.source.nodes, (*rule.of, *rule.zero_order), self._state, self._parameters)
        distinct = {i: place for place, i in enumerate(dict.fromkeys((*series[0], *series[1])))}
        self.next = JetPart(rule.tape.nodes, (*rule.outs, *distinct), rule.inputs, rule.values)
        # for each sum where its two series stand behind the rates
        self.places = [(distinct[f], distinct[g]) for f, g in zip(*series, strict=True)]
        self._series = series

    @functools.cached_property
    def _library(self) -> jit.Library:
        """The code for one run, compiled when it is first asked for."""
        layout, rule, state, parameters = self._layout, self._rule, self._state, self._parameters
        table = layout.row(rule.outs, *self._series, fill=rule.tape.zero)
        zero = layout.padded(rule.of, rule.source.zero) + list(rule.zero_order)

        def text() -> str:
            parts = [
                emit.emit(rule.source.nodes, zero, state, parameters, name="zero"),
                emit.emit(rule.tape.nodes, table, rule.inputs, rule.values, name="next", in_groups=LANES),
            ]
            sizes = "\n".join(f"@{part.name}.size = constant i64 {part.work_size}" for part in parts)
            return joined([("", part.ir) for part in parts] + [("", sizes), ("", layout.text())])

        what = repr((rule.source.nodes, zero, state, parameters, rule.tape.nodes, table, rule.inputs, rule.values, layout.column))
        identity = writers() + hashlib.sha256(what.encode()).digest() + host().identity
        exports = ("first", "raise", "zero.prologue", "zero.size", "next.size")
        return jit.load(text, exports, identity=identity, optimize=0)

    @functools.cached_property
    def _sizes(self) -> tuple[int, int]:
        zero, later = (ctypes.c_int64.from_address(self._library.address(f"{name}.size")).value for name in ("zero", "next"))
        return zero, later

    def space(self, p: Numbers) -> JetSpace:
        """Memory for one run."""
        layout, (zero, later) = self._layout, self._sizes
        parts = {
            "p": p,
            "x": numpy.zeros(self.n_in + 1 + LANES),
            "values": numpy.zeros(layout.rates + len(self._rule.zero_order)),
            "zero_work": numpy.zeros(zero + 8),
            "inputs": numpy.zeros(layout.first_sum + LANES * layout.groups),
            "table": _aligned((LARGEST_ORDER + 1) * layout.width),
            "next_work": numpy.zeros(later + 8),
            "sums": _aligned(2 * LANES * layout.groups),
        }
        prologue = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._library.address("zero.prologue"))
        prologue(p.ctypes.data, parts["zero_work"].ctypes.data)
        return JetSpace(self, parts)

    def functions(self) -> tuple[int, int]:
        """The addresses of `first` and `raise`."""
        return self._library.address("first"), self._library.address("raise")


class JetPart:
    """One of the two functions that coefficients are made by, to be written for any processor: y = f(x, p) of the nodes `outs`."""

    def __init__(self, nodes: Sequence[Node], outs: tuple[int, ...], state: tuple[int, ...], parameters: tuple[int, ...]) -> None:
        self._what = nodes, outs, state, parameters
        self.n_in, self.n_parameters, self.n_out = len(state), len(parameters), len(outs)

    def text_for(self, target: Target, name: str) -> tuple[str, int]:
        """The functions `name` and `name.prologue` in LLVM text, and how many numbers their work takes."""
        text = emit.emit(*self._what, name=name, target=target)
        return f"{text.ir}\n@{name}.size = constant i64 {text.work_size}", text.work_size

    def identity(self, target: Target) -> bytes:
        """What determines that text."""
        return writers() + hashlib.sha256(repr(self._what).encode()).digest() + target.identity


def _aligned(count: int) -> Numbers:
    """Zeros from where a line of the cache begins."""
    space = numpy.zeros(count + 8)
    offset = -space.ctypes.data % 64 // 8
    return space[offset : offset + count]


class JetSpace:
    """One run's own memory of its Taylor coefficients."""

    def __init__(self, code: CompiledJets, parts: dict[str, Numbers]) -> None:
        self._alive = code, parts
        addresses = [*code.functions(), *(parts[name].ctypes.data for name in _FIELDS[2:])]
        self._fields = (ctypes.c_int64 * len(addresses))(*addresses)
        self.address: int = ctypes.addressof(self._fields)


class _Layout:
    """A row of the table: the rates, then the first series of every pair, then the second; all in groups of four."""

    def __init__(self, n_state: int, n_out: int, n_pairs: int, column: int) -> None:
        self.n_state, self.n_out, self.column = n_state, n_out, column
        self.rates = -(-n_out // LANES) * LANES
        self.groups = -(-n_pairs // LANES)
        self.width = self.rates + 2 * LANES * self.groups
        # the state with the time, k, 1/k
        self.first_sum = n_state + 2

    def padded(self, nodes: Sequence[int], fill: int) -> list[int]:
        return [*nodes, *[fill] * (-len(nodes) % LANES)]

    def row(self, *parts: Sequence[int], fill: int) -> list[int]:
        return [i for part in parts for i in self.padded(part, fill)]

    def text(self) -> str:
        """`first`, `raise` and the sums."""
        return "\n".join((_first(self), sums_text(self.sums), _raise(self)))

    @property
    def sums(self) -> SumLayout:
        places = tuple((LANES * m, LANES * (self.groups + m)) for m in range(self.groups))
        return SumLayout(LANES, places, self.rates, self.width, self.first_sum, even=True)


def _load_fields(*names: str) -> str:
    lines = []
    for name in names:
        lines.append(f"  %{name}.at = getelementptr i64, ptr %c, i64 {_FIELDS.index(name)}")
        lines.append(f"  %{name} = load ptr, ptr %{name}.at")
    return "\n".join(lines)


def _loop(count: int, label: str, source: str, target: str, scale: str = "") -> str:
    """target[i] = source[i], times a number if given, for i < count."""
    scaled = f"  %{label}.s# = fmul double %{label}.v#, {scale}\n" if scale else ""
    name = "s" if scale else "v"
    body = (
        f"  %{label}.f# = getelementptr double, ptr {source}, i64 @\n  %{label}.t# = getelementptr double, ptr {target}, i64 @\n"
        f"  %{label}.v# = load double, ptr %{label}.f#, align 8\n{scaled}  store double %{label}.{name}#, ptr %{label}.t#, align 8\n"
    )
    if count <= _FEW:
        return "".join(body.replace("#", str(i)).replace("@", str(i)) for i in range(count))
    inside = body.replace("#", "").replace("@", f"%{label}.i")
    return f"""  br label %{label}.enter
{label}.enter:
  br label %{label}.body
{label}.body:
  %{label}.i = phi i64 [ 0, %{label}.enter ], [ %{label}.n, %{label}.body ]
{inside}  %{label}.n = add i64 %{label}.i, 1
  %{label}.more = icmp slt i64 %{label}.n, {count}
  br i1 %{label}.more, label %{label}.body, label %{label}.done
{label}.done:
"""


def _first(layout: _Layout) -> str:
    n = layout.n_state - 1
    return f"""define void @first(ptr %c, double %t, ptr %y, ptr %dy) nounwind {{
{_load_fields("p", "x", "values", "zero_work")}
{_loop(n, "a", "%y", "%x")}  %t.at = getelementptr double, ptr %x, i64 {n}
  store double %t, ptr %t.at, align 8
  call void @zero(ptr %x, ptr %p, ptr %values, ptr %zero_work)
{_loop(layout.n_out, "b", "%values", "%dy")}  ret void
}}"""


def _raise(layout: _Layout) -> str:
    """x_k = (h/k) f_(k−1), k = 1, 2, …, with f_k from the sums and the rules of order k."""
    n, width, first = layout.n_state - 1, layout.width, layout.first_sum
    return f"""define void @raise(ptr %c, double %h, i64 %order, ptr %rows, i64 %width) nounwind {{
entry:
{_load_fields("values", "inputs", "table", "next_work", "sums")}
  %v0 = getelementptr double, ptr %values, i64 {layout.rates}
  call void @next.prologue(ptr %v0, ptr %next_work)
  %odd = getelementptr double, ptr %sums, i64 {LANES * layout.groups}
  call void @inner(ptr %table, i64 1, ptr %odd)
  br label %order.head
order.head:
  %k = phi i64 [ 1, %entry ], [ %k1, %latch ]
  %before = phi ptr [ %values, %entry ], [ %here, %latch ]
  %row.k = mul i64 %k, %width
  %row = getelementptr double, ptr %rows, i64 %row.k
  %column = getelementptr double, ptr %row, i64 {layout.column}
  %real = sitofp i64 %k to double
  %inverse = fdiv double 1.0, %real
  %factor = fmul double %h, %inverse
{_loop(layout.n_out, "a", "%before", "%column", "%factor")}  %more = icmp slt i64 %k, %order
  br i1 %more, label %again, label %done
again:
  %k1 = add i64 %k, 1
  %later.k = and i64 %k1, 1
  %later.at = mul i64 %later.k, {LANES * layout.groups}
  %later = getelementptr double, ptr %sums, i64 %later.at
  %now.k = and i64 %k, 1
  %now.at = mul i64 %now.k, {LANES * layout.groups}
  %now = getelementptr double, ptr %sums, i64 %now.at
  call void @inner(ptr %table, i64 %k1, ptr %later)
  call void @outer(ptr %table, i64 %k, ptr %now, ptr %inputs)
{_loop(n, "b", "%row", "%inputs")}  %is.first = icmp eq i64 %k, 1
  %dt = select i1 %is.first, double %h, double 0.0
  %t.at = getelementptr double, ptr %inputs, i64 {n}
  store double %dt, ptr %t.at, align 8
  %k.at = getelementptr double, ptr %inputs, i64 {first - 2}
  store double %real, ptr %k.at, align 8
  %inverse.at = getelementptr double, ptr %inputs, i64 {first - 1}
  store double %inverse, ptr %inverse.at, align 8
  %here.k = mul i64 %k, {width}
  %here = getelementptr double, ptr %table, i64 %here.k
  call void @next(ptr %inputs, ptr %v0, ptr %here, ptr %next_work)
  br label %latch
latch:
  br label %order.head
done:
  ret void
}}"""
