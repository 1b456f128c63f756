"""f = c Π a^k: what a sign or a root can be taken apart into, and which parts are never negative,
whatever the values.

|x y| = |x| |y|, √(25 x² y) = 5 |x| √y, |1 + x²| = 1 + x². Factors are nodes that are no products
(atoms); a rational factor is kept apart, so that no sign depends on which numbers happen to be
squares in a field.

√(3 + 2√2) = 1 + √2: of numbers without symbols balls decide the signs, and roots may be simpler
than they look. In a prime field a root of a square s² comes out as s or −s by chance. So a root of
a number is first sought among sums of products of roots of primes, by lattice reduction of its
decimal expansion; the expansion also gives its sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, Final

from dalembert.symbolic.algebra.arithmetic import evaluate_balls
from dalembert.symbolic.algebra.exact.finite_field import BadPoint, prime_factors
from dalembert.symbolic.algebra.expression_graph import dependencies, operands
from dalembert.symbolic.algebra.tape import Node, Number, Tape

if TYPE_CHECKING:
    from flint import arb

Factors = tuple[Fraction, dict[int, int]]
_NEVER_NEGATIVE = frozenset({"sqrt", "abs", "exp", "cosh", "acos"})


class FactorAnalysis:
    """What is known about the nodes of a tape without a point; nodes in `given` are taken as they
    are.
    """

    __slots__ = ("_constant", "_factors", "_given", "_nonnegative", "tape")

    def __init__(self, tape: Tape, given: Mapping[int, object] | None = None) -> None:
        self.tape, self._given = tape, given or {}
        self._nonnegative: dict[int, bool] = {}
        self._constant: dict[int, bool] = {}
        self._factors: dict[int, Factors] = {}

    def on(self, tape: Tape, given: Mapping[int, object]) -> FactorAnalysis:
        """The same for another tape or other given nodes; what is known is kept where nothing
        changes.
        """
        return (
            self
            if tape is self.tape and given.keys() == self._given.keys()
            else FactorAnalysis(tape, given)
        )

    def is_nonnegative(self, i: int) -> bool:
        """Whether node i is a sum or product of squares, roots, absolute values and the like."""
        self._classify(i)
        return self._nonnegative[i]

    def constant(self, i: int) -> bool:
        """Whether node i contains no symbol."""
        self._classify(i)
        return self._constant[i]

    def _classify(self, i: int) -> None:
        if i in self._constant:
            return
        good, fixed = self._nonnegative, self._constant
        for j in dependencies(self.tape, (i,), fixed):
            op, a, b = self.tape.nodes[j]
            if j in self._given:
                good[j] = fixed[j] = False
                continue
            fixed[j] = op != "symbol" and all(fixed[k] for k in operands(op, a, b))
            if op in ("add", "div"):
                good[j] = good[a] and good[b]
            elif op == "mul":
                good[j] = a == b or (good[a] and good[b])
            else:
                good[j] = op in _NEVER_NEGATIVE or op == "pi" or (op == "const" and a >= 0)

    def factors(self, i: int) -> Factors:
        """(c, {atom: power}), repeated factors gathered."""
        factors = self._factors.get(i)
        if factors is None:
            factors = self._factors[i] = self._factorize(i)
        return factors

    def _factorize(self, i: int) -> Factors:
        c, powers, heap = Fraction(1), {i: 1}, [-i]
        atoms: dict[int, int] = {}
        while heap:
            # operands stand before their products: from the last node down every power is complete
            # when its turn comes
            j = -heappop(heap)
            if j not in powers:
                continue
            k = powers.pop(j)
            op, a, b = self.tape.nodes[j]
            parts: list[tuple[int, int]] = []
            if not k or j in self._given:
                atoms |= {j: k} if k else {}
            elif op == "const" and a:
                c *= Fraction(a) ** k
            elif op in ("mul", "div"):
                parts = [(a, k), (b, k if op == "mul" else -k)]
            elif op == "neg":
                c, parts = c * (-1) ** k, [(a, k)]
            else:
                atoms[j] = k
            for node, power in parts:
                if node not in powers:
                    heappush(heap, -node)
                powers[node] = powers.get(node, 0) + power
        return c, atoms

    def sign_atoms(self, i: int) -> list[int]:
        """The atoms on whose signs the sign of node i depends."""
        return [a for a, k in self.factors(i)[1].items() if k % 2 and not self.is_nonnegative(a)]

    def is_nonpositive(self, i: int) -> bool:
        """Whether node i is minus something that is never negative."""
        return self.factors(i)[0] < 0 and not self.sign_atoms(i)


@lru_cache(maxsize=1024)
def square_part(c: Number) -> tuple[Fraction, int]:
    """c = s² q for c > 0, with q a whole number without square factors."""
    from flint import fmpz

    c = Fraction(c)
    s, q = Fraction(1, c.denominator), 1
    for prime, k in fmpz(c.numerator * c.denominator).factor():
        s *= int(prime) ** (k // 2)
        q *= int(prime) ** (k % 2)
    return s, q


# ---- numbers without symbols --------------------------------------------------------------------

# s = Σ x_q √q: {q: x_q} with whole q without square factors
Sum = dict[int, Fraction]

_DIGITS: Final = (50, 200, 800)
_MOST_PRIMES: Final = 4
_BITS: Final = 1200
# coefficients that are found by chance have about 70 bits with sixteen roots
_LARGEST: Final = 1 << 30


def sign_of_constant(tape: Tape, i: int) -> int:
    """1 or −1 for a number that is certainly not zero; BadPoint if 800 digits do not decide."""
    return _sign(_canonical_nodes(tape, i))


def denest_root(tape: Tape, a: int) -> Sum | None:
    """√a as a sum of roots of whole numbers, or None where there is no such sum of small
    coefficients.
    """
    return _denest(_canonical_nodes(tape, a))


def _canonical_nodes(tape: Tape, i: int) -> tuple[Node, ...]:
    """The nodes of a number, renumbered: the same for the same number on every tape."""
    order = dependencies(tape, (i,))
    place = {j: k for k, j in enumerate(order)}
    nodes = (tape.nodes[j] for j in order)
    return tuple(
        (op, a, b) if op in ("const", "pi") else (op, place[a], place.get(b)) for op, a, b in nodes
    )


def _value(written: tuple[Node, ...], digits: int) -> arb:
    tape = Tape()
    tape.nodes = list(written)
    return evaluate_balls(tape, [len(written) - 1], {}, digits)[0]


@lru_cache(maxsize=1024)
def _sign(written: tuple[Node, ...]) -> int:
    for digits in _DIGITS:
        ball = _value(written, digits)
        if not ball.contains(0):
            return 1 if ball > 0 else -1
    msg = "a number that is zero or too small to have a sign"
    raise BadPoint(msg)


@lru_cache(maxsize=1024)
def _denest(written: tuple[Node, ...]) -> Sum | None:
    inside = {
        q
        for op, a, _ in written
        if op == "sqrt" and written[a][0] == "const"
        for q in prime_factors(square_part(written[a][1])[1])
    }
    primes = sorted(inside | {2, 3})
    if len(primes) > _MOST_PRIMES:
        return None
    products = [prod(chosen) for k in range(len(primes) + 1) for chosen in combinations(primes, k)]
    c = _integer_relation(written, products)
    if c is None or not c[0] or max(map(abs, c)) > _LARGEST:
        return None
    return {q: Fraction(-x, c[0]) for q, x in zip(products, c[1:-1], strict=True) if x}


def _integer_relation(written: tuple[Node, ...], products: list[int]) -> list[int] | None:
    """Small integers c with c₀ √x + Σ c_k √q_k = 0 to `_BITS` bits, and the remainder, by lattice
    reduction (LLL); None where a root is not finite.
    """
    import flint

    digits = int(_BITS * 0.302) + 10
    with flint.ctx.workdps(digits):
        numbers: list[Any] = [
            _value(written, digits).sqrt(),
            *(flint.arb(q).sqrt() for q in products),
        ]
        if not all(x.is_finite() for x in numbers):
            return None
        column = [int((x * flint.arb(2) ** _BITS).mid().floor().unique_fmpz()) for x in numbers]
    n = len(numbers)
    rows = (
        flint.fmpz_mat([[int(j == k) for j in range(n)] + [column[k]] for k in range(n)])
        .lll()
        .tolist()
    )
    best = min(rows, key=lambda row: sum(abs(int(x)) for x in row))
    return [int(x) for x in best]
