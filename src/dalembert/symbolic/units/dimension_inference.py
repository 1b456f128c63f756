"""[a + b]: [a] = [b]; [a b] = [a][b]; [sin a]: [a] = 1 — dimensions of all symbols from those that are known, over the tape.

The dimension of a node is a product of kg, m, s and of the unknown dimensions of symbols, each to a rational power. What must be equal
gives a linear equation in the exponents, which determines one unknown by the others or, where none is left, holds or does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from dalembert.errors import BadDescription
from dalembert.symbolic.algebra.expression_graph import needed, operands
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape
from dalembert.symbolic.units.quantities import NONE, TIME, Dimension, words

_OF_NUMBERS: Final = frozenset({"sin", "cos", "exp", "log", "sinh", "cosh", "asin", "acos", "atan"})
_SHOWN: Final = 60


class BadDimension(BadDescription):
    """A sum of unlike terms, or a quantity of another dimension than its place needs.

    `nodes` are those to blame, ~i for the last term of i.
    """

    def __init__(self, sentence: str = "", nodes: tuple[int, ...] = ()) -> None:
        super().__init__(sentence)
        self.nodes = nodes


@dataclass(frozen=True, slots=True)
class Monomial:
    """kg^a m^b s^c Π [x]^k over symbols x whose dimension is not known."""

    known: Dimension = NONE
    unknown: Mapping[int, Fraction] = field(default_factory=dict)

    def times(self, other: Monomial, power: Fraction = Fraction(1)) -> Monomial:
        """The product with a power of another."""
        known = tuple(a + power * b for a, b in zip(self.known, other.known, strict=True))
        unknown = dict(self.unknown)
        for x, k in other.unknown.items():
            unknown[x] = unknown.get(x, Fraction(0)) + power * k
        return Monomial(known, {x: k for x, k in unknown.items() if k})  # type: ignore[arg-type]

    def to(self, power: Fraction) -> Monomial:
        """Its power."""
        return Monomial().times(self, power)


class Inference:
    """What is known so far about the dimensions of the nodes of a tape; it only learns."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        # symbols by what the equations so far make of them
        self.solved: dict[int, Monomial] = {}
        self._nodes: dict[int, Monomial] = {}

    def give(self, symbol: int, dimension: Dimension, what: str) -> None:
        """The dimension of a symbol, from its unit."""
        self._equal(self._reduced(Monomial(unknown={symbol: Fraction(1)})), Monomial(dimension), lambda a, b: f"{what} has {a}, not {b}")

    def require(self, node: int, dimension: Dimension, what: str) -> None:
        """An expression must have this dimension; zero has every one."""
        if node == self.tape.zero:
            return

        def said(found: str, wanted: str) -> str:
            hint = "; a plain number has no dimension where units are used" if self.tape.value(node) is not None else ""
            return f"{what}: {self._shown(node)} has {found}, but {wanted} is needed{hint}"

        self._equal(self.of(node), Monomial(dimension), said, ~node, node)

    def same(self, a: int, b: int, what: str) -> None:
        """Two expressions must have one dimension."""
        if self.tape.zero not in (a, b):
            self._equal(self.of(a), self.of(b), lambda x, y: f"{what}: {self._shown(a)} has {x}, but {self._shown(b)} has {y}", b, a)

    def homogeneous(self, nodes: Iterable[int]) -> None:
        """All sums inside must be of like terms."""
        for node in nodes:
            self.of(node)

    def dimension(self, symbol: int) -> Dimension | None:
        """The dimension of a symbol, where it is determined."""
        found = self._reduced(self._symbol(symbol))
        return None if found.unknown else found.known

    # ---- nodes -------------------------------------------------------------------------------

    def of(self, root: int) -> Monomial:
        """The dimension of a node."""
        for i in needed(self.tape, (root,), self._nodes):
            self._nodes[i] = self._made(i)
        return self._reduced(self._nodes[root])

    def base(self, i: int) -> tuple[int, int]:
        """The symbol of which another is a rate, and how often it was differentiated."""
        orders = 0
        bases = {rate: x for x, rate in self.tape.rates.items()}
        while i in bases and self.tape.nodes[bases[i]][1] != "t":
            i, orders = bases[i], orders + 1
        return i, orders

    def _symbol(self, i: int) -> Monomial:
        """[x'] = [x]/s"""
        base, orders = self.base(i)
        if self.tape.nodes[base][1] == "t":
            return Monomial(TIME)
        return Monomial(unknown={base: Fraction(1)}).times(Monomial(TIME), Fraction(-orders))

    def _made(self, i: int) -> Monomial:
        op, a, b = self.tape.nodes[i]
        if op == "symbol":
            return self._symbol(i)
        parts = [self._reduced(self._nodes[x]) for x in operands(op, a, b)]
        if op in ("add", "sub", "atan2"):
            return self._sum(i, op, a, b)
        if op == "mul":
            return parts[0].times(parts[1])
        if op == "div":
            return parts[0].times(parts[1], Fraction(-1))
        if op == "sqrt":
            return parts[0].to(Fraction(1, 2))
        if op in ("neg", "abs"):
            return parts[0]
        if op in _OF_NUMBERS:
            shown = self._shown
            self._equal(parts[0], Monomial(), lambda x, _: f"{op}({shown(a)}): {shown(a)} has {x}, but {op} takes a number", i, a)
        return Monomial()

    def _sum(self, i: int, op: str, a: int, b: int) -> Monomial:
        sign = {"add": "+", "sub": "−"}.get(op, "and")

        def said(x: str, y: str) -> str:
            return f"unlike terms: {self._shown(a)} has {x}, {self._shown(b)} has {y}, in {self._shown(a)} {sign} {self._shown(b)}"

        self._equal(self._nodes[a], self._nodes[b], said, ~i, b, a)
        return Monomial() if op == "atan2" else self._reduced(self._nodes[a])

    def _shown(self, node: int) -> str:
        text = str(Scalar(self.tape, node))
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

    # ---- equations ---------------------------------------------------------------------------

    def _reduced(self, m: Monomial) -> Monomial:
        """With what is solved put in."""
        while any(x in self.solved for x in m.unknown):
            for x, k in m.unknown.items():
                if x in self.solved:
                    rest = Monomial(m.known, {y: e for y, e in m.unknown.items() if y != x})
                    m = rest.times(self.solved[x], k)
                    break
        return m

    def _equal(self, a: Monomial, b: Monomial, said: Callable[[str, str], str], *blamed: int) -> None:
        a, b = self._reduced(a), self._reduced(b)
        quotient = a.times(b, Fraction(-1))
        if quotient.unknown:
            *_, (x, k) = quotient.unknown.items()
            rest = Monomial(quotient.known, {y: e for y, e in quotient.unknown.items() if y != x})
            self.solved[x] = rest.to(-1 / k)
        elif quotient.known != NONE:
            raise BadDimension(said(self._words(a), self._words(b)), blamed)

    def _words(self, m: Monomial) -> str:
        if not m.unknown:
            return words(m.known)
        open_ones = " ".join(f"{self.tape.nodes[x][1]}" + ("" if k == 1 else f"^({k})") for x, k in m.unknown.items())
        return f"the dimension of {open_ones}" + (f" times {words(m.known)}" if m.known != NONE else "")
