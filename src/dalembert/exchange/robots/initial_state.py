"""Positions and velocities of the engines, and the coordinates and rates of a System that say
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.exchange.robots.robot_builder import JointFrames
from dalembert.exchange.robots.robot_record import POSITIONS, VELOCITIES
from dalembert.exchange.robots.transforms import rotation


def state_from_engine(
    joints: Sequence[JointFrames], qpos: Sequence[float], qvel: Sequence[float]
) -> dict[str, float]:
    """{coordinate: value, rate: value} for positions and velocities as MuJoCo stores them."""
    state: dict[str, float] = {}
    a = v = 0
    for moved in joints:
        kind = moved.joint.kind
        x, w = np.array(qpos[a : a + POSITIONS[kind]]), np.array(qvel[v : v + VELOCITIES[kind]])
        a, v = a + POSITIONS[kind], v + VELOCITIES[kind]
        if moved.coordinates[0].name is None:
            # it follows another joint
            continue
        names = [str(q.name) for q in moved.coordinates]
        places = (
            x
            if kind in ("hinge", "slide")
            else np.concatenate([x[:-4], _orientation(x[-4:], len(names) - (len(x) - 4))])
        )
        rates = (
            w
            if kind in ("hinge", "slide")
            else np.concatenate([w[:-3], _orientation_rates(places[len(x) - 4 :], w[-3:])])
        )
        state |= dict(zip(names, places.tolist(), strict=True))
        state |= {f"{n}.dot": r for n, r in zip(names, rates.tolist(), strict=True) if r}
    return state


def _orientation(e: Any, count: int) -> Any:
    """The unit quaternion, or the angles about z, y, x."""
    e = e / np.linalg.norm(e)
    if count == 4:
        return e
    R = rotation(tuple(e))
    return np.array(
        [
            np.arctan2(R[1, 0], R[0, 0]),
            -np.arcsin(np.clip(R[2, 0], -1, 1)),
            np.arctan2(R[2, 1], R[2, 2]),
        ]
    )


def _orientation_rates(attitude: Any, w: Any) -> Any:
    """Rates of the attitude from the spin along the body's axes."""
    if len(attitude) == 4:
        e0, e1, e2, e3 = attitude
        E = np.array([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])
        return E.T @ w / 2
    _, y, x = attitude
    # ω = J (ż-angle, ẏ-angle, ẋ-angle) along the body's axes
    J = np.array(
        [
            [-np.sin(y), 0, 1],
            [np.sin(x) * np.cos(y), np.cos(x), 0],
            [np.cos(x) * np.cos(y), -np.sin(x), 0],
        ]
    )
    return np.linalg.solve(J, w)
