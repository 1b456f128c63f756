"""x + Σ_k d_k ε_k with ε_j ε_k = 0: a tape evaluated together with its slopes, at many points at
once.
Keywords: dual numbers.

A fold in this arithmetic gives values and exact Jacobians by the chain rule, without any new node
on the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.symbolic.algebra import data_arrays
from dalembert.symbolic.algebra.arithmetic import NUMPY_NAMES
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.tape import Number, Tape

# values at K points, and slopes along D directions at each: (K,) and (D, K), or None where nothing
# varies; a bare pair, one for every node
Dual: TypeAlias = "tuple[FloatArray, FloatArray | None]"


# df/dx from x and f(x), for every elementary function of the tape
_SLOPES: Final[dict[str, Callable[[FloatArray, FloatArray], FloatArray]]] = {
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


class DualArithmetic:
    """The rules of differentiation as an arithmetic."""

    def const(self, value: Number) -> Dual:
        return np.array([float(value)]), None

    def pi(self) -> Dual:
        return np.array([np.pi]), None

    def add(self, a: Dual, b: Dual) -> Dual:
        (x, dx), (y, dy) = a, b
        return x + y, dy if dx is None else dx if dy is None else dx + dy

    def sub(self, a: Dual, b: Dual) -> Dual:
        (x, dx), (y, dy) = a, b
        return x - y, dx if dy is None else -dy if dx is None else dx - dy

    def neg(self, a: Dual) -> Dual:
        x, d = a
        return -x, None if d is None else -d

    def mul(self, a: Dual, b: Dual) -> Dual:
        (x, dx), (y, dy) = a, b
        return x * y, _sum(dx, y, dy, x)

    def div(self, a: Dual, b: Dual) -> Dual:
        (x, dx), (y, dy) = a, b
        quotient = x / y
        return quotient, _sum(dx, 1.0 / y, dy, -quotient / y)

    def atan2(self, a: Dual, b: Dual) -> Dual:
        (x, dx), (y, dy) = a, b
        square = x * x + y * y
        return np.arctan2(x, y), _sum(dx, y / square, dy, -x / square)

    def interval(self, a: Dual, b: Dual) -> Dual:
        return np.asarray(data_arrays.interval(a[0], b[0])), None

    def lookup(self, a: Dual, b: Dual) -> Dual:
        return np.asarray(data_arrays.lookup(a[0], b[0])), None

    # the angle's identity does not matter here
    def call(self, function: str, a: Dual, node: int) -> Dual:  # noqa: ARG002
        x, d = a
        f = np.asarray(getattr(np, NUMPY_NAMES.get(function, function))(x))
        return f, None if d is None else d * _SLOPES[function](x, f)


def _sum(
    da: FloatArray | None, ka: FloatArray, db: FloatArray | None, kb: FloatArray
) -> FloatArray | None:
    """ka da + kb db"""
    if da is None:
        return None if db is None else db * kb
    return da * ka if db is None else da * ka + db * kb


def jacobian(
    tape: Tape,
    outs: Sequence[int],
    wrt: Sequence[int],
    state: Mapping[int, FloatArray | float],
    count: int = 1,
    kind: type = np.float64,
) -> tuple[FloatArray, FloatArray]:
    """e and ∂e/∂x of the nodes at `count` points: arrays of shape (count, outs) and (count, outs,
    wrt).

    `state` gives every symbol as a number or as one number for each point. Where a node is not
    defined it is NaN. With complex numbers as the `kind`, a small imaginary step of a symbol makes
    the imaginary parts slopes along it, exactly.
    """
    place = {i: k for k, i in enumerate(wrt)}

    def symbol(i: int) -> Dual:
        x: FloatArray = np.atleast_1d(np.asarray(state[i], dtype=kind))
        if i not in place:
            return x, None
        d = np.zeros((len(wrt), 1))
        d[place[i]] = 1.0
        return x, d

    with np.errstate(all="ignore"):
        duals = evaluate(tape, outs, symbol, DualArithmetic())
    values: FloatArray = np.empty((count, len(outs)), dtype=kind)
    slopes: FloatArray = np.zeros((count, len(outs), len(wrt)), dtype=kind)
    for k, (x, d) in enumerate(duals):
        values[:, k] = x
        if d is not None:
            slopes[:, k, :] = d.T
    return values, slopes
