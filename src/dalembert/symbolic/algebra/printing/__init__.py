"""Expressions and equations as a book prints them: a tree is laid out once and written in Unicode,
LaTeX or MathML.

They are shown in normal form. What would be too long to read that way is shown as it was computed,
with named intermediates and their number: nothing is ever cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.errors import DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.normal_form.expansion import normal_form, operation_count
from dalembert.symbolic.algebra.normal_form.rational_form import (
    UNIT,
    ZERO,
    Atom,
    RationalForm,
    Term,
)
from dalembert.symbolic.algebra.printing.named_lengths import length_definitions, replace_lengths
from dalembert.symbolic.algebra.printing.polynomial_factors import SUM, factored_form
from dalembert.symbolic.algebra.printing.print_tree import Equality, Tree
from dalembert.symbolic.algebra.printing.symbol_names import parts
from dalembert.symbolic.algebra.printing.term_layout import (
    Naming,
    Printer,
    TermOrder,
    printed_length,
    summands,
    symbol_namer,
)
from dalembert.symbolic.algebra.printing.unicode_notation import SourceNotation, Text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape, base_name


@dataclass(frozen=True)
class EquationSides:
    """left = right: on the left what contains unknowns or rates, on the right what is free of
    both.
    """

    left: RationalForm
    right: RationalForm

    @property
    def residual(self) -> RationalForm:
        """left − right"""
        return RationalForm(self.left.numerator + (-self.right).numerator, self.left.denominator)

    @property
    def term_count(self) -> int:
        return self.left.term_count + self.right.term_count

    def same_terms(self, other: EquationSides, *, up_to_factor: bool = True) -> bool:
        """Whether both say the same with the same terms, in any order and on either side, up to
        a common factor.
        """
        return self.residual.same_terms(other.residual, up_to_factor=up_to_factor)


def rates_of(form: RationalForm, unknowns: Sequence[str], rates: Sequence[str]) -> list[str]:
    """The given rates, and every dotted symbol, and what the unknowns are rates of: u1' makes u1
    one.
    """
    dotted = [name for name in form.symbols() if parts(name).dots]
    below = [name[:-1] for name in unknowns if parts(name).dots and base_name(name) != name]
    known = dict.fromkeys((*rates, *below, *dotted))
    return [name for name in known if name not in unknowns]


def equation(
    form: RationalForm, tape: Tape, unknowns: Sequence[str], rates: Sequence[str] = ()
) -> tuple[EquationSides, TermOrder]:
    """form = 0 without sums and functions in its denominator, the first unknown's leading
    coefficient positive; and the ranks of terms.
    """
    below = _retained_denominator(form)
    fast = rates_of(form, unknowns, rates)
    ranking = TermOrder(tape, unknowns, fast)
    chosen = frozenset((*unknowns, *fast))
    left = tuple(t for t in form.numerator if _contains(t, chosen))
    right = tuple(-t for t in form.numerator if not _contains(t, chosen))
    if not left:
        left, right = form.numerator, ()
    sides = RationalForm(left, below), RationalForm(right, below)
    if left and summands(sides[0], ranking)[0].coefficient < 0:
        sides = -sides[0], -sides[1]
    return EquationSides(sides[0], sides[1] if right else ZERO), ranking


def _retained_denominator(form: RationalForm) -> tuple[Term, ...]:
    """The symbols and roots of a denominator of one term: the row keeps its dimension, and each
    term is divided where it belongs.

    Multiplying the others by them would make nothing clearer. Of two terms or more only the whole
    row could be divided.
    """
    if len(form.denominator) > 1:
        return UNIT
    (below,) = form.denominator
    if any(a.op == "sqrt" for a, _ in below.powers):
        return form.denominator
    kept = tuple((a, k) for a, k in below.powers if a.op in ("symbol", SUM))
    return (Term(below.coefficient, kept),)


def _contains(term: Term, names: frozenset[str]) -> bool:
    return any(_mentions(atom, names) for atom, _ in term.powers)


def _mentions(atom: Atom, names: frozenset[str]) -> bool:
    return (
        atom.name in names
        if atom.op == "symbol"
        else any(name in names for form in atom.arguments for name in form.symbols())
    )


# what a reader will follow, in terms and in symbols, and terms allowed on the way there
LONGEST = 120
LARGEST = 500
LIMIT = 2_000
# more terms than this are not made readable by merging angles
SHORTENING_LIMIT = 4 * LONGEST


def text(e: Scalar) -> str:
    """The expression in normal form, on one line of Unicode."""
    return Text()(expression_tree(e))


def latex(e: Scalar) -> str:
    """The expression in normal form, in LaTeX."""
    from dalembert.symbolic.algebra.printing.latex_notation import Latex

    return Latex()(expression_tree(e))


def length_text(tape: Tape, nodes: Sequence[int]) -> list[str]:
    """r = √(…) of every named length in some expressions, on a line of Unicode each."""
    return [Text()(tree) for tree in length_trees(tape, nodes)]


def length_latex(tape: Tape, nodes: Sequence[int]) -> list[str]:
    """The same in LaTeX."""
    from dalembert.symbolic.algebra.printing.latex_notation import Latex

    return [Latex()(tree) for tree in length_trees(tape, nodes)]


def length_trees(tape: Tape, nodes: Sequence[int]) -> list[Equality]:
    """The definitions of the named lengths in some expressions."""
    definitions = length_definitions(tape, nodes)
    if not definitions:
        return []
    plain = tape.fork()
    plain.lengths = {}
    naming = symbol_namer(tape)
    return [
        Equality(naming(name), expression_tree(Scalar(plain, i))) for name, i in definitions.items()
    ]


def source(e: Scalar) -> str:
    """The expression as `s.expression` reads it."""
    return SourceNotation()(expression_tree(e))


def expression_tree(e: Scalar) -> Tree:
    """The expression in normal form, to be written in any notation."""
    op, name, _ = e.tape.nodes[e.i]
    if op == "symbol":
        return symbol_namer(e.tape)(name)
    tape, (node,) = replace_lengths(e.tape, (e.i,))
    form = readable_form(tape, node)
    if form is None:
        from dalembert.symbolic.algebra.printing.common_subexpressions import with_intermediates

        return with_intermediates(tape, node)
    return Printer(symbol_namer(tape), ranking_for(tape, form)).form(form)


def equation_text(
    tape: Tape,
    residual: int,
    unknowns: Sequence[int],
    rates: Sequence[int] = (),
    *,
    group: bool = False,
) -> str:
    """residual = 0 on one line of Unicode: accelerations and rates on the left, the rest on the
    right.

    `group` puts what shares constants under parentheses: m (u̇ − l ω²).
    """
    return Text()(equation_tree(tape, residual, unknowns, rates, group=group))


def equation_latex(
    tape: Tape,
    residual: int,
    unknowns: Sequence[int],
    rates: Sequence[int] = (),
    *,
    group: bool = False,
) -> str:
    """residual = 0 in LaTeX: accelerations and rates on the left, the rest on the right."""
    from dalembert.symbolic.algebra.printing.latex_notation import Latex

    return Latex()(equation_tree(tape, residual, unknowns, rates, group=group))


def equation_tree(
    tape: Tape,
    residual: int,
    unknowns: Sequence[int],
    rates: Sequence[int] = (),
    *,
    group: bool = False,
) -> Tree:
    """residual = 0, to be written in any notation."""
    tape, (residual,) = replace_lengths(tape, (residual,))
    names = _names(tape, unknowns), _names(tape, rates)
    tree = readable_equation(tape, residual, *names, symbol_namer(tape), group=group)
    if tree is not None:
        return tree
    from dalembert.symbolic.algebra.printing.common_subexpressions import (
        equation_with_intermediates,
    )

    return equation_with_intermediates(tape, residual, unknowns)


def readable_equation(
    tape: Tape,
    residual: int,
    unknowns: Sequence[str],
    rates: Sequence[str],
    naming: Naming,
    *,
    group: bool = False,
) -> Equality | None:
    """residual = 0 in normal form, multiplied by its denominator or with it under each
    coefficient, whichever is shorter; None where both are too long to be read.
    """

    def tree(form: RationalForm) -> Equality:
        sides, ranking = equation(form, tape, unknowns, rates)
        printer = Printer(naming, ranking, group=group)
        return Equality(printer.form(sides.left), printer.form(sides.right))

    whole = _limited_form(tape, residual)
    if whole is None:
        return None
    readable = whole if _is_readable(whole, tape, residual) else None
    forms = _factored_row(whole, unknowns, rates), readable
    trees = [tree(form) for form in forms if form is not None]
    return min(trees, key=printed_length, default=None)


def _factored_row(
    form: RationalForm, unknowns: Sequence[str], rates: Sequence[str]
) -> RationalForm | None:
    """A row whose coefficients keep their denominators, common factors cancelled; None where it has
    no sum below a fraction bar, or is too long to be read even so.
    """
    factored = factored_form(form, (*unknowns, *rates_of(form, unknowns, rates)))
    return None if factored is None or printed_size(factored) > LARGEST else factored


def _names(tape: Tape, symbols: Sequence[int]) -> list[str]:
    return [tape.nodes[i][1] for i in symbols]


def readable_form(tape: Tape, e: int) -> RationalForm | None:
    """The normal form, unless it is too long to be read."""
    form = _limited_form(tape, e)
    return form if form is not None and _is_readable(form, tape, e) else None


def _limited_form(tape: Tape, e: int) -> RationalForm | None:
    """The normal form, unless it grows beyond what is worth shortening."""
    try:
        return normal_form(tape, (e,), limit=LIMIT, longest=SHORTENING_LIMIT)[0]
    except DalembertError:
        return None


def _is_readable(form: RationalForm, tape: Tape, e: int) -> bool:
    return form.term_count <= LONGEST and printed_size(form) <= max(
        LARGEST, 3 * operation_count(tape, (e,))
    )


def printed_size(form: RationalForm) -> int:
    """How many symbols, numbers and function names it takes to write a form down."""
    inside = sum(
        printed_size(argument)
        for t in form.numerator + form.denominator
        for a, _ in t.powers
        for argument in a.arguments
    )
    return inside + sum(1 + len(t.powers) for t in form.numerator + form.denominator)


def ranking_for(tape: Tape, form: RationalForm) -> TermOrder:
    """Collected on the second derivatives and then on the first, in order of declaration."""
    names = [a.name for a in form.atoms() if a.op == "symbol"]
    first = TermOrder(tape, (), ())
    dotted = sorted((n for n in names if parts(n).dots), key=first.declaration_key)
    return TermOrder(tape, [n for n in dotted if parts(n).dots > 1], dotted)
