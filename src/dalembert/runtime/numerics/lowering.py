"""From the tape to a list of machine operations: what is computed when, and what is fused.

Three decisions are taken here, once, for scalars and lanes alike, so that both compute the same
bits: a product used once, by a sum, is fused with it into one rounding; a denominator of several
quotients is inverted once; sin and cos of one angle are computed together, and those of all angles
first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from dalembert.errors import BadExpression, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.expression_graph import (
    dependencies_by_sweep,
    dependencies_in,
    operands,
)
from dalembert.symbolic.algebra.tape import BINARY, LEAVES, Node

TRIG: Final = frozenset({"sin", "cos"})


class Operation(NamedTuple):
    """results = op(arguments), all of them numbers of values."""

    op: str
    arguments: tuple[int, ...]
    results: tuple[int, ...]


@dataclass
class Program:
    """What to compute: leaves by their value's number, what depends on parameters only, and the
    rest.
    """

    inputs: dict[int, int] = field(default_factory=dict)
    parameters: dict[int, int] = field(default_factory=dict)
    numbers: dict[int, float] = field(default_factory=dict)
    prologue: list[Operation] = field(default_factory=list)
    body: list[Operation] = field(default_factory=list)
    outs: list[int] = field(default_factory=list)


def lower(
    nodes: Sequence[Node],
    outs: Sequence[int],
    state: Sequence[int],
    parameters: Sequence[int],
    *,
    fuse: bool,
    pack: int = 1,
) -> Program:
    """The operations that give `outs` from the symbols `state` and `parameters`.

    `pack` is how many angles one call for sin and cos takes.
    """
    return _Lowering(nodes, outs, state, parameters, fuse).program(pack)


def _with_tanh(nodes: Sequence[Node]) -> Sequence[Node]:
    """sinh x / cosh x as tanh x, which is finite for every x."""
    if not any(node[0] == "cosh" for node in nodes):
        return nodes
    rewritten = list(nodes)
    for i, (op, a, b) in enumerate(nodes):
        if (
            op == "div"
            and nodes[a][0] == "sinh"
            and nodes[b][0] == "cosh"
            and nodes[a][1] == nodes[b][1]
        ):
            rewritten[i] = ("tanh", nodes[a][1], None)
    return rewritten


class _Lowering:
    """Values 0 … are the tape's nodes; values made here (reciprocals, unwanted sines) come after
    them.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        outs: Sequence[int],
        state: Sequence[int],
        parameters: Sequence[int],
        fuse: bool,
    ) -> None:
        self.nodes, self.outs = _with_tanh(nodes), list(outs)
        self.emitted: set[int] = set()
        self.live = dependencies_by_sweep(self.nodes, self.outs)
        self.n_values = len(nodes)
        self.result = Program(outs=self.outs)
        self.varying = self._classify_nodes(
            {i: k for k, i in enumerate(state)}, {i: k for k, i in enumerate(parameters)}
        )
        self.fused = self._fusions() if fuse else {}
        self.fused_products = set(self.fused.values())
        self.shared = self._shared_denominators()
        self.trig_nodes = {
            (self.nodes[i][0], self.nodes[i][1]): i for i in self.live if self.nodes[i][0] in TRIG
        }
        self.reciprocals: dict[int, int] = {}

    def program(self, pack: int) -> Program:
        # the innermost angles first: what they are made of, then their sines and cosines
        for angles in self._angles():
            self._compute(angles)
            self._append_sincos(angles, pack)
        self._append(i for i in self.live if i not in self.emitted)
        return self.result

    # ---- what is what ------------------------------------------------------------------------

    def _classify_nodes(self, state: dict[int, int], parameters: dict[int, int]) -> set[int]:
        """The nodes that vary with the state; leaves are entered in the program."""
        nodes, varying, result = self.nodes, set(state), self.result
        for i in self.live:
            op, a, b = nodes[i]
            if op == "symbol":
                if i in state:
                    result.inputs[i] = state[i]
                elif i in parameters:
                    result.parameters[i] = parameters[i]
                else:
                    msg = f"{a} is neither part of the state nor a parameter: give it a value"
                    raise Unknown(msg)
            elif op == "const":
                result.numbers[i] = _as_float(a)
            elif op == "pi":
                result.numbers[i] = 3.141592653589793
            # an operation on one value has None for the other
            elif a in varying or b in varying:
                varying.add(i)
        return varying

    def _uses(self) -> list[int]:
        """How often each node is an operand or an out."""
        uses, nodes = [0] * len(self.nodes), self.nodes
        for i in self.outs:
            uses[i] += 1
        for i in self.live:
            op, a, b = nodes[i]
            if op in BINARY:
                uses[a] += 1
                uses[b] += 1
            elif op not in LEAVES:
                uses[a] += 1
        return uses

    def _fusions(self) -> dict[int, int]:
        """{sum: the product fused into it}: products used once, the younger one where both terms
        are.
        """
        uses, nodes, varying = self._uses(), self.nodes, self.varying
        fusions: dict[int, int] = {}
        for i in self.live:
            op, a, b = nodes[i]
            if op in ("add", "sub"):
                for term in (b, a) if b > a else (a, b):
                    if (
                        nodes[term][0] == "mul"
                        and uses[term] == 1
                        and (term in varying) == (i in varying)
                    ):
                        fusions[i] = term
                        break
        return fusions

    def _shared_denominators(self) -> set[int]:
        uses = Counter(
            self.nodes[i][2] for i in self.live if self.nodes[i][0] == "div" and i in self.varying
        )
        return {b for b, count in uses.items() if count > 1}

    def _angles(self) -> list[list[int]]:
        """The arguments of sines and cosines that vary with the state, by how deep sines and
        cosines are nested in them.
        """
        # only what is made of sines has an entry
        depth: dict[object, int] = {}
        groups: dict[int, dict[int, None]] = {}
        nodes, varying = self.nodes, self.varying
        first = bisect_left(self.live, min(self.trig_nodes.values(), default=len(nodes)))
        for i in self.live[first:]:
            op, a, b = nodes[i]
            if op in LEAVES:
                continue
            level = max(depth.get(a, 0), depth.get(b, 0))
            if op in TRIG and i in varying:
                groups.setdefault(level, {})[a] = None
                level += 1
            if level:
                depth[i] = level
        return [list(groups[level]) for level in sorted(groups)]

    # ---- operations --------------------------------------------------------------------------

    def _new_value(self) -> int:
        self.n_values += 1
        return self.n_values - 1

    def _compute(self, outs: Iterable[int]) -> None:
        nodes = dependencies_in(self.nodes, outs, self.emitted)
        self.emitted.update(nodes)
        self._append(nodes)

    def _append(self, ordered: Iterable[int]) -> None:
        """The operations of nodes whose operands are known or come before them."""
        nodes, skipped, varying = self.nodes, self.fused_products, self.varying
        body, prologue = self.result.body, self.result.prologue
        for i in ordered:
            if i not in skipped and nodes[i][0] not in LEAVES:
                (body if i in varying else prologue).append(self._operation(i))

    def _operation(self, i: int) -> Operation:
        op, a, b = self.nodes[i]
        if i in self.fused:
            product = self.fused[i]
            x, y = self.nodes[product][1:]
            rest = a if product == b else b
            kind = (
                "multiply-add"
                if op == "add"
                else "multiply-subtract"
                if product == a
                else "subtract-product"
            )
            return Operation(kind, (x, y, rest), (i,))
        if op == "div" and b in self.shared and i in self.varying:
            return Operation("mul", (a, self._reciprocal(b)), (i,))
        return Operation(op, operands(op, a, b), (i,))

    def _reciprocal(self, b: int) -> int:
        if b not in self.reciprocals:
            self.reciprocals[b] = r = self._new_value()
            section = self.result.body if b in self.varying else self.result.prologue
            section.append(Operation("reciprocal", (b,), (r,)))
        return self.reciprocals[b]

    def _append_sincos(self, angles: list[int], pack: int) -> None:
        """sin and cos of the angles, `pack` at a time."""
        for start in range(0, len(angles), pack):
            group = tuple(angles[start : start + pack])
            results: list[int] = []
            for a in group:
                for function in ("sin", "cos"):
                    i = self.trig_nodes.get((function, a))
                    results.append(self._new_value() if i is None else i)
            self.emitted.update(results)
            self.result.body.append(Operation("sincos", group, tuple(results)))


def _as_float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError as error:
        msg = f"the constant {value} is too large for a floating-point number"
        raise BadExpression(msg) from error
