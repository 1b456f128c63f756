"""δr_P and δθ_F along a random δq: every point and frame of a system at a random point of a prime field, exactly.

Two things that vary alike there vary alike everywhere, but for a chance of about 2⁻⁶².
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from dalembert.algebra.exact.field import PrimePoint
from dalembert.algebra.folds import Derivative
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.model.elements import Body

Three = tuple[int, int, int]


@dataclass(frozen=True)
class Turned:
    """The axes of a frame in N, their variation, and the small rotation behind it."""

    axes: tuple[Three, Three, Three]
    varied: tuple[Three, Three, Three]
    rotation: Three


class Variations:
    """(r, δr) of every point and the variation of every frame, along N."""

    def __init__(self, kin: Kinematics, point: PrimePoint) -> None:
        t, random = kin.tape, Random(1)  # noqa: S311 - nothing is to be kept secret
        self.kin, self.p, self.point = kin, point.prime, point
        self.dq = [random.randrange(1, 1 << 30) for _ in kin.q]
        varied = dict(zip(kin.q, map(t.const, self.dq), strict=True))
        self._vary = Derivative(t, varied.get)
        space, N = kin.system.space, kin.system.N
        self.points = {P: self._both((P - kin.system.O).on(t).components(N)) for P in space.points}
        self.frames = {F: self._turned(F) for F in space.frames}

    def _both(self, c: Sequence[int]) -> tuple[Three, Three]:
        values = [self.point.plain(x) for x in (*c, *(self._vary(x) for x in c))]
        return (values[0], values[1], values[2]), (values[3], values[4], values[5])

    def _turned(self, F: Frame) -> Turned:
        t, N = self.kin.tape, self.kin.system.N
        (x, dx), (y, dy), (z, dz) = (self._both(axis.on(t).components(N)) for axis in (F.x, F.y, F.z))
        half = pow(2, -1, self.p)
        # δθ = ½ Σ a_i × δa_i
        a, b, c = (sum(parts) * half % self.p for parts in zip(cross(x, dx), cross(y, dy), cross(z, dz), strict=True))
        return Turned((x, y, z), (dx, dy, dz), (a, b, c))

    def of_row(self, A: Mapping[int, int]) -> int:
        """A δq"""
        return sum(self.point.plain(a) * self.dq[k] for k, a in A.items()) % self.p

    def value(self, d: Vector) -> Three:
        """A vector along N."""
        x, y, z = (self.point.plain(i) for i in d.on(self.kin.tape).components(self.kin.system.N))
        return x, y, z

    def vanishes(self, a: Three) -> bool:
        """Whether all components are zero."""
        return not any(x % self.p for x in a)

    def moved(self, body: Body, P: Point) -> Three:
        """δr_G + δθ × (r_P − r_G); a particle carries only what is where it is."""
        (r_P, _), (r_G, dr_G) = self.points[P], self.points[body.G]
        if body.frame is None:
            return dr_G if self.vanishes(minus(r_P, r_G)) else (1, 0, 0)
        turn = cross(self.frames[body.frame].rotation, minus(r_P, r_G))
        return dr_G[0] + turn[0], dr_G[1] + turn[1], dr_G[2] + turn[2]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a·b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Three, b: Three) -> Three:
    """a × b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def minus(a: Three, b: Three) -> Three:
    """a − b"""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]
