"""p_k = ∂T/∂q̇_k, Σ m v·n, Σ (r × m v + I·ω)·n: momenta, linear in the rates, that a symmetry may keep constant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dalembert.algebra.folds import gradient
from dalembert.geometry.vector import Vector
from dalembert.integrals.energies import Energies
from dalembert.kinetics.energies import kinetic_energy


@dataclass(frozen=True)
class Momentum:
    """A momentum J in q̇; `coordinate` is the index k of p_k."""

    name: str
    in_rates: int
    why: str
    coordinate: int | None = None


def kinetic_energy_in_rates(E: Energies) -> int:
    """T in q̇."""
    return kinetic_energy(E.kin, E.kin.motion_in_rates.v, E.kin.motion_in_rates.w)


def momenta(E: Energies) -> Iterator[Momentum]:
    """p_k of every coordinate, then the linear and angular momentum along the axes of N.

    Source: Mei85 (7.44).
    """
    t, kin = E.t, E.kin
    T = kinetic_energy_in_rates(E)
    for k, p in enumerate(gradient(t, {T: t.one}, kin.qdot)):
        name = str(kin.scalar(kin.q[k]))
        yield Momentum(f"momentum of {name}", p, f"{name} is ignorable and no row holds its rate", k)
    N = kin.system.N
    axes = ((N.x, "x"), (N.y, "y"), (N.z, "z"))
    for n, axis in axes:
        yield Momentum(f"linear momentum along N.{axis}", _linear(E, n), f"no force acts along N.{axis}")
    for n, axis in axes:
        yield Momentum(f"angular momentum about O along N.{axis}", _angular(E, n), "no moment acts about this axis")


def _linear(E: Energies, n: Vector) -> int:
    """Σ m v·n"""
    t = E.t
    total = t.zero
    for body in E.kin.system.bodies:
        total = t.add(total, t.mul(body.mass.i, n.on(t).dot_index(E.kin.motion_in_rates.v(body.G))))
    return total


def _angular(E: Energies, n: Vector) -> int:
    """Σ (r × m v + I·ω)·n"""
    t, motion = E.t, E.kin.motion_in_rates
    total = t.zero
    for body in E.kin.system.bodies:
        r = (body.G - E.kin.system.O).on(t)
        total = t.add(total, t.mul(body.mass.i, n.on(t).dot_index(r.cross(motion.v(body.G)))))
        if body.frame is not None and body.inertia is not None:
            total = t.add(total, n.on(t).dot_index(body.inertia @ motion.w(body.frame)))
    return total


def jacobi(E: Energies) -> int:
    """p·q̇ − L = T₂ − T₀ + V, by degrees in q̇, in the speeds."""
    t, kin = E.t, E.kin
    T = kinetic_energy_in_rates(E)
    # p·q̇ = 2 T₂ + T₁, so that p·q̇ − T = T₂ − T₀
    total = t.sub(E.V, T)
    for qdot, p in zip(kin.qdot, gradient(t, {T: t.one}, kin.qdot), strict=True):
        total = t.add(total, t.mul(qdot, p))
    return kin.in_speeds(total)
