"""What must vanish where two bodies meet again: gaps between points, angles between axes and
frames, joint by joint.
Keywords: loop closure.

Each function gives named scalars; a loop is closed where all of them are zero. With them comes what
their multipliers exert.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.scalar import Scalar


@dataclass(frozen=True)
class UnitReaction:
    """δφ = Σ d·δr_P + Σ m·δθ_F: forces at points and moments on frames that a multiplier λ = 1
    of the row φ = 0 exerts.
    """

    forces: tuple[tuple[Point, Vector], ...] = ()
    moments: tuple[tuple[Frame, Vector], ...] = ()


class ClosureEquation(NamedTuple):
    """What must vanish, its name among the rows of its closure, and where it takes hold."""

    suffix: str
    phi: Scalar
    unit_reaction: UnitReaction


Rows = list[ClosureEquation]
# the number that a constant expression stands for, where it is known
Number = Callable[[Scalar], float | None]


def _gap_equation(
    suffix: str, P: Point, Q: Point, n: Vector, F: Frame, *, with_moment: bool = False
) -> ClosureEquation:
    """r·n = 0, r = r_P − r_Q, n fixed in F: n at P, −n at Q, and n × r on F, which vanishes where r
    does.

    A guide feels this moment even where it cannot turn.
    """
    r = P - Q
    turn = ((F, n.cross(r)),) if with_moment or F.parent is not None else ()
    return ClosureEquation(suffix, r @ n, UnitReaction(((P, n), (Q, -n)), turn))


def _perpendicular_axes(suffix: str, a: Vector, b: Vector) -> ClosureEquation:
    """a·b = 0: the moment a × b on a's frame, its opposite on b's."""
    m = a.cross(b)
    return ClosureEquation(
        suffix, a @ b, UnitReaction(moments=((_innermost_frame(a), m), (_innermost_frame(b), -m)))
    )


def _innermost_frame(a: Vector) -> Frame:
    """The frame that a vector is fixed in, of those it is written in."""
    return max(a.parts, key=lambda f: (f.depth, f.number))


def coincident_points(P: Point, Q: Point, F: Frame) -> Rows:
    """(r_P − r_Q) · f_i = 0"""
    return [_gap_equation(axis, P, Q, getattr(F, axis), F) for axis in "xyz"]


def fixed_distance(P: Point, Q: Point, l: Scalar) -> ClosureEquation:
    """r·r − l² = 0, r = r_P − r_Q: 2 r at P, −2 r at Q."""
    r = P - Q
    return ClosureEquation("", r @ r - l**2, UnitReaction(((P, 2 * r), (Q, -2 * r))))


def equal_orientation(B: Frame, C: Frame) -> Rows:
    """½ Σ_i b_i × c_i = n sin θ = 0 along B: C is not turned against B.

    It vanishes at θ = π too, where the three rows depend on one another, so that no motion begins
    there unnoticed.
    """
    b, c = (B.x, B.y, B.z), (C.x, C.y, C.z)
    rows = []
    for axis, j, k in (("x", 1, 2), ("y", 2, 0), ("z", 0, 1)):
        m = (c[j].cross(b[k]) - c[k].cross(b[j])) / 2
        rows.append(
            ClosureEquation(
                f"about {axis}",
                (c[j].to(B)[k] - c[k].to(B)[j]) / 2,
                UnitReaction(moments=((C, m), (B, -m))),
            )
        )
    return rows


def parallel_axes(a: Vector, b: Vector, number: Number) -> Rows:
    """a · p = a · (b × p) = 0 with p perpendicular to b and fixed in the same frame: a × b = 0 in
    two rows.
    """
    frame_of_axis(a)
    p = b.cross(transverse_axis(b, number))
    return [_perpendicular_axes("axis 1", a, p), _perpendicular_axes("axis 2", a, b.cross(p))]


def point_on_line(P: Point, Q: Point, axis: Vector, number: Number) -> Rows:
    """r · p = r · (axis × p) = 0, r = r_Q − r_P: Q stays on the line through P along an axis."""
    p, F = axis.cross(transverse_axis(axis, number)), frame_of_axis(axis)
    return [
        _gap_equation("across 1", Q, P, p, F, with_moment=True),
        _gap_equation("across 2", Q, P, axis.cross(p), F, with_moment=True),
    ]


def frame_of_axis(axis: Vector) -> Frame:
    """The frame in which a unit vector is fixed; anything else is refused."""
    if not axis.parts:
        msg = "the axis of a joint is the vector 0; give a unit vector such as B.z"
        raise BadDescription(msg)
    F = _innermost_frame(axis)
    F.unit_axis(axis)
    return F


def transverse_axis(axis: Vector, number: Number) -> Vector:
    """The axis of its own frame that lies farthest from a direction, as far as numbers are
    known.
    """
    F = frame_of_axis(axis)
    sizes = [1.0 if (size := number(c)) is None else abs(size) for c in axis.to(F)]
    best = min((2, 1, 0), key=lambda k: sizes[k])
    return (F.x, F.y, F.z)[best]


# ---- joints ------------------------------------------------------------------------------------


def pin(P: Point, Q: Point, axis: Vector | None, other: Vector | None, number: Number) -> Rows:
    """The points coincide, and the axis on one side stays parallel to that on the other (by
    default both z).
    """
    return coincident_points(P, Q, P.space.N) + parallel_axes(
        axis or P.frame.z, other or Q.frame.z, number
    )


def ball(P: Point, Q: Point, axis: Vector | None, other: Vector | None, _: Number) -> Rows:
    """The points coincide."""
    _refuse_axis("ball joint", axis, other)
    return coincident_points(P, Q, P.space.N)


def slide(P: Point, Q: Point, axis: Vector | None, other: Vector | None, number: Number) -> Rows:
    """Equal frames, and Q − P along an axis of the side of P (by default x)."""
    _refuse_axis("slider's second side", other)
    return point_on_line(P, Q, axis or P.frame.x, number) + equal_orientation(P.frame, Q.frame)


def cylinder(P: Point, Q: Point, axis: Vector | None, other: Vector | None, number: Number) -> Rows:
    """The axes stay parallel, and Q − P along them (by default both z)."""
    return point_on_line(P, Q, axis or P.frame.z, number) + parallel_axes(
        axis or P.frame.z, other or Q.frame.z, number
    )


def universal(P: Point, Q: Point, axis: Vector | None, other: Vector | None, _: Number) -> Rows:
    """The points coincide, and the axes stay at right angles (by default x and y)."""
    a, b = axis or P.frame.x, other or Q.frame.y
    frame_of_axis(a)
    frame_of_axis(b)
    return [*coincident_points(P, Q, P.space.N), _perpendicular_axes("right angle", a, b)]


def weld(P: Point, Q: Point, axis: Vector | None, other: Vector | None, _: Number) -> Rows:
    """The points coincide, and the frames are equal."""
    _refuse_axis("weld", axis, other)
    return coincident_points(P, Q, P.space.N) + equal_orientation(P.frame, Q.frame)


def _refuse_axis(what: str, *axes: Vector | None) -> None:
    if any(a is not None for a in axes):
        msg = f"close: a {what} has no axis; leave it out"
        raise BadDescription(msg)


JOINTS: Final[dict[str, Callable[[Point, Point, Vector | None, Vector | None, Number], Rows]]] = {
    "pin": pin,
    "ball": ball,
    "slide": slide,
    "cylinder": cylinder,
    "universal": universal,
    "weld": weld,
}
