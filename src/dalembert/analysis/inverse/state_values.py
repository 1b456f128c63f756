"""Any expression, M(q) and f(q, u) as numbers at one state, without a run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import BadExpression
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.jacobian import Jacobian
from dalembert.mechanics.kinematics.system_kinematics import (
    Kinematics,
    kinematics,
    unreduced_kinematics,
)
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.required_loads import RequiredLoads, required_loads
from dalembert.runtime.numerics.symbol_values import require_mapping
from dalembert.runtime.states.constraint_rank import regular_kinematics
from dalembert.runtime.states.evaluator import Evaluator, Level
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import run_values
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate as fold

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateValues(Displayable):
    """A state of a system that satisfies every row: M u̇ = f there, and all other requested
    values.
    """

    kinematics: Kinematics
    t: float
    q: Numbers
    u: Numbers
    # numbers of constants, inputs and prescribed motions
    numbers: Mapping[int, float]

    def __str__(self) -> str:
        kin = self.kinematics
        values = [
            *zip(map(kin.name, kin.q), self.q, strict=True),
            *zip(self.speeds, self.u, strict=True),
        ]
        return "\n".join(
            [f"{kin.system.name} at t = {self.t:g}", *(f"  {name} = {x:.9g}" for name, x in values)]
        )

    @cached_property
    def _mass_and_forcing(self) -> tuple[Numbers, Numbers]:
        return mass_matrix_and_forcing(
            required_loads(self.kinematics), self.q, self.u, self.t, self.numbers
        )

    @property
    def M(self) -> Numbers:
        """The mass matrix along the speeds."""
        return self._mass_and_forcing[0]

    @property
    def f(self) -> Numbers:
        """What accelerates: M u̇ = f."""
        return self._mass_and_forcing[1]

    @cached_property
    def udot(self) -> Numbers:
        """u̇, by M u̇ = f."""
        return np.asarray(np.linalg.solve(self.M, self.f))

    @property
    def speeds(self) -> tuple[str, ...]:
        """What the rows of M and f belong to."""
        return tuple(self.kinematics.name(u) for u in self.kinematics.u)

    def value(self, expression: Any) -> float | Numbers:
        """The number that an expression has here; of a vector its three components along N, of a
        Jacobian its rows.
        """
        if isinstance(expression, Jacobian):
            return np.array([[self.value(c) for c in row] for row in expression.rows])
        if isinstance(expression, Vector):
            return np.array([self.value(c) for c in expression.to(self.kinematics.system.N)])
        evaluator = Evaluator(self.kinematics, self.numbers)
        node = evaluator.node(expression)
        needs_accelerations = evaluator.level(node) is Level.ACCELERATION
        state = dict(
            zip(
                (*evaluator.kin.q, *evaluator.kin.u),
                (*self.q.tolist(), *self.u.tolist()),
                strict=True,
            )
        ) | {evaluator.time: self.t}
        if needs_accelerations:
            state |= dict(zip(evaluator.kin.udot, self.udot.tolist(), strict=True))
        (x,) = evaluator.values_at([evaluator.in_state(node)], state)
        if not np.isfinite(x):
            msg = f"{expression} has no finite value at this state"
            raise BadExpression(msg)
        return float(x)


def state_values(
    system: System,
    at: Mapping[Any, Any] | None = None,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    guess: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> StateValues:
    """The state given by `at`; other values are zero where the constraints allow it, otherwise
    solved for.
    """
    kin = kinematics(system)
    numbers = run_values(kin, values or {}, inputs or {}).symbol_values_at(t)
    given = require_mapping("at", {} if at is None else at)
    if kin.state_dependent_pivots and not system.speed_list:
        kin = regular_kinematics(
            kin,
            solve_initial_conditions(unreduced_kinematics(kin), given, numbers, t, guess).q,
            numbers,
            t,
        )
        numbers = run_values(kin, values or {}, inputs or {}).symbol_values_at(t)
    start = solve_initial_conditions(kin, given, numbers, t, guess)
    return StateValues(
        kin,
        t,
        np.asarray(start.q),
        np.asarray(start.u),
        numbers | dict(zip(kin.x, start.x.tolist(), strict=True)),
    )


@check_options
def evaluate(
    system: System,
    expressions: Any,
    *,
    at: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    guess: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> Any:
    """The values of expressions at a state, without a run: da.evaluate(s, {"height": P_y, "T":
    "m*v**2/2"}, at={"theta": 0.3}).

    A mapping gives a mapping with the same keys, a sequence a list, one expression one number; a
    vector gives its three components along N. `values`, `inputs`, `guess` and `t` are those of a
    run's start. Accelerations follow from the equations of motion.
    """
    state = state_values(system, at, values=values, inputs=inputs, guess=guess, t=t)
    if isinstance(expressions, Mapping):
        return {key: state.value(e) for key, e in expressions.items()}
    if isinstance(expressions, list | tuple | set):
        return [state.value(e) for e in expressions]
    return state.value(expressions)


def mass_matrix_and_forcing(
    loads: RequiredLoads, q: Numbers, u: Numbers, t: float, numbers: Mapping[int, float]
) -> tuple[Numbers, Numbers]:
    """M and f, from the loads at u̇ = 0 and at every unit u̇."""
    kin = loads.kinematics
    p = kin.n_u
    units = np.hstack([np.zeros((p, 1)), np.eye(p)])
    known: dict[int, Any] = {i: np.float64(x) for i, x in numbers.items()}
    known |= dict(zip((*kin.q, *kin.u, kin.system.t.i), (*q, *u, np.float64(t)), strict=True))
    known |= dict(zip(kin.udot, units, strict=True))
    with np.errstate(all="ignore"):
        rows = np.array(
            [
                np.broadcast_to(x, p + 1)
                for x in fold(kin.tape, loads.nodes, known.__getitem__, ArrayArithmetic())
            ]
        )
    return rows[:, 1:] - rows[:, :1], -rows[:, 0]
