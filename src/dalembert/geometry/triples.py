"""a + b, a·b, a × b, X a, X + Y: three components along the axes of one frame, and matrices of three rows, as nodes."""

from __future__ import annotations

from dalembert.algebra.tape import Tape, Triple

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
