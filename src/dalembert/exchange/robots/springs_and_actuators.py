"""Springs, dampers, tendons and drives of a robot as loads of a System, its equalities as
constraint rows.
"""

from __future__ import annotations

from typing import Any

from dalembert.errors import BadDescription
from dalembert.exchange.robots.robot_builder import JointFrames, RobotBuilder
from dalembert.exchange.robots.robot_record import Actuator, EqualityConstraint, Site, Tendon
from dalembert.exchange.robots.transforms import BodyAttachment, rotation, to_fraction, to_fractions
from dalembert.mechanics.geometry.point import Point
from dalembert.symbolic.algebra.functions import sqrt
from dalembert.symbolic.algebra.scalar import Scalar


def add_joint_springs(b: RobotBuilder) -> None:
    """V = ½ k (q − q₀)² and D = ½ c q̇² of every joint."""
    s = b.s
    coupled = {*b.coupled, *(b.robot.joints[row.second].name for row in b.coupled.values())}
    for moved in b.joints:
        if moved is None:
            continue
        joint = moved.joint
        if joint.stiffness:
            k = b.masses.parameter("stiffness", f"k_{joint.name}", joint.stiffness)
            rest = to_fraction(joint.springref)
            s.potential(k * (moved.coordinates[0] - rest) ** 2 / 2, f"spring of {joint.name}")
        if joint.damping:
            c = b.masses.parameter("damping", f"d_{joint.name}", joint.damping)
            speeds, label = joint_velocities(moved), f"damping of {joint.name}"
            if joint.name in coupled:
                # a function of a coordinate that moves several joints would not say in which of
                # them it acts
                _add_joint_load(b, moved, -c * speeds[0], label)
            else:
                s.dissipation(sum((v * v for v in speeds[1:]), speeds[0] ** 2) * c / 2, label)


def joint_velocities(moved: JointFrames) -> list[Scalar]:
    """The velocities that the engines count: rates, the velocity on the ground, the spin along
    the turned axes.
    """
    q = moved.coordinates
    if moved.joint.kind in ("hinge", "slide"):
        return [q[0].dot]
    before, after = moved.before.frame, moved.after.frame
    spin = list((after.w - before.w).to(after))
    return [*(x.dot for x in q[:3]), *spin] if moved.joint.kind == "free" else spin


# ---- tendons -----------------------------------------------------------------------------------


def tendon_length(b: RobotBuilder, tendon: Tendon) -> Scalar | None:
    """L = Σ c q, or the length of the straight pieces; None where a locked joint or nothing is
    left of it.
    """
    total: Any = 0
    for j, c in tendon.joints:
        total = total + to_fraction(c) * _joint_value(b, j)
    for a, z, divisor in tendon.segments:
        r = _site_point(b, a) - _site_point(b, z)
        total = total + sqrt(r @ r) / to_fraction(divisor)
    return total if isinstance(total, Scalar) else None


def _joint_value(b: RobotBuilder, k: int) -> Any:
    """The coordinate of a joint, or the number that it is locked at."""
    moved = b.joints[k]
    return (
        to_fraction(b.choices.locked[b.robot.joints[k].name])
        if moved is None
        else moved.coordinates[0]
    )


def _site_point(b: RobotBuilder, site: Site) -> Point:
    return b.carriers[site.body].at(site.pos)


def add_tendons(b: RobotBuilder) -> None:
    """V = ½ k (L − L₀)² and D = ½ c L̇² along every tendon."""
    for tendon in b.robot.tendons:
        if not (tendon.stiffness or tendon.damping):
            continue
        L = tendon_length(b, tendon)
        if L is None:
            continue
        k, c, rest = (
            to_fraction(tendon.stiffness),
            to_fraction(tendon.damping),
            to_fraction(tendon.rest_length[0]),
        )
        if k:
            b.s.potential(k * (L - rest) ** 2 / 2, f"spring of tendon {tendon.name}")
        if c:
            b.s.dissipation(c * L.dot**2 / 2, f"damping of tendon {tendon.name}")


# ---- drives ------------------------------------------------------------------------------------


def add_actuators(b: RobotBuilder) -> None:
    """force = gain · input + b₀ + b₁ L + b₂ L̇ along L = gear · q, or gear times a tendon's
    length.
    """
    for actuator in b.robot.actuators:
        if actuator.along == "joint":
            moved = b.joints[actuator.index]
            if moved is not None:
                _drive_joint(b, actuator, moved)
        else:
            _drive_tendon(b, actuator, b.robot.tendons[actuator.index])


def _actuator_force(b: RobotBuilder, actuator: Actuator, L: Any, L_dot: Any) -> Any:
    gain, b0, b1, b2 = (to_fraction(x) for x in (actuator.gain, *actuator.bias))
    control = b.s.input(b.names.identifier(actuator.name, "ctrl"), value=0)
    return gain * control + b0 + b1 * L + b2 * L_dot


