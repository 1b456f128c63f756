"""What a body looks like: its declared shape, a simple solid that has its mass and its inertia, or
bars between its joints.

Source: Mei85 ch. 6 for the moments of simple solids, read backwards: a² = 5 (I_y + I_z − I_x)/(2 m)
of an ellipsoid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from statistics import median
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.triangle_mesh import TriangleMesh
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.interface.page.kinematics_arrays import Poses

Kind = Literal["sphere", "box", "cylinder", "mesh"]

# moments that differ by less than this part are the same
_SAME: Final = 0.02
# thickness of shapes without one, relative to their size
_THIN_ROD: Final = 0.028
_THIN_DISK: Final = 0.035
_PLATE: Final = 0.45
_OVER: Final = 2.6
# a radius for points, relative to the scene
_DOT: Final = 0.035


@dataclass(frozen=True, eq=False)
class SolidShape:
    """A unit sphere, box (−1 … 1), cylinder (radius 1, −1 … 1 along z) or surface in that box,
    stretched by `sizes`, turned in the body.
    """

    kind: Kind
    sizes: tuple[float, float, float]
    orientation: FloatArray
    # drawn from mass and inertia, since no shape was declared
    is_inferred: bool = False
    # one of the primitives of a body
    part: bool = False
    # of a mesh
    surface: TriangleMesh | None = None

    @property
    def shows_rotation(self) -> bool:
        """Whether two shades show how it turns: what is round and not long."""
        return self.kind != "box" and not self.part and bool(self.sizes[2] < 4 * self.sizes[0])


@dataclass(frozen=True, eq=False)
class DrawnBody:
    """A solid and where it is: mass centre r (n × 3), axes of the solid R (n × 3 × 3)."""

    name: str
    solid: SolidShape
    r: FloatArray = field(repr=False)
    R: FloatArray = field(repr=False)
    body: Body = field(repr=False)
    # the axes of its frame; None for a particle
    frame: FloatArray | None = field(repr=False, default=None)
    # the bars between its joints, where these say more than its inertia; the solid marks its mass
    # centre then
    outline: Outline | None = field(repr=False, default=None)
    # what belongs to one body has one colour
    colour: int = 0
    # of one primitive among others: its middle from the mass centre, in the frame
    middle: tuple[float, ...] | None = None


def primitive_bodies(body: Body, r: FloatArray, R: FloatArray, colour: int) -> Iterator[DrawnBody]:
    """The primitives of a body that a file describes; the first has its name."""
    for k, p in enumerate(body.visuals):
        yield DrawnBody(
            "" if k else body.name,
            SolidShape(p.kind, p.sizes, p.rotation, part=True, surface=p.surface),
            r + R @ p.centre,
            R @ p.rotation,
            body,
            R,
            None,
            colour,
            tuple(map(float, p.centre)),
        )


def body_solid(
    body: Body,
    poses: Poses,
    *,
    scene: float,
    heaviest: float,
    reach: FloatArray,
    contact: float | None,
) -> SolidShape:
    """The look of one body; `reach` is a direction in the body along which it extends, `contact`
    its distance to the ground.
    """
    if body.frame is None or body.inertia is None:
        return _particle(_value(poses, body.mass), scene, heaviest)
    if body.shape is not None:
        return _declared_solid(body, poses)
    xx, yy, zz, xy, yz, xz = (
        _value(poses, Scalar(body.inertia.tape, i)) for i in body.inertia.to(body.frame).entries()
    )
    return _inertia_solid(
        np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        _value(poses, body.mass),
        scene,
        heaviest,
        reach,
        contact,
    )


def _value(poses: Poses, scalar: Scalar) -> float:
    return float(poses.run.rows([scalar])[0][0])


def _particle(mass: float, scene: float, heaviest: float) -> SolidShape:
    r = _DOT * scene * max(0.55, (mass / heaviest) ** (1 / 3) if heaviest > 0 else 1.0)
    return SolidShape("sphere", (r, r, r), np.eye(3))


def centre_mark(scene: float) -> SolidShape:
    """A small ball in two shades at the mass centre of a body that is drawn as bars."""
    r = 0.45 * _DOT * scene
    return SolidShape("sphere", (r, r, r), np.eye(3))


def _declared_solid(body: Body, poses: Poses) -> SolidShape:
    shape, frame = body.shape, body.frame
    assert shape is not None
    assert frame is not None
    sizes = [_value(poses, x) for x in shape.sizes]
    turn = np.eye(3)
    if shape.axis is not None:
        axis = shape.axis.components(frame)
        turn = _basis_with_z(np.array([_value(poses, Scalar(shape.axis.tape, i)) for i in axis]))
    match shape.kind:
        case "rod":
            r = _THIN_ROD * sizes[0]
            return SolidShape("cylinder", (r, r, sizes[0] / 2), turn)
        case "disk":
            return SolidShape("cylinder", (sizes[0], sizes[0], _THIN_DISK * sizes[0]), turn)
        case "sphere":
            return SolidShape("sphere", (sizes[0],) * 3, turn)
        case "cylinder":
            return SolidShape("cylinder", (sizes[0], sizes[0], sizes[1] / 2), turn)
        case "box":
            return SolidShape("box", (sizes[0] / 2, sizes[1] / 2, sizes[2] / 2), turn)


def _inertia_solid(
    I: FloatArray,
    mass: float,
    scene: float,
    heaviest: float,
    reach: FloatArray,
    contact: float | None,
) -> SolidShape:
    moments, axes = np.linalg.eigh(I)
    a, b, c = moments
    if not np.all(np.isfinite(moments)) or c <= 0 or mass <= 0:
        return _particle(mass, scene, heaviest)
    near = _SAME * c
    if abs(b - a) <= near and abs(a) <= near:
        return _plate(axes[:, 2], c / mass, reach)
    if abs(a) <= near and abs(c - b) <= near:
        r = float(np.sqrt(12 * c / mass))
        return SolidShape(
            "cylinder",
            (_THIN_ROD * r, _THIN_ROD * r, r / 2),
            _basis_with_z(axes[:, 0]),
            is_inferred=True,
        )
    if abs(b - a) <= near and abs(a + b - c) <= near:
        r = contact or float(np.sqrt(2 * c / mass))
        return SolidShape(
            "cylinder", (r, r, _THIN_DISK * r), _basis_with_z(axes[:, 2]), is_inferred=True
        )
    squares = 2.5 * np.array([b + c - a, a + c - b, a + b - c]) / mass
    half = np.sqrt(np.maximum(squares, 0.02 * squares.max()))
    turn = axes if np.linalg.det(axes) > 0 else axes * np.array([1.0, 1.0, -1.0])
    return SolidShape(
        "sphere", (float(half[0]), float(half[1]), float(half[2])), turn, is_inferred=True
    )


def _plate(normal: FloatArray, gyration: float, reach: FloatArray) -> SolidShape:
    """Only the moment about one axis is known, as in a plane motion: a flat bar with k² = (l² +
    w²)/12 along its reach.
    """
    along = reach - normal * (normal @ reach)
    if np.linalg.norm(along) < 1e-9:
        along = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
        along = along - normal * (normal @ along)
    x = along / np.linalg.norm(along)
    l = float(np.sqrt(12 * gyration / (1 + _PLATE**2)))
    # not much beyond what it is linked to, whatever its inertia
    l = min(l, _OVER * float(np.linalg.norm(reach))) if np.linalg.norm(reach) > 1e-9 else l
    return SolidShape(
        "box",
        (l / 2, _PLATE * l / 2, 0.06 * l),
        np.column_stack([x, np.cross(normal, x), normal]),
        is_inferred=True,
    )


def _basis_with_z(axis: FloatArray) -> FloatArray:
    """A right-handed basis whose third vector is the axis."""
    z = axis / np.linalg.norm(axis)
    first = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = first - z * (z @ first)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def shrink_to_links(bodies: list[DrawnBody], links: Sequence[float]) -> list[DrawnBody]:
    """Where solids drawn from their inertia would hide the links between them, all are drawn
    smaller by one factor.
    """
    guessed = [
        max(b.solid.sizes) for b in bodies if b.solid.is_inferred and b.solid.kind == "sphere"
    ]
    if not guessed or len(guessed) + sum(b.outline is not None for b in bodies) < 3 or not links:
        return bodies
    factor = min(1.0, 0.55 * median(links) / median(guessed))
    return [
        _scale_body(b, factor) if b.solid.is_inferred and b.solid.kind == "sphere" else b
        for b in bodies
    ]


def _scale_body(body: DrawnBody, factor: float) -> DrawnBody:
    s = body.solid
    a, b, c = (factor * x for x in s.sizes)
    return replace(body, solid=replace(s, sizes=(a, b, c)))


# ---- bars between the points that are fixed in a body: its joints and its mass centre ----------

# what is nearer than this part of the largest distance is the same, in line or in plane
_NEAR: Final = 1e-6


@dataclass(frozen=True, eq=False)
class Outline:
    """Bars (m × 2 × 3) and the corners of a plate (k × 3, none where there is none), from the
    mass centre in the frame.
    """

    bars: FloatArray = field(repr=False)
    plate: FloatArray = field(repr=False)


def body_fixed_points(G: Point, frame: Frame, points: Iterable[Point]) -> list[Point]:
    """G and the points that keep their places against it in a frame, for every motion: c =
    const. along the axes of the frame.
    """
    fixed_points = {G: None}
    P = G
    while P.parent is not None and _is_fixed(P, frame):
        P = P.parent
        fixed_points[P] = None
    # parents stand before their children
    for Q in sorted(dict.fromkeys(points), key=lambda Q: Q.depth):
        if Q.parent in fixed_points and _is_fixed(Q, frame):
            fixed_points[Q] = None
    return list(fixed_points)


def _is_fixed(P: Point, frame: Frame) -> bool:
    """Whether the offset of a point from its parent is constant in a frame."""
    tape = P.r.tape
    if any(F is not frame for F in P.r.parts):
        return False
    return not any(
        i in tape.moving
        for i in symbols_of(tape, [c for triple in P.r.parts.values() for c in triple])
    )


def bar_outline(corners: FloatArray) -> Outline | None:
    """Between points of a line one bar, of a plane the edge of a plate, of space the shortest
    net; None for a single point.
    """
    size = float(np.linalg.norm(np.ptp(corners, axis=0)))
    if not np.isfinite(size) or size <= 0:
        return None
    points = _distinct(corners, _NEAR * size)
    _, spread, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)
    flat = [*spread, 0.0, 0.0, 0.0]
    if flat[1] <= _NEAR * flat[0]:
        along = points @ axes[0]
        return Outline(points[[[int(along.argmin()), int(along.argmax())]]], np.zeros((0, 3)))
    if flat[2] <= _NEAR * flat[0]:
        edge = points[_hull(points @ axes[:2].T)]
        return Outline(np.stack([edge, np.roll(edge, -1, axis=0)], axis=1), edge)
    return Outline(points[_minimum_spanning_tree(points)], np.zeros((0, 3)))


def _distinct(points: FloatArray, near: float) -> FloatArray:
    kept: list[FloatArray] = []
    for p in points:
        if all(float(np.linalg.norm(p - other)) > near for other in kept):
            kept.append(p)
    return np.array(kept)


def _hull(flat: FloatArray) -> list[int]:
    """The corners of the convex polygon around points of a plane, in order (Andrew's chain)."""
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()
    least = _NEAR * float(np.ptp(flat, axis=0).max()) ** 2
    halves = []
    for way in (order, order[::-1]):
        chain: list[int] = []
        for k in way:
            while len(chain) > 1 and _area(flat[chain[-2]], flat[chain[-1]], flat[k]) <= least:
                chain.pop()
            chain.append(k)
        halves += chain[:-1]
    return halves


def _area(a: FloatArray, b: FloatArray, c: FloatArray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _minimum_spanning_tree(points: FloatArray) -> list[list[int]]:
    """The bars of least total length that join all points: from those that are joined to the
    nearest that is not (Prim).
    """
    joined, bars = [0], []
    while len(joined) < len(points):
        rest = [k for k in range(len(points)) if k not in joined]
        a, b = min(
            ((a, b) for a in joined for b in rest),
            key=lambda pair: float(np.linalg.norm(points[pair[0]] - points[pair[1]])),
        )
        bars.append([a, b])
        joined.append(b)
    return bars
