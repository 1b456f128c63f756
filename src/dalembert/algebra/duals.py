"""x + Σ_k d_k ε_k with ε_j ε_k = 0: a tape evaluated together with its slopes, at many points at once.

A fold in this arithmetic gives values and exact Jacobians by the chain rule, without any new node on the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.algebra.folds import evaluate
from dalembert.algebra.tape import Number, Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


class Dual(NamedTuple):
    """Values at K points, and slopes along D directions at each: (K,) and (D, K), or None where nothing varies."""

    x: Numbers
    d: Numbers | None


def _slopes() -> dict[str, Callable[[Numbers, Numbers], Numbers]]:
    """df/dx from x and f(x), for every elementary function of the tape."""
    return {
        "sin": lambda x, _: np.cos(x),
        "cos": lambda x, _: -np.sin(x),
        "exp": lambda _, f: f,
        "log": lambda x, _: 1.0 / x,
        "sqrt": lambda _, f: 0.5 / f,
        "sinh": lambda x, _: np.cosh(x),
        "cosh": lambda x, _: np.sinh(x),
        "atan": lambda x, _: 1.0 / (1.0 + x * x),
        "asin": lambda x, _: 1.0 / np.sqrt(1.0 - x * x),
        "acos": lambda x, _: -1.0 / np.sqrt(1.0 - x * x),
        "abs": lambda x, _: np.sign(x),
        "sign": lambda x, _: np.zeros_like(x),
    }


class Duals:
    """The rules of differentiation as an arithmetic."""

    _names = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}  # noqa: RUF012 - a table that is only read

    def __init__(self) -> None:
        self._slopes = _slopes()

    def const(self, value: Number) -> Dual:
        return Dual(np.array([float(value)]), None)

    def pi(self) -> Dual:
        return Dual(np.array([np.pi]), None)

    def add(self, a: Dual, b: Dual) -> Dual:
        d = b.d if a.d is None else a.d if b.d is None else a.d + b.d
        return Dual(a.x + b.x, d)

    def sub(self, a: Dual, b: Dual) -> Dual:
        d = a.d if b.d is None else -b.d if a.d is None else a.d - b.d
        return Dual(a.x - b.x, d)

    def neg(self, a: Dual) -> Dual:
        return Dual(-a.x, None if a.d is None else -a.d)

    def mul(self, a: Dual, b: Dual) -> Dual:
        return Dual(a.x * b.x, _sum(a.d, b.x, b.d, a.x))

    def div(self, a: Dual, b: Dual) -> Dual:
        quotient = a.x / b.x
        return Dual(quotient, _sum(a.d, 1.0 / b.x, b.d, -quotient / b.x))

    def atan2(self, a: Dual, b: Dual) -> Dual:
        square = a.x * a.x + b.x * b.x
        return Dual(np.arctan2(a.x, b.x), _sum(a.d, b.x / square, b.d, -a.x / square))

    def call(self, function: str, a: Dual, node: int) -> Dual:  # noqa: ARG002 - the angle's identity does not matter here
        f = np.asarray(getattr(np, self._names.get(function, function))(a.x))
        return Dual(f, None if a.d is None else a.d * self._slopes[function](a.x, f))


def _sum(da: Numbers | None, ka: Numbers, db: Numbers | None, kb: Numbers) -> Numbers | None:
    """ka da + kb db"""
    if da is None:
        return None if db is None else db * kb
    return da * ka if db is None else da * ka + db * kb


def jacobian(
    tape: Tape, outs: Sequence[int], wrt: Sequence[int], state: Mapping[int, Numbers | float], count: int = 1, kind: type = np.float64
) -> tuple[Numbers, Numbers]:
    """e and ∂e/∂x of the nodes at `count` points: arrays of shape (count, outs) and (count, outs, wrt).

    `state` gives every symbol as a number or as one number for each point. Where a node is not defined it is NaN. With
    complex numbers as the `kind`, a small imaginary step of a symbol makes the imaginary parts slopes along it, exactly.
    """
    place = {i: k for k, i in enumerate(wrt)}

    def symbol(i: int) -> Dual:
        x: Numbers = np.atleast_1d(np.asarray(state[i], dtype=kind))
        if i not in place:
            return Dual(x, None)
        d = np.zeros((len(wrt), 1))
        d[place[i]] = 1.0
        return Dual(x, d)

    with np.errstate(all="ignore"):
        found = evaluate(tape, outs, symbol, Duals())
    values: Numbers = np.empty((count, len(outs)), dtype=kind)
    slopes: Numbers = np.zeros((count, len(outs), len(wrt)), dtype=kind)
    for k, e in enumerate(found):
        values[:, k] = e.x
        if e.d is not None:
            slopes[:, k, :] = e.d.T
    return values, slopes
