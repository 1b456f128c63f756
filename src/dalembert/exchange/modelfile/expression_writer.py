"""A node of the tape as text that our parser reads back into the same node.

Operands keep the order in which they were made and sums keep their parentheses, so that what is
read back is the same tape, node for node. A part of a long expression that is used several times
gets a name of its own.

The order in which nodes come onto the tape is the order of the operands of later sums, and so
decides on the last bit of a motion. Where a text would be read in another order, or would be long
because parts of it are used several times, these parts stand before it: where = { z_1 = "…" } in
the table of its element.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any, Final

from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.symbolic.algebra.expression_graph import dependencies, operands
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Number, Tape

# how tightly an operation binds: sum, product, sign, power, name
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
_LONG: Final = 400
_SHORT: Final = 12
_DIGITS: Final = 14


def decimal(value: Number, digits: int = _DIGITS) -> Decimal | None:
    """A rational number as a short decimal, where it is one."""
    try:
        exact = Context(prec=digits, traps=[Inexact])
        return exact.divide(Decimal(value.numerator), Decimal(value.denominator))
    except Inexact:
        return None


def number_text(value: Number) -> str:
    """9.81, or 1/3."""
    short = decimal(value)
    if short is None:
        return str(Fraction(value))
    text = f"{short.normalize():f}"
    return text if len(text) <= _DIGITS else str(short.normalize())


class ExpressionWriter:
    """Texts of the expressions of one system; `named` collects the parts that were given names,
    in order.
    """

    def __init__(self, tape: Tape, taken: Iterable[str]) -> None:
        self.tape, self.taken = tape, set(taken)
        self.named: dict[str, str] = {}
        self._names: dict[int, str] = {}
        self._sizes: dict[int, int] = {}

    def __call__(self, i: int) -> str:
        """The text of a node."""
        if self._size(i) > _LONG:
            self._name_shared(i)
        return self._text(i)[0]

    def factor(self, i: int) -> str:
        """The text of a node in front of a *."""
        text, binding = self._text_naming_shared(i)
        return text if binding >= _PRODUCT else f"({text})"

    def _text_naming_shared(self, i: int) -> tuple[str, int]:
        if self._size(i) > _LONG:
            self._name_shared(i)
        return self._text(i)

    def _operands(self, i: int) -> tuple[int, ...]:
        return operands(*self.tape.nodes[i])

    def _size(self, i: int) -> int:
        """How long the text would be, parts with names counted by their names."""
        sizes = self._sizes
        for k in dependencies(self.tape, (i,)):
            if k not in sizes:
                sizes[k] = 4 + (0 if k in self._names else sum(sizes[x] for x in self._operands(k)))
        return sizes[i]

    def is_long(self, i: int) -> bool:
        """Whether the text should be broken into parts."""
        return self._size(i) > _LONG

    def shared_subexpressions(self, roots: Iterable[int]) -> set[int]:
        """The parts that are used several times and worth a name."""
        uses: dict[int, int] = {}
        nodes = dependencies(self.tape, roots)
        for k in nodes:
            for x in self._operands(k):
                uses[x] = uses.get(x, 0) + 1
            self._size(k)
        return {
            k
            for k in nodes
            if uses.get(k, 0) > 1
            and k not in self._names
            and self._operands(k)
            and self._sizes[k] > _SHORT
        }

    def name(self, k: int) -> tuple[str, str]:
        """A name for a part, which from now on stands for it, and its text."""
        text = self._text(k)[0]
        self._names[k] = name = self._new_name()
        self._sizes.clear()
        return name, text

    def _name_shared(self, root: int) -> None:
        for k in sorted(self.shared_subexpressions((root,))):
            name, text = self.name(k)
            self.named[name] = text

    def _new_name(self) -> str:
        number = 1
        while f"z_{number}" in self.taken:
            number += 1
        self.taken.add(f"z_{number}")
        return f"z_{number}"

    def _text(self, root: int) -> tuple[str, int]:
        done: dict[int, tuple[str, int]] = {}
        stack = [root]
        while stack:
            k = stack[-1]
            missing = [] if k in self._names else [x for x in self._operands(k) if x not in done]
            if missing:
                stack += missing
                continue
            stack.pop()
            done[k] = (self._names[k], _ATOM) if k in self._names else self._node_text(k, done)
        return done[root]

    def _node_text(self, k: int, done: dict[int, tuple[str, int]]) -> tuple[str, int]:
        op, a, b = self.tape.nodes[k]
        if op == "symbol":
            return str(a), _ATOM
        if op == "pi":
            return "pi", _ATOM
        if op == "const":
            text = number_text(a)
            return text, _SIGN if a < 0 else _PRODUCT if "/" in text else _ATOM
        if op == "neg":
            # −(a b), since −a b would be read as (−a) b
            return f"-{_parenthesize(done[a], _POWER)}", _SIGN
        if op in ("add", "mul"):
            return self._binary_text(op, a, b, done)
        if op == "sub":
            return f"{_parenthesize(done[a], _SUM)} - {_parenthesize(done[b], _PRODUCT)}", _SUM
        if op == "div":
            return f"{_parenthesize(done[a], _PRODUCT)}/{_parenthesize(done[b], _POWER)}", _PRODUCT
        return f"{op}({', '.join(done[x][0] for x in self._operands(k))})", _ATOM

    def _binary_text(
        self, op: str, a: int, b: int, done: dict[int, tuple[str, int]]
    ) -> tuple[str, int]:
        if a == b:
            return f"{_parenthesize(done[a], _ATOM)}**2", _POWER
        constant = self.tape.value(a) is not None
        # a name alone goes last, so that the other operand needs no parentheses; the node is the
        # same
        if not constant and not self._operands(a) and self._operands(b):
            a, b = b, a
        if op == "add":
            return f"{_parenthesize(done[a], _SUM)} + {_parenthesize(done[b], _PRODUCT)}", _SUM
        if constant and (value := self.tape.value(a)) is not None and value.numerator == 1:
            return f"{_parenthesize(done[b], _PRODUCT)}/{value.denominator}", _PRODUCT
        return f"{_parenthesize(done[a], _PRODUCT)}*{_parenthesize(done[b], _POWER)}", _PRODUCT


def _parenthesize(part: tuple[str, int], least: int) -> str:
    """An operand, in parentheses where it binds less tightly than it must; a sign always gets
    them.
    """
    text, binding = part
    return text if binding >= least and (binding != _SIGN or least <= _SUM) else f"({text})"


# ---- parts that are made first
# ---------------------------------------------------------------------


def expression_nodes(value: Any) -> list[int]:
    """The expressions of an argument, in the order in which a file writes them."""
    if isinstance(value, Scalar):
        return [value.i]
    if isinstance(value, Vector):
        return [i for components in value.parts.values() for i in components]
    if isinstance(value, Dyadic):
        return list(value.entries())
    if isinstance(value, tuple | list):
        return [i for x in value for i in expression_nodes(x)]
    return []


def creation_order(tape: Tape, roots: Iterable[int], existing: Container[int]) -> list[int]:
    """The operations that a reader makes, in its order, without those that exist: operands from
    left to right, then the operation.
    """
    made: dict[int, None] = {}
    for root in roots:
        stack = [(root, False)]
        while stack:
            i, ready = stack.pop()
            parts = operands(*tape.nodes[i])
            if not parts or i in made or i in existing:
                continue
            if ready:
                made[i] = None
            else:
                stack += [(i, True), *((x, False) for x in reversed(parts))]
    return list(made)


def subexpression_definitions(
    text: ExpressionWriter, roots: list[int], existing: set[int], created_since: Iterable[int]
) -> dict[str, str]:
    """{name: text} of the parts to be made first; the names are used in the texts that follow, and
    what they make exists from then on.

    `typed` is all that was made between the last declaration and this one, also what only later
    ones contain.
    """
    tape = text.tape
    order = creation_order(tape, roots, existing)
    shared = text.shared_subexpressions(roots) if any(text.is_long(i) for i in roots) else set()
    if order == sorted(order) and not shared:
        return {}
    wanted = sorted(
        {*order, *(i for i in created_since if i not in existing and operands(*tape.nodes[i]))}
    )
    made, subexpressions = existing, {}
    for k, i in enumerate(wanted):
        if i in made:
            continue
        best = _longest_chunk(tape, wanted[k:], made, shared)
        made.update(best)
        last = best[-1]
        if last in roots and last not in shared and len(roots) == 1:
            continue
        name, definition = text.name(last)
        subexpressions[name] = definition
    return subexpressions


def _longest_chunk(tape: Tape, wanted: list[int], made: set[int], shared: set[int]) -> list[int]:
    """The most of the next nodes that one expression creates in this order, without a shared one
    inside.
    """
    best: list[int] = []
    for j in wanted:
        chunk = creation_order(tape, [j], made)
        if chunk == wanted[: len(chunk)] and not shared.intersection(chunk[:-1]):
            best = chunk
    return best
