"""Other people's integrators by name, with the same result: SciPy, SUNDIALS and heyoka where they are installed.

The right-hand side is the same native code. The motion between the steps is kept as the polynomial of degree seven through
the ends, the slopes there and four points in between, whatever method made them.

Solvers of differential-algebraic equations are given F(t, y, ẏ) = 0,

    q̇ − E z − X = 0,   𝓜 ż − f − Aᵀλ = 0,   A ż + γ + 2α e + α² φ = 0

With y = (q, z, quadratures, λ) this is a system of index one: λ is determined by equations that contain no ẏ but ż.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import Unknown, optional_package
from dalembert.foundation.array_types import Numbers
from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates, Workspace
from dalembert.runtime.ode.failures import Cause, RunStopped
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.solution import Outcome, Pieces, Solution, StoredMotion
from dalembert.runtime.simulation.dense_output import (
    INSIDE,
    PLACES,
    interpolated,
    solution_of_steps,
    with_places_inside,
    without_polynomials,
)
from dalembert.runtime.simulation.energy_audit import Watched
from dalembert.runtime.simulation.model import NativeModel
from dalembert.symbolic.algebra.arithmetic import Floats
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    Rates = Callable[[float, Numbers], Numbers]
    Implicit = Callable[[float, Numbers, Numbers], Numbers]
    Fill = Callable[[float, Numbers], None] | None

# those that solve equations for the next state, and are given ∂f/∂y
_IMPLICIT: Final = ("Radau", "BDF", "LSODA", "CVODE", "IDA")
# what is not in the error norm gets a tolerance that never binds
_NEVER: Final = 1e100
_MOST_STEPS: Final = 1_000_000
# so many last bits beside a break
_BESIDE: Final = 64


def integrate_by(
    name: str, model: NativeModel, p: Numbers, problem: InitialValueProblem, watched: Watched | None = None, fill: Fill = None
) -> Solution:
    """The motion of a problem by the integrator of that name, from break to break; constraints are not projected upon.

    `fill` puts the values of inputs that are Python functions into a state.
    """
    done: list[Solution] = []
    for t0, t1 in _between_breaks(problem):
        y0 = done[-1].y[-1].copy() if done else problem.start
        if done and problem.at_break is not None:
            problem.at_break(t0, y0)
        part = replace(problem, t0=t0, t1=t1, y0=y0, breaks=())
        try:
            done.append(_integrate_by(name, model, p, part, watched, fill))
        except RunStopped as failure:
            failure.solution = _joined([*done, failure.solution])
            raise
    return _joined(done)


def _between_breaks(problem: InitialValueProblem) -> list[tuple[float, float]]:
    """From just behind each break to just before the next."""
    times = [t for t in problem.breaks if problem.t0 + _BESIDE * math.ulp(t) < t < problem.t1 - _BESIDE * math.ulp(t)]
    ends = [*(t - _BESIDE * math.ulp(t) for t in times), problem.t1]
    pairs = zip([problem.t0, *(t + _BESIDE * math.ulp(t) for t in times)], ends, strict=True)
    return [(begin, end) for begin, end in pairs if begin < end]


def _joined(parts: list[Solution]) -> Solution:
    """One motion; at a break the state stays as it is."""
    if len(parts) == 1:
        return parts[0]
    times, states = Pieces([part.t for part in parts]), Pieces([part.y for part in parts])
    dense: list[Numbers] = []
    for k, part in enumerate(parts):
        if k:
            still = np.zeros((1, 8, part.y.shape[1]))
            still[0, 0] = part.y[0]
            dense.append(still)
        dense += [] if part.dense is None else [part.dense]
    kept = Pieces(dense) if any(part.dense is not None for part in parts) else None
    last = parts[-1]
    return replace(last, motion=StoredMotion(times, states, kept), calls=sum(part.calls for part in parts))


def _integrate_by(name: str, model: NativeModel, p: Numbers, problem: InitialValueProblem, watched: Watched | None, fill: Fill) -> Solution:
    if fill is not None and (name == "heyoka" or (name == "IDA" and isinstance(model.rates, ConstrainedRates))):
        msg = f"{name} cannot ask a Python function for an input; give an expression, da.sampled(…), or another integrator"
        raise Unknown(msg)
    if name == "heyoka":
        return by_heyoka(model, p, problem, watched)
    if name == "IDA" and isinstance(model.rates, ConstrainedRates):
        form = _IndexOne(model.rates, p, problem, watched)
        return _ida(form, form.start(problem), problem)

    def rates(t: float, y: Numbers) -> Numbers:
        state = np.append(y[: problem.in_norm], t)
        if fill is not None:
            fill(t, state)
        found, lam = _with_multipliers(model, state, p)
        if watched is None or watched.audit.rates is None:
            return found
        return np.concatenate([found, watched.audit.rates.call(_beside(watched, state, lam), watched.p)])

    slopes = None if fill is not None or name not in _IMPLICIT else _slopes_of(model, p, problem, watched)
    if name == "IDA":
        return _ida(lambda t, y, yp: yp - rates(t, y), (problem.start, rates(problem.t0, problem.start)), problem, slopes)
    return _cvode(rates, problem, slopes) if name == "CVODE" else _scipy(name, rates, problem, slopes)


def _slopes_of(model: NativeModel, p: Numbers, problem: InitialValueProblem, watched: Watched | None) -> Rates | None:
    """∂f/∂y from the tape, for those who would otherwise take differences; None where rows stand beside the equations."""
    if isinstance(model.rates, ConstrainedRates):
        return None
    n = problem.in_norm

    def slopes(t: float, y: Numbers) -> Numbers:
        state, J = np.append(y[:n], t), np.zeros((problem.size, problem.size))
        J[:n, :n] = model.jacobian.call(state, p).reshape(n, n + 1)[:, :n]
        if watched is not None and watched.audit.rates is not None:
            J[n:, :n] = watched.audit.jacobian.call(state, watched.p).reshape(-1, n + 1)[:, :n]
        return J

    return slopes


def _with_multipliers(model: NativeModel, state: Numbers, p: Numbers) -> tuple[Numbers, Numbers]:
    """The rates, and λ where rows stand beside the equations."""
    if not isinstance(model.rates, ConstrainedRates):
        return model.rates.call(state, p), np.zeros(0)
    found = model.rates.with_multipliers(state[np.newaxis], p)[0]
    return found[: len(state) - 1], found[len(state) - 1 :]


def _beside(watched: Watched, state: Numbers, lam: Numbers) -> Numbers:
    """What the audit is a function of: (q, u, t), and λ where rows move."""
    return np.concatenate([state, lam]) if watched.audit.takes_multipliers else state


def _tolerances(problem: InitialValueProblem) -> Numbers:
    atol = np.full(problem.size, _NEVER)
    atol[: problem.in_norm] = np.broadcast_to(np.asarray(problem.atol, dtype=float), (problem.in_norm,))
    return atol


def _scipy(name: str, rates: Rates, problem: InitialValueProblem, slopes: Rates | None = None) -> Solution:
    integrate = optional_package("scipy.integrate", "this integrator")
    solver = getattr(integrate, name)
    known = {} if slopes is None else {"jac": slopes}
    options = {"rtol": problem.rtol, "atol": _tolerances(problem), "max_step": problem.max_step, **known}
    method = solver(rates, problem.t0, problem.start, problem.t1, **options)
    t, y, f = [method.t], [method.y.copy()], [rates(method.t, method.y)]
    inside: list[Numbers] = []
    while method.status == "running":
        message = method.step()
        if method.status == "failed":
            solution = solution_of_steps(t, y, f, inside, Outcome.STOPPED, str(message), method.nfev)
            raise RunStopped(Cause.INTEGRATOR, solution, t=t[-1], steps=len(t) - 1, detail=str(message))
        between = method.dense_output()
        inside.append(np.array([between(t[-1] + c * (method.t - t[-1])) for c in INSIDE]))
        t.append(method.t)
        y.append(method.y.copy())
        f.append(rates(method.t, method.y))
    return solution_of_steps(t, y, f, inside, Outcome.FINISHED, f"finished at t = {t[-1]:.17g}", method.nfev)


def _cvode(rates: Rates, problem: InitialValueProblem, slopes: Rates | None) -> Solution:
    cvode = optional_package("sksundae.cvode", "this integrator", "scikit-sundae")

    def rhs(t: float, y: Numbers, yp: Numbers) -> None:
        yp[:] = rates(t, y)

    def by_state(t: float, y: Numbers, _yp: Numbers, J: Numbers) -> None:
        assert slopes is not None
        J[:] = slopes(t, y)

    known = {} if slopes is None else {"jacfn": by_state}
    solver = cvode.CVODE(rhs, rtol=problem.rtol, atol=_tolerances(problem), max_num_steps=_MOST_STEPS, **known)
    result, again = _twice(solver, problem, problem.start)
    found = [rates(t, y) for t, y in zip(result.t, again.y[::PLACES], strict=True)] if again.success else []
    return interpolated(result, again, np.array(found))


def _twice(solver: Any, problem: InitialValueProblem, *start: Numbers) -> tuple[Any, Any]:
    """A run by SUNDIALS with its steps, and the same at places inside these; variables beyond those of the problem are left out."""
    result = solver.solve(np.array([problem.t0, problem.t1]), *start)
    result.y = np.asarray(result.y)[:, : problem.size]
    if not result.success:
        message = str(result.message)
        raise RunStopped(Cause.INTEGRATOR, without_polynomials(result, Outcome.STOPPED, message), detail=message)
    again = solver.solve(with_places_inside(result.t), *start)
    again.y = np.asarray(again.y)[:, : problem.size]
    return result, again


def _ida(F: Implicit, start: tuple[Numbers, Numbers], problem: InitialValueProblem, slopes: Rates | None = None) -> Solution:
    """0 = F(t, y, ẏ) from (y, ẏ) on by SUNDIALS' IDA; variables beyond those of the problem are algebraic."""
    ida = optional_package("sksundae.ida", "this integrator", "scikit-sundae")
    extra = list(range(problem.size, len(start[0])))
    atol = np.concatenate([_tolerances(problem), np.full(len(extra), _NEVER)])

    def residual(t: float, y: Numbers, yp: Numbers, res: Numbers) -> None:
        res[:] = F(t, y, yp)

    def by_state(t: float, y: Numbers, _yp: Numbers, _res: Numbers, cj: float, J: Numbers) -> None:
        # ∂F/∂y + c ∂F/∂ẏ of F = ẏ − f
        assert slopes is not None
        J[:] = cj * np.eye(len(y)) - slopes(t, y)

    step = 0.0 if np.isinf(problem.max_step) else problem.max_step
    known = {} if slopes is None else {"jacfn": by_state}
    solver = ida.IDA(residual, rtol=problem.rtol, atol=atol, algebraic_idx=extra or None, max_step=step, max_num_steps=_MOST_STEPS, **known)
    result, again = _twice(solver, problem, *start)
    return interpolated(result, again, np.asarray(again.yp)[::PLACES, : problem.size])


