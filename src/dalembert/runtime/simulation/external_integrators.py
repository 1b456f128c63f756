"""Other people's integrators by name, with the same result: SciPy, SUNDIALS and heyoka where they
are installed.

The right-hand side is the same native code. The motion between the steps is kept as the polynomial
of degree seven through the ends, the slopes there and four points in between, whatever method made
them.

Solvers of differential-algebraic equations are given F(t, y, ẏ) = 0,

    q̇ − E z − X = 0,   𝓜 ż − f − Aᵀλ = 0,   A ż + γ + 2α e + α² φ = 0

With y = (q, z, λ) this is a system of index one: λ is determined by equations that contain no ẏ
but ż.

Explicit methods integrate the quadratures with the motion, at the order of its steps. Implicit
methods would carry them outside of their error control: there Gauss–Legendre integrates the powers
along the finished motion, between two discontinuities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import Unknown, import_optional
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates, Workspace
from dalembert.runtime.ode.failures import Cause, RunStopped
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.solution import ChunkedArray, Outcome, Solution, StoredTrajectory
from dalembert.runtime.simulation.dense_output import (
    INTERIOR_POINTS,
    interpolated_solution,
    interpolation_times,
    sundials_solution,
    with_quadratures,
)
from dalembert.runtime.simulation.energy_audit import BoundAudit
from dalembert.runtime.simulation.model import NativeModel
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import dependencies, evaluate
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    Rates = Callable[[float, FloatArray], FloatArray]
    Implicit = Callable[[float, FloatArray, FloatArray], FloatArray]
    Fill = Callable[[float, FloatArray], None] | None

# those that solve equations for the next state, and are given ∂f/∂y
_IMPLICIT: Final = ("Radau", "BDF", "LSODA", "CVODE", "IDA")
# what is not in the error norm gets a tolerance that never binds
_UNCONTROLLED: Final = 1e100
_MOST_STEPS: Final = 1_000_000
# these steps must pass this part of the run: otherwise 10⁷ steps are needed to its end
_STALL_STEPS: Final = 5_000
_MIN_PROGRESS: Final = 5e-4
_STALLED: Final = (
    f"no progress: the last {_STALL_STEPS} steps have covered less than {_MIN_PROGRESS:g} of the "
    "run; look for a pole or a jump in the right-hand side, or choose integrator='native'"
)
_NOT_FINITE: Final = "not finite", "the state is no longer finite"
# heyoka compiles each operation by itself up to this number, and none beyond the second
_SEPARATE_OPERATIONS: Final = 300
_MOST_OPERATIONS: Final = 20_000
# distance from a break in last bits
_BREAK_ULPS: Final = 64


def integrate_external(
    name: str,
    model: NativeModel,
    p: FloatArray,
    problem: InitialValueProblem,
    watched: BoundAudit | None = None,
    fill: Fill = None,
) -> Solution:
    """The motion of a problem by the integrator of that name, from break to break; constraints are
    not projected upon.

    `fill` puts the values of inputs that are Python functions into a state.
    """
    done: list[Solution] = []
    for t0, t1 in _smooth_segments(problem):
        y0 = done[-1].y[-1].copy() if done else problem.start
        if done and problem.on_discontinuity is not None:
            problem.on_discontinuity(t0, y0)
        part = replace(problem, t0=t0, t1=t1, y0=y0, discontinuities=())
        try:
            done.append(_integrate_segment(name, model, p, part, watched, fill))
        except RunStopped as failure:
            failure.solution = _concatenate([*done, failure.solution])
            raise
    return _concatenate(done)


def _smooth_segments(problem: InitialValueProblem) -> list[tuple[float, float]]:
    """From just behind each break to just before the next."""
    times = [
        t
        for t in problem.discontinuities
        if problem.t0 + _BREAK_ULPS * math.ulp(t) < t < problem.t1 - _BREAK_ULPS * math.ulp(t)
    ]
    ends = [*(t - _BREAK_ULPS * math.ulp(t) for t in times), problem.t1]
    pairs = zip([problem.t0, *(t + _BREAK_ULPS * math.ulp(t) for t in times)], ends, strict=True)
    return [(begin, end) for begin, end in pairs if begin < end]


def _concatenate(parts: list[Solution]) -> Solution:
    """One motion; at a break the state stays as it is."""
    if len(parts) == 1:
        return parts[0]
    times, states = (
        ChunkedArray([part.t for part in parts]),
        ChunkedArray([part.y for part in parts]),
    )
    dense: list[FloatArray] = []
    for k, part in enumerate(parts):
        if k:
            still = np.zeros((1, 8, part.y.shape[1]))
            still[0, 0] = part.y[0]
            dense.append(still)
        dense += [] if part.dense is None else [part.dense]
    kept = ChunkedArray(dense) if any(part.dense is not None for part in parts) else None
    last = parts[-1]
    return replace(
        last, motion=StoredTrajectory(times, states, kept), calls=sum(part.calls for part in parts)
    )


def _integrate_segment(
    name: str,
    model: NativeModel,
    p: FloatArray,
    problem: InitialValueProblem,
    watched: BoundAudit | None,
    fill: Fill,
) -> Solution:
    by_residual = name == "IDA" and not model.rates.closed_form
    if fill is not None and (name == "heyoka" or by_residual):
        msg = (
            f"{name} does not support a Python function as input; give an expression, "
            f"da.sampled(…), or another integrator"
        )
        raise Unknown(msg)
    if name == "heyoka":
        return solve_heyoka(model, p, problem, watched)
    if name in _IMPLICIT:
        return _solve_implicit(name, model, p, problem, watched, fill)

    def rates(t: float, y: FloatArray) -> FloatArray:
        state = _filled_state(t, y[: problem.n_in_norm], fill)
        rates, lam = _rates_and_multipliers(model, state[np.newaxis], p)
        return np.concatenate([rates[0], *_powers(watched, state[np.newaxis], lam)])

    return _solve_scipy(name, rates, problem)


def _solve_implicit(
    name: str,
    model: NativeModel,
    p: FloatArray,
    problem: InitialValueProblem,
    watched: BoundAudit | None,
    fill: Fill,
) -> Solution:
    """The motion alone by an implicit method, then the quadratures along it."""
    n = problem.n_in_norm
    motion = replace(problem, y0=problem.start[:n], n_norm=None)

    def powers(t: FloatArray, y: FloatArray) -> FloatArray:
        states = np.array([_filled_state(*point, fill) for point in zip(t, y, strict=True)])
        lam = (
            _rates_and_multipliers(model, states, p)[1]
            if watched is not None and watched.audit.takes_multipliers
            else np.empty((len(states), 0))
        )
        return _powers(watched, states, lam)

    try:
        solution = _implicit_motion(name, model, p, motion, fill)
    except RunStopped as failure:
        failure.solution = with_quadratures(failure.solution, problem.start[n:], powers)
        raise
    return with_quadratures(solution, problem.start[n:], powers)


def _implicit_motion(
    name: str, model: NativeModel, p: FloatArray, motion: InitialValueProblem, fill: Fill
) -> Solution:
    """The motion without quadratures."""

    def rates(t: float, y: FloatArray) -> FloatArray:
        state = _filled_state(t, y, fill)
        derivative: FloatArray = _rates_and_multipliers(model, state[np.newaxis], p)[0][0]
        return derivative

    slopes = _jacobian_function(model, p, motion.size) if fill is None else None
    if name == "CVODE":
        return _solve_cvode(rates, motion, slopes)
    if name != "IDA":
        return _solve_scipy(name, rates, motion, slopes)
    if isinstance(model.rates, ConstrainedRates):
        form = _IndexOneResidual(model.rates, p, motion)
        return _solve_ida(form, form.start(motion), motion)
    start = motion.start, rates(motion.t0, motion.start)
    return _solve_ida(lambda t, y, yp: yp - rates(t, y), start, motion, slopes)


def _filled_state(t: float, y: FloatArray, fill: Fill) -> FloatArray:
    """(y, t) with the inputs that are Python functions."""
    state = np.append(y, t)
    if fill is not None:
        fill(t, state)
    return state


def _jacobian_function(model: NativeModel, p: FloatArray, n: int) -> Rates | None:
    """∂f/∂y from the tape, for integrators that would otherwise take differences; None in augmented
    form.
    """
    if not model.rates.closed_form:
        return None

    def slopes(t: float, y: FloatArray) -> FloatArray:
        J: FloatArray = model.jacobian.call(np.append(y, t), p).reshape(n, n + 1)[:, :n]
        return J

    return slopes


def _rates_and_multipliers(
    model: NativeModel, states: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The rates of states in rows, and λ in augmented form."""
    rates_and_lambda, n = model.rates.with_multipliers(states, p), states.shape[1] - 1
    return rates_and_lambda[:, :n], rates_and_lambda[:, n:]


