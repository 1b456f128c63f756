"""dφ = Σ μ_i θ_i: functions of position that velocity rows keep constant, written out where they are elementary.

A one-form of the integrable part is tried as it is declared, solved for different coordinates, and without its
denominators; if it is closed it is integrated coordinate by coordinate. What is left is sought among sums of products of what the
rows contain. Every φ is checked exactly: its differential lies in
the span of the rows, and outside the span of what is known already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import prod
from typing import Final

from dalembert.algebra.columns import Column, contracted, solution
from dalembert.algebra.exact.field import StructurallySingular, Trials, rank_mod, shown_zero
from dalembert.algebra.folds import Derivative
from dalembert.algebra.normal_form.antiderivative import antiderivative
from dalembert.algebra.normal_form.forms import Form, to_scalar
from dalembert.algebra.normal_form.normal import normal_form
from dalembert.algebra.normal_form.ring import TooLong
from dalembert.algebra.scalar import Scalar
from dalembert.constraint_analysis.ansatz import proposals
from dalembert.constraint_analysis.integrability import Reach, along, choose_positions
from dalembert.constraint_analysis.rows import SystemRows
from dalembert.errors import BadExpression
from dalembert.notebook import Shown

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
    known = [one_form(rows, k, reached.width) for k in choose_positions(rows)]
    wanted = reached.integrable - len(known)
    if not wanted or reached.width > _WIDEST:
        return ()
    found: list[HiddenPosition] = []
    calculus = _Calculus(rows, reached.width)
    for theta in _candidates(rows, reached):
        if not _independent(rows, [*known, theta]) or not inside(rows, reached, theta):
            continue
        phi = calculus.integral(theta)
        if phi is not None:
            known.append(theta)
            found.append(HiddenPosition(Scalar(rows.tape, phi), _sources(rows, theta)))
        if len(found) == wanted:
            return tuple(found)
    for phi in proposals(rows, reached):
        theta = calculus.differential(phi)
        if len(found) < wanted and _independent(rows, [*known, theta]) and inside(rows, reached, theta):
            known.append(theta)
            found.append(HiddenPosition(Scalar(rows.tape, phi), _sources(rows, theta)))
    return tuple(found)


def one_form(rows: SystemRows, k: int, width: int) -> OneForm:
    """θ = A dq + b dt of one row."""
    t, row = rows.tape, rows.linear[k]
    A = tuple(row.A.get(j, t.zero) for j in range(rows.n))
    return (*A, row.b) if width > rows.n else A


# ---- one-forms that might be closed -------------------------------------------------------------


def _candidates(rows: SystemRows, reached: Reach) -> Iterator[OneForm]:
    """The velocity rows themselves, then the integrable part solved for different coordinates, with and without denominators."""
    for k, row in enumerate(rows.linear):
        if not row.holonomic:
            yield one_form(rows, k, reached.width)
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


def inside(rows: SystemRows, reached: Reach, theta: OneForm) -> bool:
    """Whether θ vanishes on everything that can be reached."""
    t = rows.tape
    return all(shown_zero(t, [contracted(t, zip(X, theta, strict=True)) for X in reached.fields]))


def _sources(rows: SystemRows, theta: OneForm) -> tuple[str, ...]:
    """The rows of which θ is a combination."""
    forms = [one_form(rows, k, len(theta)) for k in range(len(rows.linear))]
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
        phi = Scalar(t, t.zero)
        for k, x in enumerate(self.variables):
            rest = Scalar(t, theta[k]) - Scalar(t, self.slopes[k](phi.i))
            if shown_zero(t, [rest.i])[0]:
                continue
            more = antiderivative(rest, Scalar(t, x))
            if more is None:
                return None
            phi += more
        differences = Column(t, self.differential(phi.i)) - Column(t, theta)
        return phi.i if all(shown_zero(t, differences.nodes)) else None
