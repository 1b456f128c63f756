"""F(y, p) = 0 followed along its arc: how equilibria move with a parameter, where they turn back and where they branch.

Each step goes along the tangent τ, F_y τ_y + F_p τ_p = 0, and returns to the curve at right angles to it. At a fold τ_p
changes sign; at a bifurcation the determinant of [F_y F_p; τᵀ] does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from dalembert.analysis.statics.equilibrium_equations import NoEquilibrium, StaticBalance, newton
from dalembert.foundation.array_types import Numbers
from dalembert.foundation.display import Shown
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue, number, symbol_name
from dalembert.runtime.states.evaluator import Key
from dalembert.runtime.states.run_values import operating
from dalembert.symbolic.algebra.exact.zero_test import all_zero

_MOST_STEPS: Final = 2000
_SHORTEST: Final = 1e-8
_HALVINGS: Final = 80


class BranchMark(NamedTuple):
    """A fold or a bifurcation: the parameter and all coordinates and speeds there."""

    kind: Literal["fold", "bifurcation"]
    parameter: float
    point: dict[str, float]
    # (y, p) in the scale of the curve, and the tangent
    Y: Numbers
    tangent: Numbers


@dataclass(frozen=True, eq=False)
class Branch(Shown):
    """Equilibria along a parameter: values, the points, and the marks between them."""

    parameter: str
    values: Numbers
    points: tuple[dict[str, float], ...]
    marks: tuple[BranchMark, ...]
    curve: EquilibriumCurve = field(repr=False)

    def __getitem__(self, name: str) -> Numbers:
        """A coordinate or speed along the branch."""
        return np.array([p[name] for p in self.points])

    def other(self, mark: BranchMark, *, side: int = 1) -> Branch:
        """The branch that crosses this one at a bifurcation, on one of its two sides."""
        return self.curve.crossing(mark, side)

    def __str__(self) -> str:
        lines = [f"{len(self.values)} equilibria from {self.parameter} = {self.values[0]:.6g} to {self.values[-1]:.6g}"]
        lines += [f"  {m.kind} at {self.parameter} = {m.parameter:.12g}" for m in self.marks]
        return "\n".join(lines)


class EquilibriumCurve:
    """F(Y) = 0 with Y = (y, p/scale), between two values of the parameter."""

    def __init__(self, balance: StaticBalance, parameter: int, over: tuple[float, float], step: float) -> None:
        self.balance, self.parameter, self.step = balance, parameter, step
        self.low, self.high = sorted(over)
        self.scale = (self.high - self.low) or 1.0
        tape = balance.tape
        self.kept = [
            k for k, e in enumerate(balance.nodes) if not all_zero(tape, [e], f"continuation: whether equation {k + 1} holds of itself")
        ]
        if len(self.kept) != len(balance.unknown):
            free = f"{len(self.kept)} equations for {len(balance.unknown)} unknowns"
            msg = f"continuation: {free}; give the coordinates that the balance leaves free, and no others"
            raise NoEquilibrium(msg)

    def __call__(self, Y: Numbers) -> tuple[Numbers, Numbers]:
        F, J = self.balance.slopes(Y[:-1], (self.parameter,), {self.parameter: Y[-1] * self.scale})
        # equations that hold of themselves, along coordinates that are given
        F, J = F[self.kept], J[self.kept]
        J[:, -1] *= self.scale
        # rows of equal length, so that the determinant knows no units
        size = np.maximum(np.linalg.norm(J, axis=1), np.finfo(float).tiny)
        return F / size, J / size[:, None]

    def tangent(self, Y: Numbers, like: Numbers) -> Numbers:
        """The direction of the curve, on the side of `like`."""
        tau = np.linalg.svd(self(Y)[1])[2][-1]
        return np.asarray(tau if tau @ like >= 0 else -tau)

    def determinant(self, Y: Numbers, tau: Numbers) -> float:
        """det [F_Y; τᵀ]"""
        return float(np.linalg.det(np.vstack([self(Y)[1], tau])))

    def moved(self, Y: Numbers, tau: Numbers, s: float) -> Numbers | None:
        """The point of the curve that lies s along the tangent; None if it is not reached."""
        ahead = Y + s * tau

        def f(Z: Numbers) -> tuple[Numbers, Numbers]:
            F, J = self(Z)
            return np.append(F, tau @ (Z - ahead)), np.vstack([J, tau])

        root = newton(f, ahead)
        near = float(np.linalg.norm(root.y - ahead)) <= max(abs(s), _SHORTEST)
        return root.y if root.found and near else None

    def follow(self, Y: Numbers, tau: Numbers) -> Branch:
        """Steps from Y until the parameter leaves its range."""
        path, marks, length = [Y], [], self.step
        det = self.determinant(Y, tau)
        for _ in range(_MOST_STEPS):
            new = self.moved(Y, tau, length)
            turned = None if new is None else self.tangent(new, tau)
            if new is None or turned is None or turned @ tau < 0.9:
                length /= 2
                if length < _SHORTEST:
                    break
                continue
            now = self.determinant(new, turned)
            marks += self._marks((Y, tau, det), (turned, now), length)
            Y, tau, det = new, turned, now
            path.append(Y)
            length = min(self.step, 1.5 * length)
            if not self.low <= Y[-1] * self.scale <= self.high:
                break
        return self._branch(path, marks)

    def _marks(self, begin: tuple[Numbers, Numbers, float], end: tuple[Numbers, float], length: float) -> list[BranchMark]:
        Y, tau, det = begin
        found = []
        if det * end[1] < 0:
            found.append(self._located("bifurcation", Y, tau, length, self.determinant))
        if tau[-1] * end[0][-1] < 0:
            found.append(self._located("fold", Y, tau, length, lambda _, z: float(z[-1])))
        return found

    def _located(
        self, kind: Literal["fold", "bifurcation"], Y: Numbers, tau: Numbers, length: float, of: Callable[[Numbers, Numbers], float]
    ) -> BranchMark:
        """The arc length at which a quantity changes sign, by bisection and false position in turn."""

        def at(s: float) -> tuple[Numbers, Numbers, float]:
            Z = self.moved(Y, tau, s)
            Z = Y + s * tau if Z is None else Z
            z = self.tangent(Z, tau)
            return Z, z, of(Z, z)

        a, b = 0.0, length
        fa, (Z, z, fb) = at(a)[2], at(b)
        for k in range(_HALVINGS):
            s = (a + b) / 2 if k % 2 or fa == fb else b - fb * (b - a) / (fb - fa)
            Z, z, fs = at(s)
            a, fa, b, fb = (s, fs, b, fb) if fs * fa > 0 else (a, fa, s, fs)
            if fs == 0.0 or abs(b - a) <= 4e-16 * max(1.0, abs(b)):
                break
        return BranchMark(kind, float(Z[-1]) * self.scale, self._point(Z), Z, z)

    def _point(self, Y: Numbers) -> dict[str, float]:
        return self.balance.point(Y[:-1], {self.parameter: float(Y[-1]) * self.scale})[0]

    def _branch(self, path: list[Numbers], marks: list[BranchMark]) -> Branch:
        name = self.balance.kin.name(self.parameter)
        values = np.array([Y[-1] * self.scale for Y in path])
        return Branch(name, values, tuple(self._point(Y) for Y in path), tuple(marks), self)

    def crossing(self, mark: BranchMark, side: int) -> Branch:
        """The other branch: the second direction in which F_Y vanishes, at right angles to the first."""
        J = self(mark.Y)[1]
        kernel = np.linalg.svd(J)[2][-2:]
        across = kernel.T @ np.array([-(kernel[1] @ mark.tangent), kernel[0] @ mark.tangent])
        across *= math.copysign(1.0, side) / np.linalg.norm(across)
        for part in (1e-3, 1e-2, 0.1, 1.0):
            Y = self.moved(mark.Y, across, part * self.step)
            if Y is not None and np.linalg.norm(Y - mark.Y - ((Y - mark.Y) @ mark.tangent) * mark.tangent) > 0.1 * part * self.step:
                return self.follow(Y, self.tangent(Y, across))
        msg = f"continuation: no second branch was found at {self.balance.kin.name(self.parameter)} = {mark.parameter:.9g}"
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
    """Equilibria (or steady motions) from the first value of the parameter to the second, with folds and bifurcations marked.

    The parameter is a constant or an input. `step` is a length along the curve, in which the range of the parameter counts as one.
    """
    name = symbol_name(system, parameter, ("constant", "input"))
    if not isinstance(over, tuple | list) or len(over) != 2:
        msg = f"continuation: over={over!r:.60}; give the first and the last value of {name}"
        raise BadValue(msg)
    begin, end = (number(name, x) for x in over)
    if begin == end or not 0.0 < number("step", step) < math.inf:
        msg = f"continuation: over={over!r:.60}, step={step!r:.60}; the two values must differ, and the step be positive"
        raise BadValue(msg)
    constant = system.symbols[name].kind == "constant"
    at_begin = {**(values or {}), name: begin} if constant else dict(values or {})
    loads = dict(inputs or {}) if constant else {**(inputs or {}), name: begin}
    balance = StaticBalance(operating(system, at_begin, loads), given or {}, guess or {}, t)
    root = newton(balance.slopes, balance.begin())
    if not root.found:
        msg = f"continuation: no equilibrium near the guess at {name} = {begin:g}: residual {root.residual:.6g}"
        raise NoEquilibrium(msg)
    curve = EquilibriumCurve(balance, system.symbols[name].scalar.i, (begin, end), step)
    forward = np.append(np.zeros(len(root.y)), math.copysign(1.0, end - begin))
    Y = np.append(root.y, begin / curve.scale)
    return curve.follow(Y, curve.tangent(Y, forward))
