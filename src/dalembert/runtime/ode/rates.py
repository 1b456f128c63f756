"""(q̇, ż) of a system as a function of (q, z, t): one interface for rates in closed form and for
rates whose equations keep their constraint rows (saddle-point form).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.numerics.compiled_function import CompiledFunction

if TYPE_CHECKING:
    from dalembert.runtime.ode.constrained.constrained_rates import Workspace


class Rates(Protocol):
    """The rates of a system, as runs, audits, sensitivities and pages use them."""

    # whether the rates are expressions, whose derivatives of every order are known
    closed_form: bool
    # how many constraint rows are kept at most
    max_rank: int

    @property
    def n_in(self) -> int:
        """The numbers of the state and the time."""

    def call(self, x: FloatArray, p: FloatArray, /) -> FloatArray:
        """(q̇, ż) at one state (q, z, t)."""

    def batch(self, X: FloatArray, p: FloatArray, /) -> FloatArray:
        """(q̇, ż) of states in rows."""

    def with_multipliers(self, X: FloatArray, p: FloatArray, /) -> FloatArray:
        """(q̇, ż, λ) of states in rows."""

    def minimum_norm_multipliers(self, X: FloatArray, p: FloatArray, /) -> FloatArray:
        """λ of states in rows, the shortest where rows depend on one another."""

    def project_states(self, X: FloatArray, p: FloatArray, /) -> FloatArray:
        """(q, z) of states (q, z, t) in rows, projected onto the constraint rows."""

    def with_baumgarte(self, alpha: float, /) -> Rates:
        """The same with Baumgarte's stabilization at the rate α."""

    def evaluator(
        self, p: FloatArray, at: FloatArray, /, *, projecting: bool, alpha: float, rtol: float
    ) -> CompiledFunction | Workspace:
        """What native code calls during one run that begins at the state `at`."""

    def functions(self, rank: int, /) -> dict[str, CompiledFunction]:
        """The compiled functions that an integrator calls with `rank` rows kept, by name."""

    def solver_data(self, rank: int, /) -> dict[str, Any] | None:
        """The sizes and switches of the solver for constraint rows; None without such rows."""


class ExplicitRates(CompiledFunction):
    """(q̇, ż) in closed form: no constraint rows are left, so there is no λ and no projection."""

    closed_form = True
    max_rank = 0

    def with_multipliers(self, X: FloatArray, p: FloatArray, /) -> FloatArray:
        """(q̇, ż) of states in rows."""
        return self.at_states(X, p)

    def minimum_norm_multipliers(self, X: FloatArray, _: FloatArray, /) -> FloatArray:
        """No λ for each state."""
        return np.zeros((len(X), 0))

    def project_states(self, X: FloatArray, _: FloatArray, /) -> FloatArray:
        """The states as they are."""
        return X[:, :-1]

    def with_baumgarte(self, _: float, /) -> ExplicitRates:
        """The same rates."""
        return self

    def evaluator(self, *_: FloatArray, **__: Any) -> CompiledFunction:
        """The function itself."""
        return self

    def functions(self, _: int, /) -> dict[str, CompiledFunction]:
        """The rates alone."""
        return {"rates": self}

    def solver_data(self, _: int, /) -> None:
        """No solver is needed."""
