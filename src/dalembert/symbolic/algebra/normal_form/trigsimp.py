"""A trigonometric sum in the fewest terms that say the same: by sin² + cos² = 1, by sums of angles,
by frequencies.

It is a dictionary {(rest, turns): coefficient}. `rest` is whatever else a term contains, as
(generator, exponent); `turns` lists (angle, i, j) for factors sinⁱ cosʲ of that angle; an angle is
an integer combination ((a, k), …) of basic angles a, with the first k positive.

cos α cos β = ½ cos(α + β) + ½ cos(α − β): what is hidden in powers of several angles shows by
frequency. (sin α cos β − cos α sin β)² is ½ − ½ cos 2(α − β), and two waves of equal strength are
one product: ½ − ½ cos 2δ = sin² δ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

# one of flint's rationals, which carry no type hints: ten times as fast as Python's
Rational = Any
Angle = tuple[tuple[int, int], ...]
Turns = tuple[tuple[Angle, int, int], ...]
Rest = tuple[tuple[int, int], ...]
Key = tuple[Rest, Turns]
Sum = dict[Key, Rational]
Pair = dict[tuple[int, int], Rational]
Poly = dict[int, Rational]


def combine_angles(terms: Sum) -> Sum:
    """The same sum with each sin² or cos² replaced, and angles added, wherever that leaves fewer
    terms.
    """
    terms = _apply_pythagoras(terms, _angles(terms))
    while True:
        shorter = _apply_angle_sums(terms)
        shorter = _apply_pythagoras(shorter, _angles(shorter))
        if len(shorter) >= len(terms):
            return terms
        terms = shorter


def _angles(terms: Sum) -> list[Angle]:
    return sorted({angle for _, turns in terms for angle, _, _ in turns})


# ---- one angle: sin² or cos²
# -----------------------------------------------------------------------


def _apply_pythagoras(terms: Sum, angles: list[Angle]) -> Sum:
    for angle in angles:
        groups: dict[Key, Pair] = {}
        whole: dict[Key, Turns] = {}
        for (rest, turns), k in terms.items():
            inner, outer = _split_angle(turns, angle)
            groups.setdefault((rest, outer), {})[inner] = k
            whole[rest, outer] = turns
        new: Sum = {}
        for (rest, outer), pair in groups.items():
            if len(pair) == 1:
                # nothing to gather: most terms stay as they are
                add_term(new, (rest, whole[rest, outer]), *pair.values())
                continue
            for (double, i, j), k in _shortest_powers(pair):
                extra: Turns = (
                    ((angle, i, j), (scale_angle(angle, 2), 0, 1)) if double else ((angle, i, j),)
                )
                add_term(new, (rest, multiply_powers(outer, extra)), k)
        terms = new
    return terms


def _split_angle(turns: Turns, angle: Angle) -> tuple[tuple[int, int], Turns]:
    """(i, j) of an angle's sinⁱ cosʲ in a product, and the other factors."""
    for n, (a, i, j) in enumerate(turns):
        if a == angle:
            return (i, j), turns[:n] + turns[n + 1 :]
    return (0, 0), turns


def _shortest_powers(pair: Pair) -> Iterator[tuple[tuple[bool, int, int], Rational]]:
    """Σ k sinⁱ cosʲ in the fewest terms; the flag says whether a factor cos 2θ stands before it."""
    for (i, j), g in _by_parity(pair).items():
        best = _shortest_in_squares(g)
        halved = _exact_quotient(g, {0: -1, 1: 2})
        double = halved is not None and len(_shortest_in_squares(halved)) < len(best)
        if halved is not None and double:
            best = _shortest_in_squares(halved)
        for (a, b), k in best.items():
            yield (double, i + 2 * a, j + 2 * b), k


