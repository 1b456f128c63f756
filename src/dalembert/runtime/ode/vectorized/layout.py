"""One worker's memory: a structure, space in which every number is as wide as the lanes, and
tables with a row for each member.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER, offsets, vector_type
from dalembert.runtime.numerics.math_kernels import attributes
from dalembert.runtime.ode.dop853_coefficients import END_STAGE, STAGES
from dalembert.runtime.ode.initial_value_problem import RUNGE_KUTTA_FORM, DenseForm
from dalembert.runtime.ode.integrator_state import StepBuilder, StepCause, WorkRow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from dalembert.runtime.numerics.compiled_function import CompiledFunction, NativeSource
    from dalembert.runtime.numerics.taylor_code import CompiledTaylor

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # the number of the next member, shared by all workers, and how many there are
    ("next", POINTER),
    ("count", INT64),
    # attempts left before the worker returns, members done, whether a lane is vacant or was filled
    # just now
    ("budget", INT64),
    ("done", INT64),
    ("vacant", INT64),
    ("filled", INT64),
    ("space", POINTER),
    # a row for each member: parameters, start, results, states at the wanted times
    ("parameters", POINTER),
    ("starts", POINTER),
    ("results", POINTER),
    ("samples", POINTER),
    # the wanted times in order
    ("times", POINTER),
    ("n_times", INT64),
    ("atol", POINTER),
    ("t_start", DOUBLE),
    ("t_end", DOUBLE),
    ("h_max", DOUBLE),
    ("rtol", DOUBLE),
    ("tolerance", DOUBLE),
)


class FunctionalKind(Enum):
    """What is made of a quantity along a run."""

    GREATEST = "max"
    LEAST = "min"
    MEAN = "mean"
    # the time at which it first crosses zero
    CROSSING = "time"


class Functional(NamedTuple):
    """One number of a run: which quantity, and which functional of it; a crossing upwards (1),
    downwards (−1) or either way (0).
    """

    kind: FunctionalKind
    quantity: int
    direction: float = 0.0


@dataclass(frozen=True, eq=False)
class LaneSeries:
    """Members by Taylor's method: its order, and the coefficients of the motion and of the
    quadratures.
    """

    order: int
    motion: CompiledTaylor
    quadrature: CompiledTaylor | None

    @property
    def jets(self) -> dict[str, CompiledTaylor]:
        """By the names that their functions of order 0 have."""
        return (
            {"rates": self.motion}
            if self.quadrature is None
            else {"rates": self.motion, "quadrature": self.quadrature}
        )


@dataclass(frozen=True, eq=False)
class LaneFunctions:
    """What the members have in common, as compiled functions of (y, t) and parameters; all but the
    rates may be missing.

    With `series` the rates, and the rates of the quadratures, are order 0 of these, followed by
    what later orders take.

    rates         ẏ of the n components in the error norm
    quadrature    the rate of one more component that has no influence on the motion
    energy        two numbers whose sum, with that component, should stay constant
    projection    δq and the largest residual: the constraint projection at the end of a step
    quantities    what functionals are made of
    """

    rates: CompiledFunction | NativeSource
    quadrature: CompiledFunction | NativeSource | None = None
    energy: CompiledFunction | None = None
    projection: CompiledFunction | None = None
    quantities: CompiledFunction | None = None
    functionals: tuple[Functional, ...] = ()
    series: LaneSeries | None = None

    @property
    def parameterized_functions(self) -> dict[str, CompiledFunction | NativeSource]:
        """Those there are of a member's parameters, by name."""
        named = {
            name: getattr(self, name)
            for name in ("rates", "quadrature", "energy", "projection", "quantities")
        }
        return {name: function for name, function in named.items() if function is not None}

    @property
    def all_functions(self) -> dict[str, CompiledFunction | NativeSource]:
        """All that is compiled, by name."""
        later = (
            {}
            if self.series is None
            else {f"{name}.next": jets.next for name, jets in self.series.jets.items()}
        )
        return {**self.parameterized_functions, **later}

    @property
    def dense_form(self) -> DenseForm:
        """How the dense output of a step is written."""
        return (
            RUNGE_KUTTA_FORM
            if self.series is None
            else DenseForm(self.series.order + 1, powers=True)
        )

    @property
    def n(self) -> int:
        """Components in the error norm."""
        return self.rates.n_in - 1

    @property
    def n_y(self) -> int:
        """All components."""
        return self.n + (self.quadrature is not None)

    @cached_property
    def first_parameter(self) -> dict[str, int]:
        """Where the parameters of each function begin in a member's row."""
        return offsets(
            {name: function.n_parameters for name, function in self.parameterized_functions.items()}
        )

    @property
    def n_parameters(self) -> int:
        """Parameters of all functions, one after the other."""
        return self.first_parameter[""]

    @cached_property
    def columns(self) -> dict[str, int]:
        """Where each result begins in a member's row; "" is its length."""
        sizes = {
            "t": 1,
            "steps": 1,
            "rejected": 1,
            "cause": 1,
            "h": 1,
            "y": self.n_y,
            "slope": self.n,
            "drift": 1,
            "scale": 1,
        }
        return offsets({**sizes, "functionals": len(self.functionals)})


