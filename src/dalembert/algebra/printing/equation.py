"""left = right: a residual that vanishes, sorted as a book prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dalembert.algebra.normal_form.forms import UNIT, ZERO, Atom, Form, Term
from dalembert.algebra.printing.layout import Ranking, pieces
from dalembert.algebra.printing.names import base, parts
from dalembert.algebra.tape import Tape


@dataclass(frozen=True)
class WrittenEquation:
    """left = right: on the left what contains unknowns or rates, on the right what is free of both."""

    left: Form
    right: Form

    @property
    def residual(self) -> Form:
        """left − right"""
        return Form(self.left.numerator + (-self.right).numerator, self.left.denominator)

    @property
    def term_count(self) -> int:
        return self.left.term_count + self.right.term_count

    def same_terms(self, other: WrittenEquation, *, up_to_factor: bool = True) -> bool:
        """Whether both say the same with the same terms, in any order and on either side, up to a common factor."""
        return self.residual.same_terms(other.residual, up_to_factor=up_to_factor)


def rates_of(form: Form, unknowns: Sequence[str], rates: Sequence[str]) -> list[str]:
    """The given rates, and every dotted symbol, and what the unknowns are rates of: u1' makes u1 one."""
    dotted = [name for name in form.symbols() if parts(name).dots]
    below = [name[:-1] for name in unknowns if parts(name).dots and base(name) != name]
    known = dict.fromkeys((*rates, *below, *dotted))
    return [name for name in known if name not in unknowns]


def equation(form: Form, tape: Tape, unknowns: Sequence[str], rates: Sequence[str] = ()) -> tuple[WrittenEquation, Ranking]:
    """form = 0 without sums and functions in its denominator, the first unknown's leading coefficient positive; and the ranks of terms."""
    below = _kept_below(form)
    fast = rates_of(form, unknowns, rates)
    ranking = Ranking(tape, unknowns, fast)
    chosen = frozenset((*unknowns, *fast))
    left = tuple(t for t in form.numerator if _contains(t, chosen))
    right = tuple(-t for t in form.numerator if not _contains(t, chosen))
    if not left:
        left, right = form.numerator, ()
    sides = Form(left, below), Form(right, below)
    if left and pieces(sides[0], ranking)[0].coefficient < 0:
        sides = -sides[0], -sides[1]
    return WrittenEquation(sides[0], sides[1] if right else ZERO), ranking


def _kept_below(form: Form) -> tuple[Term, ...]:
    """The symbols and roots of a denominator of one term: the row keeps its dimension, and each term is divided where it belongs.

    Multiplying the others by them would make nothing clearer. Of two terms or more only the whole row could be divided.
    """
    if len(form.denominator) > 1:
        return UNIT
    (below,) = form.denominator
    if any(a.op == "sqrt" for a, _ in below.powers):
        return form.denominator
    return (Term(below.coefficient, tuple((a, k) for a, k in below.powers if a.op == "symbol")),)


def _contains(term: Term, names: frozenset[str]) -> bool:
    return any(_mentions(atom, names) for atom, _ in term.powers)


def _mentions(atom: Atom, names: frozenset[str]) -> bool:
    return atom.name in names if atom.op == "symbol" else any(name in names for form in atom.arguments for name in form.symbols())
