"""y(x), ∂y/∂x and ∂²(μᵀy)/∂x² as dense arrays for states in rows: expressions, accelerations of
trees, implicit accelerations.

Each part has the same three functions of states X in rows and parameters p:
`values` (K × m), `jacobian` (K × m × n) and `hessian` (K × n × n, with multipliers in rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.derivatives.column_function import ColumnFunction
from dalembert.runtime.derivatives.sparse import (
    SparseEntries,
    contracted_hessian,
    hessian_times_vector,
    sparse_jacobian,
)
from dalembert.runtime.derivatives.tape_function import TapeFunction
from dalembert.runtime.numerics.python_binding import Array
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.tape import Tape

Pattern = NDArray[np.bool_]


class SingularDynamics(DalembertError):
    """Accelerations that the equations do not determine in a state."""


class VectorFunction(Protocol):
    """Values at one state, or at states in rows."""

    def call(self, x: Array, p: Array) -> Array:
        """At one state."""
        ...

    def batch(self, X: Array, p: Array) -> Array:
        """At states in rows."""
        ...


class Part(Protocol):
    """Quantities with their derivatives."""

    @property
    def n_out(self) -> int:
        """m"""
        ...

    @property
    def pattern(self) -> Pattern:
        """Where ∂y/∂x may differ from zero."""
        ...

    @property
    def hessian_pattern(self) -> Pattern:
        """Where the lower triangle of ∂²(μᵀy)/∂x² may differ from zero."""
        ...

    def values(self, X: Array, p: Array) -> Array:
        """y, K × m"""
        ...

    def jacobian(self, X: Array, p: Array) -> Array:
        """∂y/∂x, K × m × n"""
        ...

    def hessian(self, X: Array, mu: Array, p: Array) -> Array:
        """∂²(μᵀy)/∂x², K × n × n"""
        ...

    def hessian_vector(self, X: Array, mu: Array, v: Array, p: Array) -> Array:
        """∂²(μᵀy)/∂x² v, K × n"""
        ...


@dataclass(frozen=True)
class Symbols:
    """What functions are given: the state by columns, parameters, and the variables of
    differentiation.
    """

    state: tuple[int, ...]
    parameters: tuple[int, ...]
    wrt: tuple[int, ...]
    # how many evaluations are expected: many are compiled at once
    points: int = 0

    def function(self, tape: Tape, outs: Sequence[int], more: Sequence[int] = ()) -> TapeFunction:
        """Nodes of a tape as a function of the state, with more symbols behind it."""
        return TapeFunction(tape, outs, (*self.state, *more), self.parameters, self.points)


def _evaluate(function: VectorFunction, X: Array, p: Array) -> Array:
    """One state without code for many; both have the same bits."""
    if len(X) == 1:
        return np.asarray(function.call(X[0], p if p.ndim == 1 else p[0]))[None]
    return function.batch(X, p)


def _filled(matrix: SparseEntries, entries: Array) -> Array:
    """Entries at their places, zeros elsewhere."""
    full = np.zeros((len(entries), *matrix.shape))
    full[:, list(matrix.rows), list(matrix.columns)] = entries
    return full


def _pattern(matrix: SparseEntries) -> Pattern:
    results = np.zeros(matrix.shape, dtype=bool)
    results[list(matrix.rows), list(matrix.columns)] = True
    return results


class ExpressionPart:
    """Expressions of a tape, differentiated there."""

    def __init__(self, tape: Tape, outs: Sequence[int], symbols: Symbols) -> None:
        self.tape, self.outs, self.symbols = tape.fork(), tuple(outs), symbols
        self.n_out = len(self.outs)

    def values(self, X: Array, p: Array) -> Array:
        return _evaluate(self._values, X, p)

    def jacobian(self, X: Array, p: Array) -> Array:
        matrix, function = self._first
        return _filled(matrix, _evaluate(function, X, p))

    def hessian(self, X: Array, mu: Array, p: Array) -> Array:
        matrix, function = self._second
        lower = _filled(matrix, _evaluate(function, np.hstack([X, mu]), p))
        diagonal = np.einsum("kii->ki", lower).copy()
        full = lower + np.swapaxes(lower, 1, 2)
        np.einsum("kii->ki", full)[:] = diagonal
        return full

    def hessian_vector(self, X: Array, mu: Array, v: Array, p: Array) -> Array:
        return _evaluate(self._product, np.hstack([X, mu, v]), p)

    @property
    def pattern(self) -> Pattern:
        """Where ∂y/∂x may differ from zero."""
        return _pattern(self._first[0])

    @property
    def hessian_pattern(self) -> Pattern:
        """Where the lower triangle of ∂²(μᵀy)/∂x² may differ from zero."""
        return _pattern(self._second[0])

    @cached_property
    def _values(self) -> TapeFunction:
        return self.symbols.function(self.tape, self.outs)

    @cached_property
    def _first(self) -> tuple[SparseEntries, TapeFunction]:
        matrix = sparse_jacobian(self.tape, self.outs, self.symbols.wrt)
        return matrix, self.symbols.function(self.tape, matrix.nodes)

    @cached_property
    def _multipliers(self) -> tuple[int, ...]:
        return tuple(self.tape.private_symbol(f"multiplier {k}") for k in range(self.n_out))

    @cached_property
    def _second(self) -> tuple[SparseEntries, TapeFunction]:
        mu = self._multipliers
        matrix = contracted_hessian(self.tape, self.outs, mu, self.symbols.wrt)
        return matrix, self.symbols.function(self.tape, matrix.nodes, mu)

    @cached_property
    def _product(self) -> TapeFunction:
        mu, wrt = self._multipliers, self.symbols.wrt
        v = [self.tape.private_symbol(f"direction {k}") for k in range(len(wrt))]
        nodes = hessian_times_vector(self.tape, self.outs, mu, wrt, v)
        return self.symbols.function(self.tape, nodes, (*mu, *v))


class ImplicitPart:
    """z with r(x, z) = 0, r linear in z; the first m of z are the quantities.

    ∂z/∂x = −(∂r/∂z)⁻¹ ∂r/∂x and λᵀ∂²z = −Pᵀ ∇²(μᵀr) P with (∂r/∂z)ᵀ μ = λ, P = ∂(x, z)/∂x.
    """

    def __init__(
        self,
        tape: Tape,
        residuals: Sequence[int],
        unknowns: Sequence[int],
        symbols: Symbols,
        n_out: int,
        absent: Sequence[int] = (),
    ) -> None:
        self.tape, self.residuals, self.unknowns = tape.fork(), tuple(residuals), tuple(unknowns)
        self.symbols, self.n_out = symbols, n_out
        # loads that are zero, but by which derivatives are taken
        self._without = Substitution(self.tape, dict.fromkeys(absent, self.tape.zero))

    def values(self, X: Array, p: Array) -> Array:
        return self._solution(X, p)[0][:, : self.n_out]

    def jacobian(self, X: Array, p: Array) -> Array:
        return self._slopes(X, p)[2][:, : self.n_out]

    def hessian(self, X: Array, mu: Array, p: Array) -> Array:
        z, A, slopes = self._slopes(X, p)
        K, n = len(X), len(self.symbols.wrt)
        load = np.zeros((K, len(self.unknowns), 1))
        load[:, : self.n_out, 0] = mu
        weights = _solve(np.swapaxes(A, 1, 2), load)[:, :, 0]
        inner = self._second.hessian(np.hstack([X, z]), weights, p)
        P = np.concatenate([np.broadcast_to(np.eye(n), (K, n, n)), slopes], axis=1)
        return np.asarray(-np.swapaxes(P, 1, 2) @ inner @ P)

    def hessian_vector(self, X: Array, mu: Array, v: Array, p: Array) -> Array:
        return np.asarray((self.hessian(X, mu, p) @ v[:, :, None])[:, :, 0])

    @property
    def pattern(self) -> Pattern:
        """Every variable that the equations contain may act on every acceleration."""
        inside = np.atleast_1d(_pattern(self._first[0]).any(axis=0))
        return np.tile(inside[: len(self.symbols.wrt)], (self.n_out, 1))

    @property
    def hessian_pattern(self) -> Pattern:
        """The lower triangle of those."""
        inside = self.pattern[0]
        return np.tril(np.outer(inside, inside))

    def _solution(self, X: Array, p: Array) -> tuple[Array, Array]:
        """z and ∂r/∂z."""
        matrix, function = self._linear
        entries = _evaluate(function, X, p)
        count = len(self.residuals)
        A = _filled(matrix, entries[:, count:])
        return _solve(A, -entries[:, :count, None])[:, :, 0], A

    def _slopes(self, X: Array, p: Array) -> tuple[Array, Array, Array]:
        """z, ∂r/∂z and ∂z/∂x."""
        z, A = self._solution(X, p)
        matrix, function = self._first
        r_x = _filled(matrix, _evaluate(function, np.hstack([X, z]), p))
        return z, A, -_solve(A, r_x)

    @cached_property
    def _linear(self) -> tuple[SparseEntries, TapeFunction]:
        """r at z = 0, and ∂r/∂z, which does not contain z."""
        t, none = self.tape, Substitution(self.tape, dict.fromkeys(self.unknowns, self.tape.zero))
        matrix = sparse_jacobian(t, self.residuals, self.unknowns)
        outs = [none(self._without(i)) for i in (*self.residuals, *matrix.nodes)]
        return matrix, self.symbols.function(t, outs)

    @cached_property
    def _first(self) -> tuple[SparseEntries, TapeFunction]:
        matrix = sparse_jacobian(self.tape, self.residuals, self.symbols.wrt)
        nodes = [*map(self._without, matrix.nodes)]
        return matrix, self.symbols.function(self.tape, nodes, self.unknowns)

    @cached_property
    def _second(self) -> ExpressionPart:
        own = self.symbols
        state, wrt = ((*given, *self.unknowns) for given in (own.state, own.wrt))
        symbols = Symbols(state, own.parameters, wrt, own.points)
        return ExpressionPart(self.tape, [*map(self._without, self.residuals)], symbols)


def _solve(A: Array, b: Array) -> Array:
    """A⁻¹ b for each state, or an error."""
    if not A.shape[1]:
        return b
    try:
        results = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        results = np.full_like(b, np.nan)
    if not np.isfinite(results).all():
        row = int(np.flatnonzero(~np.isfinite(results).all(axis=(1, 2)))[0])
        msg = (
            f"the equations do not determine the accelerations in state {row}: its constraint "
            "rows depend on one another, or the mass matrix is singular; choose another state"
        )
        raise SingularDynamics(msg)
    return np.asarray(results)


@dataclass(frozen=True, eq=False)
class TreePart:
    """u̇ of an open tree: first derivatives by its tables, values by articulated bodies, second
    ones through the required loads.
    """

    n_out: int
    accelerations: TapeFunction
    # dense, row by row
    slopes: TapeFunction | ColumnFunction
    # which of its columns are wanted
    columns: tuple[int, ...]
    pattern: Pattern
    second: ImplicitPart

    def values(self, X: Array, p: Array) -> Array:
        return _evaluate(self.accelerations, X, p)

    def jacobian(self, X: Array, p: Array) -> Array:
        full = _evaluate(self.slopes, X, p).reshape(len(X), self.n_out, -1)
        return full if self.columns == (*range(full.shape[2]),) else full[:, :, self.columns]

    def hessian(self, X: Array, mu: Array, p: Array) -> Array:
        return self.second.hessian(X, mu, p)

    def hessian_vector(self, X: Array, mu: Array, v: Array, p: Array) -> Array:
        return self.second.hessian_vector(X, mu, v, p)

    @property
    def hessian_pattern(self) -> Pattern:
        """The lower triangle of the variables that act on any acceleration."""
        return self.second.hessian_pattern
