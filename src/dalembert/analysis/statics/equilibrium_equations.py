"""F(y) = 0: the balance of a system as equations in its unknown coordinates, first-order states and
speeds.

ẋ = 0 of every first-order state, u̇ = 0 in every equation of motion and φ(q, t) = 0 in every
holonomic row. Speeds that are neither given nor guessed are those of rest; the others stay as they
are, which makes the same equations those of steady motion.

A root is found by the steps that assemble positions, y ← y − J⁺ F, each row scaled by its slope.
What F does not determine (an ignorable coordinate) stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dalembert.analysis.statics.root_finding import TOLERANCE
from dalembert.analysis.statics.static_state import refuse_nonlinear_rows, speeds_at_rest
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.generalized_forces import generalized_active_forces
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.numerics.symbol_values import (
    BadValue,
    finite_number,
    require_mapping,
    strip_unit,
)
from dalembert.runtime.states.evaluator import Evaluator, Key, Level, label
from dalembert.runtime.states.initial_values import InitialCondition, read_conditions
from dalembert.runtime.states.magnitude_bounds import magnitude_bounds, sums_of_terms
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, symbols_of
from dalembert.symbolic.algebra.tape import Tape

# rates of rows below this are zero
_REST_TOLERANCE: Final = 1e-12
# relative rounding of typed coordinates
_ROUNDING: Final = 1e-13
# beyond this the rounding of an angle changes its sine, below it rounding is harmless
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
        self.free_inputs, guess = self._split_inputs(guess)
        given_conditions = read_conditions(evaluator, given, t, "given")
        guess_conditions = read_conditions(evaluator, guess, t, "guess")
        known = {c.symbol: c.value for c in given_conditions if c.symbol in self.kin.state}
        self.nonzero_speeds = self._named_speeds([*given_conditions, *guess_conditions])
        speeds = [u for u in self.kin.u if u in self.nonzero_speeds]
        self.unknown = [i for i in (*self.kin.q, *self.kin.x, *speeds) if i not in known]
        self.unknown += self.free_inputs
        self.state = self._first_state()
        self.state |= {i: x for i, x in known.items() if i is not None} | self.free_inputs
        for c in guess_conditions:
            if c.symbol is not None:
                self._apply_guess(c)
        self._assemble_equations([c for c in given_conditions if c.symbol not in known])

    def _first_state(self) -> dict[int, float]:
        """Constants and time, states as declared, bodies that are not rotated, at rest."""
        state = {i: float(x) for i, x in self.evaluator.numbers.items()}
        state |= {self.evaluator.time: self.t} | self._no_rotation()
        declared = zip(self.kin.x, self.kin.declared_x, strict=True)
        state |= {x: float(value or 0) for x, value in declared}
        return state | dict.fromkeys(self.nonzero_speeds, 0.0) | dict.fromkeys(self.kin.udot, 0.0)

    def _split_inputs(self, guess: Mapping[Key, Any]) -> tuple[dict[int, float], dict[Key, Any]]:
        """{symbol: first value} of the inputs that are guessed, which are unknowns, and the rest
        of the guess.
        """
        symbols = self.kin.system.symbols
        free: dict[int, float] = {}
        rest: dict[Key, Any] = {}
        for key, value in require_mapping("guess", guess).items():
            name = str(getattr(key, "name", None) or key)
            if name not in symbols or symbols[name].kind != "input":
                rest[key] = value
                continue
            i = symbols[name].scalar.i
            if i in self.chosen.bindings:
                msg = f"{name} is given in inputs and guessed; an input to be solved for is guessed"
                raise BadValue(msg)
            free[i] = finite_number(name, strip_unit(self.kin.system, name, value))
        return free, rest

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
        """M u̇ − f at u̇ = 0, φ, and the requested values; resting speeds are written u = ψ(q, t),
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
            if s.kind == "input"
            and s.scalar.i not in self.free_inputs
            and self.evaluator.numbers.get(s.scalar.i) == 0.0
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
        """F and ∂F/∂(y, extra)."""
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
        # slopes that are rounding of the terms of their row are zero
        slopes = [
            np.nan_to_num(
                np.abs(self.residual_and_jacobian(y)[1]) > _ROUNDING * self.row_sizes(y)[:, None]
            )
            for y in points
        ]
        return np.asarray(~np.any(slopes, axis=(0, 1)))

    def row_sizes(self, y: FloatArray) -> FloatArray:
        """Σ |term| of every row."""
        terms = jacobian(self.tape, self._terms, (), self.at(y))[0][0]
        return np.asarray(np.nan_to_num(np.abs(terms), nan=0.0, posinf=0.0))

    def tolerance(self, y: FloatArray) -> FloatArray:
        """1e-9 of the terms of every row, and what rounding of the unknowns leaves of them."""
        values = jacobian(self.tape, [*self._terms, *self._bounds], (), self.at(y))
        terms, bounds = np.split(np.nan_to_num(np.abs(values[0][0]), nan=0.0, posinf=0.0), 2)
        return np.asarray(TOLERANCE * terms + _ROUNDING * bounds)

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
        solved = dict(zip(self.unknown, y.tolist(), strict=True))
        inputs = {label(self.kin.name(i)): solved[i] for i in self.free_inputs}
        return (
            dict(zip(names, state.tolist(), strict=True)) | inputs,
            state[self.kin.layout.q],
            state[self.kin.layout.u],
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
