"""old → new: a change of one written term, its kind and its size."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dalembert.analysis.verify.reading import MARK, Definition, Row
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.normal_form.expansion import TooLong, expand
from dalembert.symbolic.algebra.normal_form.rational_form import Atom, RationalForm, Term, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

MOST_TERMS = 2000


@dataclass(frozen=True)
class Written:
    """A term of a row as it was written, multiplied out, and the marks it carries."""

    term: Term
    value: Scalar
    marks: tuple[int, ...]


@dataclass(frozen=True)
class Change:
    """In a row, `old` becomes `new`; None is nothing."""

    row: int
    old: Scalar | None
    new: Scalar | None
    kind: str
    distance: int
    # the source columns of the old term
    span: tuple[int, int] | None = None
    group: bool = False
    # whether the old term stands on the right side
    right: bool = False
    # what the change adds to the row, where it is one of a definition's terms
    effect: Scalar | None = None
    definition: Definition | None = None
    # {mark of the definition: its value after the change}
    inner: tuple[int, int] | None = None
    # a bracket with names of intermediates as it was written, and what it is multiplied by
    bracket: str | None = None
    factor: Scalar | None = None

    @property
    def difference(self) -> Scalar:
        """new − old, as it enters the row"""
        if self.effect is not None:
            return self.effect
        if self.old is None:
            assert self.new is not None
            return self.new
        return -self.old if self.new is None else self.new - self.old

    def divided(self, below: Scalar) -> Change:
        """The same change of a row that was multiplied by its denominator."""
        old = None if self.old is None else self.old / below
        new = None if self.new is None else self.new / below
        return replace(self, old=old, new=new)

    @property
    def shown(self) -> tuple[str, str]:
        """Old and new as they stand on their side of the equation; empty for nothing."""
        if self.bracket is not None:
            # only changes that are reported are printed: printing takes longer than locating
            by = "−" if self.kind == "sign" else f"({self.factor}) "
            return self.bracket, f"{by}({self.bracket})"
        sign = -1 if self.right else 1
        return tuple(  # type: ignore[return-value]
            "" if e is None else str(e if sign > 0 else -e) for e in (self.old, self.new)
        )

    def __str__(self) -> str:
        old, new = self.shown
        if self.definition is not None and not old:
            return f"{new} is missing in {self.definition.name}"
        if not old:
            return f"{new} is missing on the {'right' if self.right else 'left'} side"
        return f"{old} should not be there" if not new else f"{old} should be {new}"


def written_terms(tape: Tape, row: Row) -> tuple[list[Written], Scalar | None]:
    """The terms of a row multiplied out, like terms apart; and what it was multiplied by to have
    no denominator.
    """
    try:
        form = expand(tape, [row.marked.i], limit=MOST_TERMS)[0]
    except TooLong:
        return [], None
    below = None if form.is_polynomial else to_scalar(RationalForm(form.denominator), tape)
    terms = []
    for x in form.numerator:
        marks = tuple(
            int(a.name.removeprefix(MARK)) for a, _ in x.powers if a.name.startswith(MARK)
        )
        bare = Term(
            x.coefficient, tuple((a, k) for a, k in x.powers if not a.name.startswith(MARK))
        )
        terms.append(Written(bare, to_scalar(RationalForm((bare,)), tape), marks))
    return terms, below


def span_of(row: Row, marks: tuple[int, ...]) -> tuple[int, int] | None:
    """The source columns of the innermost addend that carries these marks."""
    spans = [row.spans[k] for k in marks if k < len(row.spans)]
    return min(spans, key=lambda s: s[1] - s[0]) if spans else None


def is_right(row: Row, marks: tuple[int, ...]) -> bool:
    """Whether the term with these marks stands on the right side."""
    return bool(marks) and min(marks) >= row.right


def single_term(tape: Tape, e: Scalar) -> Term | None:
    """The expression as one term; None where it is a sum."""
    try:
        form = expand(tape, [e.i], limit=50)[0]
    except TooLong:
        return None
    above, below = form.numerator, form.denominator
    if len(above) != 1 or len(below) != 1:
        return None
    powers = dict(above[0].powers)
    for a, k in below[0].powers:
        powers[a] = powers.get(a, 0) - k
    coefficient = Fraction(above[0].coefficient / below[0].coefficient)
    return Term(coefficient, tuple((a, k) for a, k in powers.items() if k))


def distance(old: Term | None, new: Term | None) -> tuple[int, str]:
    """How many symbols and coefficients change, and what to call it."""
    if old is None or new is None:
        return 1, "missing" if old is None else "too many"
    a, b = dict(old.powers), dict(new.powers)
    change = {x: b.get(x, 0) - a.get(x, 0) for x in (*a, *b) if b.get(x, 0) != a.get(x, 0)}
    factor = new.coefficient / old.coefficient
    if not change:
        return 1, "sign" if factor == -1 else "factor"
    up = sum(k for k in change.values() if k > 0)
    down = -sum(k for k in change.values() if k < 0)
    return max(up, down) + (factor != 1), _kind(change)


def _kind(change: dict[Atom, int]) -> str:
    operations = {x.op for x in change}
    if operations <= {"sin", "cos"} and len(change) == 2:
        return "sin for cos" if len(operations) == 2 else "wrong angle"
    if len(change) == 1:
        return "a factor missing or too many"
    return "wrong name or index"
