"""v = c Π xᵉ Π f(x)ᵏ: the terms that have given values at random points, looked up in a table.

A value v is known at one random point of a prime field, and at points where one symbol x alone is
scaled by ρ. If v is a term, its ratio there is ρᵉ times that of its functions (sines, cosines,
roots, dependent rates, accelerations, multipliers). Products of few functions are in a table, keyed
by the symbols at which their ratio is no power of ρ: a value is looked up there, nothing of the
true equations is expanded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

from dalembert.analysis.verify.truth import Truth
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.linear_algebra import rational_reconstruction
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.exact.zero_test import BadPoint
from dalembert.symbolic.algebra.expression_graph import dependencies, functions_in, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import TooLong, expand, normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, Term, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar

RHO: Final = 1_000_003
EXPONENTS: Final = range(-4, 5)
# powers of ρ up to this one are distinguished from other ratios of functions, and of values
LARGEST_OWN: Final = 8
LARGEST_POWER: Final = LARGEST_OWN + EXPONENTS[-1]
# coefficients up to this size; primes have 127 bits, and a second point confirms
LARGEST: Final = 2**52
MOST_TERMS: Final = 2000
_SEED: Final = 11
_ROOTS: Final = ("sqrt", "abs", "sign", "exp", "log")
# products of functions, each with its exponent
Powers = tuple[tuple[int, int], ...]


class Samples:
    """Random points at which values are compared: one, one for each scaled symbol, and one to
    confirm.
    """

    def __init__(
        self, truth: Truth, levels: Sequence[int], outs: tuple[int, ...], *, free: bool
    ) -> None:
        self.truth, self.tape, self.free = truth, truth.tape, free
        base = self._first(outs)
        self.prime = base.prime
        self.points = [self._solve(base)]
        self.levels: list[int] = []
        self.steps: list[list[tuple[int, int]]] = []
        # {ρᵉ: e} at each level
        self.powers: list[dict[int, int]] = []
        for x in levels:
            rho, moved = self._scale_symbol(base, x)
            self.points.append(moved)
            self.levels.append(x)
            self.steps.append([(e, pow(rho, -e, self.prime)) for e in EXPONENTS])
            exponents = range(-LARGEST_POWER, LARGEST_POWER + 1)
            self.powers.append({pow(rho, e, self.prime): e for e in exponents})
        self.check = self._another()
        # every symbol on its own: two changes agree there if and only if they are the same function
        self.distinct = SamplePoint(self.tape, _SEED + 2, self.prime)

    def _solve(self, point: SamplePoint) -> SamplePoint:
        return point if self.free else self.truth.solve_at(point)

    def _first(self, outs: tuple[int, ...]) -> SamplePoint:
        for seed in range(_SEED, _SEED + 400):
            try:
                point = SamplePoint(self.tape, seed, outs=outs)
                self._solve(point)
            except BadPoint:
                continue
            return point
        msg = "no random state at which the equations can be evaluated"
        raise BadPoint(msg)

    def _scale_symbol(self, base: SamplePoint, x: int) -> tuple[int, SamplePoint]:
        """The point with x scaled; under a root only half of all factors leave a square."""
        for rho in range(RHO, RHO + 400):
            try:
                moved = SamplePoint(
                    self.tape,
                    _SEED,
                    given={x: base.real_value(x) * rho % self.prime},
                    same_values_as=base,
                )
                return rho, self._solve(moved)
            except BadPoint:
                continue
        msg = f"no state with another {self.tape.nodes[x][1]}"
        raise BadPoint(msg)

    def _another(self) -> SamplePoint:
        for seed in range(_SEED + 500, _SEED + 900):
            try:
                return self._solve(SamplePoint(self.tape, seed, self.prime))
            except BadPoint:
                continue
        msg = "no second random state"
        raise BadPoint(msg)

    def values(self, node: int) -> list[int]:
        """The values of a node at all points, the confirming one last."""
        i = self.truth.in_u(node)
        return [point.real_value(i) for point in (*self.points, self.check)]

    def ratios(self, v: Sequence[int]) -> list[int] | None:
        """v at each moved point over v at the first; None where it vanishes."""
        if not all(v):
            return None
        inverse = pow(v[0], -1, self.prime)
        return [x * inverse % self.prime for x in v[1:]]


@dataclass(frozen=True)
class Signature:
    """The ratios of a product at the moved points: powers of ρ, and the others."""

    exponents: dict[int, int]
    others: dict[int, int]


@dataclass(frozen=True)
class Outer:
    """An acceleration or a multiplier, a quotient of two, or nothing: what a value is divided by
    before it is looked up.
    """

    powers: Powers
    # the inverse ratios at the moved points; None for nothing
    inverse: tuple[int, ...] | None
    # whether products of functions may stand next to it
    joins: bool = True


class Terms:
    """The table of products of functions for one system."""

    def __init__(self, truth: Truth, *, free: bool = False, outs: tuple[int, ...] = ()) -> None:
        self.truth, self.tape, self.free = truth, truth.tape, free
        t = self.tape
        known = truth.names().known.values()
        inside = symbols_of(t, truth.residuals)
        unknowns = () if free else truth.unknowns
        symbols = [x for x in dict.fromkeys((*known, *truth.kin.u, *inside)) if x not in unknowns]
        symbols += [x for x in truth.accelerations if free and x not in symbols]
        levels = [x for x in symbols if truth.in_u(x) == x and t.nodes[x][0] == "symbol"]
        self.samples = Samples(
            truth,
            sorted(levels, key=lambda x: x not in truth.kin.q),
            (*truth.residuals, *outs),
            free=free,
        )
        self.prime = self.samples.prime
        # {levels at which the ratio is no power: {ratio: {ratio: … [(product, exponents)]}}}
        self.table: dict[tuple[int, ...], dict[Any, Any]] = {}
        self._signatures: dict[int, Signature | None] = {}
        # the levels at which every ratio is a power, and the others
        self._plain = list(range(len(self.samples.levels)))
        self._varied: list[int] = []
        self._inserted: set[Powers] = set()
        self._arguments: list[int] = []
        self._others: list[int] = []
        self._outer_symbols = () if free else (*truth.accelerations, *truth.multipliers)
        self.outer = self._outer_factors()
        self.learn([Scalar(t, r) for r in truth.residuals], reduced=True)

    # ---- growing -------------------------------------------------------------------------------

    def learn(self, rows: Sequence[Scalar], *, reduced: bool = False) -> None:
        """Add the functions and the products of functions that some rows contain."""
        t = self.tape
        nodes = [
            t.nodes[i]
            for i in dependencies(t, [n for r in rows for n in (r.i, self.truth.in_u(r.i))])
        ]
        arguments = [a for op, a, _ in nodes if op in ("sin", "cos") and a not in self._arguments]
        others = [t.call(op, a) for op, a, _ in nodes if op in _ROOTS]
        new = [f for f in dict.fromkeys(others) if f not in self._others]
        divided = any(op == "div" for op, _, _ in nodes)
        if arguments or new or not self._inserted:
            self._arguments += dict.fromkeys(arguments)
            self._others += new
            self._insert_usual(divided=divided)
        for row in rows:
            for product in self._own(row, reduced=reduced):
                self._insert(product)

    def _insert_usual(self, *, divided: bool) -> None:
        """Products of up to two functions, squares, and quotients within a class."""
        t, truth = self.tape, self.truth
        angles = [Scalar(t, a) for a in self._arguments if a in self.samples.levels][:4]
        mixed = [x.i for a, b in combinations(angles, 2) for x in (a + b, a - b)] + [
            (2 * a).i for a in angles
        ]
        arguments = list(dict.fromkeys((*self._arguments, *mixed)))
        trig = [t.call(f, a) for a in arguments for f in ("sin", "cos")]
        single: list[Powers] = [((f, 1),) for f in (*trig, *self._others, *truth.dependent)]
        products: list[Powers] = [(), *single, *(((f, 2),) for f in (*trig, *truth.dependent))]
        products += [(*a, *b) for a, b in combinations(single, 2)] if len(single) <= 40 else []
        if divided or self._others:
            below = [*trig[:12], *self._others]
            products += [((f, k),) for f in (*trig, *self._others) for k in (-1, -2)]
            products += [
                (*a, (f, k)) for a in single for f in below for k in (-1, -2) if a[0][0] != f
            ]
        if len(trig) <= 12:
            products += [(*a, (f, 2)) for a in single for f in trig if a[0][0] != f]
        for product in products:
            self._insert(product)
        self._insert_quotients([*trig, *self._others][:60])

    def _insert_quotients(self, functions: list[int]) -> None:
        truth = self.truth
        groups = [functions, [*truth.dependent, *truth.kin.u]]
        groups += [truth.accelerations] if self.free else []
        for group in groups:
            for f in group:
                for g in group:
                    if f != g:
                        self._insert(((f, 1), (g, -1)))

    def _outer_factors(self) -> list[Outer]:
        """Nothing, y, and quotients of two y of one kind."""
        truth, outer = self.truth, [Outer((), None)]
        ratios = {a: r for a in self._outer_symbols if (r := self._ratios(a)) is not None}
        p = self.prime
        inverses = {a: [pow(x, -1, p) for x in r] for a, r in ratios.items()}
        outer += [Outer(((a, 1),), tuple(inverse)) for a, inverse in inverses.items()]
        for group in (truth.accelerations, truth.multipliers):
            known = [a for a in group if a in ratios]
            for a in known:
                for b in known:
                    if a != b:
                        pairs = zip(inverses[a], ratios[b], strict=True)
                        inverse = tuple(x * y % p for x, y in pairs)
                        outer.append(Outer(((a, 1), (b, -1)), inverse, joins=False))
        return outer

    def _ratios(self, f: int) -> list[int] | None:
        try:
            return self.samples.ratios(self.samples.values(f)[:-1])
        except BadPoint:
            return None

    def _insert(self, product: Powers) -> None:
        if product in self._inserted:
            return
        self._inserted.add(product)
        signature = self._product_signature(product)
        if signature is None:
            return
        levels = tuple(sorted(signature.others))
        new = [level for level in levels if level not in self._varied]
        if new:
            self._varied += new
            self._plain = [level for level in self._plain if level not in new]
        node = self.table.setdefault(levels, {})
        for level in levels:
            node = node.setdefault(signature.others[level], {})
        node.setdefault(None, []).append((product, signature.exponents))

    def _product_signature(self, product: Powers) -> Signature | None:
        """Π f^k"""
        p, exponents, others = self.prime, dict[int, int](), dict[int, int]()
        for f, k in product:
            own = self._signature(f)
            if own is None:
                return None
            for level, e in own.exponents.items():
                exponents[level] = exponents.get(level, 0) + k * e
            for level, r in own.others.items():
                others[level] = others.get(level, 1) * (r if k == 1 else pow(r, k, p)) % p
        return self._split(exponents, others)

    def _split(self, exponents: dict[int, int], ratios: dict[int, int]) -> Signature:
        """Powers of ρ apart from other ratios."""
        others: dict[int, int] = {}
        for level, r in ratios.items():
            e = self.samples.powers[level].get(r)
            if e is None or abs(e) > LARGEST_OWN:
                others[level] = r
            elif e:
                exponents[level] = exponents.get(level, 0) + e
        return Signature({level: e for level, e in exponents.items() if e}, others)

    def _signature(self, f: int) -> Signature | None:
        """The ratios of one function."""
        if f not in self._signatures:
            ratios = self._ratios(f)
            own = None if ratios is None else self._split({}, dict(enumerate(ratios)))
            self._signatures[f] = own
        return self._signatures[f]

    def _own(self, row: Scalar, *, reduced: bool) -> list[Powers]:
        """The products of functions in the terms of a row."""
        t = self.tape
        try:
            form = (normal_form if reduced else expand)(t, [row.i], limit=MOST_TERMS)[0]
        except TooLong:
            return []
        nodes = {
            a: to_scalar(RationalForm((Term(Fraction(1), ((a, 1),)),)), t).i for a in form.atoms()
        }
        functions = {
            a: i for a, i in nodes.items() if i not in self.samples.levels and not self._is_outer(i)
        }
        return list(
            dict.fromkeys(
                tuple((functions[a], k) for a, k in x.powers if a in functions and a.op != "pi")
                for x in form.numerator
            )
        )

    def _is_outer(self, i: int) -> bool:
        return (
            i in self._outer_symbols
            or str(self.tape.nodes[i][1]).startswith("written_")
            or i in self.truth.opaque
        )

    # ---- looking up ----------------------------------------------------------------------------

    def recognise(self, v: Sequence[int], *, outer: bool = True) -> list[Scalar]:
        """Every term that has these values; without accelerations and multipliers where `outer` is
        false.
        """
        ratios = self.samples.ratios(v[:-1])
        if ratios is None:
            return []
        hits = (
            self._term((*product, *factor.powers), exponents, v)
            for factor in (self.outer if outer else self.outer[:1])
            for product, exponents in self._matches(ratios, factor)
        )
        return [term for term in hits if term is not None]

    def _matches(
        self, ratios: Sequence[int], factor: Outer
    ) -> Iterator[tuple[Powers, dict[int, int]]]:
        """(product of functions, {level: exponent}) with these ratios."""
        p, inverse, powers = self.prime, factor.inverse, self.samples.powers
        exponents: dict[int, int] = {}
        others: list[tuple[int, int]] = []
        for level in (*self._plain, *self._varied):
            r = ratios[level] if inverse is None else ratios[level] * inverse[level] % p
            e = powers[level].get(r)
            if e is not None:
                exponents[level] = e
            elif level in self._varied and factor.joins:
                others.append((level, r))
            else:
                return
        others.sort()
        first = self.table.get(tuple(level for level, _ in others))
        states = [] if first is None else [(first, exponents)]
        for level, r in others:
            states = [
                (node[x], {**chosen, level: e})
                for node, chosen in states
                for e, step in self.samples.steps[level]
                if (x := r * step % p) in node
            ]
        for node, chosen in states:
            for product, own in node.get(None, ()):
                net = {k: e for k in {*chosen, *own} if (e := chosen.get(k, 0) - own.get(k, 0))}
                if all(abs(e) <= EXPONENTS[-1] for e in net.values()):
                    yield product, net

    def _term(self, whole: Powers, exponents: dict[int, int], v: Sequence[int]) -> Scalar | None:
        """The term with its coefficient, a small fraction that a second point confirms."""
        t, p = self.tape, self.prime
        size = Scalar(t, t.one)
        for f, e in whole:
            size = size * Scalar(t, f) ** e
        for level in sorted(exponents):
            size = size * Scalar(t, self.samples.levels[level]) ** exponents[level]
        i = self.truth.in_u(size.i)
        try:
            here, there = self.samples.points[0].real_value(i), self.samples.check.real_value(i)
        except BadPoint:
            return None
        c = rational_reconstruction(v[0] * pow(here, -1, p), p, LARGEST) if here else None
        if not c or (v[-1] - there * c.numerator * pow(c.denominator, -1, p)) % p:
            return None
        return c * size

    def key(self, node: int) -> int:
        """A number that is the same for the same function of all symbols."""
        return self.samples.distinct.real_value(node)


def terms_of(truth: Truth, rows: Iterable[Scalar], *, free: bool) -> Terms:
    """The table of a system, grown by what the rows contain; roots of their own need points of
    their own.
    """
    store, nodes = truth.kept, truth.tape.nodes
    given = list(rows)
    written = tuple(truth.in_u(r.i) for r in given)
    known = set(functions_in(truth.tape, truth.residuals))
    roots = tuple(
        i for i in functions_in(truth.tape, written) if i not in known and nodes[i][0] == "sqrt"
    )
    key = ("terms", free, truth.multipliers, roots)
    if key not in store:
        store[key] = Terms(truth, free=free, outs=written if roots else ())
    terms: Terms = store[key]
    terms.learn(given)
    return terms
