"""Mechanisms: one run to its last state, against CasADi with IDAS and CVODES at equal error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy
from measure import Timing, race
from results import Report, Slower, percent, seconds
from runs import Outcome, Point, State

import dalembert as da
from dalembert.api.compile import what_to_integrate
from dalembert.exports.contents import Contents, model
from dalembert.gallery import andrews_squeezer, flyball_governor, n_four_bar, slider_crank, whipple_bicycle
from dalembert.gallery.entry import Entry
from dalembert.ode.loop import integrate
from dalembert.ode.problem import InitialValueProblem
from dalembert.simulation.model import native_model
from dalembert.simulation.simulate import RunOptions, model_of_rank, run_context
from dalembert.states.start import find_start
from dalembert.states.values import parameters_of, values_of_run

NOTE = (
    "dalembert: the loop from a consistent start, with the states projected, and the whole call of da.simulate without the energy audit. "
    "CasADi with IDAS: q̇, M u̇ − f − Aᵀλ = 0 and the rows of accelerations, of index 1, with those of speeds and positions fading "
    "as e^(−20 t) beside them; where our equations need no multipliers, q̇ and M u̇ = f. CasADi with CVODES: our explicit rates. Both take "
    "the functions that da.to_casadi makes and CasADi's derivatives of them; building the solver is not counted. Error is the largest "
    "difference of the last state from our run at tolerance 1e-13, relative to 1 + |x|; at an error stands the cheapest run that has no "
    "more. A run of more than 0.1 s is timed once. The windows pass a position where all bars lie in one line and the "
    "rows depend on each other."
)
OURS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
PEERS = (1e-6, 1e-8, 1e-10)
ERRORS = (1e-5, 1e-7)
_FADING = 20.0
_CALL = "dalembert, whole call"


class Mechanism(NamedTuple):
    """A system with its start and inputs, and how long it runs."""

    name: str
    system: da.System
    start: Mapping[str, float]
    inputs: Mapping[str, Any]
    duration: float


def mechanisms(*, quick: bool) -> list[Mechanism]:
    """Those of the gallery; N windows of the four-bar linkage with up to 81 bodies and 80 rows."""
    entries: list[tuple[Entry, float]] = [(slider_crank.ENTRY, 2.0), (flyball_governor.ENTRY, 1.0)]
    if not quick:
        entries += [(andrews_squeezer.ENTRY, 0.03), (whipple_bicycle.ENTRY, 2.0)]
    some = [Mechanism(f"{e.name}, {T:g} s", e.build(), e.start, e.inputs, T) for e, T in entries]
    return some + [_windows(n) for n in ((2,) if quick else (2, 10, 40))]


def _windows(n: int) -> Mechanism:
    upright = dict.fromkeys([*(f"phi_{k}" for k in range(n + 1)), *(f"psi_{k}" for k in range(1, n + 1))], 0.0)
    return Mechanism(f"{n} four-bar windows, 1 s", n_four_bar.build(windows=n), upright | {"phi_0'": 1.0}, {}, 1.0)


class Loop:
    """dalembert's loop alone, from a consistent start and on what was compiled before: as CasADi's solver is built before it is timed."""

    def __init__(self, task: Mechanism) -> None:
        kin, equations = what_to_integrate(task.system, "native")
        chosen = values_of_run(kin, {}, task.inputs, live=True)
        model = native_model(chosen, equations)
        self.p = numpy.array(parameters_of(chosen, model.parameters), dtype=float)
        start = find_start(chosen.kin, task.start, chosen.value_at(0.0), 0.0)
        model, self.start = model_of_rank(model, self.p, start, chosen.kin)
        self.context = run_context(model, self.p, None, self.start, RunOptions())
        self.duration = task.duration

    def run(self, tolerance: float) -> Outcome:
        """The last state (q, u)."""
        c = self.context
        common = {"rhs": c.rhs, "project": c.project, "accept": c.accept, "context": c.address, "y0": self.start.y, "dense": False}
        found = integrate(InitialValueProblem(**common, t0=0.0, t1=self.duration, rtol=tolerance, atol=tolerance))
        return found.y[-1], found.steps, True


def whole(task: Mechanism, tolerance: float) -> Outcome:
    """The same by da.simulate."""
    run = da.simulate(task.system, task.duration, start=task.start, inputs=task.inputs, rtol=tolerance, atol=tolerance, audit=False)
    return numpy.concatenate([run.q[-1], run.u[-1]]), len(run.t) - 1, True


def _constants(task: Mechanism) -> list[float]:
    """The values of what the exported functions call p."""
    variables = model(task.system, Contents(values={}, inputs=task.inputs, start=task.start)).parameters
    return [float(p.value) for p in variables if p.value is not None]


class CasADi:
    """Our functions in CasADi, as equations of index 1 for IDAS and as rates for CVODES."""

    def __init__(self, task: Mechanism, x0: State) -> None:
        import casadi

        self.casadi, self.task, self.x0 = casadi, task, x0
        functions = da.to_casadi(task.system, inputs=task.inputs, start=task.start)
        t, x = casadi.SX.sym("t"), casadi.SX.sym("x", len(x0))
        given = (t, x, casadi.SX(0, 1), casadi.SX(casadi.DM(_constants(task))))
        rates, M, f = (functions[name](*given) for name in ("rates", "mass_matrix", "forcing"))
        p = M.shape[0]
        n_q = len(x0) - p
        a = casadi.SX.sym("a", p)
        unknown, algebraic = a, M @ a - f
        if "constraints" in functions:
            phi, e, A = functions["constraints"](*given)
            # fewer speeds than rates: M and f are those along the independent speeds already
            if A.shape[1] == p:
                lam = casadi.SX.sym("lam", e.shape[0])
                xdot = casadi.vertcat(rates[:n_q], a)
                rows = casadi.jtimes(e, x, xdot) + casadi.jacobian(e, t) + 2 * _FADING * e
                if phi.shape == e.shape:
                    rows += _FADING**2 * phi
                unknown, algebraic = casadi.vertcat(a, lam), casadi.vertcat(M @ a - f - A.T @ lam, rows)
        self.dae = {"t": t, "x": x, "z": unknown, "ode": casadi.vertcat(rates[:n_q], a), "alg": algebraic}
        self.ode = {"t": t, "x": x, "ode": rates}
        at = casadi.Function("start", [t, x, unknown], [casadi.jacobian(algebraic, unknown), algebraic])
        J, r = (numpy.array(m) for m in at(0.0, x0, numpy.zeros(unknown.shape[0])))
        self.z0 = numpy.linalg.lstsq(J, -r, rcond=None)[0][:, 0]

    def solver(self, name: str, tolerance: float) -> Callable[[], Outcome]:
        """A run by IDAS or CVODES."""
        options = {"reltol": tolerance, "abstol": tolerance, "max_num_steps": 20_000}
        F = self.casadi.integrator("F", name, self.dae if name == "idas" else self.ode, 0.0, self.task.duration, options)
        given = {"x0": self.x0} | ({"z0": self.z0} if name == "idas" else {})

        def work() -> Outcome:
            return F(**given)["xf"].full()[:, 0], int(F.stats().get("nsteps", 0)), True

        return work


def run(report: Report, *, quick: bool) -> None:
    """Every mechanism by every tool that can be given it."""
    report.section("Constrained", NOTE)
    for task in mechanisms(quick=quick):
        _measure(report, task)


def _measure(report: Report, task: Mechanism) -> None:
    report.progress(task.name)
    loop = Loop(task)
    truth = whole(task, 1e-13)[0]
    found: dict[str, list[Point]] = {}
    failed: dict[str, str] = {}
    for tolerance in OURS:
        _race(found, truth, tolerance, {"dalembert": partial(loop.run, tolerance), _CALL: partial(whole, task, tolerance)})
    peer = CasADi(task, loop.start.y)
    for solver in ("idas", "cvodes"):
        name = f"CasADi, {solver.upper()}"
        for tolerance in PEERS:
            report.progress(f"{task.name}: {name}, tolerance {tolerance:.0e}")
            try:
                _race(found, truth, tolerance, {name: peer.solver(solver, tolerance)})
            except RuntimeError as problem:
                report.progress(str(problem).strip().splitlines()[-1])
                failed[name] = f"fails at tolerance {tolerance:.0e}"
                break
    _table(report, task, found)
    for error in ERRORS:
        timings: dict[str, Timing | str] = {}
        for name in ("dalembert", _CALL, "CasADi, IDAS", "CasADi, CVODES"):
            least = min(p.error for p in found[name]) if name in found else numpy.nan
            timings[name] = _reaching(found.get(name, []), error) or failed.get(name, f"does not reach it: {least:.0e}")
        reached = {k: t.cpu for k, t in timings.items() if isinstance(t, Timing) and k.startswith("CasADi")}
        best = min(reached, key=lambda k: reached[k], default="CasADi, IDAS")
        report.compare(f"{task.name}, error {error:.0e}", timings, {best: Slower(3)})
    least = min(p.error for p in found["dalembert"])
    report.check(f"{task.name}: least error", f"{least:.1e} ≤ 1e-7", passed=least <= 1e-7)
    agreed = min(p.error for name, points in found.items() if name.startswith("CasADi") for p in points)
    report.check(f"{task.name}: last state by another tool", f"{agreed:.1e} ≤ 1e-4", passed=agreed <= 1e-4)


def _race(found: dict[str, list[Point]], truth: State, tolerance: float, works: Mapping[str, Callable[[], Outcome]]) -> None:
    outcomes: dict[str, Outcome] = {}
    kept = {name: partial(_kept, outcomes, name, work) for name, work in works.items()}
    for name, timing in race(kept, rounds=3, limit=0.5, long=0.1).items():
        last, steps, success = outcomes[name]
        found.setdefault(name, []).append(Point(tolerance, _error(last, truth), timing, steps, success))


def _kept(outcomes: dict[str, Outcome], name: str, work: Callable[[], Outcome]) -> None:
    outcomes[name] = work()


def _table(report: Report, task: Mechanism, found: Mapping[str, list[Point]]) -> None:
    rows = [
        (name, f"{p.tolerance:.0e}", f"{p.error:.1e}", seconds(p.timing.cpu), percent(p.timing.noise))
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
