"""q̇ = W u + X, ẋ = g, M u̇ = f, φ(q, t) = 0, y = h: the equations of a system and their Jacobians
at given points.

u̇ is eliminated by numbers: with r = M u̇ − f and M u̇₀ = f, ∂u̇/∂x = −M⁻¹ ∂r/∂x at u̇₀. No matrix
is inverted symbolically. In augmented form, r = (M u̇ − f − Aᵀλ, A u̇ + γ) with the unknowns u̇ and
λ.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.integrals.identity_test import symbol_derivatives
from dalembert.analysis.linear.tree_jacobian import TreeJacobian, tree_jacobian
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.model.system import units_by_name
from dalembert.runtime.derivatives.sparse import sparse_jacobian
from dalembert.runtime.derivatives.tape_function import TapeFunction
from dalembert.runtime.dynamics.acceleration_derivatives import equations_of_motion
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
from dalembert.symbolic.algebra.tape import Tape

# slopes below this part of their row's largest may be rounding of an exact zero
_REAL: Final = np.dtype(np.float64)
_ROUNDOFF: Final = 1e-10
# condition numbers of a mass matrix that is singular, and of one that is clearly not
_SINGULAR: Final = 1e15
_REGULAR: Final = 1e10


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
    # ∂u̇/∂(q, u, w)
    udot_x: FloatArray
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
    """Values of expressions and their slopes as one native function of the symbols in `order`."""

    def __init__(
        self, tape: Tape, outs: Sequence[int], wrt: Sequence[int], order: Sequence[int]
    ) -> None:
        here = tape.fork()
        self._slopes, self._count = sparse_jacobian(here, outs, wrt), len(outs)
        symbols = symbols_of(here, outs)
        place = {i: k for k, i in enumerate(order)}
        self._columns = np.array([place[i] for i in symbols], np.intp)
        self._function = TapeFunction(here, (*outs, *self._slopes.nodes), symbols)
        self._places = np.array(self._slopes.rows, np.intp), np.array(self._slopes.columns, np.intp)

    def at(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """At the points in the rows of Z."""
        results = self._function.batch(Z[:, self._columns])
        slopes = np.zeros((len(Z), *self._slopes.shape))
        slopes[:, self._places[0], self._places[1]] = results[:, self._count :]
        return results[:, : self._count], slopes


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
        source, residuals, self._unknown = equations_of_motion(chosen.kin)
        self._source, self._bound = chosen.kin, bool(chosen.bindings)
        here = copy_expressions(source.tape, tape, residuals)
        self.r = [evaluator.in_state(i) for i in here]
        self.e = [evaluator.in_state(row.e) for row in kin.velocity_rows]
        # first-order states are appended to the coordinates, as rates that no row restrains
        self.q = (*kin.q, *kin.x)
        self.qdot = [evaluator.in_state(x) for x in (*kin.qdot, *kin.xdot)]
        self.phi = [evaluator.in_state(phi) for phi in position_residuals(tape, kin.rows)]
        self.h = [evaluator.in_state(evaluator.node(key)) for key in outputs]
        self.outputs = tuple(evaluator.display_name(key) for key in outputs)
        self.w = (*self._input_variables(chosen.bindings), *extra_inputs)
        self.n_q, self.n_u, self.n_w = len(self.q), kin.n_u, len(self.w)
        # all of q, u, w
        self.n_x = self.n_q + self.n_u + self.n_w
        state = {*self.q, *kin.u, *kin.udot, *kin.multipliers, evaluator.time}
        self.parameters = tuple(
            i
            for i in symbols_of(tape, (*self.r, *self.qdot, *self.phi, *self.h, *self.e))
            if i not in state
        )
        self.cached_results: dict[Any, dict[Hashable, Any]] = {}
        self._zero_derivatives: dict[tuple[int, int], bool] = {}
        self._native: dict[tuple[int, ...], _NativeJacobian] = {}

    def _input_variables(self, bindings: Mapping[int, int]) -> list[int]:
        """Inputs, and a, ȧ and ä of prescribed motions where they act."""
        tape, symbols = self.evaluator.tape, self.evaluator.kin.system.symbols.values()
        inputs = [s.scalar.i for s in symbols if s.kind == "input"]
        free = [i for i in inputs if i not in bindings]
        acting = set(symbols_of(tape, (*self.r, *self.qdot, *self.phi, *self.h)))
        jets = [
            x
            for s in symbols
            if s.kind in ("input", "specified")
            for x in symbol_derivatives(tape, s.scalar.i)
        ]
        known = {*free, *self.q, *bindings}
        return [*free, *(x for x in dict.fromkeys(jets) if x in acting and x not in known)]

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
        Z = self._symbol_columns(q, u, t, numbers)
        M, values, slopes = self._with_accelerations(Z)
        self._check_finite(values, slopes)
        if zero_roundoff:
            self._zero_roundoff(slopes)
        n_u, n_x, n_r = self.n_u, self.n_x, len(self.r)
        r_x = slopes[:, :n_r, :n_x]
        # M was found regular when the accelerations were solved for
        udot_x = np.asarray(-np.linalg.solve(M, r_x)) if n_r else r_x
        if self.e:
            # λ eliminated: 1 u̇ = u̇(q, u, w)
            udot_x, M = udot_x[:, :n_u], np.broadcast_to(np.eye(n_u), (len(q), n_u, n_u))
            r_x = -udot_x
        n_phi, n_y = self.n_q + len(self.phi), self.n_q + len(self.phi) + len(self.h)
        others, first = slopes[:, n_r:], self.n_q + n_u
        return JacobianValues(
            values[:, : self.n_q],
            Z[:, first : first + n_u],
            values[:, self.n_q : n_phi],
            values[:, n_phi:n_y],
            others[:, : self.n_q, :n_x],
            M,
            r_x,
            udot_x,
            others[:, self.n_q : n_phi, :n_x],
            others[:, n_phi:n_y, :n_x],
            others[:, n_phi:n_y, n_x : n_x + n_u],
            others[:, n_y:, :n_x],
        )

    def _with_accelerations(self, Z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M, the values of q̇, φ, y, e and the slopes of r, q̇, φ, y, e; u̇ and λ are written
        into Z.
        """
        wrt, n_r, first = self._variables, len(self.r), self.n_q + self.n_u
        if Z.dtype.kind != "c" and self._tree is not None:
            udot, M, values, slopes = self._tree.at(Z)
            check_mass_matrix(M)
            Z[:, first : first + n_r] = udot
            if not self.h:
                return M, values, slopes
            y, y_x = self._jacobian(self.h, wrt, Z)
            # columns by u̇ are those of outputs
            by_udot = np.zeros((*slopes.shape[:2], len(wrt) - self.n_x))
            rows = np.concatenate([slopes, by_udot], axis=2), y_x
            return M, np.concatenate([values, y], axis=1), np.concatenate(rows, axis=1)
        minus_f, M = self._jacobian(self.r, self._unknown, Z)
        check_mass_matrix(M)
        if n_r:
            Z[:, first : first + n_r] = np.linalg.solve(M, -minus_f[:, :, None])[:, :, 0]
        values, slopes = self._jacobian(self._outs, wrt, Z)
        return M, values[:, n_r:], slopes

    @cached_property
    def _outs(self) -> tuple[int, ...]:
        return *self.r, *self.qdot, *self.phi, *self.h, *self.e

    @cached_property
    def _variables(self) -> tuple[int, ...]:
        """q, u, w, and u̇ where outputs need their slopes by it."""
        return *self.q, *self.evaluator.kin.u, *self.w, *(self._unknown if self.h else ())

    @cached_property
    def _tree(self) -> TreeJacobian | None:
        if self._bound or self.e:
            return None
        wrt, others = self._variables[: self.n_x], (*self.qdot, *self.phi)
        return tree_jacobian(self._source, wrt, self._order, self.evaluator.tape, others)

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """The symbols of the columns of Z."""
        evaluator = self.evaluator
        return *self.q, *evaluator.kin.u, *self._unknown, evaluator.time, *self.parameters

    def _symbol_columns(
        self,
        q: FloatArray,
        u: FloatArray,
        t: FloatArray | float,
        numbers: Mapping[int, FloatArray | float],
    ) -> FloatArray:
        """The values of all symbols, a row for each point; u̇ and λ are zero."""
        kinds = (q, u, *(numbers[i] for i in self.parameters))
        is_complex = any(
            isinstance(x, complex) or getattr(x, "dtype", _REAL).kind == "c" for x in kinds
        )
        Z: FloatArray = np.zeros((len(q), len(self._order)), np.complex128 if is_complex else float)
        n_q, n_u, first = self.n_q, self.n_u, len(self._order) - len(self.parameters)
        Z[:, :n_q], Z[:, n_q : n_q + n_u], Z[:, first - 1] = q, u, t
        for k, i in enumerate(self.parameters):
            Z[:, first + k] = numbers[i]
        return Z

    def _jacobian(
        self, outs: Sequence[int], wrt: tuple[int, ...], Z: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Values and slopes at K points, natively; by dual numbers where the state is complex."""
        if Z.dtype.kind == "c":
            state = dict(zip(self._order, Z.T, strict=True))
            return jacobian(self.evaluator.tape, outs, wrt, state, len(Z), np.complex128)
        key = (len(outs), *wrt)
        if key not in self._native:
            self._native[key] = _NativeJacobian(self.evaluator.tape, outs, wrt, self._order)
        return self._native[key].at(Z)

    def _zero_roundoff(self, slopes: FloatArray) -> None:
        """Slopes that vanish as functions become exactly zero; whether they do is decided in a
        prime field.
        """
        tape, size = self.evaluator.tape, np.abs(slopes[:, :, : self.n_q]).max(axis=0)
        largest = size.max(axis=1, initial=0.0)[:, None]
        suspect = (size > 0.0) & (size <= _ROUNDOFF * largest)
        if not suspect.any():
            return
        pairs = [(self._outs[k], self.q[j]) for k, j in np.argwhere(suspect).tolist()]
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
    own = (
        tuple(
            (i, kin.tape.nodes[i])
            for i in dependencies(kin.tape, extra_nodes)
            if i >= kin.base_tape_length
        )
        if extra_nodes
        else ()
    )
    key = (chosen.binding_key, own, tuple(map(str, outputs)), tuple(extra_nodes))
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


@cache
def _probe(n: int) -> FloatArray:
    """Two vectors, which hardly ever lie across the direction that M nearly maps to zero."""
    angles = np.arange(1.0, n + 1)
    return np.array([np.cos(angles), np.sin(angles)]).T.copy()


def check_mass_matrix(M: FloatArray) -> None:
    """Refuse a point where M is singular."""
    if (n := M.shape[-1]) == 0:
        return
    try:
        inverse = np.linalg.solve(M, _probe(n))
        largest, largest_inverse = (float(np.abs(A).max(initial=0.0)) for A in (M, inverse))
        condition = n**2 * largest * largest_inverse
        if not condition <= _REGULAR:
            condition = float(np.linalg.cond(M).max()) if np.isfinite(M).all() else math.inf
    except np.linalg.LinAlgError:
        condition = math.inf
    if not condition <= _SINGULAR:
        msg = (
            f"linearize: the mass matrix is singular at this point (condition {condition:.2g}): "
            f"choose another point or declare other speeds"
        )
        raise BadLinearPoint(msg)
