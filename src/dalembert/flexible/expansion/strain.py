"""V = ½∫ (EI v″² + N v′² + EA u′² + GJ φ′² + kGA (v′ − ψ)²) dx in the amplitudes, and what the springs at the ends add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dalembert.algebra.columns import total
from dalembert.algebra.scalar import Scalar
from dalembert.flexible.expansion.discretised import Discretised
from dalembert.flexible.expansion.integration import AdmissibleFunction, moments
from dalembert.flexible.expansion.properties import end_springs, turning
from dalembert.model.member import Member

# a part of a strain: amplitudes with their functions, the order of derivative in it, and its sign
Part = tuple[tuple[Scalar, ...], tuple[AdmissibleFunction, ...], int, int]
_DISPLACEMENTS: Final = ("v", "w", "u")
# a rigidity with the parts of the strain it resists
Rigidity = tuple[Scalar, list[Part]]


def strain_energy(bent: Discretised) -> Scalar:
    """Σ ½ c_ij q_i q_j"""
    m = bent.member
    energy = Scalar(m.length.tape, m.length.tape.zero)
    for rigidity, parts in rigidities(bent):
        for a, first in enumerate(parts):
            for second in parts[a:]:
                factor = (1 if first is second else 2) * first[3] * second[3]
                energy += _product(bent, rigidity, first, second) * factor / 2
    return energy


def rigidities(bent: Discretised) -> list[Rigidity]:
    """Every rigidity of the member with the strain it resists."""
    m = bent.member
    found: list[Rigidity] = []
    for plane, symbol in enumerate("vw"[: len(m.bending)]):
        turn, order = turning(m, plane)
        if m.stiffness:
            found.append((m.stiffness[plane], [_part(bent, turn, order + 1)]))
        if m.shear:
            found.append((m.shear[plane], [_part(bent, symbol, 1), _part(bent, turn, 0, -1)]))
        if m.tension is not None:
            found.append((m.tension, [_part(bent, symbol, 1)]))
    found += [(c, [_part(bent, symbol, 1)]) for symbol, c in (("u", m.axial), ("phi", m.torsion)) if c is not None]
    return found


def inertias(bent: Discretised) -> list[Rigidity]:
    """Every inertia per length of the member with the motion it resists: ρA, ρI and ρI_p."""
    m = bent.member
    turns = [(*turning(m, plane), rho_I) for plane, rho_I in enumerate(m.rotary)]
    table = [*((symbol, 0, m.density) for symbol in bent.functions if symbol in _DISPLACEMENTS), *turns, ("phi", 0, m.polar)]
    return [(c, [_part(bent, symbol, order)]) for symbol, order, c in table if c is not None and symbol in bent.functions]


def end_inertias(m: Member, side: int) -> Iterator[tuple[Scalar, str, int]]:
    """(m, field, order): what sits on an end, by the motion that it takes part in."""
    end = m.ends[side]
    if end.mass is not None:
        yield from ((end.mass, f.symbol, 0) for f in m.fields if f.symbol in _DISPLACEMENTS)
    if end.inertia is not None:
        turns = [("phi", 0)] if m.kind == "shaft" else [turning(m, plane) for plane in range(len(m.bending))]
        yield from ((end.inertia, symbol, order) for symbol, order in turns)


def _part(bent: Discretised, symbol: str, order: int, sign: int = 1) -> Part:
    return bent.amplitudes[symbol], bent.functions[symbol], order, sign


def _product(bent: Discretised, rigidity: Scalar, first: Part, second: Part) -> Scalar:
    """∫ c f⁽ᵏ⁾ g⁽ˡ⁾ dx = Σ_ij q_i q_j L^(1−k−l) ∫₀¹ c f_i⁽ᵏ⁾ g_j⁽ˡ⁾ dξ"""
    L = bent.member.length
    p, f, k, _ = first
    r, g, l, _ = second
    table = moments(bent.member, rigidity, [(x, k) for x in f], [(x, l) for x in g])
    power = 1 - k - l
    scale = L**power if power >= 0 else 1 / L ** (-power)
    return total(L.tape, (_row(p[i], r, row, i if first is second else None) for i, row in enumerate(table))) * scale


def _row(p: Scalar, r: Sequence[Scalar], row: Sequence[Scalar], diagonal: int | None) -> Scalar:
    """p Σ_j c_j r_j; of a symmetric form only the terms up to the diagonal, those beside it twice."""
    if diagonal is None:
        return total(p.tape, (c * p * q for c, q in zip(row, r, strict=True)))
    terms = zip(row[: diagonal + 1], r, range(diagonal, -1, -1), strict=False)
    return total(p.tape, (c * p * q * (2 if beside else 1) for c, q, beside in terms))


def spring_energy(bent: Discretised) -> tuple[Scalar, Scalar]:
    """½ k v² + ½ k_t v′² + … at the ends, and the dissipation ½ c v̇² of the dampers."""
    m, t = bent.member, bent.member.length.tape
    springs = ((k, bent.value(name, side, order)) for side in (0, 1) for k, name, order, _ in end_springs(m, side))
    dampers = ((end.damper, bent.value(name, side).dot) for side, end in enumerate(m.ends) for name in m.rigidities)
    return total(t, (k * v**2 / 2 for k, v in springs)), total(t, (c * v**2 / 2 for c, v in dampers if c is not None))
