"""e = (op, a, b): the tape on which every expression lives.
Keywords: hash consing.

A tape is a list of nodes. A node is a leaf (a rational constant, π or a symbol) or an operation on
earlier nodes. Equal nodes are stored once, operands are in order, signs are hoisted and constants
folded, so the common-subexpression-eliminated form is the only form that ever exists and the size
of an expression grows with the mechanism, not with its expansion.

A tape only grows. `fork` starts a new one from a prefix of another; an index below the fork point
means the same expression on both, so results never depend on what else was computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dalembert.errors import BadExpression

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.expression_graph import ContainedSymbols

Number = int | Fraction
Node = tuple[str, Any, Any]
Triple = tuple[int, int, int]

LEAVES: Final = frozenset({"const", "symbol", "pi"})
# operations on recorded data: constant between the knots
DATA: Final = frozenset({"interval", "lookup"})
BINARY: Final = frozenset({"add", "sub", "mul", "div", "atan2", *DATA})
FUNCTIONS: Final = (
    "sin",
    "cos",
    "exp",
    "log",
    "sqrt",
    "sinh",
    "cosh",
    "asin",
    "acos",
    "atan",
    "abs",
    "sign",
)
_EVEN: Final = frozenset({"cos", "cosh", "abs"})
_ODD: Final = frozenset({"sin", "sinh", "asin", "atan", "sign"})
_AT_ZERO: Final = {
    "sin": 0,
    "cos": 1,
    "exp": 1,
    "sqrt": 0,
    "sinh": 0,
    "cosh": 1,
    "asin": 0,
    "atan": 0,
    "abs": 0,
    "sign": 0,
}
LARGEST_POWER: Final = 1000
# what a tape that was sent elsewhere makes of its nodes there
_NOT_PICKLED: Final = frozenset(
    {
        "_memo",
        "fractions",
        "rotated_components",
        "dependency_cache",
        "ingredients",
        "prefixes",
        "flat_nodes",
    }
)
# a number with more digits was not measured and cannot be read
MOST_DIGITS: Final = 4000
_MOST_BITS: Final = int(MOST_DIGITS * math.log2(10))

Key = TypeVar("Key")
Exact = TypeVar("Exact", int, Fraction, int | Fraction)


def check_digits(x: Exact) -> Exact:
    """The number itself, unless it has too many digits."""
    if x.numerator.bit_length() > _MOST_BITS or x.denominator.bit_length() > _MOST_BITS:
        digits = int(max(x.numerator.bit_length(), x.denominator.bit_length()) / math.log2(10))
        msg = (
            f"a number of about {digits} digits: numbers are exact here, and may have at most "
            f"{MOST_DIGITS}; round it, or give a float"
        )
        raise BadExpression(msg)
    return x


def _key(op: str, a: Any, b: Any = None) -> Node:
    """What a node is found by: itself, or a fraction by its two integers, which are hashed and
    compared much faster.
    """
    return (op, a.numerator, a.denominator) if a.__class__ is Fraction else (op, a, b)


def base_name(name: str) -> str:
    """The name of what a symbol is a rate of: theta'' → theta."""
    return name.rstrip("'")


def _entries_below(index: dict[Key, int], size: int | None) -> dict[Key, int]:
    """A copy of the entries whose node is below `size`, of all of them where that is None."""
    return index.copy() if size is None else {k: i for k, i in index.items() if i < size}


class Tape:
    """A growing list of interned nodes; indices into it are the expressions."""

    __slots__ = (
        "_memo",
        "dependency_cache",
        "displays",
        "flat_nodes",
        "forked_at",
        "fractions",
        "ingredients",
        "inputs",
        "lengths",
        "moving",
        "names",
        "nodes",
        "one",
        "parent",
        "pi",
        "prefixes",
        "private",
        "rates",
        "read_as_pi",
        "root",
        "rotated_components",
        "shared_prefix",
        "states",
        "zero",
    )

    def __init__(self) -> None:
        self.parent: Tape | None = None
        self.forked_at = 0
        self.root: object = self
        # how many leading nodes it shares with each tape that it was forked from, directly or not;
        # neither ever changes below that
        self.shared_prefix: dict[Tape, int] = {}
        self.nodes: list[Node] = []
        self._memo: dict[Node, int] = {}
        self.names: dict[str, int] = {}
        # symbols that vary with time, the rates made for them so far, and symbols whose rate is
        # unknown
        self.moving: set[int] = set()
        self.rates: dict[int, int] = {}
        self.inputs: set[int] = set()
        # those of them that are states with a rate of their own, which positions and rows may not
        # contain either
        self.states: set[int] = set()
        # symbols that derivations need for themselves, by the name they asked for
        self.private: dict[str, int] = {}
        # what is printed for a symbol where that is not its own name
        self.displays: dict[str, str] = {}
        # roots that are printed as symbols, lengths such as |P − Q|
        self.lengths: dict[int, str] = {}
        # typed numbers that were taken for multiples of π, shared by all forks: {number: what π is
        # multiplied with}
        self.read_as_pi: dict[float, Fraction] = {}
        # components already turned from one frame to another, with their inverses
        self.rotated_components: dict[tuple[int, bool, Triple] | tuple[int, int, int], Triple] = {}
        # what some nodes were found to be made of; nodes never change, so neither does this
        self.dependency_cache: dict[tuple[int, ...], tuple[int, ...]] = {}
        # which symbols each node contains, made on first use
        self.ingredients: ContainedSymbols | None = None
        # the keys of fractions; the nodes one after the other in one list, as far as `serialize`
        # was called; and digests of that from the first node on, block by block, made where code is
        # kept by its content
        self.fractions: dict[int, Node] = {}
        self.flat_nodes: list[Any] = []
        self.prefixes: list[Any] = []
        # the first two nodes of every tape, which `add` and `mul` rely on
        self.zero, self.one = self.const(0), self.const(1)
        self.pi = self._new(("pi", None, None))

    def fork(self, length: int | None = None) -> Tape:
        """A new tape that agrees with this one below `length` and grows on its own from there."""
        new: Tape = object.__new__(Tape)
        size = len(self.nodes) if length is None else length
        whole = size == len(self.nodes)
        new.parent, new.forked_at, new.root = self, size, self.root
        new.shared_prefix = {
            self: size,
            **{older: min(size, shared) for older, shared in self.shared_prefix.items()},
        }
        new.nodes = self.nodes[:size]
        end = None if whole else size
        new._memo, new.names, new.private = (
            _entries_below(self._memo, end),
            _entries_below(self.names, end),
            _entries_below(self.private, end),
        )
        new.moving, new.inputs, new.states = (
            known.copy() if whole else {i for i in known if i < size}
            for known in (self.moving, self.inputs, self.states)
        )
        new.rates = {k: i for k, i in _entries_below(self.rates, end).items() if k < size}
        new.displays = self.displays.copy()
        new.lengths = {i: name for i, name in self.lengths.items() if i < size}
        new.read_as_pi = self.read_as_pi
        new.rotated_components = self.rotated_components.copy() if whole else {}
        new.dependency_cache = {}
        new.ingredients = None if self.ingredients is None else self.ingredients.prefix(size)
        new.fractions = {i: key for i, key in self.fractions.items() if whole or i < size}
        new.flat_nodes = self.flat_nodes[: 3 * size]
        new.prefixes = self.prefixes.copy() if whole else []
        new.zero, new.one, new.pi = self.zero, self.one, self.pi
        return new

    def __len__(self) -> int:
        return len(self.nodes)

    def __getstate__(self) -> dict[str, object]:
        return {k: getattr(self, k) for k in self.__slots__ if k not in _NOT_PICKLED}

    def __setstate__(self, state: dict[str, object]) -> None:
        for k, v in state.items():
            setattr(self, k, v)
        keys = [_key(*node) for node in self.nodes]
        self._memo = {key: i for i, key in enumerate(keys)}
        self.fractions = {
            i: key
            for i, key in enumerate(keys)
            if key is not self.nodes[i] and key != self.nodes[i]
        }
        (
            self.rotated_components,
            self.dependency_cache,
            self.ingredients,
            self.flat_nodes,
            self.prefixes,
        ) = {}, {}, None, [], []

    def serialize(self) -> list[Any]:
        """`written` up to the last node, fractions as two integers: later than the nodes are
        made, many at once.
        """
        written, known = self.flat_nodes, len(self.flat_nodes) // 3
        if known < len(self.nodes):
            written += chain.from_iterable(self.nodes[known:])
            for i in reversed(self.fractions):
                if i < known:
                    break
                written[3 * i : 3 * i + 3] = self.fractions[i]
        return written

    # ---- leaves ------------------------------------------------------------------------------

    def _new(self, node: Node) -> int:
        length = len(self.nodes)
        i = self._memo.setdefault(node, length)
        if i == length:
            self.nodes.append(node)
        return i

    def const(self, value: Number) -> int:
        if value.__class__ is int:
            return self._new(("const", check_digits(value), None))
        if value.denominator == 1:
            return self._new(("const", check_digits(int(value)), None))
        key = _key("const", value)
        i = self._memo.get(key)
        if i is None:
            self.nodes.append(("const", check_digits(value), None))
            i = self._memo[key] = len(self.nodes) - 1
            self.fractions[i] = key
        return i

    def copy_operation(self, op: str, a: Any, b: Any) -> int:
        """A node of another tape with the copies a, b of its operands: it was simplified there, so
        that only the order of operands has to be that of this tape.
        """
        nodes = self.nodes
        if b is not None and b < a and (op == "add" or (op == "mul" and nodes[a][0] != "const")):
            a, b = b, a
        node = op, a, b
        length = len(nodes)
        i = self._memo.setdefault(node, length)
        if i == length:
            nodes.append(node)
        return i

    def extend(self, nodes: Iterable[Node]) -> None:
        """Nodes other than symbols, as another fork has them behind a tape like this one."""
        for node in nodes:
            if node[0] == "const":
                self.const(node[1])
            else:
                self._new(node)

    def value(self, i: int) -> Number | None:
        """The number a constant node stands for, else None."""
        op, v, _ = self.nodes[i]
        return v if op == "const" else None

    def symbol(self, name: str) -> int:
        i = self._new(("symbol", name, None))
        self.names[name] = i
        return i

    def moving_symbol(self, name: str) -> int:
        """A symbol x that varies with time; its rates x', x'', … are made when first asked for."""
        i = self.symbol(name)
        self.moving.add(i)
        return i

    def private_symbol(self, name: str, *, moving: bool = False, display: str = "") -> int:
        """A symbol that is none of the user's, such as a multiplier: a name the user has taken gets
        a _ added.

        It is printed as `display`, unless a symbol has that name already.
        """
        i = self.private.get(name)
        if i is None:
            free = name
            while free in self.names:
                free += "_"
            i = self.private[name] = self.moving_symbol(free) if moving else self.symbol(free)
            if display and display not in self.names and display not in self.displays.values():
                self.displays[free] = display
        return i

    def set_rate(self, i: int, driver: int, *, differentiable: bool) -> None:
        """dx/dt of a symbol x is an input; one that is differentiable has one rate of its own."""
        self.rates[i] = driver
        if differentiable and driver not in self.rates:
            self.rates[driver] = self.symbol(self.nodes[driver][1] + "'")
            self.inputs.add(self.rates[driver])

    def rate(self, i: int) -> int | None:
        """dx/dt of a symbol x; None for one that does not vary."""
        if i in self.inputs and i not in self.rates:
            what = (
                f"the rate of the input {self.nodes[i][1]} is unknown: declare it with "
                f"s.specified(...) instead"
            )
            msg = (
                what
                if i not in self.states
                else f"{self.nodes[i][1]} is a state, on which loads may depend, but no position, "
                f"row or V"
            )
            raise BadExpression(msg)
        rate = self.rates.get(i)
        if rate is None and i in self.moving:
            rate = self.rates[i] = self.moving_symbol(self.nodes[i][1] + "'")
        return rate

    # ---- operations --------------------------------------------------------------------------

    def neg(self, a: int) -> int:
        op, x, y = self.nodes[a]
        if op == "neg":
            return int(x)
        if op == "sub":
            return self._new(("sub", y, x))
        if op == "const":
            return self.const(-x)
        return self._new(("neg", a, None))

    def add(self, a: int, b: int) -> int:
        if not a:
            return b
        if not b:
            return a
        nodes = self.nodes
        x, y = nodes[a], nodes[b]
        if y[0] == "neg":
            return self.sub(a, y[1])
        if x[0] == "neg":
            return self.sub(b, x[1])
        if x[0] == "const" or y[0] == "const":
            return self._add_constant(x[1], b) if x[0] == "const" else self._add_constant(y[1], a)
        if a == b:
            return self.mul(self.const(2), a)
        # `_new`, here and in `mul` written out: no other function is called as often
        node = ("add", a, b) if a < b else ("add", b, a)
        length = len(nodes)
        i = self._memo.setdefault(node, length)
        if i == length:
            nodes.append(node)
        return i

    def sub(self, a: int, b: int) -> int:
        if b == self.zero:
            return a
        if a == self.zero:
            return self.neg(b)
        if a == b:
            return self.zero
        x, y = self.nodes[a], self.nodes[b]
        if y[0] == "neg":
            return self.add(a, y[1])
        if y[0] == "const":
            return self._add_constant(-y[1], a)
        if x[0] == "neg":
            return self.neg(self.add(x[1], b))
        if x[0] == "const":
            k, rest, sign = self._without_constant(b)
            if k:
                return self.add(self.const(x[1] - k), self.neg(rest) if sign > 0 else rest)
        return self._new(("sub", a, b))

    def _add_constant(self, k: Number, b: int) -> int:
        """k + b with the constants of b gathered: (10¹⁷ + x) − 10¹⁷ is x, on the tape and in
        native code.
        """
        if self.nodes[b][0] == "const":
            return self.const(k + self.nodes[b][1])
        c, rest, sign = self._without_constant(b)
        total = k + c
        if not total:
            return rest if sign > 0 else self.neg(rest)
        if sign < 0:
            return self._new(("sub", self.const(total), rest))
        if total < 0:
            return self._new(("sub", rest, self.const(-total)))
        i = self.const(total)
        return self._new(("add", i, rest) if i < rest else ("add", rest, i))

    def _without_constant(self, b: int) -> tuple[Number, int, int]:
        """(c, x, ±1) with b = c ± x"""
        op, x, y = self.nodes[b]
        if op in ("add", "sub"):
            for part, rest, signs in (
                (x, y, (1, 1 if op == "add" else -1)),
                (y, x, (1 if op == "add" else -1, 1)),
            ):
                if self.nodes[part][0] == "const":
                    return signs[0] * self.nodes[part][1], rest, signs[1]
        return 0, b, 1

    def mul(self, a: int, b: int) -> int:
        if a < 2:
            return b if a else a
        if b < 2:
            return a if b else b
        nodes = self.nodes
        x, y = nodes[a], nodes[b]
        if x[0] == "neg":
            return self.neg(self.mul(x[1], b))
        if y[0] == "neg":
            return self.neg(self.mul(a, y[1]))
        if y[0] == "const":
            a, b, x, y = b, a, y, x
        if x[0] == "const":
            # mostly there is nothing to gather and no sign; a numerator is compared much faster
            # than its fraction
            if (
                y[0] == "const"
                or (y[0] == "mul" and nodes[y[1]][0] == "const")
                or x[1].numerator < 0
            ):
                return self._mul_constant(x[1], b)
            node = "mul", a, b
        else:
            node = ("mul", a, b) if a <= b else ("mul", b, a)
        length = len(nodes)
        i = self._memo.setdefault(node, length)
        if i == length:
            nodes.append(node)
        return i

    def _mul_constant(self, k: Number, b: int) -> int:
        """k·b with the sign outside and the constants of b gathered."""
        op, c, y = self.nodes[b]
        if op == "const":
            return self.const(k * c)
        # integers and fractions are compared by their numerators, which is much faster
        if k.numerator < 0:
            return self.neg(self._mul_constant(-k, b))
        if k.numerator == k.denominator:
            return b
        if op == "mul" and self.nodes[c][0] == "const":
            return self._mul_constant(k * self.nodes[c][1], y)
        return self._new(("mul", self.const(k), b))

    def div(self, a: int, b: int) -> int:
        if b == self.zero:
            msg = "division by zero: the denominator vanishes identically"
            raise BadExpression(msg)
        if a == self.zero or b == self.one:
            return a
        if a == b:
            return self.one
        x, y = self.nodes[a], self.nodes[b]
        if y[0] == "const":
            return self.mul(self.const(1 / Fraction(y[1])), a)
        if x[0] == "neg":
            return self.neg(self.div(x[1], b))
        if y[0] == "neg":
            return self.neg(self.div(a, y[1]))
        return self._new(("div", a, b))

    def power(self, a: int, k: int) -> int:
        """a^k for an integer k by repeated squaring, so that powers share their factors."""
        if abs(k) > LARGEST_POWER:
            msg = f"exponent {k} is too large: at most {LARGEST_POWER} in size"
            raise BadExpression(msg)
        if k < 0:
            return self.div(self.one, self.power(a, -k))
        result, square = self.one, a
        while k:
            if k & 1:
                result = self.mul(result, square)
            k >>= 1
            if k:
                square = self.mul(square, square)
        return result

    def call(self, function: str, a: int) -> int:
        """function(a), with the values every book knows by heart folded."""
        op, x, _ = self.nodes[a]
        if a == self.zero and function in _AT_ZERO:
            return self.const(_AT_ZERO[function])
        if op == "neg" or (op == "const" and x < 0):
            if function in _EVEN:
                return self.call(function, self.neg(a))
            if function in _ODD:
                return self.neg(self.call(function, self.neg(a)))
        if function in ("sin", "cos"):
            turns = self._multiple_of_pi(a)
            if turns is not None:
                exact = self._at_multiple_of_pi(
                    turns if function == "sin" else turns + Fraction(1, 2)
                )
                if exact is not None:
                    return exact
        elif op == "const":
            exact = self._at_number(function, x)
            if exact is not None:
                return exact
        return self._new((function, a, None))

    def atan2(self, y: int, x: int) -> int:
        return self._new(("atan2", y, x))

    def interval(self, t: int, handle: int) -> int:
        """The number of knots ≤ t of the array that a handle names."""
        return self._new(("interval", t, handle))

    def lookup(self, k: int, handle: int) -> int:
        """Entry k of the array that a handle names."""
        return self._new(("lookup", k, handle))

    def _multiple_of_pi(self, a: int) -> Fraction | None:
        if a == self.pi:
            return Fraction(1)
        op, c, x = self.nodes[a]
        if op == "mul" and x == self.pi and self.nodes[c][0] == "const":
            return Fraction(self.nodes[c][1])
        return None

    def _at_multiple_of_pi(self, turns: Fraction) -> int | None:
        """sin(turns·π) where it is 0, ±1/2, ±√2/2, ±√3/2 or ±1."""
        turns %= 2
        if turns >= 1:
            below = self._at_multiple_of_pi(turns - 1)
            return None if below is None else self.neg(below)
        squares: dict[Fraction, int] = {
            Fraction(0): 0,
            Fraction(1, 6): 1,
            Fraction(1, 4): 2,
            Fraction(1, 3): 3,
            Fraction(1, 2): 4,
        }
        square = squares.get(min(turns, 1 - turns))
        if square is None:
            return None
        return self.mul(self.const(Fraction(1, 2)), self.call("sqrt", self.const(square)))

    def _at_number(self, function: str, x: Number) -> int | None:
        if function == "log":
            if x <= 0:
                msg = f"log({x}) is not a real number"
                raise BadExpression(msg)
            return self.zero if x == 1 else None
        if function == "sqrt":
            if x < 0:
                msg = f"sqrt({x}) is not a real number"
                raise BadExpression(msg)
            x = Fraction(x)
            p, q = math.isqrt(x.numerator), math.isqrt(x.denominator)
            return (
                self.const(Fraction(p, q))
                if (p * p, q * q) == (x.numerator, x.denominator)
                else None
            )
        if function in ("asin", "acos") and not -1 <= x <= 1:
            msg = f"{function}({x}) is not a real number"
            raise BadExpression(msg)
        if function == "acos" and x == 1:
            return self.zero
        if function == "sign":
            return self.one  # negative numbers and zero were folded before
        return self.const(x) if function == "abs" else None

    # ---- forks -------------------------------------------------------------------------------

    def shared_length(self, other: Tape) -> int:
        """How many leading nodes two tapes of one system have in common."""
        if self is other:
            return len(self.nodes)
        # a fork and what it was forked from, which is nearly always the case
        common = self.shared_prefix.get(other)
        if common is None:
            common = other.shared_prefix.get(self)
        if common is None:
            # two forks of one tape: as much as both share with the youngest that both came from
            common = max(
                (
                    min(shared, other.shared_prefix[older])
                    for older, shared in self.shared_prefix.items()
                    if older in other.shared_prefix
                ),
                default=0,
            )
        return common
