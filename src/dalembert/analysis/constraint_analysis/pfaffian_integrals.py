"""dφ = Σ μ_i θ_i: functions of position that velocity rows keep constant, written out where they
are elementary.

A one-form of the integrable part is tried as it is declared, solved for different coordinates, and
without its denominators; if it is closed it is integrated coordinate by coordinate. Other integrals
are sought among sums of products of what the rows contain: φ = Σ c_m f_m with rational c_m. Every φ
is checked exactly: its differential lies in the span of the rows, and outside the span of what is
known already.

The f_m are monomials in the coordinates, sines and cosines that occur in the rows, and products of
these with one constant of the system. X(φ) = 0 for every field X at many random points of one prime
field is a linear system for the c_m. What is found is only a proposal, which is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, islice
from math import prod
from typing import Final

from dalembert.analysis.constraint_analysis.declared_rows import DeclaredRows
from dalembert.analysis.constraint_analysis.integrability import (
    InvolutiveClosure,
    independent_position_rows,
    lie_derivative,
)
from dalembert.analysis.integrals.conservative_loads import line_integral
from dalembert.analysis.integrals.identity_test import sampled
from dalembert.errors import BadExpression
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.symbolic.algebra.elimination import solve_rows
from dalembert.symbolic.algebra.exact.finite_field import Element
from dalembert.symbolic.algebra.exact.linear_algebra import nullspace_mod, rational_reconstruction
from dalembert.symbolic.algebra.exact.zero_test import (
    RandomPoints,
    SamplePoint,
    StructurallySingular,
    provably_zero,
    rank_mod,
)
from dalembert.symbolic.algebra.expression_graph import Derivative, dependencies, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.quotient_ring import TooLong
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, sum_scalars

_MAX_DIMENSION: Final = 40
_MAX_CHOICES: Final = 80
_LONGEST: Final = 400

# coefficients of dq_1, …, dq_n and, where time enters, dt
OneForm = tuple[int, ...]


@dataclass(frozen=True)
class HiddenPosition(Displayable):
    """φ(q, t) = constant, and the velocity constraints that together imply it."""

    phi: Scalar
    rows: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.phi} = constant"


def integrate_velocity_rows(
    rows: DeclaredRows, reached: InvolutiveClosure
) -> tuple[HiddenPosition, ...]:
    """As many functions as are found of those that the velocity rows keep constant."""
    known = [rows.one_form(k, reached.dimension) for k in independent_position_rows(rows)]
    missing_count = reached.n_integrals - len(known)
    if not missing_count or reached.dimension > _MAX_DIMENSION:
        return ()
    integrals: list[HiddenPosition] = []
    calculus = _ExteriorCalculus(rows, reached.dimension)
    for theta in _candidate_one_forms(rows, reached):
        if not _are_independent(rows, [*known, theta]) or not reached.is_annihilator(rows, theta):
            continue
        phi = calculus.integrate(theta)
        if phi is not None:
            known.append(theta)
            integrals.append(HiddenPosition(Scalar(rows.tape, phi), _source_rows(rows, theta)))
        if len(integrals) == missing_count:
            return tuple(integrals)
    for phi in candidate_integrals(rows, reached):
        theta = calculus.differential(phi)
        if (
            len(integrals) < missing_count
            and _are_independent(rows, [*known, theta])
            and reached.is_annihilator(rows, theta)
        ):
            known.append(theta)
            integrals.append(HiddenPosition(Scalar(rows.tape, phi), _source_rows(rows, theta)))
    return tuple(integrals)


# ---- one-forms that might be closed -------------------------------------------------------------


def _candidate_one_forms(rows: DeclaredRows, reached: InvolutiveClosure) -> Iterator[OneForm]:
    """The velocity rows themselves, then the integrable part solved for different coordinates,
    with and without denominators.
    """
    for k, row in enumerate(rows.linear):
        if not row.holonomic:
            yield rows.one_form(k, reached.dimension)
    seen: set[OneForm] = set()
    for chosen in islice(combinations(range(reached.dimension), reached.n_integrals), _MAX_CHOICES):
        for theta in _annihilators(rows, reached, chosen):
            for candidate in (theta, _without_denominators(rows, theta)):
                if candidate is not None and candidate not in seen:
                    seen.add(candidate)
                    yield candidate


def _annihilators(
    rows: DeclaredRows, reached: InvolutiveClosure, chosen: Sequence[int]
) -> list[OneForm]:
    """The one-forms dq_j − Σ c_k dq_k, j among the chosen and k not, that vanish on every field
    of the reach; none if there are none.
    """
    t = rows.tape
    forms = []
    for j in chosen:
        equations = (
            (X[j], {k: x for k, x in enumerate(X) if k not in chosen and x != t.zero})
            for X in reached.fields
        )
        try:
            solved = solve_rows(t, equations, lambda k: k)
        except (BadExpression, StructurallySingular):
            return []
        if len(solved) < len(reached.fields):
            return []
        theta = [solved.get(k, t.zero) for k in range(reached.dimension)]
        theta[j] = t.one
        forms.append(tuple(theta))
    return forms


def _without_denominators(rows: DeclaredRows, theta: OneForm) -> OneForm | None:
    """θ times the product of its different denominators, in normal form."""
    t = rows.tape
    try:
        forms = normal_form(t, theta, limit=_LONGEST)
    except TooLong:
        return None
    below = prod(
        (to_scalar(RationalForm(d), t) for d in dict.fromkeys(f.denominator for f in forms)),
        start=Scalar(t, t.one),
    )
    if below == 1:
        return tuple(to_scalar(f, t).i for f in forms)
    try:
        return tuple(
            to_scalar(f, t).i
            for f in normal_form(t, [(below * Scalar(t, x)).i for x in theta], limit=_LONGEST)
        )
    except TooLong:
        return None


# ---- decided exactly ----------------------------------------------------------------------------


def _are_independent(rows: DeclaredRows, forms: Sequence[OneForm]) -> bool:
    rank = RandomPoints(rows.tape, 1).at(
        0, lambda point: rank_mod([point.values(f) for f in forms], point.prime).rank
    )
    return rank == len(forms)


def _source_rows(rows: DeclaredRows, theta: OneForm) -> tuple[str, ...]:
    """The rows of which θ is a combination."""
    forms = [rows.one_form(k, len(theta)) for k in range(len(rows.linear))]
    rank = RandomPoints(rows.tape, 1).at(
        0, lambda point: rank_mod([point.values(f) for f in (*forms, theta)], point.prime)
    )
    return tuple(rows.linear[k].name for k in rank.dependent.get(len(forms), ()))


class _ExteriorCalculus:
    """dθ = 0 and φ = ∫ θ on the tape of the rows."""

    def __init__(self, rows: DeclaredRows, width: int) -> None:
        self.rows, self.tape = rows, rows.tape
        t = self.tape
        units = [tuple(t.one if j == k else t.zero for j in range(width)) for k in range(width)]
        self.slopes: list[Derivative] = [lie_derivative(rows, X) for X in units]
        self.variables = [*rows.q, *([rows.system.t.i] if width > rows.n else [])]

    def differential(self, phi: int) -> OneForm:
        """dφ"""
        return tuple(slope(phi) for slope in self.slopes)

    def integrate(self, theta: OneForm) -> int | None:
        """φ with dφ = θ, or None if θ is not closed or not elementary."""
        t, width = self.tape, len(theta)
        pairs = [(j, k) for k in range(width) for j in range(k)]
        if not all(
            provably_zero(
                t, [t.sub(self.slopes[j](theta[k]), self.slopes[k](theta[j])) for j, k in pairs]
            )
        ):
            return None
        phi = line_integral(t, theta, self.variables, lambda phi, k: self.slopes[k](phi))
        if phi is None:
            return None
        differences = Column(t, self.differential(phi)) - Column(t, theta)
        return phi if all(provably_zero(t, differences.nodes)) else None


_MOST_FUNCTIONS: Final = 400
_MOST_CONSTANTS: Final = 6
_MORE_EQUATIONS: Final = 8
_MOST_POINTS: Final = 428


def candidate_integrals(rows: DeclaredRows, reached: InvolutiveClosure) -> list[int]:
    """Candidates for φ as nodes, the shortest first."""
    t = rows.tape
    functions, factors = _ansatz_functions(rows, reached.dimension), _constant_factors(rows)
    products = [(f, c) for c in factors for f in functions]
    if len(products) > _MOST_FUNCTIONS or not reached.fields:
        return []
    slopes = [[lie_derivative(rows, X)(f) for f in functions] for X in reached.fields]

    def equations(point: SamplePoint) -> list[list[Element]]:
        """Σ c_m X(f_m) = 0 at one point."""
        scale = [point.real_value(c) for c in factors]
        return [
            [c * d % point.prime for c in scale for d in map(point.real_value, row)]
            for row in slopes
        ]

    prime, equations_mod_p = sampled(
        t, range(1, _MOST_POINTS), equations, len(products) + _MORE_EQUATIONS
    )
    candidates = []
    for x in sorted(
        nullspace_mod(equations_mod_p, prime) if equations_mod_p else [],
        key=lambda v: sum(map(bool, v)),
    ):
        coefficients = [rational_reconstruction(c, prime) if c else Fraction(0) for c in x]
        if None in coefficients:
            continue
        terms = zip(coefficients, products, strict=True)
        candidates.append(
            sum_scalars(t, ((k or 0) * (Scalar(t, c) * Scalar(t, f)) for k, (f, c) in terms)).i
        )
    return candidates


def _ansatz_functions(rows: DeclaredRows, width: int) -> list[int]:
    """x, x y, sin α, cos α, x sin α, x cos α"""
    t = rows.tape
    x = [*rows.q, *([rows.system.t.i] if width > rows.n else [])]
    nodes = dependencies(t, [i for r in rows.linear for i in (r.b, *r.A.values())])
    angles = list(dict.fromkeys(t.nodes[i][1] for i in nodes if t.nodes[i][0] in ("sin", "cos")))
    waves = [
        t.call(f, a)
        for a in angles
        if set(x).intersection(symbols_of(t, (a,)))
        for f in ("sin", "cos")
    ]
    squares = [t.mul(a, b) for a, b in combinations_with_replacement(x, 2)]
    return list(dict.fromkeys([*x, *waves, *squares, *(t.mul(a, w) for w in waves for a in x)]))


def _constant_factors(rows: DeclaredRows) -> list[int]:
    """1, and the constants in the rows."""
    t = rows.tape
    inside = symbols_of(t, [i for r in rows.linear for i in (r.b, *r.A.values())])
    constants = [i for i in inside if i not in t.moving]
    return [t.one, *constants] if len(constants) <= _MOST_CONSTANTS else [t.one]
