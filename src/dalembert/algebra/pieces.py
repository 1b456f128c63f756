"""Piecewise((a, x > 0), (b, True)) = H(x) a + (1 − H(x)) b: pieces of expressions, told apart by inequalities.

Made of H, which is made of sign, so that every route, the certificate and the search for jumps know them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, Final

from dalembert.algebra import functions
from dalembert.errors import BadExpression

EXAMPLE: Final = "Piecewise((a, x > 0), (b, True))"
JOINED: Final = "write (x > 0) & (x < 1), or 0 < x < 1"


@dataclass(frozen=True, slots=True)
class Inequality:
    """1 where it holds, 0 elsewhere, ½ where it changes."""

    holds: Any

    def both(self, other: Inequality) -> Inequality:
        """1 where both hold."""
        return Inequality(self.holds * other.holds)

    def either(self, other: Inequality) -> Inequality:
        """1 where one of them holds, or both."""
        return Inequality(1 - (1 - self.holds) * (1 - other.holds))


@dataclass(frozen=True, slots=True)
class ValuePair:
    """(value, condition)"""

    parts: tuple[Any, ...]


def compared(operators: Sequence[ast.cmpop], sides: Sequence[Any]) -> Inequality:
    """a < b ≤ c …: H(b − a) H(c − b) …"""
    rising = (b - a if isinstance(op, ast.Lt | ast.LtE) else a - b for op, (a, b) in zip(operators, pairwise(sides), strict=True))
    return reduce(Inequality.both, [Inequality(functions.step(e)) for e in rising])


def piecewise(*pieces: Any) -> Any:
    """The value of the first piece whose condition holds; zero where none does."""
    total: Any = 0
    for piece in reversed(pieces):
        parts = piece.parts if isinstance(piece, ValuePair) else ()
        if len(parts) != 2 or isinstance(parts[0], Inequality) or not isinstance(parts[1], Inequality):
            msg = f"Piecewise takes pairs of a value and a condition, {EXAMPLE}"
            raise BadExpression(msg)
        value, inside = parts[0], parts[1].holds
        total = inside * value + (1 - inside) * total
    return total


def all_of(*conditions: Any) -> Inequality:
    """And(…)"""
    return reduce(Inequality.both, _checked("And", conditions))


def any_of(*conditions: Any) -> Inequality:
    """Or(…)"""
    return reduce(Inequality.either, _checked("Or", conditions))


def _checked(name: str, conditions: tuple[Any, ...]) -> tuple[Inequality, ...]:
    if not all(isinstance(c, Inequality) for c in conditions):
        msg = f"{name} joins comparisons; {JOINED}"
        raise BadExpression(msg)
    return conditions
