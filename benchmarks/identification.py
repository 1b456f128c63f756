"""Inertial parameters of a 7-joint arm from 20 s of motion with noisy loads, draw by draw.

    python benchmarks/identification.py 1 20          # seeds 1 … 20, appended to the table
    python benchmarks/identification.py chance        # what chance alone predicts for the table

Every draw perturbs masses, mass centres, inertias and viscous friction of a nominal arm. The loads
of a given Fourier excitation, 100 Hz, get normal noise. The nominal file is what da.identify starts
from. A second excitation tells how well the written URDF predicts loads it was not fitted to.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da

TABLE = Path(__file__).with_suffix(".csv")
JOINTS = 7
NOISE = np.array([0.8, 0.8, 0.5, 0.5, 0.15, 0.15, 0.08])
# offset of each joint in its parent, its roll, then mass, mass centre and half sides of its box
ARM = (
    ((0, 0, 0.333), 0.0, 5.0, (0.004, -0.03, -0.12), (0.06, 0.06, 0.15)),
    ((0, 0, 0), -np.pi / 2, 3.6, (-0.003, -0.07, 0.03), (0.06, 0.14, 0.06)),
    ((0, -0.316, 0), np.pi / 2, 3.2, (0.03, 0.04, -0.07), (0.08, 0.07, 0.1)),
    ((0.0825, 0, 0), np.pi / 2, 3.0, (-0.05, 0.1, 0.03), (0.08, 0.1, 0.06)),
    ((-0.0825, 0.384, 0), -np.pi / 2, 2.6, (-0.01, 0.04, -0.1), (0.05, 0.07, 0.15)),
    ((0, 0, 0), np.pi / 2, 1.7, (0.05, -0.02, -0.01), (0.07, 0.05, 0.05)),
    ((0.088, 0, 0), np.pi / 2, 0.9, (0.01, 0.01, 0.07), (0.04, 0.04, 0.05)),
)


def urdf(scale: np.ndarray) -> str:
    """The arm; scale[k] are factors of mass, three of the mass centre, three of the sides."""
    parts = ['<robot name="arm7">', '<link name="base"/>']
    for k, (xyz, roll, mass, com, half) in enumerate(ARM):
        m, c = mass * scale[k, 0], np.array(com) * scale[k, 1:4]
        a, b, d = (np.array(half) * scale[k, 4:]) ** 2
        I = m / 3 * np.array([b + d, a + d, a + b])
        place = " ".join(f"{x:.17g}" for x in c)
        moments = " ".join(f'i{n}="{x:.17g}"' for n, x in zip(("xx", "yy", "zz"), I, strict=True))
        parent = f"link{k}" if k else "base"
        parts.append(
            f'<link name="link{k + 1}"><inertial><origin xyz="{place}"/><mass value="{m:.17g}"/>'
            f'<inertia {moments} ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint{k + 1}" type="revolute"><parent link="{parent}"/>'
            f'<child link="link{k + 1}"/><origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" '
            f'rpy="{roll:.17g} 0 0"/><axis xyz="0 0 1"/>'
            f'<limit lower="-3" upper="3" effort="100" velocity="3"/></joint>'
        )
    return "\n".join([*parts, "</robot>"])


def excitation(seed: int, duration: float = 20.0, rate: float = 100.0) -> tuple[np.ndarray, ...]:
    """t, q, q̇, q̈: five harmonics of 0.1 Hz for each joint."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 1 / rate)
    q, u, a = (np.zeros((len(t), JOINTS)) for _ in range(3))
    q += rng.uniform(-0.5, 0.5, JOINTS)
    for k in range(1, 6):
        w = 2 * np.pi * 0.1 * k
        x, y = rng.uniform(-0.5, 0.5, (2, JOINTS))
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q += x * s + y * c
        u += w * (x * c - y * s)
        a -= w**2 * (x * s + y * c)
    return t, q, u, a


