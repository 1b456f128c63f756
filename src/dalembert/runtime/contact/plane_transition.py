"""Slip in a plane from one phase to the next: it begins with a prescribed acceleration, slips along
its velocity, and ends with a prescribed acceleration where its speed is small and falls to zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.contact_equations import Guard
from dalembert.runtime.contact.contact_model import ContactModel, ContactQuantities
from dalembert.runtime.contact.mode_enumeration import PLANE_SLIP, ContactCandidate, ContactMode
from dalembert.runtime.contact.plane_slip import PlaneSlip, frozen_slip, joint_stopping_time

# a slip speed is small below this part of what the accelerations reach in the run, and rounding
# below this part of the velocities
_SMALL: Final = 1e-9
_ROUNDING: Final = 1e-12
_SAME_LEVEL: Final = 1e-6
# contacts that slip at up to this many times the small speed may come to rest together
_TOGETHER: Final = 3.0
# slip that begins with less than this part of the accelerations begins by their change
_SLOW: Final = 0.02
_NO_ACCELERATION: Final = 1e-9
# the time over which the acceleration is prescribed then, relative to that in which forces change
_BEGIN: Final = 5e-4
_LONGEST: Final = 1e-3
_DIFFERENCE: Final = 1e-5

Contacts = Sequence[tuple[ContactCandidate, ContactMode]]


class PlaneTransition:
    """The phases of slip of all contacts of a run with friction in a plane."""

    def __init__(self, model: ContactModel, duration: float) -> None:
        self._model, self._duration = model, duration
        self._places, self._across = model.equations.row_index, model.equations.across_index
        self.numbers = tuple(self._across)
        self.slips: dict[int, PlaneSlip] = {}
        # acceleration and friction of contacts that begin to slip from rest
        self.accelerations: dict[int, tuple[FloatArray, FloatArray]] = {}
        # the slip speed below which the tolerances of the run do not resolve a direction
        self.resolution = 0.0
        # ẏ in the present mode
        self.rates: Callable[[float, FloatArray], FloatArray] | None = None

    def velocity(self, q: ContactQuantities, k: int) -> FloatArray:
        """v_T of contact k."""
        return q.v[[self._places[k, False], self._across[k]]]

    def heading(self, q: ContactQuantities, k: int, small: float) -> tuple[float, float] | None:
        """The direction of slip of contact k: of its velocity, or of its prescribed acceleration
        where slip begins; None at rest.
        """
        v1, v2 = self.velocity(q, k).tolist()
        slips, speed = self.slips.get(k), math.hypot(v1, v2)
        if slips is not None and slips.held and not slips.closing:
            v1, v2 = slips.rate_1 + slips.jerk_1, slips.rate_2 + slips.jerk_2
            speed = math.hypot(v1, v2)
        return None if speed <= small or not speed else (v1 / speed, v2 / speed)

    # ---- changes within slip -----------------------------------------------------------------

    def pass_inner_changes(
        self, t: float, q: ContactQuantities, contacts: Contacts, fired: Sequence[Guard]
    ) -> list[Guard]:
        """The guards that are left: those of slip that continues only change its phase."""
        left, inner = [], []
        for guard in fired:
            slips = self.slips.get(guard.contact)
            if guard.kind != "slip" or slips is None or slips.closing:
                left.append(guard)
            else:
                inner.append(guard.contact)
        for k in inner:
            if not self.slips[k].closing:
                self._set_next_phase(t, q, contacts, k)
        return left

    def _set_next_phase(self, t: float, q: ContactQuantities, contacts: Contacts, k: int) -> None:
        """Slip with the present velocity: it ends alone, ends with that of others, or continues."""
        own, v = contacts[k][0], self.velocity(q, k)
        speed, level = float(np.hypot.reduce(v)), self._level(q, own)
        if speed > level * (1.0 + _SAME_LEVEL):
            self.slips[k] = PlaneSlip(level=level)
            return
        together = [k, *self._slow_neighbours(q, contacts, k, level)]
        if len(together) > 1:
            each = [contacts[i][0] for i in together]
            left = joint_stopping_time(q.A, q.b, q.v, contacts, each)
            if left is not None:
                for i in together:
                    self.slips[i] = _ending_slip(t, self.velocity(q, i), left)
                return
        left = frozen_slip(q.A, q.b, contacts, own).stopping_time(v)
        if left is None:
            self.slips[k] = PlaneSlip(level=2.0 * level, sense=-1.0)
        else:
            self.slips[k] = _ending_slip(t, v, left)

    def _slow_neighbours(
        self, q: ContactQuantities, contacts: Contacts, k: int, level: float
    ) -> list[int]:
        """Contacts that interact with contact k and slip as slowly."""
        rows = contacts[k][0].own_rows
        return [
            i
            for i in self.numbers
            if i != k
            and contacts[i][1] is PLANE_SLIP
            and i not in self.accelerations
            and float(np.hypot.reduce(self.velocity(q, i))) <= _TOGETHER * level
            and q.A[np.ix_(rows, contacts[i][0].own_rows)].any()
        ]

    def _level(self, q: ContactQuantities, own: ContactCandidate) -> float:
        """The slip speed below which forces count as constant."""
        rounding = _ROUNDING * float(np.abs(q.v).max(initial=0.0)) + self.resolution
        ts = own.tangents
        loads = float(np.abs(q.b).max()) + own.mu * abs(own.given) * q.A[ts, ts].max()
        return _SMALL * self._duration * float(loads) + rounding

    # ---- after a change of mode --------------------------------------------------------------

    def start(
        self,
        t: float,
        y: FloatArray,
        q: ContactQuantities,
        contacts: Contacts,
        before: Sequence[ContactMode],
    ) -> None:
        """The phases of all slip in the modes that were chosen."""
        for k in self.numbers:
            if contacts[k][1] is not PLANE_SLIP:
                self.slips.pop(k, None)
            elif k in self.accelerations:
                self.slips[k] = self._from_rest(t, y, q, contacts, k, sticks=before[k].sticks)
        for k in self.numbers:
            if contacts[k][1] is not PLANE_SLIP or k in self.accelerations:
                continue
            old = self.slips.get(k)
            if old is None or old.closing or not old.held or old.end <= t:
                self._set_next_phase(t, q, contacts, k)

    def _from_rest(
        self,
        t: float,
        y: FloatArray,
        q: ContactQuantities,
        contacts: Contacts,
        k: int,
        *,
        sticks: bool,
    ) -> PlaneSlip:
        """The acceleration α d + α̇ d (t − t₀) until slip is large enough to have a direction."""
        a = self.accelerations[k][0]
        fixed = [
            (c._replace(heading=self._first_direction(i)) if i in self.accelerations else c, m)
            for i, (c, m) in enumerate(contacts)
        ]
        own = fixed[k][0]
        alpha, size = float(np.hypot.reduce(a)), frozen_slip(q.A, q.b, fixed, own).scale
        d = np.array(own.heading)
        level, jerk = self._level(q, own), 0.0
        if sticks and alpha < _SLOW * size:
            jerk = self._acceleration_rate(t, y, k, fixed, d)
        alpha = max(alpha, 0.0) if alpha > _NO_ACCELERATION * size else 0.0
        time = _time_to(2.0 * level, alpha, jerk)
        if jerk > 0.0:
            time = max(time, min(_BEGIN * size / jerk, _LONGEST * self._duration))
        a, j = alpha * d, jerk * d
        return PlaneSlip(1.0, a[0], a[1], j[0], j[1], t, t + time)

    def _first_direction(self, k: int) -> tuple[float, float]:
        """In which contact k begins to slip: along its acceleration, or against its friction."""
        a, T = self.accelerations[k]
        d = a if float(np.abs(a).max()) > 0.0 else -T
        size = float(np.hypot.reduce(d))
        return (float(d[0]) / size, float(d[1]) / size) if size else (1.0, 0.0)

    def _acceleration_rate(
        self, t: float, y: FloatArray, k: int, contacts: Contacts, d: FloatArray
    ) -> float:
        """α̇ from states before and after, in the mode that ends."""
        assert self.rates is not None
        h, slope, found = _DIFFERENCE * self._duration, self.rates(t, y), []
        for step in (h, -h):
            q = self._model.quantities(y + step * slope, t + step)
            moved = [
                (c._replace(mu=q.mu[i], given=q.normal[i]), mode)
                for i, (c, mode) in enumerate(contacts)
            ]
            found.append(frozen_slip(q.A, q.b, moved, moved[k][0]).starting_acceleration(d)[0])
        return max((found[0] - found[1]) / (2.0 * h), 0.0)


def _ending_slip(t: float, v: FloatArray, left: float) -> PlaneSlip:
    """Slip that comes to rest after the time that is left."""
    a = -v / left if left > 0.0 else np.zeros(2)
    return PlaneSlip(1.0, float(a[0]), float(a[1]), begin=t, end=t + left, closing=True)


def _time_to(speed: float, alpha: float, jerk: float) -> float:
    """α τ + α̇ τ²/2 = v"""
    if jerk <= 0.0:
        return speed / alpha if alpha else 0.0
    return 2.0 * speed / (alpha + math.sqrt(alpha * alpha + 2.0 * jerk * speed))
