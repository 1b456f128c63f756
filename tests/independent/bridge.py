"""A random description declared in the language of dalembert, by public names only."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any

import dalembert as da
from independent.description import ZERO, Description, Link, Load, Row, Vec


class Declared:
    """A system of dalembert, with the frames and points of the description."""

    def __init__(self, d: Description, asked: Collection[str] = ()) -> None:
        """`asked` are rows of which it is not known on which bodies they act: these are named."""
        self.d, self.s, self.asked = d, da.System(f"random system {d.seed}"), asked
        s = self.s
        for name, value in d.constants.items():
            s.constant(name, value)
        for name in d.inputs:
            s.input(name)
        for name, text in d.specified.items():
            s.specified(name, s.expression(text))
        self.frames, self.origins = [s.N], [s.O]
        self._points: dict[tuple[int, Vec], da.Point] = {(0, ZERO): s.O}
        for link in d.links[1:]:
            F, P = self._joint(link, self._point(link.parent, link.place))
            self.frames.append(F)
            self.origins.append(P)
        self.sites = [self._site(j) for j in range(len(d.sites))]
        self.bodies: dict[int, da.Body] = {}
        for k in d.order:
            self._body(k)
        for name, text in d.speeds.items():
            s.speed(name, s.expression(text))
        for load in d.loads:
            self._load(load)
        if d.gravity != ZERO:
            s.gravity(self._vector(0, d.gravity))
        for row in d.rows:
            self._row(row)

    # ---- geometry ----------------------------------------------------------------------------

    def _vector(self, link: int, v: Vec) -> da.Vector:
        F = self.frames[link]
        return v[0] * F.x + v[1] * F.y + v[2] * F.z

    def _point(self, link: int, place: Vec) -> da.Point:
        if place == ZERO:
            return self.origins[link]
        if (link, place) not in self._points:
            self._points[link, place] = self.origins[link].offset(self._vector(link, place))
        return self._points[link, place]

    def _site(self, j: int) -> da.Point:
        site = self.d.sites[j]
        if site.hangs_on is None or (site.link, site.place) in self._points or site.place == ZERO:
            return self._point(site.link, site.place)
        before = self.d.sites[site.hangs_on]
        arm = tuple(a - b for a, b in zip(site.place, before.place, strict=True))
        P = self._site(site.hangs_on).offset(self._vector(site.link, arm))  # type: ignore[arg-type]
        self._points[site.link, site.place] = P
        return P

    # ---- joints ------------------------------------------------------------------------------

    def _joint(self, link: Link, at: da.Point) -> tuple[da.Frame, da.Point]:
        """The frame and the point beyond a joint."""
        s, kind, F = self.s, link.kind, self.frames[link.parent]
        names, axis = " ".join(link.names), self._vector(link.parent, link.axis)
        if link.written_out or kind not in ("pin", "slide", "universal", "ball", "free", "weld"):
            return self._written_out(link, at)
        if kind in ("pin", "slide"):
            P = getattr(s, kind)(names, at, axis)
        elif kind == "weld":
            P = s.weld(at)
        else:
            P = (
                getattr(s, kind)(names, at, link.axes)
                if len(link.names) not in (4, 7)
                else getattr(s, kind)(names, at)
            )
        return (F if kind in ("slide", "weld") else P.frame), P

    def _written_out(self, link: Link, at: da.Point) -> tuple[da.Frame, da.Point]:
        """The same by frames and points."""
        s, F, N = self.s, self.frames[link.parent], self.s.N
        x = (
            [s[n] for n in link.names]
            if link.kind.startswith("driven")
            else [s.coordinate(n) for n in link.names]
        )
        axis, nothing = self._vector(link.parent, link.axis), 0 * N.x
        kind = link.kind.removeprefix("driven ")
        if kind in ("slide", "carriage", "curve", "timed slide", "weld"):
            moves = {
                "slide": lambda: x[0] * axis,
                "carriage": lambda: x[0] * F.x + x[1] * F.y + x[2] * F.z,
                "curve": lambda: x[0] * F.x + x[0] ** 2 / 2 * F.y + da.sin(x[0]) * F.z,
                "timed slide": lambda: (x[0] + da.sin(2 * s.t) / 3) * axis,
                "weld": lambda: nothing,
            }
            return F, at.offset(moves[kind](), frame=F)
        if kind == "plane":
            B = N.rotated(x[2], N.z)
            return B, at.offset(x[0] * N.x + x[1] * N.y, frame=B)
        if kind == "free":
            at, x = at.offset(x[0] * F.x + x[1] * F.y + x[2] * F.z, frame=F), x[3:]
        B = self._turned(link, kind, F, x, axis)
        return B, at.offset(nothing, frame=B)

    def _turned(
        self, link: Link, kind: str, F: da.Frame, x: list[Any], axis: da.Vector
    ) -> da.Frame:
        if kind == "pin":
            return F.rotated(x[0], axis)
        if kind == "turned":
            return F.oriented(cosines(Fraction(3), link.axis))
        if kind == "absolute pin":
            return self.s.N.rotated(x[0], self.s.N.z)
        if len(x) == 4:
            return F.quaternion(*x)
        return (self.s.N if kind == "absolute ball" else F).rotations(link.axes, *x)[-1]

    # ---- masses and loads --------------------------------------------------------------------

    def _body(self, k: int) -> None:
        mass = self.d.masses[k]
        G, F = self._point(mass.link, mass.centre), self.frames[mass.link]
        if len(mass.cloud) == 1:
            self.bodies[k] = self.s.particle(mass.name, mass.mass, G)
        else:
            self.bodies[k] = self.s.body(mass.name, mass.mass, G, F, da.inertia(F, *mass.inertia))

    def _components(self, load: Load) -> da.Vector:
        F, (x, y, z) = self.frames[load.along], (self.s.expression(text) for text in load.texts)
        return x * F.x + y * F.y + z * F.z

    def _load(self, load: Load) -> None:
        s, sites = self.s, self.sites
        if load.kind == "force":
            s.force(
                self._components(load),
                at=sites[load.at or 0],
                reaction=None if load.against is None else sites[load.against],
            )
        elif load.kind == "torque":
            against = None if load.against is None else self.bodies[load.against]
            s.torque(self._components(load), on=self.bodies[load.at or 0], reaction=against)
        elif load.kind == "spring":
            k, rest = (s.expression(text) for text in load.texts)
            s.spring(k, sites[load.at or 0], sites[load.against or 0], rest=rest)
        elif load.kind == "damper":
            s.damper(s.expression(load.texts[0]), sites[load.at or 0], sites[load.against or 0])
        else:
            getattr(s, load.kind)(s.expression(load.texts[0]))

    # ---- rows --------------------------------------------------------------------------------

    def _row(self, row: Row) -> None:
        s, f = self.s, self.s.expression(row.text)
        if row.kind in ("gear", "text"):
            if row.kind == "text":
                s.constrain(f, row.name)
                return
            first, second = row.text.split(" - ")[0], row.text.split("*")[1].split(" ")[0]
            s.gear(s[first], s[second], row.axis[0], offset=row.axis[1], name=row.name)
            return
        if row.kind in ("spin", "roll"):
            self._row_of_bodies(row, f)
            return
        P, Q = self.sites[row.P or 0], s.O if row.Q is None else self.sites[row.Q]
        n = self._vector(row.along, row.axis)
        if row.kind == "coincide":
            s.coincide(P, Q, row.name, seen=self.frames[row.along])
        elif row.kind == "distance":
            s.distance(P, Q, f, row.name, redundant=row.redundant)
        elif row.kind == "gap":
            s.constrain((P - Q) @ n - f, row.name)
        elif row.kind == "velocity":
            s.constrain((P.v if row.Q is None else P.v - Q.v) @ n - f, row.name)
        else:
            i, j = (self.d.sites[k or 0].link for k in (row.P, row.Q))
            axes = [
                None if v == ZERO else self._vector(link, v)
                for link, v in ((i, row.axis), (j, row.other))
            ]
            s.close(P, Q, row.joint, *axes, name=row.name)

    def _row_of_bodies(self, row: Row, f: da.Scalar) -> None:
        s, first = self.s, self.bodies[row.P or 0]
        second = None if row.Q is None else self.bodies[row.Q]
        if row.kind == "roll":
            s.roll(
                first,
                first.G.offset(self._vector(0, row.axis)),
                row.name,
                along=row.joint,
                on=second,
            )
            return
        assert first.frame is not None
        w = (
            first.frame.w
            if second is None or second.frame is None
            else first.frame.w - second.frame.w
        )
        # ω of a body that only translates with the ground does not show the body: it is named
        named = row.name in self.asked or (
            second is not None and s.N in (first.frame, second.frame)
        )
        s.constrain(
            w @ self._vector(row.along, row.axis) - f,
            row.name,
            on=(first, second) if named else None,
        )


def cosines(e0: Fraction, e: Vec) -> list[list[Fraction]]:
    """The direction cosines of the turn with the quaternion e0 + e."""
    s = e0 * e0 + sum(c * c for c in e)
    x, y, z = e
    spin = ((0, -z, y), (z, 0, -x), (-y, x, 0))
    square = e0 * e0 - sum(c * c for c in e)
    return [
        [((square if i == j else 0) + 2 * e[i] * e[j] + 2 * e0 * spin[i][j]) / s for j in range(3)]
        for i in range(3)
    ]
