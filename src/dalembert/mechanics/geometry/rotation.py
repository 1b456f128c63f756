"""v_parent = R v_child: how a frame is turned against its parent, and [ω]ₓ = Ṙ Rᵀ.
Keywords: direction cosine.

First a + b, a·b, a × b, X a, X + Y: three components along the axes of one frame, and matrices of
three rows, as nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape, Triple

Matrix3 = tuple[Triple, Triple, Triple]


def add3(t: Tape, a: Triple, b: Triple) -> Triple:
    """a + b"""
    return t.add(a[0], b[0]), t.add(a[1], b[1]), t.add(a[2], b[2])


def negate3(t: Tape, a: Triple) -> Triple:
    """−a"""
    return t.neg(a[0]), t.neg(a[1]), t.neg(a[2])


def scale3(t: Tape, k: int, a: Triple) -> Triple:
    """k a"""
    mul = t.mul
    return mul(k, a[0]), mul(k, a[1]), mul(k, a[2])


def dot3(t: Tape, a: Triple, b: Triple) -> int:
    """a · b"""
    return t.add(t.add(t.mul(a[0], b[0]), t.mul(a[1], b[1])), t.mul(a[2], b[2]))


def wrench_power(t: Tape, w: Triple, v: Triple, n: Triple, f: Triple) -> int:
    """ω·n + v·f: a moment and a force on a turn and a shift"""
    if not any(w):
        # node 0 is zero
        return dot3(t, v, f)
    return t.add(dot3(t, w, n), dot3(t, v, f))


def cross3(t: Tape, a: Triple, b: Triple) -> Triple:
    """a × b"""
    mul, sub = t.mul, t.sub
    return (
        sub(mul(a[1], b[2]), mul(a[2], b[1])),
        sub(mul(a[2], b[0]), mul(a[0], b[2])),
        sub(mul(a[0], b[1]), mul(a[1], b[0])),
    )


def matrix_vector(t: Tape, X: Matrix3, a: Triple) -> Triple:
    """X a"""
    return dot3(t, X[0], a), dot3(t, X[1], a), dot3(t, X[2], a)


def matrix_sum(t: Tape, X: Matrix3, Y: Matrix3) -> Matrix3:
    """X + Y"""
    return add3(t, X[0], Y[0]), add3(t, X[1], Y[1]), add3(t, X[2], Y[2])


def identity(t: Tape) -> Matrix3:
    """1"""
    return (t.one, t.zero, t.zero), (t.zero, t.one, t.zero), (t.zero, t.zero, t.one)


def transpose(X: Matrix3) -> Matrix3:
    """Xᵀ"""
    return (X[0][0], X[1][0], X[2][0]), (X[0][1], X[1][1], X[2][1]), (X[0][2], X[1][2], X[2][2])


def matrix_product(t: Tape, X: Matrix3, Y: Matrix3) -> Matrix3:
    """X Y"""
    columns = transpose(Y)
    return (
        matrix_vector(t, columns, X[0]),
        matrix_vector(t, columns, X[1]),
        matrix_vector(t, columns, X[2]),
    )


def outer(t: Tape, a: Triple, b: Triple) -> Matrix3:
    """a bᵀ"""
    return scale3(t, a[0], b), scale3(t, a[1], b), scale3(t, a[2], b)


def cross_matrix(t: Tape, r: Triple) -> Matrix3:
    """[r]ₓ"""
    x, y, z = r
    return (t.zero, t.neg(z), y), (z, t.zero, t.neg(x)), (t.neg(y), x, t.zero)


def parallel_axis_term(t: Tape, m_r: Triple, r: Triple) -> Matrix3:
    """m (r·r 1 − r r)"""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = outer(t, m_r, r)
    xy, xz, yz = negate3(t, (xy, xz, yz))
    return (t.add(yy, zz), xy, xz), (xy, t.add(xx, zz), yz), (xz, yz, t.add(xx, yy))


def orthogonality_residuals(t: Tape, R: Matrix3) -> list[int]:
    """R Rᵀ − 1, its upper half: zero where the rows are orthogonal unit vectors"""
    return [
        t.sub(dot3(t, R[i], R[j]), t.one if i == j else t.zero)
        for i in range(3)
        for j in range(i, 3)
    ]


def negate_matrix(t: Tape, X: Matrix3) -> Matrix3:
    """−X"""
    return negate3(t, X[0]), negate3(t, X[1]), negate3(t, X[2])


def symmetrize(X: Matrix3) -> Matrix3:
    """A matrix known to be symmetric, by its upper half: the lower half is never computed."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = X
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


Rate = Callable[[int], int]


