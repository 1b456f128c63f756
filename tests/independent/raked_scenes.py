"""Two-wheeled frames with a raked steering axis and two to four rows, by any integrator, against
particles in NumPy (raked_reference), the balance of energy and the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dalembert as da
from independent.comparison import TOLERANCE
from independent.raked_reference import accelerations

# of a run at 1e-9
_CLOSE = 1e-6


def raked(draw):
    """A frame with two wheels whose steering axis is raked by an angle that is no fraction."""
    s = da.System("raked", gravity=9.81, up="z")
    N = s.N
    x, y, z = s.coordinates("x y z")
    B = N.rotations("zxy", *s.coordinates("yaw roll pitch"))[-1]
    steer, br, bf = s.coordinates("steer br bf")
    rake = draw.uniform(0.05, 0.9)
    axis = da.sin(rake) * B.x + da.cos(rake) * B.z
    R, H = B.rotated(br, B.y), B.rotated(steer, axis)
    F = H.rotated(bf, H.y)
    P = s.O.offset(x * N.x + y * N.y + z * N.z)
    a, b, c, d = (round(draw.uniform(0.05, 1.2), 3) for _ in range(4))
    Q = P.offset(a * B.x + b * B.z).offset(-c * H.x - d * H.z)
    J = [round(draw.uniform(0.05, 0.2), 3) for _ in range(4)]
    masses = [round(draw.uniform(1, 4), 2) for _ in range(2)]
    s.body("rear", masses[0], P, R, da.inertia(B, J[0], 2 * J[0], J[0]))
    s.body("front", masses[1], Q, F, da.inertia(H, J[1], 2 * J[1], J[1]))
    rows = [("rear", z), ("front", (Q - s.O) @ N.z)]
    if draw.random() < 0.5:
        rows.append(("slip", P.v @ B.y))
    if draw.random() < 0.3:
        rows.append(("lean", x - 2 * y))
    for name, row in rows:
        s.constrain(row, name)
    return s, Scene(rake, (a, b, c, d), masses, J[:2], [name for name, _ in rows])


@dataclass(frozen=True)
class Scene:
    """The numbers of a draw, for a reference that does not read the description."""

    rake: float
    lengths: tuple[float, float, float, float]
    masses: list[float]
    moments: list[float]
    rows: list[str]


def differences(draw, integrator: str) -> dict[str, float]:
    """Energy and rows along the run, and the end against another integrator."""
    s, scene = raked(draw)
    start = {"x.dot": round(draw.uniform(0.5, 2.0), 2), "steer": round(draw.uniform(-0.3, 0.3), 2)}
    start["br.dot"] = round(draw.uniform(-3, 3), 2)
    if len(scene.rows) > 2:
        # further rows determine it
        del start["x.dot"]
    tight = {"rtol": 1e-9, "atol": 1e-9}
    mine = da.simulate(s, 0.1, start=start, integrator=integrator, **tight)
    fine = da.simulate(s, 0.1, start=start, rtol=1e-11, atol=1e-11)
    scale = TOLERANCE / _CLOSE
    names = [q.name for q in s.q]
    a, b = (np.array([run[n][-1] for n in names]) for run in (mine, fine))
    end = np.abs(a - b).max() / max(1.0, np.abs(b).max())
    q, qdot, qddot = ([fine[n + dots] for n in names] for dots in ("", ".dot", ".dot.dot"))
    worst = 0.0
    for k in (0, -1):
        expected = accelerations(scene, *(np.array([x[k] for x in one]) for one in (q, qdot)))
        gap = np.abs([x[k] for x in qddot] - expected).max()
        worst = max(worst, float(gap / max(1.0, np.abs(expected).max())))
    return {
        "raked particles": worst,
        f"raked {integrator}": float(end) * scale,
        "raked energy": float(fine.integrals.relative_drift) * scale,
        "raked rows": float(fine.worst_residual) * scale,
    }