class _IndexOne:
    """F with rows beside the equations; those that are kept are chosen once, at the start."""

    def __init__(self, rates: ConstrainedRates, p: Numbers, problem: InitialValueProblem, watched: Watched | None) -> None:
        self._rates, self._p, self._watched = rates, p, watched
        self._n, self._size = problem.in_norm, problem.size
        space = Workspace(rates, p, alpha=rates.alpha)
        x = np.append(problem.start[: self._n], problem.t0)
        space.choose_rows(x)
        self._kept = np.sort(space.order[: rates.cap])
        self._yp, self._lam = space.evaluate(x), space.multipliers[: rates.layout.m].copy()

    def start(self, problem: InitialValueProblem, /) -> tuple[Numbers, Numbers]:
        """The start with its λ, and the rates there."""
        x = np.append(problem.start[: self._n], problem.t0)
        y = np.concatenate([problem.start, self._lam[self._kept]])
        riding = self._audit(x, self._lam)
        return y, np.concatenate([self._yp, riding, np.zeros(len(self._kept))])

    def __call__(self, t: float, y: Numbers, yp: Numbers, /) -> Numbers:
        n_q, n, rates = self._rates.layout.n_q, self._n, self._rates
        x = np.append(y[:n], t)
        at = {name: table[0] for name, table in rates.rows(x[np.newaxis], self._p).items()}
        A, kept, alpha = at["A"], self._kept, rates.alpha
        lam = np.zeros(len(A))
        lam[kept] = y[self._size :]
        zdot = yp[n_q:n]
        dynamics = at["M"] @ zdot - at["f"] - A.T @ lam
        rows = (A @ zdot + at["gamma"] + 2 * alpha * at["e"] + alpha**2 * at["phi"])[kept]
        riding = yp[n : self._size] - self._audit(x, lam)
        return np.concatenate([yp[:n_q] - at["qdot"], dynamics, riding, rows])

    def _audit(self, x: Numbers, lam: Numbers) -> Numbers:
        """The rates of what rides along."""
        watched = self._watched
        if watched is None or watched.audit.rates is None:
            return np.zeros(self._size - self._n)
        return watched.audit.rates.call(np.concatenate([x, lam]) if watched.audit.takes_multipliers else x, watched.p)


