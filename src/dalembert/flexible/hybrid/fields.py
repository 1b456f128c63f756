"""v, v′, v″, v̇, v̇′, …: fields over a member, and their total derivatives D_x and D_t.

A field v(x, t) and each of its derivatives is a symbol of the tape: ′ counts derivatives along the member, ' those in time, as in
v′′'. D_t is the tape's own derivative along rates; D_x is the same fold along another set of rates, x → 1, v → v′, v̇ → v̇′.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from dalembert.algebra.folds import Derivative, Rewrite, symbols_of
from dalembert.algebra.formula import Name
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.kinetics.quantity import Quantity

PRIME = "′"
Rate = Callable[[int], int | None]


class Jet(NamedTuple):
    """∂ⁱ⁺ʲ v / ∂xⁱ ∂tʲ of one field."""

    field: str
    along: int
    dots: int


class Fields:
    """The fields of one member: the symbols of their derivatives, D_x, D_t, and their values at a place."""

    def __init__(self, tape: Tape, x: int, names: Sequence[str], rate: Rate | None = None) -> None:
        self.tape, self.x, self.names = tape, x, tuple(names)
        for name in names:
            tape.moving_symbol(name)
        self.D_x = Derivative(tape, self._slope)
        self.D_t = Derivative(tape, rate or tape.rate)

    # ---- symbols -----------------------------------------------------------------------------

    def symbol(self, field: str, along: int = 0, dots: int = 0, place: str = "") -> int:
        """∂ⁱ⁺ʲ v / ∂xⁱ ∂tʲ, in general or at a place such as "L"."""
        t = self.tape
        i: int | None = t.moving_symbol(field + PRIME * along + (f"({place})" if place else ""))
        for _ in range(dots):
            i = t.rate(i) if i is not None else None
        assert i is not None
        return i

    def named(self, i: int) -> Quantity:
        """A symbol as it stands in formulas."""
        name = Name(str(self.tape.nodes[i][1]))
        return Quantity(name, Scalar(self.tape, i), symbol=name)

    def jet(self, i: int) -> Jet | None:
        """Which derivative of which field a symbol is; None for any other."""
        op, name, _ = self.tape.nodes[i]
        if op != "symbol":
            return None
        bare = name.rstrip("'")
        field = bare.rstrip(PRIME)
        return Jet(field, len(bare) - len(field), len(name) - len(bare)) if field in self.names else None

    def jets(self, outs: Iterable[int]) -> Iterator[tuple[int, Jet]]:
        """(symbol, derivative) of every field that occurs in some expressions."""
        for i in symbols_of(self.tape, outs):
            jet = self.jet(i)
            if jet is not None:
                yield i, jet

    def varies(self, i: int) -> bool:
        """Whether an expression depends on where along the member it is taken."""
        return any(s == self.x or self.jet(s) is not None for s in symbols_of(self.tape, (i,)))

    # ---- derivatives and values --------------------------------------------------------------

    def _slope(self, i: int) -> int | None:
        if i == self.x:
            return self.tape.one
        jet = self.jet(i)
        return None if jet is None else self.symbol(jet.field, jet.along + 1, jet.dots)

    def at(self, e: int, place: str, position: int) -> int:
        """e at x = position, where the fields are v(place), v′(place), …"""
        values = {i: self.symbol(*jet, place) for i, jet in self.jets((e,))}
        return Rewrite(self.tape, values | {self.x: position})(e)
