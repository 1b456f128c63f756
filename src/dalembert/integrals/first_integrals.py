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
    H = E.E - E.K0
    single = [J for J in momenta(E) if symbols_of(E.t, [J.in_rates.i])]
    energy = ("Jacobi integral T₂ − T₀ + V", jacobi(E), "neither T, V nor the rows depend on time")
    candidates = [*((J.name, E.kin.scalar(E.kin.in_speeds(J.in_rates.i)), J.why) for J in single), *_many_valued(E), energy]
    constant = motion.vanish([E.rate(e) for _, e, _ in candidates], where)
    kept: list[tuple[str, Scalar, str]] = []

    def keep(name: str, e: Scalar, why: str) -> None:
        if motion.vanishes(e, where) is False and not any(motion.vanishes(e - other, where) for _, other, _ in kept):
            kept.append((name, e, why))

    for candidate, holds in zip(candidates, constant, strict=True):
        if holds:
            keep(*candidate)
    varying = [J for J, holds in zip(single, constant, strict=False) if holds is False]
    for c in combinations(E, motion, varying, where, bool(constant[-1])):
        keep(c.name, c.expression, c.why)
    return tuple(FirstIntegral(name, e, why, bool(motion.vanishes(e - H, where))) for name, e, why in kept)


def _many_valued(E: Energies) -> Iterator[tuple[str, Scalar, str]]:
    """T₂ − T₀ + V with the potentials that have another value after a closed path: a first integral, but no energy U."""
    found = [(load, load.potential) for load in E.loads if load.many_valued and len(load.loads) == 1 and load.potential is not None]
    if found:
        names = ", ".join(name for load, _ in found for name in load.loads)
        whole = sum((potential for _, potential in found), jacobi(E))
        yield f"T₂ − T₀ + V with {names}", whole, "its potential has many values, so it is no potential energy U"
