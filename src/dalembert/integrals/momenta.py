"""p_k = ∂T/∂q̇_k, Σ m v·n, Σ (r × m v + I·ω)·n: momenta, linear in the rates, that a symmetry may keep constant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dalembert.algebra.columns import Column, slopes, total
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.vector import Vector
from dalembert.integrals.energies import Energies
from dalembert.kinetics.energies import kinetic_energy


@dataclass(frozen=True)
class Momentum:
    """A momentum J in q̇; `coordinate` is the index k of p_k."""

    name: str
    in_rates: Scalar
    why: str
    coordinate: int | None = None


def kinetic_energy_in_rates(E: Energies) -> Scalar:
    """T in q̇."""
    return kinetic_energy(E.kin, E.kin.motion_in_rates.v, E.kin.motion_in_rates.w)


def momenta(E: Energies) -> Iterator[Momentum]:
    """p_k of every coordinate, then the linear and angular momentum along the axes of N.

    Source: Mei85 (7.44).
    """
    kin = E.kin
    for k, p in enumerate(slopes(kinetic_energy_in_rates(E), Column(E.t, kin.qdot))):
        name = str(kin.scalar(kin.q[k]))
        yield Momentum(f"momentum of {name}", kin.scalar(p), f"{name} is ignorable and no row holds its rate", k)
    N = kin.system.N
    axes = ((N.x, "x"), (N.y, "y"), (N.z, "z"))
    for n, axis in axes:
        yield Momentum(f"linear momentum along N.{axis}", _linear(E, n), f"no force acts along N.{axis}")
    for n, axis in axes:
        yield Momentum(f"angular momentum about O along N.{axis}", _angular(E, n), "no moment acts about this axis")


def _linear(E: Energies, n: Vector) -> Scalar:
    """Σ m v·n"""
    return total(E.t, (n.on(E.t) @ E.kin.motion_in_rates.v(body.G) * body.mass for body in E.kin.system.bodies))


def _angular(E: Energies, n: Vector) -> Scalar:
    """Σ (r × m v + I·ω)·n"""
    t, motion, bodies = E.t, E.kin.motion_in_rates, E.kin.system.bodies
    orbital = (n.on(t) @ (body.G - E.kin.system.O).on(t).cross(motion.v(body.G)) * body.mass for body in bodies)
    rigid = ((body.frame, body.inertia) for body in bodies if body.frame is not None and body.inertia is not None)
    return total(t, orbital) + total(t, (n.on(t) @ (I @ motion.w(F)) for F, I in rigid))


def jacobi(E: Energies) -> Scalar:
    """p·q̇ − L = T₂ − T₀ + V, by degrees in q̇, in the speeds."""
    T, qdot = kinetic_energy_in_rates(E), Column(E.t, E.kin.qdot)
    # p·q̇ = 2 T₂ + T₁, so that p·q̇ − T = T₂ − T₀
    return E.kin.scalar(E.kin.in_speeds((E.V - T + qdot @ slopes(T, qdot)).i))
