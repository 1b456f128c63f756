"""x̂ at every sample from all measurements, later ones too: the Rauch–Tung–Striebel smoother.

Forwards a Kalman filter; backwards, with D the covariance of the error at a sample and at the next,

    G = D P⁻⁻¹,  ξ̂ = G N⁻ᵀ (x̂ₖ₊₁ ⊟ x⁻ₖ₊₁),  P = P⁺ + G (Pₖ₊₁ − P⁻ₖ₊₁) Gᵀ

Source: H. E. Rauch, F. Tung, C. T. Striebel, AIAA Journal 3 (1965) 1445.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.control.state_model import BadControl, Numbers
from dalembert.errors import Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.analysis.control.kalman import KalmanFilter


@dataclass(frozen=True, eq=False)
class SmoothedStates(Displayable):
    """States at every sample in rows, with their standard deviations; `smoothed["theta"]` is a
    column.
    """

    names: tuple[str, ...]
    t: Numbers
    x: Numbers
    deviation: Numbers
    # the estimates from earlier measurements alone
    filtered: Numbers

    def __getitem__(self, name: Scalar | str) -> Numbers:
        """A coordinate or speed over the samples."""
        key = str(name.name if isinstance(name, Scalar) else name).replace("'", ".dot")
        if key not in self.names:
            msg = f"the estimate has {', '.join(self.names)}, not {key!r}"
            raise Unknown(msg)
        return np.asarray(self.x[:, self.names.index(key)])

    def __str__(self) -> str:
        spread = ", ".join(
            f"{n} ± {s:.2g}" for n, s in zip(self.names, self.deviation.mean(axis=0), strict=True)
        )
        return (
            f"smoothed states at {len(self.t)} samples, t = {self.t[0]:g} … {self.t[-1]:g}\n"
            f"  mean standard deviations: {spread}"
        )


def smooth(estimate: KalmanFilter, measurements: Any, inputs: Any = None) -> SmoothedStates:
    """Forwards by the filter, which then stands at the end, and backwards; a row of NaN is no
    measurement.
    """
    y, w = _sample_rows(estimate, measurements, inputs)
    forward = [_forward(estimate, *row) for row in zip(y, w, strict=True)]
    model = estimate.model
    x, P, N = forward[-1].x, forward[-1].P, forward[-1].N
    results = [(x, _deviation(N, P))]
    for here, nxt in zip(forward[-2::-1], forward[:0:-1], strict=True):
        G = np.linalg.solve(nxt.P_before.T, here.cross.T).T
        ahead = nxt.N_before.T @ model.error(x, nxt.x_before)
        T = nxt.N_before.T @ N
        P = here.P + G @ (T @ P @ T.T - nxt.P_before) @ G.T
        N = here.N
        x = model.onto_constraints(here.x + N @ (G @ ahead), here.w, here.t)
        results.append((x, _deviation(N, P)))
    states, deviations = (np.array(part[::-1]) for part in zip(*results, strict=True))
    times = np.array([f.t for f in forward])
    return SmoothedStates(
        estimate.states, times, states, deviations, np.array([f.x for f in forward])
    )


def _sample_rows(estimate: KalmanFilter, measurements: Any, inputs: Any) -> tuple[Numbers, Numbers]:
    """The measurements and the inputs, one row a sample."""
    y = np.asarray(measurements, dtype=float)
    y = y[:, None] if y.ndim == 1 else y
    w = np.tile(estimate.w, (len(y), 1)) if inputs is None else np.asarray(inputs, dtype=float)
    w = w[:, None] if w.ndim == 1 else w
    wanted = (len(y), len(estimate.outputs)), (len(y), len(estimate.inputs))
    if (y.shape, w.shape) != wanted or not len(y):
        msg = (
            f"smooth: give a row of {len(estimate.outputs)} measurements "
            f"({', '.join(estimate.outputs)}) and of {len(estimate.inputs)} inputs for each sample"
        )
        raise BadControl(msg)
    return y, w


@dataclass(frozen=True, eq=False)
class _Sample:
    """The filter before and after one measurement."""

    t: float
    w: Numbers
    x_before: Numbers
    P_before: Numbers
    N_before: Numbers
    x: Numbers
    P: Numbers
    N: Numbers
    # covariance of the error here and at the next sample
    cross: Numbers


def _forward(f: KalmanFilter, y: Numbers, w: Numbers) -> _Sample:
    t, before = f.t, (f.x, f.P, f.N)
    if not np.isnan(y).all():
        f.update(y)
    after = f.x, f.P, f.N
    f.predict(w)
    return _Sample(t, w, *before, *after, f.cross)


def _deviation(N: Numbers, P: Numbers) -> Numbers:
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", N, P, N), 0.0)))
