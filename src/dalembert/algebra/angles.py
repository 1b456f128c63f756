"""sin² + cos² = 1, and sin, cos of sums: the fewest terms that say the same.

A trigonometric sum is a dictionary {(rest, turns): coefficient}. `rest` is whatever else a term contains;
`turns` lists (angle, i, j) for factors sinⁱ cosʲ of that angle; an angle is an integer combination
((a, k), …) of basic angles a, with the first k positive.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from math import comb
from typing import Any

Angle = tuple[tuple[int, int], ...]
Turns = tuple[tuple[Angle, int, int], ...]
Key = tuple[Hashable, Turns]
Sum = dict[Key, Fraction]
Pair = dict[tuple[int, int], Fraction]
Poly = dict[int, Fraction]

MOST_LOOKUPS = 200_000


def shortest(terms: Sum) -> Sum:
    """The same sum with each sin² or cos² replaced, and angles added, wherever that leaves fewer terms."""
    terms = _reduced(terms, _angles(terms))
    while True:
        best = _best_merger(terms)
        if best is None:
            return terms
        merged = _merge(terms, *best)
        shorter = _reduced(merged, _angles(merged))
        if len(shorter) >= len(terms):
            return terms
        terms = shorter


def _angles(terms: Sum) -> list[Angle]:
    return sorted({angle for _, turns in terms for angle, _, _ in turns})


# ---- one angle: sin² or cos² -----------------------------------------------------------------------


def _reduced(terms: Sum, angles: list[Angle]) -> Sum:
    for angle in angles:
        groups: dict[Key, Pair] = {}
        for (rest, turns), k in terms.items():
            inner = next(((i, j) for a, i, j in turns if a == angle), (0, 0))
            outer = tuple(t for t in turns if t[0] != angle)
            groups.setdefault((rest, outer), {})[inner] = k
        new: Sum = {}
        for (rest, outer), pair in groups.items():
            for (double, i, j), k in _fewest(pair):
                extra = ((angle, i, j),) if i or j else ()
                extra += ((_times(angle, 2), 0, 1),) if double else ()
                _put(new, (rest, _joined(outer, extra)), k)
        terms = new
    return terms


def _fewest(pair: Pair) -> Iterator[tuple[tuple[bool, int, int], Fraction]]:
    """Σ k sinⁱ cosʲ in the fewest terms; the flag says whether a factor cos 2θ stands before it."""
    if len(pair) == 1:
        yield from (((False, i, j), k) for (i, j), k in pair.items())
        return
    for (i, j), g in _classes(pair).items():
        best = _shapes(g)
        halved = _divided(g, {0: Fraction(-1), 1: Fraction(2)})
        double = halved is not None and len(_shapes(halved)) < len(best)
        if halved is not None and double:
            best = _shapes(halved)
        for (a, b), k in best.items():
            yield (double, i + 2 * a, j + 2 * b), k


def _classes(pair: Pair) -> dict[tuple[int, int], Poly]:
    """{(i, j): g} with Σ sinⁱ cosʲ g(cos²), i and j 0 or 1."""
    classes: dict[tuple[int, int], Poly] = {}
    for (i, j), k in sorted(pair.items()):
        g = classes.setdefault((i % 2, j % 2), {})
        h = i // 2
        for n in range(h + 1):
            _put(g, j // 2 + n, k * comb(h, n) * (-1) ** n)
    return {ij: g for ij, g in classes.items() if g}


def _shapes(g: Poly) -> Pair:
    """g(z), z = cos², as Σ k sin²ᵃ cos²ᵇ in the fewest terms: in cos², in sin², or with powers of either taken out."""
    if len(g) == 1:
        return {(0, b): k for b, k in g.items()}
    candidates: list[Pair] = [{(0, b): k for b, k in sorted(g.items())}]
    low = min(g)
    below = _flipped({b - low: k for b, k in g.items()})
    candidates.append({(a, low): k for a, k in sorted(below.items())})
    if low:
        candidates.append({(a, 0): k for a, k in sorted(_flipped(g).items())})
    flipped = _flipped(g)
    least = min(flipped)
    if least:
        above = _flipped({a - least: k for a, k in flipped.items()})
        candidates.append({(least, b): k for b, k in sorted(above.items())})
    return min(candidates, key=len)


def _flipped(g: Poly) -> Poly:
    """g(1 − w) as a polynomial in w."""
    out: Poly = {}
    for b, k in g.items():
        for n in range(b + 1):
            _put(out, n, k * comb(b, n) * (-1) ** n)
    return out


def _divided(g: Poly, d: Poly) -> Poly | None:
    """g / d if it divides, for polynomials in one variable."""
    g, top, out = dict(g), max(d), {}
    while g:
        n = max(g)
        if n < top:
            return None
        out[n - top] = q = g[n] / d[top]
        for b, k in d.items():
            _put(g, n - top + b, -q * k)
    return out


# ---- two angles: cos α cos β ∓ sin α sin β -----------------------------------------------------------


def _matches(terms: Sum, i: Angle, j: Angle) -> Iterator[tuple[Key, Key, int, str]]:
    """Pairs of terms that join into one of the angle i ± j: (first, second, ±1, 'sin' or 'cos')."""
    for key, k in terms.items():
        rest, turns = key
        held = {a: (s, c) for a, s, c in turns}
        (si, ci), (sj, cj) = held.get(i, (0, 0)), held.get(j, (0, 0))
        if ci and cj:
            other = _with(rest, turns, {i: (si + 1, ci - 1), j: (sj + 1, cj - 1)})
            m = terms.get(other)
            if m is not None and abs(m) == abs(k):
                yield key, other, 1 if m == -k else -1, "cos"
        if si and cj:
            other = _with(rest, turns, {i: (si - 1, ci + 1), j: (sj + 1, cj - 1)})
            m = terms.get(other)
            if m is not None and abs(m) == abs(k):
                yield key, other, 1 if m == k else -1, "sin"


def _best_merger(terms: Sum) -> tuple[Angle, Angle, int] | None:
    """The two angles, and + or −, whose joining saves most terms."""
    angles = _angles(terms)
    if len(angles) < 2 or len(angles) ** 2 * len(terms) > MOST_LOOKUPS:
        return None
    best, most = None, 0
    for n, i in enumerate(angles):
        for j in angles[n + 1 :]:
            for sign in (1, -1):
                saved = len(list(_chosen(terms, i, j, sign)))
                if saved > most:
                    best, most = (i, j, sign), saved
    return best


def _chosen(terms: Sum, i: Angle, j: Angle, sign: int) -> Iterator[tuple[Key, Key, str]]:
    """Matches of one kind, each term used once."""
    used: set[Key] = set()
    for first, second, kind, name in _matches(terms, i, j):
        if kind == sign and first not in used and second not in used:
            used.update((first, second))
            yield first, second, name


def _merge(terms: Sum, i: Angle, j: Angle, sign: int) -> Sum:
    new = dict(terms)
    total = _combined(i, j, sign)
    flip = total[0][1] < 0
    angle = _times(total, -1) if flip else total
    for first, second, name in list(_chosen(terms, i, j, sign)):
        k = new.pop(first)
        del new[second]
        rest, turns = first
        held = {a: (s, c) for a, s, c in turns}
        (si, ci), (sj, cj) = held[i], held[j]
        held[i], held[j] = ((si, ci - 1) if name == "cos" else (si - 1, ci)), (sj, cj - 1)
        s, c = held.get(angle, (0, 0))
        held[angle] = (s, c + 1) if name == "cos" else (s + 1, c)
        _put(new, _with(rest, (), held), -k if flip and name == "sin" else k)
    return new


def _combined(i: Angle, j: Angle, sign: int) -> Angle:
    total = dict(i)
    for a, k in j:
        total[a] = total.get(a, 0) + sign * k
    return tuple(sorted((a, k) for a, k in total.items() if k))


def _times(angle: Angle, k: int) -> Angle:
    return tuple((a, k * n) for a, n in angle)


def _joined(outer: Turns, extra: Turns) -> Turns:
    held = {a: (i, j) for a, i, j in outer}
    for a, i, j in extra:
        p, q = held.get(a, (0, 0))
        held[a] = (p + i, q + j)
    return tuple(sorted((a, i, j) for a, (i, j) in held.items()))


def _with(rest: Hashable, turns: Turns, change: dict[Angle, tuple[int, int]]) -> Key:
    held = {a: (i, j) for a, i, j in turns} | change
    return rest, tuple(sorted((a, i, j) for a, (i, j) in held.items() if i or j))


def _put(terms: dict[Any, Fraction], key: Any, k: Fraction) -> None:
    """terms[key] += k, without keeping zeros."""
    total = terms.get(key, 0) + k
    if total:
        terms[key] = total
    else:
        terms.pop(key, None)
