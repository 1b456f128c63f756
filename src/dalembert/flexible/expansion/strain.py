"""V = ½∫ (EI v″² + N v′² + EA u′² + GJ φ′² + kGA (v′ − ψ)²) dx in the amplitudes, and what the springs at the ends add."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.scalar import Scalar
from dalembert.flexible.expansion.discretised import Discretised
from dalembert.flexible.expansion.integration import moments
from dalembert.flexible.expansion.polynomials import AdmissibleFunction

# a part of a strain: amplitudes with their functions, the order of derivative in it, and its sign
Part = tuple[tuple[Scalar, ...], tuple[AdmissibleFunction, ...], int, int]
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

    def part(symbol: str, order: int, sign: int = 1) -> Part:
        return bent.amplitudes[symbol], bent.functions[symbol], order, sign

    turns = ("psi",) if len(m.bending) == 1 else ("psi_v", "psi_w")
    found: list[Rigidity] = []
    for plane, symbol in enumerate("vw"[: len(m.bending)]):
        if m.stiffness:
            found.append((m.stiffness[plane], [part(turns[plane], 1) if m.shear else part(symbol, 2)]))
        if m.shear:
            found.append((m.shear[plane], [part(symbol, 1), part(turns[plane], 0, -1)]))
        if m.tension is not None:
            found.append((m.tension, [part(symbol, 1)]))
    if m.axial is not None:
        found.append((m.axial, [part("u", 1)]))
    if m.torsion is not None:
        found.append((m.torsion, [part("phi", 1)]))
    return found


def _product(bent: Discretised, rigidity: Scalar, first: Part, second: Part) -> Scalar:
    """∫ c f⁽ᵏ⁾ g⁽ˡ⁾ dx = Σ_ij q_i q_j L^(1−k−l) ∫₀¹ c f_i⁽ᵏ⁾ g_j⁽ˡ⁾ dξ"""
    L = bent.member.length
    p, f, k, _ = first
    r, g, l, _ = second
    table = moments(bent.member, rigidity, [(x, k) for x in f], [(x, l) for x in g])
    power = 1 - k - l
    scale = L**power if power >= 0 else 1 / L ** (-power)
    total = Scalar(L.tape, L.tape.zero)
    for i, row in enumerate(table):
        total += _row(p[i], r, row, i if first is second else None)
    return total * scale


def _row(p: Scalar, r: Sequence[Scalar], row: Sequence[Scalar], diagonal: int | None) -> Scalar:
    """p Σ_j c_j r_j; of a symmetric form only the terms up to the diagonal, those beside it twice."""
    total = Scalar(p.tape, p.tape.zero)
    for j, (c, q) in enumerate(zip(row, r, strict=True)):
        if diagonal is None or j <= diagonal:
            total += c * p * q * (1 if diagonal is None or j == diagonal else 2)
    return total


def spring_energy(bent: Discretised) -> tuple[Scalar, Scalar]:
    """½ k v² + ½ k_t v′² + … at the ends, and the dissipation ½ c v̇² of the dampers."""
    m = bent.member
    V = D = Scalar(m.length.tape, m.length.tape.zero)
    for share, end in enumerate(m.ends):
        for plane, symbol in enumerate("vw"[: len(m.bending)]):
            if end.spring is not None:
                V += end.spring * bent.value(symbol, share) ** 2 / 2
            if end.turning_spring is not None:
                V += end.turning_spring * bent.turn(plane, share) ** 2 / 2
        if end.axial_spring is not None:
            V += end.axial_spring * bent.value("u", share) ** 2 / 2
        if end.twisting_spring is not None:
            V += end.twisting_spring * bent.value("phi", share) ** 2 / 2
        for symbol in m.rigidities:
            if end.damper is not None:
                D += end.damper * bent.value(symbol, share).dot ** 2 / 2
    return V, D
