"""Which symbols a node contains, whether π, and which functions other than sines and cosines: bits for every node, found once.

And whether that alone tells that it is not zero: no monomial is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from dalembert.algebra.tape import BINARY, LEAVES, Tape
from dalembert.once import MAKING

# beside symbols and π, functions that have branches, or between which relations exist that a field does not keep
MARKED: Final = frozenset({"symbol", "pi", "exp", "log", "sqrt", "sinh", "cosh", "asin", "acos", "atan", "atan2", "abs", "sign"})


class Ingredients:
    """Of one tape, as far as anybody has asked: nodes never change, so neither does what they contain."""

    __slots__ = ("_equal", "_listed", "_marks", "_sets", "_symbols", "pi")

    def __init__(self) -> None:
        # the bits of each node; those that are equal are one object
        self._sets: list[int] = []
        self._equal: dict[int, int] = {}
        # the node that each bit stands for, in order of creation, and which of them are symbols, and π
        self._marks: list[int] = []
        self._symbols = self.pi = 0
        self._listed: dict[int, tuple[int, ...]] = {}

    def below(self, length: int) -> Ingredients:
        """The same for a tape that agrees with this one below `length`."""
        new = Ingredients()
        new._sets = self._sets[:length]
        new._marks = self._marks[: bisect_left(self._marks, length)]
        shared = (1 << len(new._marks)) - 1
        new._symbols, new.pi = self._symbols & shared, self.pi & shared
        return new

    def symbols(self, bits: int) -> tuple[int, ...]:
        """The symbols among what some bits stand for."""
        return self._nodes(bits & self._symbols)

    def functions(self, bits: int) -> tuple[int, ...]:
        """The nodes of functions among what some bits stand for."""
        return self._nodes(bits & ~(self._symbols | self.pi))

    def _nodes(self, bits: int) -> tuple[int, ...]:
        nodes = self._listed.get(bits)
        if nodes is None:
            nodes = self._listed[bits] = tuple(mark for k, mark in enumerate(self._marks) if bits >> k & 1)
        return nodes

    def union(self, tape: Tape, outs: Iterable[int]) -> int:
        """The bits of some nodes together."""
        ends = tuple(outs)
        if ends and max(ends) >= len(self._sets):
            with MAKING:
                self._extend(tape, max(ends) + 1)
        bits = 0
        for i in ends:
            bits |= self._sets[i]
        return bits

    def _extend(self, tape: Tape, length: int) -> None:
        sets, equal = self._sets, self._equal
        for i in range(len(sets), length):
            op, a, b = tape.nodes[i]
            bits = 0 if op in LEAVES else sets[a] | sets[b] if op in BINARY else sets[a]
            if op in MARKED:
                own = 1 << len(self._marks)
                bits |= own
                self._marks.append(i)
                self._symbols |= own if op == "symbol" else 0
                self.pi |= own if op == "pi" else 0
            sets.append(equal.setdefault(bits, bits))


def _of(tape: Tape) -> Ingredients:
    if tape.ingredients is None:
        with MAKING:
            if tape.ingredients is None:
                tape.ingredients = Ingredients()
    return tape.ingredients


def symbols_in(tape: Tape, outs: Iterable[int]) -> tuple[int, ...]:
    """The symbols that `outs` contain, in order of creation."""
    known = _of(tape)
    return known.symbols(known.union(tape, outs))


def functions_in(tape: Tape, outs: Iterable[int]) -> tuple[int, ...]:
    """The nodes of all functions but sines and cosines that `outs` contain, in order of creation."""
    known = _of(tape)
    return known.functions(known.union(tape, outs))


def has_pi(tape: Tape, outs: Iterable[int]) -> bool:
    """Whether `outs` contain π."""
    known = _of(tape)
    return bool(known.union(tape, outs) & known.pi)


def is_monomial(tape: Tape, i: int) -> bool:
    """Whether a node is a product of symbols, numbers that are not zero, sines and cosines of symbols: it does not vanish identically."""
    stack = [i]
    while stack:
        i = stack.pop()
        op, a, b = tape.nodes[i]
        if op == "mul":
            stack += (a, b)
        elif op == "neg":
            stack.append(a)
        elif op == "sin" or op == "cos":
            if tape.nodes[a][0] != "symbol":
                return False
        elif i == tape.zero or op not in LEAVES:
            return False
    return True
