"""x(τ) = Σ x_k τ^k in F_p: the motion x' = f(x) from a point, as a power series with exact
coefficients.

Each node of a tape has a series of its own, found order by order: (ab)_k = Σ a_j b_{k−j}, and for
functions by their differential equations, (sin a)' = a' cos a. What follows from finitely many
coefficients, such as the rank of their derivatives, is thus decided without rounding.

Source: GW08 ch. 13 (the recurrences).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dalembert.symbolic.algebra.exact.finite_field import BadPoint
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.expression_graph import (
    Substitution,
    dependencies,
    nodes_depending_on,
)
from dalembert.symbolic.algebra.tape import BINARY, Tape

# functions that come in pairs, s' = a' c and c' = ± a' s
_KIND: Final = {"sin": "sin", "cos": "sin", "sinh": "sinh", "cosh": "sinh"}
_COMPANION: Final = {"sin": "cos", "sinh": "cosh"}
_SIGN: Final = {"sin": -1, "sinh": 1}
_SERIES: Final = frozenset(
    {"symbol", "const", "pi", "add", "sub", "mul", "div", "neg", "exp", "log", "sqrt", *_KIND}
)


class PowerSeries:
    """The coefficients of expressions along x' = f(x), from x₀ on; symbols without a rate are
    constants.

    `start` fixes symbols at nodes of the tape, numbers above all; the others have the random value
    of the point.
    """

    def __init__(
        self,
        tape: Tape,
        rates: Mapping[int, int],
        initial_values: Mapping[int, int],
        outs: Sequence[int],
        seed: int,
    ) -> None:
        self._nodes = tape.nodes
        self._order = dependencies(tape, (*rates.values(), *outs))
        moving = nodes_depending_on(tape, self._order, rates)
        self._moving = [i for i in self._order if i in moving]
        self._rates, own = rates, tape.fork()
        insert = Substitution(own, initial_values)
        placed = {i: insert(i) for i in {*self._order, *rates}}
        pairs = {
            (_KIND[op], a) for op, a, _ in map(tape.nodes.__getitem__, self._order) if op in _KIND
        }
        first = {
            (kind, a): [own.call(f, placed[a]) for f in (kind, _COMPANION[kind])]
            for kind, a in pairs
        }
        point = SamplePoint(
            own, seed, outs=[*placed.values(), *(x for both in first.values() for x in both)]
        )
        self.prime = point.prime
        self._c = {i: [point.real_value(node)] for i, node in placed.items()}
        # (s, c) of every argument
        self._both = {
            key: tuple([point.real_value(x)] for x in both) for key, both in first.items()
        }

    def coefficient(self, i: int, k: int) -> int:
        """The coefficient of τ^k of a node among the outs."""
        while len(self._c[next(iter(self._rates))]) <= k:
            self._extend()
        series = self._c[i]
        return series[k] if k < len(series) else 0

    def _extend(self) -> None:
        """One order more for everything that moves."""
        p, c = self.prime, self._c
        k = len(c[next(iter(self._rates))])
        over_k = pow(k, -1, p)
        for x, rate in self._rates.items():
            of_rate = c[rate]
            c[x].append((of_rate[k - 1] if k - 1 < len(of_rate) else 0) * over_k % p)
        for i in self._moving:
            if i not in self._rates:
                op, a, b = self._nodes[i]
                c[i].append(self._coefficient_of(op, a, b, i, k, over_k))

    def _coefficient_of(self, op: str, a: int, b: int, i: int, k: int, over_k: int) -> int:
        """The k-th coefficient of a node whose operands have theirs."""
        p, c = self.prime, self._c
        x = c[a]
        if op in BINARY:
            return self._binary_coefficient(op, x, c[b], c[i], k)
        if op == "neg":
            return -_at(x, k) % p
        if op in _KIND:
            return self._sin_cos_coefficient(op, a, k, over_k)
        y = c[i]
        if op == "exp":
            return sum(j * _at(x, j) * y[k - j] for j in range(1, k + 1)) * over_k % p
        if op == "log":
            return (
                (_at(x, k) - sum(j * y[j] * _at(x, k - j) for j in range(1, k)) * over_k)
                * self._inverse(x[0])
                % p
            )
        # sqrt
        return (_at(x, k) - sum(y[j] * y[k - j] for j in range(1, k))) * self._inverse(2 * y[0]) % p

    def _binary_coefficient(self, op: str, x: list[int], y: list[int], z: list[int], k: int) -> int:
        p = self.prime
        if op == "add":
            return (_at(x, k) + _at(y, k)) % p
        if op == "sub":
            return (_at(x, k) - _at(y, k)) % p
        if op == "mul":
            first, last = max(0, k - len(y) + 1), min(k, len(x) - 1)
            return sum(x[j] * y[k - j] for j in range(first, last + 1)) % p
        return (
            (_at(x, k) - sum(y[j] * z[k - j] for j in range(1, min(k, len(y) - 1) + 1)))
            * self._inverse(y[0])
            % p
        )

    def _sin_cos_coefficient(self, op: str, a: int, k: int, over_k: int) -> int:
        """s' = a' c and c' = ± a' s, both together."""
        kind = _KIND[op]
        s, c = self._both[kind, a]
        if len(s) <= k:
            x, p = self._c[a], self.prime
            of_s = sum(j * _at(x, j) * c[k - j] for j in range(1, k + 1)) * over_k % p
            of_c = sum(j * _at(x, j) * s[k - j] for j in range(1, k + 1)) * over_k * _SIGN[kind] % p
            s.append(of_s)
            c.append(of_c)
        return s[k] if op == kind else c[k]

    def _inverse(self, x: int) -> int:
        if not x % self.prime:
            msg = "a denominator or a root that vanishes at the start"
            raise BadPoint(msg)
        return pow(x, -1, self.prime)


def _at(x: list[int], k: int) -> int:
    return x[k] if k < len(x) else 0


def has_series(tape: Tape, outs: Sequence[int]) -> bool:
    """Whether all functions under `outs` have a power series here: no sign, |·|, asin, acos,
    atan.
    """
    return all(op in _SERIES for op, _, _ in map(tape.nodes.__getitem__, dependencies(tape, outs)))
