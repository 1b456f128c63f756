"""The same expressions with fewer products of things that vary: what Taylor's method pays for, n²
times.

Parameters are gathered in front, equal products are found whatever order they were multiplied in,
terms that cancel go, and x sin² a + x cos² a is x. A product of sums is multiplied out only as long
as it stays short, and what is common to the terms of a sum is taken out again. Nothing is assumed
but the rules of a field and sin² + cos² = 1 for terms that are there, so that no difference of
nearly equal numbers is made where there was none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import Final

from dalembert.runtime.numerics.taylor_recurrence import ImplicitRates, TaylorRecurrence
from dalembert.symbolic.algebra.expression_graph import apply_operation, dependencies
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products, sum_scalars
from dalembert.symbolic.algebra.tape import BINARY, LEAVES, Tape

# how far sums are multiplied out to see what cancels, and up to how many products that is tried
_TERMS: Final = (2, 8, 32)
_MOST_PAIRS: Final = 3000
# cost of a sum relative to an operation, at order 20
_PER_SUM: Final = 8

# atoms by their nodes, in order; a sum maps them to rational numbers
Monomial = tuple[int, ...]
Sum = dict[Monomial, Fraction]


class TaylorSimplifier:
    """Nodes of a tape rewritten on a fork of it, with sums of at most the given number of terms
    multiplied out.
    """

    def __init__(self, tape: Tape, varying: Iterable[int], most_terms: int) -> None:
        self.tape = tape.fork()
        self._symbols, self._most = set(varying), most_terms
        self._varying: dict[int, bool] = {}
        self._sums: dict[int, Sum] = {}
        self._products: set[tuple[int, int]] = set()
        self._reciprocals: dict[int, int] = {}

    def __call__(self, outs: Sequence[int]) -> list[int]:
        """The outs, rewritten."""
        for i in dependencies(self.tape, outs):
            self._sums[i] = self._expand_node(i)
        return [self._to_node(self._sums[i]) for i in outs]

    def _varies(self, i: int) -> bool:
        if i not in self._varying:
            op, a, b = self.tape.nodes[i]
            if op in LEAVES:
                self._varying[i] = i in self._symbols
            else:
                self._varying[i] = self._varies(a) or (op in BINARY and self._varies(b))
        return self._varying[i]

    # ---- from nodes to sums ------------------------------------------------------------------

    def _expand_node(self, i: int) -> Sum:
        t, (op, a, b) = self.tape, self.tape.nodes[i]
        if op == "const":
            return {(): Fraction(a)} if a else {}
        if op in ("symbol", "pi"):
            return {(i,): Fraction(1)}
        if op == "neg":
            return {m: -x for m, x in self._sums[a].items()}
        if op in ("add", "sub"):
            return self._add(self._sums[a], self._sums[b], 1 if op == "add" else -1)
        if op == "mul":
            return self._multiply(self._sums[a], self._sums[b])
        if op == "div":
            return self._divide(self._sums[a], self._sums[b])
        arguments = [self._to_node(self._sums[x]) for x in ((a, b) if op in BINARY else (a,))]
        return self._atom(apply_operation(t, op, *arguments, *(() if op in BINARY else (None,))))

    def _atom(self, i: int) -> Sum:
        op, a, _ = self.tape.nodes[i]
        if op == "const":
            return {(): Fraction(a)} if a else {}
        return {m: -x for m, x in self._atom(a).items()} if op == "neg" else {(i,): Fraction(1)}

    def _add(self, a: Sum, b: Sum, sign: int) -> Sum:
        combined = dict(a)
        for m, x in b.items():
            combined[m] = combined.get(m, Fraction(0)) + sign * x
            if not combined[m]:
                del combined[m]
        return self._apply_pythagoras(combined)

    def _multiply(self, a: Sum, b: Sum) -> Sum:
        if len(a) * len(b) > self._most:
            a, b = (self._atom(self._to_node(x)) if len(x) > 1 else x for x in (a, b))
        for left, right in ((a, b), (b, a)):
            # a (1/d) is one division, which costs no more than the reciprocal alone
            m, c = next(iter(right.items())) if len(right) == 1 else ((), Fraction(0))
            if len(m) == 1 and m[0] in self._reciprocals and self._varies(m[0]):
                return self._divide(
                    {k: v * c for k, v in left.items()}, self._atom(self._reciprocals[m[0]])
                )
        product: Sum = {}
        for m, x in a.items():
            for n, y in b.items():
                k = tuple(sorted((*m, *n)))
                product[k] = product.get(k, Fraction(0)) + x * y
        return self._apply_pythagoras({m: x for m, x in product.items() if x})

    def _divide(self, a: Sum, b: Sum) -> Sum:
        if not a:
            return {}
        below = self._to_node(b)
        if a == {(): Fraction(1)} or not self._varies(below):
            reciprocal = self._atom(self.tape.div(self.tape.one, below))
            if len(reciprocal) == 1 and (m := next(iter(reciprocal))):
                self._reciprocals[m[0]] = below
            return reciprocal if a == {(): Fraction(1)} else self._multiply(a, reciprocal)
        return self._atom(self.tape.div(self._to_node(a), below))

    def _apply_pythagoras(self, a: Sum) -> Sum:
        """x sin² + x cos² = x"""
        nodes = self.tape.nodes
        for m in list(a):
            for i in {k for k, n in Counter(m).items() if n > 1 and nodes[k][0] == "sin"}:
                rest = list(m)
                rest.remove(i)
                rest.remove(i)
                cosine = self.tape.call("cos", nodes[i][1])
                other = tuple(sorted((*rest, cosine, cosine)))
                if m in a and a.get(other) == a[m]:
                    x = a.pop(m)
                    del a[other]
                    return self._add(a, {tuple(rest): x}, 1)
        return a

    # ---- and back ----------------------------------------------------------------------------

    def _to_node(self, a: Sum) -> int:
        """The sum on the tape: what varies in it, each product with all its parameters."""
        by_product: dict[Monomial, Sum] = {}
        for m, x in a.items():
            moving = tuple(i for i in m if self._varies(i))
            by_product.setdefault(moving, {})[tuple(i for i in m if not self._varies(i))] = x
        return self._factor_common(by_product)

    def _factor_common(self, terms: dict[Monomial, Sum]) -> int:
        """x q + r, where x is what most of the terms have in common."""
        t = self.tape
        counts = Counter(i for m in terms for i in set(m))
        best = max(counts, key=lambda i: (counts[i], -i), default=None)
        if best is None or counts[best] < 2:
            return sum_of_products(
                t, ((self._constant(terms[m]), self._product(m)) for m in sorted(terms))
            )
        inside: dict[Monomial, Sum] = {}
        outside: dict[Monomial, Sum] = {}
        for m, x in terms.items():
            if best in m:
                rest = list(m)
                rest.remove(best)
                inside[tuple(rest)] = x
            else:
                outside[m] = x
        product = self._mul_node(best, self._factor_common(inside))
        return t.add(product, self._factor_common(outside)) if outside else product

    def _constant(self, a: Sum) -> int:
        """Σ x Π i"""
        terms = (
            prod((Scalar(self.tape, i) for i in m), start=Scalar(self.tape, self.tape.const(x)))
            for m, x in sorted(a.items())
        )
        return sum_scalars(self.tape, terms).i

    def _product(self, m: Monomial) -> int:
        """Products that are there already first."""
        factors = list(m)
        while len(factors) > 1:
            pairs = [(a, b) for k, a in enumerate(factors) for b in factors[k + 1 :]]
            a, b = next((p for p in pairs if p in self._products), pairs[0])
            factors.remove(a)
            factors.remove(b)
            factors = sorted([*factors, self._mul_node(a, b)])
        return factors[0] if factors else self.tape.one

    def _mul_node(self, a: int, b: int) -> int:
        self._products.add((min(a, b), max(a, b)))
        return self.tape.mul(a, b)


def cheapest_recurrence(
    tape: Tape, outs: Sequence[int], state: Sequence[int], implied: ImplicitRates | None = None
) -> TaylorRecurrence:
    """The cheapest of several forms; the last outs are the rates that are implied, where there
    are such.
    """
    candidates = [TaylorRecurrence(tape, outs, state)]
    rates = implied or ImplicitRates((), (), ())
    explicit = len(outs) - len(rates.symbols)
    if implied is not None:
        candidates.append(TaylorRecurrence(tape, outs[:explicit], state, rates))
    for most_terms in _TERMS if len(candidates[-1].pairs) <= _MOST_PAIRS else ():
        form = TaylorSimplifier(tape, (*state, *rates.symbols), most_terms)
        short = form((*outs[:explicit], *rates.residuals))
        candidates.append(
            TaylorRecurrence(
                form.tape,
                short[:explicit],
                state,
                rates._replace(residuals=tuple(short[explicit:])),
            )
        )
    return min(candidates, key=lambda rule: rule.operations + _PER_SUM * len(rule.pairs))
