"""CPU time of periodic motions: the figure-eight, a branch of the double pendulum, and SciPy.

SciPy's shooting has the same integrator and tolerance, equations written with NumPy, and the
derivatives of the flow by differences, as a user would write it. It makes three iterations.

    python benchmarks/periodic_motions.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from measure import race
from results import Report, Slower, Within
from scipy.integrate import solve_ivp

import dalembert as da

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from periodic.systems import EIGHT_START, equal_double_pendulum, three_bodies

ENERGY = -1.28714199


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


NOTE = (
    "A periodic motion with its multipliers and error estimates, from a start with eight digits; "
    "compiled code is there already. SciPy's shooting has the same tolerance 1e-12 (DOP853), the "
    "equations in NumPy and ∂φ/∂x by differences, as a user would write it: three iterations, no "
    "multipliers and no error estimate. BifurcationKit and AUTO cannot be installed here."
)


def run(report: Report, *, quick: bool) -> None:
    """The figure-eight against SciPy, and a branch of the double pendulum."""
    report.section("Periodic motions", NOTE)
    bodies, pendulum = three_bodies(), equal_double_pendulum()
    orbit = da.periodic(bodies, EIGHT_START, 6.326, energy=ENERGY)
    x = np.array([EIGHT_START[name] for name in orbit.start])
    contenders = {
        "dalembert": lambda: da.periodic(bodies, EIGHT_START, 6.326, energy=ENERGY),
        "SciPy": lambda: scipy_shooting(x, 6.326),
    }
    timings = race(contenders, rounds=1 if quick else 5)
    goals = {"dalembert": Within(0.1), "SciPy": Slower(20.0)}
    report.compare("figure-eight", timings, goals)
    # the energy of SciPy's orbit is that of its start: T |E|^(3/2) is the same along the family
    state, T = scipy_shooting(x, 6.326)
    scaled = [period * abs(E) ** 1.5 for period, E in ((orbit.period, ENERGY), (T, energy(state)))]
    report.check(
        "figure-eight: same T abs(E)^1.5",
        f"{scaled[0]:.10g}, {scaled[1]:.10g}",
        passed=abs(scaled[0] - scaled[1]) <= 1e-8,
    )
    first = da.periodic(pendulum, {}, mode=1, amplitude=0.05)

    def branch() -> da.Family:
        return da.continuation(first, "energy", (-3.0, 2.99), step=0.08)

    count = len(branch())
    timing = race({"dalembert": branch}, rounds=1 if quick else 3)
    report.compare(
        f"{count} double-pendulum orbits with multipliers", timing, {"dalembert": Within(1.5)}
    )
    report.check("at least 100 orbits", str(count), passed=count >= 100)


def energy(y: np.ndarray) -> float:
    """T + V of the three bodies."""
    q, v = y[:6].reshape(3, 2), y[6:]
    pairs = ((0, 1), (0, 2), (1, 2))
    return float(v @ v / 2 - sum(1 / np.linalg.norm(q[i] - q[j]) for i, j in pairs))


if __name__ == "__main__":
    table = Report()
    run(table, quick=False)
    print(table.document())
