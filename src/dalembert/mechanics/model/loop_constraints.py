"""Closed loops and couplings: points that coincide, axes that stay aligned, joints between two
moving bodies, gears, screws.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.joint_constraints import (
    JOINTS,
    Rows,
    coincident_points,
    equal_orientation,
    parallel_axes,
)
from dalembert.mechanics.geometry.joint_constraints import fixed_distance as distance_row
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.constraints import add_row, add_rows, check_label, resolve_frame
from dalembert.mechanics.model.registry import Registry, constant_value, scalar, time_varying_names
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

_ALREADY_SATISFIED: Final = "this condition always holds, so it closes no loop"


def coincide(
    s: Registry,
    P: Point,
    Q: Point,
    name: str | None = None,
    *,
    seen: Frame | str = "N",
    redundant: Iterable[str] = (),
) -> None:
    """r_P − r_Q = 0: two points coincide, one row for each axis of N (or of `seen`).

    Rows that vanish identically (z in a plane mechanism) are dropped and reported; `redundant="z"`
    marks a row that follows from the others wherever these hold.
    """
    _check_points(s, "coincide", P, Q)
    label = _closure_name(s, name, "loop closure")
    _add_closure(
        s, label, coincident_points(P, Q, resolve_frame(s, seen, "coincide")), redundant, (P, Q)
    )


def align(
    s: Registry,
    a: Vector | Frame,
    b: Vector | Frame,
    name: str | None = None,
    *,
    redundant: Iterable[str] = (),
) -> None:
    """a × b = 0: two axes, each fixed in its body, stay parallel (2 rows); of two frames all axes
    do (3 rows).

    Parallel and opposite are two ways to assemble; the start chooses.
    """
    label = _closure_name(s, name, "alignment")
    if isinstance(a, Frame) and isinstance(b, Frame):
        s.space.check_same_system(a.space)
        s.space.check_same_system(b.space)
        _add_closure(s, label, equal_orientation(a, b), redundant)
    elif isinstance(a, Vector) and isinstance(b, Vector):
        s.space.check_vector(a, "align")
        s.space.check_vector(b, "align")
        _add_closure(s, label, parallel_axes(a, b, partial(constant_value, s)), redundant)
    else:
        msg = f"align: give two axes such as B.z and C.z, or two frames; got {a!r} and {b!r}"
        raise BadDescription(msg)


def close(
    s: Registry,
    P: Point,
    Q: Point,
    joint: str,
    axis: Vector | None = None,
    other: Vector | None = None,
    name: str | None = None,
    *,
    redundant: Iterable[str] = (),
) -> None:
    """A joint that closes a loop: P and Q are attached to two moving frames, and the joint holds
    them together.

    "pin"       the points coincide, `axis` on the side of P stays parallel to `other` on the side
                of Q (by default both z)
    "ball"      the points coincide
    "slide"     equal frames; Q − P stays along `axis` (by default x)
    "cylinder"  `axis` stays parallel to `other`, and Q − P along both (by default z)
    "universal" the points coincide, `axis` stays at right angles to `other` (by default x and y)
    "weld"      the points coincide, and the frames are equal

    No coordinate is declared. Rows that vanish identically (all that leave the plane of a plane
    mechanism) are dropped.
    """
    _check_points(s, "close", P, Q)
    rows = JOINTS.get(joint) if isinstance(joint, str) else None
    if rows is None:
        msg = f"close: no joint {joint!r}; there are {', '.join(JOINTS)}"
        raise BadDescription(msg)
    for direction in (axis, other):
        if direction is not None:
            s.space.check_vector(direction, "close")
    equations = rows(P, Q, axis, other, partial(constant_value, s))
    _add_closure(s, _closure_name(s, name, f"closing {joint}"), equations, redundant, (P, Q))


def distance(
    s: Registry, P: Point, Q: Point, l: Any, name: str | None = None, *, redundant: bool = False
) -> None:
    """r·r − l² = 0, r = r_P − r_Q: two points keep the distance l (a massless rod; l may be a
    prescribed motion).
    """
    _check_points(s, "distance", P, Q)
    length = scalar(s, l)
    value = constant_value(s, length)
    if value is not None and value <= 0:
        remedy = (
            "for distance zero write s.coincide(P, Q)" if value == 0 else "a distance is positive"
        )
        msg = f"distance of {P.name} and {Q.name}: it is {value:g}; {remedy}"
        raise BadDescription(msg)
    row = distance_row(P, Q, length)
    add_row(
        s,
        _closure_name(s, name, f"distance of {P.name} and {Q.name}"),
        row.phi,
        redundant=redundant,
        unit_reaction=row.unit_reaction,
    )


def gear(
    s: Registry, driven: Any, driver: Any, ratio: Any, *, offset: Any = 0, name: str | None = None
) -> None:
    """θ₁ − k θ₂ − θ₀ = 0: two angles (or distances) in a fixed ratio k, negative for wheels that
    mesh from outside.
    """
    _add_coupling(s, "gear", driven, driver, _check_ratio(s, "gear", "ratio", ratio), offset, name)


def screw(
    s: Registry, distance: Any, angle: Any, pitch: Any, *, offset: Any = 0, name: str | None = None
) -> None:
    """x − (h/2π) θ − x₀ = 0: a nut advances by the pitch h for every turn of its screw, negative
    for a left-hand thread.
    """
    tape = s.space.tape
    per_radian = _check_ratio(s, "screw", "pitch", pitch) / (2 * Scalar(tape, tape.pi))
    _add_coupling(s, "screw", distance, angle, per_radian, offset, name)


def _check_points(s: Registry, what: str, P: Point, Q: Point) -> None:
    for X in (P, Q):
        s.space.check_element(X, Point, what)
    if P is Q:
        msg = f"{what}: {P.name} is given twice; give two points"
        raise BadDescription(msg)


def _closure_name(s: Registry, name: str | None, kind: str) -> str:
    """The given name, or the kind of closure with a number from the second on."""
    if name is not None:
        return check_label(name)
    taken = [c.name for c in s.constraints] + s.trivial_constraints
    label, number = kind, 1
    while any(x == label or x.startswith(f"{label} ") for x in taken):
        number += 1
        label = f"{kind} {number}"
    return label


def _check_ratio(s: Registry, what: str, kind: str, value: Any) -> Scalar:
    k = scalar(s, value)
    moving = time_varying_names(s, k.i)
    if moving:
        msg = (
            f"{what}: its {kind} depends on {moving[0]}; it must be constant (for anything else "
            f"write s.constrain(...))"
        )
        raise BadDescription(msg)
    if constant_value(s, k) == 0:
        msg = f"{what}: its {kind} is 0, so nothing is coupled"
        raise BadDescription(msg)
    return k


def _add_coupling(
    s: Registry, what: str, x: Any, y: Any, k: Scalar, offset: Any, name: str | None
) -> None:
    """x − k y − x₀ = 0"""
    tape = s.space.tape
    first, second, zero = (scalar(s, e) for e in (x, y, offset))
    for e in (first, second):
        if not any(q.i in symbols_of(tape, (e.i,)) for q in s.q):
            msg = f"{what}: {e} is no coordinate; give two coordinates or expressions of them"
            raise BadDescription(msg)
    if first.i == second.i:
        msg = f"{what}: {first} is given twice; give two coordinates"
        raise BadDescription(msg)
    moving = time_varying_names(s, zero.i)
    if moving:
        msg = f"{what}: its offset depends on {moving[0]}; it must be constant"
        raise BadDescription(msg)
    add_row(
        s,
        _closure_name(s, name, f"{what} of {first} and {second}"),
        first - k * second - zero,
        is_coupling=True,
    )


def _add_closure(
    s: Registry,
    label: str,
    rows: Rows,
    redundant: Iterable[str],
    between: tuple[Point, Point] | None = None,
) -> None:
    add_rows(
        s,
        label,
        [(row.suffix, row.phi, row.unit_reaction) for row in rows],
        redundant,
        _ALREADY_SATISFIED,
        between,
    )
