"""v_parent = R v_child: how a frame is turned against its parent, and [ω]ₓ = Ṙ Rᵀ.

First a + b, a·b, a × b, X a, X + Y: three components along the axes of one frame, and matrices of three rows, as nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import contracted
from dalembert.symbolic.algebra.tape import Tape, Triple

Matrix3 = tuple[Triple, Triple, Triple]


def plus(t: Tape, a: Triple, b: Triple) -> Triple:
    """a + b"""
    return t.add(a[0], b[0]), t.add(a[1], b[1]), t.add(a[2], b[2])


def negative(t: Tape, a: Triple) -> Triple:
    """−a"""
    return t.neg(a[0]), t.neg(a[1]), t.neg(a[2])


def scaled(t: Tape, k: int, a: Triple) -> Triple:
    """k a"""
    mul = t.mul
    return mul(k, a[0]), mul(k, a[1]), mul(k, a[2])


def dot3(t: Tape, a: Triple, b: Triple) -> int:
    """a · b"""
    return t.add(t.add(t.mul(a[0], b[0]), t.mul(a[1], b[1])), t.mul(a[2], b[2]))


def power(t: Tape, w: Triple, v: Triple, n: Triple, f: Triple) -> int:
    """ω·n + v·f: a moment and a force on a turn and a shift"""
    return t.add(dot3(t, w, n), dot3(t, v, f))


def cross3(t: Tape, a: Triple, b: Triple) -> Triple:
    """a × b"""
    mul, sub = t.mul, t.sub
    return (
        sub(mul(a[1], b[2]), mul(a[2], b[1])),
        sub(mul(a[2], b[0]), mul(a[0], b[2])),
        sub(mul(a[0], b[1]), mul(a[1], b[0])),
    )


def times(t: Tape, X: Matrix3, a: Triple) -> Triple:
    """X a"""
    return dot3(t, X[0], a), dot3(t, X[1], a), dot3(t, X[2], a)


def matrix_sum(t: Tape, X: Matrix3, Y: Matrix3) -> Matrix3:
    """X + Y"""
    return plus(t, X[0], Y[0]), plus(t, X[1], Y[1]), plus(t, X[2], Y[2])


def identity(t: Tape) -> Matrix3:
    """1"""
    return (t.one, t.zero, t.zero), (t.zero, t.one, t.zero), (t.zero, t.zero, t.one)


def transposed(X: Matrix3) -> Matrix3:
    """Xᵀ"""
    return (X[0][0], X[1][0], X[2][0]), (X[0][1], X[1][1], X[2][1]), (X[0][2], X[1][2], X[2][2])


def matrix_product(t: Tape, X: Matrix3, Y: Matrix3) -> Matrix3:
    """X Y"""
    columns = transposed(Y)
    return times(t, columns, X[0]), times(t, columns, X[1]), times(t, columns, X[2])


def outer(t: Tape, a: Triple, b: Triple) -> Matrix3:
    """a bᵀ"""
    return scaled(t, a[0], b), scaled(t, a[1], b), scaled(t, a[2], b)


def cross_matrix(t: Tape, r: Triple) -> Matrix3:
    """[r]ₓ"""
    x, y, z = r
    return (t.zero, t.neg(z), y), (z, t.zero, t.neg(x)), (t.neg(y), x, t.zero)


def steiner(t: Tape, m_r: Triple, r: Triple) -> Matrix3:
    """m (r·r 1 − r r)"""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = outer(t, m_r, r)
    xy, xz, yz = negative(t, (xy, xz, yz))
    return (t.add(yy, zz), xy, xz), (xy, t.add(xx, zz), yz), (xz, yz, t.add(xx, yy))


def departures(t: Tape, R: Matrix3) -> list[int]:
    """R Rᵀ − 1, its upper half: zero where the rows are orthogonal unit vectors"""
    return [t.sub(dot3(t, R[i], R[j]), t.one if i == j else t.zero) for i in range(3) for j in range(i, 3)]


def opposite(t: Tape, X: Matrix3) -> Matrix3:
    """−X"""
    return negative(t, X[0]), negative(t, X[1]), negative(t, X[2])


def symmetric(X: Matrix3) -> Matrix3:
    """A matrix known to be symmetric, by its upper half: the lower half is never computed."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = X
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


Rate = Callable[[int], int]


