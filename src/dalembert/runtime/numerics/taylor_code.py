"""The Taylor coefficients of expressions along a motion as native code, order after order, for any
order.

    void first(space, double t, const double *y, double *dy)                 order 0: dy = f(t, y)
    void raise(space, double h, int64 order, double *rows, int64 width)      orders 1 … order

`rows` holds the coefficients of y(t + h τ), a row for each order; row 0 is y. `raise` comes after
`first` at the same y. It writes the coefficients of ∫ f dt to the columns from `column` on: for a
motion, whose rates f are, these are the coefficients of y itself; quadratures are appended to a
motion whose rows are there already.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics import emit, jit
from dalembert.runtime.numerics.compiled_function import NativeSource
from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    StructView,
    Value,
)
from dalembert.runtime.numerics.jit import host, merge_modules
from dalembert.runtime.numerics.llvm_types import DOUBLE, GROUP_SIZE, INT64, POINTER
from dalembert.runtime.numerics.taylor_convolution import ConvolutionLayout, convolution_ir
from dalembert.runtime.numerics.taylor_recurrence import ImplicitRates
from dalembert.runtime.numerics.taylor_simplify import cheapest_recurrence
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[numpy.float64]

LARGEST_ORDER: Final = 40
# up to this number of values are copied separately, which need not wait until they are in memory
_FEW: Final = 16
_FIELDS: Final = tuple(
    (name, POINTER)
    for name in (
        "first",
        "raise",
        "p",
        "x",
        "values",
        "zero_work",
        "inputs",
        "table",
        "next_work",
        "sums",
    )
)


class CompiledTaylor:
    """Expressions `outs` of the state (q, u, …, t) and the parameters, with all their Taylor
    coefficients along the motion.
    """

    def __init__(
        self,
        tape: Tape,
        outs: Sequence[int],
        state: Sequence[int],
        parameters: Sequence[int],
        *,
        column: int = 0,
        implied: ImplicitRates | None = None,
    ) -> None:
        rule = cheapest_recurrence(tape, outs, state, implied)
        self.n_in, self.n_out, self.pairs, self.operations = (
            len(state) - 1,
            len(outs),
            len(rule.pairs),
            rule.operations,
        )
        self._layout = _SeriesLayout(len(state), len(outs), len(rule.pairs), column)
        self._rule, self._state, self._parameters = rule, tuple(state), tuple(parameters)
        self._series = [
            [rule.series(s) for s in side] for side in zip(*rule.pairs, strict=True)
        ] or [[], []]
        self._describe_orders()

    def _describe_orders(self) -> None:
        """Order 0 and what later ones take of it; a row of the table, one order after the other."""
        rule, series = self._rule, self._series
        self.zero = NativeSource.from_tape(
            rule.source, (*rule.source_outs, *rule.zero_order), self._state, self._parameters
        )
        distinct = {i: place for place, i in enumerate(dict.fromkeys((*series[0], *series[1])))}
        self.next = NativeSource.from_tape(
            rule.tape, (*rule.outs, *distinct), rule.inputs, rule.values
        )
        # for each sum where its two series stand behind the rates
        self.places = [(distinct[f], distinct[g]) for f, g in zip(*series, strict=True)]

    @functools.cached_property
    def _library(self) -> jit.Library:
        """The code for one run, compiled when it is first asked for."""
        layout, rule, state, parameters = self._layout, self._rule, self._state, self._parameters
        table = layout.row(rule.outs, *self._series, fill=rule.tape.zero)
        zero = layout.pad_nodes(rule.source_outs, rule.source.zero) + list(rule.zero_order)

        def text() -> str:
            parts = [
                emit.emit(rule.source.nodes, zero, state, parameters, name="zero"),
                emit.emit(
                    rule.tape.nodes,
                    table,
                    rule.inputs,
                    rule.values,
                    name="next",
                    store_width=GROUP_SIZE,
                ),
            ]
            return merge_modules(
                ("", text) for text in (*(part.ir_with_size for part in parts), layout.text())
            )

        # what is padded, and which series make a row, follows from these
        identity = (
            self.zero.cache_key(host())
            + self.next.cache_key(host())
            + repr((self.places, layout.column)).encode()
        )
        exports = ("first", "raise", "zero.prologue", "zero.size", "next.size")
        return jit.load(text, exports, identity=identity)

    @functools.cached_property
    def _sizes(self) -> tuple[int, int]:
        zero, later = (
            ctypes.c_int64.from_address(self._library.address(f"{name}.size")).value
            for name in ("zero", "next")
        )
        return zero, later

    def workspace(self, p: Numbers) -> TaylorWorkspace:
        """Memory for one run."""
        layout, (zero, later) = self._layout, self._sizes
        parts = {
            "p": p,
            "x": numpy.zeros(self.n_in + 1 + GROUP_SIZE),
            "values": numpy.zeros(layout.rates + len(self._rule.zero_order)),
            "zero_work": numpy.zeros(zero + 8),
            "inputs": numpy.zeros(layout.first_sum + GROUP_SIZE * layout.groups),
            "table": _aligned_zeros((LARGEST_ORDER + 1) * layout.width),
            "next_work": numpy.zeros(later + 8),
            "sums": _aligned_zeros(2 * GROUP_SIZE * layout.groups),
        }
        prologue = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
            self._library.address("zero.prologue")
        )
        prologue(p.ctypes.data, parts["zero_work"].ctypes.data)
        return TaylorWorkspace(self, parts)

    def function_addresses(self) -> tuple[int, int]:
        """The addresses of `first` and `raise`."""
        return self._library.address("first"), self._library.address("raise")


def _aligned_zeros(count: int) -> Numbers:
    """Zeros from where a line of the cache begins."""
    space = numpy.zeros(count + 8)
    offset = -space.ctypes.data % 64 // 8
    return space[offset : offset + count]


class TaylorWorkspace:
    """One run's own memory of its Taylor coefficients."""

    def __init__(self, code: CompiledTaylor, parts: dict[str, Numbers]) -> None:
        self._alive = code, parts
        addresses = [
            *code.function_addresses(),
            *(parts[name].ctypes.data for name, _ in _FIELDS[2:]),
        ]
        self._fields = (ctypes.c_int64 * len(addresses))(*addresses)
        self.address: int = ctypes.addressof(self._fields)


