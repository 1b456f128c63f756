"""∫ k xᵃ cosⁱ(n x + c) … dx, term by term: the position behind an integrable row, the potential
behind a force.

Powers of coordinates, negative ones too, and sines and cosines of sums of them, over constants.
The caller checks the result by differentiation; None if no antiderivative is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.functions import cos, log, sin
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.quotient_ring import TooLong
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, Term, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column, sum_scalars
from dalembert.symbolic.algebra.tape import Tape

_LONGEST: Final = 400
_HIGHEST: Final = 6
# amplitude, phase, and whether it is a sine
_Wave = tuple[Fraction, Scalar, bool]


def antiderivative(e: Scalar, x: Scalar) -> Scalar | None:
    """A function whose slope along x is e, or None."""
    try:
        (form,) = normal_form(e.tape, [e.i], limit=_LONGEST)
    except TooLong:
        return None
    # over a single product its factors count as negative powers
    above, below = form.numerator, form.denominator
    if len(below) == 1:
        above, below = (
            tuple(_divide_term(term, below[0]) for term in above),
            (Term(Fraction(1), ()),),
        )
    divisor = to_scalar(RationalForm(below), e.tape)
    if _contains(divisor, x):
        return None
    parts = [_term(e.tape, term, x) for term in above]
    return (
        None
        if any(p is None for p in parts)
        else sum_scalars(e.tape, (p for p in parts if p is not None)) / divisor
    )


def _divide_term(term: Term, below: Term) -> Term:
    powers = dict(term.powers)
    for atom, k in below.powers:
        powers[atom] = powers.get(atom, 0) - k
    return Term(
        term.coefficient / below.coefficient, tuple((atom, k) for atom, k in powers.items() if k)
    )


def _contains(e: Scalar, x: Scalar) -> bool:
    return x.i in symbols_of(e.tape, (e.i,))


def _term(t: Tape, term: Term, x: Scalar) -> Scalar | None:
    """∫ C xᵃ Π sinⁱ(…) cosʲ(…) dx"""
    constant, power, factors = Scalar(t, t.const(term.coefficient)), 0, []
    for atom, k in term.powers:
        factor = to_scalar(RationalForm((Term(Fraction(1), ((atom, 1),)),)), t)
        if not _contains(factor, x):
            constant *= factor**k
        elif factor == x:
            power = k
        elif atom.op in ("sin", "cos") and k > 0:
            factors += [(to_scalar(atom.arguments[0], t), atom.op == "sin")] * k
        else:
            return None
    if abs(power) > _HIGHEST or len(factors) > _HIGHEST or (factors and power < 0):
        return None
    if not factors:
        # ½ log x², which has a value on both sides of x = 0
        return constant * (log(x**2) / 2 if power == -1 else x ** (power + 1) / (power + 1))
    waves = [
        (amplitude, _integrate_harmonic(phase, x, power, sine=sine))
        for amplitude, phase, sine in _product_to_sum(factors)
    ]
    return (
        None
        if any(w is None for _, w in waves)
        else constant * sum_scalars(t, (k * w for k, w in waves if w is not None))
    )


def _product_to_sum(factors: Sequence[tuple[Scalar, bool]]) -> list[_Wave]:
    """cos α cos β = ½ (cos(α + β) + cos(α − β)), and so on, until one wave is left in every
    product.
    """
    (phase, sine), *rest = factors
    waves: list[_Wave] = [(Fraction(1), phase, sine)]
    for beta, beta_is_sine in rest:
        longer: list[_Wave] = []
        for k, alpha, alpha_is_sine in waves:
            up, down = alpha + beta, alpha - beta
            if alpha_is_sine == beta_is_sine:
                # sin α sin β has the minus sign, cos α cos β the plus sign
                longer += [(k / 2, down, False), (-k / 2 if alpha_is_sine else k / 2, up, False)]
            else:
                longer += [(k / 2, up, True), (k / 2 if alpha_is_sine else -k / 2, down, True)]
        waves = longer
    return waves


def _integrate_harmonic(phase: Scalar, x: Scalar, power: int, *, sine: bool) -> Scalar | None:
    """∫ xᵃ cos(n x + c) dx = xᵃ sin(n x + c)/n − (a/n) ∫ xᵃ⁻¹ sin(n x + c) dx"""
    t = phase.tape
    n = Scalar(t, gradient_column(phase, Column(t, [x.i])).nodes[0])
    if _contains(n, x):
        return None
    if provably_zero(t, [n.i])[0]:
        return (sin(phase) if sine else cos(phase)) * (x ** (power + 1) / (power + 1))
    first = x**power * (-cos(phase) if sine else sin(phase)) / n
    if not power:
        return first
    rest = _integrate_harmonic(phase, x, power - 1, sine=not sine)
    if rest is None:
        return None
    return first + power / n * rest if sine else first - power / n * rest
