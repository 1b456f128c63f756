"""Terms in the order in which people write them: collected on accelerations, then on products of
rates.

A form becomes a list of `Piece`s: ± k · constants · (sum) · coordinates · rates · functions /
constants.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.normal_form.rational_form import (
    UNIT,
    Atom,
    Powers,
    RationalForm,
    Term,
    collect,
    divide_powers,
    factor_common,
)
from dalembert.symbolic.algebra.printing.binomial_squares import BinomialSquare, collect_squares
from dalembert.symbolic.algebra.printing.polynomial_factors import (
    SUM,
    factored_form,
    squares_of_coordinates,
)
from dalembert.symbolic.algebra.printing.print_tree import (
    ONE,
    PI,
    ZERO,
    Call,
    FractionBar,
    Group,
    NamedSymbol,
    Numeral,
    Superscript,
    Tree,
    power,
    product,
    total,
)
from dalembert.symbolic.algebra.printing.symbol_names import display_name
from dalembert.symbolic.algebra.printing.unicode_notation import Text
from dalembert.symbolic.algebra.tape import Tape, base_name

# an unusual way to collect terms must be this number of signs shorter
WORTH = 3
CONSTANT, COORDINATE, RATE, ACCELERATION, FUNCTION = range(5)

# what is shown for the name of a symbol
Naming = Callable[[str], Tree]


def symbol_namer(tape: Tape) -> Naming:
    """Symbols as they are displayed on a tape."""
    return lambda name: NamedSymbol(name, display_name(name, tape.displays))


class TermOrder:
    """Who comes first: constants, coordinates, rates, accelerations, each in order of
    declaration, then functions.
    """

    def __init__(self, tape: Tape, accelerations: Sequence[str], rates: Sequence[str]) -> None:
        self.moving = {tape.nodes[i][1] for i in sorted(tape.moving)}
        self.places = dict(tape.names)
        self.accelerations = {name: n for n, name in enumerate(accelerations)}
        self.rates = frozenset(rates)
        self._moves: dict[Atom, bool] = {}
        self._places: dict[Atom, Any] = {}

    def kind(self, atom: Atom) -> int:
        if atom.op == SUM:
            return COORDINATE if self.varies(atom) else CONSTANT
        if atom.op != "symbol":
            return FUNCTION if self.varies(atom) else CONSTANT
        if atom.name.startswith("∫"):
            # an integral over a member ends in dx, so it stands last
            return FUNCTION
        if atom.name in self.accelerations:
            return ACCELERATION
        if atom.name in self.rates:
            return RATE
        return COORDINATE if atom.name in self.moving else CONSTANT

    def fast_symbols(self, form: RationalForm) -> list[str]:
        """The rates and accelerations of a form."""
        fast = (RATE, ACCELERATION)
        return [a.name for a in form.atoms() if a.op == "symbol" and self.kind(a) in fast]

    def varies(self, atom: Atom) -> bool:
        """Whether it varies with time."""
        if atom.op == "symbol":
            return (
                atom.name in self.moving
                or atom.name in self.rates
                or atom.name in self.accelerations
            )
        if atom not in self._moves:
            self._moves[atom] = any(
                name in self.moving for form in atom.arguments for name in form.symbols()
            )
        return self._moves[atom]

    def declaration_key(self, name: str) -> Any:
        """Order of declaration: a rate comes where its coordinate comes."""
        return (
            self.accelerations.get(name, -1),
            self.places.get(base_name(name), self.places.get(name, -1)),
            name,
        )

    def atom(self, atom: Atom) -> Any:
        if atom not in self._places:
            self._places[atom] = self._atom(atom)
        return self._places[atom]

    def _atom(self, atom: Atom) -> Any:
        if atom.op == "symbol":
            return (
                self.kind(atom),
                2 * atom.name.startswith("∫"),
                (self.declaration_key(atom.name),),
                "",
            )
        inside = tuple(
            self.declaration_key(name) for form in atom.arguments for name in form.symbols()
        )
        if atom.op == SUM:
            # (m₁ + m₂) g: a sum comes where the first of its symbols would
            return self.kind(atom), 0, (min(inside),), SUM
        return self.kind(atom), 1, inside, {"sin": "0", "cos": "1"}.get(atom.op, atom.op)

    def powers(self, powers: Powers) -> Any:
        """For products: which atoms, the higher power first."""
        return sorted((self.atom(a), -k) for a, k in powers)

    def term(self, term: Term) -> Any:
        """Inside a sum: what is constant first, then by degree in what moves."""
        moving = [(a, k) for a, k in term.powers if self.varies(a)]
        return sum(k for _, k in moving), self.powers(tuple(moving)), self.powers(term.powers)

    def group(self, powers: Powers, coefficient: RationalForm) -> Any:
        """Accelerations, an equation's own first; then squares of rates, then their products,
        then single rates.
        """
        names = [a.name for a, _ in powers]
        leading = sorted(self.accelerations[n] for n in names if n in self.accelerations)
        if leading:
            return 0, [not self.has_definite_sign(coefficient), *leading], self.powers(powers)
        degree = sum(k for _, k in powers)
        return 1, [-degree, len(powers)], self.powers(powers)

    def has_definite_sign(self, coefficient: RationalForm) -> bool:
        """Whether it is of one sign for positive constants, like the mass in front of an
        equation's own acceleration.
        """
        signs = {t.coefficient > 0 for t in coefficient.numerator}
        sums = [(a, k) for t in coefficient.numerator for a, k in t.powers if a.op == SUM]
        if any(self.varies(a) for a, _ in sums):
            odd = [a for a, k in sums if k % 2]
            return len(odd) == 1 and self._is_sum_of_squares(odd[0])
        return len(signs) == 1 and not any(
            k % 2 and self.varies(a) for t in coefficient.numerator for a, k in t.powers
        )

    def _is_sum_of_squares(self, atom: Atom) -> bool:
        """m₁ (z₁ − z₂)² + m₂ (x₁ − x₂)²: two or more, with positive factors."""
        squares, rest = collect_squares(atom.arguments[0].numerator)
        factors = [s.factor for s in squares] + rest
        return len(factors) > 1 and all(
            t.coefficient > 0 and not any(k % 2 and self.varies(a) for a, k in t.powers)
            for t in factors
        )


@dataclass(frozen=True)
class Summand:
    """± k · before · (inner) · after / below: one summand as it is printed; inner is None or a
    sum.
    """

    coefficient: Fraction
    before: Powers
    inner: RationalForm | None
    after: Powers
    below: Powers


def summands(form: RationalForm, ranking: TermOrder) -> list[Summand]:
    """The summands of a form without denominator, or with one that is a single product."""
    below = form.denominator[0]
    whole = RationalForm(
        tuple(Term(t.coefficient / below.coefficient, t.powers) for t in form.numerator)
    )
    groups = collect(whole, ranking.fast_symbols(whole))
    summands: list[Summand] = []
    for powers in sorted((p for p in groups if p), key=lambda p: ranking.group(p, groups[p])):
        summands += _piece(groups[powers], powers, below.powers, ranking)
    if () in groups:
        summands += _rate_free_summands(groups[()], below.powers, ranking)
    return summands


def _rate_free_summands(form: RationalForm, below: Powers, ranking: TermOrder) -> list[Summand]:
    """What is free of rates, collected on products of whatever moves, or on one factor where
    that is clearly shorter.
    """
    shortest = _collect(form, below, ranking, ranking.varies)
    least = _printed_length(shortest) - WORTH
    for atom in [
        a
        for a in form.atoms()
        if ranking.varies(a) and sum(t.power(a) > 0 for t in form.numerator) > 1
    ]:
        candidate = _collect(form, below, ranking, partial(operator.eq, atom))
        if _printed_length(candidate) <= least:
            shortest, least = candidate, _printed_length(candidate) - 1
    return shortest


def _collect(
    form: RationalForm, below: Powers, ranking: TermOrder, outside: Callable[[Atom], bool]
) -> list[Summand]:
    groups: dict[Powers, list[Term]] = {}
    for t in form.numerator:
        chosen = tuple(p for p in t.powers if outside(p[0]))
        groups.setdefault(chosen, []).append(Term(t.coefficient, divide_powers(t.powers, chosen)))
    summands: list[Summand] = []
    for chosen in sorted(groups, key=lambda p: (not p, ranking.powers(p))):
        summands += _piece(RationalForm(tuple(groups[chosen])), chosen, below, ranking)
    return summands


def _printed_length(summands: Iterable[Summand]) -> int:
    """About how many signs it takes to write the pieces down."""
    inside = [
        (
            p.coefficient,
            p.before + p.after + p.below,
            p.inner.numerator if p.inner is not None else (),
        )
        for p in summands
    ]
    return sum(
        1
        + (abs(k) != 1)
        + _length(powers)
        + sum(1 + (abs(t.coefficient) != 1) + _length(t.powers) for t in terms)
        for k, powers, terms in inside
    )


def _length(powers: Powers) -> int:
    return sum(1 + (k != 1) + (a.op != "symbol") for a, k in powers)


def _piece(
    coefficient: RationalForm, outside: Powers, below: Powers, ranking: TermOrder
) -> list[Summand]:
    terms = tuple(sorted(coefficient.numerator, key=ranking.term))
    common, rest = _prefer_leading_plus(*factor_common(RationalForm(terms)))
    if len(rest.numerator) > 1 and not common.powers and not outside:
        # nothing to collect on: leave the sum open
        return [_cancel_common(t.coefficient, t.powers, None, below, ranking) for t in terms]
    inner = None if rest.numerator == UNIT else rest
    return [_cancel_common(common.coefficient, common.powers + outside, inner, below, ranking)]


def _prefer_leading_plus(common: Term, rest: RationalForm) -> tuple[Term, RationalForm]:
    """−(a − b) = b − a: no minus before a sum that can start with a plus itself."""
    common, rest = _keep_decimals(common, rest)
    first = next((t for t in rest.numerator if t.coefficient < 0), None)
    if common.coefficient > 0 or first is None:
        return common, rest
    turned = (-first, *(-t for t in rest.numerator if t is not first))
    return -common, RationalForm(turned, rest.denominator)


def _keep_decimals(common: Term, rest: RationalForm) -> tuple[Term, RationalForm]:
    """Measured numbers stay where they are: 1.88 − 0.49 sin q, not 1/100 (188 − 49 sin q)."""
    k = abs(common.coefficient)
    if len(rest.numerator) == 1 or k.denominator < 100:
        return common, rest
    terms = tuple(Term(t.coefficient * k, t.powers) for t in rest.numerator)
    return Term(common.coefficient / k, common.powers), RationalForm(terms, rest.denominator)


def _cancel_common(
    k: Fraction, powers: Powers, inner: RationalForm | None, below: Powers, ranking: TermOrder
) -> Summand:
    shared = tuple((a, min(n, dict(below)[a])) for a, n in powers if a in dict(below))
    powers, below = divide_powers(powers, shared), divide_powers(below, shared)
    ordered = tuple(sorted(powers, key=lambda p: ranking.atom(p[0])))
    before = tuple(p for p in ordered if ranking.kind(p[0]) == CONSTANT)
    return Summand(k, before, inner, ordered[len(before) :], below)


def group_by_constants(summands: Sequence[Summand]) -> list[Summand]:
    """m (u̇ − l ω²), not m u̇ − m l ω²: summands that share constants under one pair of
    parentheses, where that saves factors.
    """
    whole = list(summands)
    while True:
        shared = [
            _common(p, q)
            for n, p in enumerate(whole)
            for q in whole[n + 1 :]
            if _is_plain(p) and _is_plain(q)
        ]
        best = max(
            dict.fromkeys(s for s in shared if s), key=lambda s: _saving(s, whole), default=()
        )
        if not best:
            return whole
        members = [p for p in whole if _is_plain(p) and _divides(best, p.before)]
        terms = [Term(p.coefficient, divide_powers(p.before, best) + p.after) for p in members]
        # a sum begins with a plus if it can
        if terms[0].coefficient < 0:
            terms = sorted(terms, key=lambda t: t.coefficient < 0)
        sign = -1 if terms[0].coefficient < 0 else 1
        inner = RationalForm(tuple(Term(sign * t.coefficient, t.powers) for t in terms))
        at = whole.index(members[0])
        whole = [p for p in whole if p not in members]
        whole.insert(at, Summand(Fraction(sign), best, inner, (), ()))


def _is_plain(piece: Summand) -> bool:
    return piece.inner is None and not piece.below


def _common(p: Summand, q: Summand) -> Powers:
    other = dict(q.before)
    return tuple((a, min(k, other[a])) for a, k in p.before if a in other)


def _divides(divisor: Powers, powers: Powers) -> bool:
    held = dict(powers)
    return all(held.get(a, 0) >= k for a, k in divisor)


def _saving(divisor: Powers, summands: Sequence[Summand]) -> int:
    return (sum(_is_plain(p) and _divides(divisor, p.before) for p in summands) - 1) * _length(
        divisor
    )


class Printer:
    """Forms as trees; `symbol` says what is shown for a name, `group` puts what shares constants
    under parentheses.
    """

    def __init__(self, symbol: Naming, ranking: TermOrder, *, group: bool = False) -> None:
        self.symbol, self.ranking, self.group = symbol, ranking, group
        self._powers: dict[tuple[Atom, int], Tree] = {}

    def form(self, form: RationalForm) -> Tree:
        if form.is_zero:
            return ZERO
        if len(form.denominator) == 1:
            return self._sum(form)
        factored = factored_form(form, self.ranking.fast_symbols(form))
        whole = total([self._fraction(form)])
        if factored is None:
            return whole
        return min(whole, self._sum(factored), key=printed_length)

    def _sum(self, form: RationalForm) -> Tree:
        rates = frozenset(Atom("symbol", name) for name in self.ranking.fast_symbols(form))
        terms = squares_of_coordinates(form.numerator, rates)
        pieces = summands(RationalForm(terms, form.denominator), self.ranking)
        return total(
            [self._piece(p) for p in (group_by_constants(pieces) if self.group else pieces)]
        )

    def argument(self, form: RationalForm) -> Tree:
        """Inside a function fractions are written θ/2, not 1/2 θ."""
        broken = [t.coefficient.denominator for t in form.numerator if t.powers]
        if not form.is_polynomial or max(broken, default=1) == 1:
            return self.form(form)
        terms: list[tuple[bool, Tree]] = []
        for t in form.numerator:
            over = t.coefficient.denominator if t.powers and t.coefficient.denominator < 100 else 1
            negative, shown = self._term(Term(t.coefficient * over, t.powers))
            terms.append(
                (negative, shown if over == 1 else FractionBar(shown, Numeral(Fraction(over))))
            )
        return total(terms)

    def _fraction(self, form: RationalForm) -> tuple[bool, Tree]:
        """A sum below the bar."""
        above = summands(RationalForm(form.numerator), self.ranking)
        below = total([self._term(t) for t in sorted(form.denominator, key=self.ranking.term)])
        negative, top = (
            self._piece(above[0])
            if len(above) == 1
            else (False, total([self._piece(p) for p in above]))
        )
        return negative, FractionBar(top, below)

    def _inside(self, atom: Atom, k: int) -> list[Term]:
        """The terms of a factor, a positive one first: (L − x)², and x − L to an odd power."""
        terms = sorted(atom.arguments[0].numerator, key=self.ranking.term)
        if terms[0].coefficient < 0 and not k % 2:
            return [-t for t in terms]
        first = next((t for t in terms if t.coefficient > 0), terms[0])
        return [first, *(t for t in terms if t is not first)]

    def _piece(self, piece: Summand) -> tuple[bool, Tree]:
        k = abs(piece.coefficient)
        first, then = self._around(piece)
        factors = [self._power(a, e) for a, e in first]
        if piece.inner is not None:
            alone = (
                k == 1
                and not (piece.before or piece.after or piece.below)
                and piece.coefficient > 0
            )
            parts = self._sum_parts(piece.inner.numerator)
            single = len(parts) == 1 and not parts[0][0]
            factors.append(total(parts) if alone or single else Group(total(parts)))
        factors += [self._power(a, e) for a, e in (*then, *piece.after)]
        if k != 1 or not factors:
            factors.insert(0, Numeral(k))
        above = product(factors)
        if not piece.below:
            return piece.coefficient < 0, above
        below = product([self._power(a, e) for a, e in piece.below])
        # a bar needs no parentheses
        return piece.coefficient < 0, FractionBar(
            above, below.inside if isinstance(below, Group) else below
        )

    def _sum_parts(self, terms: Sequence[Term]) -> list[tuple[bool, Tree]]:
        """The terms of a sum, a² + 2 a b + b² among them as (a + b)²."""
        squares, rest = collect_squares(terms)
        shown = [(terms.index(s.first), self._square(s)) for s in squares]
        shown += [(terms.index(t), self._term(t)) for t in rest]
        return [part for _, part in sorted(shown, key=lambda entry: entry[0])]

    def _square(self, square: BinomialSquare) -> tuple[bool, Tree]:
        base = total([self._term(t) for t in square.base])
        negative, factor = self._term(square.factor)
        raised = Superscript(Group(base), 2)
        return negative, raised if factor == ONE else product([factor, raised])

    def _around(self, piece: Summand) -> tuple[Powers, Powers]:
        """(m₁ + m₂) g l, not g l (m₁ + m₂): a sum of constants comes where the first of them
        would.
        """
        inner = piece.inner
        if inner is None or any(
            not t.powers or any(self.ranking.varies(a) for a, _ in t.powers)
            for t in inner.numerator
        ):
            return piece.before, ()
        first = min(self.ranking.atom(a) for a in inner.atoms())
        split = sum(self.ranking.atom(a) < first for a, _ in piece.before)
        return piece.before[:split], piece.before[split:]

    def _term(self, term: Term) -> tuple[bool, Tree]:
        return self._piece(_cancel_common(term.coefficient, term.powers, None, (), self.ranking))

    def _power(self, atom: Atom, k: int) -> Tree:
        shown = self._powers.get((atom, k))
        if shown is None:
            shown = self._powers[atom, k] = self._new_power(atom, k)
        return shown

    def _new_power(self, atom: Atom, k: int) -> Tree:
        if atom.op == "symbol":
            return power(self.symbol(atom.name), k)
        if atom.op == "pi":
            return power(PI, k)
        if atom.op == SUM:
            shown = Group(total(self._sum_parts(self._inside(atom, k))))
            return shown if k == 1 else Superscript(shown, k)
        bare = len(atom.arguments) == 1 and _is_single(atom.arguments[0])
        return Call(atom.op, tuple(self.argument(a) for a in atom.arguments), k, bare)


def printed_length(tree: Tree) -> int:
    """The number of signs it takes to write on one line."""
    return len(Text()(tree))


def _is_single(form: RationalForm) -> bool:
    """One symbol, π or a whole number."""
    if not form.is_polynomial or len(form.numerator) != 1:
        return False
    ((k, powers),) = form.numerator
    if not powers:
        return k > 0 and k.denominator == 1
    ((atom, e),) = powers[:1]
    return k == 1 and len(powers) == 1 and e == 1 and not atom.arguments
