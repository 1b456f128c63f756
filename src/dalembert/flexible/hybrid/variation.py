"""δ∫ℒ dx = ∫ E δv dx + [B₀ δv + B₁ δv′ + …]₀ᴸ: variation and integration by parts.

Each term (∂ℒ/∂v⁽ⁱʲ⁾) δv⁽ⁱʲ⁾ is integrated by parts, j times in time, where the variations vanish at both instants, and i times along
the member, until δv stands without a derivative inside. What is left over at the ends multiplies δv, δv′, ….

Source: Bar00 (60)–(62) and the text after; Mei85 ch. 7 for the discrete case.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.columns import Column, gathered, slopes
from dalembert.algebra.folds import Derivative, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.flexible.hybrid.fields import Fields

# (field, order): the variation δv⁽ᵒʳᵈᵉʳ⁾ at an end
Variation = tuple[str, int]


@dataclass(frozen=True)
class VariationParts:
    """What multiplies δv inside, and δv, δv′, … at the two ends (with the signs of [ ]₀ᴸ included).

    `section` is what multiplies δv, δv′, … at a section anywhere, before an end is put in: shear force, bending moment.
    """

    inside: dict[str, int]
    section: dict[Variation, int]
    start: dict[Variation, int]
    end: dict[Variation, int]


def varied(fields: Fields, density: Scalar, length: int, place: str) -> VariationParts:
    """δ∫₀ᴸ ℒ dx: E = Σ (−D_x)ⁱ (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾, and Σ_k (−D_x)ᵏ P_i δv⁽ⁱ⁻¹⁻ᵏ⁾ at x = L, minus the same at x = 0."""
    t = fields.tape
    by_parts = {key: _by_parts(t, P, fields.D_x, key[1]) for key, P in _after_time(fields, density).items()}
    inside = gathered(t, ((field, steps[-1]) for (field, _), steps in by_parts.items()))
    left = gathered(t, (((field, order - 1 - k), P) for (field, order), steps in by_parts.items() for k, P in enumerate(steps[:-1])))
    start = {key: t.neg(fields.at(e, "0", t.zero)) for key, e in left.items()}
    end = {key: fields.at(e, place, length) for key, e in left.items()}
    return VariationParts(dict.fromkeys(fields.names, t.zero) | inside, left, start, end)


def _by_parts(t: Tape, P: int, D: Derivative, times: int) -> list[int]:
    """P, −DP, D²P, …"""
    steps = [P]
    for _ in range(times):
        steps.append(t.neg(D(steps[-1])))
    return steps


def _after_time(fields: Fields, density: Scalar) -> dict[Variation, int]:
    """P_i = Σ_j (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾: what multiplies δv⁽ⁱ⁾ after the integrations by parts in time."""
    t = fields.tape
    jets = dict(fields.jets((density.i,)))
    terms = zip(jets.values(), slopes(density, Column(t, jets)), strict=True)
    return gathered(t, (((jet.field, jet.along), _by_parts(t, P, fields.D_t, jet.dots)[-1]) for jet, P in terms))


def varied_at(fields: Fields, energy: Scalar, place: str) -> dict[Variation, int]:
    """δv⁽ⁱ⁾: ∂L/∂v⁽ⁱ⁾ − D_t ∂L/∂v̇⁽ⁱ⁾ of an energy that stands at one place: end masses, end springs."""
    t = fields.tape
    marks = {fields.symbol(f, i, j, place): (f, i, j) for f in fields.names for i in range(4) for j in range(2)}
    inside = [i for i in symbols_of(t, (energy.i,)) if i in marks]
    terms = zip((marks[i] for i in inside), slopes(energy, Column(t, inside)), strict=True)
    return gathered(t, (((field, order), _by_parts(t, P, fields.D_t, dots)[-1]) for (field, order, dots), P in terms))
