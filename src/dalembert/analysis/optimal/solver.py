"""The nonlinear program solved by an interior-point method: POUNCE, or Ipopt as CasADi has it.

Both get the same program with exact sparse Jacobian and Hessian. An interrupt (Ctrl-C) ends the
search at the next iteration; the best point so far is kept.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from types import FrameType
from typing import Any, Final

import numpy as np

from dalembert.analysis.optimal.phase import BadOptimization
from dalembert.analysis.optimal.program import NonlinearProgram
from dalembert.errors import import_optional
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

# called with iteration, cost, largest violation
Progress = Callable[[int, float, float], None]
SOLVERS: Final = ("pounce", "ipopt")
# codes of Ipopt for a solution and an acceptable one
_SOLVED: Final = (0, 1)
_INFINITY: Final = 1e20
# a solve that begins at the answer of another mesh
_WARM: Final = {
    "warm_start_init_point": "yes",
    "mu_init": 1e-6,
    "bound_relax_factor": 0.0,
    "warm_start_bound_push": 1e-9,
    "warm_start_bound_frac": 1e-9,
    "warm_start_slack_bound_push": 1e-9,
    "warm_start_slack_bound_frac": 1e-9,
    "warm_start_mult_bound_push": 1e-9,
}
# the interior-point method refines its steps itself: one refinement inside each factorization takes
# a tenth less time than many. None costs iterations with constraint equations, and an ordering by
# intervals takes a third more time (measured)
_LINEAR_ALGEBRA: Final = {"feral_refine_steps": 1}
# the level of the solver's log
_QUIET: Final = "error"
_STATUS: Final = {
    0: "solved",
    1: "solved to an acceptable level",
    2: "converged to a point of local infeasibility",
    3: "the search direction became too small",
    4: "the iterates diverge",
    5: "stopped by the user",
    6: "feasible point found",
    -1: "the maximum number of iterations was reached",
    -2: "the restoration phase failed",
    -3: "error in the step computation",
    -10: "not enough degrees of freedom",
    -13: "an invalid number was computed",
}


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """A point v of the program with the multipliers of its rows, and how the search ended."""

    v: FloatArray
    multipliers: FloatArray
    lower_multipliers: FloatArray
    upper_multipliers: FloatArray
    cost: float
    iterations: int
    status: str
    converged: bool
    interrupted: bool
    # largest violation of a row or bound, in scaled units, and the optimality measure of the solver
    violation: float
    dual_infeasibility: float


@dataclass(eq=False)
class _Watch:
    """What the search has reached so far."""

    show: Progress | None
    interrupted: bool = False
    iterations: int = 0
    violation: float = np.inf
    dual_infeasibility: float = np.inf
    point: FloatArray | None = None
    best: tuple[float, float, FloatArray] | None = field(default=None)

    def iterate(self, count: int, cost: float, violation: float, dual: float) -> bool:
        """Record one iteration; False asks the solver to stop."""
        self.iterations, self.violation, self.dual_infeasibility = count, violation, dual
        if self.point is not None:
            rank = max(violation, 1e-8), cost
            if self.best is None or rank < self.best[:2]:
                self.best = (*rank, self.point.copy())
        if self.show is not None:
            self.show(count, cost, violation)
        return not self.interrupted


@contextmanager
def _interrupts(watch: _Watch) -> Iterator[None]:
    """Ctrl-C sets a flag; the solver sees it at its next iteration."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        watch.interrupted = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Watched:
    """The program as a solver calls it, every point remembered."""

    def __init__(self, program: NonlinearProgram, watch: _Watch) -> None:
        self._program, self._watch = program, watch
        self.gradient, self.jacobian, self.hessian = (
            program.gradient,
            program.jacobian,
            program.hessian,
        )
        self.jacobianstructure, self.hessianstructure = (
            program.jacobianstructure,
            program.hessianstructure,
        )
        self.constraints = program.constraints

    def objective(self, x: FloatArray) -> float:
        """f, and x is remembered."""
        self._watch.point = np.array(x)
        return self._program.objective(x)

    def intermediate(self, *state: Any) -> bool:
        """(mode, iteration, cost, primal infeasibility, dual infeasibility, …) after every
        iteration.
        """
        return self._watch.iterate(int(state[1]), float(state[2]), float(state[3]), float(state[4]))


