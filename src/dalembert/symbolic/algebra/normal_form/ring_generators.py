"""x₀, x₁, … ↔ m, r, cos θ, …: what the generators of a ring stand for, and how its values are read
as forms.

sin(Σ k a): the arguments of sines and cosines as whole multiples of a few basic angles. Arguments
are linear combinations Σ k b of products b of symbols. For each b the basic angle is the largest of
which all arguments contain whole multiples (θ/2 if θ/2 and θ occur, 5t if only 5t occurs); quarter
turns go into signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import floor
from typing import Any

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.normal_form.quotient_ring import Poly, Ring, TooLong, Value
from dalembert.symbolic.algebra.normal_form.rational_form import (
    UNIT,
    Atom,
    Powers,
    RationalForm,
    Term,
    content,
    rational_gcd,
)
from dalembert.symbolic.algebra.normal_form.trigsimp import (
    Angle,
    Sum,
    Turns,
    add_term,
    multiply_powers,
    scale_angle,
    shorten_trig,
)
from dalembert.symbolic.algebra.tape import FUNCTIONS

OPS = {op: n for n, op in enumerate((*FUNCTIONS, "atan2"))}
Monomial = tuple[tuple[int, int], ...]


def as_fraction(k: Any) -> Fraction:
    """One of flint's rationals as a Python one."""
    return Fraction(int(k.p), int(k.q))


