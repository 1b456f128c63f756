"""u⁺ from u⁻: what a reset or an impact does to a state.

    𝓜 (u⁺ − u⁻) = Aᵀλ̂ + Jᵀ Λ,   A (u⁺ − u⁻) = 0,   φ̇⁺ = −ε φ̇⁻,   φ̇ = J u + ∂_tφ

𝓜 = ∂²T/∂u∂u, A the rows in augmented form (those that were eliminated hold for every u), J =
∂φ̇/∂u. Ordinary forces have no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.errors import BadExpression, DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.simulation.energy_and_residuals import energy_nodes
from dalembert.runtime.simulation.events.event import (
    BadEvent,
    Event,
    EventAction,
    check_supports,
)
from dalembert.runtime.simulation.events.event_functions import check_no_callbacks
from dalembert.runtime.simulation.events.impact_law import (
    ConstrainedMass,
    ImpactRows,
    impulse_derivative,
    impulses,
)
from dalembert.runtime.states.evaluator import Evaluator, Key, label
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

# a part of the compliance without constraints below which an impulse opens no gap
_OPENS: Final = 1e-12


class StateChange(NamedTuple):
    """The state (q, u) afterwards, and the impulse Λ along the gap."""

    y: FloatArray
    impulse: float | None = None


class EventActions:
    """What each event does, read and checked before the run begins."""

    def __init__(
        self,
        setting: RunValues,
        evaluator: Evaluator,
        events: Sequence[Event],
        nodes: Sequence[int],
    ) -> None:
        self._setting, self._evaluator, self._events = setting, evaluator, events
        self._changes = {
            i: reset_values(evaluator, e)
            for i, e in enumerate(events)
            if e.action is EventAction.RESET
        }
        self._impacts = {
            i: Impact(evaluator, e, nodes[i])
            for i, e in enumerate(events)
            if e.action is EventAction.IMPACT
        }
        switched = [c.name for c in evaluator.kin.system.contacts if c.active is not None]
        for i, e in enumerate(events):
            check_supports(e, switched)
            new = self._changes[i][1] if i in self._changes else []
            check_no_callbacks(setting, evaluator.tape, (nodes[i], *new), f"event {e.title!r}")

    def apply(self, i: int, y: FloatArray, t: float) -> StateChange:
        """The state y = (q, u) after event number i."""
        if i in self._changes:
            return StateChange(self._reset(i, y, t))
        if i in self._impacts:
            return self._impacts[i].apply(self._state(y, t), y)
        return StateChange(y)

    def jacobian(self, i: int, y: FloatArray, t: float, constants: Sequence[int]) -> FloatArray:
        """∂y⁺/∂(y, t, constants) of what event number i does."""
        kin, state = self._evaluator.kin, self._state(y, t)
        wrt = (*kin.state, self._evaluator.time, *constants)
        J = np.eye(len(y), len(wrt))
        if i in self._changes:
            places, nodes = self._changes[i]
            J[places] = jacobian(
                self._evaluator.tape, nodes, wrt, {**self._evaluator.numbers, **state}
            )[1][0]
        elif i in self._impacts:
            J[-kin.n_u :] += self._impacts[i].jacobian(state, wrt)
        return J

    def energy(self, y: FloatArray, t: float) -> float:
        """T + V"""
        return float(self._evaluator.values_at(self._energies, self._state(y, t)).sum())

    @cached_property
    def _energies(self) -> list[int]:
        return [self._evaluator.in_state(i) for i in energy_nodes(self._evaluator.kin)]

    def _state(self, y: FloatArray, t: float) -> dict[int, float]:
        kin = self._evaluator.kin
        return {**dict(zip(kin.state, y.tolist(), strict=True)), self._evaluator.time: t}

    def _reset(self, i: int, y: FloatArray, t: float) -> FloatArray:
        places, nodes = self._changes[i]
        new = y.copy()
        new[places] = self._evaluator.values_at(nodes, self._state(y, t))
        title = self._events[i].title
        if not np.isfinite(new).all():
            msg = f"event {title!r} at t = {t:.9g}: the new values are not finite"
            raise BadEvent(msg)
        kin = self._evaluator.kin
        if kin.rows:
            given: dict[Key, float] = {
                label(kin.name(k)): x for k, x in zip(kin.state, new.tolist(), strict=True)
            }
            try:
                solve_initial_conditions(
                    self._setting.kin, given, self._setting.symbol_values_at(t), t
                )
            except DalembertError as problem:
                why = problem.sentence if isinstance(problem, BadStart) else str(problem)
                msg = f"event {title!r} at t = {t:.9g}: the new state breaks a constraint: {why}"
                raise BadEvent(msg) from problem
        return new


def reset_values(evaluator: Evaluator, e: Event) -> tuple[list[int], list[int]]:
    """Places in (q, u), and the nodes of their new values."""
    kin = evaluator.kin
    place = {i: k for k, i in enumerate(kin.state)}
    places, nodes = [], []
    for key, value in e.changes.items():
        try:
            i = evaluator.node(key)
            # a rate that is a speed by another name
            target = i if i in place else evaluator.in_state(i)
            if target not in place:
                speeds = ", ".join(label(kin.name(u)) for u in kin.u)
                msg = (
                    f"event {e.title!r}: {evaluator.display_name(key)} cannot be reset; the "
                    f"speeds of this run are {speeds}"
                )
                raise BadEvent(msg)
            nodes.append(_value(evaluator, value))
        except (BadExpression, MissingValue) as problem:
            msg = f"event {e.title!r}: the reset of {key} cannot be read: {problem}"
            raise BadEvent(msg) from problem
        places.append(place[target])
    return places, nodes


def _value(evaluator: Evaluator, value: Any) -> int:
    """A number, or an expression of the state before."""
    if isinstance(value, str | Scalar):
        return evaluator.in_state(evaluator.node(value))
    return evaluator.tape.const(_fraction(value))


def _fraction(value: Any) -> Fraction:
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        msg = f"{value!r} is not a finite number"
        raise BadExpression(msg) from None


class _ImpulseResponse(NamedTuple):
    """J, the mass with the permanent rows B, and 𝓜 H = Jᵀ + Bᵀ μ, B H = 0."""

    J: FloatArray
    mass: ConstrainedMass
    H: FloatArray
    mu: FloatArray


class Impact:
    """One obstacle: φ̇ and ε, and the entries of 𝓜, A and J with their places below one another,
    as nodes.
    """

    def __init__(self, evaluator: Evaluator, e: Event, gap: int) -> None:
        kin, tape = evaluator.kin, evaluator.tape
        self._evaluator, self._title = evaluator, e.title
        if kin.nonlinear:
            msg = (
                f"impact {e.title!r}: with constraints that are not linear in the velocities an "
                f"impact is not defined"
            )
            raise BadEvent(msg)
        self.restitution_node, self.restitution = _restitution(evaluator, e)
        speeds = LinearCoefficients(tape, kin.u)
        rate = evaluator.in_state(kin.rate(gap))
        self.rate, slopes = rate, speeds(rate)[1]
        if not slopes:
            msg = f"impact {e.title!r}: no speed changes this gap, so no impulse can keep it open"
            raise BadEvent(msg)
        momenta = gradient(tape, {energy_nodes(kin).T: tape.one}, kin.u)
        M = [speeds(evaluator.in_state(p))[1] for p in momenta]
        rows = [{r: evaluator.in_state(a) for r, a in row.A.items()} for row in kin.velocity_rows]
        self.shape, self.places, self.nodes = _sparse([*M, *rows, slopes], kin.n_u)

    def apply(self, state: dict[int, float], y: FloatArray) -> StateChange:
        """The state after the impact; the same where the gap opens already."""
        evaluator, n = self._evaluator, self.shape[1]
        rate = float(evaluator.values_at([self.rate], state)[0])
        if rate >= 0.0:
            return StateChange(y, 0.0)
        values = evaluator.values_at(self.nodes, state)
        J, mass, H, _ = self._solved(values)
        rows = ImpactRows(J @ H, np.array([rate]), np.array([self.restitution]))
        if not rows.A[0, 0] > _OPENS * mass.free_compliance(J[0]):
            t = state[evaluator.time]
            msg = (
                f"impact {self._title!r} at t = {t:.9g}: no motion that the constraints allow "
                "can open the gap again"
            )
            raise BadEvent(msg)
        impulse = _gap_impulse(rows)
        new = y.copy()
        new[-n:] += H @ impulse
        return StateChange(new, float(impulse[0]))

    def jacobian(self, state: dict[int, float], wrt: Sequence[int]) -> FloatArray:
        """∂Δu of Δu = H Λ"""
        evaluator = self._evaluator
        nodes = [*self.nodes, self.rate, self.restitution_node]
        values, slopes = (
            x[0] for x in jacobian(evaluator.tape, nodes, wrt, {**evaluator.numbers, **state})
        )
        rate, ddu = values[-2], np.zeros((self.shape[1], len(wrt)))
        if rate >= 0.0:
            return ddu
        response = self._solved(values[:-2])
        J, H = response.J, response.H
        rows = ImpactRows(J @ H, np.array([rate]), np.array([self.restitution]))
        impulse, A = _gap_impulse(rows), rows.A[0]
        dJ, dH = self._response_derivatives(response, slopes[:-2])
        for k in range(len(wrt)):
            change = ImpactRows(dJ[k] @ H + J @ dH[:, k : k + 1], slopes[-2:-1, k], slopes[-1:, k])
            dlam = impulse_derivative(
                rows, change, [impulse], lambda *phase, dA=change.A: -(dA @ impulse + phase[2]) / A
            )
            ddu[:, k] = dH[:, k] * impulse + H @ dlam
        return ddu

    def _response_derivatives(
        self, response: _ImpulseResponse, slopes: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """∂J and ∂H: 𝓜 ∂H = ∂Jᵀ + ∂Bᵀ μ − ∂𝓜 H + Bᵀ ∂μ, B ∂H = −∂B H."""
        n, H = self.shape[1], response.H
        d = np.zeros((slopes.shape[1], *self.shape))
        d[:, *self.places] = slopes.T
        dM, dB, dJ = d[:, :n], d[:, n:-1], d[:, -1:]
        force = dJ[:, 0].T + (dB.transpose(0, 2, 1) @ response.mu - dM @ H)[:, :, 0].T
        return dJ, response.mass.solve(force, -(dB @ H)[:, :, 0].T)[0]

    def _solved(self, values: FloatArray) -> _ImpulseResponse:
        full, n = np.zeros(self.shape), self.shape[1]
        full[self.places] = values
        J, mass = full[-1:], ConstrainedMass(full[:n], full[n:-1])
        return _ImpulseResponse(J, mass, *mass.solve(J.T, np.zeros((len(full) - n - 1, 1))))


class _GapImpulse(NamedTuple):
    """Λ of a gap without friction."""

    lam: FloatArray


def _gap_impulse(rows: ImpactRows) -> FloatArray:
    """Λ of one gap, for which Newton's and Poisson's law are the same."""
    found, _ = impulses(
        rows, lambda b, _: _GapImpulse(np.maximum(-b / rows.A[0], 0.0)), poisson=False
    )
    return found


def _sparse(
    rows: list[dict[int, int]], n: int
) -> tuple[tuple[int, int], tuple[list[int], list[int]], list[int]]:
    """The shape of a matrix, the places of its entries and their nodes."""
    entries = [(r, s, node) for r, row in enumerate(rows) for s, node in row.items()]
    return (
        (len(rows), n),
        ([r for r, _, _ in entries], [s for _, s, _ in entries]),
        [node for _, _, node in entries],
    )


def _restitution(evaluator: Evaluator, e: Event) -> tuple[int, float]:
    """ε as a node, and as a number from 0 to 1."""
    try:
        node = _value(evaluator, e.restitution)
    except (BadExpression, MissingValue) as problem:
        msg = f"impact {e.title!r}: restitution = {e.restitution!r} cannot be read: {problem}"
        raise BadEvent(msg) from problem
    if inside := [i for i in symbols_of(evaluator.tape, (node,)) if i not in evaluator.numbers]:
        msg = (
            f"impact {e.title!r}: restitution = {e.restitution} contains "
            f"{label(evaluator.kin.name(inside[0]))}, which is no constant"
        )
        raise BadEvent(msg)
    epsilon = float(evaluator.values_at([node], {})[0])
    if not 0.0 <= epsilon <= 1.0:
        msg = (
            f"impact {e.title!r}: restitution = {epsilon:g}: it must lie between 0 (no rebound) "
            f"and 1 (nothing lost)"
        )
        raise BadEvent(msg)
    return node, epsilon