def _powers(watched: BoundAudit | None, states: FloatArray, lam: FloatArray) -> FloatArray:
    """The rates of the quadratures for states (q, u, t) in rows, with λ where rows move."""
    if watched is None or watched.audit.rates is None:
        return np.empty((len(states), 0))
    known = np.hstack([states, lam]) if watched.audit.takes_multipliers else states
    return watched.audit.rates.batch(known, watched.p)


def _tolerances(problem: InitialValueProblem) -> FloatArray:
    atol = np.full(problem.size, _UNCONTROLLED)
    atol[: problem.n_in_norm] = np.broadcast_to(
        np.asarray(problem.atol, dtype=float), (problem.n_in_norm,)
    )
    return atol


def _is_stalled(t: Sequence[float], problem: InitialValueProblem) -> bool:
    """Whether the last steps have passed too small a part of the run."""
    return len(t) > _STALL_STEPS and t[-1] - t[-_STALL_STEPS] < _MIN_PROGRESS * (
        problem.t1 - problem.t0
    )


def _solve_scipy(
    name: str, rates: Rates, problem: InitialValueProblem, slopes: Rates | None = None
) -> Solution:
    integrate = import_optional("scipy.integrate", "this integrator")
    solver = getattr(integrate, name)
    known = {} if slopes is None else {"jac": slopes}
    # the norm is a mean over all components, also of those that it does not control
    share = math.sqrt(problem.n_in_norm / problem.size)
    options = {
        "rtol": share * problem.rtol,
        "atol": share * _tolerances(problem),
        "max_step": problem.max_step,
        **known,
    }
    method = solver(rates, problem.t0, problem.start, problem.t1, **options)
    steps = _StepRecord(method.t, method.y, rates(method.t, method.y))
    while method.status == "running":
        message = method.step()
        if _is_stalled(steps.t, problem):
            message, method.status = _STALLED, "failed"
        if method.status == "failed":
            raise steps.failure(str(message), method.nfev)
        steps.append(method.t, method.y, method.dense_output(), rates(method.t, method.y))
    return steps.solution(Outcome.FINISHED, f"finished at t = {method.t:.17g}", method.nfev)


