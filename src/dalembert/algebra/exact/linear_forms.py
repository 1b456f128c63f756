"""i = Σ c g with rational c: what stands under sines, cosines and exponentials, as a form in generators.

The generators g are what is no sum and no product with a number. Each is known by its value at a point (the smaller
of ±), so different ways of writing the same g agree; rational numbers have g = 1.
"""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dalembert.algebra.exact.modular import NoRoot
from dalembert.algebra.exact.quadratic import Element
from dalembert.algebra.tape import Number

if TYPE_CHECKING:
    from dalembert.algebra.exact.point import PrimePoint

Form = dict[int, Number]

# products of sums inside an angle are expanded up to this many terms: Ω(t + τ) is Ωt + Ωτ
_LARGEST_PRODUCT: Final = 200


class LinearForms:
    """The forms of the nodes of one point, found when asked for."""

    __slots__ = ("_given", "_known", "_point")

    def __init__(self, point: PrimePoint, given: Container[int]) -> None:
        self._point, self._given = point, given
        self._known: dict[int, Form] = {}

    def forget(self, i: int) -> None:
        """Node i has another value now."""
        self._known.pop(i, None)

    def __call__(self, i: int) -> Form:
        """{value of g: c}"""
        self._point(i)
        forms = self._known
        stack = [i]
        while stack:
            j = stack[-1]
            if j not in forms:
                missing = [k for k in self._terms(j) if k not in forms]
                if missing:
                    stack.extend(missing)
                    continue
                forms[j] = self._form(j)
            stack.pop()
        return forms[i]

    def _terms(self, i: int) -> tuple[int, ...]:
        """The nodes whose forms make up the form of i."""
        op, a, b = self._point.tape.nodes[i]
        if i in self._given:
            return ()
        if op in ("add", "sub", "mul", "div"):
            return (a, b)
        if op == "neg":
            return (a,)
        return (self._point.tape.nodes[a][1],) if op == "log" and self.is_exp(a) else ()

    def is_exp(self, i: int) -> bool:
        """Whether node i is an exponential, whose logarithm is known."""
        return i not in self._given and bool(self._point.tape.nodes[i][0] == "exp")

    def _form(self, i: int) -> Form:
        if i in self._given:
            return self._generator(self._point(i))
        op, a, b = self._point.tape.nodes[i]
        if op == "const":
            return {1: a} if a else {}
        if op == "acos":
            return _sum(
                {self._point.generators.pi: Fraction(1, 2)}, self._generator(self._point.generators.odd("asin", self._point.plain(a))), -1
            )
        if op == "atan2":
            t, k = self._point.direction(a, b)
            return _sum(self._generator(self._point.generators.odd("atan", t)), {self._point.generators.pi: k} if k else {}, 1)
        terms = [self._known[k] for k in self._terms(i)]
        if op in ("add", "sub"):
            return _sum(terms[0], terms[1], 1 if op == "add" else -1)
        if op == "neg":
            return {g: -c for g, c in terms[0].items()}
        if op == "mul" and len(terms[0]) * len(terms[1]) <= _LARGEST_PRODUCT:
            return self._product(terms[0], terms[1])
        if op == "div" and len(terms[0]) <= _LARGEST_PRODUCT:
            return self._product(terms[0], self._reciprocal(b))
        return terms[0] if op == "log" and terms else self._generator(self._point(i))

    def _generator(self, value: Element, c: Number = 1) -> Form:
        if not value:
            return {}
        if isinstance(value, tuple):
            msg = "an angle or an exponent with a root that is not real at this point"
            raise NoRoot(msg)
        return {value: c} if 2 * value < self._point.prime else {self._point.prime - value: -c}

    def _product(self, x: Form, y: Form) -> Form:
        if len(x) == 1 and 1 in x:
            return {g: x[1] * c for g, c in y.items()}
        found: Form = {}
        for g, c in x.items():
            for h, d in y.items():
                for key, k in self._generator(g * h % self._point.prime, c * d).items():
                    found[key] = found.get(key, 0) + k
        return {g: c for g, c in found.items() if c}

    def _reciprocal(self, b: int) -> Form:
        if len(self._known[b]) == 1:
            ((g, c),) = self._known[b].items()
            return self._generator(pow(g, -1, self._point.prime), 1 / Fraction(c))
        return self._generator(pow(self._point.plain(b), -1, self._point.prime))


def _sum(x: Form, y: Form, factor: int) -> Form:
    found = dict(x)
    for g, c in y.items():
        total = found.get(g, 0) + factor * c
        if total:
            found[g] = total
        else:
            found.pop(g, None)
    return found
