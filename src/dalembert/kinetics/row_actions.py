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
from dalembert.algebra.folds import symbols_of
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.kinematics import Kinematics
from dalembert.kinematics.rows import ConstraintRow
from dalembert.kinetics.variations import Three, Turned, Variations, dot, minus
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
        frames = {F: self.all.frames[F] for F in (P.frame, Q.frame, self.kin.system.N)}
        return _Scope({X: self.all.points[X] for X in (P, Q)}, frames, named=True)

    def action(self, row: ConstraintRow) -> Action | None:
        """The first candidate whose variation is the row's, up to a simple factor."""
        scope, variation = self._scope(row), self.all.of_row(row.A)
        if self._is_coupling(row, scope):
            return Action(in_joints=True)
        wanted = {variation * pow(k.numerator, -1, self.p) * k.denominator % self.p: k for k in _FACTORS}
        for search in (self._gaps, self._angles, self._distances, self._slips):
            found = list(islice(search(row, wanted, scope), _MOST_CANDIDATES))
            if found:
                # a row in an expression that may hold one body or another is not placed by guessing
                certain = scope.named or len({action.sides for action in found}) == 1
                return found[0] if certain else None
        return None

    def _is_coupling(self, row: ConstraintRow, scope: _Scope) -> bool:
        """Constant coefficients and no free point held: a relation of the coordinates themselves, as gears and drives are."""
        t = self.kin.tape
        if any(i in t.moving for i in symbols_of(t, row.A.values())):
            return False
        variation = self.all.of_row(row.A)
        N = self.all.frames[self.kin.system.N]
        return not any(dot(dr, n) * s % self.p == variation for _, dr in scope.points.values() for n in N.axes for s in (1, -1))

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
        """(r_P − r_Q)² = l²: the force 2 (r_P − r_Q) on P, its opposite on Q."""
        points = list(scope.points.items())
        if not row.holonomic or len(points) ** 2 > _MOST_PAIRS:
            return
        for i, (P, (r, dr)) in enumerate(points):
            for Q, (s, ds) in points[:i]:
                gap, change = minus(r, s), minus(dr, ds)
                if (k := wanted.get(2 * dot(gap, change) % self.p)) is not None:
                    d = _times(P - Q, 2 * k)
                    yield from self._carried(((P, d), (Q, -d)), (), named=scope.named)

    def _slips(self, row: ConstraintRow, wanted: _Wanted, scope: _Scope) -> Iterator[Action]:
        """The velocity along an axis of that point of a rigid body which is at P just now, as in rolling."""
        bodies = [] if row.holonomic else [b for b in self.kin.system.bodies if b.frame is not None]
        for body, P in product(bodies, scope.points):
            moved = self.all.moved(body, P)
            for F, turned in scope.frames.items():
                for name, n in zip("xyz", turned.axes, strict=True):
                    if (k := wanted.get(dot(moved, n) % self.p)) is not None:
                        d = _times(getattr(F, name), k)
                        yield Action(((body, P, d), (None, P, -d)))

    def _carried(
        self, at_points: Sequence[tuple[Point, Vector]], on_frames: Sequence[tuple[Frame, Vector]], *, named: bool
    ) -> Iterator[Action]:
        """Forces and moments on bodies; none if one of these is not found, or if all of it stays within one body."""
        forces, moments = [], []
        for P, d in at_points:
            body, found = self.all.carrier(P, self.all.value(d), named=named)
            if not found:
                return
            forces.append((body, P, d))
        for F, d in on_frames:
            body, found = self.all.turned_with(F, self.all.value(d))
            if not found:
                return
            moments.append((body, d))
        if len({id(b) for b, _, _ in forces} | {id(b) for b, _ in moments}) > 1:
            yield Action(tuple(forces), tuple(moments))


def _times(v: Vector, k: Fraction) -> Vector:
    """k v, exactly."""
    return v if k == 1 else -v if k == -1 else v * k
