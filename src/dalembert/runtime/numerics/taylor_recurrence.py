"""x(t₀ + τ) = Σ x_k τ^k: the rules by which the k-th coefficient of every operation follows from
those before it.

    (a b)_k = a₀ b_k + a_k b₀ + H,   H = Σ_(j=1)^(k−1) a_j b_(k−j)

Every rule is linear in the coefficients of order k and has such sums H over earlier ones. So order
k is straight-line code again, written on a tape of its own: values of order 0 are its parameters,
coefficients of the state and the sums its inputs. The sums need nothing of order k, so that all of
them are computed at once, several in one vector.

Accelerations need not be solved for before: with r(x, a) = M(x) a − f(x) = 0 the coefficient r_k is
M₀ a_k and terms without a_k,

    a_k = −M₀⁻¹ r_k|(a_k = 0)

so that M is factored for order 0 alone, and none of the divisions and products of its factors has
sums.

Source: GW08 ch. 13 (Taylor arithmetic); JZ05 §2 (automatic differentiation of the flow).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from dalembert.errors import NotApplicable
from dalembert.symbolic.algebra.elimination import factor_symmetric
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    Substitution,
    dependencies,
    operands,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import BINARY, DATA, LEAVES, Tape

_HALF_TURN: Final = {"sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh"}

# coefficients that are sums of others, and are summed where they are needed
_LINEAR: Final = frozenset({"add", "sub", "neg", "mul"})


class ScaledTerm(NamedTuple):
    """± factor × coefficient, the factor the same for all orders (or 1/k)."""

    factor: int
    coefficient: int
    sign: int = 1

    def __neg__(self) -> ScaledTerm:
        """With the other sign."""
        return self._replace(sign=-self.sign)


class Series(NamedTuple):
    """The coefficients of a node, or j times the j-th (those of τ d/dτ)."""

    node: int
    weighted: bool = False


class ImplicitRates(NamedTuple):
    """r(x, a) = M a − f = 0 with a symmetric M: symbols a, residuals r, and a solved for, as
    nodes of one tape.
    """

    symbols: tuple[int, ...]
    residuals: tuple[int, ...]
    values: tuple[int, ...]


class TaylorRecurrence:
    """Coefficients of order k ≥ 1 of the nodes `outs`, from values of order 0 and what was found at
    lower orders.

    Rates that are implied follow behind the outs.

    of          the nodes themselves, on `source`
    tape        where order k is written
    outs        on it: the coefficients of the outs
    inputs      on it: the coefficients of the state, then k and 1/k, then the sums H
    values      on it: the values of order 0 that the rules take
    zero_order  the same values as nodes of `source`
    pairs       the two series of each H
    """

    def __init__(
        self,
        tape: Tape,
        outs: Sequence[int],
        state: Sequence[int],
        implied: ImplicitRates | None = None,
    ) -> None:
        self.source, self.tape = tape.fork(), Tape()
        t = self.tape
        self._state = {i: t.symbol(f"c{i}") for i in state}
        self._time = state[-1]
        self._k, self._inverse = t.symbol("k"), t.symbol("1/k")
        given = (*self._state.values(), self._k, self._inverse)
        self._sums: dict[tuple[Series, Series], int] = {}
        self._values: dict[int, int] = {}
        self._varying: dict[int, bool] = {}
        self._coefficients: dict[int, int | None] = {}
        self._depths: dict[int, int] = {}
        rates = implied or ImplicitRates((), (), ())
        self._build(outs, rates)
        self.source_outs, self.outs = (
            (*outs, *rates.values),
            tuple(self._coefficient_or_zero(i) for i in (*outs, *rates.symbols)),
        )
        self.pairs = tuple(self._sums)
        self.inputs = (*given, *self._sums.values())
        solved = Substitution(self.source, dict(zip(rates.symbols, rates.values, strict=True)))
        self.values, self.zero_order = (
            tuple(self._values.values()),
            tuple(solved(i) for i in self._values),
        )

    @property
    def operations(self) -> int:
        """How many of them each order takes, sums aside."""
        t, varying = self.tape, set(self.inputs)
        inside = dependencies(
            t, (*self.outs, *(self.series(s) for pair in self.pairs for s in pair))
        )
        for i in inside:
            varying |= {i} if not varying.isdisjoint(operands(*t.nodes[i])) else set()
        return len(varying.intersection(inside).difference(self.inputs))

    def _build(self, outs: Sequence[int], rates: ImplicitRates) -> None:
        """All coefficients; where rates are implied first those with a_k = 0."""
        inside = dependencies(self.source, (*outs, *rates.residuals))
        self._uses = Counter((*outs, *rates.residuals))
        for i in inside:
            self._uses.update(operands(*self.source.nodes[i]))
        self._state |= dict.fromkeys(rates.symbols, self.tape.zero)
        self._build_coefficients(inside)
        if rates.symbols:
            coefficients = self._solve_rates(rates)
            self._coefficients.clear()
            self._state |= zip(rates.symbols, coefficients, strict=True)
            self._build_coefficients(inside)

    def _build_coefficients(self, inside: Sequence[int]) -> None:
        for i in inside:
            # operands come first, so that nothing is looked up far below
            self._varies(i)
            if self._uses[i] > 1 or self.source.nodes[i][0] not in _LINEAR:
                self._coefficient(i)

    def _solve_rates(self, rates: ImplicitRates) -> list[int]:
        """a_k = −M₀⁻¹ r_k; the inverse is made of values of order 0, once for all orders, and
        then no equation waits for another.
        """
        t, n, linear = self.tape, len(rates.symbols), LinearCoefficients(self.source, rates.symbols)
        M = [
            [self._order_zero_value(row[s]) if s in row else t.zero for s in range(n)]
            for row in (linear(r)[1] for r in rates.residuals)
        ]
        factors = factor_symmetric(t, M)
        inverse = [factors.solve([t.one if i == j else t.zero for i in range(n)]) for j in range(n)]
        rest = [self._coefficient_or_zero(r) for r in rates.residuals]
        return [
            self._sum_terms([ScaledTerm(x, r, -1) for x, r in zip(row, rest, strict=True)])
            for row in inverse
        ]

    def series(self, s: Series) -> int:
        """The coefficient of order k of a series, on the tape of order k."""
        c = self._coefficient_or_zero(s.node)
        return self.tape.mul(self._k, c) if s.weighted else c

    # ---- what is what ------------------------------------------------------------------------

    def _varies(self, i: int) -> bool:
        varies = self._varying.get(i)
        if varies is None:
            op, a, b = self.source.nodes[i]
            varies = (
                i in self._state
                if op in LEAVES
                else self._varies(a) or (op in BINARY and self._varies(b))
            )
            self._varying[i] = varies
        return varies

    def _coefficient_or_zero(self, i: int) -> int:
        """The coefficient, zero included."""
        c = self._coefficient(i)
        return self.tape.zero if c is None else c

    def _order_zero_value(self, i: int) -> int:
        """The value of order 0 on the tape of order k."""
        op, a, _ = self.source.nodes[i]
        if op == "const":
            return self.tape.const(a)
        if op == "pi":
            return self.tape.pi
        if i not in self._values:
            self._values[i] = self.tape.symbol(f"v{i}")
        return self._values[i]

    def _reciprocal_value(self, i: int) -> int:
        """1/v of the value of order 0."""
        return self.tape.div(self.tape.one, self._order_zero_value(i))

    def _convolution_terms(self, factor: int, f: Series, g: Series) -> list[ScaledTerm]:
        """factor H, H = Σ_(j=1)^(k−1) f_j g_(k−j); nothing where one of the two is constant."""
        if self._coefficient(f.node) is None or self._coefficient(g.node) is None:
            return []
        if (f, g) not in self._sums:
            self._sums[f, g] = self.tape.symbol(f"h{len(self._sums)}")
        return [ScaledTerm(factor, self._sums[f, g])]

    # ---- the rules ---------------------------------------------------------------------------

    def _coefficient(self, i: int) -> int | None:
        """The coefficient of order k; None where it is zero."""
        if i not in self._coefficients:
            # a series that is defined by its own earlier coefficients does vary
            self._coefficients[i] = self.tape.zero if self._varies(i) else None
            if self._varies(i):
                terms = self._rule(i)
                self._coefficients[i] = None if terms is None else self._sum_terms(terms)
        return self._coefficients[i]

    def _sum_terms(self, terms: list[ScaledTerm]) -> int:
        """Σ factor × coefficient, what takes longest to be known last: the next operation waits
        for one multiplication, not for all.
        """
        t, total = self.tape, self.tape.zero
        for factor, c, sign in sorted(terms, key=lambda term: self._depth(term.coefficient)):
            product = t.mul(factor, c)
            total = t.add(total, product) if sign > 0 else t.sub(total, product)
        return total

    def _depth(self, i: int) -> int:
        """How many operations that vary with k stand one upon the other."""
        if i not in self._depths:
            op, a, b = self.tape.nodes[i]
            if op in LEAVES:
                self._depths[i] = 0
            else:
                self._depths[i] = 1 + max(self._depth(a), self._depth(b) if op in BINARY else 0)
        return self._depths[i]

    def _terms(self, i: int) -> list[ScaledTerm]:
        """The terms of a coefficient that no other coefficient uses, or the coefficient itself."""
        if not self._varies(i):
            return []
        if self._uses[i] == 1 and self.source.nodes[i][0] in _LINEAR:
            return self._rule(i) or []
        c = self._coefficient(i)
        return [] if c is None else [ScaledTerm(self.tape.one, c)]

    def _rule(self, i: int) -> list[ScaledTerm] | None:
        t = self.tape
        op, a, b = self.source.nodes[i]
        if op == "symbol":
            return [ScaledTerm(t.one, self._state[i])]
        if op == "neg":
            return [term.__neg__() for term in self._terms(a)]
        if op in ("add", "sub"):
            return self._terms(a) + [
                term if op == "add" else term.__neg__() for term in self._terms(b)
            ]
        if op == "mul":
            if not (self._varies(a) and self._varies(b)):
                factor, moving = (
                    (self._order_zero_value(b), a)
                    if self._varies(a)
                    else (self._order_zero_value(a), b)
                )
                return self._scale_terms(factor, self._terms(moving))
            return (
                self._end_term(a, b)
                + self._end_term(b, a)
                + self._convolution_terms(t.one, Series(a), Series(b))
            )
        if op == "div":
            # q b = a
            r = self._reciprocal_value(b)
            left = self._scale_terms(r, self._terms(a))
            return left + self._negate_terms(
                self._scale_terms(r, self._end_term(i, b))
                + self._convolution_terms(r, Series(i), Series(b))
            )
        if op == "sqrt":
            r = t.div(t.one, t.mul(t.const(2), self._order_zero_value(i)))
            return self._scale_terms(r, self._terms(a)) + self._negate_terms(
                self._convolution_terms(r, Series(i), Series(i))
            )
        if op in DATA:
            self._check_data(a)
            return None
        return self._atan2_terms(i, a, b) if op == "atan2" else self._function(op, i, a)

    def _check_data(self, a: int) -> None:
        """Recorded data are constant between their knots, where steps end; other data move."""
        if not set(symbols_of(self.source, (a,))).isdisjoint(
            i for i in self._state if i != self._time
        ):
            msg = "a table whose argument moves has kinks, and no Taylor series there"
            raise NotApplicable(msg)

    def _end_term(self, a: int, b: int) -> list[ScaledTerm]:
        """a₀ b_k"""
        c = self._coefficient(b)
        return [] if c is None else [ScaledTerm(self._order_zero_value(a), c)]

    def _scale_terms(self, factor: int, terms: list[ScaledTerm]) -> list[ScaledTerm]:
        return [ScaledTerm(self.tape.mul(factor, f), c, sign) for f, c, sign in terms]

    @staticmethod
    def _negate_terms(terms: list[ScaledTerm]) -> list[ScaledTerm]:
        return [term.__neg__() for term in terms]

    def _function(self, op: str, i: int, a: int) -> list[ScaledTerm] | None:
        s = self.source
        if op == "exp":
            return self._chain_rule_terms(a, i)
        if op in _HALF_TURN:
            terms = self._chain_rule_terms(a, s.call(_HALF_TURN[op], a))
            return self._negate_terms(terms) if op == "cos" else terms
        if op == "log":
            # a i' = a'
            return self._quotient_rule_terms(i, self._terms(a), a)
        if op == "atan":
            return self._quotient_rule_terms(i, self._terms(a), s.add(s.one, s.mul(a, a)))
        if op in ("asin", "acos"):
            terms = self._terms(a) if op == "asin" else self._negate_terms(self._terms(a))
            return self._quotient_rule_terms(i, terms, s.call("sqrt", s.sub(s.one, s.mul(a, a))))
        return self._piecewise(op, a)

    def _piecewise(self, op: str, a: int) -> list[ScaledTerm] | None:
        """sign and |·| of what depends on the time alone: between its breaks, where steps end,
        both are smooth.
        """
        inside = set(symbols_of(self.source, (a,)))
        if not inside.isdisjoint(i for i in self._state if i != self._time):
            msg = f"{op} of an argument that moves has a kink or a jump, and no Taylor series there"
            raise NotApplicable(msg)
        return (
            self._scale_terms(self.tape.call("sign", self._order_zero_value(a)), self._terms(a))
            if op == "abs"
            else None
        )

    def _chain_rule_terms(self, a: int, slope: int) -> list[ScaledTerm]:
        """y' = slope a':  y_k = slope₀ a_k + (1/k) Σ j a_j slope_(k−j)"""
        return self._end_term(slope, a) + self._convolution_terms(
            self._inverse, Series(a, True), Series(slope)
        )

    def _quotient_rule_terms(self, i: int, terms: list[ScaledTerm], g: int) -> list[ScaledTerm]:
        """g y' = a':  y_k = (a_k − (1/k) Σ j y_j g_(k−j)) / g₀"""
        r = self._reciprocal_value(g)
        return self._scale_terms(r, terms) + self._negate_terms(
            self._scale_terms(r, self._convolution_terms(self._inverse, Series(i, True), Series(g)))
        )

    def _atan2_terms(self, i: int, y: int, x: int) -> list[ScaledTerm]:
        """(x² + y²) φ' = x y' − y x'"""
        s, inverse = self.source, self._inverse
        square = s.add(s.mul(x, x), s.mul(y, y))
        r = self._reciprocal_value(square)
        forward = self._end_term(x, y) + self._convolution_terms(
            inverse, Series(y, True), Series(x)
        )
        backward = (
            self._end_term(y, x)
            + self._convolution_terms(inverse, Series(x, True), Series(y))
            + self._convolution_terms(inverse, Series(i, True), Series(square))
        )
        return self._scale_terms(r, forward + self._negate_terms(backward))
