"""The elements of a description: what a user declares, as plain frozen values."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.frame import Frame, VelocityRecursion
from dalembert.mechanics.geometry.joint_constraints import UnitReaction
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.triangle_mesh import TriangleMesh
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Number

SymbolKind = Literal["coordinate", "constant", "input", "specified", "speed", "state"]


@dataclass(frozen=True)
class DeclaredSymbol:
    """A named quantity: what kind it is, the number it stands for by default, or the motion it
    is bound to. The `driver` of a prescribed motion is the input that is its rate or acceleration.
    """

    name: str
    kind: SymbolKind
    scalar: Scalar
    value: Number | None = None
    motion: Scalar | None = None
    driver: Scalar | None = None

    @property
    def is_open(self) -> bool:
        """Whether a run has to say what it is: an input, or a motion that nothing determines."""
        open_kind = self.kind in ("input", "specified")
        return open_kind and self.motion is None and self.driver is None

    @property
    def driven_states(self) -> tuple[int, ...]:
        """x, or x and ẋ: what a run integrates where the rate or the acceleration is an input."""
        if self.driver is None:
            return ()
        rate = self.scalar.dot.i
        return (self.scalar.i,) if rate == self.driver.i else (self.scalar.i, rate)

    @property
    def driven_rate(self) -> str:
        """Whether the driver is the "rate" or the "acceleration"; empty where there is none."""
        return ("", "rate", "acceleration")[len(self.driven_states)]


@dataclass(frozen=True)
class Speed:
    """u = an expression in q' (a scalar speed), or one component of a whole vector of speeds."""

    name: str
    scalar: Scalar
    definition: Scalar
    # ω of a frame or v of a point, all three of whose components along `along` are speeds
    of: Frame | Point | None = None
    along: Frame | None = None
    axis: int = 0


@dataclass(frozen=True)
class RollingContact:
    """A point of a body at rest on the ground, or on another body: (v_G + ω × (C − G)) ·
    direction = 0.
    """

    body: Body
    point: Point
    direction: Vector
    # the body it rolls on, where that is not the ground
    ground: Body | None = None

    def slip(self, motion: VelocityRecursion) -> Scalar:
        """The velocity of the body's point at C, relative to the ground's, along the direction."""
        v = self._material_velocity(motion, self.body)
        return (
            v if self.ground is None else v - self._material_velocity(motion, self.ground)
        ) @ self.direction

    def _material_velocity(self, motion: VelocityRecursion, body: Body) -> Vector:
        assert body.frame is not None
        return motion.v(body.G) + motion.w(body.frame).cross(self.point - body.G)


@dataclass(frozen=True)
class Constraint:
    """φ(q, t) = 0 (holonomic), a(q, t)·q' + b(q, t) = 0 or φ(q, q', t) = 0 (nonholonomic)."""

    name: str
    expression: Scalar
    holonomic: bool
    contact: RollingContact | None = None
    # declared to follow from the other rows wherever these hold
    redundant: bool = False
    # not linear in the rates
    nonlinear: bool = False
    # the two points whose gap along one axis this is
    gap_points: tuple[Point, Point] | None = None
    # the two points of the closure that the row is a part of
    loop_points: tuple[Point, Point] | None = None
    # where a closure takes hold, and where on= and at= say that any other row does
    unit_reaction: UnitReaction | None = None
    on: tuple[Body | None, Body | None] | None = None
    at: Point | None = None
    # a gear or a screw, which acts in the joints that it couples
    is_coupling: bool = False


@dataclass(frozen=True)
class ContactGeometry:
    """What a drawing shows of a contact: the plane or curve that is touched, or a rope."""

    kind: Literal["plane", "ball", "curve", "rope"]
    # of the plane; the ends of a rope and the point it runs over
    points: tuple[Point, ...] = ()
    # the velocity of a belt in its plane
    belt: Vector | None = None
    # the largest length of a rope
    length: Scalar | None = None


