"""ẋ = f(x, w, t) and its slopes, x = (q, first-order states, u), on the tangent space of the
constraints.

δx = N ξ: the columns of N are an orthonormal basis of the changes that satisfy every constraint
row, G δx = 0. A quaternion contributes three of them, since its norm is a row. Along a motion N is
carried without turning, Nᵀ Ṅ = 0, so that ξ̇ = Nᵀ f_x N ξ + Nᵀ f_w δw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dalembert.errors import DalembertError, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.dynamics.derivatives import Derivatives, derivatives_of
from dalembert.runtime.numerics.symbol_values import symbol_name
from dalembert.runtime.states.evaluator import label
from dalembert.symbolic.algebra.scalar import Scalar

Numbers = NDArray[np.float64]
# rows of G below this, relative to the largest, depend on the others
_DEPENDENT: Final = 1e-9


class BadControl(DalembertError):
    """A controller or filter that cannot be designed, with the reason."""


@dataclass(frozen=True)
class Slopes:
    """f, ∂f/∂x, ∂f/∂w and the constraint rows G at K points."""

    f: Numbers
    x: Numbers
    w: Numbers
    G: Numbers


class StateModel:
    """The equations of a system as functions of x and of chosen inputs w; other symbols have fixed
    values.
    """

    def __init__(
        self, kin: Kinematics, drives: Sequence[str], numbers: Mapping[int, float]
    ) -> None:
        self.kin, self.drives = kin, tuple(drives)
        self.state = (*kin.q, *kin.x, *kin.u)
        self.n = len(self.state)
        self.names = tuple(label(kin.name(i)) for i in self.state)
        self._w = tuple(kin.system.symbols[name].scalar.i for name in drives)
        self._numbers = dict(numbers)
        # by symbols: a coordinate may be called like a group, x or q
        self._wrt = [kin.scalar(i) for i in self.state]
        self._rates = derivatives_of(kin, "rates", [*self._wrt, *map(kin.scalar, self._w)])
        self._rows = _constraints(kin, self._wrt)
        self._refuse_driven_rates()

    @property
    def constants(self) -> dict[str, float]:
        """The numbers of the constants."""
        symbols = self.kin.system.symbols.values()
        return {s.name: self._numbers[s.scalar.i] for s in symbols if s.kind == "constant"}

    def _refuse_driven_rates(self) -> None:
        """Refuse drives whose rates are in the equations: a controller sets values alone."""
        for name, w in zip(self.drives, self._w, strict=True):
            if self.kin.tape.rates.get(w) in self._rates.parameters:
                msg = (
                    f"control: {name} is the rate of a prescribed motion, whose acceleration is in "
                    f"the equations; declare it with acceleration={name}"
                )
                raise BadControl(msg)

    def rates(self, x: Numbers, w: Numbers, t: Numbers) -> Numbers:
        """ẋ at states in rows."""
        X, p = self._arguments(self._rates, x, w, t)
        return np.concatenate([part.values(X, p) for part in self._rates.parts], axis=1)

    def slopes(self, x: Numbers, w: Numbers, t: Numbers) -> Slopes:
        """f and its derivatives at states in rows."""
        X, p = self._arguments(self._rates, x, w, t)
        parts = self._rates.parts
        f = np.concatenate([part.values(X, p) for part in parts], axis=1)
        J = np.concatenate([part.jacobian(X, p) for part in parts], axis=1)
        return Slopes(f, J[:, :, : self.n], J[:, :, self.n :], self.rows(x, w, t)[1])

    def rows(self, x: Numbers, w: Numbers, t: Numbers) -> tuple[Numbers, Numbers]:
        """The constraint equations and G = their derivatives by x."""
        if self._rows is None:
            return np.zeros((len(x), 0)), np.zeros((len(x), 0, self.n))
        X, p = self._arguments(self._rows, x, w, t)
        (part,) = self._rows.parts
        return part.values(X, p), part.jacobian(X, p)

    def outputs(self, expressions: Sequence[Any]) -> Outputs:
        """y = h(x, w, t)"""
        return Outputs(self, derivatives_of(self.kin, list(expressions), self._wrt))

    def _arguments(
        self, of: Derivatives, x: Numbers, w: Numbers, t: Numbers
    ) -> tuple[Numbers, Numbers]:
        """States with their times, and a row of parameters for each."""
        places = {i: k for k, i in enumerate(self._w)}
        columns = [
            w[:, places[i]] if i in places else np.full(len(x), self._numbers[i])
            for i in of.parameters
        ]
        p = np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))
        X = np.column_stack([x, np.broadcast_to(t, len(x))])
        fixed = len(x) == 1 or not any(i in places for i in of.parameters)
        return X, (p[0] if fixed else p)

    @property
    def quaternions(self) -> list[list[int]]:
        """The places of the components of each quaternion in the state."""
        frames = (F.rotation for F in self.kin.system.space.frames)
        return [[self.kin.q.index(e) for e in r.e] for r in frames if isinstance(r, Quaternion)]

    def error(self, x: Numbers, x0: Numbers) -> Numbers:
        """x − x₀; of a quaternion e (e₀·e) − e₀, the same for e and −e, and to first order half the
        turn.
        """
        results = np.array(x - x0)
        for places in self.quaternions:
            e, e0 = x[..., places], x0[..., places]
            results[..., places] = e * np.sum(e * e0, axis=-1, keepdims=True) - e0
        return results

    def error_expressions(self, x0: Numbers) -> list[Scalar]:
        """The same as expressions of the system."""
        kin = self.kin
        named = [Scalar(kin.tape, i) for i in (*kin.q, *kin.x)]
        named += [Scalar(kin.tape, i) for i in kin.definitions]
        results = [x - float(v) for x, v in zip(named, x0, strict=True)]
        for places in self.quaternions:
            along = sum((float(x0[k]) * named[k] for k in places), Scalar(kin.tape, kin.tape.zero))
            for k in places:
                results[k] = named[k] * along - float(x0[k])
        return results

    def onto_constraints(self, x: Numbers, w: Numbers, t: float) -> Numbers:
        """The suggest_name state that satisfies the constraint equations, by a few
        Gauss–Newton steps.
        """
        for _ in range(4 if self._rows is not None else 0):
            r, G = self.rows(x[None], w[None], np.array([t]))
            if np.abs(r).max(initial=0.0) < 1e-14:
                break
            x = x - np.linalg.lstsq(G[0], r[0], rcond=_DEPENDENT)[0]
        return x


@dataclass(frozen=True)
class Outputs:
    """y = h(x, t) with its slopes."""

    model: StateModel
    of: Derivatives

    def __call__(self, x: Numbers, w: Numbers, t: float) -> tuple[Numbers, Numbers]:
        """y and ∂y/∂x at one state."""
        arguments = self.model._arguments  # noqa: SLF001 - its own
        X, p = arguments(self.of, x[None], w[None], np.array([t]))
        (part,) = self.of.parts
        return part.values(X, p)[0], part.jacobian(X, p)[0]


def _constraints(kin: Kinematics, state: list[Scalar]) -> Derivatives | None:
    """The constraint equations as functions of the state; None without any."""
    if not kin.velocity_rows and not any(row.phi is not None for row in kin.linear_rows):
        return None
    return derivatives_of(kin, "constraints", state)


def tangent_basis(G: Numbers, before: Numbers | None = None) -> Numbers:
    """N with G N = 0 and Nᵀ N = 1; as near as possible to the basis before it."""
    n = G.shape[1]
    if not len(G):
        return np.eye(n)
    _, sizes, V = np.linalg.svd(G / np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1e-300))
    rank = int(np.sum(sizes > _DEPENDENT * sizes.max(initial=0.0)))
    N = V[rank:].T
    reference = np.eye(n)[:, : N.shape[1]] if before is None else before
    left, _, right = np.linalg.svd(N.T @ _check_shape(reference, N))
    return np.asarray(N @ left @ right)


def _check_shape(reference: Numbers, N: Numbers) -> Numbers:
    if reference.shape == N.shape:
        return reference
    msg = (
        f"control: the number of independent states changes from {reference.shape[1]} to "
        f"{N.shape[1]}: the constraint rows are dependent in some state"
    )
    raise BadControl(msg)


def exponential(X: Numbers) -> Numbers:
    """exp X ≈ (120 − 60 X + 12 X² − X³)⁻¹ (120 + 60 X + 12 X² + X³), of one matrix or many.

    The error is X⁷/100 800; eigenvalues with a negative real part stay inside the unit circle.
    """
    square = X @ X
    even, odd = 120 * np.eye(X.shape[-1]) + 12 * square, (60 * np.eye(X.shape[-1]) + square) @ X
    return np.asarray(np.linalg.solve(even - odd, even + odd))


def drive_names(kin: Kinematics, drives: Sequence[Any] | None) -> tuple[str, ...]:
    """The inputs that a controller sets; by default all that are free."""
    system = kin.system
    if drives is None:
        names = tuple(
            s.name for s in system.symbols.values() if s.kind == "input" and s.value is None
        )
    else:
        given = [drives] if isinstance(drives, str | Scalar) else list(drives)
        names = tuple(symbol_name(system, d, ("input",)) for d in given)
    if not names and drives is None:
        msg = f"control: {system.name!r} has no input to be set; declare one with s.input('F')"
        raise BadControl(msg)
    return names


def weights(what: str, given: Any, names: Sequence[str]) -> Numbers:
    """A diagonal from {name: weight} (1 where not named), a number, a row of numbers, or a whole
    matrix.
    """
    n = len(names)
    if given is None:
        return np.eye(n)
    if isinstance(given, Mapping):
        W = np.eye(n)
        for key, value in given.items():
            name = str(key.name if isinstance(key, Scalar) else key).replace("'", ".dot")
            if name not in names:
                msg = f"{what}: {name!r} is none of {', '.join(names)}"
                raise Unknown(msg)
            W[names.index(name), names.index(name)] = float(value)
    else:
        W = np.asarray(given, dtype=float)
        W = W * np.eye(n) if W.ndim == 0 else np.diag(W) if W.ndim == 1 else W
    if W.shape != (n, n) or not np.allclose(W, W.T) or not np.isfinite(W).all():
        msg = (
            f"{what}: give {{name: weight}}, {n} numbers, or a symmetric {n} × {n} matrix for "
            f"{', '.join(names)}"
        )
        raise BadControl(msg)
    return W
