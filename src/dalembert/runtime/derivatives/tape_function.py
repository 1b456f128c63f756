"""y = f(x, p), at once by the tape machine, and by compiled code when it has been evaluated often
enough to pay.

Both engines give the same bits, so that nothing but time depends on the moment of the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dalembert.runtime.derivatives.machine_text import BLOCK
from dalembert.runtime.derivatives.sparse import SparseEntries, contracted_hessian, sparse_jacobian
from dalembert.runtime.derivatives.tape_machine import TapeMachine
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.python_binding import Array
from dalembert.symbolic.algebra.tape import Tape

# points from which on compilation costs less than the machine, for expressions of any size
# (measured)
_PAYS: Final = 200_000


class TapeFunction:
    """Expressions `outs` as functions of the symbols `state` and `parameters`.

    `batch(X, p)` gives the values at states in rows, `call(x, p)` at one; p are parameters for all
    states, or a row for each. `points` is the number of evaluations that are expected; by default
    they are counted.
    """

    def __init__(
        self,
        tape: Tape,
        outs: Sequence[int],
        state: Sequence[int],
        parameters: Sequence[int] = (),
        points: int = 0,
    ) -> None:
        self.tape, self.outs = tape, tuple(outs)
        self.state, self.parameters = tuple(state), tuple(parameters)
        self.n_out, self._left = len(self.outs), _PAYS - points
        self._machine: TapeMachine | None = None
        self._compiled: CompiledFunction | None = None

    def batch(self, X: Array, p: Array | Sequence[float] = ()) -> Array:
        """y for states in rows."""
        # the machine takes as long for few states as for a block
        self._left -= max(len(X), BLOCK)
        return self._engine().batch(X, np.asarray(p, dtype=float))

    def call(self, x: Array, p: Array | Sequence[float] = ()) -> Array:
        """y at one state."""
        self._left -= BLOCK
        return self._engine().call(x, np.asarray(p, dtype=float))

    @property
    def native(self) -> CompiledFunction:
        """The compiled code, for native callers."""
        if self._compiled is None:
            self._compiled = CompiledFunction(self.tape, self.outs, self.state, self.parameters)
        return self._compiled

    def _engine(self) -> TapeMachine | CompiledFunction:
        if self._left < 0 or self._compiled is not None:
            return self.native
        if self._machine is None:
            self._machine = TapeMachine(self.tape, self.outs, self.state, self.parameters)
        return self._machine


class TapeDerivatives:
    """Values, sparse Jacobian and sum_of_products Hessian of expressions `outs` at many points.

    X has a column for each symbol in `state`; derivatives are taken by those in `wrt` (by default
    all of the state). `jacobian(X, p)` gives the entries at (jacobian_rows, jacobian_columns),
    `hessian(X, mu, p)` those of the lower triangle of ∇²(Σ_k μ_k outs_k) at (hessian_rows,
    hessian_columns), one row for each point; mu has a row for each point too. What is not asked for
    is never made.
    """

    def __init__(
        self,
        tape: Tape,
        outs: Sequence[int],
        state: Sequence[int],
        parameters: Sequence[int] = (),
        wrt: Sequence[int] | None = None,
        points: int = 0,
    ) -> None:
        self.tape, self.outs, self.state = tape.fork(), tuple(outs), tuple(state)
        self.parameters = tuple(parameters)
        self.wrt = self.state if wrt is None else tuple(wrt)
        self.points = points
        self._values = TapeFunction(self.tape, self.outs, self.state, self.parameters, points)
        self._first: tuple[SparseEntries, TapeFunction] | None = None
        self._second: tuple[SparseEntries, TapeFunction] | None = None

    def values(self, X: Array, p: Array | Sequence[float] = ()) -> Array:
        """outs at states in rows."""
        return self._values.batch(X, p)

    def jacobian(self, X: Array, p: Array | Sequence[float] = ()) -> Array:
        """The entries of ∂outs/∂wrt at states in rows."""
        return self._jacobian()[1].batch(X, p)

    def hessian(self, X: Array, mu: Array, p: Array | Sequence[float] = ()) -> Array:
        """The entries of the lower triangle of ∇²(μᵀ outs) at states in rows, with multipliers in
        rows.
        """
        both = np.hstack([X, np.broadcast_to(mu, (len(X), len(self.outs)))])
        return self._hessian()[1].batch(both, p)

    @property
    def jacobian_pattern(self) -> SparseEntries:
        """Places and expressions of ∂outs/∂wrt."""
        return self._jacobian()[0]

    @property
    def hessian_pattern(self) -> SparseEntries:
        """Places and expressions of the lower triangle."""
        return self._hessian()[0]

    @property
    def jacobian_rows(self) -> NDArray[np.int64]:
        """Row (number of the output) of each entry of the Jacobian."""
        return np.array(self.jacobian_pattern.rows, dtype=np.int64)

    @property
    def jacobian_columns(self) -> NDArray[np.int64]:
        """Column (place in `wrt`) of each entry of the Jacobian."""
        return np.array(self.jacobian_pattern.columns, dtype=np.int64)

    @property
    def hessian_rows(self) -> NDArray[np.int64]:
        """Row of each entry of the lower triangle."""
        return np.array(self.hessian_pattern.rows, dtype=np.int64)

    @property
    def hessian_columns(self) -> NDArray[np.int64]:
        """Column of each entry of the lower triangle, at most its row."""
        return np.array(self.hessian_pattern.columns, dtype=np.int64)

    def _jacobian(self) -> tuple[SparseEntries, TapeFunction]:
        if self._first is None:
            matrix = sparse_jacobian(self.tape, self.outs, self.wrt)
            self._first = matrix, self._function(matrix, self.state)
        return self._first

    def _hessian(self) -> tuple[SparseEntries, TapeFunction]:
        if self._second is None:
            count = range(len(self.outs))
            mu = [self.tape.private_symbol(f"multiplier {k}") for k in count]
            matrix = contracted_hessian(self.tape, self.outs, mu, self.wrt)
            self._second = matrix, self._function(matrix, (*self.state, *mu))
        return self._second

    def _function(self, matrix: SparseEntries, state: Sequence[int]) -> TapeFunction:
        return TapeFunction(self.tape, matrix.nodes, state, self.parameters, self.points)
