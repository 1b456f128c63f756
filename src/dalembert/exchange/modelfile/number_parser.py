"""0.5, "pi/3", "30 deg": numbers of a file and of the command line."""

from __future__ import annotations

from typing import Any

from dalembert.errors import BadDescription, BadExpression, Unknown
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.scalar import exact
from dalembert.symbolic.algebra.tape import Number, Tape
from dalembert.symbolic.units.quantities import Dimension, dimension_text, has_unit, parse_quantity


def parse_number(text: str) -> Number | float:
    """A number that is written as an expression without symbols; exact where it is rational."""
    if has_unit(text):
        return parse_quantity(text).value
    tape = Tape()
    try:
        e = parse(text, {}, tape)
        if e.value is not None:
            return e.value
        nothing: dict[int, float] = {}
        return exact(evaluate(tape, [e.i], nothing.__getitem__, FloatArithmetic())[0])
    except (BadExpression, ArithmeticError, ValueError) as problem:
        why = (
            problem.sentence
            if isinstance(problem, BadExpression) and problem.sentence
            else str(problem)
        )
        msg = f"{text!r:.60} is no number ({why})"
        raise Unknown(msg) from None


def as_float(value: Any, dimension: Dimension | None = None) -> float:
    """The nearest double of a number; one with a unit must have the dimension that is `wanted`,
    where that is known.
    """
    if not isinstance(value, str):
        return float(value)
    if (
        dimension is not None
        and has_unit(value)
        and (given := parse_quantity(value).dimension) != dimension
    ):
        msg = (
            f"{value!r:.60} has the dimension {dimension_text(given)}, but "
            f"{dimension_text(dimension)} is needed"
        )
        raise BadDescription(msg)
    return float(parse_number(value))
