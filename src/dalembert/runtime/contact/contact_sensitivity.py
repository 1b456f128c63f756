"""S⁺ = ∂y⁺/∂y (S⁻ + f⁻ δt) + ∂y⁺/∂t δt + ∂y⁺/∂p − f⁺ δt, δt = −(∂g/∂y S⁻ + ∂g/∂p)/ġ: how
sensitivities change where a contact lands, lifts, sticks or slips.
Keywords: saltation.

g is the guard that ends the mode, f⁻ and f⁺ the rates before and after. An impact makes
y⁺ = y + H Λ, K Λ = r in the mode of the impact, so that dΛ = K⁻¹ (dr − dK Λ). Where rows depend on
one another H Λ is unique, and with it its derivative. Guards that fire together and move
differently, guards that are only touched and bounces of several contacts that accumulate have no
derivative: it is NaN from there on, with a warning. Slip in a plane that begins or ends:
`plane_sensitivity`; the limit of the bounces of one contact: `bounce_sensitivity`.

Source: HNW1 II.6; Leine and Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems
(2004), 7.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.errors import warn
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.bounce_sensitivity import BounceSaltation
from dalembert.runtime.contact.contact_model import ContactModel, ContactQuantities
from dalembert.runtime.contact.guards import monitor_nodes
from dalembert.runtime.contact.impact_record import ImpactPhase, ImpactRecord, impact_rows
from dalembert.runtime.contact.mode_enumeration import ContactCandidate, ContactMode
from dalembert.runtime.contact.plane_sensitivity import PlaneSaltation
from dalembert.runtime.simulation.events.impact_law import impulse_derivative
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
    EventTimeSensitivity,
    ForwardSensitivity,
)
from dalembert.symbolic.algebra.dual_numbers import jacobian

if TYPE_CHECKING:
    from dalembert.runtime.contact.mode_transition import ModeTransition
    from dalembert.runtime.simulation.events.event import ModeHistory

_RANK: Final = 1e-10
# ġ below this part of its terms: the guard is only touched
_GRAZING: Final = 1e-6
# times of guards that fire together may differ by this part
_SAME: Final = 1e-6
_EQUAL_RATES: Final = 1e-9
_TOGETHER: Final = "several contacts change at the same time"
# a start value changes a gap or a velocity of a closed contact by more than this fraction
_MOVED: Final = 1e-9


class GuardTime(NamedTuple):
    """S, f⁻ and δt at the end of a mode; why δt has no number, if it has none.

    f is None where S is that of the motion after the change: slip in a plane has ended, or only
    goes from one phase to the next (`inner`).
    """

    S: FloatArray
    f: FloatArray | None
    moment: FloatArray
    obstacle: str
    inner: bool = False


class ContactSaltation:
    """The changes of S in one run with contacts."""

    def __init__(
        self,
        variation: ForwardSensitivity,
        model: ContactModel,
        p: FloatArray,
        history: ModeHistory,
        transition: ModeTransition,
    ) -> None:
        self._variation, self._model, self._p, self._history = variation, model, p, history
        self._plane = PlaneSaltation(model, transition, self._quantity_changes, self._rates)
        numbers = variation.numbers
        self._places = [j for j, x in enumerate(numbers) if x.constant is not None]
        self._constants = [x.constant for x in numbers if x.constant is not None]
        evaluator = model.values.evaluator
        limits = transition.duration, transition.tolerance
        self._bounces = BounceSaltation(model, limits, self._quantity_changes)
        self._guards = monitor_nodes(model)
        self._quantities = model.quantity_nodes(evaluator)
        self._restitution = [
            evaluator.in_state(evaluator.node(c.restitution)) for c in model.contacts
        ]
        self._warned = False
        # start values move along closed contacts: other parts of their variation are taken out
        self.tangential = False

    # ---- at the start --------------------------------------------------------------------------

    def check_start(self, t: float, y: FloatArray, modes: Sequence[ContactMode]) -> None:
        """No derivative along a start value that opens a closed contact or moves one that sticks:
        A δq = 0 and A δu + ∂(A u)/∂q δq = 0 must hold for the rows of the first mode.
        """
        k, n = self._variation.start.shape
        S = y[n : n * (1 + k)].reshape(k, n)
        y[n : n * (1 + k)] = self._plane.begin(t, y[:n], S).ravel()
        if self.tangential:
            J = self.held_rows(t, y[:n], modes)[1]
            S = y[n : n * (1 + k)].reshape(k, n)
            y[n : n * (1 + k)] = (S - S @ np.linalg.pinv(J) @ J).ravel()
            return
        for d in self._quantity_changes(t, y[:n], y[n : n * (1 + k)].reshape(k, n)):
            moved = self._model.unpack(d)
            for number, mode in enumerate(modes):
                if self._is_moved(number, mode, moved):
                    name = self._model.contacts[number].name
                    self.drop(t, name, y, "a start value opens or moves this closed contact")
                    return

    def _quantity_changes(self, t: float, y: FloatArray, S: FloatArray) -> FloatArray:
        """The derivatives of all quantities at a fixed time, a row for each number."""
        slopes, n = self._slopes(self._quantities, t, y), len(y)
        change = slopes[:, :n] @ S.T
        change[:, self._places] += slopes[:, n + 1 :]
        return np.asarray(change.T)

    def held_rows(
        self, t: float, y: FloatArray, modes: Sequence[ContactMode]
    ) -> tuple[FloatArray, FloatArray]:
        """Gaps and velocities that the modes hold at zero, and their derivatives by the state."""
        rows, across = self._model.equations.row_index, self._model.equations.across_index
        q, slopes = self._model.quantities(y, t), self._slopes(self._quantities, t, y)
        d = [self._model.unpack(column) for column in slopes[:, : len(y)].T]
        values: list[float] = []
        J: list[list[float]] = []
        for k, mode in enumerate(modes):
            normal, gap = rows.get((k, True)), self._model.contacts[k].gap
            if mode.closed and normal is not None and gap is not None:
                values.append(q.gap[k])
                J.append([x.gap[k] for x in d])
            held = [normal] if mode.closed else []
            held += [rows.get((k, False)), across.get(k)] if mode.sticks else []
            for i in (i for i in held if i is not None):
                values.append(float(q.v[i]))
                J.append([float(x.v[i]) for x in d])
        return np.array(values), np.array(J).reshape(len(values), len(y))

    def _is_moved(self, number: int, mode: ContactMode, change: ContactQuantities) -> bool:
        """Whether a change of the state opens a closed contact or moves one that sticks."""
        rows = self._model.equations.row_index
        normal, tangent = rows.get((number, True)), rows.get((number, False))
        leaves = (
            [change.gap[number], change.v[normal]] if mode.closed and normal is not None else []
        )
        across = self._model.equations.across_index.get(number)
        held = [i for i in (tangent, across) if mode.sticks and i is not None]
        slides = [change.v[i] for i in held]
        return any(abs(x) > _MOVED for x in (*leaves, *slides))

    # ---- before the change -------------------------------------------------------------------

    def guard_time(
        self,
        t: float,
        y: FloatArray,
        fired: Sequence[int],
    ) -> GuardTime:
        """δt of the guards that ended a mode, which is still the present one; numbers below zero
        are events of the user.
        """
        k, n = self._variation.start.shape
        S, f = y[n : n * (1 + k)].reshape(k, n).copy(), self._rates(t, y[:n])
        if not fired or min(fired) < 0:
            # what the event itself did to S is done: f is the rate after it in the present mode
            moment = self._variation.events[-1].slopes if len(fired) == 1 else np.full(k, np.nan)
            obstacle = "" if np.isfinite(moment).all() else "an event changes the mode"
            return GuardTime(S, f, moment, obstacle)
        S = self._plane.end_of_start(t, y[:n], S)
        closing, inner = self._plane.phases_that_end([self._model.guards[i] for i in fired])
        if len(inner) == len(fired):
            return GuardTime(S, None, np.zeros(k), "", inner=True)
        own = [i for i in fired if self._model.guards[i].contact not in {*closing, *inner}]
        ends = list(closing.values())
        if not own:
            return self._one_time(S, None, np.array(ends))
        slopes = self._slopes([self._guards[i] for i in own], t, y[:n])
        direction = np.append(f, 1.0)
        terms = np.abs(slopes[:, : n + 1]) @ np.abs(direction)
        rate = slopes[:, : n + 1] @ direction
        if (np.abs(rate) <= _GRAZING * terms).any():
            return GuardTime(S, f, np.full(k, np.nan), "the motion only touches its guard")
        change = slopes[:, :n] @ S.T
        change[:, self._places] += slopes[:, n + 1 :]
        guard_time = self._one_time(S, f, np.vstack([-change / rate[:, np.newaxis], *ends]))
        return guard_time._replace(obstacle=guard_time.obstacle or (_TOGETHER if ends else ""))

    def _one_time(self, S: FloatArray, f: FloatArray | None, moments: FloatArray) -> GuardTime:
        """δt of guards that fire together and move alike."""
        spread = np.abs(moments - moments[0]).max(initial=0.0)
        if not spread <= _SAME * np.abs(moments).max(initial=0.0):
            return GuardTime(S, f, np.full(len(S), np.nan), _TOGETHER)
        return GuardTime(S, f, moments[0], "")

    def _rates(self, t: float, y: FloatArray) -> FloatArray:
        rates = self._model.compiled.native.rates
        return np.asarray(rates.call(np.append(y, t), self._p)[: len(y)])

    def _slopes(self, nodes: Sequence[int], t: float, y: FloatArray) -> FloatArray:
        """∂/∂(y, t, constants) of expressions, in the present mode."""
        evaluator = self._model.values.evaluator
        state = {
            **evaluator.numbers,
            **dict(zip(self._history.symbols, self._history.values[-1], strict=True)),
            **dict(zip(evaluator.kin.state, y.tolist(), strict=True)),
            evaluator.time: t,
        }
        moved = [*evaluator.kin.state, evaluator.time, *self._constants]
        return np.asarray(jacobian(evaluator.tape, nodes, moved, state)[1][0])

    # ---- after it ----------------------------------------------------------------------------

    def apply(
        self, t: float, name: str, before: GuardTime, after: FloatArray, hit: ImpactRecord | None
    ) -> None:
        """S after the change, written into `after`; the new mode is set already."""
        k, n = self._variation.start.shape
        if (moment := self._bounces.moment(hit)) is not None:
            self._variation.events.append(EventTimeSensitivity(t, name, moment))
            after[n : n * (1 + k)] = before.S.ravel()
            return
        if not before.inner:
            self._variation.events.append(EventTimeSensitivity(t, name, before.moment))
        if hit is not None and hit.limit and not before.obstacle:
            rests = self._bounces.at_limit(t, before.S, hit)
            if rests is not None:
                after[n : n * (1 + k)] = rests.ravel()
                return
        f = before.f
        f_after = self._rates(t, after[:n])
        loads = float(np.abs(self._model.quantities(after[:n], t).b).max())
        same = f is None or (
            np.abs(f_after - f).max() <= _EQUAL_RATES * max(float(np.abs(f).max()), loads)
        )
        new, obstacle = before.S, self._plane.obstacle()
        if hit is not None or not same:
            obstacle = self._obstacle(before, hit)
        if obstacle:
            self.drop(t, name, after, obstacle)
            return
        if f is not None and (hit is not None or not same):
            new = new + np.outer(before.moment, f)
            if hit is not None:
                first = self._model.values.kin.speed_offset
                new[:, first : first + len(hit.q.H)] += self._impulse_changes(t, before, hit)
            new = new - np.outer(before.moment, f_after)
            if hit is not None:
                new = self._bounces.near_limit(t, after[:n], new, before.moment, hit)
        after[n : n * (1 + k)] = self._plane.begin(t, after[:n], new).ravel()

    def _obstacle(self, before: GuardTime, hit: ImpactRecord | None) -> str:
        """Why there is no derivative after a change, if there is none."""
        if hit is not None and hit.limit:
            return "its bounces accumulate"
        if hit is not None and hit.presses_by_constraints:
            return "a constraint force presses a friction during expansion (Poisson's law)"
        return before.obstacle or self._plane.obstacle()

    def drop(self, t: float, name: str, after: FloatArray, obstacle: str) -> None:
        """No derivative from now on, and a warning; S continues from zero and is not read."""
        k, n = self._variation.start.shape
        after[n : n * (1 + k)] = 0.0
        self._variation.lost.append(t)
        if not self._warned:
            warn(
                f"sensitivities: {name!r} at t = {t:.9g}: {obstacle}, and there is no derivative "
                f"from there on; end the run before it"
            )
        self._warned = True

    def _impulse_changes(self, t: float, before: GuardTime, hit: ImpactRecord) -> FloatArray:
        """d(H Λ) along every direction, a row for each."""
        n, outputs = len(hit.y), []
        slopes = self._slopes([*self._quantities, *self._restitution], t, hit.y)
        for j, (column, moment) in enumerate(zip(before.S, before.moment, strict=True)):
            d = slopes[:, :n] @ (column + before.f * moment) + slopes[:, n] * moment
            if j in self._places:
                d = d + slopes[:, n + 1 + self._places.index(j)]
            dq = self._model.unpack(d[: len(self._quantities)])
            de = np.where(hit.e == hit.given_e, d[len(self._quantities) :], 0.0)
            dlam = _impulse_derivative(hit, dq, de)
            outputs.append(dq.H @ hit.total + hit.q.H @ dlam)
        return np.array(outputs)


def _impulse_derivative(hit: ImpactRecord, dq: ContactQuantities, de: FloatArray) -> FloatArray:
    """dΛ of an impact, in the modes of its phases."""

    def derive(i: int, b: FloatArray, db: FloatArray, dpart: FloatArray) -> FloatArray:
        given = np.zeros(len(hit.phases[i].candidates))
        given[: len(hit.rows)] = [dpart[n] for _, n in hit.rows]
        return _phase_derivative(hit, hit.phases[i], (b, db), dq, given)

    law = impact_rows(hit.q, hit.rows, hit.e), impact_rows(dq, hit.rows, de)
    return impulse_derivative(*law, [phase.lam for phase in hit.phases], derive)


def _phase_derivative(
    hit: ImpactRecord,
    phase: ImpactPhase,
    right: tuple[FloatArray, FloatArray],
    dq: ContactQuantities,
    dgiven: FloatArray,
) -> FloatArray:
    """dΛ = K⁻¹ (dr − dK Λ) in the mode of one phase; `right` are b and db of w = A Λ + b."""
    q, (b, db), m = hit.q, right, len(hit.q.v)
    K, d, w = np.eye(m), np.zeros(m), q.A @ phase.lam + b
    dw = dq.A @ phase.lam + db
    for i, (c, mode) in enumerate(zip(phase.candidates, phase.modes, strict=True)):
        if c.n is not None and mode.closed:
            K[c.n], d[c.n] = q.A[c.n], -dw[c.n]
        if c.t is None or not mode.closed:
            continue
        ts, number = c.tangents, hit.numbers[i]
        if mode.sticks:
            K[ts], d[ts] = q.A[ts], -dw[ts]
            continue
        heading, turn = _slip_heading(c, mode, w)
        slope = c.normal_slope(m)
        force = slope @ phase.lam + c.given
        dnormal = np.zeros(m) if c.pressed is None else dq.normal_force_jacobian[number]
        change = dq.mu[number] * force + c.mu * (dnormal @ phase.lam + dgiven[i])
        K[ts] += c.mu * np.outer(heading, slope) + c.mu * force * turn @ q.A[ts]
        d[ts] = -change * heading - c.mu * force * turn @ dw[ts]
    return np.asarray(np.linalg.lstsq(K, d, rcond=_RANK)[0])


def _slip_heading(
    c: ContactCandidate, mode: ContactMode, w: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The direction of slip after an impact, and how it turns with the velocity:
    (1 − d dᵀ)/|w| in a plane.
    """
    if c.t2 is None:
        return np.array([float(mode.direction * mode.side)]), np.zeros((1, 1))
    speed = float(np.hypot.reduce(w[c.tangents]))
    heading = w[c.tangents] / speed
    return heading, (np.eye(2) - np.outer(heading, heading)) / speed
