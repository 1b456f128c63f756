"""cos α cos β = ½ cos(α + β) + ½ cos(α − β): a trigonometric sum by frequencies, and back to products where that is shorter.

What is hidden in powers of several angles shows by frequency: (sin α cos β − cos α sin β)² is ½ − ½ cos 2(α − β),
and two waves of equal strength are one product: ½ − ½ cos 2δ = sin² δ.
"""

from __future__ import annotations

from dalembert.algebra.normal_form.angles import Angle, Rational, Turns, combined, joined, put, times

# (angle, whether it is a sine); the first multiple in an angle is positive
Wave = tuple[Angle, bool]
Waves = dict[Wave, Rational]

MOST_WAVES = 64
MOST_FACTORS = 8


def as_waves(group: dict[Turns, Rational]) -> dict[Turns, Rational] | None:
    """The same sum through its frequencies; None if there are too many of them."""
    waves: Waves = {}
    for turns, k in group.items():
        factors = [(angle, sine) for angle, i, j in turns for sine in [True] * i + [False] * j]
        if len(factors) > MOST_FACTORS:
            return None
        for wave, amplitude in _product(factors, k).items():
            put(waves, wave, amplitude)
        if len(waves) > MOST_WAVES:
            return None
    return _products(waves)


def _product(factors: list[Wave], k: Rational) -> Waves:
    """k Π cos α … sin β … by frequencies."""
    waves: Waves = {((), False): k}
    for a, by_sine in factors:
        new: Waves = {}
        for (u, sine), amplitude in waves.items():
            half = amplitude / 2
            # sin u sin a = ½ cos(u − a) − ½ cos(u + a); cos u sin a = ½ sin(u + a) − ½ sin(u − a)
            _put_wave(new, combined(u, a, 1), sine != by_sine, -half if sine and by_sine else half)
            _put_wave(new, combined(u, a, -1), sine != by_sine, -half if by_sine and not sine else half)
        waves = new
    return waves


def _put_wave(waves: Waves, angle: Angle, sine: bool, k: Rational) -> None:
    if angle and angle[0][1] < 0:
        angle, k = times(angle, -1), -k if sine else k
    if angle or not sine:
        put(waves, (angle, sine), k)


def _products(waves: Waves) -> dict[Turns, Rational]:
    """Pairs of waves of equal strength joined to one product each, where half the sum of their angles is whole."""
    left = dict(sorted(waves.items(), key=lambda w: (w[0][1], len(w[0][0]), w[0][0])))
    found: dict[Turns, Rational] = {}
    while left:
        (u, sine), k = next(iter(left.items()))
        del left[u, sine]
        partner = next((v for (v, other), m in left.items() if other == sine and abs(m) == abs(k) and _even(combined(u, v, 1))), None)
        if partner is None:
            half = _half(u) if sine and _even(u) else None
            turns = ((half, 1, 1),) if half else ((u, 1, 0) if sine else (u, 0, 1),) if u else ()
            put(found, turns, 2 * k if half else k)
            continue
        same = left.pop((partner, sine)) == k
        put(found, *_joined_pair(u, partner, sine=sine, same=same, k=k))
    return found


def _joined_pair(u: Angle, v: Angle, *, sine: bool, same: bool, k: Rational) -> tuple[Turns, Rational]:
    """k (cos u ± cos v) or k (sin u ± sin v) as one product."""
    total, difference = _half(combined(u, v, 1)), _half(combined(u, v, -1))
    if sine:
        # sin u ± sin v = 2 sin((u ± v)/2) cos((u ∓ v)/2)
        first, second = (total, difference) if same else (difference, total)
        factors, k = [(first, True), (second, False)], 2 * k
    else:
        # cos u + cos v = 2 cos cos, cos u − cos v = −2 sin sin
        factors, k = [(total, not same), (difference, not same)], 2 * k if same else -2 * k
    turns: Turns = ()
    for angle, by_sine in factors:
        if angle[0][1] < 0:
            angle, k = times(angle, -1), -k if by_sine else k  # noqa: PLW2901 - the same angle, turned
        turns = joined(turns, ((angle, int(by_sine), int(not by_sine)),))
    return turns, k


def _even(angle: Angle) -> bool:
    return all(k % 2 == 0 for _, k in angle)


def _half(angle: Angle) -> Angle:
    return tuple((a, k // 2) for a, k in angle)
