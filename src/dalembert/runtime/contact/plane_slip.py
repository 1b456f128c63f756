"""v̇ = c − μ N(d) B d, d = v/|v|: how slip in a plane begins and ends.
Keywords: stick-slip transition.

The direction d turns infinitely fast as |v| → 0. With forces frozen at a small slip speed the
equation has a solution: with κ = μ N B and B isotropic, slip ends after (κ |v| + c·v)/(κ² − c²) if
κ > |c|, and otherwise turns round without stopping. The run prescribes the acceleration −v/δ for
that time δ, which changes the motion in second order of the small speed. From rest slip begins in
the direction in which v̇ = α d, α ≥ 0. There the acceleration α d + α̇ d (t − t₀) is prescribed
until the slip is large enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.mode_enumeration import ContactCandidate, ContactMode

# components of B that are equal, and coupling with N that is none, relative
_ISOTROPIC: Final = 1e-12
# the slip speed shrinks by e^−14 in the frozen problem; the rest follows from its last direction
_DECADES: Final = 14.0
_LARGEST_STEP: Final = 0.1
_MOST_STEPS: Final = 4000
_NEWTON: Final = 20
_RANK: Final = 1e-12


class PlaneSlip(NamedTuple):
    """What a run sets for slip in a plane, in the order of `PLANE_SYMBOLS`."""

    held: float = 0.0
    rate_1: float = 0.0
    rate_2: float = 0.0
    jerk_1: float = 0.0
    jerk_2: float = 0.0
    begin: float = 0.0
    end: float = 0.0
    level: float = 0.0
    sense: float = 1.0
    # whether it ends: the slip velocity is zero then
    closing: bool = False

    @property
    def flags(self) -> tuple[float, ...]:
        """Without what only Python asks."""
        return self[:9]


class FrozenSlip(NamedTuple):
    """a(d) = c + B T, T = −μ N d, N = N₀ + G·T, the other contacts in their modes."""

    c: FloatArray
    B: FloatArray
    N: float
    G: FloatArray
    mu: float

    def acceleration(self, d: FloatArray) -> FloatArray:
        """Of slip along d."""
        N = self.N / (1.0 + self.mu * float(self.G @ d))
        return self.c - self.mu * N * (self.B @ d)

    @property
    def scale(self) -> float:
        """The size of accelerations."""
        return float(np.hypot.reduce(self.c)) + self.mu * abs(self.N) * float(np.abs(self.B).max())

    def stopping_time(self, v: FloatArray) -> float | None:
        """When slip with the small velocity v ends; None where it turns round instead."""
        s = float(np.hypot.reduce(v))
        beta = float(np.trace(self.B)) / 2.0
        uneven = np.abs(self.B - beta * np.eye(2)).max() > _ISOTROPIC * beta
        if uneven or self.mu * np.abs(self.G).max() > _ISOTROPIC:
            return self._integrated_stopping_time(s, math.atan2(v[1], v[0]))
        kappa, c = self.mu * self.N * beta, float(np.hypot.reduce(self.c))
        if kappa <= c:
            return None
        return float((kappa * s + self.c @ v) / (kappa * kappa - c * c))

    def _integrated_stopping_time(self, s: float, angle: float) -> float | None:
        """t = ∫ s/(−d·a) dσ, dφ/dσ = d⊥·a/(−d·a), σ = −ln s, by a Runge–Kutta method."""

        def rates(phi: float) -> tuple[float, float]:
            d = np.array([math.cos(phi), math.sin(phi)])
            a = self.acceleration(d)
            slowing = -float(d @ a)
            turning = float(-d[1] * a[0] + d[0] * a[1])
            return turning / slowing if slowing else math.inf, slowing

        phi, sigma, t, speed = angle, 0.0, 0.0, s
        for _ in range(_MOST_STEPS):
            k1, slowing = rates(phi)
            if slowing <= 0.0:
                return None
            if sigma >= _DECADES:
                return t + speed / slowing
            slope = abs(rates(phi + 1e-6)[0] - k1) / 1e-6
            h = min(_LARGEST_STEP, 0.5 / (1.0 + slope), 0.1 / (1e-300 + abs(k1)))
            k2, middle = rates(phi + h / 2.0 * k1)
            k3, _ = rates(phi + h / 2.0 * k2)
            k4, last = rates(phi + h * k3)
            if middle <= 0.0 or last <= 0.0:
                return None
            half, end = speed * math.exp(-h / 2.0), speed * math.exp(-h)
            t += h / 6.0 * (speed / slowing + 4.0 * half / middle + end / last)
            phi += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            sigma, speed = sigma + h, end
        return None

    def starting_acceleration(self, d: FloatArray) -> tuple[float, FloatArray]:
        """α and d of slip that begins near the direction d: d⊥·a(d) = 0, by Newton's method."""
        phi = math.atan2(d[1], d[0])
        for _ in range(_NEWTON):
            across, slope = (self._across(phi + x) for x in (0.0, 1e-6))
            slope = (slope - across) / 1e-6
            step = -across / slope if slope else 0.0
            phi += max(-0.5, min(0.5, step))
            if abs(step) < 1e-14:
                break
        d = np.array([math.cos(phi), math.sin(phi)])
        return float(d @ self.acceleration(d)), d

    def _across(self, phi: float) -> float:
        d = np.array([math.cos(phi), math.sin(phi)])
        a = self.acceleration(d)
        return float(-d[1] * a[0] + d[0] * a[1])


