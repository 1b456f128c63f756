"""Bodies cut free: the inertia of each and the loads on it, reduced to its mass centre."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.exact.zero_test import ZeroTest
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.loads import applied_forces, applied_torques, weights


@dataclass
class FreeBody:
    """A body cut free: m a and Ḣ, and the loads F and M_G on it.

    A load on a point that no body carries acts on a massless body of its own.
    """

    name: str
    point: Point
    frame: Frame | None
    axes: Frame
    inertia_force: Vector
    inertia_torque: Vector
    F: Vector
    M: Vector

    @property
    def force(self) -> Vector:
        """f = m a − F: what the rest of the system must exert."""
        return self.inertia_force - self.F

    @property
    def moment(self) -> Vector:
        """μ = Ḣ − M_G"""
        return self.inertia_torque - self.M


def free_bodies(kin: Kinematics) -> list[FreeBody]:
    """Every body with its loads, then the massless ones; loads with a potential are not among them.

    Source: Bar00 (14), Mei85 (7.24).
    """
    t, N = kin.tape, kin.system.N
    none = Vector(t, {})
    bodies = []
    for b in kin.system.bodies:
        torque = none if b.frame is None or b.inertia is None else kin.motion.derivative(b.inertia @ kin.w(b.frame))
        bodies.append(FreeBody(b.name, b.G, b.frame, b.frame or N, b.mass * kin.a(b.G), torque, none, none))
    for name, F, P in (*weights(kin), *applied_forces(kin)):
        force = kin.vector_in_speeds(F)
        body = carrier(kin, bodies, P)
        if body is None:
            body = FreeBody(name, P, None, N, none, none, none, none)
            bodies.append(body)
        body.F = body.F + force
        if body.frame is not None:
            body.M = body.M + (P - body.point).on(t).cross(force)
    for name, T, B in applied_torques(kin):
        body = next((b for b in bodies if b.frame is B), None)
        if body is None:
            body = FreeBody(name, kin.system.O, B, B, none, none, none, none)
            bodies.append(body)
        body.M = body.M + kin.vector_in_speeds(T)
    return bodies


def carrier(kin: Kinematics, bodies: list[FreeBody], P: Point) -> FreeBody | None:
    """The body that P is fixed to: v_P = v_G + ω × (P − G), decided exactly."""
    # a mass carries what acts at its own centre, even where it is fixed to another body
    own = next((body for body in bodies if P is body.point), None)
    if own is not None:
        return own
    t = kin.tape
    test = ZeroTest(t)
    for body in bodies:
        if body.frame is not None:
            gap = kin.v(P) - kin.v(body.point) - kin.w(body.frame).cross((P - body.point).on(t))
            if test.decide(list(gap.components(kin.system.N))).all_zero:
                return body
    return None
