"""The loads of a system, gathered: what acts on which point or frame, and what derives from a potential."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.algebra.columns import total
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics


def applied_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) of every declared force, as described (in q̇ and u)."""
    for load in kin.system.loads:
        for F, P in load.forces:
            yield load.name, F, P


def applied_torques(kin: Kinematics) -> Iterator[tuple[str, Vector, Frame]]:
    """(name, T, B) of every declared torque."""
    for load in kin.system.loads:
        for T, B in load.torques:
            yield load.name, T, B


def loads_without_potential(kin: Kinematics) -> list[tuple[str, Vector, Point | Frame]]:
    """(name, load, where it acts) of every declared force and torque."""
    return [*applied_forces(kin), *applied_torques(kin)]


def weights(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, m g, G) of every mass in the gravity field."""
    field = kin.system.field
    if field is not None:
        g = field.g.on(kin.tape)
        for body in kin.system.bodies:
            yield f"weight of {body.name}", g.scaled(body.mass.i), body.G


def spring_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) for both ends of every spring."""
    for spring in kin.system.potentials:
        yield from ((spring.name, F.on(kin.tape), P) for F, P in spring.forces)


def kinetic(kin: Kinematics) -> int | None:
    """T(q, q̇, t) of a system that is given by its energies; None where it follows from bodies."""
    if not kin.system.kinetic:
        return None
    return total(kin.tape, (kin.scalar(kin.in_rates(T.i)) for T in kin.system.kinetic)).i


def potential(kin: Kinematics) -> Scalar:
    """V(q, t) = Σ of the declared potentials, without gravity."""
    return total(kin.tape, (kin.scalar(kin.in_rates(p.V.i)) for p in kin.system.potentials))


def potential_without_place(kin: Kinematics) -> Scalar | None:
    """V of the potentials that are no springs, whose loads are known along the coordinates only; None where there are none."""
    rest = [kin.scalar(kin.in_rates(p.V.i)) for p in kin.system.potentials if not p.forces]
    return total(kin.tape, rest) if rest else None


def potential_energy(kin: Kinematics) -> Scalar:
    """V = Σ V_i − Σ m g·r"""
    return potential(kin) + gravity_potential(kin)


def gravity_potential(kin: Kinematics) -> Scalar:
    """V_g = −Σ m g·r, by recursion along the points."""
    above = heights(kin)
    return -total(kin.tape, (above[body.G] * body.mass for body in kin.system.bodies if above))


def heights(kin: Kinematics) -> dict[Point, Scalar]:
    """g·r of every mass centre and of the points on the way to it; none without a field."""
    field = kin.system.field
    found: dict[Point, Scalar] = {}
    if field is None:
        return found
    g = field.g.on(kin.tape)
    for body in kin.system.bodies:
        chain: list[Point] = []
        P: Point | None = body.G
        while P is not None and P not in found:
            chain.append(P)
            P = P.parent
        for Q in reversed(chain):
            above = g @ Q.r
            found[Q] = above if Q.parent is None else found[Q.parent] + above
    return found


def dissipation(kin: Kinematics) -> Scalar:
    """D(q, q̇, t): the sum of the declared dissipation functions, in q̇."""
    return total(kin.tape, (kin.scalar(kin.in_rates(d.D.i)) for d in kin.system.dissipations))
