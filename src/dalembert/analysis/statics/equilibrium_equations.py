"""F(y) = 0: the balance of a system as equations in its unknown coordinates, first-order states and
speeds.

ẋ = 0 of every first-order state, u̇ = 0 in every equation of motion and φ(q, t) = 0 in every
holonomic row. Speeds that are neither given nor guessed are those of rest; the others stay as they
are, which makes the same equations those of steady motion.

A root is found by the steps that assemble positions, y ← y − J⁺ F, each row scaled by its slope.
What F does not determine (an ignorable coordinate) stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.statics.static_state import refuse_nonlinear_rows, speeds_at_rest
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.generalized_forces import generalized_active_forces
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.states.assembly import gauss_newton
from dalembert.runtime.states.evaluator import Evaluator, Key, Level, label
from dalembert.runtime.states.initial_values import InitialCondition, read_conditions
from dalembert.runtime.states.magnitude_bounds import magnitude_bounds, sums_of_terms
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, symbols_of
from dalembert.symbolic.algebra.tape import Tape

# rates of rows below this are zero
_REST_TOLERANCE: Final = 1e-12
# what coordinates that were typed may be wrong by, as a part of themselves
_ROUNDING: Final = 1e-13
# beyond this an angle tells too little of its sine, and below it rounding hides nothing
_MAX_RESOLVED_ANGLE: Final = 1e6


# random points at which a slope that vanishes is taken to vanish everywhere
_TRIALS: Final = 3


class NoEquilibrium(DalembertError):
    """No equilibrium was found, with the residual that remains."""


class EquilibriumEquations:
    """The equations, which symbols are unknown in them, and where a search begins."""

    def __init__(
        self, chosen: RunValues, given: Mapping[Key, Any], guess: Mapping[Key, Any], t: float
    ) -> None:
        self.chosen, self.given, self.guess, self.t = chosen, given, guess, t
        self.evaluator = evaluator = Evaluator(
            chosen.kin, chosen.symbol_values_at(t), chosen.bindings
        )
        self.kin, self.tape = evaluator.kin, evaluator.tape
        given_conditions, guess_conditions = (
            read_conditions(evaluator, given, t, "given"),
            read_conditions(evaluator, guess, t, "guess"),
        )
        known = {c.symbol: c.value for c in given_conditions if c.symbol in self.kin.state}
        self.nonzero_speeds = self._named_speeds([*given_conditions, *guess_conditions])
        self.unknown = [
            i
            for i in (
                *self.kin.q,
                *self.kin.x,
                *(u for u in self.kin.u if u in self.nonzero_speeds),
            )
            if i not in known
        ]
        self.state: dict[int, float] = (
            {i: float(x) for i, x in evaluator.numbers.items()}
            | {evaluator.time: t}
            | self._no_rotation()
        )
        self.state |= {
            x: float(self.kin.system.symbols[self.kin.name(x)].value or 0) for x in self.kin.x
        }
        self.state |= dict.fromkeys(self.nonzero_speeds, 0.0) | dict.fromkeys(self.kin.udot, 0.0)
        self.state |= {i: x for i, x in known.items() if i is not None}
        for c in guess_conditions:
            if c.symbol is not None:
                self._apply_guess(c)
        self._assemble_equations([c for c in given_conditions if c.symbol not in known])

    def _named_speeds(self, named: Sequence[InitialCondition]) -> list[int]:
        """The speeds that what is named contains."""
        nodes = [c.node for c in named if c.level is Level.VELOCITY]
        inside = set(symbols_of(self.tape, nodes))
        return [u for u in self.kin.u if u in inside]

    def _no_rotation(self) -> dict[int, float]:
        """q = 0, and e = (1, 0, 0, 0) for every quaternion."""
        whole = [
            F.rotation.e[0]
            for F in self.kin.system.space.frames
            if isinstance(F.rotation, Quaternion)
        ]
        return dict.fromkeys(self.kin.q, 0.0) | {e: 1.0 for e in whole if e in self.kin.q}

    def _apply_guess(self, c: InitialCondition) -> None:
        """A guess of a rate sets the speeds that it consists of, in proportion."""
        if c.symbol in self.state and c.symbol is not None and c.level is Level.POSITION:
            self.state[c.symbol] = c.value
            return
        (value,), slopes = jacobian(self.tape, [c.node], self.nonzero_speeds, self.state)
        slope = slopes[0, 0]
        if np.isfinite(slope).all() and slope.any():
            for u, k in zip(
                self.nonzero_speeds, slope * (c.value - value[0]) / (slope @ slope), strict=True
            ):
                self.state[u] += float(k)

    def _assemble_equations(self, asked: Sequence[InitialCondition]) -> None:
        """M u̇ − f at u̇ = 0, φ, and what was asked for; resting speeds are written u = ψ(q, t),
        u̇ = ∂ψ/∂t.
        """
        evaluator, kin, tape = self.evaluator, self.kin, self.tape
        refuse_nonlinear_rows(kin)
        tape_of, residuals = _residuals(self.chosen.kin)
        still = Substitution(tape, dict.fromkeys(kin.qdot, tape.zero))
        steady = [a for u, a in zip(kin.u, kin.udot, strict=True) if u in self.nonzero_speeds]
        rest = {
            i: evaluator.in_state(e)
            for i, e in speeds_at_rest(kin).items()
            if i not in (*self.nonzero_speeds, *steady)
        }
        self.insert_rest_speeds = Substitution(tape, rest | dict.fromkeys(steady, tape.zero))
        self.r = [
            self.insert_rest_speeds(evaluator.in_state(i))
            for i in copy_expressions(tape_of, tape, residuals)
        ]
        self.phi = [evaluator.in_state(phi) for phi in position_residuals(tape, kin.rows)]
        targets = [tape.sub(c.node, tape.const(Fraction(c.value))) for c in asked]
        rates = [self.insert_rest_speeds(evaluator.in_state(i)) for i in kin.xdot]
        self.nodes = [*self.r, *self.phi, *rates, *(self.insert_rest_speeds(i) for i in targets)]
        self._terms = sums_of_terms(tape, self.nodes)
        self._bounds = magnitude_bounds(tape, self.nodes)
        self._b = [self.insert_rest_speeds(evaluator.in_state(still(row.b))) for row in kin.rows]

    @property
    def zero_inputs(self) -> list[int]:
        """Inputs that are zero."""
        symbols = self.kin.system.symbols.values()
        return [
            s.scalar.i
            for s in symbols
            if s.kind == "input" and self.evaluator.numbers.get(s.scalar.i) == 0.0
        ]

    # ---- numbers -----------------------------------------------------------------------------

    def initial_guess(self) -> FloatArray:
        """Where a search begins."""
        return np.array([self.state[i] for i in self.unknown])

    def at(self, y: FloatArray, extra: Mapping[int, float] | None = None) -> dict[int, float]:
        """Every symbol as a number, the unknowns being y."""
        return {**self.state, **dict(zip(self.unknown, y.tolist(), strict=True)), **(extra or {})}

    def residual_and_jacobian(
        self,
        y: FloatArray,
        extra_variables: Sequence[int] = (),
        extra: Mapping[int, float] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """F and ∂F/∂(y, beside)."""
        values, slopes = jacobian(
            self.tape, self.nodes, (*self.unknown, *extra_variables), self.at(y, extra)
        )
        return values[0], slopes[0]

    def undetermined(self) -> BoolArray:
        """Which unknowns no equation depends on: their slopes vanish at random points."""
        draw, begin = np.random.default_rng(1), self.initial_guess()
        if not begin.size:
            return np.zeros(0, dtype=bool)
        points = [begin + draw.uniform(-1.0, 1.0, begin.size) for _ in range(_TRIALS)]
        slopes = [np.nan_to_num(self.residual_and_jacobian(y)[1]) for y in points]
        return np.asarray(np.abs(slopes).max(axis=(0, 1), initial=0.0) == 0.0)

    def tolerance(self, y: FloatArray) -> FloatArray:
        """1e-9 of the terms of every row, and what rounding of the unknowns leaves of them."""
        values = jacobian(self.tape, [*self._terms, *self._bounds], (), self.at(y))
        terms, bounds = np.split(np.nan_to_num(np.abs(values[0][0]), nan=0.0, posinf=0.0), 2)
        return np.asarray(_TOLERANCE * terms + _ROUNDING * bounds)

    def is_satisfied_to_rounding(self, y: FloatArray) -> bool:
        """|F| ≤ ε Σ |∂F/∂q| max(1, |q|) with the given coordinates counted: π as a number is not
        π.
        """
        F, J = self.residual_and_jacobian(
            y, extra_variables=[q for q in self.kin.q if q not in self.unknown]
        )
        state = self.at(y)
        size = max(1.0, *(abs(state[q]) for q in self.kin.q)) if self.kin.q else 1.0
        return size < _MAX_RESOLVED_ANGLE and bool(
            (np.abs(F) <= _ROUNDING * size * np.abs(J).sum(axis=1)).all()
        )

    def check_rows_at_rest(self, y: FloatArray) -> None:
        """Refuse rows that do not let the coordinates rest: A q̇ + b = 0 with b ≠ 0."""
        b = jacobian(self.tape, self._b, (), self.at(y))[0][0]
        if self.nonzero_speeds or not np.abs(b).max(initial=0.0) > _REST_TOLERANCE:
            return
        k = int(np.argmax(np.abs(b)))
        row = self.kin.rows[k].name
        msg = (
            f"no equilibrium: {row!r} moves at the rate {b[k]:.6g}, so that the coordinates "
            f"cannot rest; hold its motion with inputs="
        )
        raise NoEquilibrium(msg)

    def state_at(
        self, y: FloatArray, extra: Mapping[int, float] | None = None
    ) -> tuple[dict[str, float], FloatArray, FloatArray]:
        """({name: value} of all coordinates, first-order states and speeds, q, u)"""
        nodes = [self.insert_rest_speeds(i) for i in self.kin.state]
        state = jacobian(self.tape, nodes, (), self.at(y, extra))[0][0] + 0.0
        names = [label(self.kin.name(i)) for i in self.kin.state]
        return (
            dict(zip(names, state.tolist(), strict=True)),
            state[: self.kin.n_q],
            state[self.kin.speed_offset :],
        )


def _residuals(kin: Kinematics) -> tuple[Tape, Sequence[int]]:
    """M u̇ − f; −F_r alone where there is no mass: the equilibrium of a massless linkage asks for
    no acceleration.

    Source: Mei85 (7.19).
    """
    if kin.system.bodies or kin.system.given_kinetic_energies:
        equations = cached_derivation(derive_equations_of_motion, kin).equations
        return equations.tape, equations.residuals
    own = kin.fork()
    return own.tape, [own.tape.neg(F) for F in generalized_active_forces(own)]


# ---- a root --------------------------------------------------------------------------------------

# the first step is no longer than this
_MAX_STEP: Final = 1.0
_MIN_STEP: Final = 4e-16
_TOLERANCE: Final = 1e-9


# F and ∂F/∂y
ResidualAndJacobian = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


class Root(NamedTuple):
    """Where the search ended, what remains there, and whether that is a root."""

    y: FloatArray
    residual: float
    converged: bool
    steps: int


def find_root(
    f: ResidualAndJacobian,
    y: FloatArray,
    tolerance: Callable[[FloatArray], FloatArray] | None = None,
) -> Root:
    """A root of F near y, in rows of slope one and unknowns of size one where the search begins.

    `f` gives F and J. `tolerance` gives the largest residual of every row at a point; without it
    the residual must vanish within a change of the unknowns by 1e-9.
    """
    F, J = f(y)
    if not (np.isfinite(F).all() and np.isfinite(J).all()):
        return Root(y, np.inf, converged=False, steps=0)
    unit = np.maximum(1.0, np.abs(y))
    slope = np.linalg.norm(J * unit, axis=1)
    scale = np.where(slope > 0, slope, 1.0)
    known = [(F, J)]

    def scaled_residual(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        F, J = known.pop() if known else f(z * unit)
        return F / scale, J * unit / scale[:, None]

    begin, steps = y, 0
    if y.size:
        whole = np.ones(len(F), dtype=bool), np.ones(len(y), dtype=bool)
        z, steps, F, J = gauss_newton(
            scaled_residual, y / unit, *whole, radius=_MAX_STEP, shortest=_MIN_STEP, unit=1.0
        )
        y, F, J = z * unit, F * scale, J / unit * scale[:, None]
    allowed = _allowed_residual(y, J, None if tolerance is None else begin)
    if tolerance is not None and y.size:
        allowed = np.maximum(allowed, tolerance(y))
    good = bool((np.abs(F) <= allowed).all())
    return Root(y, float(np.abs(F).max(initial=0.0)), good and _is_resolved(f, y, F, J), steps)


def _allowed_residual(y: FloatArray, J: FloatArray, begin: FloatArray | None) -> FloatArray:
    """1e-9 Σ_j |J_ij| size_j: how far an unknown moved tells its size where it ends at zero."""
    if not y.size:
        return np.zeros(len(J))
    if begin is None:
        return np.asarray(_TOLERANCE * np.abs(J).sum(axis=1))
    size = np.minimum(1.0, np.maximum(np.abs(y), np.abs(y - begin)))
    return np.asarray(_TOLERANCE * np.abs(J) @ size)


def _is_resolved(f: ResidualAndJacobian, y: FloatArray, F: FloatArray, J: FloatArray) -> bool:
    """F(y + δ) ≈ F + J δ over δ = a thousand roundings: an angle of 1e16 rad, whose neighbour is
    a turn away, tells nothing of its sine.
    """
    if np.abs(y).max(initial=0.0) < _MAX_RESOLVED_ANGLE:
        return True
    delta = 1024 * np.spacing(np.abs(y))
    change = f(y + delta)[0] - F
    return bool((np.abs(change - J @ delta) <= 0.1 * (np.abs(J) @ delta)).all())
