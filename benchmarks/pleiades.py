"""The Pleiades: seven stars in a plane with close encounters, against their published places at
t = 3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy
from measure import race
from peers import Unavailable, attempt, peer
from results import Report, Slower
from runs import Ours, Outcome, Point, time_at

import dalembert as da

# x and y of the seven at t = 3: HW96, Test Set for IVP Solvers, PLEI
PUBLISHED = (
    *(
        0.3706139143970502,
        3.237284092057233,
        -3.222559032418324,
        0.6597091455775310,
        0.3425581707156584,
        1.562172101400631,
    ),
    *(
        -0.7003092922212495,
        -3.943437585517392,
        -3.271380973972550,
        5.225081843456543,
        -2.590612434977470,
        1.198213693392275,
    ),
    *(-0.2429682344935824, 1.091449240428980),
)
START = (*(3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0), *(3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0))
START += (*(0.0, 0.0, 0.0, 0.0, 0.0, 1.75, -1.5), *(0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0))
_DURATION = 3.0
_TOLERANCES = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13)
_ERRORS = (1e-6, 1e-8, 1e-10)
# down to the smallest that SciPy takes
_TIGHT = numpy.geomspace(1e-12, 2.3e-14, 20)
_MEDIAN = 7e-12


def system() -> da.System:
    """Masses 1, …, 7 that attract one another, G = 1."""
    s = da.System("Pleiades")
    x, y = ([s.coordinate(f"{name}_{i}") for i in range(1, 8)] for name in "xy")
    for i in range(7):
        s.particle(f"P_{i + 1}", i + 1, s.O.offset(x[i] * s.N.x + y[i] * s.N.y, f"P_{i + 1}"))
        for j in range(i):
            s.potential(
                -(i + 1) * (j + 1) / da.sqrt((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2),
                name=f"V_{i}{j}",
            )
    return s


def rates(_t: float, state: Any) -> Any:
    """x'' = Σ_j m_j (x_j − x)/r³, for SciPy."""
    x, y, m = state[:7], state[7:14], numpy.arange(1.0, 8.0)
    dx, dy = x - x[:, None], y - y[:, None]
    r3 = (dx**2 + dy**2 + numpy.eye(7)) ** 1.5
    return numpy.concatenate([state[14:], (dx / r3) @ m, (dy / r3) @ m])


def measure(report: Report, *, quick: bool) -> None:
    """Time at equal error against heyoka; errors at tight tolerances against DOP853."""
    report.progress("Pleiades")
    ours = Ours(system())
    _equal_error(report, ours, _TOLERANCES[::2] if quick else _TOLERANCES)
    _tight(report, ours)


def _error(state: Any) -> float:
    return float(numpy.abs(state[:14] - PUBLISHED).max())


def _equal_error(report: Report, ours: Ours, tolerances: tuple[float, ...]) -> None:
    found: dict[str, list[Point]] = {}
    missing: dict[str, str] = {}
    for tolerance in tolerances:
        works: dict[str, Callable[[], Outcome]] = {
            "dalembert": partial(ours.run, START, _DURATION, tolerance)
        }
        try:
            tool = peer("heyoka")
            new = partial(tool.Integrator, tool.pleiades(), START, tolerance)
            works["heyoka"] = partial(attempt(new).run, _DURATION)
        except Unavailable as reason:
            missing["heyoka"] = str(reason)
        outcomes = {name: work() for name, work in works.items()}
        for name, timing in race(works).items():
            last, steps, success = outcomes[name]
            found.setdefault(name, []).append(
                Point(tolerance, _error(last), timing, steps, success)
            )
    for error in _ERRORS:
        timings = {
            name: t for name, points in found.items() if (t := time_at(points, error)) is not None
        }
        if len(timings) == len(found):
            report.compare(
                f"Pleiades, 3 units of time, error {error:.0e}",
                {**timings, **missing},
                {"heyoka": Slower(1.0)},
            )


def _tight(report: Report, ours: Ours) -> None:
    """Errors near the last digits that doubles have."""
    mine = [_error(ours.run(START, _DURATION, float(t))[0]) for t in _TIGHT]
    scipy = [_error(peer("scipy").run(rates, START, _DURATION, float(t))) for t in _TIGHT]
    worse = sum(a > b for a, b in zip(mine, scipy, strict=True))
    middle = median(mine)
    what = f"Pleiades, {len(_TIGHT)} tolerances from {_TIGHT[0]:.0e} to {_TIGHT[-1]:.1e}"
    report.text(
        f"**{what}.** Error of dalembert: median {middle:.1e}, largest {max(mine):.1e}; SciPy's "
        f"DOP853: {median(scipy):.1e}, "
        f"{max(scipy):.1e}, smaller than dalembert's at {worse} of them."
    )
    report.check(f"{what}: median error", f"{middle:.1e} ≤ {_MEDIAN:.0e}", passed=middle <= _MEDIAN)
