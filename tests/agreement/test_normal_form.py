"""For random systems: what is printed is, exactly, what was derived."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

import dalembert as da
from agreement.random_systems import Description, Shape, descriptions
from agreement.test_random_systems import common, refusals_assumed_away
from comparisons import vanish
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import dependencies, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import TooLong, normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, to_scalar
from dalembert.symbolic.algebra.printing import equation, ranking_for, term_layout
from dalembert.symbolic.algebra.printing.term_layout import Printer, symbol_namer
from dalembert.symbolic.algebra.printing.unicode_notation import SourceNotation
from dalembert.symbolic.algebra.scalar import as_node
from dalembert.symbolic.algebra.tape import Tape

# small enough that every normal form is reached
LONGEST = 60
SMALL = Shape(bodies=2, coordinates=3, nonholonomic=1)


def forms(d: da.Derivation) -> list[tuple[int, RationalForm]]:
    """The residuals with their normal forms, as far as these are not too long."""
    found = []
    for r in d.equations.residuals:
        try:
            found += [
                (r, form)
                for form in normal_form(d.tape, (r,), limit=1_000)
                if form.term_count <= LONGEST
            ]
        except TooLong:
            continue
    return found


def vanishing(t: Tape, gaps: list[int]) -> list[bool]:
    """In the field; with roots, of which the field knows only the squares, to fifty digits at a
    point.
    """
    if not any(t.nodes[i][0] in ("sqrt", "abs") for i in dependencies(t, gaps)):
        return provably_zero(t, gaps)
    at = {i: Fraction(2 * n + 3, 7 + n % 5) for n, i in enumerate(symbols_of(t, gaps))}
    return [found is not False for found in vanish(t, gaps, at)]


def check_values(d: da.Derivation) -> None:
    """Normal form, the layout of an expression and that of an equation: the raw value, in the
    field.
    """
    t = d.tape.fork()
    gaps = []
    for raw, form in forms(d):
        gaps.append(t.sub(raw, to_scalar(form, t).i))
        for group in (False, True):
            printed = SourceNotation()(
                Printer(symbol_namer(t), ranking_for(t, form), group=group).form(form)
            )
            gaps.append(t.sub(raw, as_node(t, d.kinematics.system.expression(printed))))
        sides, ranking = equation(form, t, [d.kinematics.name(u) for u in d.kinematics.udot])
        written = SourceNotation()(Printer(symbol_namer(t), ranking).form(sides.residual))
        # an equation is cleared of its denominator, unless that is a root, and may change its sign
        below = (
            to_scalar(RationalForm(form.denominator), t).i if sides.left.is_polynomial else t.one
        )
        whole = as_node(t, d.kinematics.system.expression(written))
        plus, minus = vanishing(
            t, [t.sub(t.mul(raw, below), whole), t.add(t.mul(raw, below), whole)]
        )
        assert plus or minus
    assert all(vanishing(t, gaps))


@pytest.mark.slow
@settings(common, max_examples=25)
@given(descriptions(SMALL))
def test_the_printed_form_has_the_raw_value(description: Description):
    with refusals_assumed_away():
        d = da.kane(description.system())
    assume(forms(d))
    check_values(d)


def test_a_wrong_sign_is_noticed(monkeypatch):
    d = da.kane(da.kinematics(pendulum()))
    check_values(d)
    real = term_layout.total

    def turned(parts):
        *first, (minus, last) = parts
        return real([*first, (not minus and len(parts) > 1, last)])

    monkeypatch.setattr(term_layout, "total", turned)
    with pytest.raises(AssertionError):
        check_values(d)


def test_a_lost_term_is_noticed(monkeypatch):
    d = da.kane(da.kinematics(pendulum()))
    shorter = [RationalForm(f.numerator[1:]) for f in normal_form(d.tape, d.equations.residuals)]
    monkeypatch.setitem(globals(), "normal_form", lambda *_, **__: shorter)
    with pytest.raises(AssertionError):
        check_values(d)


def pendulum() -> da.System:
    s = da.System("Pendulum", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O), mass=1, length=2)
    return s
