"""t_j: where sign, |·| or atan2 of something that depends on the time alone jumps or bends; steps end there.

A step that spans a pulse and happens to look at neither side of it would not know that there was one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.arithmetic import Arrays
from dalembert.algebra.folds import evaluate, needed, symbols_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.algebra.tape import Tape
    from dalembert.states.values import Values

    Numbers = NDArray[np.float64]

_BENDING: Final = frozenset({"sign", "abs", "atan2"})
# how finely a run is looked through, and how many jumps are given a step of their own
_SAMPLES: Final = 20_001
_MOST: Final = 5_000
_BISECTIONS: Final = 1100
_LAST_BITS: Final = 64


def jump_times(tape: Tape, time: int, values: Mapping[int, float], t0: float, t1: float) -> tuple[float, ...]:
    """The times inside (t0, t1) at which such an argument changes its sign, in order."""
    times: set[float] = set()
    for argument in _arguments(tape, time, values):
        times.update(_changes(functools.partial(_sign, tape, argument, time, values), t0, t1))
    # where the run begins or ends a step does so anyway
    margin = _LAST_BITS * max(math.ulp(t0), math.ulp(t1))
    return tuple(sorted(t for t in times if t0 + margin < t < t1 - margin)[:_MOST])


def bends_in_time(values: Values) -> bool:
    """Whether sign, |·| or atan2 of something that depends on the time alone stands in what inputs and motions are bound to."""
    kin = values.kin
    inside = needed(kin.tape, values.bindings.values())
    return any(kin.tape.nodes[i][0] in _BENDING and kin.system.t.i in symbols_of(kin.tape, (i,)) for i in inside)


def _sign(tape: Tape, argument: int, time: int, values: Mapping[int, float], t: Numbers) -> Numbers:
    """The sign of an argument at many times."""
    with np.errstate(all="ignore"):
        value = evaluate(tape, [argument], lambda i: t if i == time else np.float64(values[i]), Arrays())[0]
    signs: Numbers = np.broadcast_to(np.sign(np.nan_to_num(value)), t.shape)
    return signs


def _arguments(tape: Tape, time: int, values: Mapping[int, float]) -> Iterator[int]:
    """The nodes under sign, |·| and atan2 that contain the time and nothing unknown."""
    allowed = {time, *values}
    for argument in dict.fromkeys(a for op, a, _ in tape.nodes if op in _BENDING):
        inside = set(symbols_of(tape, (argument,)))
        if time in inside and inside <= allowed:
            yield argument


def _changes(sign: Callable[[Numbers], Numbers], t0: float, t1: float) -> list[float]:
    """Where a sign changes, to the last bit: by samples, then by bisection of all changes at once."""
    t = np.linspace(t0, t1, _SAMPLES)
    signs = sign(t)
    k = np.flatnonzero(signs[1:] != signs[:-1])[:_MOST]
    low, high, left = t[k], t[k + 1], signs[k]
    for _ in range(_BISECTIONS if k.size else 0):
        middle = low + (high - low) / 2
        if not ((low < middle) & (middle < high)).any():
            break
        same = sign(middle) == left
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return [float(x) for x in high]
