"""The normal form: an expression multiplied out, with sin² + cos² = 1 used up, in the fewest terms.

The tape is evaluated in ℚ[symbols, c, s, …] modulo the relations of its functions (`ring`), so
expressions that are equal as rational functions of symbols, sines and cosines come out equal. Then
each angle gets the reduction that leaves the fewest terms, and sums of angles are merged where that
shortens (`angles`).

No principle needs this in order to be right: it is for reading and for counting terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt

from dalembert.symbolic.algebra.expression_graph import dependencies, operations
from dalembert.symbolic.algebra.normal_form.quotient_ring import Poly, Ring, TooLong, Value
from dalembert.symbolic.algebra.normal_form.rational_form import (
    Atom,
    RationalForm,
    constant,
    rational_gcd,
)
from dalembert.symbolic.algebra.normal_form.ring_generators import (
    KNOWN,
    OPS,
    AngleSum,
    BasicAngles,
    GeneratorTable,
    as_fraction,
)
from dalembert.symbolic.algebra.normal_form.trigsimp import Angle
from dalembert.symbolic.algebra.tape import BINARY, LEAVES, Tape

DEEPEST = 20
EVEN = frozenset({"cosh", "abs"})
ODD = frozenset({"sinh", "asin", "atan", "sign"})


class Expansion:
    """Some expressions as fractions of polynomials in symbols and functions, and from there as
    forms.

    `angles` says what is known about sin and cos: "expanded" uses the addition theorems, "kept"
    only sin² + cos² = 1 of each argument as it stands, "as written" nothing.
    """

    def __init__(
        self,
        tape: Tape,
        outs: Sequence[int],
        limits: tuple[int, int],
        order: Sequence[int] | None,
        angles: str,
    ) -> None:
        self.tape, self.outs = tape, list(outs)
        self.plain = angles == "as written"
        # terms allowed on the way, and terms allowed in what is read as a form
        limit, longest = limits
        self.ring = Ring(limit, _generator_count(tape, self.outs))
        listed = {tape.nodes[i][1]: (0, n) for n, i in enumerate(order or ())}
        self.alphabet = GeneratorTable(
            self.ring, {name: (1, i) for name, i in tape.names.items()} | listed, longest
        )
        self.basis = BasicAngles(self.alphabet.rank_of_form, keep_arguments=angles == "kept")
        self.values: dict[int, Value] = {}

    @property
    def has_sums(self) -> bool:
        """Whether some sin or cos was taken of more than one basic angle."""
        return self.basis.has_sums

    # ---- the fold ----------------------------------------------------------------------------

    def forms(self) -> list[RationalForm]:
        """The forms of the expressions, in the order asked for."""
        self.run()
        return [self.form(i) for i in self.outs]

    def form(self, i: int) -> RationalForm:
        """The form of one of the expressions, after `run`."""
        return self.alphabet.form(self.ring.rationalize(*self.values[i]))

    def run(self) -> None:
        """Evaluates the tape in the ring."""
        nodes = self.tape.nodes
        for level in self._levels():
            functions = [i for i in level if nodes[i][0] in OPS]
            if functions:
                self._adjoin(functions)
            for i in level:
                if i not in self.values:
                    self.values[i] = self._value(i)

    def _levels(self) -> list[list[int]]:
        """The needed nodes by how deeply functions are nested in them; symbols get their values."""
        nodes = self.tape.nodes
        depth: dict[int, int] = {}
        levels: list[list[int]] = [[]]
        for i in dependencies(self.tape, self.outs):
            op, a, b = nodes[i]
            d = 0 if op in LEAVES else max(depth[a], depth[b]) if op in BINARY else depth[a]
            depth[i] = d = d + (op in OPS)
            if d > DEEPEST:
                msg = f"functions nested more than {DEEPEST} deep"
                raise TooLong(msg)
            if d == len(levels):
                levels.append([])
            levels[d].append(i)
        leaves = {
            i: Atom(nodes[i][0], nodes[i][1] or "")
            for i in levels[0]
            if nodes[i][0] in ("symbol", "pi")
        }
        self._grow(leaves.values())
        self.values = {i: (self.alphabet.generator(atom), None) for i, atom in leaves.items()}
        return levels

    def _value(self, i: int) -> Value:
        op, a, b = self.tape.nodes[i]
        if op == "const":
            return self.ring.const(a)
        if op == "neg":
            return self.ring.neg(self.values[a])
        x, y = self.values[a], self.values[b]
        if op == "mul":
            return self.ring.mul(x, y)
        if op == "add":
            return self.ring.add(x, y)
        return self.ring.sub(x, y) if op == "sub" else self.ring.div(x, y)

    def _grow(self, atoms: Iterable[Atom]) -> list[Atom]:
        """Adds new atoms and brings the known values along."""
        new = self.alphabet.add(atoms)
        if new:
            self.values = {i: self.ring.value_in_context(v) for i, v in self.values.items()}
        return new

    # ---- functions become generators ---------------------------------------------------------

    def _adjoin(self, functions: list[int]) -> None:
        """Values of function nodes whose arguments are known."""
        turning = [
            i for i in functions if self.tape.nodes[i][0] in ("sin", "cos") and not self.plain
        ]
        if turning:
            self._adjoin_angles(turning)
        others = {i: self._function(i) for i in functions if i not in self.values}
        squares = {atom: square for _, atom, square in others.values() if atom is not None}
        for atom in self._grow(squares):
            square = squares[atom]
            if square is not None:
                self.ring.relate(self.alphabet.index[atom], self.ring.value_in_context(square))
        for i, (k, function_atom, _) in others.items():
            x = self.ring.one if function_atom is None else self.alphabet.generator(function_atom)
            self.values[i] = self.ring.flint.fmpq(k.numerator, k.denominator) * x, None

    def _function(self, i: int) -> tuple[Fraction, Atom | None, Value | None]:
        """(k, f, f²): the node is k f with an atom f, or the number k; f² where it can be
        written without f.
        """
        op, a, b = self.tape.nodes[i]
        v, form = self.values[a], self.alphabet.form
        if op == "atan2":
            return Fraction(1), Atom(op, "", (form(v), form(self.values[b]))), None
        if v[1] is None and v[0].is_constant():
            number = _at_number(
                op, as_fraction(v[0].leading_coefficient()) if len(v[0]) else Fraction(0)
            )
            if number is not None:
                return number, None, None
        if self.plain:
            return Fraction(1), Atom(op, "", (form(v),)), None
        if op == "sqrt":
            return self._root(v)
        k = 1
        if op in EVEN | ODD and form(v).numerator[0].coefficient < 0:
            v, k = self.ring.neg(v), -1 if op in ODD else 1
        return Fraction(k), Atom(op, "", (form(v),)), self.ring.mul(v, v) if op == "abs" else None

    def _root(self, v: Value) -> tuple[Fraction, Atom | None, Value | None]:
        """√(k² e) = k √e; √(e²) = |e|"""
        n, d = v
        k = rational_gcd([as_fraction(c) for c in n.coeffs()])
        outside, inside = _square_part(k.numerator * k.denominator)
        n = n * self.ring.flint.fmpq(inside * k.denominator, k.numerator)
        scale = Fraction(outside, k.denominator)
        root = self._exact_root(n) if d is None else None
        if root is None:
            return scale, Atom("sqrt", "", (self.alphabet.form((n, d)),)), (n, d)
        form = self.alphabet.form((root, None))
        return (
            scale,
            Atom("abs", "", (form if form.numerator[0].coefficient > 0 else -form,)),
            (n, None),
        )

    def _exact_root(self, n: Poly) -> Poly | None:
        if n.is_constant():
            return None
        try:
            return n.sqrt()
        except self.ring.flint.utils.flint_exceptions.DomainError:
            return None

    def _adjoin_angles(self, functions: list[int]) -> None:
        """sin and cos of sums, by the addition theorems, from those of basic angles."""
        nodes = self.tape.nodes
        arguments = {
            a: self.alphabet.parts(self.values[a])
            for a in dict.fromkeys(nodes[i][1] for i in functions)
        }
        turns = self.basis.decompose(arguments)
        known = dict.fromkeys(
            x for turn in turns.values() if turn.known for x in KNOWN[turn.known] if x > 1
        )
        for atom, square in zip(self._grow(_root_of(x) for x in known), known, strict=False):
            self.ring.relate(self.alphabet.index[atom], self.ring.const(square))
        self.alphabet.arguments = self.basis.arguments
        self.alphabet.add_circles(
            angle for turn in turns.values() for angle, _ in self._steps(turn)
        )
        self.values = {i: self.ring.value_in_context(v) for i, v in self.values.items()}
        points = {a: self._point(turn) for a, turn in turns.items()}
        for i in functions:
            op, a, _ = nodes[i]
            self.values[i] = points[a][op == "sin"], None

    def _steps(self, turn: AngleSum) -> list[tuple[Angle, int]]:
        """The angles of which sine and cosine are generators, each with the number of times it
        is turned.
        """
        if not self.basis.keep:
            return [(((n, 1),), k) for n, k in turn.multiples]
        if not turn.multiples:
            return []
        sign = 1 if turn.multiples[0][1] > 0 else -1
        return [(tuple((n, sign * k) for n, k in turn.multiples), sign)]

    def _point(self, turn: AngleSum) -> tuple[Poly, Poly]:
        """(cos, sin) of a turn."""
        ring = self.ring
        c, s = ring.one, ring.one - ring.one
        steps: list[tuple[Poly, Poly]] = []
        for angle, k in self._steps(turn):
            x, y = (ring.generator(g) for g in self.alphabet.points[angle])
            steps += [(x, y if k > 0 else -y)] * abs(k)
        if turn.known is not None:
            half = ring.flint.fmpq(1, 2)
            x, y = (
                half * (self.alphabet.generator(_root_of(q)) if q > 1 else ring.one)
                for q in KNOWN[turn.known]
            )
            steps.append((x, y))
        for x, y in steps:
            c, s = ring.times(c, x) - ring.times(s, y), ring.times(s, x) + ring.times(c, y)
        for _ in range(turn.quarters % 4):
            c, s = -s, c
        return c, s


def _generator_count(tape: Tape, outs: Sequence[int]) -> int:
    """About how many generators there will be: one for a symbol, two for an angle."""
    ops = [tape.nodes[i][0] for i in dependencies(tape, outs)]
    return sum(op in ("symbol", "pi") for op in ops) + sum(op in OPS for op in ops)


def _root_of(square: int) -> Atom:
    return Atom("sqrt", "", (constant(square),))


def _at_number(op: str, x: Fraction) -> Fraction | None:
    """function(x) where that is a rational number, by the rules of the tape."""
    scratch = Tape()
    value = scratch.value(scratch.call(op, scratch.const(x)))
    return None if value is None else Fraction(value)


def _square_part(n: int) -> tuple[int, int]:
    """n = a² b with the largest a that small primes and n itself show."""
    root = isqrt(n)
    if root * root == n:
        return root, 1
    a = 1
    for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31):
        while n % (p * p) == 0:
            a, n = a * p, n // (p * p)
    return a, n


__all__ = ["LIMIT", "TooLong", "expand", "normal_form", "operation_count"]

LIMIT = 20_000


def normal_form(
    tape: Tape,
    outs: Sequence[int],
    *,
    limit: int = LIMIT,
    longest: int | None = None,
    order: Sequence[int] | None = None,
) -> list[RationalForm]:
    """The normal forms of some expressions; raises TooLong where one passes `limit` terms on the
    way.

    Where a result has more than `longest` terms before it is shortened, that is not tried and
    TooLong is raised too. `order` lists symbols in the order in which products and sums shall name
    them; the default, and the order of symbols not listed, is that of creation on the tape.
    """
    longest = limit if longest is None else longest
    kept = Expansion(tape, outs, (limit, longest), order, "kept")
    try:
        forms: list[RationalForm] | None = kept.forms()
    except TooLong:
        if not kept.has_sums:
            raise
        forms = None
    if forms is None:
        return Expansion(tape, outs, (limit, longest), order, "expanded").forms()
    return _shorter_forms(tape, outs, forms, limit, order) if kept.has_sums else forms


def _shorter_forms(
    tape: Tape,
    outs: Sequence[int],
    forms: list[RationalForm],
    limit: int,
    order: Sequence[int] | None,
) -> list[RationalForm]:
    """The addition theorems decide, so that equal expressions come out equal, unless angles as
    written are shorter.
    """
    longest = min(limit, 100 + 10 * max((f.term_count for f in forms), default=0))
    expansion = Expansion(tape, outs, (limit, longest), order, "expanded")
    try:
        expansion.run()
    except TooLong:
        return forms
    shorter: list[RationalForm] = []
    for i, kept in zip(outs, forms, strict=True):
        try:
            form = expansion.form(i)
        except TooLong:
            form = kept
        shorter.append(form if form.term_count <= kept.term_count else kept)
    return shorter


def expand(
    tape: Tape, outs: Sequence[int], *, limit: int = LIMIT, order: Sequence[int] | None = None
) -> list[RationalForm]:
    """The expressions multiplied out as they stand, with no identity between functions used: a
    book's own terms.
    """
    return Expansion(tape, outs, (limit, limit), order, "as written").forms()


def operation_count(tape: Tape, outs: Sequence[int]) -> int:
    """How many additions, products, divisions, signs and functions it takes to evaluate `outs`
    together.
    """
    ops = list(operations(tape, outs))
    return len(ops) - sum(map(LEAVES.__contains__, ops))
