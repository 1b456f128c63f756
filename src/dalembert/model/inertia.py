"""I_a ≥ 0, I_a ≤ I_b + I_c: what the principal moments of inertia of a real body satisfy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from dalembert.algebra.folds import symbols_of
from dalembert.geometry.dyadic import Dyadic
from dalembert.geometry.frame import Frame

# what rounding leaves of a moment that is zero, as a part of the largest
_DUST: Final = 1e-12


class Fault(NamedTuple):
    """What is wrong with an inertia; an impossible one is refused, an implausible one only deserves a word."""

    text: str
    impossible: bool


def inertia_fault(I: Dyadic, frame: Frame, number: Callable[[int], float | None]) -> Fault | None:
    """What the moments that matter violate, as far as their numbers are known.

    A body that turns about one axis of its frame needs only the moment about it; the others may be left at zero.
    """
    turning = turning_axes(frame)
    if not turning:
        return None
    values = [number(c) for c in I.to(frame).entries()]
    known = [float(v) for v in values if v is not None]
    if len(turning) == 1:
        about = values[turning[0]]
        return (
            Fault(f"its moment of inertia about {frame.name}.{'xyz'[turning[0]]} is {about:g}", True)
            if about is not None and about < 0
            else None
        )
    if len(known) < 6:
        return None
    moments = principal_moments(*known)
    fault = _negative(moments, known) or _triangle(moments)
    if fault is None or fault.impossible:
        return fault
    # one rate: it turns about one axis, skew in its frame, and the other moments do not matter
    t = frame.w.tape
    rates = [i for i in symbols_of(t, frame.w.components(frame)) if str(t.nodes[i][1]).endswith("'")]
    return fault if len(rates) > 1 else None


def turning_axes(frame: Frame) -> list[int]:
    """The axes of a frame about which it turns."""
    t = frame.w.tape
    return [k for k, c in enumerate(frame.w.components(frame)) if c != t.zero]


def _negative(moments: list[float], entries: list[float]) -> Fault | None:
    smallest, _, largest = moments
    if smallest >= -_DUST * max(abs(smallest), abs(largest)):
        return None
    why = "" if min(entries[:3]) < 0 else "; its products of inertia are too large for its moments"
    return Fault(f"its inertia has a negative principal moment ({smallest:g}){why}", True)


def _triangle(moments: list[float]) -> Fault | None:
    a, b, c = moments
    if c <= (a + b) * (1 + _DUST):
        return None
    return Fault(f"principal moments {a:g}, {b:g}, {c:g} violate the triangle inequality; no real body has them", False)


def principal_moments(xx: float, yy: float, zz: float, xy: float, yz: float, xz: float) -> list[float]:
    """The eigenvalues of a symmetric dyadic, smallest first."""
    if xy == yz == xz == 0:
        return sorted((xx, yy, zz))
    import numpy as np

    return sorted(map(float, np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))
