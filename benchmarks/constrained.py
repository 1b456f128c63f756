"""Mechanisms: one run to its last state, against CasADi with IDAS and CVODES at equal error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy
from measure import Timing, race
from peers import Unavailable, attempt, peer
from results import Report, Slower, percent, seconds
from runs import Outcome, Point, State

import dalembert as da
from dalembert.gallery import (
    andrews_squeezer,
    flyball_governor,
    n_four_bar,
    slider_crank,
    whipple_bicycle,
)
from dalembert.gallery.entry import Entry
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import integrate
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.runtime.simulation.run_setup import prepare_run
from dalembert.runtime.states.run_values import run_values

NOTE = (
    "dalembert: the loop from a consistent start, with the states projected, and the whole call of "
    "da.simulate without the energy "
    "audit; of the governor, whose springs are stiff, also with integrator='rosenbrock'. "
    "CasADi, IDAS with multipliers: q̇ and, of index 1, 𝓜 ż − f − Aᵀλ = 0 with the rows of "
    "accelerations, in which those of "
    "speeds and positions fade as e^(−20 t), for its integrators have no projection; in all rates. "
    "IDAS: q̇ and M u̇ = f along "
    "independent speeds, where there are any. CVODES: our explicit rates. All take our expressions "
    "and CasADi's derivatives of them; "
    "building the solver is not counted. Exudyn: plane rigid bodies and revolute joints in "
    "redundant coordinates, by its trapezoidal "
    "rule for index 2, with the size of its steps in place of a tolerance. Error is the largest "
    "difference of the last (q, q̇) from our"
    " run at tolerance 1e-13, relative to 1 + |x|; at an error stands the cheapest run that has no "
    "more. A run of more than 0.1 s is "
    "timed once. The windows pass a position where all bars lie in one line and the rows depend on "
    "each other."
)
OURS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
PEERS = (1e-6, 1e-8, 1e-10)
# of a tool that takes steps of one size
STEPS = (1_000, 10_000, 100_000)
# a tool that took so many seconds is not asked for more
_PATIENCE = 2.0
ERRORS = (1e-5, 1e-7)
_CALL = "dalembert, whole call"
_STIFF = "dalembert, whole call, Rosenbrock"


class Mechanism(NamedTuple):
    """A system with its start and inputs, and how long it runs."""

    name: str
    system: da.System
    start: Mapping[str, float]
    inputs: Mapping[str, Any]
    duration: float
    is_stiff: bool = False


def mechanisms(*, quick: bool) -> list[Mechanism]:
    """Those of the gallery; N windows of the four-bar linkage with up to 81 bodies and 80 rows."""
    entries: list[tuple[Entry, float]] = [(slider_crank.ENTRY, 2.0), (flyball_governor.ENTRY, 1.0)]
    if not quick:
        entries += [(andrews_squeezer.ENTRY, 0.03), (whipple_bicycle.ENTRY, 2.0)]
    some = [
        Mechanism(
            f"{e.name}, {T:g} s", e.build(), e.start, e.inputs, T, e is flyball_governor.ENTRY
        )
        for e, T in entries
    ]
    return some + [_windows(n) for n in ((2,) if quick else (2, 10, 40))]


def _windows(n: int) -> Mechanism:
    upright = dict.fromkeys(
        [*(f"phi_{k}" for k in range(n + 1)), *(f"psi_{k}" for k in range(1, n + 1))], 0.0
    )
    return Mechanism(
        f"{n} four-bar windows, 1 s",
        n_four_bar.build(windows=n),
        upright | {"phi_0'": 1.0},
        {},
        1.0,
    )


class Loop:
    """dalembert's loop alone, from a consistent start and on what was compiled before: as
    CasADi's solver is built before it is timed.
    """

    def __init__(self, task: Mechanism) -> None:
        kin, equations = select_equations(task.system, "native")
        chosen = run_values(kin, {}, task.inputs, live=True)
        model = native_model(chosen, equations)
        setup = prepare_run(chosen, model, RunOptions(start=task.start), 0.0).at_row_rank()
        model, self.p, self.start = setup.model, setup.p, setup.start
        self.context = setup.context()
        self.duration, self._rates, self._n_q = task.duration, model.rates, chosen.kin.n_q

    def run(self, tolerance: float) -> Outcome:
        """The last state (q, u)."""
        c = self.context
        common = {
            "rhs": c.rhs,
            "project": c.project,
            "accept": c.accept,
            "context": c.address,
            "y0": self.start.y,
            "dense": False,
        }
        found = integrate(
            InitialValueProblem(**common, t0=0.0, t1=self.duration, rtol=tolerance, atol=tolerance)
        )
        return found.y[-1], found.steps, True

    def motion(self, time: float, x: State) -> State:
        """(q, q̇) of a state: what tools with other speeds are compared by."""
        return numpy.concatenate(
            [x[: self._n_q], self._rates.call(numpy.append(x, time), self.p)[: self._n_q]]
        )


def whole(task: Mechanism, tolerance: float, integrator: str = "native") -> Outcome:
    """The same by da.simulate."""
    known = {
        "start": task.start,
        "inputs": task.inputs,
        "rtol": tolerance,
        "atol": tolerance,
        "integrator": integrator,
    }
    run = da.simulate(task.system, task.duration, audit=False, **known)
    return numpy.concatenate([run.q[-1], run.u[-1]]), len(run.t) - 1, True


class Contender(NamedTuple):
    """A run by some tool, and how its last state becomes (q, q̇)."""

    work: Callable[[], Outcome]
    motion: Callable[[State], State]


def same(x: State) -> State:
    """A state that is (q, q̇) already."""
    return x


def casadi(task: Mechanism, loop: Loop) -> dict[str, Callable[[float], Contender] | str]:
    """Its solvers for this mechanism by tolerance, or why there is none."""
    names = ("CasADi, IDAS with multipliers", "CasADi, IDAS", "CasADi, CVODES")
    try:
        tool = peer("casadi_mechanisms")
        free = attempt(
            lambda: tool.WithoutMultipliers(task.system, task.start, task.inputs, loop.start.y)
        )
        rows = attempt(
            lambda: tool.WithMultipliers(task.system, task.inputs, loop.motion(0.0, loop.start.y))
        )
    except Unavailable as reason:
        return dict.fromkeys(names, str(reason))

    def by(
        equations: Any, name: str, motion: Callable[[State], State]
    ) -> Callable[[float], Contender]:
        return lambda tolerance: Contender(
            tool.solver(equations, name, task.duration, tolerance), motion
        )

    last = partial(loop.motion, task.duration)
    return {
        names[0]: by(rows, "idas", same) if rows.m else "the system has no rows",
        names[1]: by(free, "idas", last) if free.independent else "no independent speeds",
        names[2]: by(free, "cvodes", last),
    }


def exudyn(task: Mechanism) -> dict[str, Callable[[float], Contender] | str]:
    """Its rule of order 2 by the size of its steps, for what was modelled for it."""
    name = "Exudyn, index 2"
    try:
        tool = peer("exudyn")
    except Unavailable as reason:
        return {name: str(reason)}
    model = {"slider-crank": tool.slider_crank, "andrews-squeezer": tool.andrews}.get(
        task.name.partition(",")[0]
    )
    if "windows" in task.name:
        model = partial(tool.four_bars, int(task.name.split()[0]))
    if model is None:
        return {name: "spatial: not modelled for it"}
    return {
        name: lambda step: Contender(model().run(task.duration, round(task.duration / step)), same)
    }


def run(report: Report, *, quick: bool) -> None:
    """Every mechanism by every tool that can be given it."""
    report.section("Constrained", NOTE)
    for task in mechanisms(quick=quick):
        _measure(report, task)


def _measure(report: Report, task: Mechanism) -> None:
    report.progress(task.name)
    loop = Loop(task)
    last = partial(loop.motion, task.duration)
    truth = last(whole(task, 1e-13)[0])
    found: dict[str, list[Point]] = {}
    told: dict[str, str] = {}
    for tolerance in OURS:
        ours = {
            "dalembert": Contender(partial(loop.run, tolerance), last),
            _CALL: Contender(partial(whole, task, tolerance), last),
        }
        if task.is_stiff:
            ours[_STIFF] = Contender(partial(whole, task, tolerance, "rosenbrock"), last)
        _race(found, truth, tolerance, ours)
    peers = casadi(task, loop) | exudyn(task)
    for name, make in peers.items():
        if isinstance(make, str):
            told[name] = make
            continue
        for tolerance in (task.duration / n for n in STEPS) if "Exudyn" in name else PEERS:
            report.progress(f"{task.name}: {name}, {tolerance:.0e}")
            try:
                _race(found, truth, tolerance, {name: make(tolerance)})
            except RuntimeError as problem:
                report.progress(str(problem).strip().splitlines()[-1])
                told[name] = f"fails at {tolerance:.0e}"
                break
            if found[name][-1].timing.wall > _PATIENCE:
                break
    _table(report, task, found)
    for error in ERRORS:
        timings: dict[str, Timing | str] = {}
        calls = (_CALL, _STIFF) if task.is_stiff else (_CALL,)
        for name in ("dalembert", *calls, *peers):
            least = min((p.error for p in found.get(name, [])), default=numpy.nan)
            timings[name] = _reaching(found.get(name, []), error) or told.get(
                name, f"does not reach it: {least:.0e}"
            )
        reached = {k: t.cpu for k, t in timings.items() if isinstance(t, Timing) and k in peers}
        best = min(reached, key=lambda k: reached[k], default=next(iter(peers)))
        report.compare(f"{task.name}, error {error:.0e}", timings, {best: Slower(3)})
        reaching = [t for k in calls if isinstance(t := timings[k], Timing)]
        if reaching:
            fastest = min(reaching, key=lambda t: t.cpu)
            report.compare(
                f"{task.name}, error {error:.0e}, whole call",
                {"dalembert": fastest, best: timings[best]},
                {best: Slower(3)},
            )
    least = min(p.error for p in found["dalembert"])
    report.check(f"{task.name}: least error", f"{least:.1e} ≤ 1e-7", passed=least <= 1e-7)
    agreed = min((p.error for name in peers for p in found.get(name, [])), default=numpy.nan)
    report.check(
        f"{task.name}: last state by another tool", f"{agreed:.1e} ≤ 1e-4", passed=not agreed > 1e-4
    )


def _race(
    found: dict[str, list[Point]],
    truth: State,
    tolerance: float,
    contenders: Mapping[str, Contender],
) -> None:
    outcomes: dict[str, Outcome] = {}
    kept = {
        name: partial(_kept, outcomes, name, contender.work)
        for name, contender in contenders.items()
    }
    for name, timing in race(kept, rounds=3, limit=0.5, long=0.1).items():
        last, steps, success = outcomes[name]
        error = _error(contenders[name].motion(last), truth)
        found.setdefault(name, []).append(Point(tolerance, error, timing, steps, success))


def _kept(outcomes: dict[str, Outcome], name: str, work: Callable[[], Outcome]) -> None:
    outcomes[name] = work()


def _table(report: Report, task: Mechanism, found: Mapping[str, list[Point]]) -> None:
    rows = [
        (
            name,
            f"{p.tolerance:.0e}",
            f"{p.error:.1e}",
            seconds(p.timing.cpu),
            percent(p.timing.noise),
        )
        for name, points in found.items()
        for p in points
    ]
    report.text(f"**{task.name[0].upper()}{task.name[1:]}.**")
    report.table(("tool", "tolerance", "error", "CPU", "noise"), rows)


def _reaching(points: list[Point], error: float) -> Timing | None:
    """The cheapest run whose error is at most this."""
    return min((p.timing for p in points if p.error <= error), key=lambda t: t.cpu, default=None)


def _error(last: State, truth: State) -> float:
    return float(numpy.max(numpy.abs(last - truth) / (1.0 + numpy.abs(truth))))
