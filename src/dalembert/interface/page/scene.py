"""A system as things to draw: solids, links, rails, springs, arrows, ground, each along a
motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.body_shapes import (
    DrawnBody,
    Outline,
    SolidShape,
    bar_outline,
    body_fixed_points,
    body_solid,
    centre_mark,
    primitive_bodies,
    shrink_to_links,
)
from dalembert.interface.page.camera import Camera, fit_camera, robot_ground
from dalembert.interface.page.contact_surfaces import ContactSurfaces, SurfaceStrip
from dalembert.interface.page.kinematics_arrays import (
    FlexibleMembers,
    MemberCurve,
    Poses,
    ancestors,
    contact_forces,
    loads,
    reaction_forces,
    springs,
)
from dalembert.interface.page.sketch_dimensions import DimensionLine, dimension_lines
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.expression_graph import symbols_of

if TYPE_CHECKING:
    from dalembert.interface.page.kinematics_arrays import ArrowKind
    from dalembert.runtime.simulation.trajectory import Trajectory

MOST_FRAMES: Final = 601
_STATIONARY_TOLERANCE: Final = 1e-7
_ROUNDOFF: Final = 1e-11


@dataclass(frozen=True, eq=False)
class ScenePoint:
    """A named point."""

    name: str
    r: FloatArray = field(repr=False)
    # the point itself, or its parent and the vector from there
    source: tuple[Point, Vector | None] = field(repr=False)
    fixed: bool = False
    # where links meet, so that something turns there
    joint: bool = False
    # whether its name says something; slices are only counted
    named: bool = True


@dataclass(frozen=True)
class SceneLine:
    """Between two places: a rigid link, a spring, a damper, a rope or guide whose length
    changes.
    """

    kind: Literal["link", "spring", "damper", "rope"]
    a: int
    b: int
    # a rope that is longer than the distance of its ends sags
    length: float = 0.0


@dataclass(frozen=True, eq=False)
class GuideLine:
    """The straight way along which a point slides."""

    ends: FloatArray


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force at a place, or a torque on a body, over the times."""

    name: str
    kind: ArrowKind
    at: FloatArray = field(repr=False)
    vector: FloatArray = field(repr=False)
    # its point and its vector, unless it is a reaction
    source: tuple[Point, Vector] | None = field(repr=False, default=None)


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that can be seen, over the times t."""

    t: FloatArray = field(repr=False)
    bodies: tuple[DrawnBody, ...]
    points: tuple[ScenePoint, ...]
    lines: tuple[SceneLine, ...]
    rails: tuple[GuideLine, ...]
    surfaces: tuple[SurfaceStrip, ...]
    arrows: tuple[Arrow, ...]
    view: Camera
    contacts: tuple[int, ...] = ()
    # flexible members
    curves: tuple[MemberCurve, ...] = ()
    # the places of their ends
    tips: tuple[int, ...] = ()
    dimensions: tuple[DimensionLine, ...] = ()

    @property
    def colour_count(self) -> int:
        """How many colours the bodies take; those of members follow."""
        return 1 + max((b.colour for b in self.bodies), default=-1)


def sample_frames(run: Trajectory, most: int = MOST_FRAMES) -> Trajectory:
    """The run at even times, few enough to be drawn."""
    if len(run) < 2 or not run.solution.has_full_dense_output:
        return run
    return run.at(np.linspace(float(run.t[0]), float(run.t[-1]), most))


def build_scene(run: Trajectory, *, arrows: bool = True) -> Scene:
    """What is to be drawn at the times of this run, as they are."""
    return _SceneBuilder(run, arrows=arrows).scene()


class _SceneBuilder:
    def __init__(self, run: Trajectory, *, arrows: bool) -> None:
        self.run, system = run, run.system
        self.with_arrows = arrows
        self.loads = [*loads(run), *contact_forces(run)] if arrows else []
        self.springs = [(kind, *pair) for kind, pair in springs(run)]
        self.contacts = list(
            dict.fromkeys(c.contact.point for c in system.constraints if c.contact is not None)
        )
        self.members, self.grounds = FlexibleMembers(system), ContactSurfaces(system.contacts)
        self.points = list(dict.fromkeys(self._declared_points()))
        self.poses = Poses(
            run,
            self.points + self.grounds.plane_points,
            [*(v for *_, v in self.loads), *self.members.vectors, *self.grounds.vectors],
        )
        self.curves = self.members.curves(self.poses)
        # the places of every body that is drawn as bars
        self.bar_body_points: list[set[int]] = []
        self._collect_points()

    # ---- places and links --------------------------------------------------------------------

    def _declared_points(self) -> Iterator[Point]:
        """Mass centres, ends of members, springs and joints, contacts, points of loads."""
        system = self.run.system
        yield from (b.G for b in system.bodies)
        yield from (e.member.at for e in self.members.bent)
        yield from (P for b in system.bodies for P in b.points.values())
        yield from (P for _, *ends in self.springs for P in ends)
        yield from self.contacts
        yield from self.grounds.points
        yield from (P for c in system.constraints for P in c.loop_points or ())
        yield from (P for _, _, P, _ in self.loads if isinstance(P, Point))
        # points on the way to these, and other points of a body's own frame
        frames = [b.frame for b in system.bodies]
        yield from (P for P in system.space.points if any(P.frame is F for F in frames))

    def _collect_points(self) -> None:
        """Points that are everywhere at the same place count once."""
        self.places: list[FloatArray] = []
        self.names: list[str] = []
        self.sources: list[tuple[Point, Vector | None]] = []
        self.number: dict[Point, int] = {}
        self.links: dict[tuple[int, int], None] = {}
        self.ropes: list[tuple[int, int, float]] = []
        self.rails: list[GuideLine] = []
        wanted = [Q for P in self.points for Q in ancestors(P)]
        r = {P: self.poses.point(P) for P in dict.fromkeys(wanted)}
        self.size = _extent([*r.values(), *(x for c in self.curves for x in c.r)])
        for P, here in r.items():
            self.number[P] = self._point_index(P.name, here, P)
            if P.parent is not None and not self.members.is_on_member(P):
                self._connect(P, self.poses.offset(P))
        self._link_by_constraints()
        for joined, length in self.grounds.ropes(self.run):
            free = length if len(joined) == 2 else 0.0
            self.ropes += [(self.number[P], self.number[Q], free) for P, Q in pairwise(joined)]
        self.roots = [self._point_index(c.root.name, c.r[0], c.root) for c in self.curves]
        self.tips = [
            self._point_index(f"tip of {c.name}", c.r[-1], c.root, c.along[-1]) for c in self.curves
        ]
        # what is to be seen: the masses, and what is linked with them
        seen = {self.number[b.G] for b in self.run.system.bodies}.union(
            *self.links, *(rope[:2] for rope in self.ropes), self.roots, self.tips
        )
        self.scale = _extent([self.places[k] for k in sorted(seen)])
        self.surfaces = list(self.grounds.strips(self.run, self.poses, self._up(), self.size))
        self._choose_frame(seen)

    def _choose_frame(self, seen: set[int]) -> None:
        """What the camera must hold, and whether the motion happens in one place."""
        is_robot = self.run.system.origin is not None
        if is_robot:
            # a robot is framed by its links; sliders of its base are no guides
            self.rails, seen = [], set()
        corners = [e for rail in self.rails for e in rail.ends]
        corners += [e for strip in self.surfaces for e in strip.corners]
        ends = [np.broadcast_to(e, (len(self.run), 3)) for e in corners]
        sprung = {self.number[P] for _, *pair in self.springs for P in pair}
        self.framed_points = [self.places[k] for k in sorted(seen | sprung)] + ends
        # a lone particle is seen with its whole way
        points = (
            not self.links
            and not self.curves
            and all(b.frame is None for b in self.run.system.bodies)
        )
        self.is_stationary = not is_robot and (
            points
            or bool(self.rails)
            or bool(self.surfaces)
            or any(
                np.ptp(self.places[k], axis=0).max() <= _STATIONARY_TOLERANCE * self.size
                for k in seen
            )
        )

    def _point_index(self, name: str, r: FloatArray, P: Point, way: Vector | None = None) -> int:
        near = 1e-9 * self.size
        for k, other in enumerate(self.places):
            if np.abs(other - r).max(initial=0.0) <= near:
                return k
        self.places.append(r)
        self.names.append(name)
        self.sources.append((P, way))
        return len(self.places) - 1

    def _connect(self, P: Point, offset: FloatArray) -> None:
        """A constant length is a link; a constant direction in space is a rail."""
        assert P.parent is not None
        a, b = self.number[P.parent], self.number[P]
        length = np.linalg.norm(offset, axis=1)
        if a == b or not np.all(np.isfinite(length)):
            return
        if np.ptp(length) <= _STATIONARY_TOLERANCE * max(length.max(), 1e-12):
            still = (
                np.ptp(self.places[a], axis=0).max() + np.ptp(self.places[b], axis=0).max()
                <= _STATIONARY_TOLERANCE * self.size
            )
            if not still or length.max() <= 0.5 * self.size:
                self.links[min(a, b), max(a, b)] = None
            return
        _, spread, directions = np.linalg.svd(offset - offset.mean(axis=0), full_matrices=False)
        if (
            spread[0] > 0
            and spread[1] <= 1e-6 * spread[0]
            and self._variable_count(P) == 1
            and np.ptp(self.places[a], axis=0).max() <= _STATIONARY_TOLERANCE * self.size
        ):
            self.rails.append(_rail(self.places[b], directions[0], 0.15 * self.size))
        elif self._slides_on_rotating_axis(P):
            self.ropes.append((a, b, 0.0))

    def _slides_on_rotating_axis(self, P: Point) -> bool:
        """Whether a point moves along one axis of a frame that turns: a load on a rope, a bead
        on an arm.
        """
        N = self.run.system.N
        along = [(F, c) for F, triple in P.r.parts.items() for c in triple if c != P.r.tape.zero]
        return len(along) == 1 and along[0][0] is not N

    def _variable_count(self, P: Point) -> int:
        """How many coordinates and motions an offset depends on."""
        tape = P.r.tape
        return sum(
            i in tape.moving
            for i in symbols_of(tape, [c for triple in P.r.parts.values() for c in triple])
        )

    def _link_by_constraints(self) -> None:
        """A constraint that keeps two places at one distance is a link too."""
        rows = [c for c in self.run.system.constraints if c.holonomic]
        masses = [
            self.number[b.G]
            for b in self.run.system.bodies
            if b.frame is None and not self.members.is_element(b)
        ]
        linked = {k for link in self.links for k in link}
        for i, a in enumerate(masses if rows else []):
            for b in masses[i + 1 :]:
                length = np.linalg.norm(self.places[a] - self.places[b], axis=1)
                apart = a not in linked or b not in linked
                if apart and length.max() > 0 and np.ptp(length) <= 1e-6 * length.max():
                    self.links[min(a, b), max(a, b)] = None

    # ---- bodies ------------------------------------------------------------------------------

    def bodies(self) -> Iterator[DrawnBody]:
        """All bodies that are seen: not the elements of members, nor what has no mass."""
        bodies = self.run.system.bodies
        masses = [float(self.run.rows([b.mass])[0][0]) for b in bodies]
        seen = [
            b
            for b, mass in zip(bodies, masses, strict=True)
            if not self.members.is_element(b) and (mass != 0 or b.visuals)
        ]
        for colour, body in enumerate(seen):
            F = body.frame
            if body.visuals and F is not None:
                self.bar_body_points.append(
                    {self.number[P] for P in body_fixed_points(body.G, F, self.number)}
                )
                place, R = self.poses.point(body.G), self.poses.frame(F)
                yield from primitive_bodies(body, place, R, colour)
            else:
                yield self._solid_body(body, colour, max(masses))

    def _solid_body(self, body: Body, colour: int, heaviest: float) -> DrawnBody:
        """A body by its declared shape, by the points that are fixed in it, or by its inertia."""
        F = body.frame
        still = np.broadcast_to(np.eye(3), (len(self.run), 3, 3))
        R = still if F is None else self.poses.frame(F)
        solid = body_solid(
            body,
            self.poses,
            scene=self.scale,
            heaviest=heaviest,
            reach=R[0].T @ self._farthest_link(body),
            contact=self._contact_distance(body),
        )
        outline = self._outline(body, solid)
        solid = solid if outline is None else centre_mark(self.scale)
        return DrawnBody(
            body.name,
            solid,
            self.poses.point(body.G),
            R @ solid.orientation,
            body,
            None if F is None else R,
            outline,
            colour,
        )

    def _outline(self, body: Body, looks: SolidShape) -> Outline | None:
        """Bars between the points of a body, where its inertia would only give a bulky guess:
        one moment, or an ellipsoid.
        """
        F = body.frame
        if (
            F is None
            or not looks.is_inferred
            or looks.kind == "cylinder"
            or self._contact_distance(body) is not None
        ):
            return None
        fixed = body_fixed_points(body.G, F, self.number)
        places = {self.number[P] for P in fixed}
        # a top on its tip shows by its ellipsoid how it spins
        if len(places) < (2 if looks.kind == "box" else 3):
            return None
        G, R = self.poses.point(body.G)[0], self.poses.frame(F)[0]
        self.bar_body_points.append(places)
        return bar_outline(np.array([(self.poses.point(P)[0] - G) @ R for P in fixed]))

    def _farthest_link(self, body: Body) -> FloatArray:
        """From the mass centre to the farthest point linked with it, at the start."""
        G = self.number[body.G]
        ends = [b if a == G else a for a, b in self.links if G in (a, b)]
        away = [self.places[k][0] - self.places[G][0] for k in ends]
        return max(away, key=lambda d: float(np.linalg.norm(d)), default=np.zeros(3))

    def _contact_distance(self, body: Body) -> float | None:
        for c in self.run.system.constraints:
            if c.contact is not None and c.contact.body is body:
                return float(
                    np.linalg.norm(
                        self.poses.point(c.contact.point)[0] - self.poses.point(body.G)[0]
                    )
                )
        return None

    # ---- all of it ---------------------------------------------------------------------------

    def scene(self) -> Scene:
        """The whole scene."""
        bodies = shrink_to_links(list(self.bodies()), [self._length(link) for link in self.links])
        fixed = [
            bool(np.ptp(r, axis=0).max() <= _STATIONARY_TOLERANCE * self.size) for r in self.places
        ]
        contacts = tuple(dict.fromkeys(self.number[P] for P in self.contacts))
        camera = fit_camera(
            self._up(),
            bodies,
            self.framed_points,
            self._ground_points(contacts, bodies),
            masses=self._masses(),
            is_stationary=self.is_stationary,
        )
        return Scene(
            t=np.asarray(self.run.t),
            bodies=tuple(bodies),
            points=self._scene_points(fixed),
            lines=tuple(self._lines(fixed)),
            rails=tuple(self.rails),
            surfaces=tuple(self.surfaces),
            arrows=tuple(self._arrows()),
            view=camera,
            contacts=contacts,
            curves=tuple(self.curves),
            tips=tuple(self.tips),
            dimensions=dimension_lines(self.run, self.poses, self.number, self.scale),
        )

    def _degree(self, k: int) -> int:
        """The number of links that end at a place."""
        return sum(k in link for link in self.links)

    def _scene_points(self, fixed: list[bool]) -> tuple[ScenePoint, ...]:
        """Every place, and which of them are joints."""
        held = {*self.roots, *(k for rope in self.ropes for k in rope[:2])}
        for k, e in zip(self.tips, self.members.bent, strict=True):
            if e.member.right.support != "free":
                held.add(k)
        at_G = {self.number[b.G] for b in self.run.system.bodies}
        cut = {b.G.name for b in self.run.system.bodies if self.members.is_element(b)}
        each = zip(self.names, self.places, self.sources, fixed, strict=True)
        return tuple(
            ScenePoint(
                name,
                r,
                source,
                still,
                (self._degree(k) >= 1 or k in held) and k not in at_G,
                name not in cut,
            )
            for k, (name, r, source, still) in enumerate(each)
        )

    def _lines(self, fixed: list[bool]) -> Iterator[SceneLine]:
        """Links, ropes and springs; bars of a body stand for its own links, and two supports
        need none.
        """
        supports = {k for k, still in enumerate(fixed) if still and self._degree(k) > 1}
        for a, b in self.links:
            if not any({a, b} <= apart for apart in (supports, *self.bar_body_points)):
                yield SceneLine("link", a, b)
        for a, b, length in self.ropes:
            yield SceneLine("rope", a, b, length)
        for kind, P, Q in self.springs:
            yield SceneLine(kind, self.number[P], self.number[Q])

    def _ground_points(
        self, contacts: tuple[int, ...], bodies: Sequence[DrawnBody]
    ) -> list[FloatArray]:
        """Where the system touches its ground; below a robot that touches nothing."""
        level = self.grounds.level_points(self.run, self.poses, self._up())
        ground, up = [self.places[k] for k in contacts] + level, self._up()
        if not ground and self.run.system.origin is not None and up is not None:
            return [robot_ground(bodies, up)]
        return ground

    def _masses(self) -> list[FloatArray]:
        """Where masses are, those of flexible members too."""
        return [self.poses.point(b.G) for b in self.run.system.bodies]

    def _length(self, link: tuple[int, int]) -> float:
        a, b = link
        return float(np.linalg.norm(self.places[a][0] - self.places[b][0]))

    def _up(self) -> FloatArray | None:
        gravity = self.run.system.gravity_field
        if gravity is None:
            return None
        g = self.run[gravity.g][0]
        return None if np.linalg.norm(g) == 0 else -g / np.linalg.norm(g)

    def _arrows(self) -> Iterator[Arrow]:
        centres = {b.frame: b.G for b in self.run.system.bodies if b.frame is not None}
        largest = 0.0
        for name, kind, place, vector in self.loads:
            P = place if isinstance(place, Point) else centres.get(place)
            values = self.poses.vector(vector)
            if P is not None and _is_significant(values):
                largest = largest if kind == "torque" else max(largest, float(np.abs(values).max()))
                yield Arrow(name, kind, self.poses.point(P), values, (P, vector))
        # what is only rounding relative to the loads is no reaction
        each = reaction_forces(self.run) if self.with_arrows else ()
        yield from (
            Arrow(name, "reaction", at, force)
            for name, at, force in each
            if _is_significant(force, _ROUNDOFF * largest)
        )


def _is_significant(force: FloatArray, least: float = 0.0) -> bool:
    return bool(np.all(np.isfinite(force))) and float(np.abs(force).max(initial=0.0)) > least


def _extent(places: Sequence[FloatArray]) -> float:
    """The largest distance between places at one time, or how far they get where there is only
    one.
    """
    stacked = np.stack(places)
    at_once = float(np.linalg.norm(np.ptp(stacked, axis=0), axis=1).max())
    return max(
        at_once if at_once > 0 else float(np.ptp(stacked.reshape(-1, 3), axis=0).max()), 1e-9
    )


def _rail(way: FloatArray, direction: FloatArray, margin: float) -> GuideLine:
    along = (way - way[0]) @ direction
    return GuideLine(way[0] + np.outer([along.min() - margin, along.max() + margin], direction))
