"""|E| ≥ 1/(l u^(D−1)) or E = 0: whether a number without symbols is zero, by a separation bound.
Keywords: root separation, algebraic numbers.

A number made of rationals, square roots and cos, sin of rational multiples of π is E = U/L with
algebraic integers U and L of a field of degree D, whose conjugates are at most u and l. The norm of
U ≠ 0 is an integer, so |U| ≥ u^−(D−1). A ball that lies below the bound proves E = 0; a ball
without zero proves the opposite.

Σ a_j arctan x_j + k π with integers a_j, k, near 0, has the sine ± Im Π (1 + i x_j)^a_j/|…|, so
it is zero where this algebraic number is. Σ a_j log x_j = 0 is Π x_j^a_j = 1.

Source: C. Burnikel, S. Funke, K. Mehlhorn, S. Schirra, S. Schmitt: A separation bound for real
algebraic expressions, Algorithmica 55 (2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.arithmetic import BallArithmetic
from dalembert.symbolic.algebra.expression_graph import (
    copy_expressions,
    dependencies,
    evaluate,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import Number, Tape

if TYPE_CHECKING:
    from flint import arb

# binary digits that a proof may take, and the sum of exponents of a product
_MOST_BITS: Final = 60_000
_MOST_FACTORS: Final = 256
_GUARD_BITS: Final = 64
# a ball at this precision shows most numbers that are not zero, or whether arguments are regular
_FIRST_BITS: Final = 200


class _Unsupported(Exception):
    """A number of another kind."""


def decide_constant_zero(tape: Tape, i: int) -> bool | None:
    """Whether node i, which contains no symbol, is zero; None where this is not decided."""
    if symbols_of(tape, (i,)):
        return None
    work = Tape()
    (node,) = copy_expressions(tape, work, [i])
    ball = _ball(work, node, _FIRST_BITS)
    if not ball.is_finite():
        return None
    if not ball.contains(0):
        return False
    try:
        return _is_zero_form(work, _numerator(work, node))
    except (_Unsupported, ZeroDivisionError):
        return None


def _ball(tape: Tape, node: int, bits: int) -> arb:
    import flint

    with flint.ctx.workprec(bits):
        value: arb = evaluate(tape, (node,), _no_symbol, BallArithmetic())[0]
    return value


def _no_symbol(_: int) -> NoReturn:
    raise _Unsupported


# ---- linear forms ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Form:
    """Σ a_g g + c: rational multiples of π, arctangents and logarithms, and an algebraic number."""

    terms: Mapping[int, Fraction]
    constant: int

    def scaled(self, tape: Tape, k: Fraction) -> _Form:
        """k times the form."""
        return _Form(
            {g: k * a for g, a in self.terms.items() if k}, tape.mul(tape.const(k), self.constant)
        )


class _Quotient(NamedTuple):
    above: _Form
    below: _Form


class _FormArithmetic:
    """Nodes as quotients of linear forms."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.one = _Form({}, tape.one)

    def const(self, value: Number) -> _Quotient:
        return self._whole(self.tape.const(Fraction(value)))

    def pi(self) -> _Quotient:
        return _Quotient(_Form({self.tape.pi: Fraction(1)}, self.tape.zero), self.one)

    def neg(self, a: _Quotient) -> _Quotient:
        return _Quotient(a.above.scaled(self.tape, Fraction(-1)), a.below)

    def sub(self, a: _Quotient, b: _Quotient) -> _Quotient:
        return self.add(a, self.neg(b))

    def add(self, a: _Quotient, b: _Quotient) -> _Quotient:
        if a.below == b.below:
            return _Quotient(self._sum(a.above, b.above), a.below)
        left, right = self._product(a.above, b.below), self._product(b.above, a.below)
        return _Quotient(self._sum(left, right), self._product(a.below, b.below))

    def mul(self, a: _Quotient, b: _Quotient) -> _Quotient:
        return _Quotient(self._product(a.above, b.above), self._product(a.below, b.below))

    def div(self, a: _Quotient, b: _Quotient) -> _Quotient:
        return self.mul(a, _Quotient(b.below, b.above))

    def atan2(self, a: _Quotient, b: _Quotient) -> _Quotient:  # noqa: ARG002
        raise _Unsupported

    def call(self, function: str, a: _Quotient, node: int) -> _Quotient:
        """Functions whose values are algebraic, and generators."""
        t = self.tape
        if function in ("sin", "cos"):
            if a.below != self.one or set(a.above.terms) - {t.pi} or a.above.constant != t.zero:
                raise _Unsupported
            return self._whole(t.call(function, node))
        x = self._algebraic(a)
        if function == "sqrt":
            return self._whole(t.call("sqrt", x))
        if function == "log":
            return self._generator(t.call("log", x))
        if function == "atan":
            return self._generator(t.call("atan", x))
        if function in ("asin", "acos") and (one := _ball(t, t.mul(x, x), _FIRST_BITS)) < 1:
            assert one.is_finite()
            root = t.call("sqrt", t.sub(t.one, t.mul(x, x)))
            angle = self._generator(t.call("atan", t.div(x, root)))
            quarter = self.mul(self.const(Fraction(1, 2)), self.pi())
            return angle if function == "asin" else self.sub(quarter, angle)
        raise _Unsupported

    def _whole(self, node: int) -> _Quotient:
        return _Quotient(_Form({}, node), self.one)

    def _generator(self, node: int) -> _Quotient:
        return _Quotient(_Form({node: Fraction(1)}, self.tape.zero), self.one)

    def _algebraic(self, a: _Quotient) -> int:
        if a.above.terms or a.below.terms:
            raise _Unsupported
        return self.tape.div(a.above.constant, a.below.constant)

    def _sum(self, a: _Form, b: _Form) -> _Form:
        terms = {g: a.terms.get(g, 0) + b.terms.get(g, 0) for g in {**a.terms, **b.terms}}
        return _Form(
            {g: Fraction(x) for g, x in terms.items() if x},
            self.tape.add(a.constant, b.constant),
        )

    def _product(self, a: _Form, b: _Form) -> _Form:
        for x, y in ((a, b), (b, a)):
            k = None if x.terms else self.tape.value(x.constant)
            if k is not None:
                return y.scaled(self.tape, Fraction(k))
        if a.terms or b.terms:
            raise _Unsupported
        return _Form({}, self.tape.mul(a.constant, b.constant))


