"""Native functions of a state besides u̇: y = f(q, u, t) of any expressions, and ż = f(q, z, t) in
all rates.

In all rates the equations are in augmented form: there is no choice of speeds, so none that can
become singular.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.jacobian import Jacobian
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.registry import scalar
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import forward_dynamics_of
from dalembert.runtime.numerics.forward_dynamics import NativeDynamics
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.symbolic.algebra.exact_number import is_number
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.runtime.simulation.model import NativeModel


class CompiledExpressions(NativeDynamics):
    """f(q, u, t=0, **values): the values of expressions at one state, or at many states in rows.

    One expression gives one number, a vector its three components along N, a Jacobian three rows;
    several give all their numbers in a row.
    """

    _advice: ClassVar = "da.compile(s, expressions, start={…}) chooses others"

    def __init__(
        self,
        system: System,
        equations: ExplicitEquations,
        shape: tuple[int, ...],
        pivots: tuple[Scalar, ...] = (),
    ) -> None:
        self.shape = shape
        super().__init__(system, equations, pivots)

    def __call__(self, q: Any, u: Any, t: Any = 0.0, *more: Any, **values: Any) -> NDArray[Any]:
        """The values at the state (q, u) and time t."""
        y = super().__call__(q, u, t, *more, **values)
        return y.reshape((*y.shape[:-1], *self.shape))

    def __str__(self) -> str:
        return (
            super()
            .__str__()
            .replace("= u̇", f"= {len(self.equations.udot)} numbers, of shape {self.shape}", 1)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledExpressions, (self.system, self.equations, self.shape, self.pivots)


def native_expressions(
    kin: Kinematics, expressions: Any, pivots: tuple[Scalar, ...]
) -> CompiledExpressions:
    """Expressions, texts, vectors and Jacobians as one native function; accelerations follow
    from the equations of motion.
    """
    several = isinstance(expressions, list | tuple | set | Mapping)
    given = (
        list(expressions.values() if isinstance(expressions, Mapping) else expressions)
        if several
        else [expressions]
    )
    system, evaluator = kin.system, Evaluator(kin, {})
    if any(isinstance(e, Jacobian) for e in given) and kin is not kinematics(system):
        msg = (
            "compile: the columns of a Jacobian belong to the speeds of da.kinematics(s); leave "
            "out start=, or declare speeds"
        )
        raise NotApplicable(msg)
    parts = [_components(system, e) for e in given]
    nodes = [evaluator.in_speeds(evaluator.node(x)) for part in parts for x in part]
    tape = evaluator.tape
    if evaluator.contains(nodes, kin.udot):
        motion = forward_dynamics_of(kin)
        tape = motion.tape.fork()
        solved = Substitution(tape, dict(zip(kin.udot, motion.udot, strict=True)))
        nodes = [solved(i) for i in copy_expressions(evaluator.tape, tape, nodes)]
    shape = (len(nodes),) if several else _shape_of(given[0])
    equations = ExplicitEquations(system.name, tape, kin.q, kin.u, (), tuple(nodes), "expressions")
    return CompiledExpressions(system, equations, shape, pivots)


def _components(system: System, e: Any) -> list[Any]:
    """The numbers that an expression consists of: one, three along N, or the rows of a Jacobian."""
    if isinstance(e, Vector):
        return list(e.on(e.tape.fork()).to(system.N))
    if isinstance(e, Jacobian):
        return [x for row in e.rows for x in row]
    return [scalar(system, e) if is_number(e) else e]


def _shape_of(e: Any) -> tuple[int, ...]:
    """Of the numbers of one expression."""
    if isinstance(e, Jacobian):
        return e.shape
    return (3,) if isinstance(e, Vector) else ()


class AllRatesDynamics(NativeDynamics):
    """f(q, u, t=0, **values) with u all rates (spins where there are quaternions): u̇ of one state,
    or of many states in rows.

    The state should be on the rows: φ = 0 and A u + b = 0. Then A u̇ + γ = 0.
    """

    def __init__(self, system: System, kin: Kinematics, saddle: SaddlePointEquations) -> None:
        from dalembert.runtime.simulation.model import native_model
        from dalembert.runtime.states.run_values import run_values

        if kin.x:
            msg = (
                f"compile: speeds='all' is not for systems with first-order states such as "
                f"{kin.name(kin.x[0])}; leave it out"
            )
            raise NotApplicable(msg)
        self._arguments = system, kin, saddle
        self._model = native_model(run_values(kin, {}, {}), saddle)
        nothing = (self._model.tape.zero,) * len(kin.u)
        super().__init__(
            system,
            ExplicitEquations(
                system.name, self._model.tape, kin.q, kin.u, kin.qdot_of_u, nothing, saddle.route
            ),
        )

    def _symbols(self) -> tuple[int, ...]:
        return self._model.parameters

    def _function(self) -> Any:
        return _SaddleRates(self._model, len(self.equations.q))

    def __reduce__(self) -> tuple[Any, ...]:
        return AllRatesDynamics, self._arguments


class _SaddleRates:
    """ż by native elimination, as a function of q, z, t and the parameters."""

    def __init__(self, model: NativeModel, n_q: int) -> None:
        self._model, self._n_q = model, n_q

    def call(self, q: Any, u: Any, t: Any, p: FloatArray) -> FloatArray:
        """ż at one state."""
        zdot: FloatArray = self.batch(np.atleast_2d(q), np.atleast_2d(u), np.reshape(t, (1, 1)), p)[
            0
        ]
        return zdot

    def batch(self, Q: Any, U: Any, t: Any, p: FloatArray) -> FloatArray:
        """ż of states in rows."""
        Q = np.asarray(Q, dtype=float)
        times = np.broadcast_to(np.reshape(np.asarray(t, dtype=float), (-1, 1)), (len(Q), 1))
        zdot: FloatArray = self._model.rates.batch(
            np.hstack([Q, np.asarray(U, dtype=float), times]), p
        )[:, self._n_q :]
        return zdot
