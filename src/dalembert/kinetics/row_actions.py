"""A_j δq = Σ f·δr_P + μ·δθ_F: where a constraint row takes hold of the bodies, so that λ_j becomes forces and moments.

A row that was declared as rolling knows its contact. Of any other row the description is searched for what it can be: the gap
between two points along an axis, the distance of two points, the angle of two axes, a relative velocity, a coupling of
coordinates. A candidate counts only if its variation is that of the row, decided at a random point of a prime field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Final

from dalembert.algebra.exact.field import Trials
from dalembert.algebra.folds import needed, symbols_of
from dalembert.algebra.functions import sqrt
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.rows import ConstraintRow
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.variations import Hold, Three, Turned, Variations, cross, dot, minus
from dalembert.model.elements import Body

_FACTORS: Final = tuple(s * k for k in (Fraction(1), Fraction(2), Fraction(1, 2)) for s in (1, -1))
_MOST_PAIRS: Final = 40_000
_MOST_CANDIDATES: Final = 200

# variations that would do, each with the factor by which the row is larger
_Wanted = dict[int, Fraction]


@dataclass(frozen=True)
class Action:
    """What λ = 1 of a row puts on the bodies (None: on the ground): forces at points, moments; or it acts in the joints themselves."""

    forces: tuple[tuple[Body | None, Point, Vector], ...] = ()
    moments: tuple[tuple[Body | None, Vector], ...] = ()
    in_joints: bool = False
    # at how many places a body moves with the point along the force only
    slack: int = 0

    @property
    def touches(self) -> tuple[Body, ...]:
        """The bodies it acts on."""
        bodies = [body for body, _, _ in self.forces] + [body for body, _ in self.moments]
        return tuple(dict.fromkeys(b for b in bodies if b is not None))

    @property
    def sides(self) -> frozenset[str | None]:
        """The names of the bodies that hold each other, None for the ground."""
        bodies = [body for body, _, _ in self.forces] or [body for body, _ in self.moments]
        return frozenset(None if b is None else b.name for b in bodies)


def held_rows(kin: Kinematics) -> tuple[ConstraintRow, ...]:
    """Every row that exerts something: those with a multiplier in the principles, then those marked redundant."""
    acting = kin.acting_rows
    known = {row.name for row in acting}
    return (*acting, *(row for row in kin.redundant if row.name not in known))


def row_actions(kin: Kinematics) -> list[Action | None]:
    """For every row that holds where it takes hold; None where that is not known."""
    search: _Search | None = None
    found: list[Action | None] = []
    for row in held_rows(kin):
        if row.is_norm:
            found.append(Action())
        elif row.contact is not None:
            found.append(_contact(row))
        elif row.nonlinear is not None:
            found.append(None)
        else:
            search = search or Trials(kin.tape, 1).at(0, lambda point: _Search(Variations(kin, point)))
            found.append(search.action(row))
    return found


def _contact(row: ConstraintRow) -> Action:
    """λ d at the contact on the body, and its opposite on the body it rolls on."""
    contact = row.contact
    assert contact is not None
    d, C = contact.direction, contact.point
    return Action(((contact.body, C, d), (contact.ground, C, -d)))


@dataclass(frozen=True)
class _Scope:
    """Where a row is searched for: everywhere, or (named) at the points of the closure it is a part of, their own axes first."""

    points: Mapping[Point, tuple[Three, Three]]
    frames: Mapping[Frame, Turned]
    named: bool


class _Search:
    """Rows compared with whatever two points or two frames of the description can do to each other."""

    def __init__(self, variations: Variations) -> None:
        self.all, self.kin, self.p = variations, variations.kin, variations.p

    def _scope(self, row: ConstraintRow) -> _Scope:
        declared = next((c for c in self.kin.system.constraints if c.name == row.name), None)
        if declared is None or declared.closes is None:
            return _Scope(self.all.points, self.all.frames, named=False)
        P, Q = declared.closes
        frames = {F: self.all.frames[F] for F in (P.frame, Q.frame, self.kin.system.N, *self.all.frames)}
        return _Scope({X: self.all.points[X] for X in (P, Q)}, frames, named=True)

    def action(self, row: ConstraintRow) -> Action | None:
        """The first candidate whose variation is the row's, up to a simple factor."""
        scope, variation = self._scope(row), self.all.of_row(row.A)
        wanted = {variation * pow(k.numerator, -1, self.p) * k.denominator % self.p: k for k in _FACTORS}
        for search in (self._gaps, self._angles, self._distances, self._slips):
            found = list(islice(search(row, wanted, scope), _MOST_CANDIDATES))
            firmest = min((action.slack for action in found), default=0)
            found = [action for action in found if action.slack == firmest]
            if found and (scope.named or len({action.sides for action in found}) == 1):
                return found[0]
            if found and not all(None in action.sides for action in found):
                # what may hold one body to another or to a third is not placed by guessing
                return None
            if found:
                break
        return self._coupling(row)

    def _coupling(self, row: ConstraintRow) -> Action | None:
        """Constant coefficients: a relation of the coordinates themselves, as gears and drives are."""
        t = self.kin.tape
        return None if any(i in t.moving for i in symbols_of(t, row.A.values())) else Action(in_joints=True)

    def _gaps(self, row: ConstraintRow, wanted: _Wanted, scope: _Scope) -> Iterator[Action]:
        """(r_P − r_Q)·n or (v_P − v_Q)·n along the axis n of some frame: ±n at the points, n × (r_P − r_Q) on n's own frame."""
        for F, turned in scope.frames.items():
            hit = False
            for k, name in enumerate("xyz"):
                n, dn = turned.axes[k], turned.varied[k] if row.holonomic else (0, 0, 0)
                for factor, P, Q in self._pairs(n, dn, wanted, scope):
                    d = _times(getattr(F, name), factor)
                    turn = ((F, d.cross(P - Q)),) if row.holonomic and F.parent is not None else ()
                    for action in self._carried(((P, d), (Q, -d)), turn, named=scope.named):
                        hit = True
                        yield action
            if hit:
                # the same axis in other frames would say the same
                return

    def _pairs(self, n: Three, dn: Three, wanted: _Wanted, scope: _Scope) -> Iterator[tuple[Fraction, Point, Point]]:
        """The points whose gap along n varies as wanted."""
        parts = {P: (dot(dr, n) + dot(r, dn)) % self.p for P, (r, dr) in scope.points.items()}
        by_value: dict[int, list[Point]] = {}
        for P, s in parts.items():
            by_value.setdefault(s, []).append(P)
        for value, factor in wanted.items():
            for Q, s in parts.items():
                for P in by_value.get((value + s) % self.p, ()):
                    yield factor, P, Q

    def _angles(self, row: ConstraintRow, wanted: _Wanted, scope: _Scope) -> Iterator[Action]:
        """a·b of two axes: the moment a × b on a's frame, its opposite on b's; or (ω_F − ω_G)·n."""
        frames = list(scope.frames.items())
        for i, (F, f) in enumerate(frames):
            for G, g in frames[:i]:
                for factor, d in self._between(row, F, f, G, g, wanted):
                    moment = _times(d, factor)
                    yield from self._carried((), ((F, moment), (G, -moment)), named=scope.named)

    def _between(self, row: ConstraintRow, F: Frame, f: Turned, G: Frame, g: Turned, wanted: _Wanted) -> Iterator[tuple[Fraction, Vector]]:
        p = self.p
        products = [[(dot(f.varied[a], g.axes[b]) + dot(f.axes[a], g.varied[b])) % p for b in range(3)] for a in range(3)]
        relative = tuple((x - y) % p for x, y in zip(f.rotation, g.rotation, strict=True))
        F_axes, G_axes = (F.x, F.y, F.z), (G.x, G.y, G.z)
        half = pow(2, -1, p)
        for a in range(3):
            for b in range(3):
                if row.holonomic and (k := wanted.get(products[a][b])) is not None:
                    yield k, F_axes[a].cross(G_axes[b])
            i, j = (a + 1) % 3, (a + 2) % 3
            if row.holonomic and (k := wanted.get((products[i][j] - products[j][i]) * half % p)) is not None:
                yield k, (F_axes[i].cross(G_axes[j]) - F_axes[j].cross(G_axes[i])) / 2
            for axis, turned in ((F_axes[a], f), (G_axes[a], g)):
                if not row.holonomic and (k := wanted.get(dot(relative, turned.axes[a]) % p)) is not None:
                    yield k, axis

    def _distances(self, row: ConstraintRow, wanted: _Wanted, scope: _Scope) -> Iterator[Action]:
        """r·r = l² or |r| = l, r = r_P − r_Q: the force 2 r or r/|r| on P, its opposite on Q."""
        points = list(scope.points.items())
        if not row.holonomic or len(points) ** 2 > _MOST_PAIRS:
            return
        t, at = self.kin.tape, self.all.point.plain
        # {r·r: |r|} of the lengths that the row contains
        lengths = {at(t.nodes[i][1]): at(i) for i in needed(t, row.A.values()) if t.nodes[i][0] == "sqrt"}
        for i, (P, (r, dr)) in enumerate(points):
            for Q, (s, ds) in points[:i]:
                gap = minus(r, s)
                change, length = dot(gap, minus(dr, ds)), lengths.get(dot(gap, gap) % self.p)
                if (k := wanted.get(2 * change % self.p)) is not None:
                    d = _times(P - Q, 2 * k)
                elif length and (k := wanted.get(change * pow(length, -1, self.p) % self.p)) is not None:
                    d = _times((P - Q) / sqrt((P - Q) @ (P - Q)), k)
                else:
                    continue
                yield from self._carried(((P, d), (Q, -d)), (), named=scope.named)

    def _slips(self, row: ConstraintRow, wanted: _Wanted, scope: _Scope) -> Iterator[Action]:
        """The velocity of that point of a rigid body which is at P just now, as in rolling, along a or a × b of two axes."""
        bodies = [] if row.holonomic else [b for b in self.kin.system.bodies if b.frame is not None]
        for body, P in product(bodies, scope.points):
            moved = self.all.moved(body, P)
            for d, value in self._directions(scope):
                if (k := wanted.get(dot(moved, value) % self.p)) is not None:
                    yield Action(((body, P, _times(d, k)), (None, P, _times(d, -k))))

    def _directions(self, scope: _Scope) -> Iterator[tuple[Vector, Three]]:
        N = self.kin.system.N
        fixed = list(zip((N.x, N.y, N.z), self.all.frames[N].axes, strict=True))
        for F, turned in scope.frames.items():
            for a, value in zip((F.x, F.y, F.z), turned.axes, strict=True):
                yield a, value
                yield from ((a.cross(b), cross(value, other)) for b, other in fixed if F is not N)

    def _carried(
        self, at_points: Sequence[tuple[Point, Vector]], on_frames: Sequence[tuple[Frame, Vector]], *, named: bool
    ) -> Iterator[Action]:
        """Forces and moments on bodies; none if one of these is not found, or if all of it stays within one body."""
        forces, moments, slack = [], [], 0
        for P, d in at_points:
            body, hold = self.all.carrier(P, self.all.value(d), named=named)
            if hold is Hold.NONE:
                return
            forces.append((body, P, d))
            slack += hold
        for F, d in on_frames:
            body, hold = self.all.turned_with(F, self.all.value(d))
            if hold is Hold.NONE:
                return
            moments.append((body, d))
            slack += hold
        if len({id(b) for b, _, _ in forces} | {id(b) for b, _ in moments}) > 1:
            yield Action(tuple(forces), tuple(moments), slack=slack)


def _times(v: Vector, k: Fraction) -> Vector:
    """k v, exactly."""
    return v if k == 1 else -v if k == -1 else v * k
