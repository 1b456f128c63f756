"""Motions: time against the error achieved, the error taken from a reference of thirty digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log, pi
from typing import Any, NamedTuple

import dalembert as da
import numpy
import reference
import systems
from dalembert.kinematics.kinematics import kinematics
from dalembert.simulation.glue import Context
from dalembert.simulation.loop import integrate
from dalembert.simulation.model import native_model
from dalembert.simulation.problem import Problem
from dalembert.simulation.setting import parameters_of, setting
from measure import Timing, race
from numpy.typing import NDArray
from peers import Unavailable, attempt, peer
from results import Report, Slower, seconds

NOTE = (
    "A run is timed on a system that is compiled already, to its last state and without dense output: what heyoka's propagate_until does. "
    "The rows `da.simulate` are the whole call with its start values, dense output and Trajectory. Error is the largest difference of the "
    "last state from a reference of thirty digits that knows neither tool. heyoka compiles for each tolerance anew; that is not counted."
)
TOLERANCES = (1e-4, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14)
ERRORS = (1e-5, 1e-7, 1e-9, 1e-11)
State = NDArray[numpy.float64]


class Task(NamedTuple):
    """A motion: the system, its start (q then u), how long, its reference and heyoka's equations of it."""

    name: str
    system: da.System
    start: Sequence[float]
    duration: float
    rates: Callable[[list[Any]], list[Any]]
    steps: int
    heyoka: Callable[[Any], Any]
    bound: float


class Point(NamedTuple):
    """One run of one tool."""

    tolerance: float
    error: float
    timing: Timing
    steps: int
    success: bool = True


def run(report: Report, *, quick: bool) -> None:
    """Work against precision, the start from rest, and SciPy."""
    report.section("Simulate", NOTE)
    double = _pendulum(2, (1.0, 0.5), 10.0, 200, 0.5)
    _work_precision(report, double, TOLERANCES[1::3] if quick else TOLERANCES)
    _scipy(report, double)
    if not quick:
        _work_precision(report, _pendulum(5, (1.0, 0.8, 0.6, 0.4, 0.2), 5.0, 200, 1.0), TOLERANCES)
    disk = Task("rolling disk, 10 s", systems.disk(), _DISK, 10.0, reference.rolling_disk, 100, lambda tool: tool.rolling_disk(), 0.0)
    _work_precision(report, disk, TOLERANCES[1::3] if quick else TOLERANCES)
    _from_rest(report)


_DISK = (0.0, 0.0, 0.0, 1.2, 0.0, 0.6, 0.1, -4.0)


def _pendulum(n: int, angles: Sequence[float], duration: float, steps: int, bound: float) -> Task:
    name = f"pendulum of {n} links, {duration:g} s"
    start = (*angles, *[0.0] * n)
    return Task(name, systems.pendulum_from_vertical(n), start, duration, reference.pendulum(n), steps, lambda tool: tool.pendulum(n), bound)


class Ours:
    """A compiled system that can be run again and again, from any start."""

    def __init__(self, system: da.System) -> None:
        self.system = system
        chosen = setting(kinematics(system), {}, {})
        model = native_model(chosen, da.forward_dynamics(system))
        p = numpy.array(parameters_of(chosen, model.parameters), dtype=float)
        self._context = Context(model.rates, p, model.projection)
        self.names = [chosen.kin.name(i) for i in (*chosen.kin.q, *chosen.kin.u)]

    def run(self, start: Sequence[float], duration: float, tolerance: float) -> tuple[State, int]:
        """The last state and the number of steps."""
        c = self._context
        problem = Problem(
            rhs=c.rhs,
            project=c.project,
            context=c.address,
            y0=start,
            t0=0.0,
            t1=duration,
            rtol=tolerance,
            atol=tolerance,
            dense=False,
        )
        solution = integrate(problem)
        return solution.y[-1], solution.steps


