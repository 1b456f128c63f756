"""𝒫 = 𝒫_conservative + 𝒫_nonconservative, split by terms: the loads that have a potential.

The generalized forces of all loads are multiplied out. Their terms without speeds and time are
grouped by products of constants. A group that is the gradient of a potential as a whole belongs to
the potential energy; everything else stays a load. The result does not depend on how the forces
were distributed over declarations, and a declared V is never split.

Source: Mit22 (18)–(19).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import combinations
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.expression_graph import dependencies, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, sum_scalars
from dalembert.symbolic.algebra.tape import Tape

# a product of nodes, {node: power} in order
Monomial = tuple[tuple[int, int], ...]
# {product: coefficient}
Polynomial = dict[Monomial, Fraction]
Field = tuple[int, ...]
_MAX_TERMS: Final = 400


@dataclass(frozen=True)
class TermPotential:
    """V of the terms that share a product of constants; `loads` are those that contain them."""

    factor: Scalar
    V: Scalar = field(repr=False)
    loads: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' + '.join(self.loads)}: the terms with {self.factor} have V = {self.V}"


@dataclass(frozen=True)
class LoadSplit:
    """The part of the loads that has a potential V; Q = −∂V/∂x for each load in `fields`."""

    V: Scalar
    fields: Mapping[str, Field]
    # loads of which nothing is left
    whole: frozenset[str]
    parts: tuple[TermPotential, ...]


@dataclass(frozen=True)
class _TermGroup:
    """Terms with one product of constants: their sum for each load."""

    key: Monomial
    fields: Mapping[str, Field]
    # constants inside functions and denominators, on which the rest of the terms depends
    hidden: frozenset[int]

    def total(self, tape: Tape, n: int) -> Field:
        return _sum_fields(tape, n, self.fields.values())


def split_loads(kin: Kinematics, x: Sequence[int], Q: Mapping[str, Sequence[int]]) -> LoadSplit:
    """Split the fields Q of the loads along the variables x."""
    return _LoadSplitter(kin, tuple(x), {name: tuple(f) for name, f in Q.items()}).result()


class _LoadSplitter:
    def __init__(self, kin: Kinematics, x: Field, Q: Mapping[str, Field]) -> None:
        self.kin, self.t, self.x, self.Q = kin, kin.tape, x, Q
        # loads with terms that hold speeds, inputs or other times
        self.left: set[str] = set()

    def result(self) -> LoadSplit:
        t, n = self.t, len(self.x)
        groups = self._groups()
        chosen: list[tuple[_TermGroup, Scalar]] = []
        for group in self._merge_dependent(groups):
            V = self._potential(group)
            if V is None:
                self.left.update(group.fields)
            else:
                chosen.append((group, V))
        fields = {
            name: _sum_fields(t, n, [g.fields[name] for g, _ in chosen if name in g.fields])
            for name in self.Q
            if any(name in g.fields for g, _ in chosen)
        }
        parts = tuple(
            TermPotential(self._product(g.key), V, tuple(g.fields)) for g, V in chosen if V != 0
        )
        return LoadSplit(
            sum_scalars(t, (part.V for part in parts)),
            fields,
            frozenset(self.Q) - self.left,
            parts,
        )

    # ---- terms -----------------------------------------------------------------------------------

    def _groups(self) -> list[_TermGroup]:
        """Terms of positions and constants, by products of constants."""
        t, n = self.t, len(self.x)
        sums: dict[Monomial, dict[str, list[list[Scalar]]]] = {}
        hidden: dict[Monomial, set[int]] = {}
        for name, nodes in self.Q.items():
            for k, polynomial in enumerate(self._polynomials(nodes)):
                for monomial, c in polynomial.items():
                    parts = self._separate(monomial)
                    if parts is None:
                        self.left.add(name)
                        continue
                    key, rest = parts
                    row = sums.setdefault(key, {}).setdefault(name, [[] for _ in range(n)])
                    row[k].append(self._product(rest) * c)
                    hidden.setdefault(key, set()).update(self._constants(i for i, _ in rest))
        return [
            _TermGroup(
                key,
                {
                    name: tuple((self._product(key) * sum_scalars(t, e)).i for e in row)
                    for name, row in by_load.items()
                },
                frozenset(hidden[key]),
            )
            for key, by_load in sums.items()
        ]

    def _polynomials(self, nodes: Field) -> list[Polynomial]:
        """The components multiplied out; each as one term where that is too long."""
        from dalembert.symbolic.algebra.normal_form.quotient_ring import TooLong

        try:
            return [multiply_out(self.t, e) for e in nodes]
        except TooLong:
            # too many terms to separate: the load is one term
            return [{((e, 1),): Fraction(1)} if e != self.t.zero else {} for e in nodes]

    def _separate(self, monomial: Monomial) -> tuple[Monomial, Monomial] | None:
        """Constants and the rest of a product; None where it holds more than positions."""
        key, rest = list[tuple[int, int]](), list[tuple[int, int]]()
        for i, power in monomial:
            inside = symbols_of(self.t, [i])
            if not all(self._is_constant(s) or s in self.x for s in inside):
                return None
            (key if all(map(self._is_constant, inside)) else rest).append((i, power))
        return tuple(key), tuple(rest)

    def _is_constant(self, i: int) -> bool:
        return i not in self.t.moving and i not in self.t.inputs

    def _constants(self, nodes: Iterable[int]) -> list[int]:
        return [s for s in symbols_of(self.t, list(nodes)) if self._is_constant(s)]

    def _product(self, monomial: Monomial) -> Scalar:
        result = Scalar(self.t, self.t.one)
        for i, power in monomial:
            result = result * Scalar(self.t, i) ** power
        return result

    # ---- groups ----------------------------------------------------------------------------------

    def _merge_dependent(self, groups: list[_TermGroup]) -> list[_TermGroup]:
        """Groups whose products of constants differ by constants inside functions, joined: these
        products are not independent.
        """
        leader = list(range(len(groups)))

        def find(j: int) -> int:
            while leader[j] != j:
                j = leader[j]
            return j

        for j, k in combinations(range(len(groups)), 2):
            ratio = dict(groups[j].key)
            for i, power in groups[k].key:
                ratio[i] = ratio.get(i, 0) - power
            differing = set(self._constants(i for i, power in ratio.items() if power))
            if differing <= groups[j].hidden | groups[k].hidden:
                leader[find(k)] = find(j)
        sets: dict[int, list[_TermGroup]] = {}
        for j, group in enumerate(groups):
            sets.setdefault(find(j), []).append(group)
        return [joined for members in sets.values() for joined in self._join_groups(members)]

    def _join_groups(self, members: list[_TermGroup]) -> list[_TermGroup]:
        """One group of several; the several where the one has no potential."""
        if len(members) == 1:
            return members
        n = len(self.x)
        names = dict.fromkeys(name for g in members for name in g.fields)
        together = _TermGroup(
            (),
            {
                name: _sum_fields(self.t, n, [g.fields[name] for g in members if name in g.fields])
                for name in names
            },
            frozenset().union(*(g.hidden for g in members)),
        )
        return [together] if self._potential(together) is not None else members

    def _potential(self, group: _TermGroup) -> Scalar | None:
        """V of a group that is a gradient as a whole, at once or load by load."""
        from dalembert.analysis.integrals.conservative_loads import is_closed, potential_of_field

        t, n = self.t, len(self.x)
        total = group.total(t, n)
        if not is_closed(self.kin, total, self.x):
            return None
        V = potential_of_field(self.kin, total, self.x)
        if V is not None or len(group.fields) == 1:
            return V
        each = [
            potential_of_field(self.kin, f, self.x) if is_closed(self.kin, f, self.x) else None
            for f in group.fields.values()
        ]
        known = [V for V in each if V is not None]
        return sum_scalars(t, known) if len(known) == len(each) else None


def _sum_fields(t: Tape, n: int, fields: Iterable[Field]) -> Field:
    total = Column(t, [t.zero] * n)
    for f in fields:
        total += Column(t, f)
    return tuple(total.nodes)


# ---- multiplying out -----------------------------------------------------------------------------


def multiply_out(t: Tape, e: int) -> Polynomial:
    """An expression as a sum of products of nodes; functions and sums below fractions stay nodes.

    TooLong where there are more than some hundred terms.
    """
    from dalembert.symbolic.algebra.normal_form.quotient_ring import TooLong

    opaque = _opaque_nodes(t, e)
    values: dict[int, Polynomial] = {i: {((i, 1),): Fraction(1)} for i in opaque}
    for i in dependencies(t, [e], opaque):
        op, a, b = t.nodes[i]
        if op == "const":
            values[i] = {(): Fraction(a)} if a else {}
        elif op == "neg":
            values[i] = {m: -c for m, c in values[a].items()}
        elif op in ("add", "sub"):
            values[i] = _combine(values[a], values[b], 1 if op == "add" else -1)
        elif op == "mul":
            values[i] = _multiply(values[a], values[b])
        elif op == "div":
            values[i] = _multiply(values[a], _inverse(values[b], b))
        else:
            values[i] = {((i, 1),): Fraction(1)}
        if len(values[i]) > _MAX_TERMS:
            msg = f"more than {_MAX_TERMS} terms"
            raise TooLong(msg)
    return values[e]


def _opaque_nodes(t: Tape, e: int) -> set[int]:
    """Functions: nothing inside them is multiplied out."""
    known = ("const", "symbol", "pi", "add", "sub", "neg", "mul", "div")
    return {i for i in dependencies(t, [e]) if t.nodes[i][0] not in known}


def _combine(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, Fraction(0)) + sign * c
    return {m: c for m, c in total.items() if c}


def _multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    from dalembert.symbolic.algebra.normal_form.quotient_ring import TooLong

    if len(a) * len(b) > _MAX_TERMS**2:
        msg = f"more than {_MAX_TERMS} terms"
        raise TooLong(msg)
    total: Polynomial = {}
    for m, c in a.items():
        for n, d in b.items():
            powers = dict(m)
            for i, k in n:
                powers[i] = powers.get(i, 0) + k
            product = tuple(sorted((i, k) for i, k in powers.items() if k))
            total[product] = total.get(product, Fraction(0)) + c * d
    return {m: c for m, c in total.items() if c}


def _inverse(polynomial: Polynomial, node: int) -> Polynomial:
    """1/b, factor by factor where b is one product."""
    if len(polynomial) == 1:
        ((m, c),) = polynomial.items()
        return {tuple((i, -k) for i, k in m): 1 / c}
    return {((node, -1),): Fraction(1)}
