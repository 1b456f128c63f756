"""A_j δq = Σ f·δr_P + μ·δθ_F: where a constraint row takes hold of the bodies, so that λ_j becomes forces and moments.

A row that was declared as rolling knows its contact. Of any other row the description is searched for what it can be: the gap
between two points along an axis, the distance of two points, the angle of two axes, a relative velocity, a coupling of
coordinates. A candidate counts only if its variation is that of the row, decided at a random point of a prime field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Final

from dalembert.algebra.exact.field import Point as FieldPoint
from dalembert.algebra.exact.field import Trials
from dalembert.algebra.folds import Derivative, symbols_of
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.kinematics import Kinematics
from dalembert.kinematics.rows import ConstraintRow
from dalembert.model.elements import Body

_FACTORS: Final = tuple(s * k for k in (Fraction(1), Fraction(2), Fraction(1, 2)) for s in (1, -1))
_MOST_PAIRS: Final = 40_000
_MOST_CANDIDATES: Final = 200

Three = tuple[int, int, int]


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
            search = search or Trials(kin.tape, 1).at(0, lambda point: _Search(kin, point))
            found.append(search.action(row))
    return found


def _contact(row: ConstraintRow) -> Action:
    """λ d at the contact on the body, and its opposite on the body it rolls on."""
    contact = row.contact
    assert contact is not None
    d, C = contact.direction, contact.point
    return Action(((contact.body, C, d), (contact.ground, C, -d)))


@dataclass(frozen=True)
class _Turned:
    """The axes of a frame in N, their variation, and the small rotation behind it."""

    axes: tuple[Three, Three, Three]
    varied: tuple[Three, Three, Three]
    rotation: Three


class _Search:
    """Every point and frame at a random point of a prime field, with its variation along a random δq."""

    def __init__(self, kin: Kinematics, point: FieldPoint) -> None:
        t, random = kin.tape, Random(1)  # noqa: S311 - nothing is to be kept secret
        self.kin, self.p, self.point = kin, point.prime, point
        self.dq = [random.randrange(1, 1 << 30) for _ in kin.q]
        varied = dict(zip(kin.q, map(t.const, self.dq), strict=True))
        self.vary = Derivative(t, varied.get)
        space = kin.system.space
        self.every_point = {P: self._both(_position(kin, P)) for P in space.points}
        self.every_frame = {F: self._turned(F) for F in space.frames}
        self._look_at(None)

    def _look_at(self, closes: tuple[Point, Point] | None) -> None:
        """Where a row is searched for: everywhere, or at the points of the closure it is a part of, their own axes first."""
        self.points, self.frames, self.closing = self.every_point, self.every_frame, closes is not None
        if closes is not None:
            self.points = {P: self.every_point[P] for P in closes}
            self.frames = {F: self.every_frame[F] for F in (*(P.frame for P in closes), self.kin.system.N)}

    def _both(self, c: Sequence[int]) -> tuple[Three, Three]:
        values = self.point.values([*c, *(self.vary(x) for x in c)])
        return (values[0], values[1], values[2]), (values[3], values[4], values[5])

    def _turned(self, F: Frame) -> _Turned:
        t, N = self.kin.tape, self.kin.system.N
        pairs = [self._both(axis.on(t).components(N)) for axis in (F.x, F.y, F.z)]
        half = pow(2, -1, self.p)
        # δθ = ½ Σ a_i × δa_i
        total = [0, 0, 0]
        for a, da in pairs:
            total = [(x + y) % self.p for x, y in zip(total, _cross(a, da), strict=True)]
        rotation = (total[0] * half % self.p, total[1] * half % self.p, total[2] * half % self.p)
        (x, dx), (y, dy), (z, dz) = pairs
        return _Turned((x, y, z), (dx, dy, dz), rotation)

    # ---- candidates ----------------------------------------------------------------------------

    def action(self, row: ConstraintRow) -> Action | None:
        """The first candidate whose variation is the row's, up to a simple factor."""
        variation = sum(self.point(a) * self.dq[k] for k, a in row.A.items()) % self.p
        declared = next((c for c in self.kin.system.constraints if c.name == row.name), None)
        self._look_at(None if declared is None else declared.closes)
        if self._is_coupling(row):
            return Action(in_joints=True)
        wanted = {variation * pow(k.numerator, -1, self.p) * k.denominator % self.p: k for k in _FACTORS}
        for candidates in (self._gaps(row, wanted), self._angles(row, wanted), self._distances(row, wanted), self._slips(row, wanted)):
            found = list(islice(candidates, _MOST_CANDIDATES))
            if found:
                # a row in an expression that may hold one body or another is not placed by guessing
                certain = self.closing or len({action.sides for action in found}) == 1
                return found[0] if certain else None
        return None

    def _is_coupling(self, row: ConstraintRow) -> bool:
        """Constant coefficients: a relation of the coordinates themselves, as gears and drives are."""
        t = self.kin.tape
        fixed = not any(i in t.moving for i in symbols_of(t, row.A.values()))
        return fixed and not self._translates(row)

    def _translates(self, row: ConstraintRow) -> bool:
        """Whether the row holds the coordinates of a free point, where its force acts at the point."""
        wanted = {sum(self.point(a) * self.dq[k] for k, a in row.A.items()) * s % self.p for s in (1, -1)}
        N = self.every_frame[self.kin.system.N]
        return any(_dot(dr, n) % self.p in wanted for _, dr in self.points.values() for n in N.axes)

    def _gaps(self, row: ConstraintRow, wanted: dict[int, Fraction]) -> Iterator[Action]:
        """(r_P − r_Q)·n or (v_P − v_Q)·n along the axis n of some frame: ±n at the points, n × (r_P − r_Q) on n's own frame."""
        for F, turned in self.frames.items():
            hit = False
            for k, name in enumerate("xyz"):
                n, dn = turned.axes[k], turned.varied[k] if row.holonomic else (0, 0, 0)
                for factor, P, Q in self._pairs(n, dn, wanted):
                    d = _times(getattr(F, name), factor)
                    turn = ((F, d.cross(P - Q)),) if row.holonomic and F.parent is not None else ()
                    action = self._carried(((P, d), (Q, -d)), turn)
                    if action is not None:
                        hit = True
                        yield action
            if hit:
                # the same axis in other frames would say the same
                return

    def _pairs(self, n: Three, dn: Three, wanted: dict[int, Fraction]) -> Iterator[tuple[Fraction, Point, Point]]:
        """The points whose gap along n varies as wanted."""
        parts = {P: (_dot(dr, n) + _dot(r, dn)) % self.p for P, (r, dr) in self.points.items()}
        by_value: dict[int, list[Point]] = {}
        for P, s in parts.items():
            by_value.setdefault(s, []).append(P)
        for value, factor in wanted.items():
            for Q, s in parts.items():
                for P in by_value.get((value + s) % self.p, ()):
                    yield factor, P, Q

    def _angles(self, row: ConstraintRow, wanted: dict[int, Fraction]) -> Iterator[Action]:
        """a·b of two axes: the moment a × b on a's frame, its opposite on b's; or (ω_F − ω_G)·n."""
        frames = list(self.frames.items())
        for i, (F, f) in enumerate(frames):
            for G, g in frames[:i]:
                for factor, d in self._between(row, F, f, G, g, wanted):
                    moment = _times(d, factor)
                    action = self._carried((), ((F, moment), (G, -moment)))
                    if action is not None:
                        yield action

    def _between(
        self, row: ConstraintRow, F: Frame, f: _Turned, G: Frame, g: _Turned, wanted: dict[int, Fraction]
    ) -> Iterator[tuple[Fraction, Vector]]:
        p = self.p
        products = [[(_dot(f.varied[a], g.axes[b]) + _dot(f.axes[a], g.varied[b])) % p for b in range(3)] for a in range(3)]
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
                if not row.holonomic and (k := wanted.get(_dot(relative, turned.axes[a]) % p)) is not None:
                    yield k, axis

    def _distances(self, row: ConstraintRow, wanted: dict[int, Fraction]) -> Iterator[Action]:
        """(r_P − r_Q)² = l²: the force 2 (r_P − r_Q) on P, its opposite on Q."""
        points = list(self.points.items())
        if not row.holonomic or len(points) ** 2 > _MOST_PAIRS:
            return
        for i, (P, (r, dr)) in enumerate(points):
            for Q, (s, ds) in points[:i]:
                gap, change = _minus(r, s), _minus(dr, ds)
                if (k := wanted.get(2 * _dot(gap, change) % self.p)) is not None:
                    d = _times(P - Q, 2 * k)
                    action = self._carried(((P, d), (Q, -d)), ())
                    if action is not None:
                        yield action

    def _slips(self, row: ConstraintRow, wanted: dict[int, Fraction]) -> Iterator[Action]:
        """The velocity along an axis of that point of a rigid body which is at P just now, as in rolling."""
        bodies = [] if row.holonomic else [b for b in self.kin.system.bodies if b.frame is not None]
        for body, P in product(bodies, self.points):
            moved = self._moved(body, P)
            for F, turned in self.frames.items():
                for name, n in zip("xyz", turned.axes, strict=True):
                    if (k := wanted.get(_dot(moved, n) % self.p)) is not None:
                        d = _times(getattr(F, name), k)
                        yield Action(((body, P, d), (None, P, -d)))

    # ---- which body carries it -----------------------------------------------------------------

    def _carried(self, at_points: Sequence[tuple[Point, Vector]], on_frames: Sequence[tuple[Frame, Vector]]) -> Action | None:
        """Forces and moments on bodies; None if one of these is not found, or if all of it stays within one body."""
        forces, moments = [], []
        for P, d in at_points:
            body, found = self._carrier(P, self._value(d))
            if not found:
                return None
            forces.append((body, P, d))
        for F, d in on_frames:
            body, found = self._turned_with(F, self._value(d))
            if not found:
                return None
            moments.append((body, d))
        bodies = {id(b) for b, _, _ in forces} | {id(b) for b, _ in moments}
        return Action(tuple(forces), tuple(moments)) if len(bodies) > 1 else None

    def _value(self, d: Vector) -> Three:
        x, y, z = self.point.values(d.on(self.kin.tape).components(self.kin.system.N))
        return x, y, z

    def _carrier(self, P: Point, d: Three) -> tuple[Body | None, bool]:
        """The body that P is fixed to, or at least moves with along d, and whether there is one; the ground is None."""
        _, dr = self.every_point[P]
        slips = [(body, _minus(dr, self._moved(body, P))) for body in self.kin.system.bodies]
        fixed = [body for body, slip in slips if not any(x % self.p for x in slip)]
        if not any(x % self.p for x in dr):
            # a pivot on the ground belongs to a body only where a closure names it as a point of the body's frame
            return next((b for b in fixed if self.closing and b.frame is P.frame), None), True
        along = [body for body, slip in slips if body.frame is not None and not _dot(slip, d) % self.p]
        found = min(fixed, key=lambda b: (b.G is not P, b.frame is not P.frame), default=None)
        found = found or min(along, key=lambda b: b.G is not P.parent, default=None)
        return found, found is not None

    def _moved(self, body: Body, P: Point) -> Three:
        """δr_G + δθ × (r_P − r_G); a particle carries only what is where it is."""
        (r_P, _), (r_G, dr_G) = self.every_point[P], self.every_point[body.G]
        if body.frame is None:
            return dr_G if not any(x % self.p for x in _minus(r_P, r_G)) else (1, 0, 0)
        turn = _cross(self.every_frame[body.frame].rotation, _minus(r_P, r_G))
        return dr_G[0] + turn[0], dr_G[1] + turn[1], dr_G[2] + turn[2]

    def _turned_with(self, F: Frame, d: Three) -> tuple[Body | None, bool]:
        """The body that turns with a frame, or at least about d."""
        turn = self.every_frame[F].rotation
        rigid = sorted((b for b in self.kin.system.bodies if b.frame is not None), key=lambda b: b.frame is not F)
        differences = [(b, _minus(turn, self.every_frame[b.frame].rotation)) for b in rigid if b.frame is not None]
        for b, difference in differences:
            if not any(x % self.p for x in difference):
                return b, True
        if not any(x % self.p for x in turn):
            return None, True
        for b, difference in differences:
            if not _dot(difference, d) % self.p:
                return b, True
        return None, False


def _times(v: Vector, k: Fraction) -> Vector:
    """k v, exactly."""
    return v if k == 1 else -v if k == -1 else v * k


def _position(kin: Kinematics, P: Point) -> tuple[int, int, int]:
    return (P - kin.system.O).on(kin.tape).components(kin.system.N)


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Three, b: Three) -> Three:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _minus(a: Three, b: Three) -> Three:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]
