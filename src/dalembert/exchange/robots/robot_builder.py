"""The record of a robot becomes a System, in the language in which any system is described."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import field
from typing import Any, Final

import numpy as np

from dalembert.errors import BadDescription, warn
from dalembert.exchange.robots.identifiers import IdentifierMap
from dalembert.exchange.robots.inertial_properties import InertialBuilder
from dalembert.exchange.robots.robot_record import EqualityConstraint, Robot, RobotBody, RobotJoint
from dalembert.exchange.robots.transforms import (
    IDENTITY,
    BodyAttachment,
    Pose,
    exact_axis,
    pose,
    rotation,
    to_fraction,
    vector,
)
from dalembert.exchange.robots.visuals import link_visuals
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar

ORIENTATIONS: Final = ("quaternion", "angles")
_ANGLES: Final = ("yaw", "pitch", "roll")


@dataclass(frozen=True)
class BuildOptions:
    """How a robot is to be written down."""

    attitude: str = "quaternion"
    symbols: tuple[str, ...] = ()
    locked: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class JointFrames:
    """A joint in the System: its coordinates, the frames and points on either side of it, and
    its axis.
    """

    joint: RobotJoint
    # of a joint that follows another, the expression
    coordinates: tuple[Scalar, ...]
    before: BodyAttachment
    after: BodyAttachment
    # unit vector of a hinge or slider
    axis: Any = None


class RobotBuilder:
    """Bodies, joints and coordinates; loads and rows are added by those who know them."""

    def __init__(self, robot: Robot, choices: BuildOptions) -> None:
        self.robot, self.choices = robot, choices
        self.s = System(robot.name)
        self.names = IdentifierMap()
        self.masses = InertialBuilder(self.s, self.names, choices.symbols)
        self.carriers: dict[int, BodyAttachment] = {
            -1: BodyAttachment(self.s.N, self.s.O, IDENTITY)
        }
        # None for a joint that is locked
        self.joints: list[JointFrames | None] = []
        self.coupled = mimic_joints(robot, choices.locked)
        self._coordinates: dict[str, Scalar] = {}
        self.looks = link_visuals(robot)
        unknown = sorted(set(choices.locked) - {j.name for j in robot.joints})
        if unknown:
            msg = (
                f"locked: {robot.name!r} has no joint {unknown[0]!r}; its joints are "
                f"{', '.join(j.name for j in robot.joints)}"
            )
            raise BadDescription(msg)
        for k, body in enumerate(robot.bodies):
            self.carriers[k] = self._add_body(body)
        self.masses.warn_unphysical()
        self._add_gravity()

    def _add_gravity(self) -> None:
        if any(self.robot.gravity):
            g = self.masses.parameter("gravity", "g", float(np.linalg.norm(self.robot.gravity)))
            direction = np.array(self.robot.gravity) / np.linalg.norm(self.robot.gravity)
            self.s.gravity(vector(self.s.N, direction) * g)

    def _add_body(self, body: RobotBody) -> BodyAttachment:
        """A body on its parent: through its joints, one after the other, then its mass."""
        here = self.carriers[body.parent].compose(pose(body.pos, body.quat))
        for joint in body.joints:
            if joint.name in self.choices.locked:
                here = here.compose(_locked_pose(joint, float(self.choices.locked[joint.name])))
                self.joints.append(None)
            else:
                here = self._add_joint(body, joint, here)
        self.masses.add(body, here, self.looks[len(self.carriers) - 1])
        return here

    def _add_joint(
        self, body: RobotBody, joint: RobotJoint, here: BodyAttachment
    ) -> BodyAttachment:
        if joint.kind in ("hinge", "slide"):
            moved = (
                self._revolute_joint(body, joint, here)
                if joint.kind == "hinge"
                else self._prismatic_joint(joint, here)
            )
        else:
            moved = (
                self._spherical_joint(body, joint, here)
                if joint.kind == "ball"
                else self._free_joint(body, joint, here)
            )
        self.joints.append(moved)
        self.masses.add_rotor(joint, moved.coordinates, moved.after.frame)
        return moved.after

    def _coordinate(self, joint: RobotJoint) -> Scalar:
        """The coordinate of a hinge or slider; of one that follows another, q₁ = x₁ + c₀ + c₁
        (q₂ − x₂).
        """
        if joint.name not in self._coordinates:
            row = self.coupled.get(joint.name)
            if row is None:
                q = self.s.coordinate(self.names.identifier(joint.name, "q"))
            else:
                c0, c1 = to_fraction(row.polynomial[0]), to_fraction(row.polynomial[1])
                x1, x2 = to_fraction(row.reference[0]), to_fraction(row.reference[1])
                q = c1 * self._coordinate(self.robot.joints[row.second]) + (x1 + c0 - c1 * x2)
            self._coordinates[joint.name] = q
        return self._coordinates[joint.name]

    def _revolute_joint(
        self, body: RobotBody, joint: RobotJoint, here: BodyAttachment
    ) -> JointFrames:
        """The body turns about its axis through the joint's place, which stays."""
        q = self._coordinate(joint)
        C = here.body_frame()
        n = _unit_vector(C, joint.axis)
        F = C.rotated(q - to_fraction(joint.ref), n, body.name)
        anchor = here.point.offset(vector(here.frame, here.pose.point(joint.pos)), None, F)
        return JointFrames(
            joint, (q,), here, BodyAttachment(F, anchor, Pose(np.eye(3), -np.array(joint.pos))), n
        )

    def _prismatic_joint(self, joint: RobotJoint, here: BodyAttachment) -> JointFrames:
        q = self._coordinate(joint)
        n = _unit_vector(here.frame, here.pose.R @ np.array(joint.axis))
        shift = vector(here.frame, here.pose.p) + (q - to_fraction(joint.ref)) * n
        P = here.point.offset(shift, None, here.frame)
        return JointFrames(
            joint, (q,), here, BodyAttachment(here.frame, P, Pose(here.pose.R, np.zeros(3))), n
        )

    def _spherical_joint(
        self, body: RobotBody, joint: RobotJoint, here: BodyAttachment
    ) -> JointFrames:
        F, q = self._oriented_frame(joint, here.body_frame(), body.name)
        anchor = here.point.offset(vector(here.frame, here.pose.point(joint.pos)), None, F)
        return JointFrames(
            joint, q, here, BodyAttachment(F, anchor, Pose(np.eye(3), -np.array(joint.pos)))
        )

    def _free_joint(self, body: RobotBody, joint: RobotJoint, here: BodyAttachment) -> JointFrames:
        """Six degrees of freedom, measured from the ground for a body on the ground."""
        at = self.carriers[-1] if body.parent == -1 else here
        C = at.body_frame()
        x, y, z = (
            self.s.coordinate(self.names.identifier(f"{joint.name}_{axis}", "base"))
            for axis in "xyz"
        )
        F, e = self._oriented_frame(joint, C, body.name)
        P = at.point.offset(vector(at.frame, at.pose.p) + x * C.x + y * C.y + z * C.z, None, F)
        return JointFrames(joint, (x, y, z, *e), at, BodyAttachment(F, P, IDENTITY))

    def _oriented_frame(
        self, joint: RobotJoint, C: Frame, name: str
    ) -> tuple[Frame, tuple[Scalar, ...]]:
        """Any attitude: by four quaternion entries, or by three angles about z, y, x."""
        ends: Iterable[str] = (
            [f"e{k}" for k in range(4)] if self.choices.attitude == "quaternion" else _ANGLES
        )
        q = tuple(
            self.s.coordinate(self.names.identifier(f"{joint.name}_{end}", "base")) for end in ends
        )
        if len(q) == 4:
            return C.quaternion(*q, name=name), q
        return C.rotations("zyx", *q, names=[f"{name} after {a}" for a in _ANGLES[:2]] + [name])[
            -1
        ], q


