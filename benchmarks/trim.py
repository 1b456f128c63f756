"""Trim: random systems in scales from 1e-6 to 1e8, a lift on oil, hover, precession, a bicycle.

Every answer is checked by equations written here by hand, in other variables. `python
benchmarks/trim.py` prints the table that is kept in trim.csv; `--count` limits the random systems.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import dalembert as da
from dalembert import gallery
from dalembert.gallery.whipple_bicycle import BENCHMARK

G = 9.81
Row = tuple[str, float, str]


# ---- random systems ------------------------------------------------------------------------------


class RandomChain:
    """Links on springs and oil pressures, absolute angles; a loop fixes the height of the tip."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        n = self.n = int(rng.integers(1, 4))
        self.loop = n > 1 and rng.random() < 0.4
        self.m, self.l = rng.uniform(0.5, 3, n), rng.uniform(0.3, 1.5, n)
        self.k, self.a = rng.uniform(5, 60, n), rng.uniform(-1, 1, n)
        self.area, self.b = rng.uniform(0.5, 2, n), rng.uniform(0.5, 3, n)
        self.c = rng.uniform(-3, 3, n)
        self.scale = 10.0 ** rng.uniform(-6, 8, 2 * n)
        self.height = 0.0
        start = rng.uniform(-0.8, 0.8, n)
        self.height = float(self.l @ np.cos(start))
        solved = least_squares(
            lambda y: self.rows(y)[0],
            np.concatenate([start, self.c / self.b, np.zeros(int(self.loop))]),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        self.truth = solved.x[: 2 * n]
        self.solvable = float(np.abs(solved.fun).max()) < 1e-9

    def rows(self, y: Any) -> tuple[Any, Any]:
        """Residuals and sums of absolute terms in (θ, p, λ)."""
        n = self.n
        theta, p, lam = y[:n], y[n : 2 * n], y[2 * n :]
        carried = np.cumsum(self.m[::-1])[::-1]
        bend = theta - np.append(0.0, theta[:-1]) - self.a
        terms = [
            -carried * G * self.l * np.sin(theta),
            -self.k * bend,
            np.append(self.k[1:] * bend[1:], 0.0),
            self.area * p,
        ]
        if self.loop:
            terms.append(-lam[0] * self.l * np.sin(theta))
        flow = [self.c, -self.b * p, -0.3 * np.sin(theta)]
        F = np.concatenate([sum(terms), sum(flow)])
        size = np.concatenate([sum(map(np.abs, terms)), sum(map(np.abs, flow))])
        if self.loop:
            phi = self.l @ np.cos(theta) - self.height
            F, size = np.append(F, phi), np.append(size, self.height + self.l @ np.cos(theta))
        return F, size

    def system(self) -> da.System:
        """The same in coordinates X = σ θ and states P = σ p."""
        s = da.System("Scaled chain")
        at = s.O
        s.gravity(-G * s.N.y)
        before: Any = 0
        height: Any = 0
        for j in range(self.n):
            X = s.coordinate(f"X{j}")
            theta = X / float(self.scale[j])
            scale = float(self.scale[self.n + j])
            P = s.state(f"P{j}")
            c, b = float(self.c[j]), float(self.b[j])
            s.rate(P, scale * (c - b * P / scale - 0.3 * da.sin(theta)))
            B = s.N.rotated(theta, s.N.z)
            at = at.offset(-float(self.l[j]) * B.y)
            s.particle(f"m{j}", float(self.m[j]), at)
            s.potential(float(self.k[j]) * (theta - before - float(self.a[j])) ** 2 / 2)
            s.torque(float(self.area[j]) * P / scale * s.N.z, on=B)
            height = height + float(self.l[j]) * da.cos(theta)
            before = theta
        if self.loop:
            s.constrain(height - self.height, "height")
        return s

    def names(self) -> list[str]:
        return [f"{letter}{j}" for letter in "XP" for j in range(self.n)]

    def verdict(self) -> str:
        """found, refused or wrong"""
        truth = self.truth * self.scale
        guess = truth * (1 + self.rng.uniform(-0.3, 0.3, truth.size))
        try:
            e = da.equilibrium(self.system(), guess=dict(zip(self.names(), guess, strict=True)))
        except da.NoEquilibrium:
            return "refused"
        y = np.array([e[name] for name in self.names()]) / self.scale
        F, size = self.rows(np.append(y, np.zeros(int(self.loop))))
        if self.loop:
            slope = -self.l * np.sin(y[: self.n])
            lam = -(slope @ F[: self.n]) / (slope @ slope)
            F, size = self.rows(np.append(y, lam))
        return "found" if (np.abs(F) <= 1e-9 * size).all() else "wrong"


def random_systems(count: int) -> list[Row]:
    verdicts: dict[str, int] = {"found": 0, "refused": 0, "wrong": 0}
    seed = 0
    while sum(verdicts.values()) < count:
        chain = RandomChain(seed)
        seed += 1
        if chain.solvable:
            verdicts[chain.verdict()] += 1
    return [(f"random systems {v}", float(n), f"of {count}") for v, n in verdicts.items()]


# ---- a lift on oil -------------------------------------------------------------------------------


def scissor_lift() -> da.System:
    """One pair of arms of length 2a, a platform of mass m, a cylinder along the ground, whose oil
    pressure p follows a valve: p' = (K (h₀ − h) − p)/T.
    """
    s = da.System("Scissor lift")
    s.constants(m=1500, a=1, A=0.004, g=9.81, K=1e7, h0=1.767, T=1)
    alpha = s.coordinate("alpha")
    s.state("p", rate="(K*(h0 - 2*a*sin(alpha)) - p)/T")
    s.particle("platform", s["m"], s.O.offset(2 * s["a"] * da.sin(alpha) * s.N.y))
    s.gravity(-s["g"] * s.N.y)
    foot = s.O.offset(2 * s["a"] * da.cos(alpha) * s.N.x)
    s.force(-s["p"] * s["A"] * s.N.x, at=foot)
    return s


def lift_rows() -> list[Row]:
    """m g cos α = p A sin α and p = K (h₀ − 2 a sin α), by bisection."""

    def balance(alpha: float) -> float:
        p = 1e7 * (1.767 - 2 * math.sin(alpha))
        return 1500 * G * math.cos(alpha) - p * 0.004 * math.sin(alpha)

    rows: list[Row] = []
    for guess in (1e6, 2e6, 3e6, 4e6, 5e6):
        e = da.equilibrium(scissor_lift(), guess={"alpha": 0.6, "p": guess})
        alpha = e["alpha"]
        low, high = alpha - 1e-3, alpha + 1e-3
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if balance(low) * balance(middle) > 0 else (low, middle)
        exact = 1e7 * (1.767 - 2 * math.sin(low))
        rows.append((f"lift p from {guess:.0e} Pa", e["p"], f"{e['p'] / exact - 1:.1e} off"))
    return rows


# ---- one call each -------------------------------------------------------------------------------


def quadrotor() -> da.System:
    """A rigid frame with four rotors and a load on a massless rod."""
    s = da.System("Quadrotor with a slung load")
    m, M, L, a, g = s.constants(m=1.2, M=0.4, L=0.8, a=0.2, g=9.81)
    N, q = s.N, s.coordinates("x y z roll pitch yaw alpha beta")
    at = s.O.offset(q[0] * N.x + q[1] * N.y + q[2] * N.z)
    _, _, B = N.rotations("zyx", q[5], q[4], q[3])
    _, D = N.rotations("xy", q[6], q[7])
    s.body("frame", m, at, B, da.inertia(B, 0.01, 0.012, 0.02))
    s.particle("load", M, at.offset(-L * D.z))
    s.gravity(-g * N.z)
    for k, (dx, dy) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1)), 1):
        s.force(s.input(f"T{k}") * B.z, at=at.offset(a * (dx * B.x + dy * B.y)), name=f"rotor {k}")
    return s


