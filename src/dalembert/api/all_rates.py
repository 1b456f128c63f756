"""ż = f(q, z, t) in all rates, the rows beside the equations: no choice of speeds, so none that can become singular."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.equations.form import ExplicitEquations
from dalembert.equations.saddle import SaddleEquations
from dalembert.errors import NotApplicable
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.model.system import System
from dalembert.numerics.native import NativeDynamics
from dalembert.simulation.model import NativeModel, native_model
from dalembert.states.values import values_of_run

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AllRatesDynamics(NativeDynamics):
    """f(q, u, t=0, **values) with u all rates (spins where there are quaternions): u̇ of one state, or of many states in rows.

    The state should be on the rows: φ = 0 and A u + b = 0. Then A u̇ + γ = 0.
    """

    def __init__(self, system: System, kin: Kinematics, saddle: SaddleEquations) -> None:
        if kin.x:
            msg = f"compile: speeds='all' is not for systems with first-order states such as {kin.name(kin.x[0])}; leave it out"
            raise NotApplicable(msg)
        self._made_of = system, kin, saddle
        self._model = native_model(values_of_run(kin, {}, {}), saddle)
        nothing = (self._model.tape.zero,) * len(kin.u)
        super().__init__(system, ExplicitEquations(system.name, self._model.tape, kin.q, kin.u, kin.qdot_of_u, nothing, saddle.route))

    def _symbols(self) -> tuple[int, ...]:
        return self._model.parameters

    def _function(self) -> Any:
        return _Rates(self._model, len(self.equations.q))

    def __reduce__(self) -> tuple[Any, ...]:
        return AllRatesDynamics, self._made_of


class _Rates:
    """ż by native elimination, as a function of q, z, t and the parameters."""

    def __init__(self, model: NativeModel, n_q: int) -> None:
        self._model, self._n_q = model, n_q

    def call(self, q: Any, u: Any, t: Any, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """ż at one state."""
        found: NDArray[np.float64] = self.batch(np.atleast_2d(q), np.atleast_2d(u), np.reshape(t, (1, 1)), p)[0]
        return found

    def batch(self, Q: Any, U: Any, t: Any, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """ż of states in rows."""
        Q = np.asarray(Q, dtype=float)
        times = np.broadcast_to(np.reshape(np.asarray(t, dtype=float), (-1, 1)), (len(Q), 1))
        found: NDArray[np.float64] = self._model.rates.batch(np.hstack([Q, np.asarray(U, dtype=float), times]), p)[:, self._n_q :]
        return found
