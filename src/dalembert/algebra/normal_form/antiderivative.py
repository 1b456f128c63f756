"""∫ k xᵃ cosⁱ(n x + c) … dx, term by term: the position behind an integrable row, the potential behind a force.

Powers of coordinates, negative ones too, and sines and cosines of sums of them, over constants. What was found is checked by
whoever asked, by differentiation; what cannot be found here is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import gradient, symbols_of
from dalembert.algebra.normal_form.forms import Atom, Form, Term, to_scalar
from dalembert.algebra.normal_form.normal import normal_form
from dalembert.algebra.normal_form.ring import TooLong
from dalembert.algebra.tape import Tape

_LONGEST: Final = 400
_HIGHEST: Final = 6
# amplitude, phase, and whether it is a sine
_Wave = tuple[Fraction, int, bool]


def antiderivative(tape: Tape, e: int, x: int) -> int | None:
    """A function whose slope along x is e, or None."""
    try:
        (form,) = normal_form(tape, [e], limit=_LONGEST)
    except TooLong:
        return None
    t = tape
    # over a single product its factors count as negative powers
    above, below = form.numerator, form.denominator
    if len(below) == 1:
        above, below = tuple(_over(term, below[0]) for term in above), (Term(Fraction(1), ()),)
    divisor = to_scalar(Form(below), t).i
    if x in symbols_of(t, (divisor,)):
        return None
    total = t.zero
    for term in above:
        found = _term(t, term, x)
        if found is None:
            return None
        total = t.add(total, found)
    return t.div(total, divisor)


def _over(term: Term, below: Term) -> Term:
    powers = dict(term.powers)
    for atom, k in below.powers:
        powers[atom] = powers.get(atom, 0) - k
    return Term(term.coefficient / below.coefficient, tuple((atom, k) for atom, k in powers.items() if k))


def _term(t: Tape, term: Term, x: int) -> int | None:
    """∫ C xᵃ Π sinⁱ(…) cosʲ(…) dx"""
    constant, power, factors = t.const(term.coefficient), 0, []
    for atom, k in term.powers:
        node = to_scalar(Form((Term(Fraction(1), ((atom, 1),)),)), t).i
        if x not in symbols_of(t, (node,)):
            constant = t.mul(constant, t.power(node, k))
        elif node == x:
            power = k
        elif atom.op in ("sin", "cos") and k > 0:
            factors += [_factor(t, atom)] * k
        else:
            return None
    if abs(power) > _HIGHEST or len(factors) > _HIGHEST or (factors and power < 0):
        return None
    if not factors:
        # ½ log x², which has a value on both sides of x = 0
        logarithm = t.div(t.call("log", t.mul(x, x)), t.const(2))
        own = logarithm if power == -1 else t.div(t.power(x, power + 1), t.const(power + 1))
        return t.mul(constant, own)
    total = t.zero
    for amplitude, phase, sine in _waves(t, factors):
        found = _wave(t, phase, x, power, sine=sine)
        if found is None:
            return None
        total = t.add(total, t.mul(t.const(amplitude), found))
    return t.mul(constant, total)


def _factor(t: Tape, atom: Atom) -> tuple[int, bool]:
    return to_scalar(atom.arguments[0], t).i, atom.op == "sin"


def _waves(t: Tape, factors: Sequence[tuple[int, bool]]) -> list[_Wave]:
    """cos α cos β = ½ (cos(α + β) + cos(α − β)), and so on, until one wave is left in every product."""
    (phase, sine), *rest = factors
    waves: list[_Wave] = [(Fraction(1), phase, sine)]
    for beta, beta_is_sine in rest:
        longer: list[_Wave] = []
        for k, alpha, alpha_is_sine in waves:
            up, down = t.add(alpha, beta), t.sub(alpha, beta)
            if alpha_is_sine == beta_is_sine:
                # sin α sin β has the minus sign, cos α cos β the plus sign
                longer += [(k / 2, down, False), (-k / 2 if alpha_is_sine else k / 2, up, False)]
            else:
                longer += [(k / 2, up, True), (k / 2 if alpha_is_sine else -k / 2, down, True)]
        waves = longer
    return waves


def _wave(t: Tape, phase: int, x: int, power: int, *, sine: bool) -> int | None:
    """∫ xᵃ cos(n x + c) dx = xᵃ sin(n x + c)/n − (a/n) ∫ xᵃ⁻¹ sin(n x + c) dx"""
    (n,) = gradient(t, {phase: t.one}, [x])
    if x in symbols_of(t, (n,)):
        return None
    if shown_zero(t, [n])[0]:
        return t.mul(t.call("sin" if sine else "cos", phase), t.div(t.power(x, power + 1), t.const(power + 1)))
    turned = t.neg(t.call("cos", phase)) if sine else t.call("sin", phase)
    first = t.div(t.mul(t.power(x, power), turned), n)
    if not power:
        return first
    rest = _wave(t, phase, x, power - 1, sine=not sine)
    if rest is None:
        return None
    factor = t.div(t.const(power), n)
    return t.add(first, t.mul(factor, rest)) if sine else t.sub(first, t.mul(factor, rest))