def hover() -> Row:
    e = da.equilibrium(quadrotor(), guess={f"T{k}": 1 for k in range(1, 5)})
    total = sum(e[f"T{k}"] for k in range(1, 5))
    return "hover, sum of thrusts", total, f"{total / (1.6 * G) - 1:.1e} off"


def precession() -> list[Row]:
    """I₁ Ω² cos θ − I₃ ω₃ Ω + m g l = 0 at θ = 0.5 for spins ψ̇, slow and fast precession."""
    rows: list[Row] = []
    top = gallery.build("lagrange-top")
    for spin, guess in ((150.0, 3.0), (200.0, 2.0), (150.0, 30.0)):
        e = da.equilibrium(top, {"theta": 0.5, "psi.dot": spin}, guess={"phi.dot": guess})
        rate = e["phi.dot"]
        I1, I3, mgl = 0.006, 0.001, 0.5 * G * 0.1
        terms = (I1 * rate**2 * math.cos(0.5), -I3 * (spin + rate * math.cos(0.5)) * rate, mgl)
        off = abs(sum(terms)) / sum(map(abs, terms))
        rows.append((f"precession at spin {spin:g}", rate, f"{off:.1e} of the terms"))
    return rows


# ---- the bicycle ---------------------------------------------------------------------------------


