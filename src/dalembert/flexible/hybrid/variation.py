"""δ∫ℒ dx = ∫ E δv dx + [B₀ δv + B₁ δv′ + …]₀ᴸ: variation and integration by parts.

Each term (∂ℒ/∂v⁽ⁱʲ⁾) δv⁽ⁱʲ⁾ is integrated by parts, j times in time, where the variations vanish at both instants, and i times along
the member, until δv stands without a derivative inside. What is left over at the ends multiplies δv, δv′, ….

Source: Bar00 (60)–(62) and the text after; Mei85 ch. 7 for the discrete case.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.folds import gradient, symbols_of
from dalembert.flexible.hybrid.fields import Fields

# (field, order): the variation δv⁽ᵒʳᵈᵉʳ⁾ at an end
Variation = tuple[str, int]


@dataclass(frozen=True)
class Varied:
    """What multiplies δv inside, and δv, δv′, … at the two ends (with the signs of [ ]₀ᴸ included).

    `section` is what multiplies δv, δv′, … at a section anywhere, before an end is put in: shear force, bending moment.
    """

    inside: dict[str, int]
    section: dict[Variation, int]
    start: dict[Variation, int]
    end: dict[Variation, int]


def varied(fields: Fields, density: int, length: int, place: str) -> Varied:
    """δ∫₀ᴸ ℒ dx: E = Σ (−D_x)ⁱ (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾, and Σ_k (−D_x)ᵏ P_i δv⁽ⁱ⁻¹⁻ᵏ⁾ at x = L, minus the same at x = 0."""
    t = fields.tape
    inside = dict.fromkeys(fields.names, t.zero)
    left: dict[Variation, int] = {}
    for (field, order), P in _after_time(fields, density).items():
        for k in range(order):
            key = field, order - 1 - k
            left[key] = t.add(left.get(key, t.zero), P)
            P = t.neg(fields.D_x(P))  # noqa: PLW2901 - each integration by parts hands on its integrand
        inside[field] = t.add(inside[field], P)
    start = {key: t.neg(fields.at(e, "0", t.zero)) for key, e in left.items()}
    return Varied(inside, left, start, {key: fields.at(e, place, length) for key, e in left.items()})


def _after_time(fields: Fields, density: int) -> dict[Variation, int]:
    """P_i = Σ_j (−D_t)ʲ ∂ℒ/∂v⁽ⁱʲ⁾: what multiplies δv⁽ⁱ⁾ after the integrations by parts in time."""
    t = fields.tape
    found = list(fields.jets((density,)))
    P: dict[Variation, int] = {}
    for (_, jet), slope in zip(found, gradient(t, {density: t.one}, [i for i, _ in found]), strict=True):
        for _ in range(jet.dots):
            slope = t.neg(fields.D_t(slope))  # noqa: PLW2901 - as above
        key = jet.field, jet.along
        P[key] = t.add(P.get(key, t.zero), slope)
    return P


def varied_at(fields: Fields, energy: int, place: str) -> dict[Variation, int]:
    """δv⁽ⁱ⁾: ∂L/∂v⁽ⁱ⁾ − D_t ∂L/∂v̇⁽ⁱ⁾ of an energy that stands at one place: end masses, end springs."""
    t = fields.tape
    found: dict[Variation, int] = {}
    marks = {fields.symbol(f, i, j, place): (f, i, j) for f in fields.names for i in range(4) for j in range(2)}
    inside = [i for i in symbols_of(t, (energy,)) if i in marks]
    for i, slope in zip(inside, gradient(t, {energy: t.one}, inside), strict=True):
        field, order, dots = marks[i]
        term = t.neg(fields.D_t(slope)) if dots else slope
        found[field, order] = t.add(found.get((field, order), t.zero), term)
    return found
