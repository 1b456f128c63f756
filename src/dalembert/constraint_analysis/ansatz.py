"""φ = Σ c_m f_m with rational c_m: functions that all fields of a reach leave constant, among products of what the rows contain.

The f_m are monomials in the coordinates, sines and cosines of what stands under sines and cosines in the rows, and products of
these with one constant of the system. X(φ) = 0 for every field X at many random points of one prime field is a linear system for
the c_m. What is found is only a proposal: whoever asked proves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Final

from dalembert.algebra.columns import total
from dalembert.algebra.exact.field import BadPoint, PrimePoint
from dalembert.algebra.exact.matrices import nullspace_mod, small_fraction
from dalembert.algebra.exact.quadratic import Element
from dalembert.algebra.folds import needed, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.constraint_analysis.integrability import Reach, along
from dalembert.constraint_analysis.rows import SystemRows

_MOST_FUNCTIONS: Final = 400
_MOST_CONSTANTS: Final = 6
_MORE_EQUATIONS: Final = 8
_MOST_BAD_POINTS: Final = 20


def proposals(rows: SystemRows, reached: Reach) -> list[int]:
    """Candidates for φ as nodes, the shortest first."""
    t = rows.tape
    functions, factors = _functions(rows, reached.width), _factors(rows)
    products = [(f, c) for c in factors for f in functions]
    if len(products) > _MOST_FUNCTIONS or not reached.fields:
        return []
    slopes = [[along(rows, X)(f) for f in functions] for X in reached.fields]
    found = []
    prime, vectors = _solutions(rows, slopes, factors, len(products))
    for x in sorted(vectors, key=lambda v: sum(map(bool, v))):
        coefficients = [small_fraction(c, prime) if c else Fraction(0) for c in x]
        if None in coefficients:
            continue
        terms = zip(coefficients, products, strict=True)
        found.append(total(t, ((k or 0) * (Scalar(t, c) * Scalar(t, f)) for k, (f, c) in terms)).i)
    return found


def _functions(rows: SystemRows, width: int) -> list[int]:
    """x, x y, sin α, cos α, x sin α, x cos α"""
    t = rows.tape
    x = [*rows.q, *([rows.system.t.i] if width > rows.n else [])]
    nodes = needed(t, [i for r in rows.linear for i in (r.b, *r.A.values())])
    angles = list(dict.fromkeys(t.nodes[i][1] for i in nodes if t.nodes[i][0] in ("sin", "cos")))
    waves = [t.call(f, a) for a in angles if set(x).intersection(symbols_of(t, (a,))) for f in ("sin", "cos")]
    squares = [t.mul(a, b) for a, b in combinations_with_replacement(x, 2)]
    return list(dict.fromkeys([*x, *waves, *squares, *(t.mul(a, w) for w in waves for a in x)]))


def _factors(rows: SystemRows) -> list[int]:
    """1, and the constants in the rows."""
    t = rows.tape
    inside = symbols_of(t, [i for r in rows.linear for i in (r.b, *r.A.values())])
    constants = [i for i in inside if i not in t.moving]
    return [t.one, *constants] if len(constants) <= _MOST_CONSTANTS else [t.one]


def _solutions(rows: SystemRows, slopes: list[list[int]], factors: list[int], unknowns: int) -> tuple[int, list[list[Element]]]:
    """All c with Σ c_m X(f_m) = 0 at enough random points of one prime field."""
    equations: list[list[int]] = []
    prime: int | None = None
    bad = 0
    for point in _points(rows):
        prime = prime or point.prime
        try:
            scale = [point.plain(c) for c in factors]
            equations += [[c * d % prime for c in scale for d in map(point.plain, row)] for row in slopes]
        except BadPoint:
            bad += 1
        if len(equations) >= unknowns + _MORE_EQUATIONS or bad > _MOST_BAD_POINTS:
            break
    if prime is None or bad > _MOST_BAD_POINTS:
        return 2, []
    return prime, nullspace_mod(equations, prime)


def _points(rows: SystemRows) -> Iterator[PrimePoint]:
    prime: int | None = None
    for seed in range(1, _MOST_FUNCTIONS + _MOST_BAD_POINTS + _MORE_EQUATIONS):
        try:
            point = PrimePoint(rows.tape, seed, prime)
        except BadPoint:
            continue
        prime = point.prime
        yield point
