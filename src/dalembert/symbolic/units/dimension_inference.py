"""[a + b]: [a] = [b]; [a b] = [a][b]; [sin a]: [a] = 1 — dimensions of all symbols from those that
are known, over the tape.

The dimension of a node is a product of kg, m, s and of the unknown dimensions of symbols, each to a
rational power. What must be equal gives a linear equation in the exponents, which determines one
unknown by the others or, where none is left, holds or does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Final

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.expression_graph import dependencies, operands
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape
from dalembert.symbolic.units.quantities import DIMENSIONLESS, TIME, Dimension, dimension_text

_DIMENSIONLESS_FUNCTIONS: Final = frozenset(
    {"sin", "cos", "exp", "log", "sinh", "cosh", "asin", "acos", "atan"}
)
_SHOWN: Final = 60


class BadDimension(BadDescription):
    """A sum of unlike terms, or a quantity of the wrong dimension.

    `nodes` are those to blame, ~i for the last term of i.
    """

    def __init__(self, sentence: str = "", nodes: tuple[int, ...] = ()) -> None:
        super().__init__(sentence)
        self.nodes = nodes


@dataclass(frozen=True, slots=True)
class DimensionExpression:
    """kg^a m^b s^c Π [x]^k over symbols x whose dimension is not known."""

    known: Dimension = DIMENSIONLESS
    unknown: Mapping[int, Fraction] = field(default_factory=dict)

    def multiply(
        self, other: DimensionExpression, power: Fraction = Fraction(1)
    ) -> DimensionExpression:
        """The product with a power of another."""
        known = tuple(a + power * b for a, b in zip(self.known, other.known, strict=True))
        unknown = dict(self.unknown)
        for x, k in other.unknown.items():
            unknown[x] = unknown.get(x, Fraction(0)) + power * k
        powers = {x: k for x, k in unknown.items() if k}
        return DimensionExpression(known, powers)  # type: ignore[arg-type]

    def power(self, power: Fraction) -> DimensionExpression:
        """Its power."""
        return DimensionExpression().multiply(self, power)


class DimensionInference:
    """What is known so far about the dimensions of the nodes of a tape; it only learns."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        # symbols by what the equations so far make of them
        self.solved: dict[int, DimensionExpression] = {}
        self._nodes: dict[int, DimensionExpression] = {}

    def set_dimension(self, symbol: int, dimension: Dimension, what: str) -> None:
        """The dimension of a symbol, from its unit."""
        self._unify(
            self._substitute_solved(DimensionExpression(unknown={symbol: Fraction(1)})),
            DimensionExpression(dimension),
            lambda a, b: f"{what} has {a}, not {b}",
        )

    def require(self, node: int, dimension: Dimension, what: str) -> None:
        """An expression must have this dimension; zero has every one."""
        if node == self.tape.zero:
            return

        def message(actual: str, expected: str) -> str:
            hint = (
                "; a plain number has no dimension where units are used"
                if self.tape.value(node) is not None
                else ""
            )
            return f"{what}: {self._short_text(node)} has {actual}, but {expected} is needed{hint}"

        self._unify(self.dimension_of(node), DimensionExpression(dimension), message, ~node, node)

    def require_equal(self, a: int, b: int, what: str) -> None:
        """Two expressions must have one dimension."""
        if self.tape.zero not in (a, b):
            self._unify(
                self.dimension_of(a),
                self.dimension_of(b),
                lambda x, y: (
                    f"{what}: {self._short_text(a)} has {x}, but {self._short_text(b)} has {y}"
                ),
                b,
                a,
            )

    def require_rate(self, x: int, rate: int, what: str) -> None:
        """[rate] = [x]/s"""
        per_second = DimensionExpression(TIME).power(Fraction(-1))
        self._unify(
            self.dimension_of(x).multiply(per_second),
            self.dimension_of(rate),
            lambda a, b: f"{what}: {self._short_text(rate)} has {b}, but {a} is needed",
            x,
            rate,
        )

    def require_homogeneous(self, nodes: Iterable[int]) -> None:
        """All sums inside must be of like terms."""
        for node in nodes:
            self.dimension_of(node)

    def dimension(self, symbol: int) -> Dimension | None:
        """The dimension of a symbol, where it is determined."""
        monomial = self._substitute_solved(self._symbol(symbol))
        return None if monomial.unknown else monomial.known

    # ---- nodes -------------------------------------------------------------------------------

    def dimension_of(self, root: int) -> DimensionExpression:
        """The dimension of a node."""
        for i in dependencies(self.tape, (root,), self._nodes):
            self._nodes[i] = self._infer_node(i)
        return self._substitute_solved(self._nodes[root])

    def base(self, i: int) -> tuple[int, int]:
        """The symbol of which another is a rate, and how often it was differentiated."""
        orders = 0
        nodes = self.tape.nodes
        # an input that is a rate has a name, and a dimension, of its own
        bases = {r: x for x, r in self.tape.rates.items() if str(nodes[r][1]).endswith("'")}
        while i in bases and self.tape.nodes[bases[i]][1] != "t":
            i, orders = bases[i], orders + 1
        return i, orders

    def _symbol(self, i: int) -> DimensionExpression:
        """[x'] = [x]/s"""
        base, orders = self.base(i)
        if self.tape.nodes[base][1] == "t":
            return DimensionExpression(TIME)
        return DimensionExpression(unknown={base: Fraction(1)}).multiply(
            DimensionExpression(TIME), Fraction(-orders)
        )

    def _infer_node(self, i: int) -> DimensionExpression:
        op, a, b = self.tape.nodes[i]
        if op == "symbol":
            return self._symbol(i)
        parts = [self._substitute_solved(self._nodes[x]) for x in operands(op, a, b)]
        if op in ("add", "sub", "atan2"):
            return self._sum(i, op, a, b)
        if op == "mul":
            return parts[0].multiply(parts[1])
        if op == "div":
            return parts[0].multiply(parts[1], Fraction(-1))
        if op == "sqrt":
            return parts[0].power(Fraction(1, 2))
        if op in ("neg", "abs"):
            return parts[0]
        if op in _DIMENSIONLESS_FUNCTIONS:
            shown = self._short_text
            self._unify(
                parts[0],
                DimensionExpression(),
                lambda x, _: f"{op}({shown(a)}): {shown(a)} has {x}, but {op} takes a number",
                i,
                a,
            )
        return DimensionExpression()

    def _sum(self, i: int, op: str, a: int, b: int) -> DimensionExpression:
        sign = {"add": "+", "sub": "−"}.get(op, "and")

        def message(x: str, y: str) -> str:
            return (
                f"unlike terms: {self._short_text(a)} has {x}, {self._short_text(b)} has {y}, "
                f"in {self._short_text(a)} {sign} {self._short_text(b)}"
            )

        self._unify(self._nodes[a], self._nodes[b], message, ~i, b, a)
        return DimensionExpression() if op == "atan2" else self._substitute_solved(self._nodes[a])

    def _short_text(self, node: int) -> str:
        text = str(Scalar(self.tape, node))
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

    # ---- equations ---------------------------------------------------------------------------

    def _substitute_solved(self, m: DimensionExpression) -> DimensionExpression:
        """With what is solved put in."""
        while any(x in self.solved for x in m.unknown):
            for x, k in m.unknown.items():
                if x in self.solved:
                    rest = DimensionExpression(
                        m.known, {y: e for y, e in m.unknown.items() if y != x}
                    )
                    m = rest.multiply(self.solved[x], k)
                    break
        return m

    def _unify(
        self,
        a: DimensionExpression,
        b: DimensionExpression,
        message: Callable[[str, str], str],
        *nodes: int,
    ) -> None:
        a, b = self._substitute_solved(a), self._substitute_solved(b)
        quotient = a.multiply(b, Fraction(-1))
        if quotient.unknown:
            *_, (x, k) = quotient.unknown.items()
            rest = DimensionExpression(
                quotient.known, {y: e for y, e in quotient.unknown.items() if y != x}
            )
            self.solved[x] = rest.power(-1 / k)
        elif quotient.known != DIMENSIONLESS:
            raise BadDimension(message(self._describe(a), self._describe(b)), nodes)

    def _describe(self, m: DimensionExpression) -> str:
        if not m.unknown:
            return dimension_text(m.known)
        open_ones = " ".join(
            f"{self.tape.nodes[x][1]}" + ("" if k == 1 else f"^({k})") for x, k in m.unknown.items()
        )
        return f"the dimension of {open_ones}" + (
            f" times {dimension_text(m.known)}" if m.known != DIMENSIONLESS else ""
        )
