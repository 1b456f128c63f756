"""S⁺ = S + H K⁻¹ (−δv), δt = δtₙ + 2 δv_N⁺/(a (1 − e)): sensitivities at the limit of bounces.
Keywords: Zeno behaviour.

The contact bounces alone: it does not interact with others. The impulses of all bounces that are
left make v_N = 0 whatever it was, with the friction of the last impact. So S is that of the motion
that rests, as soon as the time τ that is left is short; the bounces until then leave S alone. That
changes S by the order of τ; a later limit would be spoiled by the error of the gap over v_N ~ a τ.
With τ = 2 √(tolerance/a) both are alike: 1e-5 at the default tolerances, 1e-6 at 1e-11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.contact_model import ContactModel
from dalembert.runtime.contact.impact_record import ImpactRecord

# the time that is left at the limit is at most this fraction of the run
_LEFT: Final = 1e-5
_RANK: Final = 1e-10


class BounceSaltation:
    """Contacts of a run whose bounces are near their limit, with δt of it."""

    def __init__(
        self,
        model: ContactModel,
        time: tuple[float, float],
        changes: Callable[[float, FloatArray, FloatArray], FloatArray],
    ) -> None:
        # the duration of the run, and the tolerance of its positions
        self._duration, self._tolerance = time
        self._model, self._changes = model, changes
        self._moments: dict[int, FloatArray] = {}

    def moment(self, hit: ImpactRecord | None) -> FloatArray | None:
        """δt of an impact near the limit of its contact; None for other changes."""
        k = None if hit is None else _bouncing_contact(hit)
        if k is None or hit is None or k not in self._moments:
            return None
        return self._moments.pop(k) if hit.limit else self._moments[k]

    def near_limit(
        self, t: float, y: FloatArray, S: FloatArray, moment: FloatArray, hit: ImpactRecord
    ) -> FloatArray:
        """S after an impact: that of the motion at rest, where little time is left until then."""
        k = _bouncing_contact(hit)
        if k is None or not 0.0 < hit.e[k] < 1.0:
            return S
        n, e = dict(hit.rows)[k], float(hit.e[k])
        v, back = float((hit.q.v + hit.q.A @ hit.total)[n]), -float(hit.q.b[n])
        if back <= 0.0:
            return S
        left = min(2.0 * float(np.sqrt(self._tolerance / back)), _LEFT * self._duration)
        if 2.0 * v > left * back * (1.0 - e):
            return S
        dv = self._velocity_changes(t, y, S)
        self._moments[k] = moment + 2.0 * (dv[n] - back * moment) / (back * (1.0 - e))
        return self._at_rest(S, dv, hit)

    def at_limit(self, t: float, S: FloatArray, hit: ImpactRecord) -> FloatArray | None:
        """S where bounces end with this impact, from that before it; None where several contacts
        take part.
        """
        if _bouncing_contact(hit) is None:
            return None
        return self._at_rest(S, self._velocity_changes(t, hit.y, S), hit)

    def _velocity_changes(self, t: float, y: FloatArray, S: FloatArray) -> FloatArray:
        """δv of all rows, a column for each number."""
        return np.array([self._model.unpack(d).v for d in self._changes(t, y, S)]).T

    def _at_rest(self, S: FloatArray, dv: FloatArray, hit: ImpactRecord) -> FloatArray:
        """S after impulses that take δv away, with the friction of the impact."""
        own, mode = hit.phases[0].candidates[0], hit.phases[0].modes[0]
        held = [own.n, *(own.tangents if mode.sticks else ())]
        K, right = np.eye(len(dv)), np.zeros_like(dv)
        K[held], right[held] = hit.q.A[held], -dv[held]
        if own.tangents and not mode.sticks:
            slip = (hit.q.v + hit.q.A @ hit.total)[own.tangents]
            K[own.tangents, own.n] += own.mu * slip / float(np.hypot.reduce(slip))
        new, first = S.copy(), self._model.values.kin.speed_offset
        impulses = np.linalg.lstsq(K, right, rcond=_RANK)[0]
        new[:, first : first + len(hit.q.H)] += (hit.q.H @ impulses).T
        return new


def _bouncing_contact(hit: ImpactRecord) -> int | None:
    """The contact of an impact by Newton's law, where it interacts with no other."""
    if len(hit.numbers) > 1 or hit.poisson:
        return None
    own = hit.phases[0].candidates[0].own_rows
    others = np.delete(hit.q.A[own], own, axis=1)
    return None if others.any() else hit.numbers[0]