def frozen_slip(
    A: FloatArray,
    b: FloatArray,
    contacts: Sequence[tuple[ContactCandidate, ContactMode]],
    own: ContactCandidate,
) -> FrozenSlip:
    """The slip of one contact with friction in a plane, by its own friction T alone."""
    m = len(b)
    K, right = forces_of_others(A, b, contacts, (own,))
    r = np.zeros((m, 3))
    r[:, 0] = right
    r[own.tangents, [1, 2]] = 1.0
    lam = np.linalg.lstsq(K, r, rcond=_RANK)[0]
    a = A[own.tangents] @ lam
    slope = own.normal_slope(m) @ lam
    return FrozenSlip(
        b[own.tangents] + a[:, 0], a[:, 1:], own.given + float(slope[0]), slope[1:], own.mu
    )


def joint_stopping_time(
    A: FloatArray,
    b: FloatArray,
    v: FloatArray,
    contacts: Sequence[tuple[ContactCandidate, ContactMode]],
    own: Sequence[ContactCandidate],
) -> float | None:
    """The least h for which impulses in the cones end the slip of several contacts together: Λ with
    v + h b + A Λ = 0, |Λ_T| ≤ μ Λ_N; None where none do.

    It is exact for slip that keeps its directions.
    """
    K, right = forces_of_others(A, b, contacts, own)
    r = np.zeros((len(b), 2))
    r[:, 1] = right
    for c in own:
        ts = c.tangents
        K[ts], r[ts, 0], r[ts, 1] = A[ts], -v[ts], -b[ts]
    at_once, by_loads = np.linalg.lstsq(K, r, rcond=_RANK)[0].T
    first, last = 0.0, math.inf
    for c in own:
        T0, T1 = at_once[c.tangents], by_loads[c.tangents]
        N0, N1 = c.mu * (c.normal_force(at_once) - c.given), c.mu * c.normal_force(by_loads)
        low, high = _in_cone(
            float(T1 @ T1) - N1 * N1, float(T0 @ T1) - N0 * N1, float(T0 @ T0) - N0 * N0
        )
        first, last = max(first, low), min(last, high)
    return first if first < last and math.isfinite(first) else None


def _in_cone(a: float, half: float, c: float) -> tuple[float, float]:
    """Where a h² + 2 half h + c ≤ 0 with h ≥ 0: between these times, or nowhere."""
    if a >= 0.0:
        return math.inf, math.inf
    root = math.sqrt(max(half * half - a * c, 0.0))
    return max((-half - root) / a, 0.0), math.inf


def forces_of_others(
    A: FloatArray,
    b: FloatArray,
    contacts: Sequence[tuple[ContactCandidate, ContactMode]],
    own: Sequence[ContactCandidate],
) -> tuple[FloatArray, FloatArray]:
    """K λ = r with the friction of `own` left out: contacts that stick or are closed hold their
    rows, those that slip have T = −μ N d.
    """
    m = len(b)
    K, r = np.eye(m), np.zeros(m)
    for c, mode in contacts:
        if not mode.closed:
            continue
        if c.n is not None:
            K[c.n], r[c.n] = A[c.n], -b[c.n]
        if c.t is None or any(c is each for each in own):
            continue
        ts, heading = c.tangents, c.fixed_heading
        if heading is None and mode.direction in {1, -1}:
            heading = np.array([float(mode.direction)])
        if mode.sticks or heading is None:
            K[ts], r[ts] = A[ts], -b[ts]
            continue
        slope = c.mu * mode.side * c.normal_slope(m)
        K[ts] += np.outer(heading, slope)
        r[ts] -= c.mu * mode.side * c.given * heading
    return K, r
