"""Closed loops and couplings: points that coincide, axes that stay aligned, joints between two moving bodies, gears, screws."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.joint_constraints import JOINTS, Rows, attitude, gap, parallel
from dalembert.mechanics.geometry.joint_constraints import distance as distance_row
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.constraints import add_row, add_rows, axes_or_inertial, checked_label
from dalembert.mechanics.model.registry import Registry, movers, number, scalar
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

_HELD: Final = "this holds already for every position, so it closes nothing"


def coincide(s: Registry, P: Point, Q: Point, name: str | None = None, *, seen: Frame | str = "N", redundant: Iterable[str] = ()) -> None:
    """r_P − r_Q = 0: two points coincide, one row for each axis of N (or of `seen`).

    Rows that vanish identically (z in a plane mechanism) are dropped and reported; `redundant="z"` marks a row that
    follows from the others wherever these hold.
    """
    _points(s, "coincide", P, Q)
    label = _closure_name(s, name, "loop closure")
    _close(s, label, gap(P, Q, axes_or_inertial(s, seen, "coincide")), redundant, (P, Q))


def align(s: Registry, a: Vector | Frame, b: Vector | Frame, name: str | None = None, *, redundant: Iterable[str] = ()) -> None:
    """a × b = 0: two axes, each fixed in its body, stay parallel (2 rows); of two frames all axes do (3 rows).

    Parallel and opposite are two ways to assemble; the start chooses.
    """
    label = _closure_name(s, name, "alignment")
    if isinstance(a, Frame) and isinstance(b, Frame):
        s.space.same(a.space)
        s.space.same(b.space)
        _close(s, label, attitude(a, b), redundant)
    elif isinstance(a, Vector) and isinstance(b, Vector):
        s.space.own(a, "align")
        s.space.own(b, "align")
        _close(s, label, parallel(a, b, partial(number, s)), redundant)
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
    """A joint that closes a loop: P and Q ride on two moving frames, and the joint holds them together.

    "pin"       the points coincide, `axis` on the side of P stays parallel to `other` on the side of Q (by default both z)
    "ball"      the points coincide
    "slide"     equal frames; Q − P stays along `axis` (by default x)
    "cylinder"  `axis` stays parallel to `other`, and Q − P along both (by default z)
    "universal" the points coincide, `axis` stays at right angles to `other` (by default x and y)
    "weld"      the points coincide, and the frames are equal
    No coordinate is declared. Rows that vanish identically (all that leave the plane of a plane mechanism) are dropped.
    """
    _points(s, "close", P, Q)
    rows = JOINTS.get(joint) if isinstance(joint, str) else None
    if rows is None:
        msg = f"close: no joint {joint!r}; there are {', '.join(JOINTS)}"
        raise BadDescription(msg)
    for direction in (axis, other):
        if direction is not None:
            s.space.own(direction, "close")
    found = rows(P, Q, axis, other, partial(number, s))
    _close(s, _closure_name(s, name, f"closing {joint}"), found, redundant, (P, Q))


def distance(s: Registry, P: Point, Q: Point, l: Any, name: str | None = None, *, redundant: bool = False) -> None:
    """r·r − l² = 0, r = r_P − r_Q: two points keep the distance l (a massless rod; l may be a specified motion)."""
    _points(s, "distance", P, Q)
    length = scalar(s, l)
    value = number(s, length)
    if value is not None and value <= 0:
        remedy = "for distance zero write s.coincide(P, Q)" if value == 0 else "a distance is positive"
        msg = f"distance of {P.name} and {Q.name}: it is {value:g}; {remedy}"
        raise BadDescription(msg)
    row = distance_row(P, Q, length)
    add_row(s, _closure_name(s, name, f"distance of {P.name} and {Q.name}"), row.phi, redundant=redundant, hold=row.hold)


def gear(s: Registry, driven: Any, driver: Any, ratio: Any, *, offset: Any = 0, name: str | None = None) -> None:
    """θ₁ − k θ₂ − θ₀ = 0: two angles (or distances) in a fixed ratio k, negative for wheels that mesh from outside."""
    _coupling(s, "gear", driven, driver, _ratio(s, "gear", "ratio", ratio), offset, name)


def screw(s: Registry, distance: Any, angle: Any, pitch: Any, *, offset: Any = 0, name: str | None = None) -> None:
    """x − (h/2π) θ − x₀ = 0: a nut advances by the pitch h for every turn of its screw, negative for a left-hand thread."""
    tape = s.space.tape
    per_radian = _ratio(s, "screw", "pitch", pitch) / (2 * Scalar(tape, tape.pi))
    _coupling(s, "screw", distance, angle, per_radian, offset, name)


def _points(s: Registry, what: str, P: Point, Q: Point) -> None:
    for X in (P, Q):
        s.space.has(X, Point, what)
    if P is Q:
        msg = f"{what}: {P.name} is given twice; give two points"
        raise BadDescription(msg)


def _closure_name(s: Registry, name: str | None, kind: str) -> str:
    """The given name, or the kind of closure with a number from the second on."""
    if name is not None:
        return checked_label(name)
    taken = [c.name for c in s.constraints] + s.dropped
    label, number = kind, 1
    while any(x == label or x.startswith(f"{label} ") for x in taken):
        number += 1
        label = f"{kind} {number}"
    return label


def _ratio(s: Registry, what: str, kind: str, value: Any) -> Scalar:
    k = scalar(s, value)
    moving = movers(s, k.i)
    if moving:
        msg = f"{what}: its {kind} depends on {moving[0]}; it must be constant (for anything else write s.constrain(...))"
        raise BadDescription(msg)
    if number(s, k) == 0:
        msg = f"{what}: its {kind} is 0, so nothing is coupled"
        raise BadDescription(msg)
    return k


def _coupling(s: Registry, what: str, x: Any, y: Any, k: Scalar, offset: Any, name: str | None) -> None:
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
    moving = movers(s, zero.i)
    if moving:
        msg = f"{what}: its offset depends on {moving[0]}; it must be constant"
        raise BadDescription(msg)
    add_row(s, _closure_name(s, name, f"{what} of {first} and {second}"), first - k * second - zero, couples=True)


def _close(s: Registry, label: str, rows: Rows, redundant: Iterable[str], between: tuple[Point, Point] | None = None) -> None:
    add_rows(s, label, [(row.suffix, row.phi, row.hold) for row in rows], redundant, _HELD, between)
