"""From one mode to the next: what a contact does after it lands, lifts, sticks, or lets go.
Keywords: impact law.

Impacts come first, with impulses Λ: v⁺ = v⁻ + A Λ, by Newton's law v_N⁺ = −e v_N⁻ or Poisson's Λ_N
= (1 + e) Λ_N of compression, and |Λ_T| ≤ μ Λ_N. Then the accelerations decide the mode. Bounces
that follow one another ever faster are passed to their limit.

Source: Pfeiffer and Glocker (1996), chapters 7–8; Kane and Levinson, Dynamics (1985), 5.8: Newton's
law with friction may create energy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.contact.bounce_limits import BounceImpact, BounceLimit, BounceLimits
from dalembert.runtime.contact.contact_equations import Guard
from dalembert.runtime.contact.contact_groups import contact_groups
from dalembert.runtime.contact.contact_model import ContactModel, ContactQuantities
from dalembert.runtime.contact.impact_record import ImpactPhase, ImpactRecord, impact_rows
from dalembert.runtime.contact.mode_enumeration import (
    OFF,
    OPEN,
    PLANE_SLIP,
    ContactCandidate,
    ContactMode,
    FeasibleMode,
)
from dalembert.runtime.contact.mode_transition_ir import IMPULSE_ROUNDING
from dalembert.runtime.contact.next_mode import NextModeSolver
from dalembert.runtime.contact.plane_slip import PlaneSlip
from dalembert.runtime.contact.plane_transition import PlaneTransition
from dalembert.runtime.contact.round_cone import friction_mode, solve_round
from dalembert.runtime.contact.transition_records import RESTS, ModeChange, TransitionLog
from dalembert.runtime.ode.failures import BadStart, Cause
from dalembert.runtime.simulation.events.impact_law import impulses

# a part of the run that is no time: what would be over within it is over
_NO_TIME: Final = 1e-12
_LEAST_TIME: Final = 1e-15
_TOUCHING: Final = 1e-11
_ROUNDING: Final = 1e-13
# velocities of a row that holds are smaller, relative to the speeds
_MOVES: Final = 1e-9
# heights above the ground that are rounding, relative to the coordinates
_GRAIN: Final = 1e-14
_ENERGY: Final = 1e-9
_RANK: Final = 1e-10
# slip that ends with the impacts of a group, relative to their speed
_SLOW_SLIP: Final = 10.0
# a part by which another share lies inside its cone
_INSIDE: Final = 1e-6
# slip speeds that have a direction, relative to the tolerance of velocities
_RESOLVED: Final = 300.0
# accelerations of slip from rest that are rounding
_NO_ACCELERATION: Final = 1e-9


class NoFeasibleMode(Exception):
    """No mode, or more than one, satisfies the laws of contact here: the cause, and the facts of
    its message.
    """

    def __init__(self, cause: Cause, **facts: Any) -> None:
        super().__init__(cause)
        self.cause, self.facts = cause, facts


class _Situation(NamedTuple):
    """What the next modes follow from besides the quantities: contacts that touch, those that are
    decided, those whose slip has just ended, the guards that fired, and whether velocities have
    jumped.
    """

    touching: Sequence[bool]
    active: Sequence[bool]
    zero: set[int]
    fired: Sequence[Guard]
    fresh: bool


@dataclass
class ModeTransition:
    """The modes of a run's contacts, and how they change."""

    model: ContactModel
    restitution: FloatArray
    duration: float
    modes: list[ContactMode] = field(default_factory=list)
    # the absolute tolerance of positions, and the relative one
    tolerance: float = 1e-9
    rtol: float = 1e-9
    # the impact of the latest change, if there was one
    impact: ImpactRecord | None = None
    # slip in planes
    plane: PlaneTransition = field(init=False)
    _phases: tuple[ImpactPhase, ...] = ()
    # the modes before contacts were added or dropped
    _active_before: list[ContactMode] = field(default_factory=list)
    _grain: float = 0.0
    # the time of the latest change, and whether this one is at the same time
    latest: float = -np.inf
    _at_once: bool = False
    _unread: list[TransitionLog] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plane = PlaneTransition(self.model, self.duration)

    def flags(self, slack: Mapping[int, float]) -> list[float]:
        """The values of all symbols that a run sets, in the order of the model."""
        flags: list[float] = []
        for k, mode in enumerate(self.modes):
            direction = float(mode.direction)
            slips = self.plane.slips.get(k)
            if slips is not None or mode.direction == PLANE_SLIP.direction:
                direction = min(direction, 1.0)
            own = float(mode.closed), float(mode.sticks), direction, float(mode.side)
            flags += *own, slack.get(k, 0.0)
            if k in self.plane.numbers:
                flags += (PlaneSlip() if slips is None else slips).flags
        return flags

    def initialize(
        self, t: float, y: FloatArray, active: Sequence[bool]
    ) -> tuple[FloatArray, list[ModeChange]]:
        """The first mode, and the state after impacts at the start."""
        q = self.model.quantities(y, t)
        self.model.check_coefficients(q)
        reach = self._reach(y)
        self.modes = []
        for k, c in enumerate(self.model.contacts):
            if not active[k]:
                self.modes.append(OFF)
                continue
            if c.gap is not None and (q.gap[k] < -reach or (c.two_sided and q.gap[k] > reach)):
                raise BadStart(self._inside(k, q.gap[k]), "start")
            self.modes.append(OPEN if c.gap is not None and q.gap[k] > reach else ContactMode())
        return self.switch(t, y, ())

    def _reach(self, y: FloatArray) -> float:
        """Gaps that are none."""
        return _TOUCHING * (1.0 + float(np.abs(y[: self.model.values.kin.n_q]).max(initial=0.0)))

    def set_active(self, t: float, y: FloatArray, active: Sequence[bool]) -> None:
        """Contacts that are there from now on, before the change that this brings with it."""
        self._active_before = list(self.modes)
        q, reach = self.model.quantities(y, t), self._reach(y)
        for k, c in enumerate(self.model.contacts):
            if not active[k]:
                self.modes[k] = OFF
                continue
            if c.gap is not None and (q.gap[k] < -reach or (c.two_sided and q.gap[k] > reach)):
                why = "a row on positions must hold by then" if c.two_sided else "inside the ground"
                raise NoFeasibleMode(Cause.ADDED_APART, contact=c.name, gap=q.gap[k], why=why)
            if self.modes[k] == OFF:
                self.modes[k] = OPEN

    def _inside(self, k: int, gap: float) -> str:
        c = self.model.contacts[k]
        along = (
            f" along {c.force_location[1]}"
            if c.force_location is not None and c.force_location[1] is not None
            else ""
        )
        if c.two_sided:
            return (
                f"{c.name!r} is a guide, and the point is {abs(gap):.6g} off it{along}; start on it"
            )
        return f"{abs(gap):.6g} inside {c.name!r}{along}; start where the gap is positive or zero"

    # ---- one change --------------------------------------------------------------------------

    def switch(
        self, t: float, y: FloatArray, fired: Sequence[Guard], *, reset: bool = False
    ) -> tuple[FloatArray, list[ModeChange]]:
        """The state and the modes after what was seen at time t; monitors that reached zero are
        named. Groups of contacts without one stay as they are, unless an event has `reset` the
        state.
        """
        before, self._active_before = self._active_before or list(self.modes), []
        self.impact = None
        q = self.model.quantities(y, t)
        if self.plane.numbers:
            fastest = float(np.abs(y[self.model.values.kin.speed_offset :]).max(initial=0.0))
            self.plane.resolution = _RESOLVED * (self.tolerance + self.rtol * fastest)
        if fired and self.plane.numbers:
            fired = self.plane.pass_inner_changes(t, q, self.contacts(q), fired)
            if not fired and not reset:
                return y, []
        zero = {m.contact for m in fired if m.kind == "slip"}
        touching = [self._touches(k, q, fired) for k in range(len(self.modes))]
        changes: list[ModeChange] = []
        active = self._active(q, touching, () if reset else fired)
        colliding = [a and b for a, b in zip(touching, active, strict=True)]
        y, q, hit = self._impacts(t, y, q, colliding, changes)
        touching = [a or b for a, b in zip(touching, colliding, strict=True)]
        if self.model.equations.dependent and not hit:
            self._check_plane_shares(q, fired)
        self._at_once = t - self.latest <= _NO_TIME * self.duration
        self._set(q, _Situation(touching, active, zero, fired, fresh=hit))
        self.latest = t
        if self.plane.numbers:
            self.plane.start(t, y, q, self.contacts(q), before)
        for k, (old, new) in enumerate(zip(before, self.modes, strict=True)):
            if old.text != new.text and (old.closed or new.closed or not hit):
                name = self.model.contacts[k].name
                lifts = new.text == "open" and old != OFF
                changes.append(ModeChange(name, "lifts off" if lifts else new.text))
        return y, changes

    def take_over(self, modes: list[ContactMode], t: float) -> None:
        """The modes that native code has decided, and when."""
        self.modes, self.impact, self.latest = modes, None, t

    def note_impacts(self, log: TransitionLog) -> None:
        """Impacts that native code has decided; none of their groups is at its limit."""
        self._unread.append(log)

    def _read_impacts(self) -> None:
        normals = np.array([k for k, normal in self._places if normal])
        for log in self._unread:
            for i in np.flatnonzero((log.hit != 0) & (log.group >= 0).any(axis=1)).tolist():
                group, hit = log.group[i], log.impulse[i] > 0.0
                for number in np.unique(group[hit & (group >= 0)]).tolist():
                    own = np.flatnonzero(hit & (group == number))
                    fastest = float(log.speed[i, own].max())
                    if fastest > 0.0:
                        impact = BounceImpact(float(log.t[i]), tuple(own.tolist()), fastest)
                        members = normals[group[normals] == number]
                        self._bounces.add(tuple(members.tolist()), impact)
        self._unread.clear()

    def _active(
        self, q: ContactQuantities, touching: Sequence[bool], fired: Sequence[Guard]
    ) -> list[bool]:
        """Contacts that interact with those of the monitors; all of them where there are none."""
        if not fired or len(touching) < 2:
            return [True] * len(touching)
        active, own = [not t for t in touching], {m.contact for m in fired}
        numbers = [k for k, touches in enumerate(touching) if touches]
        for group in contact_groups(q.A, [self._current(q, k).rows for k in numbers]):
            contacts = [numbers[i] for i in group]
            for k in contacts:
                active[k] = not own.isdisjoint(contacts)
        return active

    def _touches(self, k: int, q: ContactQuantities, fired: Sequence[Guard]) -> bool:
        c = self.model.contacts[k]
        if self.modes[k] == OFF:
            return False
        if c.gap is None or c.two_sided or self.modes[k].closed:
            return True
        near = any(m.kind == "gap" and m.contact == k for m in fired)
        return near or q.gap[k] <= _TOUCHING * self._length(q)

    def _length(self, q: ContactQuantities) -> float:
        return min(1.0, max(map(abs, q.gap)) or 1.0)

    @cached_property
    def _solver(self) -> NextModeSolver:
        return NextModeSolver()

    @property
    def _places(self) -> dict[tuple[int, bool], int]:
        return self.model.equations.row_index

    def _no_speed(self, q: ContactQuantities) -> float:
        """A velocity that the accelerations here take away in no time."""
        return _LEAST_TIME * self.duration * _size(q.b) + _ROUNDING * _size(q.v)

    # ---- the mode that follows ---------------------------------------------------------------

    def _set(self, q: ContactQuantities, now: _Situation) -> None:
        """The modes by the accelerations."""
        self.plane.accelerations.clear()
        candidates = self._candidates(q, now)
        chosen, candidates = self._next_modes(q, candidates, now.fired)
        for (k, own), mode in zip(candidates.items(), chosen.modes, strict=True):
            self.modes[k] = mode
            if mode is PLANE_SLIP and own.heading is None:
                w, lam = chosen.w[own.tangents], chosen.lam[own.tangents]
                small = _NO_ACCELERATION * _size(q.b)
                self.plane.accelerations[k] = np.where(np.abs(w) > small, w, 0.0), lam

    def _candidates(self, q: ContactQuantities, now: _Situation) -> dict[int, ContactCandidate]:
        """Contacts that may carry a force, by their numbers; those that leave are open."""
        small, v, candidates = self._no_speed(q), q.v.tolist(), {}
        for k, c in enumerate(self.model.contacts):
            if not now.active[k]:
                continue
            n = self._places.get((k, True))
            if not now.touching[k] or (n is not None and not c.two_sided and v[n] > small):
                self.modes[k] = OFF if self.modes[k] == OFF else OPEN
                continue
            slip, heading = self._slip(q, k, now, small)
            own = self._current(q, k)
            candidates[k] = own._replace(
                slip=slip, ended=self._ended(k, now.fired), heading=heading
            )
        return candidates

    def _slip(
        self, q: ContactQuantities, k: int, now: _Situation, small: float
    ) -> tuple[int, tuple[float, float] | None]:
        """The sign of the slip of contact k, or its direction in a plane."""
        tangent = self._places.get((k, False))
        if tangent is None or k in now.zero or (self.modes[k].sticks and not now.fresh):
            return 0, None
        if k in self.model.equations.across_index:
            return 0, self.plane.heading(q, k, small)
        return _sign(float(q.v[tangent]), small), None

    def _next_modes(
        self, q: ContactQuantities, candidates: dict[int, ContactCandidate], fired: Sequence[Guard]
    ) -> tuple[FeasibleMode, dict[int, ContactCandidate]]:
        """The modes that follow, and the contacts that have them."""
        verdict = self._solver.solve(q.A, q.b, list(candidates.values()))
        staying = {k: c for k, c in candidates.items() if not self._lifts(k, fired)}
        if verdict.chosen is None and len(staying) < len(candidates):
            # its force has come to zero, and by a rounding it would be pressed down again
            verdict = self._solver.solve(q.A, q.b, list(staying.values()))
            if verdict.chosen is not None:
                for k in candidates.keys() - staying.keys():
                    self.modes[k] = OPEN
                candidates = staying
        if verdict.chosen is None and fired:
            # what has ended may go on, by a rounding
            again = [c._replace(ended=()) for c in candidates.values()]
            verdict = self._solver.solve(q.A, q.b, again)
        if verdict.chosen is None or verdict.alternatives:
            raise self._paradox(list(candidates), verdict.alternatives)
        return verdict.chosen, candidates

    def contacts(self, q: ContactQuantities) -> list[tuple[ContactCandidate, ContactMode]]:
        """All contacts with their present modes."""
        return [(self._current(q, k), mode) for k, mode in enumerate(self.modes)]

    def _current(self, q: ContactQuantities, k: int) -> ContactCandidate:
        """Contact k in its present mode."""
        c, mode = self.model.contacts[k], self.modes[k]
        return ContactCandidate(
            self._places.get((k, True)),
            self._places.get((k, False)),
            q.mu[k],
            q.mu_static[k],
            q.normal[k],
            None if c.row is None else q.normal_force_jacobian[k],
            c.two_sided,
            0 if k in self.plane.numbers or mode.sticks else mode.direction,
            (),
            self.model.equations.across_index.get(k),
            self.plane.heading(q, k, 0.0) if mode is PLANE_SLIP else None,
        )

    def _check_plane_shares(self, q: ContactQuantities, ends: Sequence[Guard]) -> None:
        """Refuse friction in a plane that leaves its cone only by the share of least norm."""
        gone = {m.contact for m in ends if m.kind == "cone" and m.contact in self.plane.numbers}
        numbers = [k for k, mode in enumerate(self.modes) if mode.closed]
        if not gone or len(numbers) < 2:
            return
        candidates = [self._current(q, k) for k in numbers]
        candidates = [c._replace(mu_static=(1.0 - _INSIDE) * c.mu_static) for c in candidates]
        chosen = self._solver.solve(q.A, q.b, candidates).chosen
        if chosen is None:
            return
        for k, mode in zip(numbers, chosen.modes, strict=True):
            if k in gone and mode.sticks:
                name = repr(self.model.contacts[k].name)
                raise NoFeasibleMode(Cause.SHARED_PLANE_FRICTION, contacts=name)

    def _lifts(self, k: int, fired: Sequence[Guard]) -> bool:
        """Whether contact k was closed until its normal force came to zero."""
        one_sided = self.modes[k].closed and not self.model.contacts[k].two_sided
        return one_sided and any(m.kind == "gap" and m.contact == k for m in fired)

    def _ended(self, k: int, fired: Sequence[Guard]) -> tuple[ContactMode, ...]:
        """What contact k does no longer: a force that vanished opens it, one that left the cone
        lets it slip; what has just been held by others, and has let these go at once, is at its
        limit as well.
        """
        what = {m.kind for m in fired if m.contact == k}
        mode = self.modes[k]
        if "gap" in what and mode.closed:
            if self.model.contacts[k].two_sided:
                return tuple(
                    ContactMode(sticks=s, direction=d, side=mode.side)
                    for s, d in ((True, 0), (False, 1), (False, -1))
                )
            return tuple(
                ContactMode(sticks=s, direction=d)
                for s, d in ((True, 0), (False, 0), (False, 1), (False, -1))
            )
        is_held = mode.sticks and mode.direction != 0
        if "cone" in what or (is_held and self._at_once):
            return tuple(ContactMode(sticks=True, side=side) for side in (1, -1))
        return ()

    def _paradox(self, numbers: Sequence[int], several: Sequence[FeasibleMode]) -> NoFeasibleMode:
        names = " and ".join(repr(self.model.contacts[k].name) for k in numbers)
        if not several:
            return NoFeasibleMode(Cause.NO_CONTACT_MOTION, contacts=names)
        ways = " or ".join(
            ", ".join(
                f"{self.model.contacts[k].name} {m.text}"
                for k, m in zip(numbers, h.modes, strict=True)
            )
            for h in several
        )
        return NoFeasibleMode(Cause.SEVERAL_CONTACT_MOTIONS, ways=ways)

    # ---- impacts -----------------------------------------------------------------------------

    def _impacts(
        self,
        t: float,
        y: FloatArray,
        q: ContactQuantities,
        touching: list[bool],
        changes: list[ModeChange],
    ) -> tuple[FloatArray, ContactQuantities, bool]:
        """The state after impacts, if something approaches; and whether it does."""
        rows = [
            (k, n)
            for k in range(len(touching))
            if touching[k] and (n := self._places.get((k, True))) is not None
        ]
        if not self._approaches(y, q, rows):
            return y, q, False
        e = self.restitution
        impulse = self._impulse(q, rows, e)
        after = self._with(y, q, impulse)
        new = self.model.quantities(after, t)
        self._grain = _GRAIN * float(np.abs(y[: self.model.values.kin.n_q]).max(initial=0.0))
        resting = self._resting(t, q, new, rows)
        if resting:
            e = np.where(np.isin(np.arange(len(self.modes)), list(resting)), 0.0, e)
            impulse = self._impulse(q, rows, e)
            after = self._with(y, q, impulse)
            new = self.model.quantities(after, t)
        changes += self._impact_changes(impulse, rows, resting)
        energy = float(impulse @ q.v + impulse @ q.A @ impulse / 2)
        stopped_bounces = any(self.restitution[k] > 0.0 for k in resting)
        self.impact = ImpactRecord(
            y, q, tuple(rows), self._numbers(rows), e, self.restitution, self._phases, impulse,
            energy, stopped_bounces,
        )  # fmt: skip
        limits = self._accumulated(t, q, impulse, rows)
        stopped, new = self._to_limits(t, after, new, limits, touching, changes)
        if stopped is not after:
            self.impact = self.impact._replace(limit=True)
        return stopped, new, True

    def _approaches(
        self, y: FloatArray, q: ContactQuantities, rows: Sequence[tuple[int, int]]
    ) -> bool:
        """Whether a contact closes with a velocity, or a row that has been added moves."""
        small = self._no_speed(q)
        speeds = y[self.model.values.kin.speed_offset :]
        moves = max(small, _MOVES * float(np.abs(speeds).max(initial=0.0)))
        contacts = self.model.contacts
        return any(
            abs(q.v[n]) > moves if self._is_switched(k) else q.v[n] < -small
            for k, n in rows
            if self._is_switched(k) or not contacts[k].two_sided
        )

    def _is_switched(self, k: int) -> bool:
        c = self.model.contacts[k]
        return c.two_sided and c.active is not None

    def _impact_changes(
        self, impulse: FloatArray, rows: Sequence[tuple[int, int]], resting: Mapping[int, float]
    ) -> list[ModeChange]:
        """Contacts with an impulse, and those whose bounces are over."""
        least, names = _ROUNDING * _size(impulse), [c.name for c in self.model.contacts]
        changes = [
            ModeChange(names[k], "impact", float(impulse[n]))
            for k, n in rows
            if (abs(impulse[n]) if self._is_switched(k) else impulse[n]) > least
        ]
        changes += [
            ModeChange(names[k], RESTS, None, limit)
            for k, limit in resting.items()
            if self.restitution[k] > 0.0
        ]
        return changes

    def _numbers(self, rows: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """The contacts that take part in an impact, in the order of the candidates."""
        pressed = (k for k, c in enumerate(self.model.contacts) if c.row is not None)
        return (*(k for k, _ in rows), *pressed)

    # ---- bounces that answer one another -----------------------------------------------------

    @cached_property
    def _bounces(self) -> BounceLimits:
        return BounceLimits(self.tolerance)

    def _accumulated(
        self,
        t: float,
        q: ContactQuantities,
        impulse: FloatArray,
        rows: Sequence[tuple[int, int]],
    ) -> list[BounceLimit]:
        """Groups of several contacts whose impacts are as good as over."""
        normals = [(k, n) for (k, normal), n in self._places.items() if normal]
        if len(normals) < 2:
            return []
        self._read_impacts()
        limits, least = [], _ROUNDING * _size(impulse)
        for group in contact_groups(q.A, [[n] for _, n in normals]):
            numbers = tuple(normals[i][0] for i in group)
            hit = [(k, n) for k, n in rows if k in numbers and impulse[n] > least]
            if len(numbers) < 2 or not hit:
                continue
            speed = max(-float(q.v[n]) for _, n in hit)
            if speed > 0.0:
                limit = self._bounces.add(numbers, BounceImpact(t, tuple(k for k, _ in hit), speed))
                limits += [] if limit is None else [limit]
        return limits

    def _to_limits(
        self,
        t: float,
        y: FloatArray,
        q: ContactQuantities,
        limits: Sequence[BounceLimit],
        touching: list[bool],
        changes: list[ModeChange],
    ) -> tuple[FloatArray, ContactQuantities]:
        """The state with contacts at rest whose impacts are over, where they stay closed."""
        for limit in limits:
            if any(abs(q.gap[k]) > limit.height for k in limit.contacts):
                continue
            stopped = self._at_rest(y, q, self._resting_rows(q, limit))
            new = self.model.quantities(stopped, t)
            if not self._stays_closed(new, limit.contacts):
                continue
            y, q = stopped, new
            for k in limit.contacts:
                touching[k] = True
                changes.append(ModeChange(self.model.contacts[k].name, RESTS, None, limit.t))
        return y, q

    def _stays_closed(self, q: ContactQuantities, contacts: Sequence[int]) -> bool:
        """Whether contacts press without velocity."""
        numbers = sorted({*contacts, *(k for k, m in enumerate(self.modes) if m.closed)})
        small = self._no_speed(q)
        candidates = [
            self._current(q, k)._replace(heading=self.plane.heading(q, k, small))
            if k in self.plane.numbers
            else self._current(q, k)._replace(
                slip=0 if (t := self._places.get((k, False))) is None else _sign(q.v[t], small)
            )
            for k in numbers
        ]
        held = self._solver.solve(q.A, q.b, candidates).chosen
        return held is not None and all(
            mode.closed for k, mode in zip(numbers, held.modes, strict=True) if k in contacts
        )

    def _resting_rows(self, q: ContactQuantities, limit: BounceLimit) -> list[int]:
        """The normals of contacts at their limit, and slip no faster than their impacts."""
        rows = [self._places[k, True] for k in limit.contacts]
        tangents = [self._places.get((k, False)) for k in limit.contacts]
        tangents += [self.model.equations.across_index.get(k) for k in limit.contacts]
        return rows + [
            t for t in tangents if t is not None and abs(q.v[t]) <= _SLOW_SLIP * limit.speed
        ]

    def _at_rest(self, y: FloatArray, q: ContactQuantities, rows: list[int]) -> FloatArray:
        """v = 0 of rows: the shortest change of the velocities, measured by the masses."""
        impulse = np.zeros(len(q.v))
        impulse[rows] = np.linalg.lstsq(q.A[np.ix_(rows, rows)], -q.v[rows], rcond=_RANK)[0]
        return self._with(y, q, impulse)

    def _with(self, y: FloatArray, q: ContactQuantities, impulse: FloatArray) -> FloatArray:
        after = y.copy()
        first = self.model.values.kin.speed_offset
        after[first : first + len(q.H)] += q.H @ impulse
        return after

    def _impact_candidates(
        self, q: ContactQuantities, rows: Sequence[tuple[int, int]]
    ) -> list[ContactCandidate]:
        """Contacts that touch, and friction that constraint forces press: an impact is felt in
        constraint rows as well.
        """
        across = self.model.equations.across_index
        pressed = [(k, None) for k, c in enumerate(self.model.contacts) if c.row is not None]
        return [
            ContactCandidate(
                n,
                self._places.get((k, False)),
                q.mu[k],
                q.mu[k],
                0.0,
                None if n is not None else q.normal_force_jacobian[k],
                self.model.contacts[k].two_sided,
                t2=across.get(k),
            )
            for k, n in (*rows, *pressed)
        ]

    def _impulse(
        self, q: ContactQuantities, rows: Sequence[tuple[int, int]], e: FloatArray
    ) -> FloatArray:
        """Λ of all contacts that touch."""
        contacts = self.model.contacts
        candidates = self._impact_candidates(q, rows)
        poisson = any(contacts[k].law == "poisson" for k, _ in rows)

        def solve(b: FloatArray, given: FloatArray | None) -> ImpactPhase:
            if given is None:
                solved = self._solved(q, b, candidates)
                return ImpactPhase(tuple(candidates), solved.modes, solved.lam)
            again = [
                c._replace(given=float(given[c.n] if c.pressed is None else c.pressed @ given))
                for c in candidates
            ]
            return self._expansion(q, b, again)

        law_rows = impact_rows(q, rows, e)
        total, phases = impulses(law_rows, solve, poisson=poisson)
        change = float(total @ q.v + total @ q.A @ total / 2)
        stops = float((q.v * q.v / np.maximum(np.diag(q.A), 1e-300)).sum())
        if change > _ENERGY * (float(np.abs(total) @ np.abs(q.v)) + IMPULSE_ROUNDING * stops):
            names = " and ".join(repr(contacts[k].name) for k, _ in rows)
            law, cure = (
                ("Poisson's", "lower the restitution")
                if poisson
                else ("Newton's", "use law='poisson', or lower the restitution")
            )
            raise NoFeasibleMode(
                Cause.IMPACT_ENERGY, law=law, energy=change, contacts=names, cure=cure
            )
        self._phases = phases
        return total

    def _expansion(
        self, q: ContactQuantities, b: FloatArray, candidates: list[ContactCandidate]
    ) -> ImpactPhase:
        """The modes and further impulses of expansion. Friction acts on contacts that come apart as
        well, by the impulse that they are given: these hold no normal row.
        """
        if all(c.t is None for c in candidates):
            solved = self._solved(q, b, candidates)
            return ImpactPhase(tuple(candidates), solved.modes, solved.lam)
        chosen = solve_round(q.A, b, candidates).chosen
        if chosen is None:
            raise NoFeasibleMode(Cause.NO_IMPULSES)
        nothing = np.zeros(len(b))
        used, modes = [], list(chosen.modes)
        for i, c in enumerate(candidates):
            apart = not modes[i].closed and c.t is not None
            used.append(c._replace(n=None, pressed=nothing) if apart else c)
            if apart:
                modes[i] = friction_mode(c, chosen.w)
        return ImpactPhase(tuple(used), tuple(modes), chosen.lam)

    def _solved(
        self, q: ContactQuantities, b: FloatArray, candidates: Sequence[ContactCandidate]
    ) -> FeasibleMode:
        verdict = self._solver.solve(q.A, b, candidates, impact=True)
        if verdict.chosen is None:
            raise NoFeasibleMode(Cause.NO_IMPULSES)
        return verdict.chosen

    def _resting(
        self,
        t: float,
        before: ContactQuantities,
        q: ContactQuantities,
        rows: Sequence[tuple[int, int]],
    ) -> dict[int, float]:
        """Contacts whose next flights, all of them together, would be over in no time, and when
        they would.
        """
        if all(self.restitution[k] >= 1.0 or q.v[n] <= 0.0 for k, n in rows):
            return {}
        found = {}
        candidates = [ContactCandidate(n, None) for _, n in rows]
        held, small = self._solver.solve(q.A, q.b, candidates).chosen, self._no_speed(q)
        for k, n in rows:
            v, e = float(q.v[n]), float(self.restitution[k])
            moves = v > small or before.v[n] < -small
            if held is None or not v > 0.0 or not moves or e >= 1.0:
                continue
            back = float(q.A[n, n] * held.lam[n])
            # Σ 2 v eⁱ/a
            left = 2.0 * v / (back * (1.0 - e)) if back > 0.0 else np.inf
            # or flights v²/2a so low that rounding of the coordinates hides them
            if left <= _NO_TIME * self.duration or v * v <= 2.0 * back * self._grain:
                found[k] = t + left
        return found


def _sign(v: float, small: float) -> int:
    return 0 if abs(v) <= small else 1 if v > 0.0 else -1


def _size(b: FloatArray) -> float:
    return max(map(abs, b.tolist()), default=0.0)