def solve(
    program: NonlinearProgram,
    v: FloatArray,
    *,
    solver: str = "pounce",
    tolerance: float = 1e-9,
    most_iterations: int = 3000,
    options: Mapping[str, Any] | None = None,
    show: Progress | None = None,
    warm: tuple[FloatArray, FloatArray, FloatArray] | None = None,
) -> ProgramSolution:
    """A local solution from the point v; multipliers of rows, lower and upper bounds make a warm
    start.
    """
    if solver not in SOLVERS:
        msg = f"optimize: solver={solver!r:.40}; choose one of {', '.join(SOLVERS)}"
        raise BadOptimization(msg)
    s, watch = program.sizes, _Watch(show)
    chosen = {
        "tol": tolerance,
        "max_iter": most_iterations,
        "print_level": 0,
        "sb": "yes",
        **(options or {}),
    }
    x = np.clip(v / s.scale, s.lower / s.scale, s.upper / s.scale)
    run = _pounce if solver == "pounce" else _casadi
    seeds = None if warm is None else (warm[0] / s.row_scale, warm[1] * s.scale, warm[2] * s.scale)
    with _interrupts(watch):
        x, found, code = run(program, watch, x, {**(_WARM if seeds else {}), **chosen}, seeds)
    if code not in _SOLVED and watch.best is not None:
        x = watch.best[2]
    return _solution(program, watch, s.scale * x, found, code)


def _solution(
    program: NonlinearProgram, watch: _Watch, v: FloatArray, multipliers: _Seeds, code: int
) -> ProgramSolution:
    """The point in units of the problem."""
    s, (lam, low, high) = program.sizes, multipliers
    return ProgramSolution(
        v,
        s.row_scale * lam,
        low / s.scale,
        high / s.scale,
        program.cost(v),
        watch.iterations,
        _STATUS.get(code, f"the solver stopped with code {code}"),
        code in _SOLVED,
        watch.interrupted,
        float(violations(program, v).max(initial=0.0)),
        watch.dual_infeasibility,
    )


def violations(program: NonlinearProgram, v: FloatArray) -> FloatArray:
    """By how much each row violates its limits, scaled."""
    s, g = program.sizes, program.rows(v)
    excess: FloatArray = s.row_scale * np.maximum(np.maximum(s.row_lower - g, g - s.row_upper), 0.0)
    return excess


def _limits(program: NonlinearProgram) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Bounds of variables and rows with 1e20 for none."""
    s = program.sizes
    arrays = (
        s.lower / s.scale,
        s.upper / s.scale,
        s.row_lower * s.row_scale,
        s.row_upper * s.row_scale,
    )
    low, high, row_low, row_high = (np.clip(a, -_INFINITY, _INFINITY) for a in arrays)
    return low, high, row_low, row_high


# multipliers of rows, of lower and of upper bounds
_Seeds = tuple[FloatArray, FloatArray, FloatArray]


def _quiet_pounce() -> Any:
    """The package; its notes for developers, whose level it reads when it is imported, are off."""
    given = os.environ.setdefault("RUST_LOG", _QUIET)
    try:
        return import_optional("pounce", "optimize", "dalembert[optimal]")
    finally:
        if given is _QUIET:
            del os.environ["RUST_LOG"]


def _pounce(
    program: NonlinearProgram,
    watch: _Watch,
    x: FloatArray,
    options: Mapping[str, Any],
    seeds: _Seeds | None,
) -> tuple[FloatArray, _Seeds, int]:
    pounce = _quiet_pounce()
    low, high, row_low, row_high = _limits(program)
    problem = pounce.Problem(
        n=program.n,
        m=program.m,
        problem_obj=_Watched(program, watch),
        lb=low,
        ub=high,
        cl=row_low,
        cu=row_high,
    )
    for name, value in {**_LINEAR_ALGEBRA, **options}.items():
        problem.add_option(name, value)
    known = {} if seeds is None else dict(zip(("lagrange", "zl", "zu"), seeds, strict=True))
    x, info = problem.solve(x, **known)
    lam, low_z, high_z = (np.asarray(info[name]) for name in ("mult_g", "mult_x_L", "mult_x_U"))
    return np.asarray(x), (lam, low_z, high_z), int(info["status"])


def _casadi(
    program: NonlinearProgram,
    watch: _Watch,
    x: FloatArray,
    options: Mapping[str, Any],
    seeds: _Seeds | None,
) -> tuple[FloatArray, _Seeds, int]:
    from dalembert.analysis.optimal.casadi_solver import solve_by_casadi

    low, high, row_low, row_high = _limits(program)
    return solve_by_casadi(
        _Watched(program, watch),
        (program.n, program.m),
        x,
        (low, high, row_low, row_high),
        options,
        seeds,
    )
