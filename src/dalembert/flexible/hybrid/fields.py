"""v, v′, v″, v̇, v̇′, …: fields over a member, and their total derivatives D_x and D_t.

A field v(x, t) and each of its derivatives is a symbol of the tape: ′ counts derivatives along the member, ' those in time, as in
v′′'. D_t is the tape's own derivative along rates; D_x is the same fold along another set of rates, x → 1, v → v′, v̇ → v̇′.

Their variation is δ∫ℒ dx = ∫ E δv dx + [B₀ δv + B₁ δv′ + …]₀ᴸ: each term (∂ℒ/∂v⁽ⁱʲ⁾) δv⁽ⁱʲ⁾ is integrated by parts, j times in time,
where the variations vanish at both instants, and i times along the member, until δv stands without a derivative inside. What is left
over at the ends multiplies δv, δv′, ….

Source: Bar00 (60)–(62) and the text after; Mei85 ch. 7 for the discrete case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from dalembert.algebra.columns import Column, slopes
from dalembert.algebra.folds import Derivative, Rewrite, symbols_of
from dalembert.algebra.formula import Formula, Name, Partial, Rate
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.kinetics.quantity import Quantity

PRIME = "′"


class Jet(NamedTuple):
    """∂ⁱ⁺ʲ v / ∂xⁱ ∂tʲ of one field."""

    field: str
    along: int
    dots: int


class Fields:
    """The fields of one member: the symbols of their derivatives, D_x, D_t, and their values at a place."""

    def __init__(self, tape: Tape, x: int, names: Sequence[str], rate: Callable[[int], int | None] | None = None) -> None:
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


# ---- variation -----------------------------------------------------------------------------------

# (field, order): the variation δv⁽ᵒʳᵈᵉʳ⁾ at an end
Variation = tuple[str, int]
Key = TypeVar("Key")


@dataclass(frozen=True)
class VariationParts:
    """What multiplies −δv inside, and δv, δv′, … at a section anywhere: shear force, bending moment."""

    inside: dict[str, Quantity]
    section: dict[Variation, Quantity]


def varied(fields: Fields, density: Quantity) -> VariationParts:
    """δ∫₀ᴸ ℒ dx: −E = −Σ (−D_x)ⁱ (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾, and Σ_k (−D_x)ᵏ (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾ δv⁽ⁱ⁻¹⁻ᵏ⁾ at a section."""
    along = partial(Rate, by=fields.named(fields.x).ref)
    jets = dict(fields.jets((density.value.i,)))
    by_parts = [(jet, _by_parts(P, along, fields.D_x, jet.along)) for jet, P in _after_time(fields, density, jets)]
    inside = added((jet.field, steps[-1] if (jet.along + jet.dots) % 2 else -steps[-1]) for jet, steps in by_parts)
    left = ((jet, k, P) for jet, steps in by_parts for k, P in enumerate(steps[:-1]))
    section = added(((jet.field, jet.along - 1 - k), -P if (jet.dots + k) % 2 else P) for jet, k, P in left)
    return VariationParts(inside, section)


def varied_at(fields: Fields, energy: Quantity, place: str) -> dict[Variation, Quantity]:
    """δv⁽ⁱ⁾: ∂L/∂v⁽ⁱ⁾ − D_t ∂L/∂v̇⁽ⁱ⁾ of an energy that stands at one place: end masses, end springs."""
    marks = {fields.symbol(f, i, j, place): Jet(f, i, j) for f in fields.names for i in range(4) for j in range(2)}
    inside = symbols_of(fields.tape, (energy.value.i,))
    terms = _after_time(fields, energy, {i: marks[i] for i in inside if i in marks})
    return added(((jet.field, jet.along), -P if jet.dots % 2 else P) for jet, P in terms)


def _after_time(fields: Fields, energy: Quantity, jets: dict[int, Jet]) -> Iterator[tuple[Jet, Quantity]]:
    """D_tʲ ∂ℒ/∂v⁽ⁱʲ⁾: what multiplies ±δv⁽ⁱ⁾ after the integrations by parts in time."""
    t = fields.tape
    for (i, jet), P in zip(jets.items(), slopes(energy.value, Column(t, jets)), strict=True):
        yield jet, _by_parts(Quantity(Partial, Scalar(t, P), (energy, fields.named(i))), Rate, fields.D_t, jet.dots)[-1]


def _by_parts(P: Quantity, tree: Callable[[Formula], Rate], D: Derivative, times: int) -> list[Quantity]:
    """P, DP, D²P, …"""
    steps = [P]
    for _ in range(times):
        steps.append(steps[-1].map(tree, D))
    return steps


def added(pairs: Iterable[tuple[Key, Quantity]]) -> dict[Key, Quantity]:
    """{key: Σ of what came with it}"""
    found: dict[Key, Quantity] = {}
    for key, a in pairs:
        found[key] = found[key] + a if key in found else a
    return found
