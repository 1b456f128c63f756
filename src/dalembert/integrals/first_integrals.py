"""p·ξ, m v·n, H_O·n and T₂ − T₀ + V: quantities that keep their value, each proved on the motion.

Along a symmetry ξ of T and V, d(p·ξ)/dt = (Q_nc + Aᵀλ)·ξ, so p·ξ is constant if no load acts along ξ and A ξ = 0: an ignorable
coordinate counts only if its column of A vanishes. The moving energy H − p·ξ with A ξ + b = 0 is, for ξ = X, the generalized
Hamiltonian 𝓗 in the chosen speeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dalembert.algebra.folds import symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.integrals.combinations import combinations
from dalembert.integrals.decide import OnTheMotion
from dalembert.integrals.energies import Energies
from dalembert.integrals.momenta import jacobi, momenta


@dataclass(frozen=True)
class FirstIntegral:
    """A quantity that is constant on every motion, and the symmetry behind it."""

    name: str
    expression: Scalar = field(repr=False)
    why: str
    # whether it is the generalized Hamiltonian 𝓗 once more
    is_H: bool = False


def first_integrals(E: Energies, motion: OnTheMotion, where: Mapping[int, int]) -> tuple[FirstIntegral, ...]:
    """Every candidate whose rate vanishes on the motion; none twice."""
    t = E.t
    H = t.sub(E.E, E.K0)
    single = [J for J in momenta(E) if symbols_of(t, [J.in_rates])]
    energy = ("Jacobi integral T₂ − T₀ + V", jacobi(E), "neither T, V nor the rows depend on time")
    candidates = [*((J.name, E.kin.in_speeds(J.in_rates), J.why) for J in single), *_many_valued(E), energy]
    constant = motion.vanish([E.rate(i) for _, i, _ in candidates], where)
    kept: list[tuple[str, int, str]] = []

    def keep(name: str, i: int, why: str) -> None:
        if motion.vanishes(i, where) is False and not any(motion.vanishes(t.sub(i, j), where) for _, j, _ in kept):
            kept.append((name, i, why))

    for (name, i, why), holds in zip(candidates, constant, strict=True):
        if holds:
            keep(name, i, why)
    varying = [J for J, holds in zip(single, constant, strict=False) if holds is False]
    for c in combinations(E, motion, varying, where, bool(constant[-1])):
        keep(c.name, c.node, c.why)
    return tuple(FirstIntegral(name, E.kin.scalar(i), why, bool(motion.vanishes(t.sub(i, H), where))) for name, i, why in kept)


def _many_valued(E: Energies) -> Iterator[tuple[str, int, str]]:
    """T₂ − T₀ + V with the potentials that have another value after a closed path: a first integral, but no energy U."""
    t = E.t
    found = [load for load in E.loads if load.many_valued and len(load.loads) == 1 and load.potential is not None]
    if found:
        total = jacobi(E)
        for load in found:
            total = t.add(total, t.zero if load.potential is None else load.potential.i)
        names = ", ".join(name for load in found for name in load.loads)
        yield f"T₂ − T₀ + V with {names}", total, "its potential has many values, so it is no potential energy U"