def _form_node(tape: Tape, form: _Form) -> int:
    node = form.constant
    for g, a in form.terms.items():
        node = tape.add(node, tape.mul(tape.const(a), g))
    return node


def _numerator(tape: Tape, node: int) -> _Form:
    """The form that is zero where the node is; its denominator must not be zero."""
    (quotient,) = evaluate(tape, (node,), _no_symbol, _FormArithmetic(tape))
    below = _form_node(tape, quotient.below)
    if _ball(tape, below, _FIRST_BITS).contains(0):
        raise _Unsupported
    return quotient.above


def _is_zero_form(tape: Tape, form: _Form) -> bool | None:
    """Σ a_g g + c, whose ball contains zero."""
    if not form.terms:
        return _is_zero_algebraic(tape, form.constant)
    if not _is_zero_algebraic(tape, form.constant):
        raise _Unsupported
    m = math.lcm(*(a.denominator for a in form.terms.values()))
    powers = {g: int(a * m) for g, a in form.terms.items()}
    operations = {tape.nodes[g][0] for g in powers}
    if sum(abs(k) for g, k in powers.items() if g != tape.pi) > _MOST_FACTORS:
        raise _Unsupported
    if operations <= {"log"}:
        return _is_zero_algebraic(tape, _log_difference(tape, powers))
    # an angle within 1 of zero, whose sine is zero, is zero
    angle = _ball(tape, _form_node(tape, form), _FIRST_BITS)
    if operations <= {"pi", "atan"} and abs(angle) * m < 1:
        return _is_zero_algebraic(tape, _imaginary_part(tape, powers))
    raise _Unsupported


