"""Rows compared with whatever two points or two frames of the description can do to each other, at
a point of a prime field.

δr_P and δθ_F along a random δq: every point and frame of a system at a random point, exactly. Two
things that vary alike there vary alike everywhere, but for a chance of about 2⁻⁶².
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice, product
from random import Random
from typing import Final

from dalembert.errors import NotApplicable
from dalembert.foundation.caching import lazy_property
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.joint_constraints import UnitReaction
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.constraint_rows import ConstraintRow
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, split_linear
from dalembert.mechanics.kinetics.free_bodies import plane_normal
from dalembert.mechanics.kinetics.rigid_groups import RigidGroup, RigidGroups
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, rank_mod
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    dependencies,
    symbols_of,
)
from dalembert.symbolic.algebra.functions import sqrt

_FACTORS: Final = tuple(s * k for k in (Fraction(1), Fraction(2), Fraction(1, 2)) for s in (1, -1))
_MAX_PAIRS: Final = 40_000
_MAX_CANDIDATES: Final = 200

Three = tuple[int, int, int]
# variations that would do, each with the factor by which the row is larger
_Wanted = dict[int, Fraction]
# what a row can be, and the body that feels it (against the ground) where that is known
ReactionCandidate = tuple[UnitReaction, Body | None]


class UnitReactionSearch:
    """What a row can be."""

    def __init__(self, groups: RigidGroups, point: SamplePoint) -> None:
        self.groups, self.kin = groups, groups.kin
        self.all = Variations(groups.kin, point)
        self.p = self.all.p
        self._groups: dict[Point, RigidGroup | None] = {}

    def candidate_reactions(self, row: ConstraintRow) -> list[ReactionCandidate]:
        """Every hold whose variation is the row's, up to a simple factor, with the body it is on
        where the search knows it.
        """
        wanted = self._target_variations(row)
        if row.holonomic:
            for found_by in (
                self._gap_reactions(row, wanted),
                self._angle_reactions(wanted),
                self._distance_reactions(row, wanted),
            ):
                reactions = list(islice(found_by, _MAX_CANDIDATES))
                if reactions:
                    return reactions
            return []
        firm = list(
            islice(
                chain(self._gap_reactions(row, wanted), self._angular_rate_reactions(wanted)),
                _MAX_CANDIDATES,
            )
        )
        return firm or list(islice(self._slip_reactions(wanted), _MAX_CANDIDATES))

    def _target_variations(self, row: ConstraintRow) -> _Wanted:
        variation = self.all.row_variation(row.A)
        return {
            variation * pow(k.numerator, -1, self.p) * k.denominator % self.p: k for k in _FACTORS
        }

    def _gap_reactions(self, row: ConstraintRow, wanted: _Wanted) -> Iterator[ReactionCandidate]:
        """(r_P − r_Q)·n or (v_P − v_Q)·n along the axis n of some frame: ±n at the points, n ×
        (r_P − r_Q) on n's own frame.
        """
        for F, turned in self.all.frames.items():
            hit = False
            for k, name in enumerate("xyz"):
                n, dn = turned.axes[k], turned.varied[k] if row.holonomic else (0, 0, 0)
                for factor, P, Q in self._point_pairs(n, dn, wanted):
                    d = _scale(getattr(F, name), factor)
                    turn = ((F, d.cross(P - Q)),) if row.holonomic and F.parent is not None else ()
                    # between points that belong together it holds nothing
                    if self._unambiguous_group(P) is None or self._unambiguous_group(
                        P
                    ) is not self._unambiguous_group(Q):
                        hit = True
                        yield UnitReaction(((P, d), (Q, -d)), turn), None
            if hit and not row.holonomic:
                # the same axis in other frames would say the same; of a position its own frame
                # feels a moment
                return

    def _unambiguous_group(self, P: Point) -> RigidGroup | None:
        """The group of a point; None where two bodies may be meant."""
        if P not in self._groups:
            try:
                self._groups[P] = self.groups.group_of_point(P, P.name)
            except NotApplicable:
                self._groups[P] = None
        return self._groups[P]

    def _point_pairs(
        self, n: Three, dn: Three, wanted: _Wanted
    ) -> Iterator[tuple[Fraction, Point, Point]]:
        """The points whose gap along n varies as wanted."""
        parts = {P: (dot(dr, n) + dot(r, dn)) % self.p for P, (r, dr) in self.all.points.items()}
        by_value: dict[int, list[Point]] = {}
        for P, s in parts.items():
            by_value.setdefault(s, []).append(P)
        for value, factor in wanted.items():
            for Q, s in parts.items():
                for P in by_value.get((value + s) % self.p, ()):
                    yield factor, P, Q

    def _angular_rate_reactions(self, wanted: _Wanted) -> Iterator[ReactionCandidate]:
        """(ω_F − ω_G)·n along the axis n of some frame: ±n on the frames. What does not turn at
        all is the ground.
        """
        N = self.kin.system.N
        turning = [N, *(F for F in self.all.frames if not self.groups.rotates_with(F, N))]
        for d, n in self._axes():
            earlier: dict[int, list[Frame]] = {}
            for F in turning:
                spin = dot(self.all.frames[F].rotation, n) % self.p
                for value, factor in wanted.items():
                    for G in earlier.get((spin - value) % self.p, ()):
                        moment = _scale(d, factor)
                        yield UnitReaction(moments=((F, moment), (G, -moment))), None
                earlier.setdefault(spin, []).append(F)

    def _axes(self) -> Iterator[tuple[Vector, Three]]:
        """The axes of all frames, those that are the same everywhere once."""
        seen: set[Three] = set()
        for F, turned in self.all.frames.items():
            for a, (x, y, z) in zip((F.x, F.y, F.z), turned.axes, strict=True):
                n = x % self.p, y % self.p, z % self.p
                if n not in seen:
                    yield a, n
                seen |= {n, (-x % self.p, -y % self.p, -z % self.p)}

    def _angle_reactions(self, wanted: _Wanted) -> Iterator[ReactionCandidate]:
        """a·b of two axes: the moment a × b on a's frame, its opposite on b's."""
        frames = list(self.all.frames.items())
        for i, (F, f) in enumerate(frames):
            for G, g in frames[:i]:
                for factor, d in self._axis_pair_moments(F, f, G, g, wanted):
                    moment = _scale(d, factor)
                    yield UnitReaction(moments=((F, moment), (G, -moment))), None

    def _axis_pair_moments(
        self, F: Frame, f: FrameVariation, G: Frame, g: FrameVariation, wanted: _Wanted
    ) -> Iterator[tuple[Fraction, Vector]]:
        p = self.p
        F_axes, G_axes = (F.x, F.y, F.z), (G.x, G.y, G.z)
        products = [
            [(dot(f.varied[a], g.axes[b]) + dot(f.axes[a], g.varied[b])) % p for b in range(3)]
            for a in range(3)
        ]
        half = pow(2, -1, p)
        for a in range(3):
            for b in range(3):
                if (k := wanted.get(products[a][b])) is not None:
                    yield k, F_axes[a].cross(G_axes[b])
            i, j = (a + 1) % 3, (a + 2) % 3
            if (k := wanted.get((products[i][j] - products[j][i]) * half % p)) is not None:
                yield k, (F_axes[i].cross(G_axes[j]) - F_axes[j].cross(G_axes[i])) / 2

    def _distance_reactions(
        self, row: ConstraintRow, wanted: _Wanted
    ) -> Iterator[ReactionCandidate]:
        """r·r = l² or |r| = l, r = r_P − r_Q: the force 2 r or r/|r| on P, its opposite on Q."""
        points = list(self.all.points.items())
        if len(points) ** 2 > _MAX_PAIRS:
            return
        t, at = self.kin.tape, self.all.point.real_value
        # {r·r: |r|} of the lengths that the row contains
        lengths = {
            at(t.nodes[i][1]): at(i)
            for i in dependencies(t, row.A.values())
            if t.nodes[i][0] == "sqrt"
        }
        for i, (P, (r, dr)) in enumerate(points):
            for Q, (s, ds) in points[:i]:
                gap = subtract(r, s)
                change, length = dot(gap, subtract(dr, ds)), lengths.get(dot(gap, gap) % self.p)
                if (k := wanted.get(2 * change % self.p)) is not None:
                    d = _scale(P - Q, 2 * k)
                elif (
                    length
                    and (k := wanted.get(change * pow(length, -1, self.p) % self.p)) is not None
                ):
                    d = _scale((P - Q) / sqrt((P - Q) @ (P - Q)), k)
                else:
                    continue
                yield UnitReaction(((P, d), (Q, -d))), None

    def _slip_reactions(self, wanted: _Wanted) -> Iterator[ReactionCandidate]:
        """The velocity of that point of a rigid body which is at P just now, as in rolling."""
        bodies = [b for b in self.kin.system.bodies if b.frame is not None]
        for body, P in product(bodies, self.all.points):
            yield from (
                (hold, body)
                for hold in self._axis_forces(P, self.all.displacement(body, P), wanted)
            )

    def _axis_forces(self, P: Point, moved: Three, wanted: _Wanted) -> Iterator[UnitReaction]:
        """Forces at a point that moves so, each along one of the directions, that do the work of
        the row.
        """
        for d, value in self._directions:
            if (k := wanted.get(dot(moved, value) % self.p)) is not None:
                yield UnitReaction(((P, _scale(d, k)),))

    @lazy_property
    def _directions(self) -> list[tuple[Vector, Three]]:
        """The axes of all frames, and what stands at right angles to them and to an axis of N."""
        N = self.kin.system.N
        fixed = list(zip((N.x, N.y, N.z), self.all.frames[N].axes, strict=True))
        directions = []
        for F, turned in self.all.frames.items():
            for a, value in zip((F.x, F.y, F.z), turned.axes, strict=True):
                directions.append((a, value))
                directions += [
                    (a.cross(b), cross(value, other)) for b, other in fixed if F is not N
                ]
        return directions

    def group_moving_along(self, P: Point, d: Vector) -> RigidGroup | None:
        """The body whose point at P moves with P along d at least, as a wheel does with the
        point where it touches.
        """
        value, (_, dr) = self.all.value(d), self.all.points[P]
        bodies = [b for b in self.kin.system.bodies if b.frame is not None]
        along = [
            b for b in bodies if not dot(subtract(dr, self.all.displacement(b, P)), value) % self.p
        ]
        own = [b for b in along if b.G is P.parent] or along
        groups = {self.groups.of_body[b] for b in own}
        return groups.pop() if len(groups) == 1 else None

    def groups_for_moment(self, F: Frame, d: Vector) -> list[RigidGroup]:
        """The groups that a moment d on a frame may act on: those of the bodies that turn with
        it, or about d at least.
        """
        N, groups = self.kin.system.N, self.groups
        if rotating_groups := groups.groups_rotating_with(F):
            return rotating_groups
        value, turn = self.all.value(d), self.all.frames[F].rotation
        turning = [
            (b, b.frame)
            for b in self.kin.system.bodies
            if b.frame is not None and not groups.rotates_with(b.frame, N)
        ]
        along = {
            groups.of_body[b]
            for b, B in turning
            if not dot(subtract(turn, self.all.frames[B].rotation), value) % self.p
        }
        along |= set() if dot(turn, value) % self.p else {groups.ground}
        return list(along) if len(along) == 1 else []

    # ---- what was named ----------------------------------------------------------------------

    def axis_force(
        self, row: ConstraintRow, body: Body, P: Point, other: Body | None
    ) -> UnitReaction | None:
        """A force along an axis of some frame at a point of the body that does the work of the
        row.
        """
        wanted = self._target_variations(row)
        moved = self.all.displacement(body, P)
        moved = moved if other is None else subtract(moved, self.all.displacement(other, P))
        return next(self._axis_forces(P, moved, wanted), None)

    def ground_force(self, row: ConstraintRow) -> tuple[Point, Vector] | None:
        """The point and the force of the ground for λ = 1, if all candidates without a moment have
        the same: which body carries it may be open.
        """
        by_value: dict[tuple[int, ...], tuple[Point, Vector]] = {}
        for hold, _ in self.candidate_reactions(row):
            moving = [(P, d) for P, d in hold.forces if any(self.all.points[P][1])]
            if hold.moments:
                continue
            if len(moving) != 1:
                return None
            P, d = moving[0]
            values = (*self.all.points[P][0], *self.all.value(d))
            by_value.setdefault(tuple(x % self.p for x in values), (P, d))
        return next(iter(by_value.values())) if len(by_value) == 1 else None

    def sole_body(self, row: ConstraintRow) -> Body | None:
        """The only body that the coordinates of a row move."""
        own = {self.kin.qdot[k] for k in row.A}
        bodies = [b for b in self.kin.system.bodies if own & self._rates_moving(b)]
        return bodies[0] if len(bodies) == 1 else None

    def _velocities(self, body: Body) -> list[Vector]:
        motion = self.kin.motion_in_rates
        return (
            [motion.v(body.G)] if body.frame is None else [motion.v(body.G), motion.w(body.frame)]
        )

    def _rates_moving(self, body: Body) -> set[int]:
        """The rates that a body's velocities hold."""
        return set(
            symbols_of(
                self.kin.tape,
                [c for v in self._velocities(body) for part in v.parts.values() for c in part],
            )
        )

    def is_free(self, body: Body) -> bool:
        """Whether rates that move no other body move it in every way: 6 degrees of freedom, a
        particle 3; in a plane 3 and 2.
        """
        linear, N = LinearCoefficients(self.kin.tape, self.kin.qdot), self.kin.system.N
        parts = [split_linear(linear, v)[0] for v in self._velocities(body)]
        none = Vector(self.kin.tape, {})
        shared = {i for b in self.kin.system.bodies if b is not body for i in self._rates_moving(b)}
        own = sorted({k for p in parts for k in p if self.kin.qdot[k] not in shared})
        columns = [[c for p in parts for c in p.get(k, none).components(N)] for k in own]
        rank = (
            rank_mod([[self.all.point.real_value(x) for x in c] for c in columns], self.p).rank
            if columns
            else 0
        )
        full, flat = (3, 2) if body.frame is None else (6, 3)
        return rank == full or (rank == flat and plane_normal(self.kin) is not None)

    def wrenches(
        self,
        forces: Sequence[tuple[RigidGroup, Point, Vector]],
        moments: Sequence[tuple[RigidGroup, Vector]],
    ) -> dict[RigidGroup, tuple[int, ...]]:
        """Force and moment about O on every group but the ground, in the field; those that
        vanish left out.
        """
        total: dict[RigidGroup, list[int]] = {}
        terms = [(g, d, cross(self.all.points[P][0], self.all.value(d))) for g, P, d in forces]
        values = [(g, (*self.all.value(d), *m)) for g, d, m in terms] + [
            (g, (0, 0, 0, *self.all.value(m))) for g, m in moments
        ]
        for g, w in values:
            if g is not self.groups.ground:
                total[g] = [(x + y) % self.p for x, y in zip(total.get(g, [0] * 6), w, strict=True)]
        return {g: tuple(w) for g, w in total.items() if any(w)}


