"""The loads of a system, gathered: what acts on which point or frame, and what derives from a potential."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.algebra.columns import contracted
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


def weights(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, m g, G) of every mass in the gravity field."""
    field = kin.system.field
    if field is not None:
        for body in kin.system.bodies:
            yield f"weight of {body.name}", body.mass * field.g, body.G


def potential(kin: Kinematics) -> int:
    """V(q, t) = Σ of the declared potentials, without gravity."""
    t = kin.tape
    total = t.zero
    for p in kin.system.potentials:
        total = t.add(total, kin.in_rates(p.V.i))
    return total


def gravity_potential(kin: Kinematics) -> int:
    """V_g = −Σ m g·r, by recursion along the points."""
    t = kin.tape
    above = heights(kin)
    return t.neg(contracted(t, ((body.mass.i, above[body.G]) for body in kin.system.bodies if above)))


def heights(kin: Kinematics) -> dict[Point, int]:
    """g·r of every mass centre and of the points on the way to it; none without a field."""
    field = kin.system.field
    t = kin.tape
    found: dict[Point, int] = {}
    if field is None:
        return found
    g = field.g.on(t)
    for body in kin.system.bodies:
        chain: list[Point] = []
        P: Point | None = body.G
        while P is not None and P not in found:
            chain.append(P)
            P = P.parent
        for Q in reversed(chain):
            before = t.zero if Q.parent is None else found[Q.parent]
            found[Q] = t.add(before, g.dot_index(Q.r.on(t)))
    return found


def dissipation(kin: Kinematics) -> int:
    """D(q, q̇, t): the sum of the declared dissipation functions, in q̇."""
    t = kin.tape
    total = t.zero
    for d in kin.system.dissipations:
        total = t.add(total, kin.in_rates(d.D.i))
    return total
