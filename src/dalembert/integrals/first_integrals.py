"""p·ξ, m v·n, H_O·n and T₂ − T₀ + V: quantities that keep their value, each proved on the motion.

Along a symmetry ξ of T and V, d(p·ξ)/dt = (Q_nc + Aᵀλ)·ξ, so p·ξ is constant if no load acts along ξ and A ξ = 0: an ignorable
coordinate counts only if its column of A vanishes. The moving energy H − p·ξ with A ξ + b = 0 is, for ξ = X, the generalized
Hamiltonian 𝓗 in the chosen speeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dalembert.algebra.folds import gradient, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.vector import Vector
from dalembert.integrals.decide import OnTheMotion
from dalembert.integrals.energies import Energies
from dalembert.kinetics.energies import kinetic_energy


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
    candidates = [(name, i, why) for name, i, why in _candidates(E) if symbols_of(t, [i])]
    constant = motion.vanish([E.rate(i) for _, i, _ in candidates], where)
    kept: list[tuple[str, int, str]] = []
    for (name, i, why), holds in zip(candidates, constant, strict=True):
        if holds and not motion.vanishes(i, where) and not any(motion.vanishes(t.sub(i, j), where) for _, j, _ in kept):
            kept.append((name, i, why))
    return tuple(FirstIntegral(name, E.kin.scalar(i), why, motion.vanishes(t.sub(i, H), where)) for name, i, why in kept)


def _candidates(E: Energies) -> Iterator[tuple[str, int, str]]:
    yield from _momenta(E)
    N = E.kin.system.N
    for n, axis in ((N.x, "x"), (N.y, "y"), (N.z, "z")):
        yield f"linear momentum along N.{axis}", _linear_momentum(E, n), f"no force acts along N.{axis}"
    for n, axis in ((N.x, "x"), (N.y, "y"), (N.z, "z")):
        yield f"angular momentum about O along N.{axis}", _angular_momentum(E, n), "no moment acts about this axis"
    yield "Jacobi integral T₂ − T₀ + V", _jacobi(E), "neither T, V nor the rows depend on time"


def _kinetic_energy(E: Energies) -> int:
    """T in q̇."""
    return kinetic_energy(E.kin, E.kin.motion_in_rates.v, E.kin.motion_in_rates.w)


def _momenta(E: Energies) -> Iterator[tuple[str, int, str]]:
    """p_k = ∂T/∂q̇_k of the coordinates that T and V do not contain and whose column of A vanishes.

    Source: Mei85 (7.44) with ∂L/∂q_k = 0.
    """
    t, kin = E.t, E.kin
    T = _kinetic_energy(E)
    momenta = gradient(t, {T: t.one}, kin.qdot)
    inside = set(symbols_of(t, [T, E.V]))
    for k, (q, p) in enumerate(zip(kin.q, momenta, strict=True)):
        if q not in inside and not any(row.A.get(k, t.zero) != t.zero for row in kin.rows):
            name = str(kin.scalar(q))
            yield f"momentum of {name}", kin.in_speeds(p), f"{name} is ignorable and no row holds its rate"


def _linear_momentum(E: Energies, n: Vector) -> int:
    """Σ m v·n"""
    t = E.t
    total = t.zero
    for body in E.kin.system.bodies:
        total = t.add(total, t.mul(body.mass.i, n.on(t).dot_index(E.kin.v(body.G))))
    return total


def _angular_momentum(E: Energies, n: Vector) -> int:
    """Σ (r × m v + I·ω)·n"""
    t, kin = E.t, E.kin
    total = t.zero
    for body in kin.system.bodies:
        r = (body.G - kin.system.O).on(t)
        total = t.add(total, t.mul(body.mass.i, n.on(t).dot_index(r.cross(kin.v(body.G)))))
        if body.frame is not None and body.inertia is not None:
            total = t.add(total, n.on(t).dot_index(body.inertia @ kin.w(body.frame)))
    return total


def _jacobi(E: Energies) -> int:
    """p·q̇ − L = T₂ − T₀ + V, by degrees in q̇."""
    t, kin = E.t, E.kin
    T = _kinetic_energy(E)
    # p·q̇ = 2 T₂ + T₁, so that p·q̇ − T = T₂ − T₀
    total = t.sub(E.V, T)
    for qdot, p in zip(kin.qdot, gradient(t, {T: t.one}, kin.qdot), strict=True):
        total = t.add(total, t.mul(qdot, p))
    return kin.in_speeds(total)
