"""q̇ = W u + X, ẋ = g, M u̇ = f, φ(q, t) = 0, y = h: the equations of a system and their Jacobians
at given points.

u̇ is eliminated by numbers: with r = M u̇ − f and M u̇₀ = f, ∂u̇/∂x = −M⁻¹ ∂r/∂x at u̇₀. No matrix
is inverted symbolically. In augmented form, r = (M u̇ − f − Aᵀλ, A u̇ + γ) with the unknowns u̇ and
λ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.integrals.identity_test import symbol_derivatives
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.model.system import units_by_name
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.derivatives.sparse import sparse_jacobian
from dalembert.runtime.derivatives.tape_function import TapeFunction
from dalembert.runtime.states.evaluator import Evaluator, Key, label
from dalembert.runtime.states.run_values import RunValues, parameter_vector
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    copy_expressions,
    dependencies,
    symbols_of,
)
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix
from dalembert.symbolic.algebra.tape import Tape

# slopes below this part of their row's largest may be rounding of an exact zero
_REAL: Final = np.dtype(np.float64)
_ROUNDOFF: Final = 1e-10


class BadLinearPoint(DalembertError):
    """A point about which a system cannot be linearized, with the numbers that say why."""


class JacobianValues(NamedTuple):
    """What the equations are at K points, and their slopes; the first index counts the points."""

    qdot: FloatArray
    udot: FloatArray
    phi: FloatArray
    y: FloatArray
    # ∂q̇/∂(q, u, w)
    qdot_x: FloatArray
    # M, and ∂r/∂(q, u, w) at u̇₀
    M: FloatArray
    r_x: FloatArray
    # ∂φ/∂(q, u, w)
    phi_x: FloatArray
    # ∂h/∂(q, u, w) and ∂h/∂u̇
    y_x: FloatArray
    y_udot: FloatArray
    # ∂e/∂(q, u, w) of the rows kept in augmented form
    e_x: FloatArray

    @property
    def phi_q(self) -> FloatArray:
        """∂φ/∂q"""
        return self.phi_x[:, :, : self.qdot.shape[1]]


class _NativeJacobian:
    """Values of expressions and their slopes as one native function of all their symbols."""

    def __init__(self, tape: Tape, outs: Sequence[int], wrt: Sequence[int]) -> None:
        here = tape.fork()
        self._slopes, self._count = sparse_jacobian(here, outs, wrt), len(outs)
        self._symbols = symbols_of(here, outs)
        self._function = TapeFunction(here, (*outs, *self._slopes.nodes), self._symbols)
        self._places = list(self._slopes.rows), list(self._slopes.columns)

    def at(self, state: Mapping[int, Any], K: int) -> tuple[FloatArray, FloatArray]:
        """At K points; each symbol has one value, or one for each point."""
        X = np.empty((K, len(self._symbols)))
        for k, i in enumerate(self._symbols):
            X[:, k] = state[i]
        results = self._function.batch(X)
        slopes = np.zeros((K, *self._slopes.shape))
        slopes[:, self._places[0], self._places[1]] = results[:, self._count :]
        return np.array(results[:, : self._count]), slopes


class EquationJacobians:
    """The equations of a system as set, in q, u, u̇, t and inputs w, ready to be evaluated with
    their slopes.
    """

    def __init__(
        self,
        chosen: RunValues,
        numbers: Mapping[int, float],
        outputs: Sequence[Key] = (),
        extra_inputs: Sequence[int] = (),
    ) -> None:
        self.evaluator = evaluator = Evaluator(chosen.kin, numbers, chosen.bindings)
        kin, tape = evaluator.kin, evaluator.tape
        equations = cached_derivation(derive_equations_of_motion, chosen.kin).equations
        r = Column(tape, copy_expressions(equations.tape, tape, equations.residuals)).map(
            evaluator.in_state
        )
        A = SparseMatrix(tape, (row.A for row in kin.velocity_rows), len(r)).map(evaluator.in_state)
        self.e = [evaluator.in_state(row.e) for row in kin.velocity_rows]
        self.r = list(r - A.T @ Column(tape, kin.multipliers))
        self.r += [evaluator.in_state(kin.rate(row.e)) for row in kin.velocity_rows]
        # first-order states are appended to the coordinates, as rates that no row restrains
        self.q = (*kin.q, *kin.x)
        self.qdot = [evaluator.in_state(x) for x in (*kin.qdot, *kin.xdot)]
        self.phi = [evaluator.in_state(phi) for phi in position_residuals(tape, kin.rows)]
        self.h = [evaluator.in_state(evaluator.node(key)) for key in outputs]
        self.outputs = tuple(evaluator.display_name(key) for key in outputs)
        free = [
            s.scalar.i
            for s in kin.system.symbols.values()
            if s.kind == "input" and s.scalar.i not in chosen.bindings
        ]
        # inputs, a, ȧ and ä of prescribed motions where they act, then constants whose influence is
        # wanted
        acting = set(symbols_of(tape, (*self.r, *self.qdot, *self.phi, *self.h)))
        jets = [
            x
            for s in kin.system.symbols.values()
            if s.kind == "specified"
            for x in symbol_derivatives(tape, s.scalar.i)
        ]
        self.w = (
            *free,
            *(x for x in jets if x in acting and x not in chosen.bindings),
            *extra_inputs,
        )
        self.n_q, self.n_u, self.n_w = len(self.q), kin.n_u, len(self.w)
        # all of q, u, w
        self.n_x = self.n_q + self.n_u + self.n_w
        state = {*self.q, *kin.u, *kin.udot, *kin.multipliers, evaluator.time}
        self.parameters = tuple(
            i
            for i in symbols_of(tape, (*self.r, *self.qdot, *self.phi, *self.h, *self.e))
            if i not in state
        )
        self._zero_derivatives: dict[tuple[int, int], bool] = {}
        self._native: dict[tuple[int, ...], _NativeJacobian] = {}

    def names(self, nodes: Sequence[int]) -> tuple[str, ...]:
        """Symbols as they are written in a program."""
        return tuple(label(self.evaluator.kin.name(i)) for i in nodes)

    @cached_property
    def point_names(self) -> tuple[str, ...]:
        """Those of q, with the first-order states behind it, and u."""
        return self.names((*self.q, *self.evaluator.kin.u))

    @cached_property
    def point_units(self) -> Mapping[str, str]:
        """Their units, where the dimension is known."""
        return units_by_name(self.evaluator.kin.system, self.point_names)

    def at(
        self,
        q: FloatArray,
        u: FloatArray,
        t: FloatArray | float,
        numbers: Mapping[int, FloatArray | float],
        *,
        zero_roundoff: bool = True,
    ) -> JacobianValues:
        """Everything at the points in the rows of q, with the first-order states behind it, and u.

        `numbers` gives constants and inputs, one or one for each point. Slopes that are rounding
        alone are made zero unless `clean` is False.
        """
        kin, n_u, n_x, K = self.evaluator.kin, self.n_u, self.n_x, len(q)
        unknown = (*kin.udot, *kin.multipliers)
        state: dict[int, FloatArray | float] = {**numbers, self.evaluator.time: t}
        state |= dict(zip((*self.q, *kin.u), (*q.T, *u.T), strict=True))
        state |= dict.fromkeys(unknown, 0.0)
        minus_f, M = self._jacobian(self.r, unknown, state, K)
        unknowns = solve_mass_matrix(M, -minus_f[:, :, None])[:, :, 0]
        udot = unknowns[:, :n_u]
        state |= dict(zip(unknown, unknowns.T, strict=True))
        outs = [*self.r, *self.qdot, *self.phi, *self.h, *self.e]
        wrt = (*self.q, *kin.u, *self.w, *unknown)
        values, slopes = self._jacobian(outs, wrt, state, K)
        self._check_finite(values, slopes)
        if zero_roundoff:
            self._zero_roundoff(slopes, outs, wrt)
        ends = np.cumsum([len(self.r), self.n_q, len(self.phi), len(self.h)])
        _, qdot, phi, y, _ = np.split(values, ends, axis=1)
        r_x, qdot_x, phi_x, y_x, e_x = np.split(slopes, ends, axis=1)
        x = slice(0, n_x)
        y_udot = y_x[:, :, n_x : n_x + n_u]
        r_x = r_x[:, :, x]
        if self.e:
            # λ eliminated: 1 u̇ = u̇(q, u, w)
            r_x, M = solve_mass_matrix(M, r_x)[:, :n_u], np.broadcast_to(np.eye(n_u), (K, n_u, n_u))
        return JacobianValues(
            qdot,
            udot,
            phi,
            y,
            qdot_x[:, :, x],
            M,
            r_x,
            phi_x[:, :, x],
            y_x[:, :, x],
            y_udot,
            e_x[:, :, x],
        )

    def _jacobian(
        self, outs: Sequence[int], wrt: tuple[int, ...], state: Mapping[int, Any], K: int
    ) -> tuple[FloatArray, FloatArray]:
        """Values and slopes at K points, natively; by dual numbers where the state is complex."""
        if any(getattr(x, "dtype", _REAL).kind == "c" for x in state.values()):
            return jacobian(self.evaluator.tape, outs, wrt, state, K, np.complex128)
        if wrt not in self._native:
            self._native[wrt] = _NativeJacobian(self.evaluator.tape, outs, wrt)
        return self._native[wrt].at(state, K)

    def _zero_roundoff(self, slopes: FloatArray, outs: Sequence[int], wrt: Sequence[int]) -> None:
        """Slopes that vanish as functions become exactly zero; whether they do is decided in a
        prime field.
        """
        tape, size = self.evaluator.tape, np.abs(slopes[:, :, : self.n_q]).max(axis=0)
        largest = size.max(axis=1, initial=0.0)[:, None]
        suspect = (size > 0.0) & (size <= _ROUNDOFF * largest)
        pairs = [(outs[k], wrt[j]) for k, j in np.argwhere(suspect).tolist()]
        unknown = [pair for pair in dict.fromkeys(pairs) if pair not in self._zero_derivatives]
        along = {
            x: Derivative(tape, lambda y, x=x: tape.one if y == x else None)  # type: ignore[misc]
            for _, x in unknown
        }
        # all at once: they have most of their nodes in common
        zero = provably_zero(tape, [along[x](e) for e, x in unknown]) if unknown else []
        self._zero_derivatives |= dict(zip(unknown, zero, strict=True))
        for (e, x), (k, j) in zip(pairs, np.argwhere(suspect).tolist(), strict=True):
            if self._zero_derivatives[e, x]:
                slopes[:, k, j] = 0.0

    def _check_finite(self, values: FloatArray, slopes: FloatArray) -> None:
        if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
            why = (
                "the equations have no finite slope at this point (division by zero, or a root "
                "of zero)"
            )
            msg = f"linearize: {why}: choose another point or declare other speeds"
            raise BadLinearPoint(msg)


_JACOBIAN_CACHE: Final = PerOwnerCache[EquationJacobians]()


def cached_jacobians(
    chosen: RunValues, t: float, outputs: Sequence[Key] = (), extra_nodes: Sequence[int] = ()
) -> EquationJacobians:
    """The equations of a setting; what was made for the same description, bindings and outputs
    is used again.
    """
    kin = chosen.kin
    # beyond the mark an index means something else on every fork, so the nodes themselves are part
    # of the key
    own = tuple(
        (i, kin.tape.nodes[i])
        for i in dependencies(kin.tape, (*chosen.bindings.values(), *extra_nodes))
        if i >= kin.base_tape_length
    )
    key = (tuple(chosen.bindings.items()), own, tuple(map(str, outputs)), tuple(extra_nodes))
    field = _JACOBIAN_CACHE(
        kin,
        key,
        lambda: EquationJacobians(chosen, chosen.symbol_values_at(t), outputs, extra_nodes),
    )
    # a value that is missing is named here
    parameter_vector(chosen, tuple(i for i in field.parameters if i not in kin.sampled_inputs))
    return field


def run_values(what: str, run: object) -> RunValues:
    """The numbers and bindings of a run."""
    from dalembert.runtime.simulation.trajectory import Trajectory

    if not isinstance(run, Trajectory):
        msg = f"{what}: give a run, as da.simulate returns it, not {type(run).__name__}"
        raise BadLinearPoint(msg)
    if run.contact_modes is not None:
        msg = (
            f"{what}: the contacts of this run change their modes, and a linear model holds in "
            f"one of them; none is chosen here"
        )
        raise BadLinearPoint(msg)
    return run.values


def solve_mass_matrix(M: FloatArray, b: FloatArray) -> FloatArray:
    """M⁻¹ b for each point, or an error that says that M is singular."""
    if M.shape[-1] == 0:
        return b
    condition = np.linalg.cond(M) if np.isfinite(M).all() else np.array([np.inf])
    if not np.isfinite(condition).all() or np.max(condition) > 1e15:
        worst = float(np.max(condition))
        msg = (
            f"linearize: the mass matrix is singular at this point (condition {worst:.2g}): "
            f"choose another point or declare other speeds"
        )
        raise BadLinearPoint(msg)
    return np.asarray(np.linalg.solve(M, b))