def rotation(axis: int, angle: float) -> Any:
    c, s = math.cos(angle), math.sin(angle)
    R = np.eye(3)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def bicycle_residuals(y: Any, lean: float, v: float) -> Any:
    """Newton and Euler for the whole bicycle, its front part about the steer axis and both wheels
    about their axles; unknowns steer, pitch, torque and the forces of the ground.
    """
    b = {name: float(x) for name, x in BENCHMARK.items()}
    steer, pitch, torque = y[:3]
    F_R, F_F = y[3:6] * 1e3, y[6:9] * 1e3
    E = rotation(0, lean)
    B = E @ rotation(1, pitch)
    tilted = B @ rotation(1, b["lam"])
    H = tilted @ rotation(2, steer) @ rotation(1, -b["lam"])
    hub = -b["r_R"] * E[:, 2]
    axis = hub + (b["w"] + b["c"]) * B[:, 0] + b["r_R"] * B[:, 2]
    front = axis - b["c"] * H[:, 0] - b["r_F"] * H[:, 2]
    k, n = np.array([0.0, 0, 1]), H[:, 1]
    steep = math.sqrt(1 - (k @ n) ** 2)
    contact = front + b["r_F"] / steep * (k - (k @ n) * n)
    v0 = np.array([v, 0, 0])
    Omega = -(v0 @ n) / (np.cross(k, contact) @ n)
    arm, along = contact - front, np.cross(n, k)
    spin_F = -((v0 + Omega * np.cross(k, contact)) @ along) / (np.cross(n, arm) @ along)
    spin_R = -v / b["r_R"]
    G_B = hub + b["x_B"] * B[:, 0] + (b["z_B"] + b["r_R"]) * B[:, 2]
    G_H = axis + (b["x_H"] - b["w"] - b["c"]) * H[:, 0] + b["z_H"] * H[:, 2]

    def inertia(name: str) -> Any:
        if name in "RF":
            return np.diag([b[f"I{name}_xx"], b[f"I{name}_yy"], b[f"I{name}_xx"]])
        I = np.diag([b[f"I{name}_{a}"] for a in ("xx", "yy", "zz")])
        I[0, 2] = I[2, 0] = b[f"I{name}_xz"]
        return I

    force, moment, wheels = -F_R - F_F, -np.cross(contact, F_F), {}
    front_moment = -np.cross(contact - axis, F_F)
    parts = (("R", hub, B, spin_R), ("B", G_B, B, 0.0), ("H", G_H, H, 0.0), ("F", front, H, spin_F))
    for name, r, frame, spin in parts:
        m = b[f"m_{name}"]
        load = m * (Omega * np.cross(k, v0 + Omega * np.cross(k, r)) - b["g"] * k)
        w = Omega * k + spin * frame[:, 1]
        rate = Omega * np.cross(k, frame @ inertia(name) @ frame.T @ w)
        force, moment = force + load, moment + np.cross(r, load) + rate
        if name in "HF":
            front_moment = front_moment + np.cross(r - axis, load) + rate
        if name in "RF":
            ground, at = (F_R, -hub) if name == "R" else (F_F, contact - front)
            wheels[name] = frame[:, 1] @ (rate - np.cross(at, ground))
    steer_moment = tilted[:, 2] @ front_moment - torque
    return np.concatenate(
        [force, moment, [steer_moment, wheels["R"], wheels["F"], 1e3 * contact[2]]]
    )


def bicycle_rows() -> list[Row]:
    s = gallery.build("whipple-bicycle")
    frames = {str(F.name): F for F in s.space.frames}
    T = s.input("T")
    s.torque(T * frames["tilted"].z, on=frames["H"], reaction=frames["B"], name="steering")
    worst, rows = 0.0, []
    lean = math.radians(10)
    for v in np.linspace(2.5, 12.0, 20).tolist():
        # one guess for all speeds; the independent search begins at tan(lean) = v²/(g R), w/R
        first = BENCHMARK["w"] * G * math.tan(lean) / v**2
        e = da.equilibrium(s, {"phi": lean, "v": v}, guess={"delta": 0.1, "T": 0.0})
        y = np.array([e["delta"], e["chi"], e["T"]])
        solved = least_squares(
            bicycle_residuals,
            np.concatenate([[first, 0.0, 0.0], np.tile([0, 0, -0.4], 2)]),
            args=(lean, v),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        assert np.abs(solved.fun).max() < 1e-6, solved.fun
        off = float(np.abs(y - solved.x[:3]).max())
        worst = max(worst, off)
        rows.append((f"bicycle at {v:g} m/s, steer [rad]", e["delta"], f"{off:.1e} off"))
    return [*rows, ("bicycle, largest difference", worst, "20 speeds")]


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--count", type=int, default=200)
    reader.add_argument("-o", "--output", type=Path)
    given = reader.parse_args()
    begin = time.process_time()
    rows = [*random_systems(given.count), *lift_rows(), hover(), *precession(), *bicycle_rows()]
    out = csv.writer(given.output.open("w") if given.output else sys.stdout, lineterminator="\n")
    out.writerow(("case", "value", "check"))
    out.writerows((case, f"{value:.12g}", check) for case, value, check in rows)
    sys.stderr.write(f"{time.process_time() - begin:.0f} s of CPU\n")


if __name__ == "__main__":
    main()
