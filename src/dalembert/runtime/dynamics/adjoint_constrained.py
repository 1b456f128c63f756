"""The transpose of steps of M ż = f + Aᵀλ, A ż + γ = 0: each stage by one solve with the transposed
saddle-point matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.derivatives.sparse import contracted_gradient, sparse_jacobian
from dalembert.runtime.derivatives.tape_function import TapeFunction
from dalembert.runtime.ode.dop853_coefficients import STEP_STAGES, A, B, C
from dalembert.runtime.simulation.model import NativeModel
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.runtime.ode.constrained.block_layout import Entries

_DEPENDENT: Final = 1e-12


class ConstrainedSteps:
    """ẏ = (q̇, ż) with r(y, ż, λ) = 0, and L; state = (y, t)."""

    def __init__(
        self,
        tape: Tape,
        model: NativeModel,
        cost: int,
        state: Sequence[int],
        parameters: Sequence[int],
    ) -> None:
        entries = model.entries
        assert entries is not None
        t = tape.fork()
        n_z, rows = len(entries.f), len(entries.A)
        self.n_q, self.n_z, self.n_r = len(entries.qdot), n_z, n_z + rows
        unknown = [t.private_symbol(f"unknown {k}") for k in range(n_z + rows)]
        residuals = _residuals(t, entries, unknown[:n_z], unknown[n_z:])
        self._matrix = sparse_jacobian(t, residuals, unknown)
        outs = (*entries.qdot, *residuals, *self._matrix.nodes)
        self._values = TapeFunction(t, outs, (*state, *unknown), parameters)
        bars = [t.private_symbol(f"adjoint {k}") for k in range(self.n_q + self.n_r + 1)]
        wrt = (*state[:-1], *parameters)
        slopes = contracted_gradient(t, (*entries.qdot, *residuals, cost), bars, wrt)
        self._product = TapeFunction(t, slopes, (*state, *unknown, *bars), parameters)

    def _stage(
        self, z: FloatArray, t: float, p: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ẏ, the unknowns (ż, λ) and the saddle-point matrix."""
        nothing = np.zeros(self.n_r)
        results = self._values.batch(np.concatenate([z, [t], nothing])[None], p)[0]
        qdot, r, entries = np.split(results, [self.n_q, self.n_q + self.n_r])
        K = np.zeros((self.n_r, self.n_r))
        K[list(self._matrix.rows), list(self._matrix.columns)] = entries
        unknown = np.linalg.lstsq(K, -r, rcond=_DEPENDENT)[0]
        return np.concatenate([qdot, unknown[: self.n_z]]), unknown, K

    def back(
        self,
        times: FloatArray,
        lengths: FloatArray,
        states: FloatArray,
        bars: tuple[FloatArray, FloatArray],
        p: FloatArray,
    ) -> None:
        """Carry (ȳ, p̄), in place, from the end of the last step to the beginning of the first."""
        for t, h, y in zip(times[::-1].tolist(), lengths[::-1].tolist(), states[::-1], strict=True):
            self._step(t, h, y, bars, p)

    def _step(
        self, t: float, h: float, y: FloatArray, bars: tuple[FloatArray, FloatArray], p: FloatArray
    ) -> None:
        ybar, pbar = bars
        stages, slopes = [], list[FloatArray]()
        for i in range(STEP_STAGES):
            z = y + h * sum((a * slopes[j] for j, a in A[i].items()), np.zeros_like(y))
            stages.append((z, *self._stage(z, t + C[i] * h, p)))
            slopes.append(stages[-1][1])
        zbars: dict[int, FloatArray] = {}
        for i in reversed(range(STEP_STAGES)):
            later = (A[j][i] * zbars[j] for j in range(i + 1, STEP_STAGES) if i in A[j])
            kbar = h * (B.get(i, 0.0) * ybar + sum(later, np.zeros_like(ybar)))
            z, _, unknown, K = stages[i]
            load = np.zeros(self.n_r)
            load[: self.n_z] = kbar[self.n_q :]
            w = -np.linalg.lstsq(K.T, load, rcond=_DEPENDENT)[0]
            seeds = np.concatenate(
                [z, [t + C[i] * h], unknown, kbar[: self.n_q], w, [h * B.get(i, 0.0)]]
            )
            results = self._product.batch(seeds[None], p)[0]
            zbars[i] = results[: len(ybar)]
            pbar += results[len(ybar) :]
        ybar += sum(zbars.values(), np.zeros_like(ybar))


def _row(M: Sequence[dict[int, int]], r: int) -> dict[int, int]:
    """Row r of a symmetric matrix that is given by its upper half."""
    return {s: e for s, e in M[r].items() if s >= r} | {
        q: row[r] for q, row in enumerate(M[:r]) if r in row
    }


def _residuals(t: Tape, entries: Entries, zdot: Sequence[int], lam: Sequence[int]) -> list[int]:
    """M ż − f − Aᵀλ and A ż + γ"""
    residuals = []
    for r, f in enumerate(entries.f):
        mass = [(e, zdot[s]) for s, e in _row(entries.M, r).items()]
        push = [(a[r], t.neg(lam[j])) for j, a in enumerate(entries.A) if r in a]
        residuals.append(sum_of_products(t, [*mass, *push], t.neg(f)))
    for a, gamma in zip(entries.A, entries.gamma, strict=True):
        residuals.append(sum_of_products(t, [(e, zdot[s]) for s, e in a.items()], gamma))
    return residuals