@dataclass(frozen=True)
class UnilateralContact:
    """g(q, t) ≥ 0, N ≥ 0, g N = 0 and |T| ≤ μ N: a contact, a stop, or friction under a given
    normal force. With friction in a plane T has two components, and |T| ≤ μ N is a round cone.
    """

    name: str
    # the gap; None where the normal force is given
    gap: Scalar | None
    # v_N and v_T, along which N and T act
    approach: Scalar | None
    slip: Scalar | None
    N: Scalar | None
    T: Scalar | None
    normal: Scalar | None
    # μ of slip, which may depend on its velocity, and μ_s of rest
    friction: Scalar | None
    static: Scalar | None
    restitution: Scalar
    law: str
    two_sided: bool
    # what a run decides: closed, sticking (1 or 0), direction of slip, sign of N (±1), and what a
    # monitor may fall short of zero
    mode_symbols: tuple[Scalar, ...]
    # where it acts, along which normal and which direction of slip
    force_location: tuple[Point, Vector | None, Vector | None] | None = None
    # the constraint row whose force presses, in place of `normal`
    row: str | None = None
    # friction in a plane: the second direction of slip and its force, and what a run decides
    # about slip that begins or ends
    slip_across: Scalar | None = None
    T_across: Scalar | None = None
    plane_symbols: tuple[Scalar, ...] = ()
    # it is there while this is positive; at the start (True, False) where events add and drop it;
    # always (None)
    active: Scalar | bool | None = None
    # stops and friction along a row have none
    geometry: ContactGeometry | None = None

    @property
    def forces(self) -> tuple[Scalar, ...]:
        """N, T and the second component of friction, those that there are."""
        return tuple(x for x in (self.N, self.T, self.T_across) if x is not None)


@dataclass(frozen=True, eq=False)
class Body(Displayable):
    """Mass, mass centre G; for a rigid body also its frame and central inertia."""

    name: str
    mass: Scalar
    G: Point
    frame: Frame | None = None
    inertia: Dyadic | None = None
    shape: Shape | None = None
    points: dict[str, Point] = field(default_factory=dict)
    # what is drawn in place of a shape, where a file says it in numbers
    visuals: tuple[Primitive, ...] = ()

    def __repr__(self) -> str:
        kind = "Body" if self.is_rigid else "Particle"
        return (
            f"{kind}({self.name!r}: mass {self.mass}, at "
            f"{self.G.name}{f', frame {self.frame.name}' if self.frame else ''})"
        )

    @property
    def tip(self) -> Point:
        """The far end of a rod."""
        if "tip" not in self.points:
            msg = (
                f"{self.name!r} has no tip: it was not made by s.rod; name the point yourself, "
                f"P.offset(l*B.y)"
            )
            raise BadDescription(msg)
        return self.points["tip"]

    @property
    def is_rigid(self) -> bool:
        """Whether it has an extent (a particle has none)."""
        return self.frame is not None


@dataclass(frozen=True)
class Shape(Displayable):
    """The drawn shape of a body; it does not enter the equations."""

    kind: Literal["rod", "disk", "sphere", "box", "cylinder"]
    sizes: tuple[Scalar, ...]
    axis: Vector | None = None

    def __repr__(self) -> str:
        return f"Shape({self.kind}: {', '.join(map(str, self.sizes))})"


@dataclass(frozen=True, eq=False)
class Primitive:
    """A ball, box or cylinder along z of half sizes, its middle from G and its axes (columns) in
    the frame of a body, in numbers.

    A mesh is a surface whose corners lie between −1 and 1, stretched by the sizes as the others
    are.
    """

    kind: Literal["sphere", "box", "cylinder", "mesh"]
    sizes: tuple[float, float, float]
    centre: Any
    rotation: Any
    surface: TriangleMesh | None = None


@dataclass(frozen=True)
class Load:
    """Forces at points and torques on frames that one declaration brings in."""

    name: str
    forces: tuple[tuple[Vector, Point], ...] = ()
    torques: tuple[tuple[Vector, Frame], ...] = ()
    # the body that was named for each force, then for each torque; None (or nothing at all) where
    # the place says it
    bodies: tuple[Body | None, ...] = ()
    # Q_k along these coordinates: its forces are at points that move with q_k and belong to no body
    coordinates: tuple[Scalar, ...] = ()

    def on(self) -> tuple[Body | None, ...]:
        """A body or None for each force, then for each torque."""
        return self.bodies or (None,) * (len(self.forces) + len(self.torques))


@dataclass(frozen=True)
class Potential:
    """V(q, t): loads −∂V/∂q."""

    name: str
    V: Scalar
    # the two ends of a spring, the forces that it exerts there, and the bodies that were named for
    # them
    between: tuple[Point, Point] | None = None
    forces: tuple[tuple[Vector, Point], ...] = ()
    bodies: tuple[Body | None, ...] = ()


@dataclass(frozen=True)
class Dissipation:
    """Rayleigh's D(q, q', t): loads −∂D/∂q'."""

    name: str
    D: Scalar


@dataclass(frozen=True)
class Gravity:
    """A uniform field: the force m g on every mass, V = −Σ m g·r."""

    g: Vector
