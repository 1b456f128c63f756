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
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy

from dalembert.runtime.numerics import emit, jit
from dalembert.runtime.numerics.compiled_function import NativeSource
from dalembert.runtime.numerics.ir_builder import NativeFunction, NumberArray, Operand, Record, Value
from dalembert.runtime.numerics.jit import host, joined
from dalembert.runtime.numerics.llvm_types import LANES, POINTER, REAL, WHOLE
from dalembert.runtime.numerics.taylor_convolution import SumLayout, sums_text
from dalembert.runtime.numerics.taylor_recurrence import ImpliedRates
from dalembert.runtime.numerics.taylor_simplify import shortest_recurrence
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[numpy.float64]

LARGEST_ORDER: Final = 40
# up to so many numbers are copied one by one, which need not wait until they are in memory
_FEW: Final = 16
_FIELDS: Final = tuple(
    (name, POINTER) for name in ("first", "raise", "p", "x", "values", "zero_work", "inputs", "table", "next_work", "sums")
)


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
        self._layout = _SeriesLayout(len(state), len(outs), len(rule.pairs), column)
        self._rule, self._state, self._parameters = rule, tuple(state), tuple(parameters)
        series = [[rule.series(s) for s in side] for side in zip(*rule.pairs, strict=True)] or [[], []]
        # order 0 and what later ones take of it; a row of the table, one order after the other
        self.zero = NativeSource.of(rule.source, (*rule.of, *rule.zero_order), self._state, self._parameters)
        distinct = {i: place for place, i in enumerate(dict.fromkeys((*series[0], *series[1])))}
        self.next = NativeSource.of(rule.tape, (*rule.outs, *distinct), rule.inputs, rule.values)
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
            return joined(("", text) for text in (*(part.with_size for part in parts), layout.text()))

        # what is padded, and which series make a row, follows from these
        identity = self.zero.identity(host()) + self.next.identity(host()) + repr((self.places, layout.column)).encode()
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


def _aligned(count: int) -> Numbers:
    """Zeros from where a line of the cache begins."""
    space = numpy.zeros(count + 8)
    offset = -space.ctypes.data % 64 // 8
    return space[offset : offset + count]


class JetSpace:
    """One run's own memory of its Taylor coefficients."""

    def __init__(self, code: CompiledJets, parts: dict[str, Numbers]) -> None:
        self._alive = code, parts
        addresses = [*code.functions(), *(parts[name].ctypes.data for name, _ in _FIELDS[2:])]
        self._fields = (ctypes.c_int64 * len(addresses))(*addresses)
        self.address: int = ctypes.addressof(self._fields)


class _SeriesLayout:
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


def _copy(f: NativeFunction, count: int, source: NumberArray, target: NumberArray, scale: Value | None = None) -> None:
    """target[i] = source[i], times a number if given, for i < count."""

    def one(i: Operand) -> None:
        target[i] = source[i] if scale is None else source[i] * scale

    if count > _FEW:
        with f.loop(f.value(count, WHOLE)) as i:
            one(i)
    else:
        for k in range(count):
            one(k)


def _numbers_from(f: NativeFunction, base: Value, k: Operand) -> NumberArray:
    return NumberArray(f.emit(POINTER, f"getelementptr {REAL}, {base}, {f.value(k, WHOLE)}"))


def _first(layout: _SeriesLayout) -> str:
    f = NativeFunction("first", "void", POINTER, REAL, POINTER, POINTER, exported=True)
    pointer, t, y, dy = f.parameters
    space, n = Record(pointer, _FIELDS), layout.n_state - 1
    x, values = NumberArray(space.x), NumberArray(space.values)
    _copy(f, n, NumberArray(y), x)
    x[n] = t
    f.line(f"call void @zero({x.pointer}, {space.p}, {values.pointer}, {space.zero_work})")
    _copy(f, layout.n_out, values, NumberArray(dy))
    f.leave()
    return f.text()


def _raise(layout: _SeriesLayout) -> str:
    """x_k = (h/k) f_(k−1), k = 1, 2, …, with f_k from the sums and the rules of order k."""
    f = NativeFunction("raise", "void", POINTER, REAL, WHOLE, POINTER, WHOLE, exported=True)
    pointer, h, order, rows, width = f.parameters
    space, n = Record(pointer, _FIELDS), layout.n_state - 1
    values, inputs, table, work, sums = space.values, NumberArray(space.inputs), space.table, space.next_work, space.sums
    zero, half = _numbers_from(f, values, layout.rates).pointer, LANES * layout.groups
    f.line(f"call void @next.prologue({zero}, {work})")
    f.line(f"call void @inner({table}, i64 1, {_numbers_from(f, sums, half).pointer})")
    with f.loop(order) as before:
        k, first = before + 1, ~before.differs(0)
        row = _numbers_from(f, rows, k * width)
        real = f.value(k, REAL)
        inverse = 1.0 / real
        rates = NumberArray(f.choose(first, values, _numbers_from(f, table, before * layout.width).pointer))
        _copy(f, layout.n_out, rates, _numbers_from(f, row.pointer, layout.column), h * inverse)
        with f.when(k < order):
            # sums of even and of odd orders take turns
            now, later = (_numbers_from(f, sums, f.emit(WHOLE, f"and {m}, 1") * half).pointer for m in (k, k + 1))
            f.line(f"call void @inner({table}, {k + 1}, {later})")
            f.line(f"call void @outer({table}, {k}, {now}, {inputs.pointer})")
            _copy(f, n, row, inputs)
            inputs[n], inputs[n + 1], inputs[n + 2] = f.choose(first, h, 0.0), real, inverse
            here = _numbers_from(f, table, k * layout.width).pointer
            f.line(f"call void @next({inputs.pointer}, {zero}, {here}, {work})")
    f.leave()
    return f.text()