# a single run adds its components up in four partial sums
_PARTIAL_SUMS: Final = 4
# rows of the work space that a single run has too
_ROWS: Final[dict[int, str]] = {
    row: row.name.lower() for row in WorkRow if row not in (WorkRow.ATOL, WorkRow.IN_NORM)
}

# numbers of a lane
LANE_NUMBERS: Final = (
    *(
        "t",
        "h",
        "h_try",
        "t_new",
        "error",
        "cause",
        "streak",
        "steps",
        "rejected",
        "active",
        "fresh",
        "good",
    ),
    *(
        "mark_t",
        "mark_attempts",
        "next_at",
        "E_start",
        "V_start",
        "drift",
        "scale",
        "t_last",
        "t_earlier",
        "crossed",
        "zero",
    ),
    # of Taylor's method: the time that coefficients are in powers of, the step that follows, what
    # errors have taught, who gets new ones
    *("unit", "planned", "learned", "expanding"),
    # whole numbers: which member, and its next wanted time
    *("member", "place"),
)


class LaneLayout:
    """Where everything lies in a worker's space, in numbers as wide as the lanes."""

    def __init__(self, functions: LaneFunctions, lanes: int, work: dict[str, int]) -> None:
        self.functions, self.lanes, self.kind = functions, lanes, vector_type(lanes)
        n = functions.n
        # the time follows the state, where functions expect it, and then the quadratures
        self.stride = n + 1 + (functions.quadrature is not None)
        self.size = 0
        self.places: dict[str, int] = {}
        for name in LANE_NUMBERS:
            self._take(name, 1)
        for row in (*_ROWS.values(), "x", "other_x"):
            self._take(row, self.stride)
        for j in range(STAGES) if functions.series is None else (0, 1, END_STAGE):
            self._take(f"k{j}", self.stride)
        for j in range(functions.dense_form.rows):
            self._take(f"r{j}", n)
        if functions.series is not None:
            self._take("jets", functions.dense_form.rows * self.stride)
            for name, jets in functions.series.jets.items():
                for what, count in (
                    ("values", jets.zero.n_out),
                    ("inputs", jets.next.n_in),
                    ("sums", jets.pairs),
                ):
                    self._take(f"{what}.{name}", count)
                self._take(f"table.{name}", functions.series.order * jets.next.n_out)
                self._take(f"w.{name}.next", work[f"{name}.next"])
        self._take("results", 2 + n + 1)
        n_g = functions.quantities.n_out if functions.quantities is not None else 0
        for name in ("g", "g_last", "g_earlier", "other_g"):
            self._take(name, n_g)
        self._take("functionals", len(functions.functionals))
        self._take("sides", len(functions.functionals))
        for name, function in functions.parameterized_functions.items():
            self._take(f"p.{name}", function.n_parameters)
            self._take(f"w.{name}", work[name])

    def _take(self, name: str, count: int) -> None:
        self.places[name] = self.size
        self.size += count

    @property
    def components(self) -> tuple[int, ...]:
        """Places of the components in a row of the space."""
        return (*range(self.functions.n), *range(self.functions.n + 1, self.stride))


