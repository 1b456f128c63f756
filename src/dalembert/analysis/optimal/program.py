"""min f(v), c_l ≤ g(v) ≤ c_u, v_l ≤ v ≤ v_u: a sparse nonlinear program as a sum of point
functions.

A term is one point function at many points: output k of point j, times a factor, is added to a row
of g, or to f. Equal functions are compiled once, and all points are evaluated in one call. What is
linear with known coefficients (the derivatives of collocation polynomials) is a constant part of
the Jacobian.

Variables and rows are scaled: the solver sees v/s and r g. Its methods are those that Ipopt's
Python interfaces ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from dalembert.analysis.optimal.point_function import Indices, PointFunction
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

# the row of outputs that belong to the objective, and of those that are left out
OBJECTIVE: Final = -1
NOWHERE: Final = -2


@dataclass(frozen=True, eq=False)
class PointTerm:
    """A function at points: where its unknowns lie in v, its data, and the row and factor of
    each output.
    """

    function: PointFunction
    arguments: Indices
    data: FloatArray
    rows: Indices
    factors: FloatArray
    parameters: FloatArray


@dataclass(frozen=True, eq=False)
class LinearPart:
    """Constant entries (row, column, coefficient) of the Jacobian."""

    rows: Indices
    columns: Indices
    coefficients: FloatArray


@dataclass(frozen=True, eq=False)
class Sizes:
    """Bounds and scales of variables and rows."""

    lower: FloatArray
    upper: FloatArray
    scale: FloatArray
    row_lower: FloatArray
    row_upper: FloatArray
    row_scale: FloatArray


class _TermPlaces:
    """Where the derivatives of a term go."""

    def __init__(self, term: PointTerm) -> None:
        self.term, self.p, f = term, term.parameters, term.function
        self.to_cost = term.rows[0] == OBJECTIVE
        r, c = f.slope_places.T
        self.of_rows, self.of_cost = (
            np.flatnonzero(~self.to_cost[r]),
            np.flatnonzero(self.to_cost[r]),
        )
        self.r, self.c = r, c
        rows, columns = (
            term.rows[:, r[self.of_rows]].ravel(),
            term.arguments[:, c[self.of_rows]].ravel(),
        )
        self.kept = np.flatnonzero(rows != NOWHERE)
        self.rows, self.columns = rows[self.kept], columns[self.kept]
        # where the values of the outputs go
        self.value_rows = term.rows[:, ~self.to_cost].ravel()
        self.kept_values = np.flatnonzero(self.value_rows != NOWHERE)
        self.value_rows = self.value_rows[self.kept_values]
        self.cost_columns = term.arguments[:, c[self.of_cost]]
        i, j = f.curvature_places.T
        first, second = term.arguments[:, i], term.arguments[:, j]
        self.low, self.high = np.maximum(first, second), np.minimum(first, second)
        # two unknowns of a point may be one variable: both mixed derivatives then fall on the
        # diagonal
        self.twice = np.where((first == second) & (i != j)[None, :], 2.0, 1.0)

    def inputs(self, v: FloatArray) -> FloatArray:
        return np.column_stack([v[self.term.arguments], self.term.data])


class NonlinearProgram:
    """The nonlinear program, in scaled variables."""

    def __init__(self, terms: Sequence[PointTerm], linear: LinearPart, sizes: Sizes) -> None:
        self.sizes = sizes
        self.n, self.m = len(sizes.lower), len(sizes.row_lower)
        self._terms = [_TermPlaces(term) for term in terms]
        from scipy.sparse import csr_array

        self._linear = csr_array(
            (linear.coefficients, (linear.rows, linear.columns)), shape=(self.m, self.n)
        )
        self._jacobian_places(linear)
        self._hessian_places()
        self._at: FloatArray | None = None
        self._values: list[FloatArray] = []
        self._sloped_at: FloatArray | None = None
        self._slopes: tuple[FloatArray, FloatArray] = (np.zeros(0), np.zeros(0))

    def _jacobian_places(self, linear: LinearPart) -> None:
        rows = np.concatenate([linear.rows, *(t.rows for t in self._terms)])
        columns = np.concatenate([linear.columns, *(t.columns for t in self._terms)])
        key, slot = np.unique(rows * self.n + columns, return_inverse=True)
        self.jacobian_rows, self.jacobian_columns = key // self.n, key % self.n
        count = len(linear.rows)
        self._constant = np.bincount(slot[:count], linear.coefficients, len(key))
        self._slots = slot[count:]

    def _hessian_places(self) -> None:
        none = np.zeros(0, dtype=np.int64)
        low = np.concatenate([none, *(t.low.ravel() for t in self._terms)])
        high = np.concatenate([none, *(t.high.ravel() for t in self._terms)])
        key, self._hessian_slots = np.unique(low * self.n + high, return_inverse=True)
        self.hessian_rows, self.hessian_columns = key // self.n, key % self.n

    # ---- in the variables of the problem --------------------------------------------------------

    def _evaluate(self, v: FloatArray) -> list[FloatArray]:
        """The values of all terms; cost and rows are evaluated at the same point."""
        if self._at is None or not np.array_equal(self._at, v):
            self._at, self._values = (
                v.copy(),
                [t.term.function.values(t.inputs(v), t.p) for t in self._terms],
            )
        return self._values

    def cost(self, v: FloatArray) -> float:
        """f(v)"""
        pairs = zip(self._terms, self._evaluate(v), strict=True)
        return float(sum((t.term.factors * y)[:, t.to_cost].sum() for t, y in pairs))

    def rows(self, v: FloatArray) -> FloatArray:
        """g(v)"""
        g: FloatArray = self._linear @ v
        for t, y in zip(self._terms, self._evaluate(v), strict=True):
            own = (t.term.factors * y)[:, ~t.to_cost].ravel()
            g += np.bincount(t.value_rows, own[t.kept_values], self.m)
        return g

    def slopes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """∇f, and the entries of ∂g/∂v at `jacobian_rows`, `jacobian_columns`."""
        if self._sloped_at is None or not np.array_equal(self._sloped_at, v):
            self._sloped_at, self._slopes = v.copy(), self._compute_slopes(v)
        return self._slopes

    def _compute_slopes(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, parts = np.zeros(self.n), []
        for t in self._terms:
            y = t.term.factors[:, t.r] * t.term.function.slopes(t.inputs(v), t.p)
            gradient += np.bincount(t.cost_columns.ravel(), y[:, t.of_cost].ravel(), self.n)
            parts.append(y[:, t.of_rows].ravel()[t.kept])
        entries = np.concatenate([np.zeros(0), *parts])
        values: FloatArray = np.bincount(self._slots, entries, len(self._constant)).astype(
            np.float64
        )
        return gradient, self._constant + values

    def curvatures(self, v: FloatArray, multipliers: FloatArray, sigma: float) -> FloatArray:
        """σ ∇²f + Σ λ_i ∇²g_i at `hessian_rows`, `hessian_columns`, lower triangle."""
        padded, parts = np.concatenate([multipliers, [0.0, sigma]]), []
        for t in self._terms:
            mu = t.term.factors * padded[t.term.rows]
            parts.append((t.twice * t.term.function.curvatures(t.inputs(v), mu, t.p)).ravel())
        entries = np.concatenate([np.zeros(0), *parts])
        summed: FloatArray = np.bincount(
            self._hessian_slots, entries, len(self.hessian_rows)
        ).astype(np.float64)
        return summed

    # ---- as the solver sees it ------------------------------------------------------------------

    @cached_property
    def _row_factors(self) -> FloatArray:
        s = self.sizes
        factors: FloatArray = s.row_scale[self.jacobian_rows] * s.scale[self.jacobian_columns]
        return factors

    @cached_property
    def _hessian_factors(self) -> FloatArray:
        s = self.sizes.scale
        factors: FloatArray = s[self.hessian_rows] * s[self.hessian_columns]
        return factors

    def objective(self, x: FloatArray) -> float:
        """f(s x)"""
        return self.cost(self.sizes.scale * x)

    def gradient(self, x: FloatArray) -> FloatArray:
        """s ∇f"""
        return self.sizes.scale * self.slopes(self.sizes.scale * x)[0]

    def constraints(self, x: FloatArray) -> FloatArray:
        """r g(s x)"""
        return self.sizes.row_scale * self.rows(self.sizes.scale * x)

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        """Rows and columns."""
        return self.jacobian_rows, self.jacobian_columns

    def jacobian(self, x: FloatArray) -> FloatArray:
        """r ∂g/∂v s"""
        return self._row_factors * self.slopes(self.sizes.scale * x)[1]

    def hessianstructure(self) -> tuple[Indices, Indices]:
        """Rows and columns of the lower triangle."""
        return self.hessian_rows, self.hessian_columns

    def hessian(self, x: FloatArray, multipliers: FloatArray, sigma: float) -> FloatArray:
        """s (σ ∇²f + Σ λ r ∇²g) s"""
        s = self.sizes
        return self._hessian_factors * self.curvatures(
            s.scale * x, np.asarray(multipliers) * s.row_scale, sigma
        )
