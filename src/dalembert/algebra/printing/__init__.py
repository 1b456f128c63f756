"""Expressions and equations as a book prints them, in Unicode and in LaTeX.

They are shown in normal form. What would be too long to read that way is shown as it was computed, with named
intermediates and their number: nothing is ever cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.normal_form.forms import Form
from dalembert.algebra.normal_form.normal import LIMIT as NORMAL_LIMIT
from dalembert.algebra.normal_form.normal import normal_form, operation_count
from dalembert.algebra.printing.equation import Equation, equation
from dalembert.algebra.printing.layout import Printer, Ranking
from dalembert.algebra.printing.names import parts
from dalembert.algebra.printing.notation import Latex, Notation, Source, Text
from dalembert.algebra.printing.zform import equation_with_intermediates, with_intermediates
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.errors import DalembertError

# what a reader will follow, in terms and in symbols, and terms allowed on the way there
LONGEST = 120
LARGEST = 500
LIMIT = 2_000
# more terms than this are not made readable by merging angles
HOPELESS = 4 * LONGEST


def text(e: Scalar) -> str:
    """The expression in normal form, on one line of Unicode."""
    return _shown(e, Text(e.tape.displays))


def latex(e: Scalar) -> str:
    """The expression in normal form, in LaTeX."""
    return _shown(e, Latex(e.tape.displays))


def markup(e: Scalar) -> str:
    """The expression in normal form, as a MathML element that carries its LaTeX."""
    from dalembert.algebra.printing.mathml import math

    return math(latex(e))


def source(e: Scalar) -> str:
    """The expression as `s.expression` reads it."""
    return _shown(e, Source())


def _shown(e: Scalar, notation: Notation) -> str:
    op, name, _ = e.tape.nodes[e.i]
    if op == "symbol":
        return notation.symbol(name)
    form = readable(e.tape, e.i)
    if form is None:
        return with_intermediates(e.tape, e.i, notation)
    return Printer(notation, ranking_for(e.tape, form)).form(form)


def equation_text(tape: Tape, residual: int, unknowns: Sequence[int], rates: Sequence[int] = (), *, group: bool = False) -> str:
    """residual = 0 on one line of Unicode: accelerations and rates on the left, the rest on the right.

    `group` puts what shares constants under parentheses: m (u̇ − l ω²).
    """
    return _shown_equation(tape, residual, unknowns, rates, Text(tape.displays), group=group)


def equation_latex(tape: Tape, residual: int, unknowns: Sequence[int], rates: Sequence[int] = (), *, group: bool = False) -> str:
    """residual = 0 in LaTeX: accelerations and rates on the left, the rest on the right."""
    return _shown_equation(tape, residual, unknowns, rates, Latex(tape.displays), group=group)


def equation_mathml(tape: Tape, residual: int, unknowns: Sequence[int], rates: Sequence[int] = ()) -> str:
    """residual = 0 as a MathML element that carries its LaTeX."""
    from dalembert.algebra.printing.mathml import math

    return math(equation_latex(tape, residual, unknowns, rates), block=True)


def equation_form(tape: Tape, residual: int, unknowns: Sequence[int], rates: Sequence[int] = (), *, limit: int = NORMAL_LIMIT) -> Equation:
    """residual = 0 as two forms; raises TooLong where the normal form passes `limit` terms."""
    (form,) = normal_form(tape, (residual,), limit=limit)
    return equation(form, tape, _names(tape, unknowns), _names(tape, rates))[0]


def _names(tape: Tape, symbols: Sequence[int]) -> list[str]:
    return [tape.nodes[i][1] for i in symbols]


def _shown_equation(tape: Tape, residual: int, unknowns: Sequence[int], rates: Sequence[int], notation: Notation, *, group: bool) -> str:
    form = readable(tape, residual)
    if form is None:
        return equation_with_intermediates(tape, residual, notation, unknowns)
    sides, ranking = equation(form, tape, _names(tape, unknowns), _names(tape, rates))
    printer = Printer(notation, ranking, group=group)
    return notation.equation(printer.form(sides.left), printer.form(sides.right))


def readable(tape: Tape, e: int) -> Form | None:
    """The normal form, unless it is too long to be read."""
    try:
        (form,) = normal_form(tape, (e,), limit=LIMIT, longest=HOPELESS)
    except DalembertError:
        return None
    short = form.term_count <= LONGEST and size(form) <= max(LARGEST, 3 * operation_count(tape, (e,)))
    return form if short else None


def size(form: Form) -> int:
    """How many symbols, numbers and function names it takes to write a form down."""
    inside = sum(size(argument) for t in form.numerator + form.denominator for a, _ in t.powers for argument in a.arguments)
    return inside + sum(1 + len(t.powers) for t in form.numerator + form.denominator)


def ranking_for(tape: Tape, form: Form) -> Ranking:
    """Collected on the second derivatives and then on the first, in order of declaration."""
    names = [a.name for a in form.atoms() if a.op == "symbol"]
    first = Ranking(tape, (), ())
    dotted = sorted((n for n in names if parts(n).dots), key=first.place)
    return Ranking(tape, [n for n in dotted if parts(n).dots > 1], dotted)
