"""Motions: time against the error achieved, the error taken from a reference of thirty digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import pi
from typing import Any, NamedTuple

import chosen
import eight_starts
import numpy
import pleiades
import reference
import systems
from measure import Timing, race
from peers import Unavailable, attempt, peer
from results import Report, Slower, percent, seconds
from runs import Ours, Outcome, Point, State, time_at

import dalembert as da

NOTE = (
    "A run by the integrator that `auto` chooses is timed on a system that is compiled already, in "
    "memory that is there, to its last "
    "state and without dense output: what heyoka's propagate_until does on an integrator that was "
    "made before. "
    "The rows `da.simulate` are the whole call with its start values, dense output and Trajectory. "
    "Error is the largest difference of the "
    "last state from a reference of thirty digits that knows neither tool. Times at equal error "
    "are medians of "
    "20 rounds. heyoka compiles for each tolerance anew; that is not counted."
)
TOLERANCES = (1e-4, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14)
FEW = (1e-4, 1e-6, 1e-8)
ERRORS = (1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
_ROUNDS = 20
_DISK = (0.0, 0.0, 0.0, 1.2, 0.0, 0.6, 0.1, -4.0)
_SOLVE, _FORMULAS = "SciPy DOP853, lambdify and solve", "SciPy DOP853, lambdified solution"
_PINOCCHIO = "SciPy DOP853, pin.aba"


class Task(NamedTuple):
    """A motion: the system, its start (q then u), how long, its reference and heyoka's equations
    of it.
    """

    name: str
    system: da.System
    start: Sequence[float]
    duration: float
    rates: Callable[[list[Any]], list[Any]]
    steps: int
    heyoka: Callable[[Any], Any]
    # heyoka must take at least so many times as long; 0 where nothing is promised
    bound: float = 0.0


def run(report: Report, *, quick: bool) -> None:
    """Work against precision, SciPy, the start from rest, and chains."""
    report.section("Simulate", NOTE)
    double = _pendulum(2, (1.0, 0.5), 10.0, 200)._replace(bound=0.85)
    disk = Task(
        "rolling disk, 10 s",
        systems.disk(),
        _DISK,
        10.0,
        reference.rolling_disk,
        100,
        lambda tool: tool.rolling_disk(),
        0.85,
    )
    _work_precision(report, double, FEW if quick else TOLERANCES)
    _scipy(report, double)
    _work_precision(report, disk, FEW if quick else TOLERANCES)
    if not quick:
        _work_precision(
            report,
            _pendulum(5, (1.0, 0.8, 0.6, 0.4, 0.2), 5.0, 200)._replace(bound=2.5),
            TOLERANCES,
        )
        _work_precision(
            report,
            _pendulum(10, [(10 - i) / 20 for i in range(10)], 1.0, 100)._replace(bound=4.0),
            FEW,
        )
    pleiades.measure(report, quick=quick)
    chosen.measure(report, quick=quick)
    eight_starts.measure(report, quick=quick)
    _from_rest(report)
    _spin_up(report, 2 if quick else 4)
    for n in (7,) if quick else (7, 20, 50, 200):
        _chain(report, n)


def _pendulum(n: int, angles: Sequence[float], duration: float, steps: int) -> Task:
    """From rest, angles from the vertical."""
    name, start = f"pendulum of {n} links, {duration:g} s", (*angles, *[0.0] * n)
    return Task(
        name,
        systems.pendulum_from_vertical(n),
        start,
        duration,
        reference.pendulum(n),
        steps,
        lambda tool: tool.pendulum(n),
    )


def _referenced(report: Report, task: Task) -> State:
    """The last state to thirty digits; its own error is far below its difference from half as
    many steps.
    """
    report.progress(f"{task.name}: reference")
    last = reference.motion(task.rates, task.start, task.duration, task.steps)
    doubt = numpy.abs(
        last - reference.motion(task.rates, task.start, task.duration, task.steps // 2)
    ).max()
    report.check(
        f"{task.name}: reference against half as many steps",
        f"{doubt:.0e} ≤ 1e-6",
        passed=bool(doubt <= 1e-6),
    )
    return last


def _works(
    task: Task, ours: Ours, tolerance: float, missing: dict[str, str]
) -> dict[str, Callable[[], Outcome]]:
    """The run by each tool that is there."""
    works: dict[str, Callable[[], Outcome]] = {
        "dalembert": partial(ours.run, task.start, task.duration, tolerance)
    }
    try:
        tool = peer("heyoka")
        integrator = attempt(lambda: tool.Integrator(task.heyoka(tool), task.start, tolerance))
        works["heyoka"] = partial(integrator.run, task.duration)
    except Unavailable as reason:
        missing["heyoka"] = str(reason)
    return works


def _work_precision(report: Report, task: Task, tolerances: Sequence[float]) -> None:
    """The same motion by each tool at several tolerances."""
    truth, ours = _referenced(report, task), Ours(task.system)
    found: dict[str, list[Point]] = {}
    missing: dict[str, str] = {}
    for tolerance in tolerances:
        report.progress(f"{task.name}: tolerance {tolerance:.0e}")
        works = _works(task, ours, tolerance, missing)
        outcomes = {name: work() for name, work in works.items()}
        for name, timing in race(works, rounds=_ROUNDS).items():
            last, steps, success = outcomes[name]
            found.setdefault(name, []).append(
                Point(
                    tolerance, float(numpy.abs(last - truth).max()), timing.middle, steps, success
                )
            )
    _tabulate(report, task, found, missing)
    best = min((p.tolerance, p.error) for p in found["dalembert"])
    # errors grow along the motion, less than ten thousand times in all of these
    bound = 1e4 * best[0]
    report.check(
        f"{task.name}: error at tolerance {best[0]:.0e}",
        f"{best[1]:.1e} ≤ {bound:.0e}",
        passed=best[1] <= bound,
    )
    _equal_error(report, task, found, missing)
    _whole_call(report, task, ours)


def _tabulate(
    report: Report, task: Task, found: Mapping[str, list[Point]], missing: Mapping[str, str]
) -> None:
    rows = [
        (
            name,
            f"{p.tolerance:.0e}",
            f"{p.error:.1e}",
            seconds(p.timing.cpu),
            seconds(p.timing.wall),
            percent(p.timing.noise),
            str(p.steps),
        )
        for name, points in found.items()
        for p in points
    ]
    report.text(f"**{task.name[0].upper()}{task.name[1:]}.**")
    report.table(
        ("tool", "tolerance", "error", "CPU", "wall", "noise", "steps"),
        [*rows, *((k, v, *[""] * 5) for k, v in missing.items())],
    )


def _equal_error(
    report: Report, task: Task, found: Mapping[str, list[Point]], missing: Mapping[str, str]
) -> None:
    """Each tool's time for the same error achieved, where all of them came to both sides of it,
    and the means of these times.
    """
    means: dict[str, list[Timing]] = {}
    for error in ERRORS:
        timings = {
            name: t for name, points in found.items() if (t := time_at(points, error)) is not None
        }
        if len(timings) == len(found):
            report.compare(
                f"{task.name}, error {error:.0e}",
                {**timings, **missing},
                {"heyoka": Slower(task.bound)} if task.bound else None,
            )
            for name, timing in timings.items():
                means.setdefault(name, []).append(timing)
    if means:
        whole = {name: _geometric_mean(each) for name, each in means.items()}
        report.compare(
            f"{task.name}, geometric mean of these",
            {**whole, **missing},
            {"heyoka": Slower(max(task.bound, 1.0))},
        )


def _geometric_mean(timings: Sequence[Timing]) -> Timing:
    cpu, wall = (
        float(numpy.exp(numpy.mean(numpy.log(column))))
        for column in zip(*((t.cpu, t.wall) for t in timings), strict=True)
    )
    return Timing(cpu, wall, max(t.noise for t in timings))


def _whole_call(report: Report, task: Task, ours: Ours) -> None:
    """What a user pays for da.simulate, beside the loop alone."""
    start = dict(zip(ours.names, task.start, strict=True))
    whole = partial(da.simulate, task.system, task.duration, start=start, rtol=1e-9, atol=1e-9)
    works: dict[str, Callable[[], object]] = {
        "dalembert, loop alone": partial(ours.run, task.start, task.duration, 1e-9),
        "dalembert, da.simulate": whole,
    }
    report.compare(f"{task.name}, tolerance 1e-09", race(works))


def _scipy(report: Report, task: Task) -> None:
    """SciPy's DOP853 on SymPy's equations, solved by numpy at each call or solved in symbols
    before; relative angles.
    """
    report.progress(f"{task.name}: SciPy")
    ours, start = Ours(systems.pendulum(2)), (1.0, -0.5, 0.0, 0.0)
    right_hand_sides, missing = {}, {}
    for name, made in ((_SOLVE, "rates_by_solve"), (_FORMULAS, "rates_by_formulas")):
        try:
            right_hand_sides[name] = attempt(
                lambda made=made: getattr(peer("sympy_mechanics"), made)(2)
            )  # type: ignore[misc]
        except Unavailable as reason:
            missing[name] = str(reason)
    for tolerance in (1e-6, 1e-9, 1e-12):
        works = {"dalembert": lambda t=tolerance: ours.run(start, task.duration, t)[0]}
        works |= {
            k: partial(peer("scipy").run, f, start, task.duration, tolerance)
            for k, f in right_hand_sides.items()
        }
        what = f"{task.name}, relative angles, tolerance {tolerance:.0e}"
        report.compare(what, {**race(works, rounds=5), **missing}, {_SOLVE: Slower(200)})
        _same(report, what, works, 1e4 * tolerance)


def _spin_up(report: Report, n: int) -> None:
    """The flexible beam on a hub, in n admissible functions, against SciPy on SymPy's equations
    of the same energies.
    """
    what = f"spin-up of a beam, {n} functions, 20 s, tolerance 1e-09"
    report.progress(what)
    ours, start = Ours(systems.spin_up(n)), [0.0] * (2 * n)
    works: dict[str, Callable[[], State]] = {"dalembert": lambda: ours.run(start, 20.0, 1e-9)[0]}
    missing: dict[str, Timing | str] = {}
    try:
        rates = attempt(lambda: peer("sympy_beam").spin_up(systems.beam_functions(n)))
        works[_SOLVE] = partial(peer("scipy").run, rates, start, 20.0, 1e-9)
    except Unavailable as reason:
        missing[_SOLVE] = str(reason)
    report.compare(what, {**race(works, rounds=3), **missing}, {_SOLVE: Slower(50)})
    _same(report, what, works, 1e-5)


def _same(
    report: Report, what: str, works: Mapping[str, Callable[[], State]], bound: float
) -> None:
    """The last states of all tools agree."""
    mine, *others = (work() for work in works.values())
    for name, theirs in zip(list(works)[1:], others, strict=True):
        error = float(numpy.abs(mine - theirs).max())
        report.check(f"{what}: {name}", f"{error:.1e} ≤ {bound:.0e}", passed=error <= bound)


def _chain(report: Report, n: int) -> None:
    """The spatial chain for a second, against SciPy on Pinocchio's right-hand side."""
    what = f"spatial chain of {n} joints, 1 s, tolerance 1e-09"
    report.progress(what)
    ours, start = Ours(systems.chain(n)), [0.5] * n + [0.0] * n
    works: dict[str, Callable[[], State]] = {"dalembert": lambda: ours.run(start, 1.0, 1e-9)[0]}
    missing: dict[str, Timing | str] = {}
    try:
        chain = attempt(lambda: peer("pinocchio").Chain(systems.links(n)))
        works[_PINOCCHIO] = partial(peer("scipy").run, chain.rates, start, 1.0, 1e-9)
    except Unavailable as reason:
        missing[_PINOCCHIO] = str(reason)
    report.compare(what, {**race(works, rounds=3), **missing})
    _same(report, what, works, 1e-5)


