"""Bodies cut free: every load booked to the rigid group it acts on, and the loads that have no place but a joint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import gradient
from dalembert.errors import NotApplicable
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.joints import RigidGroup, RigidGroups
from dalembert.model.elements import Body, Load, Potential


class Booked(NamedTuple):
    """A load on a rigid group: a force at a point, or a couple (no point)."""

    name: str
    group: RigidGroup
    vector: Vector
    at: Point | None = None


class Wrench(NamedTuple):
    """A force and a moment, about a point that is known where it is used."""

    force: Vector
    moment: Vector

    def plus(self, other: Wrench, arm: Vector | None = None) -> Wrench:
        """The sum; the other's force acts at an arm from the point."""
        moment = self.moment + other.moment
        return Wrench(self.force + other.force, moment if arm is None else moment + arm.cross(other.force))

    def minus(self, other: Wrench, arm: Vector | None = None) -> Wrench:
        """The difference."""
        return self.plus(Wrench(-other.force, -other.moment), arm)


def booked_loads(groups: RigidGroups) -> Iterator[Booked]:
    """Weights, declared loads and the pull of springs, each on the group it acts on.

    Source: Bar00 (14), Mei85 (7.24).
    """
    system = groups.kin.system
    if system.field is not None:
        for b in system.bodies:
            yield Booked(f"weight of {b.name}", groups.of_body[b], b.mass * system.field.g, b.G)
    for load in system.loads:
        yield from _booked(groups, load)
    for spring in system.potentials:
        yield from _booked(groups, spring)


def _booked(groups: RigidGroups, load: Load | Potential) -> Iterator[Booked]:
    torques = load.torques if isinstance(load, Load) else ()
    if isinstance(load, Load) and load.along:
        unknown = "given by its virtual work, which does not say on which body it acts"
        msg = f"{load.name} has no place: it is {unknown}; give a force or a torque"
        raise NotApplicable(msg)
    named = load.bodies or (None,) * (len(load.forces) + len(torques))
    for (F, P), body in zip(load.forces, named, strict=False):
        yield Booked(load.name, groups.carrier(P, load.name) if body is None else groups.of_body[body], F, P)
    for (T, B), body in zip(torques, named[len(load.forces) :], strict=True):
        yield Booked(load.name, groups.held_by(B, load.name) if body is None else groups.of_body[body], T)


def joint_loads(groups: RigidGroups) -> dict[int, int]:
    """τ_k = −∂V/∂q_k − ∂D/∂q̇_k of the potentials and dissipation functions that name no points: they act in the joint that q_k moves."""
    kin, t = groups.kin, groups.kin.tape
    tau: dict[int, int] = {}
    functions = [(p.name, kin.in_rates(p.V.i), kin.q) for p in kin.system.potentials if not p.forces]
    functions += [(d.name, kin.in_rates(d.D.i), kin.qdot) for d in kin.system.dissipations]
    for name, e, by in functions:
        slopes = gradient(t, {e: t.one}, by)
        acting = [k for k, gone in enumerate(shown_zero(t, slopes)) if not gone]
        check_joint_coordinates(groups, name, acting)
        for k in acting:
            tau[k] = t.sub(tau.get(k, t.zero), slopes[k])
    return tau


def check_joint_coordinates(groups: RigidGroups, name: str, acting: Iterable[int]) -> None:
    """Refuse a load along a coordinate that moves several joints: it may act in any of them."""
    moved = groups.moved_joints()
    for k in acting:
        joints = moved.get(k, [])
        if len(joints) != 1:
            q = groups.kin.name(groups.kin.q[k])
            through = " and ".join(repr(g.name) for g in joints[:2]) or "no joint"
            remedy = "give it as forces or torques, or as a spring between points"
            msg = f"{name} has no place: it acts along {q}, which moves {through}; {remedy}"
            raise NotApplicable(msg)


def inertia(kin: Kinematics, body: Body) -> Wrench:
    """m a and Ḣ of a body about its mass centre, in the speeds."""
    none = Vector(kin.tape, {})
    rigid = body.frame is not None and body.inertia is not None
    torque = kin.motion.derivative(body.inertia @ kin.w(body.frame)) if rigid else none  # type: ignore[operator, arg-type]
    return Wrench(body.mass * kin.a(body.G), torque)
