"""M ξ̈ + (D + G) ξ̇ + (K + N) ξ = B w: damping and gyroscopic, stiffness and circulatory parts
separated.

D and K are symmetric, G and N antisymmetric. Only where rates are speeds, ξ̇ = u, do the slopes of
M u̇ − f have this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable

if TYPE_CHECKING:
    from dalembert.analysis.linear.linear_model import ResidualJacobian

_ROUNDING: Final = 1e-12


@dataclass(frozen=True, eq=False)
class SecondOrder(Displayable):
    """The matrices of M ξ̈ + (D + G) ξ̇ + (K + N) ξ = B w."""

    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    M: FloatArray
    # D + G and K + N
    velocity: FloatArray
    position: FloatArray
    B: FloatArray

    @property
    def damping(self) -> FloatArray:
        """D, the symmetric part of what multiplies ξ̇."""
        return np.asarray(self.velocity + self.velocity.T) / 2

    @property
    def gyroscopic(self) -> FloatArray:
        """G, the antisymmetric part of what multiplies ξ̇."""
        return np.asarray(self.velocity - self.velocity.T) / 2

    @property
    def stiffness(self) -> FloatArray:
        """K, the symmetric part of what multiplies ξ."""
        return np.asarray(self.position + self.position.T) / 2

    @property
    def circulatory(self) -> FloatArray:
        """N, the antisymmetric part of what multiplies ξ."""
        return np.asarray(self.position - self.position.T) / 2


def second_order(
    r: ResidualJacobian,
    states: tuple[str, ...],
    inputs: tuple[str, ...],
    wanted: Sequence[str] | None,
) -> SecondOrder:
    """The rows and columns of the wanted coordinates; refused where others do not separate."""
    available = {states[k]: k for k in r.rates}
    names = tuple(available) if wanted is None else tuple(wanted)
    if missing := [n for n in names if n not in available]:
        msg = (
            f"second-order form: the rate of {', '.join(missing)} is not a speed; this holds "
            f"for "
            f"{', '.join(available) or 'no coordinate'}"
        )
        raise NotApplicable(msg)
    z = [available[n] for n in names]
    u = [r.rates[k] for k in z]
    if not u or (wanted is None and len(u) < len(r.M)):
        msg = (
            f"second-order form: {len(r.M)} speeds, of which {len(u)} are rates of coordinates; "
            f"name the coordinates that separate"
        )
        raise NotApplicable(msg)
    _check_decoupled(r, states, z, u)
    rows = np.ix_(u, u)
    return SecondOrder(names, inputs, r.M[rows], r.u[rows], r.z[np.ix_(u, z)], -r.w[u])


def _check_decoupled(
    r: ResidualJacobian, states: tuple[str, ...], z: list[int], u: list[int]
) -> None:
    """No other coordinate and no other speed may enter these equations."""
    speeds = states[r.z.shape[1] :]
    for matrix, kept, names in ((r.z, z, states), (r.u, u, speeds), (r.M, u, speeds)):
        part = np.abs(matrix[u])
        largest = part.max(initial=0.0)
        if coupled_names := [
            names[k]
            for k in range(matrix.shape[1])
            if k not in kept and part[:, k].max() > _ROUNDING * largest
        ]:
            msg = (
                f"second-order form: {', '.join(coupled_names)} enter the equations of "
                f"{', '.join(states[k] for k in z)}; use A of first order"
            )
            raise NotApplicable(msg)
