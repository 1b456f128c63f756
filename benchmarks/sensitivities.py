"""What sensitivities cost: CPU time of a run with k numbers varied over that of the run alone,
wanted ≤ 1 + 1.5 k.

    python benchmarks/sensitivities.py [ROUNDS]
    python benchmarks/run.py --only sensitivities

The runs take turns, and the least of all rounds counts.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from itertools import islice

from measure import timed
from results import Report

import dalembert as da
from dalembert.gallery import Entry, build, entry, spatial_chain

NOTE = (
    "CPU time of a run with k varied numbers over that of the run without, the least of several "
    "rounds. The error control includes the derivatives, so that these runs take more steps as "
    "well. The table of docs/howto/sensitivities.md is from these rows."
)

SYSTEMS = {
    "double-pendulum": 100.0,
    "lagrange-top": 50.0,
    "cart-and-bar": 50.0,
    "spatial-chain": 5.0,
    "rolling-disk": 20.0,
    "four-bar": 10.0,
}
SYSTEMS |= {"flexible-slider-crank": 1.0, "whipple-bicycle": 5.0}
COUNTS = (1, 2, 4)


# joints of a chain that is measured as well
JOINTS = 7


def ratios(name: str, duration: float, rounds: int, system: da.System | None = None) -> list[float]:
    """Time over that of the run without sensitivities, for each count."""
    s, shown = build(name) if system is None else system, entry(name)
    run = partial(
        da.simulate,
        s,
        duration,
        start=shown.start,
        inputs=shown.inputs,
        audit=False,
        progress=False,
    )
    possible = [n for n, x in s.symbols.items() if x.kind == "constant" and x.value] + [
        q.name for q in s.q
    ]
    numbers = list(islice((n for n in possible if _can_vary(s, shown, n)), max(COUNTS)))
    works = [run, *(partial(run, sensitivities=numbers[:k]) for k in COUNTS)]
    for work in works:
        work()
    samples = [[timed(work)[0] for work in works] for _ in range(rounds)]
    least = [min(column) for column in zip(*samples, strict=True)]
    return [x / least[0] for x in least[1:]]


def _can_vary(s: da.System, shown: Entry, name: str) -> bool:
    """Whether the start can follow a change of this number."""
    try:
        da.simulate(
            s,
            1e-3,
            start=shown.start,
            inputs=shown.inputs,
            audit=False,
            progress=False,
            sensitivities=[name],
        )
    except da.DalembertError:
        return False
    return True


def run(report: Report, *, quick: bool) -> None:
    """A row for each system, a column for each count."""
    report.section("Sensitivities", NOTE)
    rounds, rows = 2 if quick else 5, []
    chain = f"spatial chain, {JOINTS} joints"
    for name, duration in {
        **dict(list(SYSTEMS.items())[: 2 if quick else None]),
        chain: 5.0,
    }.items():
        report.progress(name)
        found = (
            ratios("spatial-chain", duration, rounds, spatial_chain.build(JOINTS))
            if name == chain
            else ratios(name, duration, rounds)
        )
        rows.append((name, *(f"{x:.2f}" for x in found)))
        worst = max(x / (1 + 1.5 * k) for x, k in zip(found, COUNTS, strict=True))
        verdict = "met" if worst <= 1 else "**missed**"
        report.goals.append((f"sensitivities: {name}", "≤ 1 + 1.5 k", f"{found[-1]:.2f}", verdict))
    report.table(("system", *(f"k = {k}" for k in COUNTS)), rows)


def main() -> None:
    """A line for each system."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print(f"{'':20}" + "".join(f"{f'k = {k} (≤ {1 + 1.5 * k:g})':>16}" for k in COUNTS))
    for name, duration in SYSTEMS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ratios(name, duration, rounds)
        print(f"{name:20}" + "".join(f"{x:16.2f}" for x in found), flush=True)


if __name__ == "__main__":
    main()
