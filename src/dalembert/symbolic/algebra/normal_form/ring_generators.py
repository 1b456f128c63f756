"""x₀, x₁, … ↔ m, r, cos θ, …: what the generators of a ring stand for, and how its values are read as forms.

sin(Σ k a): the arguments of sines and cosines as whole multiples of a few basic angles. Arguments are linear combinations Σ k b
of products b of symbols. For each b the basic angle is the largest of which all arguments contain whole multiples (θ/2 if θ/2 and θ
occur, 5t if only 5t occurs); quarter turns go into signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from dalembert.symbolic.algebra.normal_form.quotient_ring import Poly, Ring, TooLong, Value
from dalembert.symbolic.algebra.normal_form.rational_form import UNIT, Atom, Form, Powers, Term, common_measure, content
from dalembert.symbolic.algebra.normal_form.trigsimp import Angle, Sum, Turns, joined, put, shortest, times
from dalembert.symbolic.algebra.tape import FUNCTIONS

OPS = {op: n for n, op in enumerate((*FUNCTIONS, "atan2"))}
Monomial = tuple[tuple[int, int], ...]


def as_fraction(k: Any) -> Fraction:
    """One of flint's rationals as a Python one."""
    return Fraction(int(k.p), int(k.q))


class Alphabet:
    """The atoms of a ring, in the order in which people name them."""

    def __init__(self, ring: Ring, places: Mapping[str, Any], longest: int) -> None:
        self.ring, self.places, self.longest = ring, places, longest
        self.atoms: list[Atom] = []
        self.index: dict[Atom, int] = {}
        # basic angles; angles with generators (cosine, sine); back from these: generator → (angle, whether it is the sine)
        self.arguments: list[Form] = []
        self.points: dict[Angle, tuple[int, int]] = {}
        self.circles: dict[int, tuple[Angle, bool]] = {}
        self._ranks: dict[Atom, Any] = {}
        self._sums: dict[Angle, Form] = {}

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
        pairs = [(Atom("cos", "", (self.argument(a),)), Atom("sin", "", (self.argument(a),))) for a in new]
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
        found = self._ranks.get(atom)
        if found is None:
            if atom.op == "symbol":
                found = (0, self.places[atom.name])
            elif atom.op == "pi":
                found = (1,)
            else:
                inside = [self.places[name] for form in atom.arguments for name in form.symbols()]
                found = (2, inside, [self.rank_of_form(f) for f in atom.arguments], OPS[atom.op])
            self._ranks[atom] = found
        return found

    def rank_of_term(self, term: Term) -> Any:
        return [(self.rank(a), -k) for a, k in term.powers]

    def rank_of_form(self, form: Form) -> Any:
        return [[(self.rank_of_term(t), t.coefficient) for t in side] for side in (form.numerator, form.denominator)]

    # ---- reading -----------------------------------------------------------------------------

    def form(self, v: Value) -> Form:
        """A value as a form; below a fraction bar coefficients are whole and the first is positive."""
        n, d = v
        above = self._terms(n)
        if d is None:
            return Form(above)
        below = self._terms(d)
        k = content(below)
        scaled = [tuple(Term(t.coefficient / k, t.powers) for t in side) for side in (above, below)]
        return Form(scaled[0], UNIT if scaled[1] == UNIT else scaled[1])

    def parts(self, v: Value) -> dict[Form, Fraction]:
        """A polynomial as Σ k b with products b; a fraction as one part."""
        n, d = v
        if d is not None:
            return {self.form(v): Fraction(1)}
        return {Form((Term(Fraction(1), self._powers(monomial, ())),)): as_fraction(k) for monomial, k in self.ring.monomials(n)}

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
            sums = shortest(sums)
        terms: dict[Powers, Fraction] = {}
        for (rest, turns), k in sums.items():
            whole, halvings = self._doubled(turns)
            put(terms, self._powers(rest, whole), as_fraction(k / 2**halvings))
        return tuple(sorted((Term(k, powers) for powers, k in terms.items()), key=self.rank_of_term))

    def _doubled(self, turns: Turns) -> tuple[Turns, int]:
        """sin(θ/2) cos(θ/2) = ½ sin θ, so that half angles elsewhere leave whole ones alone; and how many halves come out."""
        halvings, found = 0, turns
        for angle, i, j in turns:
            n = min(i, j)
            if n and any(k % 2 and self._is_half(a) for a, k in angle):
                halvings += n
                found = joined(found, ((angle, -n, -n), (times(angle, 2), n, 0)))
        return found, halvings

    def _is_half(self, basic: int) -> bool:
        return self.arguments[basic].numerator[0].coefficient.denominator % 2 == 0

    def _powers(self, rest: Monomial, turns: Turns) -> Powers:
        powers = [(self.atoms[g], e) for g, e in rest]
        for angle, i, j in turns:
            argument = (self.argument(angle),)
            powers += [(Atom(op, "", argument), e) for op, e in (("sin", i), ("cos", j)) if e]
        return tuple(sorted(powers, key=lambda p: self.rank(p[0])))

    def argument(self, angle: Angle) -> Form:
        """Σ k a over basic angles a"""
        found = self._sums.get(angle)
        if found is None:
            if len(angle) == 1 and angle[0][1] == 1:
                found = self.arguments[angle[0][0]]
            else:
                total: dict[Powers, Fraction] = {}
                for a, k in angle:
                    for t in self.arguments[a].numerator:
                        total[t.powers] = total.get(t.powers, Fraction(0)) + k * t.coefficient
                terms = [Term(k, powers) for powers, k in total.items() if k]
                found = Form(tuple(sorted(terms, key=self.rank_of_term)))
            self._sums[angle] = found
        return found


# ---- basic angles -------------------------------------------------------------------------------

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
            units[b] = max(old) if old else common_measure(ks)
        return units

    def _placed(self, units: dict[Form, Fraction]) -> dict[Form, int]:
        index: dict[Form, int] = {}
        for b, u in sorted(units.items(), key=lambda item: self.rank(item[0])):
            if (b, u) not in self._index:
                self._index[b, u] = len(self.arguments)
                self.arguments.append(Form(tuple(Term(t.coefficient * u, t.powers) for t in b.numerator), b.denominator))
            index[b] = self._index[b, u]
        return index