def by_heyoka(model: NativeModel, p: Numbers, problem: InitialValueProblem, watched: Watched | None) -> Solution:
    """Taylor's method on the same expressions; its steps are never rejected, so the tolerance is all that guards it."""
    hy = optional_package("heyoka", "this integrator")
    variables = [hy.expression(f"y{k}") for k in range(problem.size)]
    known = dict(zip(model.state, [*variables[: problem.in_norm], hy.time], strict=True))
    outs = _expressions(hy, model.tape, model.nodes, known, model.parameters, 0)
    if watched is not None:
        outs += _expressions(hy, watched.audit.tape, watched.audit.nodes, known, watched.audit.parameters, len(p))
    system = list(zip(variables, outs, strict=True))
    numbers = [*p, *(watched.p if watched else ())]
    taylor = hy.taylor_adaptive(system, problem.start.tolist(), time=problem.t0, tol=problem.rtol)
    # it counts to the last parameter that the equations contain; constants that drop out of them may come after that
    taylor.pars[:] = numbers[: len(taylor.pars)]
    t, y = [problem.t0], [problem.start.copy()]
    inside: list[Numbers] = []
    while taylor.time < problem.t1:
        begin = taylor.time
        taylor.step(min(problem.t1 - begin, problem.max_step), write_tc=True)
        if not np.isfinite(taylor.state).all():
            solution = solution_of_steps(t, y, _slopes(model, p, problem, t, y, watched), inside, Outcome.STOPPED, "not finite", 0)
            raise RunStopped(Cause.INTEGRATOR, solution, t=begin, steps=len(t) - 1, detail="the state is no longer finite")
        inside.append(np.array([taylor.update_d_output(begin + c * (taylor.time - begin)).copy() for c in INSIDE]))
        t.append(taylor.time)
        y.append(np.array(taylor.state))
    return solution_of_steps(t, y, _slopes(model, p, problem, t, y, watched), inside, Outcome.FINISHED, f"finished at t = {t[-1]:.17g}", 0)