class GeneratorTable:
    """The atoms of a ring, in the order in which people name them."""

    def __init__(self, ring: Ring, symbol_order: Mapping[str, Any], longest: int) -> None:
        self.ring, self.places, self.longest = ring, symbol_order, longest
        self.atoms: list[Atom] = []
        self.index: dict[Atom, int] = {}
        # basic angles; angles with generators (cosine, sine); back from these: generator → (angle,
        # whether it is the sine)
        self.arguments: list[RationalForm] = []
        self.points: dict[Angle, tuple[int, int]] = {}
        self.circles: dict[int, tuple[Angle, bool]] = {}
        self._ranks: dict[Atom, Any] = {}
        self._sums: dict[Angle, RationalForm] = {}

    def add(self, atoms: Iterable[Atom]) -> list[Atom]:
        """Makes generators for the atoms met for the first time, and returns these."""
        new = [a for a in dict.fromkeys(atoms) if a not in self.index]
        if new:
            self.index.update(zip(new, self.ring.grow(len(new)), strict=True))
            self.atoms.extend(new)
        return new

    def add_circles(self, angles: Iterable[Angle]) -> None:
        """cos a, sin a with cos² + sin² = 1, for new angles a."""
        new = [a for a in dict.fromkeys(angles) if a not in self.points]
        pairs = [
            (Atom("cos", "", (self.argument(a),)), Atom("sin", "", (self.argument(a),)))
            for a in new
        ]
        self.add(atom for pair in pairs for atom in pair)
        for angle, (cos, sin) in zip(new, pairs, strict=True):
            c, s = self.points[angle] = self.index[cos], self.index[sin]
            self.circles |= {c: (angle, False), s: (angle, True)}
            self.ring.relate_circle(c, s)

    def generator(self, atom: Atom) -> Poly:
        return self.ring.generator(self.index[atom])

    # ---- order -------------------------------------------------------------------------------

    def rank(self, atom: Atom) -> Any:
        """Symbols in their order, then π, then functions by the symbols they contain."""
        rank_key = self._ranks.get(atom)
        if rank_key is None:
            if atom.op == "symbol":
                rank_key = (0, self.places[atom.name])
            elif atom.op == "pi":
                rank_key = (1,)
            else:
                inside = [self.places[name] for form in atom.arguments for name in form.symbols()]
                rank_key = (2, inside, [self.rank_of_form(f) for f in atom.arguments], OPS[atom.op])
            self._ranks[atom] = rank_key
        return rank_key

    def rank_of_term(self, term: Term) -> Any:
        return [(self.rank(a), -k) for a, k in term.powers]

    def rank_of_form(self, form: RationalForm) -> Any:
        return [
            [(self.rank_of_term(t), t.coefficient) for t in side]
            for side in (form.numerator, form.denominator)
        ]

    # ---- reading -----------------------------------------------------------------------------

    def form(self, v: Value) -> RationalForm:
        """A value as a form; below a fraction bar coefficients are whole and the first is
        positive.
        """
        n, d = v
        above = self._terms(n)
        if d is None:
            return RationalForm(above)
        below = self._terms(d)
        k = content(below)
        scaled = [tuple(Term(t.coefficient / k, t.powers) for t in side) for side in (above, below)]
        return RationalForm(scaled[0], UNIT if scaled[1] == UNIT else scaled[1])

    def parts(self, v: Value) -> dict[RationalForm, Fraction]:
        """A polynomial as Σ k b with products b; a fraction as one part."""
        n, d = v
        if d is not None:
            return {self.form(v): Fraction(1)}
        return {
            RationalForm((Term(Fraction(1), self._powers(monomial, ())),)): as_fraction(k)
            for monomial, k in self.ring.monomials(n)
        }

    def _terms(self, p: Poly) -> tuple[Term, ...]:
        if len(p) > self.longest:
            msg = f"more than {self.longest} terms when multiplied out"
            raise TooLong(msg)
        sums: Sum = {}
        for monomial, k in self.ring.monomials(p):
            held: dict[Angle, list[int]] = {}
            for g, e in monomial:
                if g in self.circles:
                    angle, sine = self.circles[g]
                    held.setdefault(angle, [0, 0])[0 if sine else 1] = e
            rest = tuple(x for x in monomial if x[0] not in self.circles)
            turns = tuple((a, i, j) for a, (i, j) in sorted(held.items()))
            sums[rest, turns] = k
        if self.circles:
            sums = shorten_trig(sums)
        terms: dict[Powers, Fraction] = {}
        for (rest, turns), k in sums.items():
            whole, halvings = self._double_half_angles(turns)
            add_term(terms, self._powers(rest, whole), as_fraction(k / 2**halvings))
        return tuple(
            sorted((Term(k, powers) for powers, k in terms.items()), key=self.rank_of_term)
        )

    def _double_half_angles(self, turns: Turns) -> tuple[Turns, int]:
        """sin(θ/2) cos(θ/2) = ½ sin θ, so that half angles elsewhere leave whole ones alone; and
        how many halves come out.
        """
        halvings, powers = 0, turns
        for angle, i, j in turns:
            n = min(i, j)
            if n and any(k % 2 and self._is_half(a) for a, k in angle):
                halvings += n
                powers = multiply_powers(powers, ((angle, -n, -n), (scale_angle(angle, 2), n, 0)))
        return powers, halvings

    def _is_half(self, basic: int) -> bool:
        return self.arguments[basic].numerator[0].coefficient.denominator % 2 == 0

    def _powers(self, rest: Monomial, turns: Turns) -> Powers:
        powers = [(self.atoms[g], e) for g, e in rest]
        for angle, i, j in turns:
            argument = (self.argument(angle),)
            powers += [(Atom(op, "", argument), e) for op, e in (("sin", i), ("cos", j)) if e]
        return tuple(sorted(powers, key=lambda p: self.rank(p[0])))

    def argument(self, angle: Angle) -> RationalForm:
        """Σ k a over basic angles a"""
        form = self._sums.get(angle)
        if form is None:
            if len(angle) == 1 and angle[0][1] == 1:
                form = self.arguments[angle[0][0]]
            else:
                total: dict[Powers, Fraction] = {}
                for a, k in angle:
                    for t in self.arguments[a].numerator:
                        total[t.powers] = total.get(t.powers, Fraction(0)) + k * t.coefficient
                terms = [Term(k, powers) for powers, k in total.items() if k]
                form = RationalForm(tuple(sorted(terms, key=self.rank_of_term)))
            self._sums[angle] = form
        return form


# ---- basic angles -------------------------------------------------------------------------------

Parts = dict[RationalForm, Fraction]

