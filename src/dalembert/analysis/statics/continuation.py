"""F(y, p) = 0 followed along its arc: how equilibria move with a parameter, where they turn back
and where they branch.
Keywords: pseudo-arclength continuation.

Each step goes along the tangent τ, F_y τ_y + F_p τ_p = 0, and returns to the curve at right angles
to it. At a fold τ_p changes sign; at a bifurcation the determinant of [F_y F_p; τᵀ] does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from dalembert.analysis.statics.equilibrium_equations import EquilibriumEquations, NoEquilibrium
from dalembert.analysis.statics.root_finding import find_root
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue, finite_number, symbol_name
from dalembert.runtime.states.evaluator import Key
from dalembert.runtime.states.run_values import operating_values
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero

_MAX_STEPS: Final = 2000
_SHORTEST: Final = 1e-8
_MAX_BISECTIONS: Final = 80


class SpecialPoint(NamedTuple):
    """A fold or a bifurcation: the parameter and all coordinates and speeds there."""

    kind: Literal["fold", "bifurcation"]
    parameter: float
    point: dict[str, float]
    # (y, p) in the scale of the curve, and the tangent
    Y: FloatArray
    tangent: FloatArray


@dataclass(frozen=True, eq=False)
class Branch(Displayable):
    """Equilibria along a parameter: values, the points, and the marks between them."""

    parameter: str
    values: FloatArray
    points: tuple[dict[str, float], ...]
    special_points: tuple[SpecialPoint, ...]
    curve: EquilibriumCurve = field(repr=False)

    def __getitem__(self, name: str) -> FloatArray:
        """A coordinate or speed along the branch."""
        return np.array([p[name] for p in self.points])

    def switch_branch(self, mark: SpecialPoint, *, side: int = 1) -> Branch:
        """The branch that crosses this one at a bifurcation, on one of its two sides."""
        return self.curve.switch_branch(mark, side)

    def __str__(self) -> str:
        lines = [
            (
                f"{len(self.values)} equilibria from {self.parameter} = {self.values[0]:.6g} to "
                f"{self.values[-1]:.6g}"
            )
        ]
        lines += [
            f"  {m.kind} at {self.parameter} = {m.parameter:.12g}" for m in self.special_points
        ]
        return "\n".join(lines)


class EquilibriumCurve:
    """F(Y) = 0 with Y = (y, p/scale), between two values of the parameter."""

    def __init__(
        self, balance: EquilibriumEquations, parameter: int, over: tuple[float, float], step: float
    ) -> None:
        self.balance, self.parameter, self.step = balance, parameter, step
        self.low, self.high = sorted(over)
        self.scale = (self.high - self.low) or 1.0
        tape = balance.tape
        self.active_equations = [
            k
            for k, e in enumerate(balance.nodes)
            if not decide_all_zero(
                tape, [e], f"continuation: whether equation {k + 1} always holds"
            )
        ]
        if len(self.active_equations) != len(balance.unknown):
            free = f"{len(self.active_equations)} equations for {len(balance.unknown)} unknowns"
            msg = (
                f"continuation: {free}; give the coordinates that the balance leaves free, and "
                f"no others"
            )
            raise NoEquilibrium(msg)

    def __call__(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        F, J = self.balance.residual_and_jacobian(
            Y[:-1], (self.parameter,), {self.parameter: Y[-1] * self.scale}
        )
        # equations that hold of themselves, along coordinates that are given
        F, J = F[self.active_equations], J[self.active_equations]
        J[:, -1] *= self.scale
        # rows of equal length, so that the determinant is independent of units
        size = np.maximum(np.linalg.norm(J, axis=1), np.finfo(float).tiny)
        return F / size, J / size[:, None]

    def tangent(self, Y: FloatArray, reference: FloatArray) -> FloatArray:
        """The direction of the curve, on the side of `like`."""
        tau = np.linalg.svd(self(Y)[1])[2][-1]
        return np.asarray(tau if tau @ reference >= 0 else -tau)

    def determinant(self, Y: FloatArray, tau: FloatArray) -> float:
        """det [F_Y; τᵀ]"""
        return float(np.linalg.det(np.vstack([self(Y)[1], tau])))

    def corrector_step(self, Y: FloatArray, tau: FloatArray, s: float) -> FloatArray | None:
        """The point of the curve that lies s along the tangent; None if it is not reached."""
        ahead = Y + s * tau

        def f(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
            F, J = self(Z)
            return np.append(F, tau @ (Z - ahead)), np.vstack([J, tau])

        root = find_root(f, ahead)
        near = float(np.linalg.norm(root.y - ahead)) <= max(abs(s), _SHORTEST)
        return root.y if root.converged and near else None

    def trace(self, Y: FloatArray, tau: FloatArray) -> Branch:
        """Steps from Y until the parameter leaves its range."""
        path, marks, length = [Y], [], self.step
        det = self.determinant(Y, tau)
        for _ in range(_MAX_STEPS):
            new = self.corrector_step(Y, tau, length)
            new_tangent = None if new is None else self.tangent(new, tau)
            if new is None or new_tangent is None or new_tangent @ tau < 0.9:
                length /= 2
                if length < _SHORTEST:
                    break
                continue
            now = self.determinant(new, new_tangent)
            marks += self._detect_special_points((Y, tau, det), (new_tangent, now), length)
            Y, tau, det = new, new_tangent, now
            path.append(Y)
            length = min(self.step, 1.5 * length)
            if not self.low <= Y[-1] * self.scale <= self.high:
                break
        return self._branch(path, marks)

    def _detect_special_points(
        self,
        begin: tuple[FloatArray, FloatArray, float],
        end: tuple[FloatArray, float],
        length: float,
    ) -> list[SpecialPoint]:
        Y, tau, det = begin
        special_points = []
        if det * end[1] < 0:
            special_points.append(
                self._locate_sign_change("bifurcation", Y, tau, length, self.determinant)
            )
        if tau[-1] * end[0][-1] < 0:
            special_points.append(
                self._locate_sign_change("fold", Y, tau, length, lambda _, z: float(z[-1]))
            )
        return special_points

    def _locate_sign_change(
        self,
        kind: Literal["fold", "bifurcation"],
        Y: FloatArray,
        tau: FloatArray,
        length: float,
        of: Callable[[FloatArray, FloatArray], float],
    ) -> SpecialPoint:
        """The arc length at which a quantity changes sign, by bisection and false position in
        turn.
        """

        def test_function(s: float) -> tuple[FloatArray, FloatArray, float]:
            Z = self.corrector_step(Y, tau, s)
            Z = Y + s * tau if Z is None else Z
            z = self.tangent(Z, tau)
            return Z, z, of(Z, z)

        a, b = 0.0, length
        fa, (Z, z, fb) = test_function(a)[2], test_function(b)
        for k in range(_MAX_BISECTIONS):
            s = (a + b) / 2 if k % 2 or fa == fb else b - fb * (b - a) / (fb - fa)
            Z, z, fs = test_function(s)
            a, fa, b, fb = (s, fs, b, fb) if fs * fa > 0 else (a, fa, s, fs)
            if fs == 0.0 or abs(b - a) <= 4e-16 * max(1.0, abs(b)):
                break
        return SpecialPoint(kind, float(Z[-1]) * self.scale, self._point(Z), Z, z)

    def _point(self, Y: FloatArray) -> dict[str, float]:
        return self.balance.state_at(Y[:-1], {self.parameter: float(Y[-1]) * self.scale})[0]

    def _branch(self, path: list[FloatArray], marks: list[SpecialPoint]) -> Branch:
        name = self.balance.kin.name(self.parameter)
        values = np.array([Y[-1] * self.scale for Y in path])
        return Branch(name, values, tuple(self._point(Y) for Y in path), tuple(marks), self)

    def switch_branch(self, mark: SpecialPoint, side: int) -> Branch:
        """The other branch: the second direction in which F_Y vanishes, at right angles to the
        first.
        """
        J = self(mark.Y)[1]
        kernel = np.linalg.svd(J)[2][-2:]
        across = kernel.T @ np.array([-(kernel[1] @ mark.tangent), kernel[0] @ mark.tangent])
        across *= math.copysign(1.0, side) / np.linalg.norm(across)
        for part in (1e-3, 1e-2, 0.1, 1.0):
            Y = self.corrector_step(mark.Y, across, part * self.step)
            if (
                Y is not None
                and np.linalg.norm(Y - mark.Y - ((Y - mark.Y) @ mark.tangent) * mark.tangent)
                > 0.1 * part * self.step
            ):
                return self.trace(Y, self.tangent(Y, across))
        msg = (
            f"continuation: no second branch was found at "
            f"{self.balance.kin.name(self.parameter)} = {mark.parameter:.9g}"
        )
        raise NoEquilibrium(msg)


def continuation(
    system: System,
    parameter: Key,
    over: tuple[float, float],
    given: Mapping[Any, Any] | None = None,
    *,
    guess: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
    step: float = 0.02,
) -> Branch:
    """Equilibria (or steady motions) from the first value of the parameter to the second, with
    folds and bifurcations marked.

    The parameter is a constant or an input. `step` is a length along the curve, in which the range
    of the parameter counts as one.
    """
    name = symbol_name(system, parameter, ("constant", "input"))
    begin, end = _parameter_range(name, over, step)
    constant = system.symbols[name].kind == "constant"
    at_begin = {**(values or {}), name: begin} if constant else dict(values or {})
    loads = dict(inputs or {}) if constant else {**(inputs or {}), name: begin}
    balance = EquilibriumEquations(
        operating_values(system, at_begin, loads), given or {}, guess or {}, t
    )
    root = find_root(balance.residual_and_jacobian, balance.initial_guess(), balance.tolerance)
    if not root.converged:
        msg = (
            f"continuation: no equilibrium near the guess at {name} = {begin:g}: residual "
            f"{root.residual:.6g}"
        )
        raise NoEquilibrium(msg)
    curve = EquilibriumCurve(balance, system.symbols[name].scalar.i, (begin, end), step)
    forward = np.append(np.zeros(len(root.y)), math.copysign(1.0, end - begin))
    Y = np.append(root.y, begin / curve.scale)
    return curve.trace(Y, curve.tangent(Y, forward))


def _parameter_range(name: str, over: tuple[float, float], step: float) -> tuple[float, float]:
    """The first and the last value of a parameter, which must differ."""
    if not isinstance(over, tuple | list) or len(over) != 2:
        msg = f"continuation: over={over!r:.60}; give the first and the last value of {name}"
        raise BadValue(msg)
    begin, end = (finite_number(name, x) for x in over)
    if begin == end or not 0.0 < finite_number("step", step) < math.inf:
        msg = (
            f"continuation: over={over!r:.60}, step={step!r:.60}; the two values must differ, "
            f"and the step be positive"
        )
        raise BadValue(msg)
    return begin, end