def _expressions(hy: Any, tape: Tape, nodes: Sequence[int], known: Mapping[int, Any], parameters: Sequence[int], first: int) -> list[Any]:
    """Nodes as heyoka's expressions; the parameters are numbered from `first`."""
    symbols = {**known, **{i: hy.par[first + k] for k, i in enumerate(parameters)}}
    return evaluate(tape, list(nodes), symbols.__getitem__, _Expressions(hy))


def _slopes(
    model: NativeModel, p: Numbers, problem: InitialValueProblem, t: list[float], y: list[Numbers], watched: Watched | None
) -> list[Numbers]:
    states = np.column_stack([np.array(y)[:, : problem.in_norm], t])
    found = model.rates.batch(states, p)
    if watched is not None and watched.audit.rates is not None:
        found = np.hstack([found, watched.audit.rates.batch(states, watched.p)])
    return list(found)


class _Expressions(Floats):
    """heyoka's expressions as an arithmetic."""

    def __init__(self, hy: Any) -> None:
        self.hy = hy

    def const(self, value: Any) -> Any:
        return self.hy.expression(float(value))

    def pi(self) -> Any:
        return self.hy.pi

    def atan2(self, a: Any, b: Any) -> Any:
        return self.hy.atan2(a, b)

    def call(self, function: str, a: Any, node: int) -> Any:  # noqa: ARG002 - the angle's identity does not matter here
        if function in ("abs", "sign"):
            msg = f"heyoka cannot treat {function}: Taylor's method needs smooth functions"
            raise Unknown(msg)
        return getattr(self.hy, function)(a)