def quiet_load(file: Path) -> da.System:
    """The robot, without the warning about joint limits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return da.load(file)


def draw(seed: int, folder: Path) -> dict[str, Any]:
    """One arm, one record, one identification."""
    rng = np.random.default_rng(1000 + seed)
    nominal, true = folder / "nominal.urdf", folder / "true.urdf"
    nominal.write_text(urdf(np.ones((JOINTS, 7))))
    true.write_text(urdf(np.exp(rng.normal(0.0, 0.25, (JOINTS, 7)))))
    truth, robot = quiet_load(true), quiet_load(nominal)
    viscous = rng.uniform(0.2, 2.0, JOINTS)
    loads = da.inverse_dynamics(truth)
    t, q, u, a = excitation(1)
    tau = loads(q, u, a) + viscous * u
    noisy = tau + NOISE * rng.normal(size=tau.shape)
    names = [f"joint{k + 1}" for k in range(JOINTS)]
    table = {"t": t}
    for k, n in enumerate(names):
        table |= {n: q[:, k], f"{n}.dot": u[:, k], f"{n}.dot.dot": a[:, k], f"tau_{n}": noisy[:, k]}
    begin = time.process_time()
    noise = {f"tau_{n}": s for n, s in zip(names, NOISE, strict=True)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = da.identify(robot, table, friction=["viscous"], noise=noise)
    capped = any("the search for physical bodies stopped" in str(w.message) for w in caught)
    spent = time.process_time() - begin
    exact = np.concatenate([result.regressor.base.matrix @ da.regressor(truth).pi, viscous])
    sigma = np.sqrt(np.diag(result.covariance))
    plain = np.abs(result.theta - exact) / sigma
    physical = np.abs(result.consistent_theta - exact) / sigma
    written = quiet_load(result.write_urdf(folder / "identified.urdf"))
    _, q, u, a = excitation(2)
    clean = loads(q, u, a) + viscous * u
    friction = np.array(list(result.friction.values()))
    predicted = da.inverse_dynamics(written)(q, u, a) + friction * u
    fresh = clean + NOISE * rng.normal(size=clean.shape)
    return {
        "seed": seed,
        "unknowns": len(exact),
        "within 2σ": float(np.mean(plain <= 2)),
        "largest": float(plain.max()),
        "physical within 2σ": float(np.mean(physical <= 2)),
        "physical largest": float(physical.max()),
        "χ²/ν": result.chi_square,
        "physical χ²/ν": result.consistent_chi_square,
        "new loads: residual / σ": float(np.sqrt(np.mean(((predicted - fresh) / NOISE) ** 2))),
        "new loads: error / σ": float(np.sqrt(np.mean(((predicted - clean) / NOISE) ** 2))),
        "unphysical links by least squares": len(result.unphysical),
        "unphysical links": sum(
            np.linalg.eigvalsh(b.inertia)[2] > sum(np.linalg.eigvalsh(b.inertia)[:2])
            or b.mass <= 0
            or np.linalg.eigvalsh(b.inertia)[0] <= 0
            for b in result.bodies.values()
        ),
        "search stopped at its cap": int(capped),
        "CPU s": spent,
        "correlation": result.covariance / np.outer(sigma, sigma),
    }


def main(first: int, last: int) -> None:
    """Append draws to the table."""
    rows = list(csv.DictReader(TABLE.open(encoding="utf-8"))) if TABLE.exists() else []
    for seed in range(first, last + 1):
        with tempfile.TemporaryDirectory() as folder:
            values = draw(seed, Path(folder))
        del values["correlation"]
        row = {k: f"{v:.6g}" for k, v in values.items()}
        rows = [r for r in rows if int(r["seed"]) != seed] + [row]
        print(row, flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda r: int(r["seed"])))


def chance(draws: int = 40, samples: int = 200_000) -> None:
    """Print how many draws have fewer than 90 % of their estimates within 2σ by chance alone.

    The estimates are normal with the covariance of the fit, which all draws share: excitation and
    noise are the same. They are correlated, so that the fraction spreads more than a binomial.
    """
    with tempfile.TemporaryDirectory() as folder:
        R = draw(1, Path(folder))["correlation"]
    n = len(R)
    factor = np.linalg.cholesky(R + 1e-12 * np.eye(n))
    z = np.abs(np.random.default_rng(0).normal(size=(samples, n)) @ factor.T)
    fraction = np.mean(z <= 2, axis=1)
    below, worst = float(np.mean(fraction < 0.9)), float(np.mean(fraction <= 0.86))
    rows = csv.DictReader(TABLE.open(encoding="utf-8"))
    table = np.array([float(r["within 2σ"]) for r in rows])
    print(f"{n} estimates: mean {fraction.mean():.4f}, spread {fraction.std():.4f}; the table's")
    print(f"{len(table)} draws: mean {table.mean():.4f}, spread {table.std(ddof=1):.4f}")
    print(f"below 90 %: {below:.4f} of all draws, {draws * below:.1f} of {draws} expected,")
    somewhere = 1 - (1 - worst) ** draws
    print(f"{np.sum(table < 0.9)} in the table; 86 % or less somewhere: {somewhere:.2f}")
    print(f"none beyond 4.5σ in {draws}: {np.mean(z.max(axis=1) <= 4.5) ** draws:.3f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["chance"]:
        chance()
    else:
        main(*(int(x) for x in sys.argv[1:3]))