def _log_difference(tape: Tape, powers: Mapping[int, int]) -> int:
    """Π x^a over positive exponents − Π x^−a over negative ones."""
    sides = [tape.one, tape.one]
    for g, k in powers.items():
        for _ in range(abs(k)):
            sides[k < 0] = tape.mul(sides[k < 0], tape.nodes[g][1])
    return tape.sub(*sides)


def _imaginary_part(tape: Tape, powers: Mapping[int, int]) -> int:
    """Im Π (1 + i x)^a, conjugate factors for negative exponents; π k changes its sign alone."""
    re, im = tape.one, tape.zero
    for g, k in powers.items():
        if g == tape.pi:
            continue
        x = tape.nodes[g][1]
        x = tape.neg(x) if k < 0 else x
        for _ in range(abs(k)):
            re, im = tape.sub(re, tape.mul(x, im)), tape.add(im, tape.mul(x, re))
    return im


# ---- algebraic numbers -----------------------------------------------------------------------


def _is_zero_algebraic(tape: Tape, node: int) -> bool | None:
    if node == tape.zero:
        return True
    bits = _separation_bits(tape, node)
    if bits > _MOST_BITS:
        return None
    ball = _ball(tape, node, bits + _GUARD_BITS + _FIRST_BITS)
    if not ball.is_finite():
        return None
    if not ball.contains(0):
        return False
    import flint

    return True if abs(ball) < flint.arb(2) ** -bits else None


def _separation_bits(tape: Tape, node: int) -> int:
    """b with |E| ≥ 2^−b or E = 0: log₂ l + (D − 1) log₂ u."""
    sizes: dict[int, tuple[float, float]] = {}
    degree, order = 1, 1
    for i in dependencies(tape, (node,)):
        op, a, _ = tape.nodes[i]
        if op in ("sin", "cos"):
            r = _multiple_of_pi(tape, a)
            order = math.lcm(order, 2 * r.denominator, 4 if op == "sin" else 1)
            sizes[i] = 1.0, 1.0
        elif op == "sqrt":
            degree *= 2
            u, l = sizes[a]
            sizes[i] = ((u + l) / 2, l) if u >= l else (u, (u + l) / 2)
        else:
            sizes[i] = _size(tape, i, sizes)
        if degree > _MOST_BITS:
            return degree
    u, l = sizes[node]
    degree *= _totient(order)
    return math.ceil(l + (degree - 1) * u) + 1


def _size(tape: Tape, i: int, sizes: Mapping[int, tuple[float, float]]) -> tuple[float, float]:
    """log₂ of bounds of all conjugates of U and L, rounded up."""
    op, a, b = tape.nodes[i]
    if op == "const":
        x = Fraction(a)
        return float(abs(x.numerator).bit_length()), float(x.denominator.bit_length())
    if op == "neg":
        return sizes[a]
    if op == "pi":
        return 0.0, 0.0  # inside an angle alone
    (u, l), (v, m) = sizes[a], sizes[b]
    if op in ("add", "sub"):
        return max(u + m, l + v) + 1.0, l + m
    if op == "mul":
        return u + v, l + m
    if op == "div":
        return u + m, l + v
    raise _Unsupported


def _multiple_of_pi(tape: Tape, i: int) -> Fraction:
    """r of the angle r π."""
    (quotient,) = evaluate(tape, (i,), _no_symbol, _FormArithmetic(tape))
    return quotient.above.terms.get(tape.pi, Fraction(0))


def _totient(n: int) -> int:
    """Euler's φ(n)."""
    result, rest, p = n, n, 2
    while p * p <= rest:
        if rest % p == 0:
            result -= result // p
            while rest % p == 0:
                rest //= p
        p += 1
    return result - result // rest if rest > 1 else result
