"""A without the last amplitudes: what the last admissible function of every expanded member changed in the eigenvalues.

The equations of n − 1 functions are those of n functions without the last one, so that a smaller model need not be derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.linear.model import modes

if TYPE_CHECKING:
    from dalembert.linear.model import LinearModel

_SHOWN: Final = 3


def estimate(model: LinearModel, last: Sequence[str]) -> str:
    """The lowest frequencies with all functions and without the last of each field, in a line; empty without members."""
    gone = [k for k, name in enumerate(model.states[: model.n_z]) if name in last]
    rates = model.residual.rates
    if not gone or any(k not in rates for k in gone):
        return ""
    z = [k for k in range(model.n_z) if k not in gone]
    u = [k for k in range(len(model.residual.M)) if k not in {rates[k] for k in gone}]
    r = model.residual
    lower = -np.linalg.solve(r.M[np.ix_(u, u)], np.hstack([r.z[np.ix_(u, z)], r.u[np.ix_(u, u)]]))
    kept = [*z, *(model.n_z + k for k in u)]
    A = np.vstack([model.A[np.ix_(z, kept)], lower])
    whole = _lowest(model.eigenvalues)
    less = _lowest(modes(A, tuple(model.states[k] for k in kept)).eigenvalues)
    shown = [f"{a:.6g} by {abs(b - a) / a:.1e}" for a, b in zip(whole, less, strict=False)]
    return f"the last function of each member changed the frequencies {', '.join(shown)}" if shown else ""


def _lowest(eigenvalues: np.typing.NDArray[np.complex128]) -> list[float]:
    """The lowest frequencies of oscillation."""
    found = sorted(z.imag for z in eigenvalues.tolist() if z.imag > 0)
    return found[:_SHOWN]
