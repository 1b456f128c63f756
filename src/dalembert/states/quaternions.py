"""e/|e|: a quaternion of any length is an attitude; a start takes the one of length one.

e and k e are the same rotation, R = R_h(e)/(e·e), so four given numbers are divided by their length, and given rates of theirs
with them, which leaves ω = 2 E ė/(e·e) as it was meant. What was changed is said. Four zeros are no attitude.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.algebra.tape import Tape
from dalembert.geometry.rotation import Quaternion
from dalembert.model.system import System
from dalembert.ode.failures import BadStart
from dalembert.states.conditions import Condition

if TYPE_CHECKING:
    from numpy.typing import NDArray

# typed with so few digits e·ė is zero: as a part of |ė|
_TYPED: Final = 1e-4
# a length that differs from one by less is meant to be one, and is left alone
_ROUNDING: Final = 1e-12


def no_rotation(system: System) -> NDArray[np.float64]:
    """q = 0, and e = (1, 0, 0, 0) for every quaternion."""
    q, place = np.zeros(len(system.q)), {x.i: k for k, x in enumerate(system.q)}
    for F in system.space.frames:
        if isinstance(F.rotation, Quaternion) and F.rotation.e[0] in place:
            q[place[F.rotation.e[0]]] = 1.0
    return q


class GivenQuaternion(NamedTuple):
    """A quaternion that a start gives whole: its frame, the four coordinates and their rates."""

    frame: str
    e: tuple[int, ...]
    rates: tuple[int | None, ...]


def given_quaternions(system: System, tape: Tape, given: Collection[int | None]) -> tuple[GivenQuaternion, ...]:
    """The quaternions of which all four coordinates are among the given symbols."""
    rotations = [(F.name, F.rotation.e) for F in system.space.frames if isinstance(F.rotation, Quaternion)]
    return tuple(GivenQuaternion(name, e, tuple(tape.rate(x) for x in e)) for name, e in rotations if all(x in given for x in e))


def with_unit_quaternions(whole: Sequence[GivenQuaternion], asked: Sequence[Condition]) -> tuple[list[Condition], tuple[str, ...]]:
    """The conditions with every quaternion that is given whole brought to length one, and what was done."""
    found, notes = list(asked), []
    for each in whole:
        found, note = _scaled(found, each)
        notes += [note] if note else []
    return found, tuple(notes)


def _scaled(asked: list[Condition], whole: GivenQuaternion) -> tuple[list[Condition], str]:
    frame, e, rates = whole
    given = {c.symbol: c.value for c in asked}
    length = math.hypot(*(given[x] for x in e))
    if length == 0.0:
        msg = f"start: four zeros are no attitude: give the quaternion of {frame} a length, such as (1, 0, 0, 0) for no rotation"
        raise BadStart(msg)
    if abs(length - 1.0) <= _ROUNDING:
        return _along_the_sphere(asked, [given[x] for x in e], rates), ""
    own = {*e, *rates}
    scaled = [c._replace(value=c.value / length) if c.symbol in own else c for c in asked]
    scaled = _along_the_sphere(scaled, [given[x] / length for x in e], rates)
    listed = ", ".join(f"{given[x]:.6g}" for x in e)
    return scaled, f"the quaternion of {frame} was given as ({listed}), of length {length:.6g}; it was divided by its length"


def _along_the_sphere(asked: list[Condition], e: list[float], rates: Sequence[int | None]) -> list[Condition]:
    """ė − (e·ė) e, where four given rates miss e·ė = 0 by the digits that were typed: no ω depends on the difference."""
    given = {c.symbol: c.value for c in asked if c.symbol is not None}
    if any(x not in given for x in rates):
        return asked
    along = math.fsum(a * given[x] for a, x in zip(e, rates, strict=True) if x is not None)
    if abs(along) > _TYPED * math.hypot(*(given[x] for x in rates if x is not None)):
        return asked
    off = {x: along * a for a, x in zip(e, rates, strict=True)}
    return [c._replace(value=c.value - off[c.symbol]) if c.symbol in off else c for c in asked]