PI = RationalForm((Term(Fraction(1), ((Atom("pi"), 1),)),))
# cos(r π), sin(r π) as halves of square roots: {r: (radicands)}
KNOWN = {Fraction(1, 6): (3, 1), Fraction(1, 4): (2, 2), Fraction(1, 3): (1, 3)}
MOST_MULTIPLES = 6
MOST_PARTS = 6


@dataclass(frozen=True)
class AngleSum:
    """quarters · π/2 + known · π + Σ k · (basic angle)"""

    quarters: int
    known: Fraction | None
    multiples: tuple[tuple[int, int], ...]


def _split_pi(parts: Parts, *, keep: bool) -> tuple[int, Fraction | None, Parts]:
    """Takes whole quarter turns, and angles whose sine every book knows unless kept, out of an
    argument.
    """
    rest = dict(parts)
    turns = rest.pop(PI, Fraction(0))
    quarters = floor(2 * turns)
    left = turns - Fraction(quarters, 2)
    if left in KNOWN and not keep:
        return quarters, left, rest
    if left:
        rest[PI] = left
    return quarters, None, rest


def _as_one_angle(parts: Parts, rank: Callable[[RationalForm], Any]) -> Parts:
    """The argument as one angle of its own, with its first term positive."""
    ordered = sorted(parts.items(), key=lambda p: rank(p[0]))
    terms = tuple(Term(k * b.numerator[0].coefficient, b.numerator[0].powers) for b, k in ordered)
    positive = terms[0].coefficient > 0
    return {
        RationalForm(terms if positive else tuple(-t for t in terms)): Fraction(
            1 if positive else -1
        )
    }


class BasicAngles:
    """The basic angles met so far."""

    def __init__(self, rank: Callable[[RationalForm], Any], *, keep_arguments: bool) -> None:
        self.rank, self.keep = rank, keep_arguments
        self.arguments: list[RationalForm] = []
        self._index: dict[tuple[RationalForm, Fraction], int] = {}
        self.has_sums = False

    def decompose(self, arguments: dict[int, Parts]) -> dict[int, AngleSum]:
        """Each argument in whole multiples of basic angles; new ones are added to `arguments`."""
        split = {i: _split_pi(parts, keep=self.keep) for i, parts in arguments.items()}
        rests = {i: rest for i, (_, _, rest) in split.items()}
        units = self._units(rests.values())
        for i, rest in rests.items():
            if (
                len(rest) > MOST_PARTS
                or sum(abs(k / units[b]) for b, k in rest.items()) > MOST_MULTIPLES
            ):
                rests[i] = _as_one_angle(rest, self.rank)
        units = self._units(rests.values())
        index = self._index_units(units)
        angle_sums: dict[int, AngleSum] = {}
        for i, (quarters, known, _) in split.items():
            multiples = tuple(sorted((index[b], int(k / units[b])) for b, k in rests[i].items()))
            if known is not None or len(multiples) > 1 or any(abs(k) != 1 for _, k in multiples):
                self.has_sums = True
            angle_sums[i] = AngleSum(quarters, known, multiples)
        return angle_sums

    def _units(self, rests: Iterable[Parts]) -> dict[RationalForm, Fraction]:
        """The unit of each part; one that was used before stays if it still measures everything."""
        met: dict[RationalForm, list[Fraction]] = {}
        for rest in rests:
            for b, k in rest.items():
                met.setdefault(b, []).append(k)
        units: dict[RationalForm, Fraction] = {}
        for b, ks in met.items():
            old = [
                u
                for form, u in self._index
                if form == b and all((k / u).denominator == 1 for k in ks)
            ]
            units[b] = max(old) if old else rational_gcd(ks)
        return units

    def _index_units(self, units: dict[RationalForm, Fraction]) -> dict[RationalForm, int]:
        index: dict[RationalForm, int] = {}
        for b, u in sorted(units.items(), key=lambda item: self.rank(item[0])):
            if (b, u) not in self._index:
                self._index[b, u] = len(self.arguments)
                self.arguments.append(
                    RationalForm(
                        tuple(Term(t.coefficient * u, t.powers) for t in b.numerator), b.denominator
                    )
                )
            index[b] = self._index[b, u]
        return index
