"""A x = b, rank and null space over F_p or F_{p²}, and the small fraction that a number of F_p
stands for.

At a point M x = f is solved for unknowns that enter linearly, from residuals r(x) = M x − f without
a symbolic inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from dalembert.symbolic.algebra.exact.finite_field import (
    BadPoint,
    Element,
    mul,
    neg,
    reciprocal,
    sub,
)
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.expression_graph import nodes_depending_on

Row = Sequence[Element]

# above this many entries the conversion to flint's matrices pays
_LARGE: Final = 1500


def rref_mod(rows: Sequence[Row], p: int) -> tuple[list[list[Element]], list[int]]:
    """The reduced row echelon form without its zero rows, and the columns of its pivots."""
    if not rows or not rows[0]:
        return [], []
    if any(x.__class__ is tuple for row in rows for x in row):
        return _gauss_jordan(
            [list(row) for row in rows],
            p,
            lambda row, d: [mul(x, d, p) for x in row],
            lambda row, f, top: [sub(x, mul(f, y, p), p) for x, y in zip(row, top, strict=True)],
        )
    # no pairs, as was seen
    plain: list[list[Any]] = [[x % p for x in row] for row in rows]  # type: ignore[operator]
    if len(plain) * len(plain[0]) > _LARGE:
        return _rref_mod_flint(plain, p)
    return _gauss_jordan(
        plain,
        p,
        lambda row, d: [x * d % p for x in row],
        lambda row, f, top: [(x - f * y) % p for x, y in zip(row, top, strict=True)],
    )


def _gauss_jordan(
    m: list[list[Any]],
    p: int,
    scale_row: Callable[[list[Any], Any], list[Any]],
    subtract_multiple: Callable[[list[Any], Any, list[Any]], list[Any]],
) -> tuple[list[list[Element]], list[int]]:
    """Gauss–Jordan elimination; `times` is row·d, `less` is row − f·top, in whichever field they
    lie.
    """
    pivots: list[int] = []
    for j in range(len(m[0])):
        r = len(pivots)
        k = next((k for k in range(r, len(m)) if m[k][j]), None)
        if k is None:
            continue
        m[r], m[k] = m[k], m[r]
        top = m[r] = scale_row(m[r], reciprocal(m[r][j], p))
        for i, row in enumerate(m):
            if row[j] and i != r:
                m[i] = subtract_multiple(row, row[j], top)
        pivots.append(j)
        if len(pivots) == len(m):
            break
    return m[: len(pivots)], pivots


def _rref_mod_flint(rows: Sequence[Sequence[int]], p: int) -> tuple[list[list[Element]], list[int]]:
    from flint import fmpz_mod_ctx, fmpz_mod_mat

    width = len(rows[0])
    matrix, rank = fmpz_mod_mat(
        len(rows), width, [x for row in rows for x in row], fmpz_mod_ctx(p)
    ).rref()
    flat: list[Element] = [int(x) for x in matrix.entries()]
    m = [flat[i * width : (i + 1) * width] for i in range(rank)]
    return m, [next(j for j, x in enumerate(row) if x) for row in m]


def determinant_mod(rows: Sequence[Sequence[int]], p: int) -> int:
    """det A modulo p."""
    from flint import fmpz_mod_ctx, fmpz_mod_mat

    entries = [x for row in rows for x in row]
    return int(fmpz_mod_mat(len(rows), len(rows), entries, fmpz_mod_ctx(p)).det())


def solve_mod(A: Sequence[Row], b: Row, p: int) -> list[Element]:
    """A x = b for a square A; BadPoint where det A = 0."""
    if len(A) != len(b) or any(len(row) != len(A) for row in A):
        msg = (
            f"{len(A)} rows of {sorted({len(row) for row in A})} entries and {len(b)} "
            f"right-hand sides; expected a square matrix"
        )
        raise ValueError(msg)
    m, pivots = rref_mod([[*row, c] for row, c in zip(A, b, strict=True)], p)
    if pivots != list(range(len(A))):
        msg = "a singular matrix"
        raise BadPoint(msg)
    return [row[-1] for row in m]


class Rank(NamedTuple):
    """The rank of a set of rows, the first rows that reach it, and for each other row those it
    depends on.
    """

    rank: int
    independent: list[int]
    dependent: dict[int, list[int]]


def rank_mod(rows: Sequence[Row], p: int) -> Rank:
    """Which rows are independent, and which earlier rows each of the others is a combination of."""
    # the echelon form of the transpose writes every column (a row of ours) by the pivot columns
    # before it
    m, independent = rref_mod(list(zip(*rows, strict=True)), p)
    pivots = set(independent)
    dependent = {
        j: [i for i, row in zip(independent, m, strict=True) if row[j]]
        for j in range(len(rows))
        if j not in pivots
    }
    return Rank(len(independent), independent, dependent)


def nullspace_mod(rows: Sequence[Row], p: int) -> list[list[Element]]:
    """A basis of {x : rows · x = 0}."""
    m, pivots = rref_mod(rows, p)
    width = len(rows[0]) if rows else 0
    basis = []
    for j in range(width):
        if j not in pivots:
            x: list[Element] = [0] * width
            x[j] = 1
            for i, row in zip(pivots, m, strict=True):
                x[i] = neg(row[j], p)
            basis.append(x)
    return basis


def rational_reconstruction(x: Element, p: int, largest: int = 1000) -> Fraction | None:
    """n/d ≡ x mod p with n and d at most `largest`, if there is one: Euclid's algorithm, stopped
    half way.
    """
    if isinstance(x, tuple):
        return None
    r, s = (p, x % p), (0, 1)
    while r[1] > largest:
        q = r[0] // r[1]
        r, s = (r[1], r[0] - q * r[1]), (s[1], s[0] - q * s[1])
    return Fraction(r[1], s[1]) if 0 < abs(s[1]) <= largest else None


def solve_unknowns(
    point: SamplePoint, residuals: Sequence[int], unknowns: Sequence[int]
) -> list[Element]:
    """x with r(x) = 0, from r(0) and r at the unit vectors."""
    p = point.prime
    rows, minus_f = _coefficients(point, residuals, unknowns)
    return solve_mod(rows, [neg(c, p) for c in minus_f], p)


def rank_in_unknowns(point: SamplePoint, residuals: Sequence[int], unknowns: Sequence[int]) -> int:
    """rank ∂r/∂x of residuals that are linear in the unknowns."""
    return rank_mod(_coefficients(point, residuals, unknowns)[0], point.prime).rank


def _coefficients(
    point: SamplePoint, residuals: Sequence[int], unknowns: Sequence[int]
) -> tuple[list[list[Element]], list[Element]]:
    """∂r/∂x by rows, and r(0)."""
    p = point.prime
    dependent = nodes_depending_on(point.tape, residuals, unknowns)
    at_rest = point.on(point.tape, dict.fromkeys(unknowns, 0))
    at_zero = at_rest.values(residuals)
    columns = []
    for x in unknowns:
        there = at_rest.with_values({x: 1}, dependent).values(residuals)
        columns.append([sub(y, c, p) for y, c in zip(there, at_zero, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)], at_zero