class Rotation(Protocol):
    """A frame's attitude in its parent."""

    def transform(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        """Components in the child from those in the parent; `back` the other way round."""
        ...

    def angular_velocity(self, t: Tape, rate: Rate) -> Triple:
        """The child's angular velocity relative to the parent: along the child's axes if
        `velocity_in_child`, else the parent's.
        """
        ...

    @property
    def velocity_in_child(self) -> bool:
        """Whether the spin's components are along the child's axes (else along the parent's)."""
        ...

    def variables(self) -> tuple[int, ...]:
        """The nodes the attitude depends on."""
        ...


@dataclass(frozen=True)
class BasisRotation:
    """A turn through an angle about one of the parent's own axes (sign −1: about the opposite
    direction).
    """

    angle: int
    axis: int
    sign: int
    velocity_in_child = False

    def transform(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        j, k = (self.axis + 1) % 3, (self.axis + 2) % 3
        c, s = t.call("cos", self.angle), t.call("sin", self.angle)
        if back != (self.sign < 0):
            s = t.neg(s)
        w = list(v)
        w[j] = t.add(t.mul(c, v[j]), t.mul(s, v[k]))
        w[k] = t.sub(t.mul(c, v[k]), t.mul(s, v[j]))
        return w[0], w[1], w[2]

    def angular_velocity(self, t: Tape, rate: Rate) -> Triple:
        w = [t.zero] * 3
        w[self.axis] = rate(self.angle) if self.sign > 0 else t.neg(rate(self.angle))
        return w[0], w[1], w[2]

    def variables(self) -> tuple[int, ...]:
        return (self.angle,)


@dataclass(frozen=True)
class AxisRotation:
    """R v = cos θ v + sin θ n×v + (1 − cos θ)(n·v) n for a constant unit vector n (Rodrigues)."""

    angle: int
    axis: Triple
    velocity_in_child = False

    def transform(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        n = self.axis
        c, s = t.call("cos", self.angle), t.call("sin", self.angle)
        along = t.mul(t.sub(t.one, c), dot3(t, n, v))
        across = cross3(t, n, v) if back else cross3(t, v, n)
        return add3(t, add3(t, scale3(t, c, v), scale3(t, s, across)), scale3(t, along, n))

    def angular_velocity(self, t: Tape, rate: Rate) -> Triple:
        return scale3(t, rate(self.angle), self.axis)

    def variables(self) -> tuple[int, ...]:
        return (self.angle, *self.axis)


@dataclass(frozen=True)
class DirectionCosines:
    """R given by its nine direction cosines; ω from Ṙ Rᵀ."""

    R: Matrix3
    velocity_in_child = False

    def transform(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        return matrix_vector(t, self.R if back else transpose(self.R), v)

    def angular_velocity(self, t: Tape, rate: Rate) -> Triple:
        R = self.R
        Rd = [tuple(rate(x) for x in row) for row in R]
        pairs = ((Rd[2], R[1]), (Rd[0], R[2]), (Rd[1], R[0]))
        return tuple(dot3(t, a, b) for a, b in pairs)  # type: ignore[arg-type, return-value]

    def variables(self) -> tuple[int, ...]:
        return tuple(x for row in self.R for x in row)


@dataclass(frozen=True)
class Quaternion:
    """R = R_h(e)/(e·e), ω = 2 E(e) ė/(e·e): four coordinates e, valid for every e ≠ 0.

    The normalised rotation makes every identity hold off the unit sphere too; e·ė = 0 keeps the
    norm.
    """

    e: tuple[int, int, int, int]
    velocity_in_child = True

    def squared_norm(self, t: Tape) -> int:
        """e·e"""
        a, b, c, d = (Scalar(t, x) for x in self.e)
        return ((a * a + b * b) + (c * c + d * d)).i

    def transform(self, t: Tape, v: Triple, *, back: bool) -> Triple:
        # R v = v + 2 (e₀ a×v + a×(a×v))/(e·e) with a = (e₁, e₂, e₃)
        e0, a = self.e[0], self.e[1:]
        once = cross3(t, a, v)
        both = add3(t, scale3(t, e0 if back else t.neg(e0), once), cross3(t, a, once))
        return add3(t, v, scale3(t, t.div(t.const(2), self.squared_norm(t)), both))

    def rows(self, t: Tape) -> tuple[tuple[int, int, int, int], ...]:
        """E(e): the child's components of its spin are 2 E ė/(e·e)."""
        e0, e1, e2, e3 = self.e
        n = t.neg
        return (n(e1), e0, e3, n(e2)), (n(e2), n(e3), e0, e1), (n(e3), e2, n(e1), e0)

    def angular_velocity(self, t: Tape, rate: Rate) -> Triple:
        ed = [rate(x) for x in self.e]
        x, y, z = (sum_of_products(t, zip(row, ed, strict=True)) for row in self.rows(t))
        return scale3(t, t.div(t.const(2), self.squared_norm(t)), (x, y, z))

    def rates_from_velocity(self, t: Tape, w: Triple) -> tuple[int, ...]:
        """ė = ½ Eᵀ ω, the inverse of ω = 2 E ė/(e·e) on e·ė = 0."""
        half = t.const(Fraction(1, 2))
        return tuple(t.mul(half, dot3(t, column, w)) for column in zip(*self.rows(t), strict=True))

    def torque_from_load(self, t: Tape, Q: Sequence[int]) -> Triple:
        """½ E Q_e: since ė = ½ Eᵀ ω, what loads along e do along the spin."""
        x, y, z = (sum_of_products(t, zip(row, Q, strict=True)) for row in self.rows(t))
        return scale3(t, t.const(Fraction(1, 2)), (x, y, z))

    def variables(self) -> tuple[int, ...]:
        return self.e
