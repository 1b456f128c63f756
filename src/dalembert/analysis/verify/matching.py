"""row − Σ μ_j r_j with few terms left: several errors in one row.

Each pair of a written and a true monomial whose ratio is a number times constants votes for the
multiple μ of the true row. The best multiples are subtracted while terms get fewer; the remainder
is wrong, and is paired with what it should be.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import prod
from typing import Any

from dalembert.analysis.verify.changes import (
    Change,
    Written,
    distance,
    is_right,
    span_of,
    written_terms,
)
from dalembert.analysis.verify.reading import Row
from dalembert.analysis.verify.truth import Truth
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import Expansion, TooLong, normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, Term, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar

LIMIT = 2000
MOST_LEFT = 6
VOTES = 8
FARTHEST = 3
Monomial = tuple[tuple[int, int], ...]
Polynomial = dict[Monomial, Any]


@dataclass
class _Expanded:
    """A row and the true rows in one ring, as polynomials in its generators."""

    truth: Truth
    expansion: Expansion
    row: Polynomial
    true: list[Polynomial]
    fixed: set[int]

    def proposals(self, left: Polynomial) -> list[Polynomial]:
        """The remainder after the multiples with the most votes."""
        votes: Counter[tuple[int, Monomial, Any]] = Counter()
        groups: dict[Monomial, list[tuple[Monomial, Any]]] = {}
        for n, d in left.items():
            groups.setdefault(self._moving_part(n), []).append((n, d))
        for j, p in enumerate(self.true):
            for m, c in p.items():
                for n, d in groups.get(self._moving_part(m), ()):
                    votes[j, _ratio(n, m), d / c] += 1
        return [
            _minus(left, self.true[j], ratio, c) for (j, ratio, c), _ in votes.most_common(VOTES)
        ]

    def _moving_part(self, m: Monomial) -> Monomial:
        """The factors that are no constants: a multiple of a row has the same."""
        return tuple((g, e) for g, e in m if g not in self.fixed)

    def remainders(self) -> list[Polynomial]:
        """What few terms are left of the row."""
        rest = []
        for first in self.proposals(self.row):
            left = first
            while left:
                best = min(self.proposals(left), key=len, default=left)
                if len(best) >= len(left):
                    break
                left = best
            if left and len(left) <= MOST_LEFT and all(e > 0 for m in left for _, e in m):
                rest.append(left)
        return rest

    def terms(self, left: Polynomial) -> tuple[Term, ...]:
        """A polynomial as terms."""
        ring = self.expansion.ring
        products = (
            ring.const(Fraction(int(c.p), int(c.q)))[0]
            * prod((ring.generator(g) ** e for g, e in m), start=ring.one)
            for m, c in left.items()
        )
        poly = sum(products, 0 * ring.one)
        return self.expansion.alphabet.form((poly, None)).numerator


def _ratio(n: Monomial, m: Monomial) -> Monomial:
    powers = Counter(dict(n))
    powers.subtract(dict(m))
    return tuple(sorted((g, e) for g, e in powers.items() if e))


def _minus(left: Polynomial, true: Polynomial, ratio: Monomial, c: Any) -> Polynomial:
    """left − c · ratio · true"""
    rest = dict(left)
    for m, d in true.items():
        powers = Counter(dict(m))
        powers.update(dict(ratio))
        key = tuple(sorted((g, e) for g, e in powers.items() if e))
        rest[key] = rest.get(key, 0) - c * d
        if not rest[key]:
            del rest[key]
    return rest


def match_rows(truth: Truth, row: Row, place: int) -> list[tuple[Change, ...]]:
    """Sets of changes that make a row a combination of the true rows, the fewest changes first."""
    t = truth.tape
    written, below = written_terms(t, row)
    if not written:
        return []
    options: list[tuple[Change, ...]] = []
    for whole, true in _forms(truth, row):
        scale = t.one if below is None else truth.in_u(below.i)
        expanded = _expand(truth, t.mul(whole, scale), tuple(t.mul(r, scale) for r in true))
        if expanded is not None:
            rest = map(expanded.terms, expanded.remainders())
            options += [_pair(truth, row, place, (written, terms)) for terms in rest]
    least = min(map(len, options), default=0)
    few = [option for option in dict.fromkeys(options) if len(option) == least]
    return few if below is None else [tuple(c.divided(below) for c in option) for option in few]


def _forms(truth: Truth, row: Row) -> list[tuple[int, tuple[int, ...]]]:
    """The row and the true rows in the variables of the row."""
    inside = set(symbols_of(truth.tape, (row.value.i,)))
    if not inside.isdisjoint(truth.multipliers):
        return [(row.value.i, truth.along_q)]
    forms = [(truth.in_u(row.value.i), truth.along_u)]
    dependent = [x for x in truth.kin.qddot if truth.in_u(x) not in (x, *truth.udot)]
    if truth.kin.rows and not inside.isdisjoint(dependent):
        forms.append((row.value.i, truth.contracted()))
    return forms


def _expand(truth: Truth, whole: int, true: tuple[int, ...]) -> _Expanded | None:
    t = truth.tape
    expansion = Expansion(t, [whole, *true], (LIMIT, LIMIT), None, "expanded")
    try:
        expansion.run()
    except TooLong:
        return None
    values = [expansion.ring.rationalize(*expansion.values[i]) for i in expansion.outs]
    if values[0][1] is not None:
        return None
    first, *rest = (dict(expansion.ring.monomials(n)) for n, d in values if d is None)
    constant = {
        n
        for n, a in enumerate(expansion.alphabet.atoms)
        if a.op == "symbol"
        and t.names[a.name] not in t.moving
        and t.names[a.name] not in truth.multipliers
    }
    return _Expanded(truth, expansion, first, rest, constant)


def match_quantity(truth: Truth, row: Row, place: int) -> list[tuple[Change, ...]]:
    """The changes that make a row about a quantity true: the remainder of answer − truth,
    paired.
    """
    t = truth.tape
    written, below = written_terms(t, row)
    if not written or below is not None:
        return []
    written = [w for w in written if w.marks or not row.spans]
    inside = Substitution(t, truth.opaque)
    try:
        form = normal_form(t, [inside(row.value.i)], limit=LIMIT)[0]
    except TooLong:
        return []
    if not form.is_polynomial or len(form.numerator) > MOST_LEFT:
        return []
    return [_pair(truth, row, place, (written, form.numerator))]


def _pair(
    truth: Truth, row: Row, place: int, at: tuple[list[Written], tuple[Term, ...]]
) -> tuple[Change, ...]:
    """The remainder as changes: each extra term is paired with the nearest missing one."""
    written, wrong = at
    pieces = {frozenset(w.term.powers): w for w in written}
    changes: list[tuple[Written | None, Term | None]] = []
    for x in wrong:
        old = pieces.get(frozenset(x.powers))
        if old is not None:
            rest = old.term.coefficient - x.coefficient
            changes.append((old, Term(rest, old.term.powers) if rest else None))
    new = [Term(-x.coefficient, x.powers) for x in wrong if frozenset(x.powers) not in pieces]
    pairs = sorted(
        (distance(old.term, term)[0], n, k)
        for n, (old, rest) in enumerate(changes)
        for k, term in enumerate(new)
        if old is not None and rest is None
    )
    taken: set[int] = set()
    for near, n, k in pairs:
        if near <= FARTHEST and changes[n][1] is None and k not in taken:
            changes[n] = (changes[n][0], new[k])
            taken.add(k)
    changes += [(None, term) for k, term in enumerate(new) if k not in taken]
    return tuple(_change(truth, row, place, old, new) for old, new in changes)


def _change(truth: Truth, row: Row, place: int, old: Written | None, new: Term | None) -> Change:
    value: Scalar | None = None if new is None else to_scalar(RationalForm((new,)), truth.tape)
    size, kind = distance(None if old is None else old.term, new)
    if old is None:
        return Change(place, None, value, kind, size, right=row.is_about_left)
    return Change(
        place, old.value, value, kind, size, span_of(row, old.marks), right=is_right(row, old.marks)
    )