def mimic_joints(robot: Robot, locked: Container[str]) -> dict[str, EqualityConstraint]:
    """{joint: the row x₁ = c₀ + c₁ x₂, c₁ ≠ 0, that makes it follow another}; other couplings
    stay rows.
    """
    joints, mimics = robot.joints, dict[str, EqualityConstraint]()
    for row in robot.equalities:
        pair = [row.first, row.second]
        if (
            row.kind != "joint"
            or min(pair) < 0
            or any(
                joints[k].kind not in ("hinge", "slide") or joints[k].name in locked for k in pair
            )
        ):
            continue
        is_linear = (
            len(row.polynomial) > 1 and row.polynomial[1] != 0 and not any(row.polynomial[2:])
        )
        leader = joints[row.second].name
        while leader in mimics:
            leader = joints[mimics[leader].second].name
        if is_linear and joints[row.first].name not in (leader, *mimics):
            mimics[joints[row.first].name] = row
    return mimics


def _unit_vector(F: Frame, axis: Any) -> Any:
    """A unit vector of a frame, exactly of length 1."""
    a, b, c = exact_axis(axis)
    return a * F.x + b * F.y + c * F.z


def _locked_pose(joint: RobotJoint, value: float) -> Pose:
    """The pose that a joint gives when it is held at a value."""
    if joint.kind not in ("hinge", "slide"):
        msg = (
            f"locked: {joint.name!r} is a {joint.kind} joint; only hinges and sliders can be "
            f"held at a number"
        )
        raise BadDescription(msg)
    n = np.array(joint.axis) / np.linalg.norm(joint.axis)
    if joint.kind == "slide":
        return Pose(np.eye(3), (value - joint.ref) * n)
    half = (value - joint.ref) / 2
    x, y, z = (float(v) for v in np.sin(half) * n)
    R = rotation((float(np.cos(half)), x, y, z))
    return Pose(R, np.array(joint.pos) - R @ np.array(joint.pos))


def warn_renamed(names: IdentifierMap) -> None:
    """Names that expressions cannot take were changed: say which."""
    changed = names.renamed()
    if changed:
        listed = ", ".join(f"{old!r} is {new}" for new, old in list(changed.items())[:8])
        warn(
            f"names that cannot be used in expressions were changed: "
            f"{listed}{' …' if len(changed) > 8 else ''}"
        )