def _from_rest(report: Report) -> None:
    """Both rods horizontal and at rest: relative angles (π/2, 0)."""
    task = _pendulum(2, (pi / 2, pi / 2), 10.0, 400)._replace(
        name="double pendulum from rest at (π/2, 0)"
    )
    truth, ours, rows = _referenced(report, task), Ours(task.system), []
    for tolerance in TOLERANCES:
        for name, work in _works(task, ours, tolerance, {}).items():
            last, steps, success = work()
            error = float(numpy.abs(last - truth).max())
            right = error <= max(1e5 * tolerance, 1e-9)
            rows.append(
                (
                    name,
                    f"{tolerance:.0e}",
                    f"{error:.1e}",
                    str(steps),
                    "right" if right else "**wrong**",
                    "" if success else "cut off",
                )
            )
            if name == "dalembert":
                report.check(
                    f"{task.name}, tolerance {tolerance:.0e}: error", f"{error:.1e}", passed=right
                )
    report.text(
        "**Double pendulum from rest at (π/2, 0)**, relative angles. Right: an error ≤ 1e5 times "
        "the tolerance, for errors grow some ten "
        "thousand times in these ten seconds. Cut off: the benchmark ends a run that takes more "
        "than 20 000 steps."
    )
    report.table(("tool", "tolerance", "error", "steps", "", ""), sorted(rows, key=lambda r: r[0]))