class _SeriesLayout:
    """A row of the table: the rates, then the first series of every pair, then the second; all
    in groups of four.
    """

    def __init__(self, n_state: int, n_out: int, n_pairs: int, column: int) -> None:
        self.n_state, self.n_out, self.column = n_state, n_out, column
        self.rates = -(-n_out // GROUP_SIZE) * GROUP_SIZE
        self.groups = -(-n_pairs // GROUP_SIZE)
        self.width = self.rates + 2 * GROUP_SIZE * self.groups
        # the state with the time, k, 1/k
        self.first_sum = n_state + 2

    def pad_nodes(self, nodes: Sequence[int], fill: int) -> list[int]:
        return [*nodes, *[fill] * (-len(nodes) % GROUP_SIZE)]

    def row(self, *parts: Sequence[int], fill: int) -> list[int]:
        return [i for part in parts for i in self.pad_nodes(part, fill)]

    def text(self) -> str:
        """`first`, `raise` and the sums."""
        return "\n".join((_order_zero_ir(self), convolution_ir(self.sums), _higher_orders_ir(self)))

    @property
    def sums(self) -> ConvolutionLayout:
        places = tuple((GROUP_SIZE * m, GROUP_SIZE * (self.groups + m)) for m in range(self.groups))
        return ConvolutionLayout(
            GROUP_SIZE, places, self.rates, self.width, self.first_sum, even=True
        )


def _copy(
    f: FunctionBuilder,
    count: int,
    source: ScalarArray,
    target: ScalarArray,
    scale: Value | None = None,
) -> None:
    """target[i] = source[i], times a number if given, for i < count."""

    def one(i: Operand) -> None:
        target[i] = source[i] if scale is None else source[i] * scale

    if count > _FEW:
        with f.loop(f.value(count, INT64)) as i:
            one(i)
    else:
        for k in range(count):
            one(k)


def _numbers_from(f: FunctionBuilder, base: Value, k: Operand) -> ScalarArray:
    return ScalarArray(f.emit(POINTER, f"getelementptr {DOUBLE}, {base}, {f.value(k, INT64)}"))


def _order_zero_ir(layout: _SeriesLayout) -> str:
    f = FunctionBuilder("first", "void", POINTER, DOUBLE, POINTER, POINTER, exported=True)
    pointer, t, y, dy = f.parameters
    space, n = StructView(pointer, _FIELDS), layout.n_state - 1
    x, values = ScalarArray(space.x), ScalarArray(space.values)
    _copy(f, n, ScalarArray(y), x)
    x[n] = t
    f.line(f"call void @zero({x.pointer}, {space.p}, {values.pointer}, {space.zero_work})")
    _copy(f, layout.n_out, values, ScalarArray(dy))
    f.ret_void()
    return f.text()


@dataclass(frozen=True)
class _RunArrays:
    """The memory of a run that the orders from 1 on read and write.

    values    order 0: the rates
    zero      what later orders take of order 0; it follows the rates
    inputs    of the order that comes next
    table     rates and series, a row for each order
    work      memory of the rules
    sums      of products of series: room for an even and an odd order, which take turns
    """

    layout: _SeriesLayout
    values: Value
    zero: Value
    inputs: ScalarArray
    table: Value
    work: Value
    sums: Value

    @classmethod
    def of(cls, f: FunctionBuilder, space: StructView, layout: _SeriesLayout) -> _RunArrays:
        """Those behind the fields of a run."""
        values, inputs, table = space.values, ScalarArray(space.inputs), space.table
        work, sums = space.next_work, space.sums
        zero = _numbers_from(f, values, layout.rates).pointer
        return cls(layout, values, zero, inputs, table, work, sums)

    def table_row(self, f: FunctionBuilder, k: Value) -> Value:
        """Where row k of the table begins."""
        return _numbers_from(f, self.table, k * self.layout.width).pointer

    def sums_of_parity(self, f: FunctionBuilder, k: Value) -> Value:
        """Where the sums of order k are."""
        room = GROUP_SIZE * self.layout.groups
        return _numbers_from(f, self.sums, f.emit(INT64, f"and {k}, 1") * room).pointer


def _higher_orders_ir(layout: _SeriesLayout) -> str:
    """x_k = (h/k) f_(k−1), k = 1, 2, …, with f_k from the sums and the rules of order k."""
    f = FunctionBuilder("raise", "void", POINTER, DOUBLE, INT64, POINTER, INT64, exported=True)
    pointer, h, order, rows, width = f.parameters
    n, run = layout.n_state - 1, _RunArrays.of(f, StructView(pointer, _FIELDS), layout)
    f.line(f"call void @next.prologue({run.zero}, {run.work})")
    odd = _numbers_from(f, run.sums, GROUP_SIZE * layout.groups).pointer
    f.line(f"call void @inner({run.table}, i64 1, {odd})")
    with f.loop(order) as before:
        k, first = before + 1, ~before.not_equal(0)
        row = _numbers_from(f, rows, k * width)
        real = f.value(k, DOUBLE)
        inverse = 1.0 / real
        rates = ScalarArray(f.select(first, run.values, run.table_row(f, before)))
        _copy(f, layout.n_out, rates, _numbers_from(f, row.pointer, layout.column), h * inverse)
        with f.if_then(k < order):
            _sum_products(f, k, run)
            inputs = run.inputs
            _copy(f, n, row, inputs)
            inputs[n], inputs[n + 1], inputs[n + 2] = f.select(first, h, 0.0), real, inverse
            here = run.table_row(f, k)
            f.line(f"call void @next({inputs.pointer}, {run.zero}, {here}, {run.work})")
    f.ret_void()
    return f.text()


def _sum_products(f: FunctionBuilder, k: Value, run: _RunArrays) -> None:
    """The sums of order k, whose inner terms are known, and the inner terms of the next."""
    now, later = (run.sums_of_parity(f, m) for m in (k, k + 1))
    f.line(f"call void @inner({run.table}, {k + 1}, {later})")
    f.line(f"call void @outer({run.table}, {k}, {now}, {run.inputs.pointer})")
