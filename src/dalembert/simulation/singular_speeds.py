"""q̇ = W u + X near a position where W grows without bound: the motion goes on, but its accuracy suffers."""

from __future__ import annotations

from typing import Final

import numpy as np

from dalembert.algebra.folds import symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.errors import warn
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.once import MadeOnce
from dalembert.simulation.trajectory import Trajectory

_LARGE: Final = 300.0
# places of the entries of W that depend on the position
_SUSPECTS: Final = MadeOnce[list[tuple[int, int]]]()


def warn_of_singular_speeds(run: Trajectory, kin: Kinematics) -> None:
    """Say so where the run passed close to positions in which the speeds no longer determine the rates."""
    suspects = _suspects(kin)
    worst = 0.0
    where, whose = 0.0, ""
    for (q, _), size in zip(suspects, np.abs(run.rows([w for _, w in suspects])), strict=True) if suspects else ():
        k = int(np.argmax(size))
        if size[k] > _LARGE * max(1.0, float(np.min(size))) and size[k] > worst:
            worst, where, whose = float(size[k]), float(run.t[k]), kin.name(q)
    if worst:
        msg = (
            f"near t = {where:.6g} the rate of {whose} is {worst:.0e} times a speed: the speeds are singular close to that position, "
            f"and energy drifted by {_drift(run):.0e}; declare speeds that stay regular there (s.speeds), or none: then all rates are kept;"
            " where angles are singular, use a quaternion"
        )
        warn(msg)


def _suspects(kin: Kinematics) -> list[tuple[int, Scalar]]:
    """(q, w) for every entry w of W in the row of q that depends on the position.

    Only the places in W are kept: an index beyond the mark means something else on every fork.
    """

    def places() -> list[tuple[int, int]]:
        coordinates = set(kin.q)
        inside = [(k, r, w) for k, (_, W) in enumerate(kin.WX) for r, w in W.items()]
        return [(k, r) for k, r, w in inside if not coordinates.isdisjoint(symbols_of(kin.tape, (w,)))]

    return [(kin.q[k], kin.scalar(kin.WX[k][1][r])) for k, r in _SUSPECTS(kin, None, places)]


def _drift(run: Trajectory) -> float:
    """The drift of K₂ + 𝒰 + Z, or where it was not carried along that of T + V."""
    return run.energy_drift if run.energy_audit is None else run.integrals.relative_drift
