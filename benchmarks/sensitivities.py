"""What sensitivities cost: CPU time of a run with k numbers varied over that of the run alone,
wanted ≤ 1 + 1.5 k.

    python benchmarks/sensitivities.py [ROUNDS]

The runs take turns, and the least of all rounds counts.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from itertools import islice

from measure import timed

import dalembert as da
from dalembert.gallery import Entry, build, entry

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


def ratios(name: str, duration: float, rounds: int) -> list[float]:
    """Time over that of the run alone, for each count."""
    s, shown = build(name), entry(name)
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
