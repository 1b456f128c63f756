"""F(z), ∂F/∂z and ∇²(μᵀF) at many points: what one point of a mesh contributes, differentiated once
and called for all points.

The unknowns z are those of one point. Data (a time fraction) and parameters (constants of the
system) are not differentiated.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import COMPUTE_LOCK
from dalembert.runtime.derivatives.tape_function import TapeDerivatives
from dalembert.runtime.numerics.object_cache import tape_digest
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.tape import Tape

Indices = NDArray[np.int64]
# functions of earlier calls, by the expressions that they are made of
_CACHE: Final = OrderedDict[bytes, "PointFunction"]()
_CACHE_SIZE: Final = 32


def point_function(
    tape: Tape, outs: Sequence[int], unknowns: Sequence[int], data: Sequence[int] = ()
) -> PointFunction:
    """The function of these expressions; one of an earlier call if they are the same.

    A second solve with other values differentiates nothing.
    """
    digest = tape_digest(tape, 1 + max((*outs, *unknowns, *data)))
    digest.update(repr((tuple(outs), tuple(unknowns), tuple(data))).encode())
    key = digest.digest()
    with COMPUTE_LOCK:
        function = _CACHE.pop(key, None) or PointFunction(tape, outs, unknowns, data)
        _CACHE[key] = function
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    return function


class PointFunction:
    """Outputs on a tape as functions of unknowns, with exact sparse first and second
    derivatives.
    """

    def __init__(
        self, tape: Tape, outs: Sequence[int], unknowns: Sequence[int], data: Sequence[int] = ()
    ) -> None:
        self.outs, self.unknowns = tuple(outs), tuple(unknowns)
        state = (*self.unknowns, *data)
        self.parameters = tuple(i for i in symbols_of(tape, self.outs) if i not in state)
        self._derivatives = TapeDerivatives(
            tape, self.outs, state, self.parameters, wrt=self.unknowns
        )

    @property
    def n_outs(self) -> int:
        """The number of outputs."""
        return len(self.outs)

    @cached_property
    def slope_places(self) -> Indices:
        """(row, column) of every structural nonzero of ∂F/∂z."""
        return np.column_stack(
            [self._derivatives.jacobian_rows, self._derivatives.jacobian_columns]
        )

    @cached_property
    def curvature_places(self) -> Indices:
        """(row, column), row ≥ column, of every structural nonzero of ∇²(μᵀF)."""
        return np.column_stack([self._derivatives.hessian_rows, self._derivatives.hessian_columns])

    def values(self, z: FloatArray, p: FloatArray) -> FloatArray:
        """F: a row for each point; z holds the unknowns and the data."""
        return self._derivatives.values(z, p)

    def slopes(self, z: FloatArray, p: FloatArray) -> FloatArray:
        """∂F/∂z at `slope_places`: a row for each point."""
        return self._derivatives.jacobian(z, p)

    def curvatures(self, z: FloatArray, multipliers: FloatArray, p: FloatArray) -> FloatArray:
        """∇²(μᵀF) at `curvature_places`: a row for each point."""
        return self._derivatives.hessian(z, multipliers, p)

    def jacobian(self, z: FloatArray, p: FloatArray) -> FloatArray:
        """∂F/∂z, dense: (points, outputs, unknowns)."""
        J = np.zeros((len(z), self.n_outs, len(self.unknowns)))
        J[:, self.slope_places[:, 0], self.slope_places[:, 1]] = self.slopes(z, p)
        return J
