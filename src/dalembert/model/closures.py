"""Closed loops and couplings: points that coincide, axes that stay aligned, joints between two moving bodies, gears, screws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from dalembert.algebra.exact.field import is_zero
from dalembert.algebra.folds import symbols_of
from dalembert.algebra.scalar import Scalar, on
from dalembert.errors import BadDescription
from dalembert.geometry.closure import JOINTS, Rows, attitude, distance, gap, parallel
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.loads import Loads

_HELD: Final = "this holds already for every position, so it closes nothing"


class Closures(Loads):
    """What can be declared about bodies that meet again: the rows that close a loop, named after the closure."""

    def coincide(self, P: Point, Q: Point, name: str | None = None, *, seen: Frame | None = None, redundant: Iterable[str] = ()) -> None:
        """r_P − r_Q = 0: two points coincide, one row for each axis of N (or of `seen`).

        Rows that vanish identically (z in a plane mechanism) are dropped and reported; `redundant="z"` marks a row that
        follows from the others wherever these hold.
        """
        self._points("coincide", P, Q)
        label = self._closure_name(name, "loop closure")
        self._close(label, gap(P, Q, self._seen(seen, "coincide")), redundant, (P, Q))

    def align(self, a: Vector | Frame, b: Vector | Frame, name: str | None = None, *, redundant: Iterable[str] = ()) -> None:
        """a × b = 0: two axes, each fixed in its body, stay parallel (2 rows); of two frames all axes do (3 rows).

        Parallel and opposite are two ways to assemble; the start chooses.
        """
        label = self._closure_name(name, "alignment")
        if isinstance(a, Frame) and isinstance(b, Frame):
            self.space.same(a.space)
            self.space.same(b.space)
            self._close(label, attitude(a, b), redundant)
        elif isinstance(a, Vector) and isinstance(b, Vector):
            self.space.own(a, "align")
            self.space.own(b, "align")
            self._close(label, parallel(a, b, self._value), redundant)
        else:
            msg = f"align: give two axes such as B.z and C.z, or two frames; got {a!r} and {b!r}"
            raise BadDescription(msg)

    def close(
        self,
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
        self._points("close", P, Q)
        rows = JOINTS.get(joint) if isinstance(joint, str) else None
        if rows is None:
            msg = f"close: no joint {joint!r}; there are {', '.join(JOINTS)}"
            raise BadDescription(msg)
        for direction in (axis, other):
            if direction is not None:
                self.space.own(direction, "close")
        found = rows(P, Q, axis, other, self._value)
        self._close(self._closure_name(name, f"closing {joint}"), found, redundant, (P, Q))

    def distance(self, P: Point, Q: Point, l: Any, name: str | None = None, *, redundant: bool = False) -> None:
        """r·r − l² = 0, r = r_P − r_Q: two points keep the distance l (a massless rod; l may be a specified motion)."""
        self._points("distance", P, Q)
        tape = self.space.tape
        length = Scalar(tape, on(tape, l))
        value = self._number(length.i)
        if value is not None and value <= 0:
            remedy = "for distance zero write s.coincide(P, Q)" if value == 0 else "a distance is positive"
            msg = f"distance of {P.name} and {Q.name}: it is {value:g}; {remedy}"
            raise BadDescription(msg)
        row = distance(P, Q, length)
        label = self._constraint_name(self._closure_name(name, f"distance of {P.name} and {Q.name}"))
        if is_zero(tape, [row.phi.i])[0]:
            msg = f"{label}: it holds identically, so it constrains nothing"
            raise BadDescription(msg)
        self.constraints.append(replace(self._checked(label, row.phi, None, redundant=redundant), hold=row.hold))

    def gear(self, driven: Any, driver: Any, ratio: Any, *, offset: Any = 0, name: str | None = None) -> None:
        """θ₁ − k θ₂ − θ₀ = 0: two angles (or distances) in a fixed ratio k, negative for wheels that mesh from outside."""
        self._coupling("gear", driven, driver, self._ratio("gear", "ratio", ratio), offset, name)

    def screw(self, distance: Any, angle: Any, pitch: Any, *, offset: Any = 0, name: str | None = None) -> None:
        """x − (h/2π) θ − x₀ = 0: a nut advances by the pitch h for every turn of its screw, negative for a left-hand thread."""
        tape = self.space.tape
        per_radian = self._ratio("screw", "pitch", pitch) / (2 * Scalar(tape, tape.pi))
        self._coupling("screw", distance, angle, per_radian, offset, name)

    # ---- names and checks --------------------------------------------------------------------

    def _points(self, what: str, P: Point, Q: Point) -> None:
        for X in (P, Q):
            self.space.has(X, Point, what)
        if P is Q:
            msg = f"{what}: {P.name} is given twice; give two points"
            raise BadDescription(msg)

    def _closure_name(self, name: str | None, kind: str) -> str:
        """The given name, or the kind of closure with a number from the second on."""
        if name is not None:
            return self._named(name)
        taken = [c.name for c in self.constraints] + self.dropped
        label, number = kind, 1
        while any(x == label or x.startswith(f"{label} ") for x in taken):
            number += 1
            label = f"{kind} {number}"
        return label

    def _ratio(self, what: str, kind: str, value: Any) -> Scalar:
        tape = self.space.tape
        k = Scalar(tape, on(tape, value))
        moving = [str(tape.nodes[i][1]) for i in symbols_of(tape, (k.i,)) if i in tape.moving]
        if moving:
            msg = f"{what}: its {kind} depends on {moving[0]}; it must be constant (for anything else write s.constrain(...))"
            raise BadDescription(msg)
        if self._number(k.i) == 0:
            msg = f"{what}: its {kind} is 0, so nothing is coupled"
            raise BadDescription(msg)
        return k

    def _coupling(self, what: str, x: Any, y: Any, k: Scalar, offset: Any, name: str | None) -> None:
        """x − k y − x₀ = 0"""
        tape = self.space.tape
        first, second, zero = (Scalar(tape, on(tape, e)) for e in (x, y, offset))
        for e in (first, second):
            if not any(q.scalar.i in symbols_of(tape, (e.i,)) for q in self.symbols.values() if q.kind == "coordinate"):
                msg = f"{what}: {e} is no coordinate; give two coordinates or expressions of them"
                raise BadDescription(msg)
        moving = [str(tape.nodes[i][1]) for i in symbols_of(tape, (zero.i,)) if i in tape.moving]
        if moving:
            msg = f"{what}: its offset depends on {moving[0]}; it must be constant"
            raise BadDescription(msg)
        self.constrain(first - k * second - zero, self._closure_name(name, f"{what} of {first} and {second}"))

    def _close(self, label: str, rows: Rows, redundant: Iterable[str], between: tuple[Point, Point] | None = None) -> None:
        self._add_rows(label, [(row.suffix, row.phi, row.hold) for row in rows], redundant, _HELD, between)

    def _value(self, e: Scalar) -> float | None:
        return self._number(e.i)
