"""F(z), ∂F/∂z and ∇²(μᵀF) at many points: what one point of a mesh contributes, differentiated once
and called for all points.

The unknowns z are those of one point. Data (a time fraction) and parameters (constants of the
system) are not differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.derivatives.tape_function import TapeDerivatives
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.tape import Tape

Indices = NDArray[np.int64]


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
