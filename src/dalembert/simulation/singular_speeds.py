"""q̇ = W u + X near a position where W grows without bound: the motion goes on, but its accuracy suffers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.folds import symbols_of
from dalembert.errors import DalembertWarning
from dalembert.kinematics.kinematics import Kinematics
from dalembert.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGE: Final = 300.0


def warn_of_singular_speeds(run: Trajectory, kin: Kinematics) -> None:
    """Say so where the run passed close to positions in which the speeds no longer determine the rates."""
    worst = 0.0
    where, whose = 0.0, ""
    for q, (_, W) in zip(kin.q, kin.WX, strict=True):
        for w in W.values():
            if any(i in kin.q for i in symbols_of(kin.tape, (w,))):
                size: NDArray[np.float64] = np.abs(run[kin.scalar(w)])
                k = int(np.argmax(size))
                if size[k] > _LARGE * max(1.0, float(np.min(size))) and size[k] > worst:
                    worst, where, whose = float(size[k]), float(run.t[k]), kin.name(q)
    if worst:
        msg = (
            f"near t = {where:.6g} the rate of {whose} is {worst:.0e} times a speed: the speeds are singular close to that position, "
            f"and energy drifted by {_drift(run):.0e}; declare speeds that stay regular there (s.speeds) or other coordinates"
        )
        warnings.warn(msg, DalembertWarning, stacklevel=5)


def _drift(run: Trajectory) -> float:
    """The drift of K₂ + 𝒰 + Z, or where it was not carried along that of T + V."""
    return run.energy_drift if run.judge is None else run.integrals.relative_drift
