"""e = N/D: bounds on the degrees of N and D in the random numbers of a point, so that an error
probability can be stated.
Keywords: Schwartz–Zippel.

A nonzero N of degree d vanishes at a random point with a probability of at most d/(number of
values). Symbols and values of functions without relations have degree 1. An angle θ enters as its
half tangent x: sin kθ and cos kθ are polynomials of degree 2k over (1 + x²)ᵏ; fractions θ/D enter
as multiples of the smallest one. Denominators are kept as products of factors, and sums are brought
to their least common one, so a polynomial in sines and cosines has the denominator of its largest
term and not of all terms together.

rank [e_ij]: a minor of the rows is a sum of products of one entry from each, so its degree is at
most the sum of the largest degrees of the rows; a rank that was lost at every point means that all
minors of the true size have vanished there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, TypeVar

from dalembert.symbolic.algebra.exact.random_values import Form
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.exact.verdict import (
    DegreeBound,
    RandomPoints,
    error_after_points,
    is_proof,
)
from dalembert.symbolic.algebra.expression_graph import missing_dependencies
from dalembert.symbolic.algebra.tape import LEAVES, Number, Tape

Result = TypeVar("Result")
Quotient = tuple[int, int]
Factors = dict[Hashable, int]

_NO_FACTORS: Final = 0
_KINDS: Final = {"sin": "angle", "cos": "angle", "exp": "exp", "cosh": "exp", "sinh": "exp"}
# products under a fraction line are taken apart up to this many factors
_MOST_FACTORS: Final = 64


def degrees(
    tape: Tape,
    outs: Sequence[int],
    point: SamplePoint | None = None,
    given: Mapping[int, tuple[int, int]] | None = None,
) -> list[tuple[int, int]]:
    """(degree of N, degree of D) for each e = N/D, as bounds.

    `given` states the degrees of nodes that are not computed on the tape, such as accelerations
    from a solve; they are taken to be quotients over one common denominator.
    """
    return _at(tape, outs, point, lambda there: DegreeBounds(there, given or {}).quotients(outs))


def row_degrees(
    tape: Tape,
    outs: Sequence[int],
    point: SamplePoint | None = None,
    given: Mapping[int, tuple[int, int]] | None = None,
) -> list[DegreeBound]:
    """The degrees of each row, with the branches of the roots that this row contains.

    A root of order r has r branches, all of which count; where points are rejected for it, half of
    them are.
    """
    return _at(tape, outs, point, lambda there: DegreeBounds(there, given or {}).rows(outs))


def _at(
    tape: Tape,
    outs: Sequence[int],
    point: SamplePoint | None,
    work: Callable[[SamplePoint], Result],
) -> Result:
    return work(point) if point is not None else RandomPoints(tape, 1, outs=outs).at(0, work)


class _Denominators:
    """Products of powers of factors, each known by a number.

    The exponents of a product are the digits of one integer, `width` bits each: a product of
    products is a sum of integers, and a least common multiple compares all digits at once. The
    highest bit of a digit stays free for that comparison.
    """

    def __init__(self) -> None:
        self._width = 64
        # the degree of each factor, and its digit
        self._factor_degree: dict[Hashable, int] = {}
        self._digit: dict[Hashable, int] = {}
        # {degree: the digits of all factors of that degree}, and the highest bit of each digit
        self._digits_of_degree: dict[int, int] = {}
        self._highest = 0
        # of each product: its exponents, its degree, and a bound on its exponents
        self._packed: list[int] = []
        self._degrees: list[int] = []
        self._largest: list[int] = []
        self._number: dict[int, int] = {}
        self._lcm: dict[tuple[int, int], int] = {}
        self._times: dict[tuple[int, int], int] = {}
        self.of({})

    def set_degree(self, factor: Hashable, degree: int) -> None:
        if self._factor_degree.get(factor) != degree:
            self._factor_degree[factor] = degree
            self._digit.setdefault(factor, len(self._digit))
            self._make_room(0)
            self._update_masks()

    def of(self, factors: Factors) -> int:
        largest = max(factors.values(), default=0)
        self._make_room(largest)
        packed = sum(k << self._width * self._digit[f] for f, k in factors.items())
        return self._index(packed, largest)

    def degree(self, i: int) -> int:
        return self._degrees[i]

    def lcm(self, i: int, j: int) -> int:
        if i == j or j == _NO_FACTORS:
            return i
        if i == _NO_FACTORS:
            return j
        lcm = self._lcm.get((i, j))
        if lcm is None:
            largest = max(self._largest[i], self._largest[j])
            lcm = self._lcm[i, j] = self._index(self._maximum(i, j), largest)
        return lcm

    def times(self, i: int, j: int) -> int:
        if j == _NO_FACTORS or i == _NO_FACTORS:
            return i or j
        product = self._times.get((i, j))
        if product is None:
            largest = self._largest[i] + self._largest[j]
            self._make_room(largest)
            degree = self._degrees[i] + self._degrees[j]
            product = self._times[i, j] = self._index(
                self._packed[i] + self._packed[j], largest, degree
            )
        return product

    def without(self, i: int, j: int) -> int:
        """Factors of i that are not among those of j."""
        return self._index(self._maximum(i, j) - self._packed[j], self._largest[i])

    def _maximum(self, i: int, j: int) -> int:
        """The larger of two exponents of every factor."""
        x, y, highest = self._packed[i], self._packed[j], self._highest
        # the highest bit of a digit survives where x ≥ y there
        not_less = ((x | highest) - y) & highest
        return y ^ ((x ^ y) & (not_less - (not_less >> self._width - 1)))

    def _index(self, packed: int, largest: int, degree: int | None = None) -> int:
        index = self._number.get(packed)
        if index is None:
            index = self._number[packed] = len(self._packed)
            if degree is None:
                # modulo 2ʷ − 1 a number is the sum of its digits of w bits
                modulus = (1 << self._width) - 1
                degree = sum(
                    d * ((packed & digits) % modulus)
                    for d, digits in self._digits_of_degree.items()
                )
            self._packed.append(packed)
            self._degrees.append(degree)
            self._largest.append(largest)
        return index

    def _make_room(self, largest: int) -> None:
        """Digits wide enough for exponents up to `largest` and for the sum of all of them."""
        old, count = self._width, len(self._digit)
        if largest.bit_length() + count.bit_length() + 2 <= old:
            return
        while largest.bit_length() + count.bit_length() + 2 > self._width:
            self._width *= 2
        digit = (1 << old) - 1
        self._packed = [
            sum((x >> old * k & digit) << self._width * k for k in range(count))
            for x in self._packed
        ]
        self._number = {x: i for i, x in enumerate(self._packed)}
        self._update_masks()

    def _update_masks(self) -> None:
        width, digit = self._width, (1 << self._width) - 1
        self._highest = sum(1 << width * k + width - 1 for k in self._digit.values())
        self._digits_of_degree = {}
        for f, degree in self._factor_degree.items():
            digits = self._digits_of_degree.get(degree, 0)
            self._digits_of_degree[degree] = digits | digit << width * self._digit[f]


class DegreeBounds:
    """The degree of N and the denominator of every requested node, at one point; `given` as for
    `degrees`.
    """

    def __init__(self, point: SamplePoint, given: Mapping[int, tuple[int, int]]) -> None:
        self.point, self.tape, self._given = point, point.tape, given
        self._asked: dict[int, None] = {}
        # the common denominator of each generator's multiples
        self._units: dict[str, dict[int, int]] = {"angle": {}, "exp": {}}
        self._reset()

    def _reset(self) -> None:
        self.denominators = _Denominators()
        self.degrees: dict[int, Quotient] = {}
        # degrees of the arguments of log, asin and atan, by the value of the function
        self._arguments: dict[int, tuple[int, int]] = {}
        # the roots by number, log₂ of their orders, which of them each node takes itself, and
        # contains
        self._roots: dict[Hashable, int] = {}
        self._log2_orders: list[float] = []
        self._own = 0
        self._inside: dict[int, int] = {}
        if self._given:
            self.denominators.set_degree("given", max(d for _, d in self._given.values()))
            common = self.denominators.of({"given": 1})
            self.degrees = {
                i: (n, common if d else _NO_FACTORS) for i, (n, d) in self._given.items()
            }

    def quotients(self, outs: Sequence[int]) -> list[tuple[int, int]]:
        """(degree of N, degree of D) for each e = N/D."""
        self._extend(outs)
        return [(self.degrees[i][0], self.denominators.degree(self.degrees[i][1])) for i in outs]

    def rows(self, outs: Sequence[int]) -> list[DegreeBound]:
        """The same, with log₂ of the number of branches of the roots under each."""
        return [
            DegreeBound(n, d, self._log2_branches(i))
            for i, (n, d) in zip(outs, self.quotients(outs), strict=True)
        ]

    def _log2_branches(self, i: int) -> float:
        inside = self._inside.get(i, 0)
        rejected = 1.0 if not self.point.in_extension else 0.0
        return sum(order + rejected for k, order in enumerate(self._log2_orders) if inside >> k & 1)

    def _extend(self, outs: Sequence[int]) -> None:
        nodes = missing_dependencies(self.tape, outs, self.degrees)
        if self._refine_units(nodes):
            # what was found so far counts in units that are now too large
            self._reset()
            nodes = missing_dependencies(self.tape, (*self._asked, *outs), self.degrees)
        self._asked |= dict.fromkeys(outs)
        for i in nodes:
            self._own = 0
            self.degrees[i] = self._rule(i)
            if self._roots:
                op, a, b = self.tape.nodes[i]
                inside = self._own | (
                    0 if op in LEAVES else self._inside.get(a, 0) | self._inside.get(b, 0)
                )
                if inside:
                    self._inside[i] = inside

    def _refine_units(self, nodes: Sequence[int]) -> bool:
        """Gather the units of more nodes; whether one that was in use has become smaller."""
        before = {kind: units.copy() for kind, units in self._units.items()}
        for i in nodes:
            op, a, _ = self.tape.nodes[i]
            kind = _KINDS.get(op)
            if kind is not None:
                units = self._units[kind]
                for g, c in self.point.form(a).items():
                    units[g] = math.lcm(units.get(g, 1), c.denominator)
        return any(
            self._units[kind][g] != unit
            for kind, units in before.items()
            for g, unit in units.items()
        )

    def _rule(self, i: int) -> Quotient:
        op, a, b = self.tape.nodes[i]
        if op == "mul":
            x, y = self.degrees[a], self.degrees[b]
            return x[0] + y[0], self.denominators.times(x[1], y[1])
        if op in ("add", "sub"):
            return self._sum(self.degrees[a], self.degrees[b])
        if op in ("const", "sign"):
            return 0, _NO_FACTORS
        if op in ("symbol", "pi"):
            return 1, _NO_FACTORS
        if op in ("neg", "abs"):
            return self.degrees[a]
        if op == "div":
            return self._quotient(self.degrees[a], b)
        return self._function(op, i, a, b)

    def _sum(self, x: Quotient, y: Quotient) -> Quotient:
        if x[1] == y[1]:
            return x if x[0] >= y[0] else y
        den = self.denominators
        common = den.lcm(x[1], y[1])
        return den.degree(common) + max(x[0] - den.degree(x[1]), y[0] - den.degree(y[1])), common

    def _quotient(self, x: Quotient, b: int) -> Quotient:
        """(N_a/D_a) / (N_b/D_b) = N_a D_b / (D_a N_b), what D_a and D_b have in common cancelled"""
        den = self.denominators
        y = self.degrees[b]
        below = den.times(den.without(x[1], y[1]), den.of(self._factors(b)))
        return x[0] + den.degree(den.without(y[1], x[1])), below

    def _factors(self, b: int) -> Factors:
        """The factors of N_b, as nodes."""
        factors: Factors = {}
        stack = [b]
        while stack:
            i = stack.pop()
            op, x, y = self.tape.nodes[i]
            if op == "neg" and i not in self._given:
                stack.append(x)
            elif op == "mul" and i not in self._given and len(stack) < _MOST_FACTORS:
                stack += (x, y)
            elif op != "const":
                factors[i] = factors.get(i, 0) + 1
                self.denominators.set_degree(i, self.degrees[i][0])
        return factors

    # ---- functions ---------------------------------------------------------------------------

    def _function(self, op: str, i: int, a: int, b: int) -> Quotient:
        if op in ("sin", "cos"):
            return self._circle(self.point.form(a))
        if op in ("exp", "cosh", "sinh"):
            return self._exponential(op, self.point.form(a))
        n, den = self.degrees[a]
        d = self.denominators.degree(den)
        if op == "sqrt":
            if self.tape.value(a) is None:
                self._root(i, 2)
            # √(N/D) = √(N D)/D
            return (n + d + 1) // 2, den
        if op == "atan2":
            m, other = self.degrees[b]
            n, d = n + self.denominators.degree(other), d + m
        for g in self.point.form(i):
            if self.point.generators.origin(g)[0]:
                self._arguments[g] = n, d
        # a value without relations, or the argument of the exponential inside
        inside = op == "log" and a not in self._given and self.tape.nodes[a][0] == "exp"
        return self.degrees[self.tape.nodes[a][1]] if inside else (1, _NO_FACTORS)

    def _root(self, key: Hashable, order: int) -> None:
        if key not in self._roots:
            self._roots[key] = len(self._roots)
            self._log2_orders.append(math.log2(order))
        self._own |= 1 << self._roots[key]

    def _circle(self, form: Form) -> Quotient:
        """2 Σ|k| over Π(1 + x²)^|k|"""
        den = self.denominators
        factors: Factors = {}
        for g, c in form.items():
            if g == self.point.generators.pi:
                continue
            halvings = (c.denominator & -c.denominator).bit_length() - 1
            if (
                g in self._arguments
                and self.point.generators.origin(g)[0] != "log"
                and c.denominator == 1 << halvings
            ):
                factor: Hashable = ("arc", g, halvings)
                for k in range(halvings + 1):
                    self._root(("arc", g, k), 2)
                den.set_degree(factor, max(self._arguments[g]))
                factors[factor] = abs(c.numerator)
            else:
                den.set_degree(("angle", g), 2)
                factors["angle", g] = abs(int(c * self._units["angle"][g]))
        below = den.of(factors)
        return den.degree(below), below

    def _exponential(self, op: str, form: Form) -> Quotient:
        den = self.denominators
        above = below = _NO_FACTORS
        for g, c in form.items():
            up, down = self._power(g, c)
            above, below = den.times(above, up), den.times(below, down)
        if op == "exp":
            return den.degree(above), below
        # cosh and sinh are (e ± 1/e)/2, and what one part of e has above the line the other has
        # below
        common = den.lcm(above, below)
        return 2 * den.degree(common), common

    def _power(self, g: int, c: Number) -> tuple[int, int]:
        """The factors above and below the fraction line of e^(c g)."""
        den = self.denominators
        if self.point.generators.origin(g)[0] == "log":
            self._root(("power", g, c.denominator), c.denominator)
            k = c if c > 0 else -c
            up, down = (
                self._algebraic(("power", g, part, k), math.ceil(k * d))
                for part, d in enumerate(self._arguments[g])
            )
            return (up, down) if c > 0 else (down, up)
        den.set_degree(("exp", g), 1)
        # the sign of a generator is a matter of chance, so its power may belong to the numerator or
        # the denominator
        either = self.denominators.of({("exp", g): abs(int(c * self._units["exp"][g]))})
        return either, either

    def _algebraic(self, factor: Hashable, degree: int) -> int:
        self.denominators.set_degree(factor, degree)
        return self.denominators.of({factor: 1})


# ---- ranks -------------------------------------------------------------------------------------


def rank_error_bound(tape: Tape, rows: Sequence[Sequence[int]], points: int) -> float:
    """The bound for the rank of rows of nodes that was read off the given number of points."""
    nodes = [e for row in rows for e in row]
    if not nodes:
        return 0.0

    def degree_bounds(point: SamplePoint) -> float:
        degrees = iter(row_degrees(tape, nodes, point))
        largest = [
            max(
                ([next(degrees) for _ in row]),
                key=lambda d: d.above + d.below,
                default=DegreeBound(0, 0),
            )
            for row in rows
        ]
        # over the product of all denominators of a row every entry has at most this degree
        degree = sum(d.above + len(row) * d.below for d, row in zip(largest, rows, strict=True))
        branches = max(d.log2_branches for d in largest)
        minor = DegreeBound(degree, degree, branches * len(rows))
        return error_after_points(minor, point.generators.spread, points)

    return RandomPoints(tape, 1, outs=nodes).at(0, degree_bounds)


def rank_doubt(tape: Tape, rows: Sequence[Sequence[int]], points: int) -> str:
    """Why a rank is not taken for shown, or an empty text."""
    chance = rank_error_bound(tape, rows, points)
    return (
        ""
        if is_proof(chance)
        else f"undecided: that a rank was lost by chance is only known to be less likely than "
        f"{chance:.0e}"
    )