def _by_parity(pair: Pair) -> dict[tuple[int, int], Poly]:
    """{(i, j): g} with Σ sinⁱ cosʲ g(cos²), i and j 0 or 1."""
    classes: dict[tuple[int, int], Poly] = {}
    for (i, j), k in sorted(pair.items()):
        g = classes.setdefault((i % 2, j % 2), {})
        h = i // 2
        for n in range(h + 1):
            add_term(g, j // 2 + n, k * comb(h, n) * (-1) ** n)
    return {ij: g for ij, g in classes.items() if g}


def _shortest_in_squares(g: Poly) -> Pair:
    """g(z), z = cos², as Σ k sin²ᵃ cos²ᵇ in the fewest terms: in cos², in sin², or with powers
    of either taken out.
    """
    if len(g) == 1:
        return {(0, b): k for b, k in g.items()}
    candidates: list[Pair] = [{(0, b): k for b, k in sorted(g.items())}]
    low = min(g)
    below = _reflect({b - low: k for b, k in g.items()})
    candidates.append({(a, low): k for a, k in sorted(below.items())})
    if low:
        candidates.append({(a, 0): k for a, k in sorted(_reflect(g).items())})
    flipped = _reflect(g)
    least = min(flipped)
    if least:
        above = _reflect({a - least: k for a, k in flipped.items()})
        candidates.append({(least, b): k for b, k in sorted(above.items())})
    return min(candidates, key=len)


def _reflect(g: Poly) -> Poly:
    """g(1 − w) as a polynomial in w."""
    out: Poly = {}
    for b, k in g.items():
        for n in range(b + 1):
            add_term(out, n, k * comb(b, n) * (-1) ** n)
    return out


def _exact_quotient(g: Poly, d: Poly) -> Poly | None:
    """g / d if it divides, for polynomials in one variable."""
    g, top, out = dict(g), max(d), {}
    while g:
        n = max(g)
        if n < top:
            return None
        out[n - top] = q = g[n] / d[top]
        for b, k in d.items():
            add_term(g, n - top + b, -q * k)
    return out


# ---- two angles: cos α cos β ∓ sin α sin β
# -----------------------------------------------------------


class Match(NamedTuple):
    """Two terms that join into one: k (cos α cos β ∓ sin α sin β) or k (sin α cos β ± cos α sin
    β).
    """

    first: Key
    second: Key
    sine: bool


def _matches(terms: Sum) -> dict[tuple[Angle, Angle, int], list[Match]]:
    """The pairs of terms that join, by angles α, β and by the sign in α ± β."""
    matches: dict[tuple[Angle, Angle, int], list[Match]] = {}
    for key, k in terms.items():
        rest, turns = key
        for a, (i, si, ci) in enumerate(turns):
            for j, sj, cj in turns[a + 1 :]:
                if ci and cj:
                    other = _with_powers(rest, turns, {i: (si + 1, ci - 1), j: (sj + 1, cj - 1)})
                    m = terms.get(other)
                    if m is not None and abs(m) == abs(k):
                        matches.setdefault((i, j, 1 if m == -k else -1), []).append(
                            Match(key, other, sine=False)
                        )
                if si and cj:
                    other = _with_powers(rest, turns, {i: (si - 1, ci + 1), j: (sj + 1, cj - 1)})
                    m = terms.get(other)
                    if m is not None and abs(m) == abs(k):
                        matches.setdefault((i, j, 1 if m == k else -1), []).append(
                            Match(key, other, sine=True)
                        )
    return matches


def _apply_angle_sums(terms: Sum) -> Sum:
    """Angles added wherever two terms become one, those first that save most; each term is used
    once.
    """
    matches = _matches(terms)
    new = dict(terms)
    used: set[Key] = set()
    for i, j, sign in sorted(matches, key=lambda kind: (-len(matches[kind]), kind[:2], -kind[2])):
        total = add_angle(i, j, sign)
        flip = total[0][1] < 0
        angle = scale_angle(total, -1) if flip else total
        for match in matches[i, j, sign]:
            if match.first in used or match.second in used:
                continue
            used.update(match[:2])
            k = terms[match.first]
            add_term(new, match.first, -k)
            add_term(new, match.second, -terms[match.second])
            add_term(new, _angle_sum_key(match, i, j, angle), -k if flip and match.sine else k)
    return new


def _angle_sum_key(match: Match, i: Angle, j: Angle, angle: Angle) -> Key:
    """The first term with sin α cos β replaced by sin(α ± β), or cos α cos β by cos(α ± β)."""
    rest, turns = match.first
    less = multiply_powers(turns, ((i, -1, 0) if match.sine else (i, 0, -1), (j, 0, -1)))
    return rest, multiply_powers(less, ((angle, 1, 0) if match.sine else (angle, 0, 1),))


def add_angle(i: Angle, j: Angle, sign: int) -> Angle:
    """i + j or i − j"""
    total = dict(i)
    for a, k in j:
        total[a] = total.get(a, 0) + sign * k
    return tuple(sorted((a, k) for a, k in total.items() if k))


def scale_angle(angle: Angle, k: int) -> Angle:
    """k · angle"""
    return tuple((a, k * n) for a, n in angle)


def multiply_powers(outer: Turns, extra: Turns) -> Turns:
    """The product of two products of sines and cosines; a negative exponent divides."""
    held = {a: (i, j) for a, i, j in outer}
    for a, i, j in extra:
        p, q = held.get(a, (0, 0))
        held[a] = (p + i, q + j)
    return tuple(sorted((a, i, j) for a, (i, j) in held.items() if i or j))


def _with_powers(rest: Rest, turns: Turns, change: dict[Angle, tuple[int, int]]) -> Key:
    held = {a: (i, j) for a, i, j in turns} | change
    return rest, tuple(sorted((a, i, j) for a, (i, j) in held.items() if i or j))


def add_term(terms: dict[Any, Rational], key: Any, k: Rational) -> None:
    """terms[key] += k, without keeping zeros."""
    total = terms.get(key, 0) + k
    if total:
        terms[key] = total
    else:
        terms.pop(key, None)


# (angle, whether it is a sine); the first multiple in an angle is positive
Wave = tuple[Angle, bool]
Waves = dict[Wave, Rational]

MOST_WAVES = 64
MOST_FACTORS = 8


def by_product_to_sum(group: dict[Turns, Rational]) -> dict[Turns, Rational] | None:
    """The same sum through its frequencies; None if there are too many of them, or if products
    of two waves each are not fewer terms.
    """
    waves: Waves = {}
    for turns, k in group.items():
        if sum(i + j for _, i, j in turns) > MOST_FACTORS:
            return None
        whole, halvings = _product(turns)
        for wave, m in whole:
            add_term(waves, wave, k * m / halvings)
        if len(waves) > MOST_WAVES:
            return None
    return None if len(waves) >= 2 * len(group) else _products(waves)


@lru_cache(maxsize=4096)
def _product(turns: Turns) -> tuple[tuple[tuple[Wave, int], ...], int]:
    """Π sinⁱ cosʲ = Σ m (wave) / 2ⁿ by frequencies: the whole numbers m, and 2ⁿ."""
    factors = [(angle, sine) for angle, i, j in turns for sine in [True] * i + [False] * j]
    waves: Waves = {((), False): 1}
    for a, by_sine in factors:
        new: Waves = {}
        for (u, sine), m in waves.items():
            # sin u sin a = ½ cos(u − a) − ½ cos(u + a); cos u sin a = ½ sin(u + a) − ½ sin(u − a)
            _add_harmonic(new, add_angle(u, a, 1), sine != by_sine, -m if sine and by_sine else m)
            _add_harmonic(
                new, add_angle(u, a, -1), sine != by_sine, -m if by_sine and not sine else m
            )
        waves = new
    return tuple(waves.items()), 2 ** len(factors)


def _add_harmonic(waves: Waves, angle: Angle, sine: bool, k: Rational) -> None:
    if angle and angle[0][1] < 0:
        angle, k = scale_angle(angle, -1), -k if sine else k
    if angle or not sine:
        add_term(waves, (angle, sine), k)


def _products(waves: Waves) -> dict[Turns, Rational]:
    """Pairs of waves of equal strength joined to one product each, where half the sum of their
    angles is whole.
    """
    left = dict(sorted(waves.items(), key=lambda w: (w[0][1], len(w[0][0]), w[0][0])))
    products: dict[Turns, Rational] = {}
    while left:
        (u, sine), k = next(iter(left.items()))
        del left[u, sine]
        partner = next(
            (
                v
                for (v, other), m in left.items()
                if other == sine and abs(m) == abs(k) and _even(add_angle(u, v, 1))
            ),
            None,
        )
        if partner is None:
            half = _half(u) if sine and _even(u) else None
            turns = ((half, 1, 1),) if half else ((u, 1, 0) if sine else (u, 0, 1),) if u else ()
            add_term(products, turns, 2 * k if half else k)
            continue
        same = left.pop((partner, sine)) == k
        add_term(products, *_sum_to_product(u, partner, sine=sine, same=same, k=k))
    return products


def _sum_to_product(
    u: Angle, v: Angle, *, sine: bool, same: bool, k: Rational
) -> tuple[Turns, Rational]:
    """k (cos u ± cos v) or k (sin u ± sin v) as one product."""
    total, difference = _half(add_angle(u, v, 1)), _half(add_angle(u, v, -1))
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
            # the same angle, turned
            angle, k = scale_angle(angle, -1), -k if by_sine else k  # noqa: PLW2901
        turns = multiply_powers(turns, ((angle, int(by_sine), int(not by_sine)),))
    return turns, k


def _even(angle: Angle) -> bool:
    return all(k % 2 == 0 for _, k in angle)


def _half(angle: Angle) -> Angle:
    return tuple((a, k // 2) for a, k in angle)


LONGEST_GROUP = 40


def shorten_trig(terms: Sum) -> Sum:
    """The same sum; waves are tried only where a product of symbols still has several
    trigonometric terms.
    """
    groups: dict[Rest, dict[Turns, Rational]] = {}
    for (rest, turns), k in combine_angles(terms).items():
        groups.setdefault(rest, {})[turns] = k
    for rest, group in groups.items():
        if 1 < len(group) <= LONGEST_GROUP and _angle_count(group) > 1:
            waves = by_product_to_sum(group)
            if waves is not None and len(waves) < len(group):
                groups[rest] = waves
    return {(rest, turns): k for rest, group in groups.items() for turns, k in group.items()}


def _angle_count(group: dict[Turns, Rational]) -> int:
    return len({a for turns in group for angle, _, _ in turns for a, _ in angle})