def _drive_joint(b: RobotBuilder, actuator: Actuator, moved: JointFrames) -> None:
    label, gear = f"drive {actuator.name}", to_fractions(actuator.gear)
    if moved.joint.kind == "ball":
        spin = joint_velocities(moved)
        F = moved.after.frame
        f = _actuator_force(
            b, actuator, 0, sum((g * w for g, w in zip(gear, spin, strict=False)), 0 * spin[0])
        )
        axis = gear[0] * F.x + gear[1] * F.y + gear[2] * F.z
        b.s.torque(f * axis, F, reaction=moved.before.frame, name=label)
        return
    q = moved.coordinates[0]
    _add_joint_load(
        b, moved, gear[0] * _actuator_force(b, actuator, gear[0] * q, gear[0] * q.dot), label
    )


def _add_joint_load(b: RobotBuilder, moved: JointFrames, f: Any, label: str) -> None:
    """A load and its opposite on the two sides of a hinge or slider."""
    if moved.joint.kind == "hinge":
        b.s.torque(f * moved.axis, moved.after.frame, reaction=moved.before.frame, name=label)
    else:
        # the slider's two sides meet at one place, where the force and its opposite have no moment
        here = moved.after.point
        b.s.force(f * moved.axis, here, reaction=_guide_point(moved), name=label)


def _guide_point(moved: JointFrames) -> Point:
    """The point of the guide that the slider starts from: the force acts along the line from
    there.
    """
    return moved.before.at((0, 0, 0))


def _drive_tendon(b: RobotBuilder, actuator: Actuator, tendon: Tendon) -> None:
    L = tendon_length(b, tendon)
    if L is None:
        return
    gear = to_fractions(actuator.gear)[0]
    f = gear * _actuator_force(b, actuator, gear * L, gear * L.dot)
    for j, c in tendon.joints:
        moved = b.joints[j]
        if moved is not None:
            _add_joint_load(
                b, moved, to_fraction(c) * f, f"drive {actuator.name} at {moved.joint.name}"
            )
    for k, (a, z, divisor) in enumerate(tendon.segments):
        P, Q = _site_point(b, a), _site_point(b, z)
        r = P - Q
        b.s.force(
            f / to_fraction(divisor) / sqrt(r @ r) * r,
            P,
            reaction=Q,
            name=f"drive {actuator.name}, piece {k + 1}",
        )


# ---- rows: coupled joints and tendons, connected points, welded bodies -------------------------


def add_equalities(b: RobotBuilder) -> None:
    """Every equality as the rows that its kind closes; a joint that follows another has no
    coordinate of its own, so no row.
    """
    substituted = list(b.coupled.values())
    for equality in b.robot.equalities:
        if equality in substituted:
            continue
        if equality.kind in ("joint", "tendon"):
            _add_coupling(b, equality)
        elif equality.kind == "connect":
            first, second = equality.anchors
            P, Q = b.carriers[equality.first].at(first), b.carriers[equality.second].at(second)
            b.s.close(P, Q, "ball", name=equality.name)
        else:
            _add_weld(b, equality)


def _add_coupling(b: RobotBuilder, equality: EqualityConstraint) -> None:
    """x₁ − x₁₀ = c₀ + c₁ d + c₂ d² + …, d = x₂ − x₂₀"""
    x1, x2 = (
        _coupled_value(b, equality, equality.first),
        _coupled_value(b, equality, equality.second),
    )
    r1, r2 = to_fraction(equality.reference[0]), to_fraction(equality.reference[1])
    row: Any = x1 - r1
    d: Any = x2 - r2
    for power, c in enumerate(equality.polynomial):
        if c:
            row = row - to_fraction(c) * d**power
    if isinstance(row, Scalar):
        b.s.constrain(row, equality.name)
    elif abs(float(row)) > 1e-9:
        msg = (
            f"{equality.name}: the joints that it couples are locked at values that it does not "
            f"allow"
        )
        raise BadDescription(msg)


def _coupled_value(b: RobotBuilder, equality: EqualityConstraint, k: int) -> Any:
    """A joint's coordinate, a tendon's length; zero for the side that is not there."""
    if k < 0:
        return to_fraction(equality.reference[1])
    if equality.kind == "tendon":
        L = tendon_length(b, b.robot.tendons[k])
        return to_fraction(0.0) if L is None else L
    return _joint_value(b, k)


def _add_weld(b: RobotBuilder, equality: EqualityConstraint) -> None:
    first, second = b.carriers[equality.first], b.carriers[equality.second]
    P = _body_point(first, equality.anchors[0], rotation(equality.quat))
    Q = _body_point(second, equality.anchors[1], None)
    b.s.close(P, Q, "weld", name=equality.name)


def _body_point(carrier: BodyAttachment, place: Any, further: Any) -> Any:
    """A point of a body, attached to a frame along the body's own axes."""
    P = carrier.at(place)
    return P.offset(0 * carrier.frame.x, None, carrier.body_frame(further))
