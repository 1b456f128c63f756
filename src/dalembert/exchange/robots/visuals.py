"""What the links of a robot look like: its meshes where asked for, else the primitives of its
file, else bars from joint to joint.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Final

import numpy as np

from dalembert.exchange.robots.robot_record import Robot, RobotBody, RobotShape
from dalembert.exchange.robots.transforms import BodyAttachment, Numbers, Pose, pose
from dalembert.mechanics.geometry.triangle_mesh import TriangleMesh
from dalembert.mechanics.model.elements import Primitive

# the radius of a bar relative to the usual length of a bar, and at most relative to its own
_BAR_RADIUS_RATIO: Final = 0.18
_MAX_BAR_RADIUS_RATIO: Final = 0.3
# metres below which two joints are at one place
_COINCIDENT: Final = 1e-4


def link_visuals(robot: Robot) -> list[list[Primitive]]:
    """For every link of a robot its primitives, in the axes of the link; those of a link without
    mass are attached to the one that carries it.
    """
    ends = [_link_segments(robot, k) for k in range(len(robot.bodies))]
    lengths = [float(np.linalg.norm(b - a)) for pairs in ends for a, b in pairs]
    # not by numpy, whose median opens its masked arrays
    radius = _BAR_RADIUS_RATIO * median(lengths) if lengths else 0.0
    visuals: list[list[Primitive]] = []
    for body, pairs in zip(robot.bodies, ends, strict=True):
        drawn = [_mesh(s) for s in body.surfaces] or [
            p for shape in body.shapes for p in _primitives(shape)
        ]
        drawn = drawn or [p for a, b in pairs for p in _bar(a, b, radius)]
        visuals.append(drawn or [Primitive("sphere", (radius,) * 3, np.zeros(3), np.eye(3))])
    for k in range(len(visuals) - 1, 0, -1):
        body = robot.bodies[k]
        if body.inertial is None and not body.joints and body.parent >= 0:
            visuals[body.parent] += [_transform(p, pose(body.pos, body.quat)) for p in visuals[k]]
    return visuals


def relative_to_mass_centre(
    primitives: list[Primitive], here: BodyAttachment, com: Numbers
) -> tuple[Primitive, ...]:
    """The same in the axes of the moving frame, counted from the mass centre."""
    return tuple(_transform(p, Pose(here.pose.R, -here.pose.R @ com)) for p in primitives)


def _transform(p: Primitive, to: Pose) -> Primitive:
    return replace(p, centre=to.point(p.centre), rotation=to.R @ p.rotation)


def _mesh(surface: TriangleMesh) -> Primitive:
    """In its box, whose sides are at least a thousandth of the longest."""
    least, most = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    half = np.maximum((most - least) / 2, 1e-3 * (most - least).max() + 1e-12)
    unit = TriangleMesh((surface.vertices - (least + most) / 2) / half, surface.faces)
    return Primitive(
        "mesh",
        (float(half[0]), float(half[1]), float(half[2])),
        (least + most) / 2,
        np.eye(3),
        unit,
    )


def _primitives(shape: RobotShape) -> list[Primitive]:
    """A capsule is a cylinder and two balls; an ellipsoid is a stretched ball."""
    at, s = pose(shape.pos, shape.quat), shape.sizes
    match shape.kind:
        case "sphere":
            return [Primitive("sphere", (s[0],) * 3, at.p, at.R)]
        case "ellipsoid":
            return [Primitive("sphere", (s[0], s[1], s[2]), at.p, at.R)]
        case "box":
            return [Primitive("box", (s[0], s[1], s[2]), at.p, at.R)]
        case "cylinder":
            return [Primitive("cylinder", (s[0], s[0], s[1]), at.p, at.R)]
        case "capsule":
            ends = [
                Primitive("sphere", (s[0],) * 3, at.point((0, 0, z)), at.R) for z in (-s[1], s[1])
            ]
            return [Primitive("cylinder", (s[0], s[0], s[1]), at.p, at.R), *ends]


def _link_segments(robot: Robot, k: int) -> list[tuple[Numbers, Numbers]]:
    """From the joint of a link to the joints of those it carries; where these are at one place,
    to its mass centre.
    """
    body = robot.bodies[k]
    start = np.array(body.joints[0].pos if body.joints else (0.0, 0.0, 0.0), dtype=float)
    beyond = [_joint_position(b) for b in robot.bodies if b.parent == k]
    centre = [] if body.inertial is None else [np.array(body.inertial.com, dtype=float)]
    apart, aside = (
        [(start, end) for end in ends if np.linalg.norm(end - start) > _COINCIDENT]
        for ends in (beyond, centre)
    )
    return apart or aside


def _joint_position(body: RobotBody) -> Numbers:
    """Where a link's first joint sits in the axes of its parent."""
    return pose(body.pos, body.quat).point(body.joints[0].pos if body.joints else (0.0, 0.0, 0.0))


def _bar(a: Numbers, b: Numbers, radius: float) -> list[Primitive]:
    """A cylinder between two joints, and a ball at the first."""
    length = float(np.linalg.norm(b - a))
    z = (b - a) / length
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x = x / np.linalg.norm(x)
    r = min(radius, _MAX_BAR_RADIUS_RATIO * length)
    turn = np.column_stack([x, np.cross(z, x), z])
    return [
        Primitive("cylinder", (r, r, length / 2), (a + b) / 2, turn),
        Primitive("sphere", (1.3 * r,) * 3, a, turn),
    ]
