"""dφ = Σ μ_i θ_i: functions of position that velocity rows keep constant, written out where they are elementary.

A one-form of the integrable part is tried as it is declared, solved for different coordinates, and without its
denominators; if it is closed it is integrated coordinate by coordinate. What is left is sought among sums of products of what the
rows contain: φ = Σ c_m f_m with rational c_m. Every φ is checked exactly: its differential lies in the span of the rows, and outside
the span of what is known already.

The f_m are monomials in the coordinates, sines and cosines of what stands under sines and cosines in the rows, and products of
these with one constant of the system. X(φ) = 0 for every field X at many random points of one prime field is a linear system for
the c_m. What is found is only a proposal, which is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, islice
from math import prod
from typing import Final

from dalembert.analysis.constraint_analysis.declared_rows import SystemRows
from dalembert.analysis.constraint_analysis.integrability import Reach, along, choose_positions
from dalembert.analysis.integrals.conservative_loads import line_integral
from dalembert.analysis.integrals.identity_test import sampled
from dalembert.errors import BadExpression
from dalembert.foundation.display import Shown
from dalembert.symbolic.algebra.exact.finite_field import Element
from dalembert.symbolic.algebra.exact.linear_algebra import nullspace_mod, small_fraction
from dalembert.symbolic.algebra.exact.zero_test import PrimePoint, StructurallySingular, Trials, rank_mod, shown_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, needed, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.quotient_ring import TooLong
from dalembert.symbolic.algebra.normal_form.rational_form import Form, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, solution, total

_WIDEST: Final = 40
_MOST_CHOICES: Final = 80
_LONGEST: Final = 400

# coefficients of dq_1, …, dq_n and, where time enters, dt
OneForm = tuple[int, ...]


@dataclass(frozen=True)
class HiddenPosition(Shown):
    """φ(q, t) = constant, and the velocity rows that say so together."""

    phi: Scalar
    rows: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.phi} = constant"


def hidden_positions(rows: SystemRows, reached: Reach) -> tuple[HiddenPosition, ...]:
    """As many functions as are found of those that the velocity rows keep constant."""
    known = [rows.one_form(k, reached.width) for k in choose_positions(rows)]
    wanted = reached.integrable - len(known)
    if not wanted or reached.width > _WIDEST:
        return ()
    found: list[HiddenPosition] = []
    calculus = _Calculus(rows, reached.width)
    for theta in _candidates(rows, reached):
        if not _independent(rows, [*known, theta]) or not reached.holds(rows, theta):
            continue
        phi = calculus.integral(theta)
        if phi is not None:
            known.append(theta)
            found.append(HiddenPosition(Scalar(rows.tape, phi), _sources(rows, theta)))
        if len(found) == wanted:
            return tuple(found)
    for phi in proposals(rows, reached):
        theta = calculus.differential(phi)
        if len(found) < wanted and _independent(rows, [*known, theta]) and reached.holds(rows, theta):
            known.append(theta)
            found.append(HiddenPosition(Scalar(rows.tape, phi), _sources(rows, theta)))
    return tuple(found)


# ---- one-forms that might be closed -------------------------------------------------------------


def _candidates(rows: SystemRows, reached: Reach) -> Iterator[OneForm]:
    """The velocity rows themselves, then the integrable part solved for different coordinates, with and without denominators."""
    for k, row in enumerate(rows.linear):
        if not row.holonomic:
            yield rows.one_form(k, reached.width)
    seen: set[OneForm] = set()
    for chosen in islice(combinations(range(reached.width), reached.integrable), _MOST_CHOICES):
        for theta in _annihilators(rows, reached, chosen):
            for candidate in (theta, _without_denominators(rows, theta)):
                if candidate is not None and candidate not in seen:
                    seen.add(candidate)
                    yield candidate


def _annihilators(rows: SystemRows, reached: Reach, chosen: Sequence[int]) -> list[OneForm]:
    """The one-forms dq_j − Σ c_k dq_k, j among the chosen and k not, that vanish on every field of the reach; none if there are none."""
    t = rows.tape
    forms = []
    for j in chosen:
        equations = ((X[j], {k: x for k, x in enumerate(X) if k not in chosen and x != t.zero}) for X in reached.fields)
        try:
            solved = solution(t, equations, lambda k: k)
        except (BadExpression, StructurallySingular):
            return []
        if len(solved) < len(reached.fields):
            return []
        theta = [solved.get(k, t.zero) for k in range(reached.width)]
        theta[j] = t.one
        forms.append(tuple(theta))
    return forms


def _without_denominators(rows: SystemRows, theta: OneForm) -> OneForm | None:
    """θ times the product of its different denominators, in normal form."""
    t = rows.tape
    try:
        forms = normal_form(t, theta, limit=_LONGEST)
    except TooLong:
        return None
    below = prod((to_scalar(Form(d), t) for d in dict.fromkeys(f.denominator for f in forms)), start=Scalar(t, t.one))
    if below == 1:
        return tuple(to_scalar(f, t).i for f in forms)
    try:
        return tuple(to_scalar(f, t).i for f in normal_form(t, [(below * Scalar(t, x)).i for x in theta], limit=_LONGEST))
    except TooLong:
        return None


# ---- decided exactly ----------------------------------------------------------------------------


def _independent(rows: SystemRows, forms: Sequence[OneForm]) -> bool:
    rank = Trials(rows.tape, 1).at(0, lambda point: rank_mod([point.values(f) for f in forms], point.prime).rank)
    return rank == len(forms)


def _sources(rows: SystemRows, theta: OneForm) -> tuple[str, ...]:
    """The rows of which θ is a combination."""
    forms = [rows.one_form(k, len(theta)) for k in range(len(rows.linear))]
    found = Trials(rows.tape, 1).at(0, lambda point: rank_mod([point.values(f) for f in (*forms, theta)], point.prime))
    return tuple(rows.linear[k].name for k in found.dependent.get(len(forms), ()))


class _Calculus:
    """dθ = 0 and φ = ∫ θ on the tape of the rows."""

    def __init__(self, rows: SystemRows, width: int) -> None:
        self.rows, self.tape = rows, rows.tape
        t = self.tape
        units = [tuple(t.one if j == k else t.zero for j in range(width)) for k in range(width)]
        self.slopes: list[Derivative] = [along(rows, X) for X in units]
        self.variables = [*rows.q, *([rows.system.t.i] if width > rows.n else [])]

    def differential(self, phi: int) -> OneForm:
        """dφ"""
        return tuple(slope(phi) for slope in self.slopes)

    def integral(self, theta: OneForm) -> int | None:
        """φ with dφ = θ, or None if θ is not closed or not elementary."""
        t, width = self.tape, len(theta)
        pairs = [(j, k) for k in range(width) for j in range(k)]
        if not all(shown_zero(t, [t.sub(self.slopes[j](theta[k]), self.slopes[k](theta[j])) for j, k in pairs])):
            return None
        phi = line_integral(t, theta, self.variables, lambda phi, k: self.slopes[k](phi))
        if phi is None:
            return None
        differences = Column(t, self.differential(phi)) - Column(t, theta)
        return phi if all(shown_zero(t, differences.nodes)) else None


_MOST_FUNCTIONS: Final = 400
_MOST_CONSTANTS: Final = 6
_MORE_EQUATIONS: Final = 8
_MOST_POINTS: Final = 428


def proposals(rows: SystemRows, reached: Reach) -> list[int]:
    """Candidates for φ as nodes, the shortest first."""
    t = rows.tape
    functions, factors = _functions(rows, reached.width), _factors(rows)
    products = [(f, c) for c in factors for f in functions]
    if len(products) > _MOST_FUNCTIONS or not reached.fields:
        return []
    slopes = [[along(rows, X)(f) for f in functions] for X in reached.fields]

    def equations(point: PrimePoint) -> list[list[Element]]:
        """Σ c_m X(f_m) = 0 at one point."""
        scale = [point.plain(c) for c in factors]
        return [[c * d % point.prime for c in scale for d in map(point.plain, row)] for row in slopes]

    prime, held = sampled(t, range(1, _MOST_POINTS), equations, len(products) + _MORE_EQUATIONS)
    found = []
    for x in sorted(nullspace_mod(held, prime) if held else [], key=lambda v: sum(map(bool, v))):
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