class LaneStepBuilder(StepBuilder):
    """A native function of a worker: names stand for places in its space."""

    def __init__(
        self, layout: LaneLayout, name: str, *parameters: str, exported: bool = False
    ) -> None:
        self.layout, self.kind, self.number = layout, layout.kind, layout.kind
        self.function = FunctionBuilder(
            name,
            INT64,
            POINTER,
            *parameters,
            exported=exported,
            attributes=attributes(layout.lanes),
        )
        self.pointer, *self.arguments = self.function.parameters
        self.job = StructView(self.pointer, FIELDS)
        self._space = self.job.space

    @property
    def count(self) -> float:
        return float(self.layout.functions.n)

    def row(self, number: int | str) -> VectorArray:
        """What lies under this name, as wide as the lanes; k_j, and the other rows that a single
        run has, by their numbers too.
        """
        name = (
            number
            if isinstance(number, str)
            else f"k{number}"
            if number < STAGES
            else _ROWS[number]
        )
        where = self.function.emit(
            POINTER, f"getelementptr {self.kind}, {self._space}, i64 {self.layout.places[name]}"
        )
        return VectorArray(where, self.kind)

    def __getitem__(self, name: str) -> Value:
        return (
            self.row(name)[0]
            if name in self.layout.places
            else self.broadcast(getattr(self.job, name))
        )

    def __setitem__(self, name: str, value: Operand) -> None:
        self.row(name)[0] = value

    def masked_store(self, name: str, value: Operand, where: Value) -> None:
        """A new value for the lanes of a mask."""
        self[name] = self.function.select(where, self.broadcast(value), self[name])

    def mask(self, name: str) -> Value:
        """The lanes in which this number is above zero."""
        return self[name] > 0.0

    def as_number(self, mask: Value) -> Value:
        """1 where a mask holds, otherwise 0."""
        return self.function.select(mask, self.broadcast(1.0), self.broadcast(0.0))

    def lane_scalars(self, name: str, kind: str = DOUBLE) -> VectorArray:
        """The numbers of the lanes, element by element."""
        return VectorArray(self.row(name).pointer, kind)

    def table(self, name: str, row: Value, width: Operand) -> ScalarArray:
        """A row of a table."""
        start = row * width
        return ScalarArray(
            self.function.emit(
                POINTER, f"getelementptr {DOUBLE}, {getattr(self.job, name)}, {start}"
            )
        )

    def call(self, name: str, *arguments: Value) -> Value:
        """What another function of the worker returns."""
        return self.function.call(name, INT64, self.pointer, *arguments)

    def math_call(self, name: str, x: Value) -> Value:
        return self.function.call(f"each.{name}.{self.layout.lanes}", self.kind, x)

    def call_compiled(self, name: str, x: VectorArray, out: VectorArray) -> None:
        """A compiled function of (y, t) and the parameters of the lanes."""
        p, w = self.row(f"p.{name}"), self.row(f"w.{name}")
        self.function.line(
            f"call void @{name}({x.pointer}, {p.pointer}, {out.pointer}, {w.pointer})"
        )

    def array_after(self, array: VectorArray, places: Operand) -> VectorArray:
        """The address a number of places after the beginning of an array."""
        return VectorArray(
            self.function.emit(
                POINTER,
                f"getelementptr {self.kind}, {array.pointer}, {self.function.value(places, INT64)}",
            ),
            self.kind,
        )

    def components(self) -> AbstractContextManager[Value]:
        return self.function.loop(self.function.value(self.layout.functions.n, INT64))

    def for_each_component(self, body: Callable[[Operand], None]) -> None:
        with self.components() as i:
            body(i)
        if self.layout.functions.quadrature is not None:
            body(self.layout.functions.n + 1)

    def sums(self, terms: Callable[[Operand], Sequence[Value]], count: int = 1) -> list[Value]:
        f, n = self.function, self.layout.functions.n
        totals = [
            [f.variable(self.broadcast(0.0)) for _ in range(_PARTIAL_SUMS)] for _ in range(count)
        ]

        def add(slot: int, i: Operand) -> None:
            for total, term in zip(totals, terms(i), strict=True):
                total[slot].value = total[slot].value + term

        with f.loop(f.value(n // _PARTIAL_SUMS, INT64)) as group:
            for slot in range(_PARTIAL_SUMS):
                add(slot, group * _PARTIAL_SUMS + slot)
        for slot in range(n % _PARTIAL_SUMS):
            add(slot, n // _PARTIAL_SUMS * _PARTIAL_SUMS + slot)
        return [sum((part.value for part in total), start=self.broadcast(0.0)) for total in totals]

    def tolerances(self) -> VectorArray:
        return ScalarArray(self.job.atol)

    def rate(self, t: Value, y: VectorArray, k: VectorArray) -> None:
        y[self.layout.functions.n] = t
        self.call("evaluate", y.pointer, k.pointer)

    def return_error_test(self, error: Value) -> str:
        """What the error means in the lanes that are good so far."""
        f, asked = self.function, self.mask("good")
        self.masked_store("error", error, asked)
        error = self["error"]
        finite = error < float("inf")
        accepted = f.select(
            error > 1.0, self.broadcast(StepCause.ERROR), self.broadcast(StepCause.NONE)
        )
        cause = f.select(finite, accepted, self.broadcast(StepCause.NOT_FINITE))
        self["good"] = self.as_number(asked & finite & (error <= 1.0))
        self.masked_store("cause", cause, asked & ~self.mask("good"))
        return self.finish()

    def reject_lanes(self, bad: Value, cause: StepCause) -> None:
        """Lanes that were good so far and are no more."""
        bad = bad & self.mask("good")
        self.masked_store("cause", float(cause), bad)
        self.masked_store("good", 0.0, bad)

    def dense_output(self, rows: int) -> list[VectorArray]:
        return [self.row(f"r{j}") for j in range(rows)]
