"""What `auto` chooses on systems of the gallery, beside both methods: measured, where the test
counts operations.
"""

from __future__ import annotations

from functools import partial

from measure import race
from results import Report, seconds

import dalembert as da
from dalembert import gallery

SYSTEMS = (
    "double-pendulum",
    "flexible-pendulum",
    "gyroscope",
    "lagrange-top",
    "positioning-device",
    "rolling-coin",
    "rotating-beam",
)
TOLERANCES = (1e-6, 1e-9, 1e-12)
LARGEST_RATIO = 1.3
_METHODS = ("native", "taylor", "auto")


def measure(report: Report, *, quick: bool) -> None:
    """Whole calls of da.simulate by each method, and how much longer auto takes than the better
    one.
    """
    rows, ratios = [], []
    for name in SYSTEMS[:3] if quick else SYSTEMS:
        report.progress(f"auto: {name}")
        entry = gallery.entry(name)
        s = entry.build()
        for rtol in TOLERANCES:
            asked = {
                "start": entry.start,
                "inputs": entry.inputs,
                "rtol": rtol,
                "atol": rtol,
                "audit": False,
            }
            run = partial(da.simulate, s, min(entry.duration, 4.0), **asked)
            found = race({k: partial(run, integrator=k) for k in _METHODS}, rounds=9)
            times = {k: found[k].cpu for k in _METHODS}
            ratios.append(times["auto"] / min(times["native"], times["taylor"]))
            rows.append(
                (name, f"{rtol:.0e}", *(seconds(times[k]) for k in _METHODS), f"{ratios[-1]:.2f}")
            )
    report.text(
        "**What `auto` chooses.** CPU time of whole calls of `da.simulate` for at most 4 s, "
        "without the audit."
    )
    report.table(("system", "tolerance", *_METHODS, "auto beside the better one"), rows)
    worst = max(ratios)
    verdict = "met" if worst <= LARGEST_RATIO else "**missed**"
    report.goals.append(
        (
            "auto beside the better method, worst of the table",
            f"≤ {LARGEST_RATIO:g}",
            f"{worst:.2f}",
            verdict,
        )
    )