def _scale(v: Vector, k: Fraction) -> Vector:
    """k v, exactly."""
    return v if k == 1 else -v if k == -1 else v * k


# ---- variations --------------------------------------------------------------------------------


@dataclass(frozen=True)
class FrameVariation:
    """The axes of a frame in N, their variation, and the small rotation behind it."""

    axes: tuple[Three, Three, Three]
    varied: tuple[Three, Three, Three]
    rotation: Three


class Variations:
    """(r, δr) of every point and the variation of every frame, along N."""

    def __init__(self, kin: Kinematics, point: SamplePoint) -> None:
        t, random = kin.tape, Random(1)  # noqa: S311 - nothing is to be kept secret
        self.kin, self.p, self.point = kin, point.prime, point
        self.dq = [random.randrange(1, 1 << 30) for _ in kin.q]
        varied = dict(zip(kin.q, map(t.const, self.dq), strict=True))
        self._vary = Derivative(t, varied.get)
        space, N = kin.system.space, kin.system.N
        self.points = {
            P: self._value_and_variation((P - kin.system.O).on(t).components(N))
            for P in space.points
        }
        self.frames = {F: self._frame_variation(F) for F in space.frames}

    def _value_and_variation(self, c: Sequence[int]) -> tuple[Three, Three]:
        values = [self.point.real_value(x) for x in (*c, *(self._vary(x) for x in c))]
        return (values[0], values[1], values[2]), (values[3], values[4], values[5])

    def _frame_variation(self, F: Frame) -> FrameVariation:
        t, N = self.kin.tape, self.kin.system.N
        (x, dx), (y, dy), (z, dz) = (
            self._value_and_variation(axis.on(t).components(N)) for axis in (F.x, F.y, F.z)
        )
        half = pow(2, -1, self.p)
        # δθ = ½ Σ a_i × δa_i
        a, b, c = (
            sum(parts) * half % self.p
            for parts in zip(cross(x, dx), cross(y, dy), cross(z, dz), strict=True)
        )
        return FrameVariation((x, y, z), (dx, dy, dz), (a, b, c))

    def row_variation(self, A: Mapping[int, int]) -> int:
        """A δq"""
        return sum(self.point.real_value(a) * self.dq[k] for k, a in A.items()) % self.p

    def value(self, d: Vector) -> Three:
        """A vector along N."""
        x, y, z = (
            self.point.real_value(i) for i in d.on(self.kin.tape).components(self.kin.system.N)
        )
        return x, y, z

    def is_zero(self, a: Three) -> bool:
        """Whether all components are zero."""
        return not any(x % self.p for x in a)

    def displacement(self, body: Body, P: Point) -> Three:
        """δr_G + δθ × (r_P − r_G); a particle carries only what is where it is."""
        (r_P, _), (r_G, dr_G) = self.points[P], self.points[body.G]
        if body.frame is None:
            return dr_G if self.is_zero(subtract(r_P, r_G)) else (1, 0, 0)
        turn = cross(self.frames[body.frame].rotation, subtract(r_P, r_G))
        return dr_G[0] + turn[0], dr_G[1] + turn[1], dr_G[2] + turn[2]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a·b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Three, b: Three) -> Three:
    """a × b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def subtract(a: Three, b: Three) -> Three:
    """a − b"""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]
