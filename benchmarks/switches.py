"""Dry friction: what a step costs beside the same step without it, and what a change of mode
costs beside its steps.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import grip
from measure import Timing, race
from results import NoSlower, Report, Within

import dalembert as da

NOTE = (
    "Whole calls of da.simulate at tolerance 1e-10, divided by their steps; both runs keep their "
    "energy audit, and with friction Z is integrated "
    "alongside. The slip never ends in the first two systems. A block on a belt then sticks and "
    "slips, and 8 and 20 balls bounce: what a run takes without its steps, for each change of mode "
    "or impact; a long step of the balls in flight costs as much as a short one. Records become "
    "events when they are read, which is not part of it."
)
_PLAIN, _WITH = "without friction", "with friction"
_MOST = 1.3
_MOST_PER_SWITCH = 20e-6
_MOST_AT_TWENTY = 40e-6
_TOLERANCE = {"rtol": 1e-10, "atol": 1e-10}


class Task(NamedTuple):
    """A system without and with friction, its start, and how long it runs."""

    name: str
    plain: da.System
    rough: da.System
    start: dict[str, float]
    duration: float


def block(*, friction: bool, speed: float = 300.0) -> da.System:
    """A mass on a spring, on a belt or not."""
    s = da.System("block on a belt", gravity=9.81)
    x = s.coordinate("x")
    m, k = s.constants(m=2, k=50)
    P = s.O.offset(x * s.N.x)
    s.particle("block", m, P)
    s.spring(k, P, s.O)
    if friction:
        s.friction(
            x.dot - speed, 0.2 if speed < 1 else 1e-3, static=0.5, normal=m * 9.81, name="belt"
        )
    return s


def links(*, friction: bool) -> da.System:
    """A pendulum of three links, whose first pin rubs or not."""
    s = da.System("three links", gravity=9.81)
    P = s.O
    for k, angle in enumerate(s.coordinates("a b c")):
        P = P.offset(-s.N.rotated(angle, s.N.z).y, f"P{k}")
        s.particle(f"m{k}", 1, P)
        if friction and not k:
            s.friction(angle.dot - 300, 1e-3, normal=1, name="pin")
    return s


def balls(n: int) -> da.System:
    """Balls that bounce, each on its own place of a floor."""
    s = da.System(f"{n} balls", gravity=9.81)
    for k, y in enumerate(s.coordinates(" ".join(f"y{k}" for k in range(n)))):
        P = s.O.offset(k * s.N.x + y * s.N.y, f"P{k}")
        s.particle(f"b{k}", 1, P)
        s.contact(P, restitution=1, name=f"c{k}")
    return s


def _run(system: da.System, start: dict[str, float], duration: float) -> Any:
    return da.simulate(system, duration, start=start, **_TOLERANCE)


def run(report: Report, *, quick: bool) -> None:
    """Steps, then changes of mode."""
    report.section("Friction", NOTE)
    part = 0.2 if quick else 1.0
    tasks = [
        Task(
            "a step of a block on a spring",
            block(friction=False),
            block(friction=True),
            {"x": 0.1},
            4000 * part,
        ),
        Task(
            "a step of a pendulum of three links",
            links(friction=False),
            links(friction=True),
            {"a": 1.0},
            400 * part,
        ),
    ]
    a_step = 0.0
    for task in tasks:
        report.progress(task.name)
        systems = {_PLAIN: task.plain, _WITH: task.rough}
        steps = {
            tool: _run(s, task.start, task.duration).solution.steps for tool, s in systems.items()
        }
        found = race(
            {
                tool: (lambda s=s, task=task: _run(s, task.start, task.duration))
                for tool, s in systems.items()
            }
        )
        timings = {tool: timing.per(steps[tool]) for tool, timing in found.items()}
        report.compare(task.name, timings, {_WITH: NoSlower(_MOST)})
        a_step = a_step or timings[_WITH].cpu
    _switches(report, a_step, part)
    grip.run(report, quick=quick)


def _switches(report: Report, a_step: float, part: float) -> None:
    """A change of mode: the run without its steps, for each of its events."""
    report.progress("changes of mode")
    omega, D, v = 5.0, 0.3 * 2 * 9.81 / 50, 0.3
    period = 2 * D / v + 2 / omega * (math.pi - math.atan(omega * D / v))
    belt, start, duration = block(friction=True, speed=v), {"x.dot": v}, 500 * part * period
    sample = _run(belt, start, duration)
    found = race({_WITH: lambda: _run(belt, start, duration)})[_WITH]
    empty = race({_WITH: lambda: _run(belt, start, 1e-3)})[_WITH]
    switches = len(sample.events)
    spent = found.cpu - a_step * sample.solution.steps - empty.cpu
    one = Timing(spent / switches, found.wall / switches, found.noise)
    report.compare("a change of mode", {_WITH: one}, {_WITH: Within(_MOST_PER_SWITCH)})
    for n, most in ((8, _MOST_PER_SWITCH), (20, _MOST_AT_TWENTY)):
        _impacts(report, n, most, part)
    last = [e.t for e in sample.events if e.action.startswith("slips")][-2:]
    off = abs(last[1] - last[0] - period)
    report.check(
        "the period of the block on the belt is that of the closed form",
        f"{off:.1e} s off",
        passed=off < 1e-8,
    )


def _impacts(report: Report, n: int, most: float, part: float) -> None:
    """An impact of one of n balls: the run without its steps, for each of its impacts."""
    task = f"an impact of one of {n} balls"
    report.progress(task)
    system, start = balls(n), {f"y{k}": 0.5 + 0.01 * k for k in range(n)}
    flight = {"start": {f"y{k}": 1e4 for k in range(n)}, "max_step": 0.01, **_TOLERANCE}
    empty = race({_WITH: lambda: da.simulate(system, 1, **flight)})[_WITH]
    full = race({_WITH: lambda: da.simulate(system, 21, **flight)})[_WITH]
    a_step, duration = (full.cpu - empty.cpu) / 2000, 400 * part / n
    sample = _run(system, start, duration)
    found = race({_WITH: lambda: _run(system, start, duration)})[_WITH]
    impacts = len(sample.events)
    spent = found.cpu - a_step * sample.solution.steps - (empty.cpu - 100 * a_step)
    one = Timing(spent / impacts, found.wall / impacts, found.noise)
    report.compare(task, {_WITH: one}, {_WITH: Within(most)})
