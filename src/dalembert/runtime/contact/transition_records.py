"""Records of changes of mode: arrays that native code has filled, and their words when somebody
reads them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.runtime.contact.mode_enumeration import OPEN as OPEN_MODE
from dalembert.runtime.contact.mode_enumeration import ContactMode
from dalembert.runtime.simulation.events.event import Occurrence

RESTS: Final = "rests, the limit of its bounces"
# modes by their codes
MODES: Final = (
    OPEN_MODE,
    ContactMode(),
    ContactMode(sticks=True),
    ContactMode(direction=1),
    ContactMode(direction=-1),
    ContactMode(sticks=True, direction=1),
    ContactMode(sticks=True, direction=-1),
)
_CODES: Final = {mode: code for code, mode in enumerate(MODES)}
TEXTS: Final = tuple(mode.text for mode in MODES)
# the first code with the same word
_WORDS: Final = np.array([TEXTS.index(text) for text in TEXTS])


def modes_of(codes: Sequence[int]) -> list[ContactMode]:
    """Modes by their codes."""
    return [MODES[code] for code in codes]


def codes_of(modes: Sequence[ContactMode]) -> list[int]:
    """The codes of modes, −1 for one that native code does not know."""
    return [_CODES.get(mode, -1) for mode in modes]


class ModeChange(NamedTuple):
    """What a contact does from now on, and the impulse that it got; the time, where it is not
    that of the change.
    """

    contact: str
    action: str
    impulse: float | None = None
    t: float | None = None


def occurrences_of(
    names: Sequence[str],
    t: float,
    states: tuple[Sequence[float], Sequence[float] | None],
    changes: Sequence[ModeChange],
    energy: float,
) -> Iterator[Occurrence]:
    """One for each change at time t, between the states before and after (None where nothing
    jumps); the first has the energy.
    """
    before, after = states
    was = is_now = dict(zip(names, before, strict=True))
    if after is not None:
        is_now = dict(zip(names, after, strict=True))
    for contact, action, impulse, limit in changes:
        when = t if limit is None else limit
        yield Occurrence(when, contact, action, was, is_now, energy, impulse)
        energy = 0.0


class TransitionLog(NamedTuple):
    """Changes of mode since the last visit, a row for each: the time, whether there was an impact
    and its energy, the states before and after it, and of each contact the code of its mode, its
    impulse (NaN for none), its speed of approach, the time at which its bounces would be over
    (NaN where they go on) and its group.
    """

    t: FloatArray
    hit: IndexArray
    energy: FloatArray
    before: FloatArray
    after: FloatArray
    modes: IndexArray
    impulse: FloatArray
    speed: FloatArray
    rest: FloatArray
    group: IndexArray


class NativeRecords(NamedTuple):
    """A log, the codes of the modes before it, and the names of contacts and states."""

    log: TransitionLog
    first: list[int]
    contacts: Sequence[str]
    states: Sequence[str]

    def read(self) -> list[Occurrence]:
        """What happened, in words."""
        log = self.log
        occurrences: list[Occurrence] = []
        before, after = log.before.tolist(), log.after.tolist()
        for i, changes in enumerate(self._changes()):
            hit = bool(log.hit[i])
            states = before[i], after[i] if hit else None
            energy = float(log.energy[i]) if hit else 0.0
            occurrences += occurrences_of(self.states, float(log.t[i]), states, changes, energy)
        return occurrences

    def _changes(self) -> Iterator[list[ModeChange]]:
        """Impacts, ends of bounces and new modes, row by row."""
        log, names = self.log, self.contacts
        codes = _WORDS[np.vstack([np.array(self.first, dtype=int), log.modes])]
        for i, changed in enumerate(codes[1:] != codes[:-1]):
            changes = []
            if log.hit[i]:
                impulse, rest = log.impulse[i].tolist(), log.rest[i].tolist()
                changes = [
                    ModeChange(name, "impact", x)
                    for name, x in zip(names, impulse, strict=True)
                    if x > 0.0
                ]
                changes += [
                    ModeChange(name, RESTS, None, x)
                    for name, x in zip(names, rest, strict=True)
                    if not math.isnan(x)
                ]
            for k in np.flatnonzero(changed).tolist():
                mode = int(log.modes[i, k])
                changes.append(ModeChange(names[k], TEXTS[mode] if mode else "lifts off"))
            yield changes