class _StepRecord:
    """The steps of an integrator: their ends, with rates, and states inside them."""

    def __init__(self, t: float, y: FloatArray, f: FloatArray | None = None) -> None:
        self.t, self.y = [t], [y.copy()]
        self.f = [] if f is None else [f]
        self.inside: list[FloatArray] = []

    def append(
        self,
        t: float,
        y: FloatArray,
        between: Callable[[float], FloatArray],
        f: FloatArray | None = None,
    ) -> None:
        """One more step to t, with its states in between."""
        begin = self.t[-1]
        self.inside.append(np.array([between(begin + c * (t - begin)) for c in INTERIOR_POINTS]))
        self.t.append(t)
        self.y.append(y.copy())
        if f is not None:
            self.f.append(f)

    def solution(self, outcome: Outcome, message: str, calls: int) -> Solution:
        """The motion so far."""
        return interpolated_solution(self.t, self.y, self.f, self.inside, outcome, message, calls)

    def failure(self, why: str, calls: int, detail: str = "") -> RunStopped:
        """The end of a run that cannot go on."""
        solution = self.solution(Outcome.STOPPED, why, calls)
        return RunStopped(
            Cause.INTEGRATOR,
            solution,
            t=self.t[-1],
            steps=len(self.t) - 1,
            detail=detail or why,
        )


def _solve_cvode(rates: Rates, problem: InitialValueProblem, slopes: Rates | None) -> Solution:
    cvode = import_optional("sksundae.cvode", "this integrator", "scikit-sundae")

    def rhs(t: float, y: FloatArray, yp: FloatArray) -> None:
        yp[:] = rates(t, y)

    def by_state(t: float, y: FloatArray, _yp: FloatArray, J: FloatArray) -> None:
        assert slopes is not None
        J[:] = slopes(t, y)

    known = {} if slopes is None else {"jacfn": by_state}
    solver = cvode.CVODE(
        rhs,
        rtol=problem.rtol,
        atol=_tolerances(problem),
        max_step=_largest_step(problem),
        max_num_steps=_MOST_STEPS,
        **known,
    )

    def rates_at_steps(result: Any) -> FloatArray:
        return np.array([rates(t, y) for t, y in zip(result.t, result.y, strict=True)])

    return _solve_and_resample(solver, problem, (problem.start,), rates_at_steps)


