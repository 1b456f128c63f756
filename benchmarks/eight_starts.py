"""The double pendulum from eight random starts against heyoka: the loop alone, and the whole
call.
"""

from __future__ import annotations

from functools import partial

import numpy
import reference
import systems
from measure import Timing, race
from peers import Unavailable, attempt, peer
from results import Report, Slower
from runs import Ours

import dalembert as da

STARTS = 8
_TOLERANCE = 1e-9
_DURATION = 10.0


def measure(report: Report, *, quick: bool) -> None:
    """Geometric means over the starts at one tolerance, and the errors that the tools reach."""
    random = numpy.random.default_rng(11)
    starts = random.uniform(-1.0, 1.0, (2 if quick else STARTS, 4))
    system = systems.pendulum_from_vertical(2)
    ours = Ours(system)
    times: dict[str, list[Timing]] = {}
    errors: dict[str, list[float]] = {}
    missing: dict[str, str] = {}
    for k, start in enumerate(starts):
        report.progress(f"start {k + 1} of {len(starts)} against heyoka")
        truth = reference.motion(reference.pendulum(2), list(start), _DURATION, 200)
        works = {"dalembert, loop": partial(ours.run, list(start), _DURATION, _TOLERANCE)}
        named = dict(zip(ours.names, map(float, start), strict=True))
        works["dalembert, da.simulate"] = partial(
            da.simulate, system, _DURATION, start=named, rtol=_TOLERANCE, atol=_TOLERANCE
        )
        try:
            tool = peer("heyoka")
            new = partial(tool.Integrator, tool.pendulum(2), list(start), _TOLERANCE)
            works["heyoka"] = partial(attempt(new).run, _DURATION)
        except Unavailable as reason:
            missing["heyoka"] = str(reason)
        for name in {"dalembert, loop", "heyoka"} & set(works):
            error = float(numpy.abs(works[name]()[0] - truth).max())
            errors.setdefault(name, []).append(error)
        for name, timing in race(works).items():
            times.setdefault(name, []).append(timing)
    means = {name: _mean(each) for name, each in times.items()}
    what = f"double pendulum, {len(starts)} random starts, tolerance {_TOLERANCE:.0e}, mean"
    loop, call = means.pop("dalembert, loop"), means.pop("dalembert, da.simulate")
    report.compare(
        f"{what}, loop", {"dalembert": loop, **means, **missing}, {"heyoka": Slower(1.0)}
    )
    report.compare(
        f"{what}, whole call", {"dalembert": call, **means, **missing}, {"heyoka": Slower(0.6)}
    )
    shown = [f"{name} {numpy.median(each):.1e}" for name, each in errors.items()]
    report.text(f"Middle errors at the end: {', '.join(sorted(shown))}.")


def _mean(timings: list[Timing]) -> Timing:
    """The geometric mean."""
    cpu, wall = (
        float(numpy.exp(numpy.mean(numpy.log([getattr(t, name) for t in timings]))))
        for name in ("cpu", "wall")
    )
    return Timing(cpu, wall, max(t.noise for t in timings))
