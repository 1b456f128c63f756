"""How the time grows with the joints of a chain: a line through the logarithms, whose slope is
the exponent.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence

import native_loop
import numpy
import systems
from compilation import kept_in
from measure import alone, timed
from results import Report, seconds

import dalembert as da
from dalembert.runtime.numerics.forward_dynamics import NativeDynamics

NOTE = (
    "Spatial chain, CPU time, the least of several rounds. The exponent is the slope of a straight "
    "line through log(time) over "
    "log(joints): 1 means that twice the joints take twice the time. Compile: from the equations "
    "to a function, nothing kept. Load: the "
    "same from the cache, by a tape that was never hashed. Evaluate: one state in a native loop. "
    "Agree: all principles and the audit."
)
JOINTS = (7, 20, 50, 100, 200, 500)
FEWER = (7, 14, 28, 56)
LINEAR = 1.15
GOALS = {"agree": 2.2}
# beyond so many joints once is enough
LARGE = 100
STATES = 64

Measure = Callable[[da.System], float]


def run(report: Report, *, quick: bool) -> None:
    """A row for each kind of work, a column for each number of joints."""
    report.section("Growth", NOTE)
    sizes = JOINTS[:4] if quick else JOINTS
    found = {what: _over(report, what, sizes, work) for what, work in _kinds().items()}
    few = FEWER[:3] if quick else FEWER
    found["agree"] = _over(
        report, "agree", few, lambda s: timed(lambda: da.agreement(s))[0], rounds=1
    )
    rows = []
    for what, times in found.items():
        slope = exponent(times)
        # a slope of few small systems says nothing
        verdict = "" if quick else "met" if slope <= GOALS.get(what, LINEAR) else "**missed**"
        if verdict:
            report.goals.append(
                (
                    f"growth: {what}, exponent",
                    f"≤ {GOALS.get(what, LINEAR):g}",
                    f"{slope:.2f}",
                    verdict,
                )
            )
        rows.append(
            (
                what,
                *(seconds(times[n]) if n in times else "" for n in sorted({*sizes, *few})),
                f"{slope:.2f}",
            )
        )
    report.table(("work", *(f"{n} joints" for n in sorted({*sizes, *few})), "exponent"), rows)


def exponent(times: Mapping[int, float]) -> float:
    """b of t = a nᵇ, by least squares of the logarithms."""
    slope, _ = numpy.polyfit([math.log(n) for n in times], [math.log(t) for t in times.values()], 1)
    return float(slope)


def _over(
    report: Report, what: str, sizes: Sequence[int], work: Measure, rounds: int = 3
) -> dict[int, float]:
    """{joints: seconds}, each round on a system that was never seen before."""
    found = {}
    for n in sizes:
        report.progress(f"{what}, {n} joints")
        alone()
        found[n] = min(work(systems.chain(n)) for _ in range(rounds if n <= LARGE else 1))
    return found


def _kinds() -> dict[str, Measure]:
    return {
        "describe": lambda s: timed(lambda: da.kinematics(systems.chain(len(s.q))))[0],
        "Kane": lambda s: timed(lambda: da.kane(s))[0],
        "Lagrange": lambda s: timed(lambda: da.lagrange(s))[0],
        "link by link": lambda s: timed(lambda: da.forward_dynamics(s))[0],
        "compile": _compiled,
        "load": _loaded,
        "evaluate": _evaluated,
    }


def _compiled(s: da.System) -> float:
    equations = da.forward_dynamics(s)
    with kept_in("off"):
        return timed(lambda: NativeDynamics(s, equations))[0]


def _loaded(s: da.System) -> float:
    """As a new process would: nothing of the tape was hashed before."""
    with tempfile.TemporaryDirectory() as place, kept_in(place):
        NativeDynamics(s, da.forward_dynamics(s))
        again = systems.chain(len(s.q))
        equations = da.forward_dynamics(again)
        return timed(lambda: NativeDynamics(again, equations))[0]


def _evaluated(s: da.System) -> float:
    f = da.compile(s)
    Q, U = systems.states(len(s.q), STATES)
    X = numpy.hstack([Q, U, numpy.zeros((STATES, 1))])
    # the code itself, without the call from Python
    loop = native_loop.compiled_rows(f._udot, X, f._defaults)  # noqa: SLF001
    loop()
    return min(timed(loop, calls=20)[0] for _ in range(5)) / (20 * STATES)
