"""A start in memory: everything its native functions share, and how they are written."""

from __future__ import annotations

from typing import Final

from dalembert.numerics.llvm_types import POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, NativeFunction, NumberArray, Operand, Record, Value

# name and kind of each field: functions, then tables that belong to the names, then numbers of one start, then scratch
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    *((name, POINTER) for name in ("f", "f_prologue", "f_work", "outs", "places", "D", "r", "J", "A", "b", "c", "C", "terms", "entries")),
    *((name, POINTER) for name in ("X", "W", "W_row", "W_column", "at_rest", "structure", "fixed", "guessed", "nudges", "reached")),
    *(
        (name, POINTER)
        for name in ("coordinate_from", "coordinate_to", "target_from", "own_target", "value_from", "direct_from", "direct_to")
    ),
    *(
        (name, WHOLE)
        for name in ("n_out", "n", "m", "n_A", "k", "n_given", "n_u", "n_W", "n_coordinates", "n_direct", "n_nudges", "beside")
    ),
    *((name, POINTER) for name in ("p", "given", "x", "targets", "q", "u", "qdot", "d", "free", "residuals")),
    *(
        (name, POINTER)
        for name in ("rows", "columns", "now", "first", "step", "found", "r_now", "J_now", "M", "B", "trial", "clean", "before")
    ),
    ("t", REAL),
    *((name, REAL) for name in ("position_residual", "velocity_residual")),
    *((name, WHOLE) for name in ("iterations", "rank")),
)

# what a start fails for; Python says it in words
POSITIONS, UNDEFINED, VELOCITIES, RATES, SINGULAR = range(1, 6)


class StartFunction:
    """A function of the problem, which is its last argument."""

    def __init__(self, name: str, *parameters: str, result: str = WHOLE, exported: bool = False) -> None:
        self.f = NativeFunction(name, result, *parameters, POINTER, exported=exported)
        *arguments, self.pointer = self.f.parameters
        self.arguments: tuple[Value, ...] = tuple(arguments)
        self.given = Record(self.pointer, FIELDS)

    def numbers(self, name: str) -> NumberArray:
        return NumberArray(getattr(self.given, name))

    def wholes(self, name: str) -> Array:
        return Array(getattr(self.given, name), WHOLE)

    def is_set(self, name: str, i: Value) -> Value:
        """Whether a mark is not zero."""
        return self.wholes(name)[i].differs(0)

    def call(self, name: str, *arguments: Value, result: str = WHOLE) -> Value:
        return self.f.call(name, result, *arguments, self.pointer)

    def copy(self, source: str, target: str, count: Operand) -> None:
        a, b = self.numbers(source), self.numbers(target)
        with self.f.loop(self.f.value(count, WHOLE)) as i:
            b[i] = a[i]

    def fabs(self, x: Value) -> Value:
        return self.f.intrinsic("fabs", x)

    def done(self, value: Operand = 0) -> str:
        self.f.give(value)
        return self.f.text()