def _largest_step(problem: InitialValueProblem) -> float:
    """The limit of SUNDIALS' steps, 0 for none."""
    return 0.0 if np.isinf(problem.max_step) else problem.max_step


def _solve_and_resample(
    solver: Any,
    problem: InitialValueProblem,
    start: tuple[FloatArray, ...],
    rates_at_steps: Callable[[Any], FloatArray],
) -> Solution:
    """A run by SUNDIALS with its steps, and the same at places inside these; variables beyond
    those of the problem are left out.
    """
    result = solver.solve(np.array([problem.t0, problem.t1]), *start)
    result.y = np.asarray(result.y)[:, : problem.size]
    slopes = rates_at_steps(result)
    if not result.success:
        message = str(result.message)
        solution = sundials_solution(result, None, slopes, Outcome.STOPPED, message)
        raise RunStopped(Cause.INTEGRATOR, solution, detail=message)
    again = solver.solve(interpolation_times(result.t), *start)
    places = np.asarray(again.y)[:, : problem.size] if again.success else None
    message = f"finished at t = {result.t[-1]:.17g}"
    return sundials_solution(result, places, slopes, Outcome.FINISHED, message)


def _solve_ida(
    F: Implicit,
    start: tuple[FloatArray, FloatArray],
    problem: InitialValueProblem,
    slopes: Rates | None = None,
) -> Solution:
    """0 = F(t, y, ẏ) from (y, ẏ) on by SUNDIALS' IDA; variables beyond those of the problem are
    algebraic.
    """
    ida = import_optional("sksundae.ida", "this integrator", "scikit-sundae")
    extra = list(range(problem.size, len(start[0])))
    atol = np.concatenate([_tolerances(problem), np.full(len(extra), _UNCONTROLLED)])

    def residual(t: float, y: FloatArray, yp: FloatArray, res: FloatArray) -> None:
        res[:] = F(t, y, yp)

    def by_state(
        t: float, y: FloatArray, _yp: FloatArray, _res: FloatArray, cj: float, J: FloatArray
    ) -> None:
        # ∂F/∂y + c ∂F/∂ẏ of F = ẏ − f
        assert slopes is not None
        J[:] = cj * np.eye(len(y)) - slopes(t, y)

    known = {} if slopes is None else {"jacfn": by_state}
    solver = ida.IDA(
        residual,
        rtol=problem.rtol,
        atol=atol,
        algebraic_idx=extra or None,
        max_step=_largest_step(problem),
        max_num_steps=_MOST_STEPS,
        **known,
    )
    return _solve_and_resample(
        solver, problem, start, lambda result: np.asarray(result.yp)[:, : problem.size]
    )


class _IndexOneResidual:
    """F in augmented form; the rows that are kept are chosen once, at the start."""

    def __init__(
        self, rates: ConstrainedRates, p: FloatArray, problem: InitialValueProblem
    ) -> None:
        self._rates, self._p, self._n = rates, p, problem.size
        space = Workspace(rates, p, alpha=rates.alpha)
        x = np.append(problem.start, problem.t0)
        space.select_rows(x)
        self._kept = np.sort(space.order[: rates.max_rank])
        self._yp, self._lam = space.evaluate(x), space.multipliers[: rates.layout.m].copy()

    def start(self, problem: InitialValueProblem, /) -> tuple[FloatArray, FloatArray]:
        """The start with its λ, and the rates there."""
        y = np.concatenate([problem.start, self._lam[self._kept]])
        return y, np.concatenate([self._yp, np.zeros(len(self._kept))])

    def __call__(self, t: float, y: FloatArray, yp: FloatArray, /) -> FloatArray:
        n_q, n, rates = self._rates.layout.n_q, self._n, self._rates
        x = np.append(y[:n], t)
        at = {
            name: table[0] for name, table in rates.rows(x[np.newaxis], self._p, mass=True).items()
        }
        A, kept, alpha = at["A"], self._kept, rates.alpha
        lam = np.zeros(len(A))
        lam[kept] = y[n:]
        zdot = yp[n_q:n]
        dynamics = at["M"] @ zdot - at["f"] - A.T @ lam
        rows = (A @ zdot + at["gamma"] + 2 * alpha * at["e"] + alpha**2 * at["phi"])[kept]
        return np.concatenate([yp[:n_q] - at["qdot"], dynamics, rows])


