"""Stiff systems: Rosenbrock's method against CVODE and SciPy's Radau, each given the same
derivatives, at equal error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy
import systems
from measure import Timing, race
from results import Report, Slower, percent, seconds
from runs import Outcome, Point, State

import dalembert as da
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import integrate
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.external_integrators import integrate_external
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.simulation.taylor_and_rosenbrock import bind_jacobian
from dalembert.runtime.states.run_values import parameter_vector, run_values

NOTE = (
    "A run to its last state. CVODE and Radau call the same native rates and the same native ∂f/∂y "
    "through Python, as scikit-sundae and "
    "SciPy do; Radau on rates in Python takes its derivatives by differences: the belt's by "
    "SymPy's lambdify, the beam's from our module "
    "for NumPy, straight lines as lambdify with cse writes them, because SymPy takes too long to "
    "read that beam; at two tolerances. A run "
    "of more than 0.1 s is timed once. Error is the largest difference of the last state from a "
    "run by Runge and Kutta's method at tolerance 1e-12, relative to 1 + |y|; at an error stands "
    "the cheapest run that has no more."
)
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7)
# ε²
_SMALL = Fraction(1, 10**8)
_PYTHON = "SciPy Radau, rates in Python"
# what takes thousands of times as long is run at these
_FEW = (1e-4, 1e-6)


class StiffTask(NamedTuple):
    """A system, its start and duration, and the same rates in Python."""

    name: str
    system: da.System
    start: Sequence[float]
    duration: float
    in_python: Callable[[da.System], Callable[[float, Any], Any]]


def belt() -> da.System:
    """A mass on a belt, held by a spring and dragged by friction v/√(v² + ε²): it sticks and
    slips as van der Pol's oscillator does.
    """
    s = da.System("mass on a belt")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    v = 1 - x.dot
    s.force((-4 * x + 3 * v / da.sqrt(v**2 + _SMALL) / (1 + v**2)) * s.N.x, at=P)
    return s


def _belt_lambdified(_system: da.System) -> Callable[[float, Any], Any]:
    import sympy

    x, w = sympy.symbols("x w")
    v = 1 - w
    return sympy.lambdify(
        (sympy.Symbol("t"), (x, w)),
        [w, -4 * x + 3 * v / sympy.sqrt(v**2 + float(_SMALL)) / (1 + v**2)],
    )


def _exported(system: da.System) -> Callable[[float, Any], Any]:
    """ẋ in straight lines of Python, each subexpression once."""
    from dalembert.exchange.exports.export_model import ExportRequest, exported_model
    from dalembert.exchange.exports.python import python_source

    module: dict[str, Any] = {"__name__": "exported"}
    exec(
        python_source(
            exported_model(system, ExportRequest(values={}, inputs={}, start={})), "numpy"
        ),
        module,
    )
    rates: Callable[[float, Any], Any] = module["rates"]
    return rates


class Stiff:
    """The loops alone, on what was compiled before."""

    def __init__(self, task: StiffTask) -> None:
        self.task = task
        chosen = run_values(kinematics(task.system), {}, {})
        self.model = native_model(chosen, da.forward_dynamics(task.system))
        self.p = numpy.array(parameter_vector(chosen, self.model.parameters), dtype=float)
        self.context = Context(self.model.rates, self.p, None, autonomous=self.model.autonomous)
        self.slopes = bind_jacobian(self.context, self.model, None, "")

    def problem(self, tolerance: float, slopes: int = 0) -> InitialValueProblem:
        c = self.context
        common = {
            "rhs": c.rhs,
            "context": c.address,
            "y0": self.task.start,
            "t0": 0.0,
            "t1": self.task.duration,
        }
        return InitialValueProblem(
            **common, rtol=tolerance, atol=tolerance, dense=False, jacobian=slopes
        )

    def ours(self, tolerance: float) -> Outcome:
        found = integrate(self.problem(tolerance, self.slopes))
        return found.y[-1], found.steps, True

    def other(self, name: str, tolerance: float) -> Outcome:
        found = integrate_external(name, self.model, self.p, self.problem(tolerance))
        return found.y[-1], found.steps, True

    def in_python(self, rates: Callable[[float, Any], Any], tolerance: float) -> Outcome:
        from scipy.integrate import solve_ivp

        found = solve_ivp(
            rates,
            (0.0, self.task.duration),
            self.task.start,
            method="Radau",
            rtol=tolerance,
            atol=tolerance,
        )
        return found.y[:, -1], len(found.t) - 1, True


def run(report: Report, *, quick: bool) -> None:
    """Friction that is regularised, and a beam whose stretching is much stiffer than its
    bending.
    """
    report.section("Stiff", NOTE)
    _measure(
        report,
        StiffTask("mass on a belt, ε = 1e-4, 5 s", belt(), (0.0, 0.0), 5.0, _belt_lambdified),
        quick=quick,
    )
    if not quick:
        beam = systems.spin_up(6, EA=2.8e9)
        _measure(
            report,
            StiffTask(
                "rotating beam, 12 functions, EA = 2.8e9 N, 0.2 s", beam, [0.0] * 24, 0.2, _exported
            ),
            quick=quick,
        )


def _measure(report: Report, task: StiffTask, *, quick: bool) -> None:
    stiff = Stiff(task)
    report.progress(task.name)
    # by another method, whose steps are held down by stability
    truth = integrate(stiff.problem(1e-12)).y[-1]
    rates = task.in_python(task.system)
    # what is compiled or imported at a first run is not counted
    for work in (stiff.ours, partial(stiff.other, "CVODE"), partial(stiff.other, "Radau")):
        work(1e-2)
    found: dict[str, list[Point]] = {}
    for tolerance in TOLERANCES[::3] if quick else TOLERANCES:
        report.progress(f"{task.name}: tolerance {tolerance:.0e}")
        works: dict[str, Callable[[], Outcome]] = {"dalembert": partial(stiff.ours, tolerance)}
        works |= {
            f"{name}, our ∂f/∂y": partial(stiff.other, name, tolerance)
            for name in ("CVODE", "Radau")
        }
        if tolerance in _FEW:
            works[_PYTHON] = partial(stiff.in_python, rates, tolerance)
        outcomes: dict[str, Outcome] = {}
        kept = {name: partial(_kept, outcomes, name, work) for name, work in works.items()}
        for name, timing in race(kept, rounds=3, limit=0.5, long=0.1).items():
            last, steps, success = outcomes[name]
            found.setdefault(name, []).append(
                Point(tolerance, _error(last, truth), timing, steps, success)
            )
    rows = [
        (
            name,
            f"{p.tolerance:.0e}",
            f"{p.error:.1e}",
            seconds(p.timing.cpu),
            percent(p.timing.noise),
            str(p.steps),
        )
        for name, points in found.items()
        for p in points
    ]
    report.text(f"**{task.name[0].upper()}{task.name[1:]}.**")
    report.table(("tool", "tolerance", "error", "CPU", "noise", "steps"), rows)
    for error in (1e-4, 1e-5, 1e-6):
        timings = {
            name: t for name, points in found.items() if (t := _reaching(points, error)) is not None
        }
        goals = {"CVODE, our ∂f/∂y": Slower(1), _PYTHON: Slower(50)}
        if "dalembert" in timings:
            report.compare(
                f"{task.name}, error {error:.0e}",
                timings,
                {k: g for k, g in goals.items() if k in timings},
            )
    best = min(p.error for p in found["dalembert"])
    report.check(f"{task.name}: least error", f"{best:.1e} ≤ 1e-5", passed=best <= 1e-5)


def _reaching(points: Sequence[Point], error: float) -> Timing | None:
    """The cheapest run whose error is at most this."""
    return min((p.timing for p in points if p.error <= error), key=lambda t: t.cpu, default=None)


def _kept(outcomes: dict[str, Outcome], name: str, work: Callable[[], Outcome]) -> None:
    """A run whose outcome is looked at later, so that no run is made for that alone."""
    outcomes[name] = work()


def _error(last: State, truth: State) -> float:
    return float(numpy.max(numpy.abs(last - truth) / (1.0 + numpy.abs(truth))))
