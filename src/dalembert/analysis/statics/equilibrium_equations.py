"""F(y) = 0: the balance of a system as equations in its unknown coordinates, first-order states and speeds.

ẋ = 0 of every first-order state, u̇ = 0 in every equation of motion and φ(q, t) = 0 in every holonomic row. Speeds that
are neither given nor guessed are those of rest; the others stay as they are, which makes the same equations those of steady motion.

A root is found by the steps that assemble positions, y ← y − J⁺ F, each row scaled by its slope. What F does not determine (an
ignorable coordinate) stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.statics.static_state import refuse_nonlinear_rows, speeds_at_rest
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import Numbers
from dalembert.mechanics.agreement.principle_registry import of_motion
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.generalized_forces import generalized_active_forces
from dalembert.mechanics.principles.derivation import derived
from dalembert.runtime.states.assembly import gauss_newton
from dalembert.runtime.states.evaluator import Evaluator, Key, Level, label
from dalembert.runtime.states.initial_values import Condition, conditions
from dalembert.runtime.states.run_values import Values
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import Rewrite, symbols_of, transplant
from dalembert.symbolic.algebra.tape import Tape

# rates of rows below this are zero
_STILL: Final = 1e-12
# what coordinates that were typed may be wrong by, as a part of themselves
_ROUNDING: Final = 1e-13
# beyond this an angle tells too little of its sine, and below it rounding hides nothing
_LARGE: Final = 1e6


class NoEquilibrium(DalembertError):
    """No equilibrium was found, with the residual that remains."""


class StaticBalance:
    """The equations, which symbols are unknown in them, and where a search begins."""

    def __init__(self, chosen: Values, given: Mapping[Key, Any], guess: Mapping[Key, Any], t: float) -> None:
        self.chosen, self.given, self.guess, self.t = chosen, given, guess, t
        self.evaluator = evaluator = Evaluator(chosen.kin, chosen.value_at(t), chosen.bindings)
        self.kin, self.tape = evaluator.kin, evaluator.tape
        asked, near = conditions(evaluator, given, t, "given"), conditions(evaluator, guess, t, "guess")
        known = {c.symbol: c.value for c in asked if c.symbol in self.kin.state}
        self.moving = self._reached([*asked, *near])
        self.unknown = [i for i in (*self.kin.q, *self.kin.x, *(u for u in self.kin.u if u in self.moving)) if i not in known]
        self.state: dict[int, float] = {i: float(x) for i, x in evaluator.numbers.items()} | {evaluator.time: t} | self._no_rotation()
        self.state |= {x: float(self.kin.system.symbols[self.kin.name(x)].value or 0) for x in self.kin.x}
        self.state |= dict.fromkeys(self.moving, 0.0) | dict.fromkeys(self.kin.udot, 0.0)
        self.state |= {i: x for i, x in known.items() if i is not None}
        for c in near:
            if c.symbol is not None:
                self._begin(c)
        self._equations([c for c in asked if c.symbol not in known])

    def _reached(self, named: Sequence[Condition]) -> list[int]:
        """The speeds that what is named contains."""
        nodes = [c.node for c in named if c.level is Level.VELOCITY]
        inside = set(symbols_of(self.tape, nodes))
        return [u for u in self.kin.u if u in inside]

    def _no_rotation(self) -> dict[int, float]:
        """q = 0, and e = (1, 0, 0, 0) for every quaternion."""
        whole = [F.rotation.e[0] for F in self.kin.system.space.frames if isinstance(F.rotation, Quaternion)]
        return dict.fromkeys(self.kin.q, 0.0) | {e: 1.0 for e in whole if e in self.kin.q}

    def _begin(self, c: Condition) -> None:
        """A guess of a rate sets the speeds that it consists of, in proportion."""
        if c.symbol in self.state and c.symbol is not None and c.level is Level.POSITION:
            self.state[c.symbol] = c.value
            return
        (value,), slopes = jacobian(self.tape, [c.node], self.moving, self.state)
        slope = slopes[0, 0]
        if np.isfinite(slope).all() and slope.any():
            for u, k in zip(self.moving, slope * (c.value - value[0]) / (slope @ slope), strict=True):
                self.state[u] += float(k)

    def _equations(self, asked: Sequence[Condition]) -> None:
        """M u̇ − f at u̇ = 0, φ, and what was asked for; resting speeds are written u = ψ(q, t), u̇ = ∂ψ/∂t."""
        evaluator, kin, tape = self.evaluator, self.kin, self.tape
        refuse_nonlinear_rows(kin)
        tape_of, residuals = _residuals(self.chosen.kin)
        still = Rewrite(tape, dict.fromkeys(kin.qdot, tape.zero))
        steady = [a for u, a in zip(kin.u, kin.udot, strict=True) if u in self.moving]
        rest = {i: evaluator.reduced(e) for i, e in speeds_at_rest(kin).items() if i not in (*self.moving, *steady)}
        self.at_rest = Rewrite(tape, rest | dict.fromkeys(steady, tape.zero))
        self.r = [self.at_rest(evaluator.reduced(i)) for i in transplant(tape_of, tape, residuals)]
        self.phi = [evaluator.reduced(phi) for phi in position_residuals(tape, kin.rows)]
        targets = [tape.sub(c.node, tape.const(Fraction(c.value))) for c in asked]
        rates = [self.at_rest(evaluator.reduced(i)) for i in kin.xdot]
        self.nodes = [*self.r, *self.phi, *rates, *(self.at_rest(i) for i in targets)]
        self._b = [self.at_rest(evaluator.reduced(still(row.b))) for row in kin.rows]

    @property
    def idle(self) -> list[int]:
        """Inputs that are zero."""
        symbols = self.kin.system.symbols.values()
        return [s.scalar.i for s in symbols if s.kind == "input" and self.evaluator.numbers.get(s.scalar.i) == 0.0]

    # ---- numbers -----------------------------------------------------------------------------

    def begin(self) -> Numbers:
        """Where a search begins."""
        return np.array([self.state[i] for i in self.unknown])

    def at(self, y: Numbers, extra: Mapping[int, float] | None = None) -> dict[int, float]:
        """Every symbol as a number, the unknowns being y."""
        return {**self.state, **dict(zip(self.unknown, y.tolist(), strict=True)), **(extra or {})}

    def slopes(self, y: Numbers, beside: Sequence[int] = (), extra: Mapping[int, float] | None = None) -> tuple[Numbers, Numbers]:
        """F and ∂F/∂(y, beside)."""
        values, slopes = jacobian(self.tape, self.nodes, (*self.unknown, *beside), self.at(y, extra))
        return values[0], slopes[0]

    def holds_within_rounding(self, y: Numbers) -> bool:
        """|F| ≤ ε Σ |∂F/∂q| max(1, |q|) with the given coordinates counted: π as a number is not π."""
        F, J = self.slopes(y, beside=[q for q in self.kin.q if q not in self.unknown])
        state = self.at(y)
        size = max(1.0, *(abs(state[q]) for q in self.kin.q)) if self.kin.q else 1.0
        return size < _LARGE and bool((np.abs(F) <= _ROUNDING * size * np.abs(J).sum(axis=1)).all())

    def check_still(self, y: Numbers) -> None:
        """Refuse rows that do not let the coordinates rest: A q̇ + b = 0 with b ≠ 0."""
        b = jacobian(self.tape, self._b, (), self.at(y))[0][0]
        if self.moving or not np.abs(b).max(initial=0.0) > _STILL:
            return
        k = int(np.argmax(np.abs(b)))
        row = self.kin.rows[k].name
        msg = f"no equilibrium: {row!r} moves at the rate {b[k]:.6g}, so that the coordinates cannot rest; hold its motion with inputs="
        raise NoEquilibrium(msg)

    def point(self, y: Numbers, extra: Mapping[int, float] | None = None) -> tuple[dict[str, float], Numbers, Numbers]:
        """({name: value} of all coordinates, first-order states and speeds, q, u)"""
        nodes = [self.at_rest(i) for i in self.kin.state]
        found = jacobian(self.tape, nodes, (), self.at(y, extra))[0][0] + 0.0
        names = [label(self.kin.name(i)) for i in self.kin.state]
        return dict(zip(names, found.tolist(), strict=True)), found[: self.kin.n_q], found[self.kin.first_speed :]


def _residuals(kin: Kinematics) -> tuple[Tape, Sequence[int]]:
    """M u̇ − f; −F_r alone where there is no mass: the equilibrium of a massless linkage asks for no acceleration.

    Source: Mei85 (7.19).
    """
    if kin.system.bodies or kin.system.kinetic:
        equations = derived(of_motion, kin).equations
        return equations.tape, equations.residuals
    own = kin.fork()
    return own.tape, [own.tape.neg(F) for F in generalized_active_forces(own)]


# ---- a root --------------------------------------------------------------------------------------

# the first step is no longer than this
_LONGEST: Final = 1.0
_SHORTEST: Final = 4e-16
_ACCEPTED: Final = 1e-9


class Root(NamedTuple):
    """Where the search ended, what remains there, and whether that is a root."""

    y: Numbers
    residual: float
    found: bool
    steps: int


def newton(f: Callable[[Numbers], tuple[Numbers, Numbers]], y: Numbers) -> Root:
    """A root of F near y; every row is scaled by its slope where the search begins. `f` gives F and J."""
    F, J = f(y)
    if not (np.isfinite(F).all() and np.isfinite(J).all()):
        return Root(y, np.inf, found=False, steps=0)
    slope = np.linalg.norm(J, axis=1)
    scale = np.where(slope > 0, slope, 1.0)

    known = [(F, J)]

    def scaled(y: Numbers) -> tuple[Numbers, Numbers]:
        F, J = known.pop() if known else f(y)
        return F / scale, J / scale[:, None]

    steps = 0
    if y.size:
        whole = np.ones(len(F), dtype=bool), np.ones(len(y), dtype=bool)
        y, steps, F, J = gauss_newton(scaled, y, *whole, radius=_LONGEST, shortest=_SHORTEST, unit=1.0)
        F, J = F * scale, J * scale[:, None]
    size = np.linalg.norm(J, axis=1) * max(1.0, float(np.abs(y).max(initial=0.0)))
    good = bool((np.abs(F) <= _ACCEPTED * np.maximum(size, np.max(size, initial=0.0) * 1e-3)).all()) if y.size else not F.any()
    return Root(y, float(np.abs(F).max(initial=0.0)), good and _is_resolved(f, y, F, J), steps)


def _is_resolved(f: Callable[[Numbers], tuple[Numbers, Numbers]], y: Numbers, F: Numbers, J: Numbers) -> bool:
    """F(y + δ) ≈ F + J δ over δ = a thousand roundings: an angle of 1e16 rad, whose neighbour is a turn away, tells nothing of its sine."""
    if np.abs(y).max(initial=0.0) < _LARGE:
        return True
    delta = 1024 * np.spacing(np.abs(y))
    change = f(y + delta)[0] - F
    return bool((np.abs(change - J @ delta) <= 0.1 * (np.abs(J) @ delta)).all())
