"""Springs, dampers, tendons and drives of a robot as loads of a System."""

from __future__ import annotations

from typing import Any

from dalembert.algebra.functions import sqrt
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.point import Point
from dalembert.robots.build import Moved, RobotBuilder
from dalembert.robots.carriers import decimals
from dalembert.robots.record import Actuator, Site, Tendon


def add_passive(b: RobotBuilder) -> None:
    """V = ½ k (q − q₀)² and D = ½ c q̇² of every joint."""
    s = b.s
    coupled = {*b.coupled, *(b.robot.joints[row.second].name for row in b.coupled.values())}
    for moved in b.joints:
        if moved is None:
            continue
        joint = moved.joint
        if joint.stiffness:
            k = b.masses.parameter("stiffness", f"k_{joint.name}", joint.stiffness)
            (rest,) = decimals([joint.springref])
            s.potential(k * (moved.coordinates[0] - rest) ** 2 / 2, f"spring of {joint.name}")
        if joint.damping:
            c = b.masses.parameter("damping", f"d_{joint.name}", joint.damping)
            speeds, label = velocities(moved), f"damping of {joint.name}"
            if joint.name in coupled:
                # a function of a coordinate that moves several joints would not say in which of them it acts
                _along_joint(b, moved, -c * speeds[0], label)
            else:
                s.dissipation(sum((v * v for v in speeds[1:]), speeds[0] ** 2) * c / 2, label)


def velocities(moved: Moved) -> list[Scalar]:
    """The velocities that the engines count: rates, the velocity on the ground, the spin along the turned axes."""
    q = moved.coordinates
    if moved.joint.kind in ("hinge", "slide"):
        return [q[0].dot]
    before, after = moved.before.frame, moved.after.frame
    spin = list((after.w - before.w).to(after))
    return [*(x.dot for x in q[:3]), *spin] if moved.joint.kind == "free" else spin


# ---- tendons -----------------------------------------------------------------------------------


def length(b: RobotBuilder, tendon: Tendon) -> Scalar | None:
    """L = Σ c q, or the length of the straight pieces; None where a locked joint or nothing is left of it."""
    total: Any = 0
    for j, c in tendon.joints:
        moved = b.joints[j]
        value: Any = decimals([b.choices.locked[b.robot.joints[j].name]])[0] if moved is None else moved.coordinates[0]
        total = total + decimals([c])[0] * value
    for a, z, divisor in tendon.pieces:
        r = _point(b, a) - _point(b, z)
        total = total + sqrt(r @ r) / decimals([divisor])[0]
    return total if isinstance(total, Scalar) else None


def _point(b: RobotBuilder, site: Site) -> Point:
    return b.carriers[site.body].at(site.pos)


def add_tendons(b: RobotBuilder) -> None:
    """V = ½ k (L − L₀)² and D = ½ c L̇² along every tendon."""
    for tendon in b.robot.tendons:
        if not (tendon.stiffness or tendon.damping):
            continue
        L = length(b, tendon)
        if L is None:
            continue
        k, c, rest = decimals([tendon.stiffness])[0], decimals([tendon.damping])[0], decimals([tendon.rest[0]])[0]
        if k:
            b.s.potential(k * (L - rest) ** 2 / 2, f"spring of tendon {tendon.name}")
        if c:
            b.s.dissipation(c * L.dot**2 / 2, f"damping of tendon {tendon.name}")


# ---- drives ------------------------------------------------------------------------------------


def add_actuators(b: RobotBuilder) -> None:
    """force = gain · input + b₀ + b₁ L + b₂ L̇ along L = gear · q, or gear times a tendon's length."""
    for actuator in b.robot.actuators:
        if actuator.along == "joint":
            moved = b.joints[actuator.index]
            if moved is not None:
                _drive_joint(b, actuator, moved)
        else:
            _drive_tendon(b, actuator, b.robot.tendons[actuator.index])


def _force(b: RobotBuilder, actuator: Actuator, L: Any, L_dot: Any) -> Any:
    gain, b0, b1, b2 = (decimals([x])[0] for x in (actuator.gain, *actuator.bias))
    control = b.s.input(b.names.legal(actuator.name, "ctrl"), value=0)
    return gain * control + b0 + b1 * L + b2 * L_dot


def _drive_joint(b: RobotBuilder, actuator: Actuator, moved: Moved) -> None:
    label, gear = f"drive {actuator.name}", decimals(actuator.gear)
    if moved.joint.kind == "ball":
        spin = velocities(moved)
        F = moved.after.frame
        f = _force(b, actuator, 0, sum((g * w for g, w in zip(gear, spin, strict=False)), 0 * spin[0]))
        axis = gear[0] * F.x + gear[1] * F.y + gear[2] * F.z
        b.s.torque(f * axis, F, reaction=moved.before.frame, name=label)
        return
    q = moved.coordinates[0]
    _along_joint(b, moved, gear[0] * _force(b, actuator, gear[0] * q, gear[0] * q.dot), label)


def _along_joint(b: RobotBuilder, moved: Moved, f: Any, label: str) -> None:
    """A load and its opposite on the two sides of a hinge or slider."""
    if moved.joint.kind == "hinge":
        b.s.torque(f * moved.axis, moved.after.frame, reaction=moved.before.frame, name=label)
    else:
        # the slider's two sides meet at one place, where the force and its opposite have no moment
        here = moved.after.point
        b.s.force(f * moved.axis, here, reaction=_beneath(moved), name=label)


def _beneath(moved: Moved) -> Point:
    """The point of the guide that the slider starts from: the force acts along the line from there."""
    return moved.before.at((0, 0, 0))


def _drive_tendon(b: RobotBuilder, actuator: Actuator, tendon: Tendon) -> None:
    L = length(b, tendon)
    if L is None:
        return
    gear = decimals(actuator.gear)[0]
    f = gear * _force(b, actuator, gear * L, gear * L.dot)
    for j, c in tendon.joints:
        moved = b.joints[j]
        if moved is not None:
            _along_joint(b, moved, decimals([c])[0] * f, f"drive {actuator.name} at {moved.joint.name}")
    for k, (a, z, divisor) in enumerate(tendon.pieces):
        P, Q = _point(b, a), _point(b, z)
        r = P - Q
        b.s.force(f / decimals([divisor])[0] / sqrt(r @ r) * r, P, reaction=Q, name=f"drive {actuator.name}, piece {k + 1}")
