"""t_j: where sign, |·| or atan2 of something that depends on the time alone has a discontinuity or
a kink; steps end there.

A step that spans a pulse and happens to look at neither side of it would not know that there was
one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import warn
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.simulation.model import NONSMOOTH, knot_handles, time_switches
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic, evaluate_balls
from dalembert.symbolic.algebra.data_arrays import column_values
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    dependencies,
    evaluate,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from flint import arb

    from dalembert.runtime.states.run_values import RunValues
    from dalembert.symbolic.algebra.tape import Tape


# these are discontinuous themselves, so that a slope does not bound them
_DISCONTINUOUS: Final = frozenset({"sign", "atan2"})
# how many intervals are searched, how finely a run is looked through beyond that, and how many
# jumps are given a step of their own
_MOST_INTERVALS: Final = 20_000
_SAMPLES: Final = 20_001
_MOST: Final = 5_000
_BISECTIONS: Final = 1100
_LAST_BITS: Final = 64
_DIGITS: Final = 15

# where an argument may change its sign, at most once in each
Intervals = list[tuple[float, float]]


def discontinuity_times(
    tape: Tape,
    time: int,
    values: Mapping[int, float],
    t0: float,
    t1: float,
    bends: Iterable[int] | None = None,
) -> tuple[float, ...]:
    """The times inside (t0, t1) at which such an argument changes its sign or touches zero, in
    order; `bends` are those of the tape.
    """
    times: set[float] = set()
    for argument in _switching_arguments(tape, time, values, bends):
        intervals, touched = _isolate_roots(tape.fork(), argument, time, values, t0, t1)
        times.update(touched)
        times.update(
            _bisect_sign_changes(
                functools.partial(_sign_at, tape, argument, time, values), intervals
            )
        )
    # where the run begins or ends a step does so anyway
    margin = _LAST_BITS * max(math.ulp(t0), math.ulp(t1))
    inside = sorted(t for t in times if t0 + margin < t < t1 - margin)
    if len(inside) > _MOST:
        warn(
            f"more than {_MOST} jumps in t: those after t = {inside[_MOST - 1]:.6g} have no step "
            f"of their own; make the run shorter"
        )
    return tuple(inside[:_MOST])


def knot_times(handles: Iterable[float], t0: float, t1: float) -> FloatArray:
    """The knots inside (t0, t1) of tables with these handles, in order."""
    inside = [
        knots[(knots > t0) & (knots < t1)]
        for knots in map(column_values, handles)
        if knots is not None
    ]
    return np.unique(np.concatenate(inside)) if inside else np.zeros(0)


def _isolate_roots(
    tape: Tape, argument: int, time: int, values: Mapping[int, float], t0: float, t1: float
) -> tuple[Intervals, list[float]]:
    """Intervals in which g changes its sign at most once, and times that it may touch zero at;
    elsewhere it has no root.

    Balls that hold all values of g and of ġ over an interval exclude roots, or show that g is
    monotonic; otherwise it is halved.
    """
    known = {i: Fraction(x) for i, x in values.items()}
    slope = _slope(tape, argument, time)
    intervals: Intervals = []
    tangent_times: list[float] = []
    waiting, left = [(t0, t1)], _MOST_INTERVALS
    while waiting:
        if not left:
            return _uniform_intervals(t0, t1, tape, argument), []
        left -= 1
        a, b = waiting.pop()
        balls = evaluate_balls(
            tape,
            [argument] if slope is None else [argument, slope],
            {**known, time: _interval(a, b)},
            _DIGITS,
        )
        if balls[0].is_finite() and not balls[0].contains(0):
            continue
        middle = a + (b - a) / 2
        if slope is not None and balls[1].is_finite() and not balls[1].contains(0):
            intervals.append((a, b))
        elif b - a <= _LAST_BITS * max(math.ulp(a), math.ulp(b)):
            tangent_times.append(middle)
        else:
            waiting += [(middle, b), (a, middle)]
    return intervals, tangent_times


def _slope(tape: Tape, argument: int, time: int) -> int | None:
    """ġ, if g has no discontinuity."""
    if any(tape.nodes[i][0] in _DISCONTINUOUS for i in dependencies(tape, (argument,))):
        return None
    return Derivative(tape, lambda i: tape.one if i == time else None)(argument)


def _interval(a: float, b: float) -> arb:
    """All numbers between two."""
    from flint import arb

    return arb(a).union(arb(b))


def _uniform_intervals(t0: float, t1: float, tape: Tape, argument: int) -> Intervals:
    """Even intervals, where intervals that prove something were too many."""
    t = np.linspace(t0, t1, _SAMPLES)
    what = str(Scalar(tape, argument))
    gap = (t1 - t0) / (_SAMPLES - 1)
    warn(
        f"{what:.60} changes its sign too often in t to be followed for certain: jumps closer than "
        f"{gap:.1e} may be missed; give max_step"
    )
    return list(zip(t[:-1].tolist(), t[1:].tolist(), strict=True))


def has_nonsmooth_inputs(values: RunValues) -> bool:
    """Whether sign, |·| or atan2 of something that depends on the time alone occurs in the
    expressions of inputs and motions.
    """
    kin = values.kin
    inside = dependencies(kin.tape, values.bindings.values())
    return any(
        kin.tape.nodes[i][0] in NONSMOOTH and kin.system.t.i in symbols_of(kin.tape, (i,))
        for i in inside
    )


def has_discontinuities(tape: Tape, time: int, values: Mapping[int, float]) -> bool:
    """Whether these expressions may have a discontinuity or kink in time."""
    if knot_handles(tape, time):
        return True
    return next(_switching_arguments(tape, time, values), None) is not None


def _sign_at(
    tape: Tape, argument: int, time: int, values: Mapping[int, float], t: FloatArray
) -> FloatArray:
    """The sign of an argument at many times."""
    with np.errstate(all="ignore"):
        value = evaluate(
            tape, [argument], lambda i: t if i == time else np.float64(values[i]), ArrayArithmetic()
        )[0]
    signs: FloatArray = np.broadcast_to(np.sign(np.nan_to_num(value)), t.shape)
    return signs


def _switching_arguments(
    tape: Tape, time: int, values: Mapping[int, float], bends: Iterable[int] | None = None
) -> Iterator[int]:
    """Those that contain nothing unknown besides."""
    allowed = {time, *values}
    return (
        a
        for a in (time_switches(tape, time) if bends is None else bends)
        if allowed.issuperset(symbols_of(tape, (a,)))
    )


def _bisect_sign_changes(
    sign: Callable[[FloatArray], FloatArray], intervals: Intervals
) -> list[float]:
    """Where a sign changes, to the last bit, by bisection of all intervals at once."""
    if not intervals:
        return []
    low, high = (np.array(x) for x in zip(*intervals, strict=True))
    left = sign(low)
    differ = left != sign(high)
    low, high, left = low[differ], high[differ], left[differ]
    for _ in range(_BISECTIONS if low.size else 0):
        middle = low + (high - low) / 2
        if not ((low < middle) & (middle < high)).any():
            break
        same = sign(middle) == left
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return [float(x) for x in high]