def solve_heyoka(
    model: NativeModel, p: FloatArray, problem: InitialValueProblem, watched: BoundAudit | None
) -> Solution:
    """Taylor's method on the same expressions; its steps are never rejected, so the tolerance is
    all that guards it.
    """
    taylor = _taylor_adaptive(model, p, problem, watched)
    steps = _StepRecord(problem.t0, problem.start)
    while taylor.time < problem.t1:
        begin = taylor.time
        taylor.step(min(problem.t1 - begin, problem.max_step), write_tc=True)
        stalled = _is_stalled(steps.t, problem)
        if stalled or not np.isfinite(taylor.state).all():
            steps.f = _rates_at_steps(model, p, problem, steps, watched)
            message, detail = (_STALLED, _STALLED) if stalled else _NOT_FINITE
            raise steps.failure(message, 0, detail)
        end, state = taylor.time, np.array(taylor.state)
        steps.append(end, state, lambda t: taylor.update_d_output(t).copy())
    steps.f = _rates_at_steps(model, p, problem, steps, watched)
    return steps.solution(Outcome.FINISHED, f"finished at t = {steps.t[-1]:.17g}", 0)


def _taylor_adaptive(
    model: NativeModel, p: FloatArray, problem: InitialValueProblem, watched: BoundAudit | None
) -> Any:
    """heyoka's integrator of the rates and the quadratures."""
    hy = import_optional("heyoka", "this integrator")
    variables = [hy.expression(f"y{k}") for k in range(problem.size)]
    known = dict(zip(model.state, [*variables[: problem.n_in_norm], hy.time], strict=True))
    outs = _expressions(hy, model.tape, model.nodes, known, model.parameters, 0)
    if watched is not None:
        audit = watched.audit
        outs += _expressions(hy, audit.tape, audit.nodes, known, audit.parameters, len(p))
    taylor = hy.taylor_adaptive(
        list(zip(variables, outs, strict=True)),
        problem.start.tolist(),
        time=problem.t0,
        tol=problem.rtol,
        compact_mode=_operation_count(model, watched) > _SEPARATE_OPERATIONS,
    )
    # it counts to the last parameter that the equations contain; constants that drop out of them
    # may come after that
    numbers = [*p, *(watched.p if watched else ())]
    taylor.pars[:] = numbers[: len(taylor.pars)]
    return taylor


def _operation_count(model: NativeModel, watched: BoundAudit | None) -> int:
    """Operations of the rates and the quadratures; refuse more than can be compiled in a minute."""
    count = len(dependencies(model.tape, model.nodes))
    if watched is not None:
        count += len(dependencies(watched.audit.tape, watched.audit.nodes))
    if count > _MOST_OPERATIONS:
        msg = (
            f"heyoka would compile {count} operations, which takes minutes; at most "
            f"{_MOST_OPERATIONS} are accepted: choose integrator='taylor' or 'native'"
        )
        raise Unknown(msg)
    return count


def _expressions(
    hy: Any,
    tape: Tape,
    nodes: Sequence[int],
    known: Mapping[int, Any],
    parameters: Sequence[int],
    first: int,
) -> list[Any]:
    """Nodes as heyoka's expressions; the parameters are numbered from `first`."""
    symbols = {**known, **{i: hy.par[first + k] for k, i in enumerate(parameters)}}
    return evaluate(tape, list(nodes), symbols.__getitem__, _Expressions(hy))


def _rates_at_steps(
    model: NativeModel,
    p: FloatArray,
    problem: InitialValueProblem,
    steps: _StepRecord,
    watched: BoundAudit | None,
) -> list[FloatArray]:
    states = np.column_stack([np.array(steps.y)[:, : problem.n_in_norm], steps.t])
    rates = model.rates.batch(states, p)
    if watched is not None and watched.audit.rates is not None:
        rates = np.hstack([rates, watched.audit.rates.batch(states, watched.p)])
    return list(rates)


class _Expressions(FloatArithmetic):
    """heyoka's expressions as an arithmetic."""

    def __init__(self, hy: Any) -> None:
        self.hy = hy

    def const(self, value: Any) -> Any:
        return self.hy.expression(float(value))

    def pi(self) -> Any:
        return self.hy.pi

    def atan2(self, a: Any, b: Any) -> Any:
        return self.hy.atan2(a, b)

    # the angle's identity does not matter here
    def call(self, function: str, a: Any, node: int) -> Any:  # noqa: ARG002
        if function in ("abs", "sign"):
            msg = f"heyoka cannot treat {function}: Taylor's method needs smooth functions"
            raise Unknown(msg)
        return getattr(self.hy, function)(a)