def _referenced(report: Report, task: Task) -> State:
    """The last state to thirty digits; its own error is that of half as many steps, much overestimated."""
    report.progress(f"{task.name}: reference")
    last = reference.motion(task.rates, task.start, task.duration, task.steps)
    doubt = numpy.abs(last - reference.motion(task.rates, task.start, task.duration, task.steps // 2)).max()
    report.check(f"{task.name}: reference against half as many steps", f"{doubt:.0e} ≤ 1e-6", passed=bool(doubt <= 1e-6))
    return last


def _work_precision(report: Report, task: Task, tolerances: Sequence[float]) -> None:
    """The same motion by each tool at several tolerances."""
    truth = _referenced(report, task)
    found: dict[str, list[Point]] = {"dalembert": [], "heyoka": []}
    missing: dict[str, str] = {}
    ours = Ours(task.system)
    for tolerance in tolerances:
        report.progress(f"{task.name}: tolerance {tolerance:.0e}")
        works: dict[str, Callable[[], tuple[State, int, bool]]] = {"dalembert": lambda t=tolerance: (*ours.run(task.start, task.duration, t), True)}  # type: ignore[misc]
        _heyoka(task, tolerance, works, missing)
        outcomes = {name: work() for name, work in works.items()}
        for name, timing in race(works).items():
            last, steps, success = outcomes[name]
            found[name].append(Point(tolerance, float(numpy.abs(last - truth).max()), timing, steps, success))
    found = {name: points for name, points in found.items() if points}
    _tabulate(report, task, found, missing)
    _right(report, task, found["dalembert"])
    _equal_error(report, task, found)
    _whole_call(report, task, ours)


def _heyoka(task: Task, tolerance: float, works: dict[str, Any], missing: dict[str, str]) -> None:
    try:
        tool = peer("heyoka")
        integrator = attempt(lambda: tool.Integrator(task.heyoka(tool), task.start, tolerance))
    except Unavailable as reason:
        missing["heyoka"] = str(reason)
        return
    works["heyoka"] = lambda: integrator.run(task.duration)


def _tabulate(report: Report, task: Task, found: Mapping[str, list[Point]], missing: Mapping[str, str]) -> None:
    rows = [
        (name, f"{p.tolerance:.0e}", f"{p.error:.1e}", seconds(p.timing.cpu), seconds(p.timing.wall), f"{p.timing.noise:.0%}", str(p.steps))
        for name, points in found.items()
        for p in points
    ]
    report.text(f"**{task.name[0].upper()}{task.name[1:]}.**")
    report.table(("tool", "tolerance", "error", "CPU", "wall", "noise", "steps"), [*rows, *((k, v, *[""] * 5) for k, v in missing.items())])


def _right(report: Report, task: Task, points: Sequence[Point]) -> None:
    """The tightest run must be right, whatever the machine."""
    best = min(p.error for p in points)
    report.check(f"{task.name}: dalembert's smallest error", f"{best:.1e} ≤ 1e-10", passed=best <= 1e-10)


def _front(points: Sequence[Point]) -> list[Point]:
    """Runs that no other run of the tool beats in both time and error, most accurate first."""
    front: list[Point] = []
    for p in sorted((p for p in points if p.success), key=lambda p: p.timing.cpu):
        if not front or p.error < front[-1].error:
            front.append(p)
    return front[::-1]


def _time_at(points: Sequence[Point], error: float) -> Timing | None:
    """The time for an error, between runs by a straight line in logarithms; none outside the runs."""
    front = _front(points)
    x = [log(p.error) for p in front]
    if len(front) < 2 or not x[0] <= log(error) <= x[-1]:
        return None
    cpu, wall = (float(numpy.exp(numpy.interp(log(error), x, [log(getattr(p.timing, k)) for p in front]))) for k in ("cpu", "wall"))
    return Timing(cpu, wall, max(p.timing.noise for p in front))


def _equal_error(report: Report, task: Task, found: Mapping[str, list[Point]]) -> None:
    """Each tool's time for the same error achieved."""
    for error in ERRORS:
        timings = {name: t for name, points in found.items() if (t := _time_at(points, error)) is not None}
        if "dalembert" in timings and len(timings) > 1:
            goals = {"heyoka": Slower(task.bound)} if task.bound else None
            report.compare(f"{task.name}, error {error:.0e}", timings, goals)


def _whole_call(report: Report, task: Task, ours: Ours) -> None:
    """What a user pays for da.simulate, beside the loop alone."""
    start = dict(zip(ours.names, task.start, strict=True))

    def whole() -> object:
        return da.simulate(task.system, task.duration, start=start, rtol=1e-9, atol=1e-9)

    works = {"dalembert, loop alone": lambda: ours.run(task.start, task.duration, 1e-9), "dalembert, da.simulate": whole}
    report.compare(f"{task.name}, tolerance 1e-9", race(works))


def _scipy(report: Report, task: Task) -> None:
    """SciPy's DOP853 on SymPy's equations, solved by numpy at each call or solved in symbols before; relative angles."""
    report.progress(f"{task.name}: SciPy")
    ours, start = Ours(systems.pendulum(2)), (1.0, -0.5, 0.0, 0.0)
    for tolerance in (1e-6, 1e-9, 1e-12):
        works: dict[str, Callable[[], object]] = {"dalembert": lambda t=tolerance: ours.run(start, task.duration, t)}  # type: ignore[misc]
        missing: dict[str, str] = {}
        for name, made in (("SciPy DOP853, lambdify and solve", "rates_by_solve"), ("SciPy DOP853, lambdified solution", "rates_by_formulas")):
            try:
                rates = attempt(lambda made=made: getattr(peer("sympy_mechanics"), made)(2))  # type: ignore[misc]
                works[name] = lambda r=rates, t=tolerance: peer("scipy").run(r, start, task.duration, t)  # type: ignore[misc]
            except Unavailable as reason:
                missing[name] = str(reason)
        goals = {"SciPy DOP853, lambdify and solve": Slower(200)}
        report.compare(f"{task.name}, tolerance {tolerance:.0e}", race(works, rounds=5) | missing, goals)


def _from_rest(report: Report) -> None:
    """Both rods horizontal and at rest: relative angles (π/2, 0)."""
    task = _pendulum(2, (pi / 2, pi / 2), 10.0, 400, 0.0)._replace(name="double pendulum from rest at (π/2, 0)")
    truth = _referenced(report, task)
    ours, rows = Ours(task.system), []
    for tolerance in TOLERANCES:
        works: dict[str, Any] = {"dalembert": lambda t=tolerance: (*ours.run(task.start, task.duration, t), True)}  # type: ignore[misc]
        _heyoka(task, tolerance, works, {})
        for name, work in works.items():
            last, steps, success = work()
            error = float(numpy.abs(last - truth).max())
            # errors grow some ten thousand times in these ten seconds
            right = error <= max(1e5 * tolerance, 1e-9)
            rows.append((name, f"{tolerance:.0e}", f"{error:.1e}", str(steps), "right" if right else "**wrong**", "" if success else "gave up"))
            if name == "dalembert":
                report.check(f"{task.name}, tolerance {tolerance:.0e}: error", f"{error:.1e}", passed=right)
    report.text("**Double pendulum from rest at (π/2, 0)**, relative angles; right means an error ≤ 1e5 times the tolerance.")
    report.table(("tool", "tolerance", "error", "steps", "", "outcome"), sorted(rows, key=lambda r: r[0]))