class Rotation(Protocol):
    """A frame's attitude in its parent."""

    def turn(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        """Components in the child from those in the parent; `back` the other way round."""
        ...

    def spin(self, t: Tape, rate: Rate) -> Triple:
        """The child's angular velocity relative to the parent: along the child's axes if `spin_in_child`, else the parent's."""
        ...

    @property
    def spin_in_child(self) -> bool:
        """Whether the spin's components are along the child's axes (else along the parent's)."""
        ...

    def variables(self) -> tuple[int, ...]:
        """The nodes the attitude depends on."""
        ...


@dataclass(frozen=True)
class AboutBasis:
    """A turn through an angle about one of the parent's own axes (sign −1: about the opposite direction)."""

    angle: int
    axis: int
    sign: int
    spin_in_child = False

    def turn(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        j, k = (self.axis + 1) % 3, (self.axis + 2) % 3
        c, s = t.call("cos", self.angle), t.call("sin", self.angle)
        if back != (self.sign < 0):
            s = t.neg(s)
        w = list(v)
        w[j] = t.add(t.mul(c, v[j]), t.mul(s, v[k]))
        w[k] = t.sub(t.mul(c, v[k]), t.mul(s, v[j]))
        return w[0], w[1], w[2]

    def spin(self, t: Tape, rate: Rate) -> Triple:
        w = [t.zero] * 3
        w[self.axis] = rate(self.angle) if self.sign > 0 else t.neg(rate(self.angle))
        return w[0], w[1], w[2]

    def variables(self) -> tuple[int, ...]:
        return (self.angle,)


@dataclass(frozen=True)
class AboutAxis:
    """R v = cos θ v + sin θ n×v + (1 − cos θ)(n·v) n for a constant unit vector n (Rodrigues)."""

    angle: int
    axis: Triple
    spin_in_child = False

    def turn(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        n = self.axis
        c, s = t.call("cos", self.angle), t.call("sin", self.angle)
        along = t.mul(t.sub(t.one, c), dot3(t, n, v))
        across = cross3(t, n, v) if back else cross3(t, v, n)
        return plus(t, plus(t, scaled(t, c, v), scaled(t, s, across)), scaled(t, along, n))

    def spin(self, t: Tape, rate: Rate) -> Triple:
        return scaled(t, rate(self.angle), self.axis)

    def variables(self) -> tuple[int, ...]:
        return (self.angle, *self.axis)


@dataclass(frozen=True)
class DirectionCosines:
    """R given by its nine direction cosines; ω from Ṙ Rᵀ."""

    R: Matrix3
    spin_in_child = False

    def turn(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        return times(t, self.R if back else transposed(self.R), v)

    def spin(self, t: Tape, rate: Rate) -> Triple:
        R = self.R
        Rd = [tuple(rate(x) for x in row) for row in R]
        return dot3(t, Rd[2], R[1]), dot3(t, Rd[0], R[2]), dot3(t, Rd[1], R[0])  # type: ignore[arg-type]

    def variables(self) -> tuple[int, ...]:
        return tuple(x for row in self.R for x in row)


@dataclass(frozen=True)
class Quaternion:
    """R = R_h(e)/(e·e), ω = 2 E(e) ė/(e·e): four coordinates e, valid for every e ≠ 0.

    The normalised rotation makes every identity hold off the unit sphere too; e·ė = 0 keeps the norm.
    """

    e: tuple[int, int, int, int]
    spin_in_child = True

    def square(self, t: Tape) -> int:
        """e·e"""
        a, b, c, d = (Scalar(t, x) for x in self.e)
        return ((a * a + b * b) + (c * c + d * d)).i

    def turn(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        # R v = v + 2 (e₀ a×v + a×(a×v))/(e·e) with a = (e₁, e₂, e₃)
        e0, a = self.e[0], self.e[1:]
        once = cross3(t, a, v)
        both = plus(t, scaled(t, e0 if back else t.neg(e0), once), cross3(t, a, once))
        return plus(t, v, scaled(t, t.div(t.const(2), self.square(t)), both))

    def rows(self, t: Tape) -> tuple[tuple[int, int, int, int], ...]:
        """E(e): the child's components of its spin are 2 E ė/(e·e)."""
        e0, e1, e2, e3 = self.e
        n = t.neg
        return (n(e1), e0, e3, n(e2)), (n(e2), n(e3), e0, e1), (n(e3), e2, n(e1), e0)

    def spin(self, t: Tape, rate: Rate) -> Triple:
        ed = [rate(x) for x in self.e]
        x, y, z = (contracted(t, zip(row, ed, strict=True)) for row in self.rows(t))
        return scaled(t, t.div(t.const(2), self.square(t)), (x, y, z))

    def rates_from_spin(self, t: Tape, w: Triple) -> tuple[int, ...]:
        """ė = ½ Eᵀ ω, the inverse of ω = 2 E ė/(e·e) on e·ė = 0."""
        half = t.const(Fraction(1, 2))
        return tuple(t.mul(half, dot3(t, column, w)) for column in zip(*self.rows(t), strict=True))

    def load_of_spin(self, t: Tape, Q: Sequence[int]) -> Triple:
        """½ E Q_e: since ė = ½ Eᵀ ω, what loads along e do along the spin."""
        x, y, z = (contracted(t, zip(row, Q, strict=True)) for row in self.rows(t))
        return scaled(t, t.const(Fraction(1, 2)), (x, y, z))

    def variables(self) -> tuple[int, ...]:
        return self.e
