"""heyoka's integrator on the same expressions as the native code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate
from dalembert.algebra.tape import Tape
from dalembert.errors import Unknown
from dalembert.ode.failures import RunStopped
from dalembert.ode.optional_packages import optional_package
from dalembert.ode.problem import InitialValueProblem
from dalembert.ode.solution import Outcome, Solution
from dalembert.simulation.energy_audit.audit import Watched
from dalembert.simulation.model import NativeModel
from dalembert.simulation.step_polynomials import INSIDE, solution_of_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


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
            reason = f"stopped at t = {begin:.17g} after {len(t) - 1} steps: the state is no longer finite"
            raise RunStopped(reason, solution)
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
