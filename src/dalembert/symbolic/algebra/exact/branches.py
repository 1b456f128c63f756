"""|x|, sign x, √f, atan2(y, x): how many different functions one row is.

A row with the sign of x is one function where x > 0 and another where x < 0; with b
multiplicatively independent arguments there are 2ᵇ of them. Roots of independent radicands are no
branches: the variety y² = f is irreducible, and what vanishes on one branch vanishes on the other.
Whether radicands are independent (no product of them is a square times a number) is read off their
residue symbols at random points: vectors of signs that are linearly independent over F₂ prove it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.finite_field import BadPoint, sign
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.exact.signs_and_roots import FactorAnalysis, denest_root
from dalembert.symbolic.algebra.expression_graph import (
    dependencies,
    functions_in,
    nodes_depending_on,
)
from dalembert.symbolic.algebra.tape import LEAVES, Tape

_ARCS: Final = frozenset({"asin", "acos", "atan", "atan2"})
_BRANCHING: Final = frozenset({"sign", "abs", "sqrt", *_ARCS})
_SPARE_POINTS: Final = 40


@dataclass(frozen=True)
class BranchCount:
    """The branches of one row: `atoms` whose signs it depends on, at most `degree` of them in one
    product.

    `related` counts roots that may depend on others or on signs in a way that the structure does
    not show; `dependent` is true if any root depends on others.
    """

    atoms: tuple[int, ...] = ()
    degree: int = 0
    related: int = 0
    dependent: bool = False


class BranchAnalysis:
    """The branchings of the rows of a tape."""

    def __init__(self, tape: Tape, draw: Callable[[int], SamplePoint]) -> None:
        self.tape, self._draw = tape, draw
        self.structure = FactorAnalysis(tape)
        self._related: dict[tuple[int, ...], tuple[int, bool]] = {}

    def of(self, row: Sequence[int]) -> BranchCount:
        """The branching of some nodes together."""
        branching = [i for i in functions_in(self.tape, row) if self.tape.nodes[i][0] in _BRANCHING]
        if not branching:
            return BranchCount()
        atoms: dict[int, None] = {}
        radicands: dict[int, None] = {}
        arcs = self._count_arc_roots(row, branching)
        related = arcs
        for i in branching:
            op, a, b = self.tape.nodes[i]
            if op in ("sign", "abs"):
                atoms |= dict.fromkeys(self._sign_atoms(a))
            elif op == "atan2":
                atoms |= dict.fromkeys([*self._sign_atoms(a), *self._sign_atoms(b)])
            elif op == "sqrt" and self.structure.constant(a):
                related += bool(self.structure.factors(a)[1]) and denest_root(self.tape, a) is None
            elif op == "sqrt":
                powers = self.structure.factors(a)[1]
                atoms |= dict.fromkeys(
                    x for x, k in powers.items() if k // 2 % 2 and x in self._indefinite_atoms([x])
                )
                radicands |= {a: None} if any(k % 2 for k in powers.values()) else {}
        more, dependent = self._relations(tuple(sorted(radicands)))
        degree = min(len(atoms), self._degree(row)) if atoms else 0
        return BranchCount(tuple(atoms), degree, related + more, dependent or bool(arcs))

    def _sign_atoms(self, a: int) -> list[int]:
        return self._indefinite_atoms(self.structure.sign_atoms(a))

    def _indefinite_atoms(self, atoms: Iterable[int]) -> list[int]:
        return [
            a
            for a in atoms
            if not self.structure.constant(a) and not self.structure.is_nonnegative(a)
        ]

    def _count_arc_roots(self, row: Sequence[int], branching: Sequence[int]) -> int:
        """Inverse functions inside sines and cosines: each brings a root that need not stand on
        the tape.
        """
        ops = self.tape.nodes
        arcs = [i for i in branching if ops[i][0] in _ARCS]
        if not arcs:
            return 0
        inside = nodes_depending_on(self.tape, row, arcs)
        turned = {
            a
            for op, a, _ in (ops[i] for i in dependencies(self.tape, row))
            if op in ("sin", "cos") and a in inside
        }
        return sum(not turned.isdisjoint(nodes_depending_on(self.tape, row, [i])) for i in arcs)

    def _degree(self, row: Sequence[int]) -> int:
        """The largest number of signs in one product."""
        nodes = dependencies(self.tape, row)
        degree: dict[int, int] = {}
        most = len(nodes)
        for i in nodes:
            op, a, b = self.tape.nodes[i]
            if op in LEAVES:
                degree[i] = 0
            elif op in ("add", "sub"):
                degree[i] = max(degree[a], degree[b])
            elif op == "mul":
                degree[i] = min(most, degree[a] + degree[b])
            elif op == "neg" or (op == "div" and not degree[b]):
                degree[i] = degree[a]
            elif op in ("sign", "abs"):
                degree[i] = degree[a] + len(self._sign_atoms(a)) if not degree[a] else most
            else:
                # a function of what contains signs may contain any product of them
                inner = [degree[a], degree[b]] if op in ("div", "atan2") else [degree[a]]
                degree[i] = most if any(inner) or op in ("sqrt", "atan2") else 0
        return max((degree[i] for i in row), default=0)

    # ---- radicands ---------------------------------------------------------------------------

    def _relations(self, radicands: tuple[int, ...]) -> tuple[int, bool]:
        """(how many relations between radicands the structure does not show, whether there are
        any relations at all)
        """
        relations = self._related.get(radicands)
        if relations is None:
            relations = self._related[radicands] = self._count_relations(radicands)
        return relations

    def _count_relations(self, radicands: tuple[int, ...]) -> tuple[int, bool]:
        roots = [
            i
            for i in functions_in(self.tape, radicands)
            if self.tape.nodes[i][0] == "sqrt" and not self.structure.constant(i)
        ]
        over = nodes_depending_on(self.tape, radicands, roots) if roots else set()
        simple = [f for f in radicands if f not in over]
        parities = [self._parity(f) for f in simple]
        shown = rank_gf2(parities)
        hidden = shown - self._independent(simple, shown)
        nested = len(radicands) - len(simple)
        return hidden + nested, bool(hidden or nested or shown < len(simple))

    def _parity(self, f: int) -> int:
        """The atoms of odd power as bits."""
        return sum(
            1 << a
            for a, k in self.structure.factors(f)[1].items()
            if k % 2 and not self.structure.constant(a)
        )

    def _independent(self, radicands: Sequence[int], most: int) -> int:
        """How many radicands are independent modulo squares and numbers: the rank of their
        residue symbols over F₂.
        """
        vectors, rank, taken = [0] * len(radicands), 0, 0
        for k in range(most + _SPARE_POINTS):
            try:
                point = self._draw(k)
                signs = [sign(point.real_value(f), point.prime) for f in radicands]
            except BadPoint:
                continue
            vectors = [v << 1 | (s < 0) for v, s in zip(vectors, signs, strict=True)]
            taken += 1
            if taken > most:
                # relations may hold up to a number, whose symbol is the same at all points of one
                # prime
                rank = rank_gf2([*vectors, (1 << taken) - 1]) - 1
                if rank == most:
                    break
        return rank


def rank_gf2(vectors: Iterable[int]) -> int:
    """The rank over F₂ of vectors of bits."""
    basis: list[int] = []
    for v in vectors:
        for b in basis:
            v = min(v, v ^ b)  # noqa: PLW2901 - reduced by one pivot after the other
        if v:
            basis.append(v)
    return len(basis)
