"""A robot as a file describes it: plain numbers, before any of it becomes a symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.triangle_mesh import TriangleMesh
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.exchange.robots.transforms import BodyAttachment

Vector3 = tuple[float, float, float]
Quaternion4 = tuple[float, float, float, float]
Rows = tuple[Vector3, Vector3, Vector3]
JointKind = Literal["hinge", "slide", "ball", "free"]
ShapeKind = Literal["sphere", "box", "cylinder", "capsule", "ellipsoid"]

# how many numbers place a joint, and how many move it, in the engines
POSITIONS = {"hinge": 1, "slide": 1, "ball": 4, "free": 7}
VELOCITIES = {"hinge": 1, "slide": 1, "ball": 3, "free": 6}
# kinds of joints by their numbers in MuJoCo, and kinds of shapes with how many sizes these have
JOINTS: Final[tuple[JointKind, ...]] = ("free", "ball", "slide", "hinge")
SHAPES: Final[dict[int, tuple[ShapeKind, int]]] = {
    2: ("sphere", 1),
    3: ("capsule", 2),
    4: ("ellipsoid", 3),
    5: ("cylinder", 2),
    6: ("box", 3),
}


def vector3(x: Any) -> Vector3:
    """A place or a direction of an engine."""
    a, b, c = map(float, x)
    return a, b, c


def quaternion4(x: Any) -> Quaternion4:
    """A quaternion of an engine."""
    a, b, c, d = map(float, x)
    return a, b, c, d


@dataclass(frozen=True)
class Inertial:
    """m, the mass centre c and the inertia about it, in the axes of the body."""

    mass: float
    com: Vector3
    inertia: Rows


def symmetric_inertial(mass: float, com: Any, I: Any) -> Inertial:
    """With an inertia that is symmetric to the last bit."""
    rows = tuple(vector3(row) for row in (I + I.T) / 2)
    return Inertial(float(mass), vector3(com), rows)  # type: ignore[arg-type]


@dataclass(frozen=True)
class RobotShape:
    """What a body looks like: a primitive at a place of the body, turned by a quaternion."""

    kind: ShapeKind
    # radius; half sides; radius and half length; three radii
    sizes: tuple[float, ...]
    pos: Vector3
    quat: Quaternion4


def shape(kind: int, sizes: Any, pos: Any, quat: Any) -> RobotShape | None:
    """A shape by its number in MuJoCo; None for one that is no primitive."""
    if kind not in SHAPES:
        return None
    name, count = SHAPES[kind]
    return RobotShape(name, tuple(map(float, sizes[:count])), vector3(pos), quaternion4(quat))


@dataclass(frozen=True)
class RobotJoint:
    """One joint between a body and its parent; `pos` and `axis` in the axes of the body."""

    name: str
    kind: JointKind
    pos: Vector3 = (0.0, 0.0, 0.0)
    axis: Vector3 = (0.0, 0.0, 1.0)
    # the value at which the body stands as its pose says, and the value at which its spring is at
    # rest
    ref: float = 0.0
    springref: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    armature: float = 0.0


@dataclass(frozen=True)
class RobotBody:
    """A link: its pose in its parent when its joints are at rest, its inertia, and its joints."""

    name: str
    # index of the parent in the list of bodies; −1 for the ground
    parent: int
    pos: Vector3
    quat: Quaternion4
    inertial: Inertial | None
    joints: tuple[RobotJoint, ...] = ()
    shapes: tuple[RobotShape, ...] = ()
    # of its meshes, on request; in the axes of the body
    surfaces: tuple[TriangleMesh, ...] = ()


@dataclass(frozen=True)
class Site:
    """A point of a body (−1: of the ground)."""

    body: int
    pos: Vector3


@dataclass(frozen=True)
class EqualityConstraint:
    """A row or rows that hold: two joints or tendons coupled by a polynomial, two points
    connected, two bodies welded.
    """

    name: str
    kind: Literal["joint", "tendon", "connect", "weld"]
    # joint or tendon indices (the second may be −1), or body indices
    first: int
    second: int
    # coefficients of the polynomial
    polynomial: tuple[float, ...] = ()
    # values at the reference position that the polynomial is counted from
    reference: tuple[float, float] = (0.0, 0.0)
    # the common point, in the axes of either body
    anchors: tuple[Vector3, Vector3] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    # attitude of the second body in the first
    quat: Quaternion4 = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Tendon:
    """L = Σ c q (fixed) or the length of a straight path through sites; with a spring and a
    damper along it.
    """

    name: str
    # {joint index: c}
    joints: tuple[tuple[int, float], ...] = ()
    # straight pieces with the divisor of a pulley: (site, site, divisor)
    segments: tuple[tuple[Site, Site, float], ...] = ()
    stiffness: float = 0.0
    # no force between these two lengths
    rest_length: tuple[float, float] = (0.0, 0.0)
    damping: float = 0.0


@dataclass(frozen=True)
class Actuator:
    """force = gain ctrl + b₀ + b₁ length + b₂ velocity, along a joint or a tendon, with a gear."""

    name: str
    along: Literal["joint", "tendon"]
    index: int
    gear: tuple[float, ...]
    gain: float
    bias: Vector3 = (0.0, 0.0, 0.0)
    control: float = 0.0


@dataclass(frozen=True)
class Keyframe:
    """Positions and velocities as the engine stores them."""

    name: str
    qpos: tuple[float, ...]
    qvel: tuple[float, ...]


@dataclass(frozen=True)
class Robot:
    """All contents of a file that equations can express; and, by name, the rest."""

    name: str
    bodies: tuple[RobotBody, ...]
    gravity: Vector3 = (0.0, 0.0, -9.81)
    equalities: tuple[EqualityConstraint, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    # {what is omitted: the names of those that have it}
    unsupported: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def joints(self) -> tuple[RobotJoint, ...]:
        """All joints, body by body: the order in which the engines count them."""
        return tuple(j for b in self.bodies for j in b.joints)

    def with_joint(self, body: int, joint: RobotJoint) -> Robot:
        """The robot with a further joint, the first of a body; every joint index counts it."""
        place = sum(len(b.joints) for b in self.bodies[:body])

        def shifted(k: int) -> int:
            return k + (k >= place)

        bodies = list(self.bodies)
        bodies[body] = replace(bodies[body], joints=(joint, *bodies[body].joints))
        equalities = [
            replace(e, first=shifted(e.first), second=shifted(e.second)) if e.kind == "joint" else e
            for e in self.equalities
        ]
        tendons = [
            replace(n, joints=tuple((shifted(k), c) for k, c in n.joints)) for n in self.tendons
        ]
        actuators = [
            replace(a, index=shifted(a.index)) if a.along == "joint" else a for a in self.actuators
        ]
        return replace(
            self,
            bodies=tuple(bodies),
            equalities=tuple(equalities),
            tendons=tuple(tendons),
            actuators=tuple(actuators),
            keyframes=tuple(
                _with_joint_at_rest(k, self.joints[:place], joint) for k in self.keyframes
            ),
        )


def _with_joint_at_rest(
    frame: Keyframe, before: Sequence[RobotJoint], joint: RobotJoint
) -> Keyframe:
    """A keyframe in which a further joint is at rest in its reference position."""
    q, v = (sum(sizes[j.kind] for j in before) for sizes in (POSITIONS, VELOCITIES))
    position = [0.0] * POSITIONS[joint.kind]
    if joint.kind in ("free", "ball"):
        position[-4] = 1.0
    qpos = (*frame.qpos[:q], *position, *frame.qpos[q:])
    qvel = (*frame.qvel[:v], *[0.0] * VELOCITIES[joint.kind], *frame.qvel[v:])
    return replace(frame, qpos=qpos, qvel=qvel)


@dataclass(frozen=True)
class RobotSource:
    """Where a System was read from, and how: what a cross-check needs to ask the engine the same
    question.
    """

    path: Path
    path_is_urdf: bool
    robot: Robot
    free_base: bool
    # coordinates of the System for each joint, in the order of the joints; an expression where a
    # joint follows another
    coordinates: tuple[tuple[Scalar, ...], ...]
    # {legal name: the name in the file}
    names: dict[str, str]
    locked: dict[str, float]
    # {keyframe: start values by name}; "initial" is the position the file is written in
    keyframes: dict[str, dict[str, float]]
    # {link as the file names it: where it is}
    links: dict[str, BodyAttachment] = field(default_factory=dict)
