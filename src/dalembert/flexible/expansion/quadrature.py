"""∫₀¹ p dξ = Σ w_k p(ξ_k): rational nodes near those of Gauss and Legendre, and weights that make the rule exact in ℚ.

Gauss's own nodes are irrational. A rule through m rational nodes is exact for polynomials below degree m, whatever the nodes
are; near Gauss's nodes its weights are positive, so that the nodes can carry masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dalembert.flexible.expansion.polynomials import Polynomial

# the digits to which Gauss's nodes are rounded, and the most that are tried until all weights are positive
_FEWEST_DIGITS: Final = 2
_MOST_DIGITS: Final = 8


@dataclass(frozen=True)
class Rule:
    """Nodes and weights on 0 ≤ ξ ≤ 1; `exact` up to this degree in ℚ, None: to rounding only."""

    nodes: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    exact: int | None

    def __len__(self) -> int:
        return len(self.nodes)


@lru_cache(maxsize=64)
def exact_rule(degree: int) -> Rule:
    """A rule that integrates every polynomial up to this degree exactly."""
    count = degree + 1
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        nodes = _rounded(count, 10**digits)
        if len(set(nodes)) == count and nodes[0] > 0:
            weights = _weights(nodes)
            if min(weights) > 0:
                return Rule(nodes, weights, degree)
    msg = f"no rational rule for degree {degree}"
    raise AssertionError(msg)


@lru_cache(maxsize=64)
def gauss_rule(count: int) -> Rule:
    """Gauss and Legendre's rule, its nodes and weights to rounding."""
    nodes, weights = _gauss(count)
    return Rule(tuple(map(Fraction, nodes)), tuple(map(Fraction, weights)), None)


def _gauss(count: int) -> tuple[list[float], list[float]]:
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(count)
    return [(1 + float(x)) / 2 for x in nodes], [float(w) / 2 for w in weights]


def _rounded(count: int, scale: int) -> tuple[Fraction, ...]:
    """Gauss's nodes as fractions of `scale`, symmetric about ½."""
    left = [Fraction(round(x * scale), scale) for x in _gauss(count)[0][: count // 2]]
    middle = [Fraction(1, 2)] if count % 2 else []
    return (*left, *middle, *(1 - x for x in reversed(left)))


def _weights(nodes: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """w_k = ∫₀¹ Π_{j≠k} (ξ − ξ_j)/(ξ_k − ξ_j) dξ"""
    whole = Polynomial.of([1])
    for x in nodes:
        whole *= Polynomial.of([-x, 1])
    coefficients = whole.coefficients
    found = []
    for x in nodes:
        # Horner's scheme divides by ξ − ξ_k; the quotient at ξ_k is the denominator
        quotient = [Fraction(0)] * len(nodes)
        carry = Fraction(0)
        for i in range(len(nodes), 0, -1):
            carry = coefficients[i] + carry * x
            quotient[i - 1] = carry
        others = Polynomial.of(quotient)
        found.append(others.primitive(1) / others(x))
    return tuple(found)
