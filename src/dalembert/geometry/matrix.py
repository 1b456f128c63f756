"""3 × 3 matrices of expressions, written out entry by entry on a tape."""

from __future__ import annotations

from dalembert.algebra.tape import Tape, Triple
from dalembert.geometry.frame import Frame
from dalembert.geometry.vector import dot3, plus

Matrix = tuple[Triple, Triple, Triple]


def times(t: Tape, X: Matrix, a: Triple) -> Triple:
    """X a"""
    return dot3(t, X[0], a), dot3(t, X[1], a), dot3(t, X[2], a)


def summed(t: Tape, X: Matrix, Y: Matrix) -> Matrix:
    """X + Y"""
    return plus(t, X[0], Y[0]), plus(t, X[1], Y[1]), plus(t, X[2], Y[2])


def cross_matrix(t: Tape, r: Triple) -> Matrix:
    """[r]ₓ"""
    x, y, z = r
    return (t.zero, t.neg(z), y), (z, t.zero, t.neg(x)), (t.neg(y), x, t.zero)


def steiner(t: Tape, m_r: Triple, r: Triple) -> Matrix:
    """m (r·r 1 − r r)"""
    xx, yy, zz = t.mul(m_r[0], r[0]), t.mul(m_r[1], r[1]), t.mul(m_r[2], r[2])
    xy, yz, xz = t.neg(t.mul(m_r[0], r[1])), t.neg(t.mul(m_r[1], r[2])), t.neg(t.mul(m_r[0], r[2]))
    return (t.add(yy, zz), xy, xz), (xy, t.add(xx, zz), yz), (xz, yz, t.add(xx, yy))


def transposed(X: Matrix) -> Matrix:
    """Xᵀ"""
    return (X[0][0], X[1][0], X[2][0]), (X[0][1], X[1][1], X[2][1]), (X[0][2], X[1][2], X[2][2])


def outer3(t: Tape, a: Triple, b: Triple) -> Matrix:
    """a bᵀ"""
    return tuple((t.mul(x, b[0]), t.mul(x, b[1]), t.mul(x, b[2])) for x in a)  # type: ignore[return-value]


def product(t: Tape, X: Matrix, Y: Matrix) -> Matrix:
    """X Y"""
    columns = transposed(Y)
    return tuple((dot3(t, x, columns[0]), dot3(t, x, columns[1]), dot3(t, x, columns[2])) for x in X)  # type: ignore[return-value]


def turned(t: Tape, F: Frame, X: Matrix) -> Matrix:
    """R X Rᵀ from the axes of F to those of its parent."""
    half = tuple(F.turn(t, c, back=True) for c in transposed(X))
    return tuple(F.turn(t, c, back=True) for c in transposed(half))  # type: ignore[arg-type, return-value]


def negative(t: Tape, X: Matrix) -> Matrix:
    """−X"""
    return tuple((t.neg(a), t.neg(b), t.neg(c)) for a, b, c in X)  # type: ignore[return-value]


def symmetric(X: Matrix) -> Matrix:
    """A matrix known to be symmetric, by its upper half: the lower half is never computed."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = X
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
