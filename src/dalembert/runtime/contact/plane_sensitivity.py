"""S⁺ = S − H K⁻¹ (δv_T, 0) where slip in a plane ends, δt = ∂τ/∂v · δv_T; and δv_T = ∫ δ(α d) dt
where it begins: sensitivities through the phases of slip in a plane.
Keywords: stick-slip transition.

A run prescribes the acceleration of slip that ends within τ(v), and of slip that begins, for a
short time. These accelerations depend on the state, which the rates of the phase do not know.

End: τ is homogeneous in v, so that its derivative does not vanish with v. The impulses of the
phase make v_T = 0 whatever v was, and the motion that follows sticks: S is that of the projected
velocities, and δt is needed for the time of the event alone. Both hold but for terms of the order
of τ, 1e-9 of a run.

Begin: the acceleration α d + α̇ d (t − t₀) changes with the state by D(α d) S, added at the end of
the phase by the trapezoidal rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.contact_equations import Guard
from dalembert.runtime.contact.contact_model import ContactModel, ContactQuantities
from dalembert.runtime.contact.plane_slip import (
    PlaneSlip,
    forces_of_others,
    frozen_slip,
    joint_stopping_time,
)

if TYPE_CHECKING:
    from dalembert.runtime.contact.mode_transition import ModeTransition

# steps of differences, relative to what is changed
_STEP: Final = 1e-3
_RANK: Final = 1e-12

QuantityChanges = Callable[[float, FloatArray, FloatArray], FloatArray]


class PlaneSaltation:
    """The phases of slip in a plane of one run, and what they do to S, a row for each number."""

    def __init__(
        self,
        model: ContactModel,
        transition: ModeTransition,
        changes: QuantityChanges,
        rates: Callable[[float, FloatArray], FloatArray],
    ) -> None:
        self._model, self._transition, self._changes = model, transition, changes
        self._rates = rates
        # the phases at the latest change
        self._slips: dict[int, PlaneSlip] = {}
        # δt of slip that ends, and D(α d) S where slip began
        self._moments: dict[int, FloatArray] = {}
        self._begun: dict[int, FloatArray] = {}

    # ---- before a change -------------------------------------------------------------------

    def phases_that_end(self, fired: Sequence[Guard]) -> tuple[dict[int, FloatArray], list[int]]:
        """δt of each contact whose slip has ended, and the contacts whose slip continues in another
        phase.
        """
        slips = {m.contact: self._slips.get(m.contact) for m in fired if m.kind == "slip"}
        closing = {k: self._moments[k] for k, x in slips.items() if x is not None and x.closing}
        return closing, [k for k, x in slips.items() if x is not None and not x.closing]

    def obstacle(self) -> str:
        """Why there is no derivative after the latest change, if there is none."""
        new = self._transition.plane.slips
        if any(x.closing and new.get(k, x) != x for k, x in self._slips.items()):
            return "its slip ends and begins again at the same time"
        slow = [k for k, x in new.items() if self._slips.get(k) != x and (x.jerk_1 or x.jerk_2)]
        return "several contacts begin to slip slowly together" if len(slow) > 1 else ""

    def end_of_start(self, t: float, y: FloatArray, S: FloatArray) -> FloatArray:
        """S with δv_T of the slip whose first phase ends here."""
        new = self._transition.plane.slips
        for k, old in self._slips.items():
            if k not in self._begun or new.get(k) == old:
                continue
            rates = (self._begun.pop(k) + self._start_rates(t, y, S, k)) / 2.0
            time, n_q = t - old.begin, self._model.values.kin.n_q
            new_S = self._with_slip(self._model.quantities(y, t), S, [k], time * rates)
            # δv grew from zero: δq by half of it; q̇ is linear in the speeds
            for row, change in zip(new_S, new_S - S, strict=True):
                moved = self._rates(t, y + change) - self._rates(t, y)
                row[:n_q] += time / 2.0 * moved[:n_q]
            S = new_S
        return S

    # ---- after it ----------------------------------------------------------------------------

    def begin(self, t: float, y: FloatArray, S: FloatArray) -> FloatArray:
        """S in the phases that begin here."""
        old, new = self._slips, dict(self._transition.plane.slips)
        self._slips = new
        begun = [k for k, x in new.items() if old.get(k) != x and x.held]
        starting = [k for k in begun if not new[k].closing]
        for k in starting:
            self._begun[k] = self._start_rates(t, y, S, k)
        for end in {new[k].end for k in begun if new[k].closing}:
            together = [k for k in begun if new[k].closing and new[k].end == end]
            S = self._end(t, y, S, together)
        return S

    def _end(self, t: float, y: FloatArray, S: FloatArray, numbers: list[int]) -> FloatArray:
        """S of the motion that sticks, and δt of the end of slip."""
        q = self._model.quantities(y, t)
        contacts = self._transition.contacts(q)
        own = [contacts[k][0] for k in numbers]
        rows = [i for c in own for i in c.tangents]
        dv = np.array([self._model.unpack(d).v[rows] for d in self._changes(t, y, S)])

        def stopping_time(v_T: FloatArray) -> float:
            v = q.v.copy()
            v[rows] = v_T
            left = (
                frozen_slip(q.A, q.b, contacts, own[0]).stopping_time(v_T)
                if len(own) == 1
                else joint_stopping_time(q.A, q.b, v, contacts, own)
            )
            return np.nan if left is None else left

        moment = np.array([_slope(stopping_time, q.v[rows], d) for d in dv])
        self._moments.update(dict.fromkeys(numbers, moment))
        return self._with_slip(q, S, numbers, -dv)

    def _with_slip(
        self, q: ContactQuantities, S: FloatArray, numbers: Sequence[int], dv: FloatArray
    ) -> FloatArray:
        """S after friction alone has changed δv_T of these contacts by dv, the rows of the others
        as their modes have them.
        """
        contacts = self._transition.contacts(q)
        own = [contacts[k][0] for k in numbers]
        rows = [i for c in own for i in c.tangents]
        K, _ = forces_of_others(q.A, q.b, contacts, own)
        K[rows] = q.A[rows]
        right = np.zeros((len(q.b), len(S)))
        right[rows] = dv.T
        impulses = np.linalg.lstsq(K, right, rcond=_RANK)[0]
        first, new = self._model.values.kin.speed_offset, S.copy()
        new[:, first : first + len(q.H)] += (q.H @ impulses).T
        return new

    def _start_rates(self, t: float, y: FloatArray, S: FloatArray, k: int) -> FloatArray:
        """D(α d) S of slip that begins, a row for each number."""
        outputs = self._model.quantity_values(y, t)
        sizes, slip = self._model.unpack(np.abs(outputs)), self._slips[k]
        d = np.array([slip.rate_1 + slip.jerk_1, slip.rate_2 + slip.jerk_2])

        def acceleration(x: FloatArray) -> FloatArray:
            q = self._model.unpack(x)
            contacts = self._transition.contacts(q)
            alpha, along = frozen_slip(q.A, q.b, contacts, contacts[k][0]).starting_acceleration(d)
            return alpha * along

        rates = []
        for change in self._changes(t, y, S):
            part = _relative(self._model.unpack(np.abs(change)), sizes)
            rates.append(
                _difference(acceleration, outputs, change, _STEP / part) if part else 0 * d
            )
        return np.array(rates)


def _relative(change: ContactQuantities, size: ContactQuantities) -> float:
    """The largest change of what accelerations depend on, relative to its size."""
    each = [
        (change.A, size.A),
        (change.b, size.b),
        (change.normal_force_jacobian, size.normal_force_jacobian),
        (np.array(change.mu), np.array(size.mu)),
        (np.array(change.normal), np.array(size.normal)),
    ]
    parts = [float(a.max()) / float(b.max()) for a, b in each if b.max(initial=0.0) > 0.0]
    return max(parts, default=0.0)


def _slope(f: Callable[[FloatArray], float], v: FloatArray, d: FloatArray) -> float:
    """∂f/∂v · d of a function that is homogeneous in v."""
    size = float(np.abs(d).max(initial=0.0))
    if not size:
        return 0.0
    return float(_difference(f, v, d, _STEP * float(np.abs(v).max()) / size))


def _difference(
    f: Callable[[FloatArray], FloatArray | float], x: FloatArray, d: FloatArray, h: float
) -> FloatArray:
    """(8 (f₁ − f₋₁) − (f₂ − f₋₂)) / 12 h"""
    near = np.asarray(f(x + h * d)) - f(x - h * d)
    far = np.asarray(f(x + 2.0 * h * d)) - f(x - 2.0 * h * d)
    return np.asarray((8.0 * near - far) / (12.0 * h))
