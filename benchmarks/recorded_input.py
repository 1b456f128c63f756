"""Identification with a recorded input: coverage of the errors that da.fit states.

A cart with a hanging pole and viscous friction at both joints, 60 s, its drive known at samples of
100 Hz and linear between them; noise on position and angle. Every repetition has its own noise.
`python benchmarks/recorded_input.py 0 100 -o recorded_input.csv` writes a row for each; `--drive`
adds noise to the recorded drive, which output-error fits take for exact: they are biased then.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np

import dalembert as da

TRUE = {"M": 1.0, "m": 0.3, "l": 0.4, "c": 0.5, "b": 0.02}
NOISE = {"x": 2e-3, "theta": 5e-3}
CLOCK = np.arange(6001) / 100
# σ of what is added to the drive in the second case
DRIVE_NOISE = 1.0


def cart() -> da.System:
    """M and the rod m, l on a slide and a pin, damped by c and b, driven by F."""
    s = da.System("Cart and hanging pole", gravity=9.81)
    s.constants(**TRUE)
    at = s.slide("x", s.O, s.N.x)
    s.particle("cart", s["M"], at)
    s.rod("pole", s.pin("theta", at), s["m"], s["l"])
    s.force(s.input("F") * s.N.x, at=at)
    s.dissipation(s["c"] * s["x.dot"] ** 2 / 2 + s["b"] * s["theta.dot"] ** 2 / 2)
    return s


def drive() -> np.ndarray:
    """Low-pass noise, seeded."""
    white = np.random.default_rng(39).normal(size=CLOCK.size)
    smooth = np.convolve(white, np.hanning(41) / np.hanning(41).sum(), "same")
    return 6 * smooth / smooth.std()


def repetition(seed: int, *, noisy_drive: bool) -> dict[str, float]:
    """One fit: (θ̂ − θ)/σ of each unknown, and the distance of the true set in the ellipsoid."""
    rng, s, signal = np.random.default_rng(seed), cart(), drive()
    at = CLOCK[::5]
    exact = da.simulate(s, 60, inputs={"F": da.table(CLOCK, signal)}, at=at, progress=False)
    data = {"t": at} | {n: exact[n] + NOISE[n] * rng.normal(size=at.size) for n in NOISE}
    recorded = signal + DRIVE_NOISE * rng.normal(size=signal.size) * noisy_drive
    begin = time.process_time()
    guess = {n: x * f for (n, x), f in zip(TRUE.items(), (1.2, 0.8, 1.1, 0.9, 1.3), strict=True)}
    fit = da.fit(s, data, guess, inputs={"F": da.table(CLOCK, recorded)}, threads=1)
    seconds = time.process_time() - begin
    off = fit.theta - np.array([TRUE[n] for n in fit.names])
    row = {n: d / fit.standard_errors[n] for n, d in zip(fit.names, off.tolist(), strict=True)}
    return {"seed": seed, **row, "chi2": fit.distance(TRUE), "seconds": seconds}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("first", type=int)
    reader.add_argument("last", type=int)
    reader.add_argument("--drive", action="store_true")
    reader.add_argument("-o", "--output", type=Path)
    given = reader.parse_args()
    out = given.output.open("a", newline="") if given.output else sys.stdout
    for seed in range(given.first, given.last):
        row = repetition(seed, noisy_drive=given.drive)
        writer = csv.DictWriter(out, list(row), lineterminator="\n")
        if seed == given.first and (given.output is None or given.output.stat().st_size == 0):
            writer.writeheader()
        writer.writerow({k: f"{x:.6g}" for k, x in row.items()})
        out.flush()


if __name__ == "__main__":
    main()
