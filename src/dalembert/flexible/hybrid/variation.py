"""δ∫ℒ dx = ∫ E δv dx + [B₀ δv + B₁ δv′ + …]₀ᴸ: variation and integration by parts.

Each term (∂ℒ/∂v⁽ⁱʲ⁾) δv⁽ⁱʲ⁾ is integrated by parts, j times in time, where the variations vanish at both instants, and i times along
the member, until δv stands without a derivative inside. What is left over at the ends multiplies δv, δv′, ….

Source: Bar00 (60)–(62) and the text after; Mei85 ch. 7 for the discrete case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from dalembert.algebra.columns import Column, slopes
from dalembert.algebra.folds import Derivative, symbols_of
from dalembert.algebra.formula import Formula, Partial, Rate
from dalembert.algebra.scalar import Scalar
from dalembert.flexible.hybrid.fields import Fields, Jet
from dalembert.kinetics.quantity import Quantity

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
