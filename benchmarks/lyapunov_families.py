"""200 random conservative systems of two degrees of freedom: a family from each mode.

Two particles of random masses on springs of random stiffness with random cubic and quartic
terms:

    T = ½ m₁ ẋ² + ½ m₂ ẏ²,   V = ½ a x² + b xy + ½ c y² + Σ e_jk x^j y^k   (j + k = 3, 4)

with a positive definite quadratic part. Lyapunov's centre theorem: each frequency that no other
is a multiple of has a family whose period tends to 2π/ω as the amplitude vanishes. The period
of two small amplitudes is extrapolated to zero; T is even in the amplitude. Writes
benchmarks/lyapunov_families.csv.

    python benchmarks/lyapunov_families.py [count]
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

import numpy as np

import dalembert as da

# chosen before the campaign was run, together with the thresholds, and not changed after it
SEED = 20261117
AMPLITUDES = (5e-4, 1e-3)
# largest relative error of the extrapolated period
TOLERANCE = 1e-5
# how near ω₂/ω₁ is to a whole number where a family of the first mode may fail to start
RESONANCE = 0.02


def system(rng: np.random.Generator) -> tuple[da.System, dict[str, float]]:
    """One description for all draws; the draw is in the values of its constants."""
    s = da.System("Two springs")
    x, y = s.coordinates("x y")
    names = ["m1", "m2", "a", "b", "c", *(f"e{j}{k - j}" for k in (3, 4) for j in range(k + 1))]
    constants = dict(zip(names, s.constants(" ".join(names)), strict=True))
    s.particle("first", constants["m1"], s.O.offset(x * s.N.x, "P"))
    s.particle("second", constants["m2"], s.O.offset(y * s.N.y, "Q"))
    V = constants["a"] * x**2 / 2 + constants["b"] * x * y + constants["c"] * y**2 / 2
    for name in names[5:]:
        V = V + constants[name] * x ** int(name[1]) * y ** int(name[2])
    s.potential(V)
    return s, draw(rng, names)


def draw(rng: np.random.Generator, names: list[str]) -> dict[str, float]:
    """Random numbers with a positive definite quadratic part."""
    values = {name: float(rng.normal()) for name in names}
    values |= {name: float(rng.uniform(0.5, 3.0)) for name in ("m1", "m2", "a", "c")}
    values["b"] = float(rng.uniform(-0.8, 0.8)) * math.sqrt(values["a"] * values["c"])
    return values


def frequencies(values: dict[str, float]) -> np.ndarray:
    """ω of the linear part, by its own eigenvalue problem."""
    K = np.array([[values["a"], values["b"]], [values["b"], values["c"]]])
    root = np.diag([values["m1"] ** -0.5, values["m2"] ** -0.5])
    return np.sqrt(np.linalg.eigvalsh(root @ K @ root))


def limit_period(s: da.System, values: dict[str, float], mode: int) -> float:
    """T extrapolated to zero amplitude."""
    small, large = (
        da.periodic(s, {}, mode=mode, amplitude=size, values=values) for size in AMPLITUDES
    )
    return (4 * small.period - large.period) / 3


def rows(count: int) -> list[tuple[object, ...]]:
    """A row for each system: both frequencies, limits of the periods, and what came out."""
    rng = np.random.default_rng(SEED)
    s, _ = system(rng)
    names = [name for name, symbol in s.symbols.items() if symbol.kind == "constant"]
    table = []
    for k in range(count):
        values = draw(rng, names)
        omega = frequencies(values)
        for mode in (1, 2):
            expected = 2 * math.pi / omega[mode - 1]
            ratio = omega[1] / omega[0]
            try:
                limit = limit_period(s, values, mode)
                error, outcome = abs(limit / expected - 1.0), "started"
            except da.DalembertError as problem:
                error, outcome = math.nan, str(problem).partition(";")[0]
            if outcome != "started" or error > TOLERANCE:
                near = mode == 1 and abs(ratio - round(ratio)) < RESONANCE
                outcome = (
                    f"resonance 1:{round(ratio)}"
                    if near
                    else outcome
                    if outcome != "started"
                    else "period does not tend"
                )
            table.append(
                (k, mode, f"{omega[mode - 1]:.9g}", f"{ratio:.6g}", f"{error:.2e}", outcome)
            )
    return table


def main() -> None:
    """Run the campaign and write the table."""
    table = rows(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    path = Path(__file__).with_suffix(".csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ("system", "mode", "omega", "omega2/omega1", "error of the limit of T", "outcome")
        )
        writer.writerows(table)
    started = sum(row[-1] == "started" for row in table)
    print(
        f"{started} of {len(table)} families started; the others:",
        [row for row in table if row[-1] != "started"],
    )


if __name__ == "__main__":
    main()
