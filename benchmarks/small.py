"""What it costs to derive small systems: CPU milliseconds for eleven of them by each principle, the
best of many rounds.

    python benchmarks/small.py [SRC ...]

Every SRC is a folder that holds the package `dalembert`; several give several columns. The trees
take turns, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROUNDS = 5
MEASURE = """
import json, time
from dalembert import gallery, kinematics
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.errors import NotApplicable

NAMES = ("simple-pendulum", "double-pendulum", "cart-and-bar", "rolling-disk", "suslov",
         "chaplygin-sleigh", "knife-edge-rod", "hoist",
         "bead-on-hoop", "four-bar", "ball-on-turntable")
kins = [kinematics(gallery.build(n)) for n in NAMES if n in gallery.names()]
found = {}
for principle, derive in PRINCIPLES:
    best = 0.0
    for kin in kins:
        try:
            derive(kin)
        except NotApplicable:
            continue
        times = []
        for _ in range(12):
            start = time.process_time()
            derive(kin)
            times.append(time.process_time() - start)
        best += min(times)
    found[principle.name] = 1e3 * best
print(json.dumps(found))
"""


def measured(src: Path) -> dict[str, float]:
    """{principle: ms}, once."""
    environment = {**os.environ, "PYTHONPATH": str(src)}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(folders: list[Path]) -> None:
    """A table with a column for each tree."""
    rounds = [[measured(folder) for folder in folders] for _ in range(ROUNDS)]
    for name in rounds[0][0]:
        print(
            f"{name:18}",
            *(f"{min(each[k][name] for each in rounds):8.1f}" for k in range(len(folders))),
        )


if __name__ == "__main__":
    main([Path(a).resolve() for a in sys.argv[1:]] or [Path(__file__).resolve().parents[1] / "src"])
