"""sin(Σ k a): the arguments of sines and cosines as whole multiples of a few basic angles.

Arguments are linear combinations Σ k b of products b of symbols. For each b the basic angle is the largest of which all
arguments contain whole multiples (θ/2 if θ/2 and θ occur, 5t if only 5t occurs); quarter turns go into signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any

from dalembert.algebra.normal_form.forms import Atom, Form, Term

Parts = dict[Form, Fraction]

PI = Form((Term(Fraction(1), ((Atom("pi"), 1),)),))
# cos(r π), sin(r π) as halves of square roots: {r: (radicands)}
KNOWN = {Fraction(1, 6): (3, 1), Fraction(1, 4): (2, 2), Fraction(1, 3): (1, 3)}
MOST_MULTIPLES = 6
MOST_PARTS = 6


@dataclass(frozen=True)
class Turn:
    """quarters · π/2 + known · π + Σ k · (basic angle)"""

    quarters: int
    known: Fraction | None
    multiples: tuple[tuple[int, int], ...]


def _split_pi(parts: Parts, *, keep: bool) -> tuple[int, Fraction | None, Parts]:
    """Takes whole quarter turns, and angles whose sine every book knows unless kept, out of an argument."""
    rest = dict(parts)
    turns = rest.pop(PI, Fraction(0))
    quarters = floor(2 * turns)
    left = turns - Fraction(quarters, 2)
    if left in KNOWN and not keep:
        return quarters, left, rest
    if left:
        rest[PI] = left
    return quarters, None, rest


def _whole(parts: Parts, rank: Callable[[Form], Any]) -> Parts:
    """The argument as one angle of its own, with its first term positive."""
    ordered = sorted(parts.items(), key=lambda p: rank(p[0]))
    terms = tuple(Term(k * b.numerator[0].coefficient, b.numerator[0].powers) for b, k in ordered)
    positive = terms[0].coefficient > 0
    return {Form(terms if positive else tuple(-t for t in terms)): Fraction(1 if positive else -1)}


def _common(values: Iterable[Fraction]) -> Fraction:
    """The largest rational of which all are whole multiples."""
    values = list(values)
    return Fraction(gcd(*(abs(v.numerator) for v in values)), lcm(*(v.denominator for v in values)))


class Basis:
    """The basic angles met so far."""

    def __init__(self, rank: Callable[[Form], Any], *, keep: bool) -> None:
        self.rank, self.keep = rank, keep
        self.arguments: list[Form] = []
        self._index: dict[tuple[Form, Fraction], int] = {}
        self.has_sums = False

    def turns(self, arguments: dict[int, Parts]) -> dict[int, Turn]:
        """Each argument in whole multiples of basic angles; new ones are added to `arguments`."""
        split = {i: _split_pi(parts, keep=self.keep) for i, parts in arguments.items()}
        rests = {i: rest for i, (_, _, rest) in split.items()}
        units = self._units(rests.values())
        for i, rest in rests.items():
            if len(rest) > MOST_PARTS or sum(abs(k / units[b]) for b, k in rest.items()) > MOST_MULTIPLES:
                rests[i] = _whole(rest, self.rank)
        units = self._units(rests.values())
        index = self._placed(units)
        found: dict[int, Turn] = {}
        for i, (quarters, known, _) in split.items():
            multiples = tuple(sorted((index[b], int(k / units[b])) for b, k in rests[i].items()))
            if known is not None or len(multiples) > 1 or any(abs(k) != 1 for _, k in multiples):
                self.has_sums = True
            found[i] = Turn(quarters, known, multiples)
        return found

    def _units(self, rests: Iterable[Parts]) -> dict[Form, Fraction]:
        """The unit of each part; one that was used before stays if it still measures everything."""
        met: dict[Form, list[Fraction]] = {}
        for rest in rests:
            for b, k in rest.items():
                met.setdefault(b, []).append(k)
        units: dict[Form, Fraction] = {}
        for b, ks in met.items():
            old = [u for form, u in self._index if form == b and all((k / u).denominator == 1 for k in ks)]
            units[b] = max(old) if old else _common(ks)
        return units

    def _placed(self, units: dict[Form, Fraction]) -> dict[Form, int]:
        index: dict[Form, int] = {}
        for b, u in sorted(units.items(), key=lambda item: self.rank(item[0])):
            if (b, u) not in self._index:
                self._index[b, u] = len(self.arguments)
                self.arguments.append(Form(tuple(Term(t.coefficient * u, t.powers) for t in b.numerator), b.denominator))
            index[b] = self._index[b, u]
        return index
