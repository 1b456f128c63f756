"""w = w₀ − K (x − x₀): the linear-quadratic regulator about an equilibrium.

K = R⁻¹ Bᵀ P Nᵀ with the stabilising solution of Aᵀ P + P A − P B R⁻¹ Bᵀ P + Q = 0 on the
independent states ξ, δx = N ξ. It minimises ∫ (δxᵀ Q δx + δwᵀ R δw) dt for small motions.

Source: H. Kwakernaak, R. Sivan, Linear Optimal Control Systems (1972), chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.control.state_model import (
    BadControl,
    Numbers,
    StateModel,
    drive_names,
    tangent_basis,
    weights,
)
from dalembert.analysis.inverse.state_values import StateValues, state_values
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options
from dalembert.runtime.numerics.symbol_values import symbol_name
from dalembert.runtime.states.run_values import refuse_contacts
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.mechanics.model.system import System

# rates of an equilibrium, relative to what unit changes of the state would give
_AT_REST: Final = 1e-8
_UNCONTROLLABLE: Final = 1e-9
_ROUNDING: Final = 1e-13


@dataclass(frozen=True, eq=False)
class Regulator(Displayable):
    """The gain K (rows: inputs, columns: states) and its design data."""

    system: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    # w = w0 − K (x − x0)
    K: Numbers
    x0: Numbers
    w0: Numbers
    # basis of the independent states, cost matrix on them, closed-loop eigenvalues
    N: Numbers
    P: Numbers
    eigenvalues: NDArray[np.complex128]
    model: StateModel

    @property
    def law(self) -> dict[str, Scalar]:
        """{input: expression}, for inputs= of simulate, linearize, reports and exports."""
        errors = self.model.error_expressions(self.x0)
        zero = Scalar(self.model.kin.tape, self.model.kin.tape.zero)
        return {
            name: sum(
                (-float(k) * e for k, e in zip(row, errors, strict=True) if k), zero + float(w)
            )
            for name, row, w in zip(self.inputs, self.K, self.w0, strict=True)
        }

    def __call__(self, x: Any) -> Numbers:
        """w at a state x = (q, first-order states, u), or at states in rows."""
        error = self.model.error(np.asarray(x, dtype=float), self.x0)
        return np.asarray(self.w0 - error @ self.K.T)

    def __str__(self) -> str:
        slowest = self.eigenvalues.real.max(initial=-np.inf)
        lines = [f"linear-quadratic regulator of {self.system!r}: slowest eigenvalue {slowest:.6g}"]
        for name, row, w in zip(self.inputs, self.K, self.w0, strict=True):
            terms = (f"{k:+.6g} {x}" for k, x in zip(-row, self.states, strict=True) if k)
            lines.append(f"  {name} = {w:.6g} {' '.join(terms)}   (x: departure from the point)")
        return "\n".join(lines)


@check_options
def lqr(
    system: System,
    about: Mapping[Any, Any] | None = None,
    *,
    Q: Any = None,
    R: Any = None,
    drives: Sequence[Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    guess: Mapping[Any, Any] | None = None,
) -> Regulator:
    """The gain K of w = w₀ − K (x − x₀) about an equilibrium; K.law is what da.simulate takes as
    inputs.

    about   values of coordinates at the equilibrium, completed as a start is
    Q, R    weights of states and inputs: {name: weight}, a number, a row, or a matrix; by default 1
    drives  the inputs that are set; by default all
    inputs  their values w₀ at the equilibrium, by default zero
    """
    model, point, w0 = operating_point(system, about, drives, values, inputs, guess)
    x0 = np.concatenate([point.q, [point.numbers[i] for i in model.kin.x], point.u])
    slopes = model.slopes(x0[None], w0[None], np.zeros(1))
    _check_rest(model, slopes.f[0], slopes.x[0])
    N = tangent_basis(slopes.G[0])
    A, B = N.T @ slopes.x[0] @ N, N.T @ slopes.w[0]
    W, V = N.T @ weights("Q", Q, model.names) @ N, weights("R", R, model.drives)
    P = riccati(model, A, B, W, V)
    K = np.linalg.solve(V, B.T @ P)
    closed = np.linalg.eigvals(A - B @ K)
    gain = without_rounding(K @ N.T)
    return Regulator(system.name, model.names, model.drives, gain, x0, w0, N, P, closed, model)


def without_rounding(K: Numbers) -> Numbers:
    """Entries that are rounding errors of the largest made zero."""
    return np.where(np.abs(K) > _ROUNDING * np.abs(K).max(axis=-1, keepdims=True), K, 0.0)


def operating_point(
    system: System,
    about: Mapping[Any, Any] | None,
    drives: Sequence[Any] | None,
    values: Mapping[Any, Any] | None,
    inputs: Mapping[Any, Any] | None,
    guess: Mapping[Any, Any] | None = None,
) -> tuple[StateModel, StateValues, Numbers]:
    """The equations with the inputs that are set, the state, and the values of these
    inputs there.
    """
    given = {
        symbol_name(system, key, ("input", "specified")): x for key, x in (inputs or {}).items()
    }
    refuse_contacts(system, given)
    free = (s.name for s in system.symbols.values() if s.kind == "input" and s.value is None)
    whole = dict.fromkeys(free, 0.0) | given
    point = state_values(system, about, values=values, inputs=whole, guess=guess)
    model = StateModel(point.kinematics, drive_names(point.kinematics, drives), point.numbers)
    symbols = point.kinematics.system.symbols
    return model, point, np.array([point.numbers[symbols[n].scalar.i] for n in model.drives])


def _check_rest(model: StateModel, f: Numbers, f_x: Numbers) -> None:
    """f = 0, up to rounding of what it is made of."""
    scale = np.maximum(1.0, np.abs(f_x).max(axis=1, initial=0.0))
    wrong = np.flatnonzero(np.abs(f) > _AT_REST * scale)
    if wrong.size:
        listed = ", ".join(f"d({model.names[k]})/dt = {f[k]:.6g}" for k in wrong[:4])
        msg = (
            f"lqr: the point is no equilibrium: {listed}; change about=, or give the inputs that "
            "hold it (inputs={…}; da.equilibrium finds states)"
        )
        raise BadControl(msg)


def riccati(model: StateModel, A: Numbers, B: Numbers, Q: Numbers, R: Numbers) -> Numbers:
    """The stabilising solution of Aᵀ P + P A − P B R⁻¹ Bᵀ P + Q = 0, or an error that names the
    reason.
    """
    from scipy.linalg import solve_continuous_are

    if np.linalg.eigvalsh(R).min() <= 0.0:
        msg = "lqr: the weights R of the inputs must be positive"
        raise BadControl(msg)
    if np.linalg.eigvalsh(Q).min() < -1e-12 * max(1.0, np.abs(Q).max()):
        msg = "lqr: the weights Q of the states must not be negative"
        raise BadControl(msg)
    for z in np.linalg.eigvals(A):
        both = np.hstack([A - z * np.eye(len(A)), B])
        if (
            z.real >= -1e-9
            and np.linalg.svd(both, compute_uv=False)[-1] <= _UNCONTROLLABLE * np.abs(both).max()
        ):
            named = ", ".join(model.drives)
            msg = (
                f"lqr: the inputs {named} cannot control the mode with eigenvalue {z:.4g}, "
                "which does not decay; add an input, or choose an equilibrium where they can"
            )
            raise BadControl(msg)
    try:
        return np.asarray(solve_continuous_are(A, B, Q, R))
    except (np.linalg.LinAlgError, ValueError) as problem:
        msg = (
            f"lqr: the Riccati equation has no stabilising solution ({problem}); give every "
            "state that does not decay a weight in Q"
        )
        raise BadControl(msg) from problem
