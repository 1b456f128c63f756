"""e(x) = 0 solved for x: every value there is, as far as that can be decided.

The equation is cut into factors. One that is linear in cos x and sin x, or a polynomial in x, in cos x or in sin x whose roots are all
found, has no other solutions than those given, whole turns aside. What SymPy finds beyond that may not be all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dalembert.algebra.folds import Linear
from dalembert.algebra.scalar import Scalar, on
from dalembert.errors import NotApplicable, NotLinear
from dalembert.notebook import Shown


@dataclass(frozen=True)
class Solutions(Shown):
    """The values of a coordinate in equilibrium, each where it is real.

    `complete` says that there are no others, the whole turns of an angle aside; otherwise there may be.
    """

    unknown: str
    values: tuple[Scalar, ...]
    complete: bool

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: int) -> Scalar:
        return self.values[k]

    def __str__(self) -> str:
        listed = [f"{self.unknown} = {value}" for value in self.values] or [f"no value of {self.unknown}"]
        others = "there are no others" if self.complete else "there may be others; da.equilibria searches by numbers"
        return "\n".join([*listed, others])


def solutions(e: Scalar, x: Scalar) -> Solutions:
    """x from e(x) = 0: by one division where e is linear, otherwise by the factors of e."""
    t = e.tape
    try:
        c, k = Linear(t, [x.i])(e.i)
    except NotLinear:
        return _by_factors(e, x)
    return Solutions(str(x), (Scalar(t, t.neg(t.div(c, k[0]))),), complete=True)


def _by_factors(e: Scalar, x: Scalar) -> Solutions:
    import sympy

    unknown = x.sympy()
    numerator = sympy.fraction(sympy.together(e.sympy()))[0]
    factors = [f for f, _ in sympy.factor_list(numerator)[1] if f.has(unknown)]
    try:
        parts = [_roots(f, unknown) for f in factors]
    except (NotImplementedError, TypeError, ValueError):
        parts = [([], False)]
    values = dict.fromkeys(v for roots, _ in parts for v in roots)
    complete = all(whole for _, whole in parts)
    if not values and not complete:
        msg = f"equilibrium: {x} is not elementary here; da.equilibrium solves by numbers"
        raise NotApplicable(msg)
    return Solutions(str(x), tuple(Scalar(e.tape, on(e.tape, v)) for v in values), complete=complete)


def _roots(f: Any, x: Any) -> tuple[list[Any], bool]:
    """The roots of one factor, and whether they are all."""
    import sympy

    C, S = sympy.symbols("C S", cls=sympy.Dummy)
    in_circle = f.subs({sympy.cos(x): C, sympy.sin(x): S})
    if not in_circle.has(x):
        return _on_circle(f, in_circle, x, C, S)
    if f.is_polynomial(x):
        return _of_polynomial(f, x)
    return sympy.solve(f, x), False


def _on_circle(f: Any, p: Any, x: Any, C: Any, S: Any) -> tuple[list[Any], bool]:
    """p(cos x, sin x) = 0"""
    import sympy

    if sympy.Poly(p, C, S).total_degree() == 1:
        return _linear_on_circle(p.coeff(C), p.coeff(S), p.subs({C: 0, S: 0})), True
    if not p.has(S):
        cosines, whole = _of_polynomial(p, C)
        return [v for c in cosines for v in _linear_on_circle(1, 0, -c)], whole
    if not p.has(C):
        sines, whole = _of_polynomial(p, S)
        return [v for s in sines for v in _linear_on_circle(0, 1, -s)], whole
    return sympy.solve(f, x), False


def _linear_on_circle(a: Any, b: Any, c: Any) -> list[Any]:
    """a cos x + b sin x + c = 0: x = atan2(b, a) ± acos(−c/√(a² + b²)), in the simplest form"""
    import sympy

    if b == 0:
        first = sympy.acos(-c / a)
        return [first, -first]
    if a == 0:
        first = sympy.asin(-c / b)
        return [first, sympy.pi - first]
    if c == 0:
        first = sympy.atan(-a / b)
        return [first, first + sympy.pi]
    middle, half = sympy.atan2(b, a), sympy.acos(-c / sympy.sqrt(a**2 + b**2))
    return [middle + half, middle - half]


def _of_polynomial(p: Any, x: Any) -> tuple[list[Any], bool]:
    import sympy

    polynomial = sympy.Poly(p, x)
    roots = sympy.roots(polynomial)
    return list(roots), sum(roots.values()) == polynomial.degree()
