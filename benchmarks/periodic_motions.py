"""CPU time of periodic motions: the figure-eight, a branch of the double pendulum, and SciPy.

SciPy's shooting has the same integrator and tolerance, equations written with NumPy, and the
derivatives of the flow by differences, as a user would write it. It makes three iterations.

    python benchmarks/periodic_motions.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import dalembert as da

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from periodic.systems import EIGHT_START, equal_double_pendulum, three_bodies

ENERGY = -1.28714199


def cpu(work: Callable[[], object], times: int = 5) -> float:
    """The least CPU time of several calls."""
    spent = []
    for _ in range(times):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return min(spent)


def gravity(_t: float, y: np.ndarray) -> np.ndarray:
    """Three unit masses in the plane, written with NumPy."""
    q, v = y[:6].reshape(3, 2), y[6:]
    d = q[None, :, :] - q[:, None, :]
    r3 = (np.einsum("ijk,ijk->ij", d, d) + np.eye(3)) ** 1.5
    return np.concatenate([v, np.einsum("ijk,ij->ik", d, 1.0 / r3).ravel()])


def scipy_shooting(x: np.ndarray, T: float) -> tuple[np.ndarray, float]:
    """Newton's method for x(T) = x and the energy, with ∂φ/∂x by differences."""

    def flow(x: np.ndarray, T: float) -> np.ndarray:
        return solve_ivp(gravity, (0.0, T), x, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]

    for _ in range(3):
        end = flow(x, T)
        M = np.array([(flow(x + 1e-6 * e, T) - end) / 1e-6 for e in np.eye(len(x))]).T
        f = gravity(0.0, x)
        J = np.vstack([np.column_stack([M - np.eye(len(x)), gravity(0.0, end)]), [*f, 0.0]])
        step = np.linalg.lstsq(J, -np.append(end - x, 0.0), rcond=1e-8)[0]
        x, T = x + step[:-1], T + step[-1]
    return x, T


def main() -> None:
    """Print the table."""
    bodies, pendulum = three_bodies(), equal_double_pendulum()
    orbit = da.periodic(bodies, EIGHT_START, 6.326, energy=ENERGY)
    eight = cpu(lambda: da.periodic(bodies, EIGHT_START, 6.326, energy=ENERGY))
    first = da.periodic(pendulum, {}, mode=1, amplitude=0.05)

    def branch() -> da.Family:
        return da.continuation(first, "energy", (-3.0, 2.99), step=0.08)

    count = len(branch())
    family = cpu(branch, 2)
    x = np.array([EIGHT_START[name] for name in orbit.start])
    scipy = cpu(lambda: scipy_shooting(x, 6.326), 1)
    print(f"figure-eight with multipliers and error estimate: {eight * 1e3:.1f} ms")
    print(f"by SciPy and differences: {scipy * 1e3:.0f} ms, {scipy / eight:.0f} times as long")
    print(f"branch of {count} double-pendulum orbits with multipliers: {family:.2f} s")


if __name__ == "__main__":
    main()
