"""a ẋ + b ẏ + c = 0 with a² + b² = 1: ẋ = b v − a c, ẏ = −a v − b c.

The row of a knife edge, a skate or a wheel that does not slip sideways. Solved for ẏ or for ẋ it divides by b or by a, which vanish
at some headings although the edge is the same at all of them; the speed v = b ẋ − a ẏ along the edge divides by nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dalembert.algebra.columns import Row
from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import symbols_of
from dalembert.algebra.tape import Tape


@dataclass(frozen=True)
class EdgeSpeed:
    """The speed v along an edge: the place of its row, those of the two rates among the unknowns, and a, b, c."""

    row: int
    x: int
    y: int
    a: int
    b: int
    c: int
    v: int

    def rates(self, t: Tape, v: int) -> tuple[int, int]:
        """(b v − a c, −a v − b c)"""
        return t.sub(t.mul(self.b, v), t.mul(self.a, self.c)), t.neg(t.add(t.mul(self.a, v), t.mul(self.b, self.c)))

    def along(self, t: Tape, xdot: int, ydot: int) -> int:
        """v = b ẋ − a ẏ"""
        return t.sub(t.mul(self.b, xdot), t.mul(self.a, ydot))

    def inserted(self, t: Tape, row: Row) -> Row:
        """Another row with both rates replaced; v takes the place of ẋ among its unknowns."""
        c, coefficients = row
        p, q = coefficients.get(self.x, t.zero), coefficients.get(self.y, t.zero)
        c = t.sub(c, t.mul(self.c, t.add(t.mul(p, self.a), t.mul(q, self.b))))
        others = {k: e for k, e in coefficients.items() if k not in (self.x, self.y)}
        along = self.along(t, p, q)
        return c, others if along == t.zero else others | {self.x: along}


def edge_speeds(t: Tape, rows: Sequence[Row]) -> tuple[EdgeSpeed, ...]:
    """One for every row of two rates that says so exactly, no rate in two of them."""
    taken: set[int] = set()
    pairs: list[tuple[int, int, int]] = []
    for i, (_, coefficients) in enumerate(rows):
        if len(coefficients) == 2 and taken.isdisjoint(coefficients) and _is_turning_direction(t, *coefficients.values()):
            taken.update(coefficients)
            x, y = sorted(coefficients)
            pairs.append((i, x, y))
    letter = "v" if "v" not in t.names else "v_e"
    numbers = [""] if len(pairs) == 1 else [f"_{n}" if letter == "v" else f"{n}" for n in range(1, len(pairs) + 1)]
    found = []
    for (i, x, y), number in zip(pairs, numbers, strict=True):
        c, coefficients = rows[i]
        a, b = coefficients[x], coefficients[y]
        if t.nodes[b][0] == "neg":
            # the same row: v then points where ẋ does, at the heading zero
            a, b, c = t.neg(a), t.neg(b), t.neg(c)
        found.append(EdgeSpeed(i, x, y, a, b, c, t.private_symbol(f"{letter}{number}", moving=True)))
    return tuple(found)


def _is_turning_direction(t: Tape, a: int, b: int) -> bool:
    """Whether a² + b² = 1 was shown, for a and b that depend on the coordinates."""
    turning = all(any(s in t.moving for s in symbols_of(t, (e,))) for e in (a, b))
    return turning and shown_zero(t, [t.sub(t.add(t.mul(a, a), t.mul(b, b)), t.one)])[0]
