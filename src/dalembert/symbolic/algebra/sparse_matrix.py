"""x = (x₁, …, x_n) and A x: columns and sparse rows of expressions, with the operators that
formulas are written in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import TypeVar, overload

from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import gradient, is_monomial
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

Key = TypeVar("Key")


class Column:
    """Expressions of one tape, one below the other: `+ - *` as usual, `x @ y` is Σ x_k y_k."""

    __slots__ = ("nodes", "tape")

    def __init__(self, tape: Tape, nodes: Iterable[int]) -> None:
        self.tape, self.nodes = tape, tuple(nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[int]:
        return iter(self.nodes)

    def __add__(self, other: Column) -> Column:
        return self._elementwise(self.tape.add, other)

    def __sub__(self, other: Column) -> Column:
        return self._elementwise(self.tape.sub, other)

    def _elementwise(self, rule: Callable[[int, int], int], other: Column) -> Column:
        return Column(self.tape, [rule(a, b) for a, b in zip(self.nodes, other.nodes, strict=True)])

    def __neg__(self) -> Column:
        return self.map(self.tape.neg)

    def __matmul__(self, other: Column) -> Scalar:
        return Scalar(
            self.tape, sum_of_products(self.tape, zip(self.nodes, other.nodes, strict=True))
        )

    def map(self, rule: Callable[[int], int]) -> Column:
        """The same rule for every entry: a derivative, a substitution."""
        return Column(self.tape, map(rule, self.nodes))

    def first(self, count: int) -> Column:
        """The upper part."""
        return Column(self.tape, self.nodes[:count])


class SparseMatrix:
    """A matrix by its rows {column: entry}, zeros left out: `A @ x`, `A @ B`, `A.T`, `+ -`."""

    __slots__ = ("rows", "tape", "width")

    def __init__(self, tape: Tape, rows: Iterable[Mapping[int, int]], width: int) -> None:
        self.tape, self.rows, self.width = tape, tuple(rows), width

    @classmethod
    def from_dense(cls, tape: Tape, dense: Iterable[Sequence[int]], width: int) -> SparseMatrix:
        """From rows that are written in full."""
        return cls(
            tape, ({k: a for k, a in enumerate(row) if a != tape.zero} for row in dense), width
        )

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __matmul__(self, other: Column) -> Column: ...
    @overload
    def __matmul__(self, other: SparseMatrix) -> SparseMatrix: ...
    def __matmul__(self, other: Column | SparseMatrix) -> Column | SparseMatrix:
        t = self.tape
        if isinstance(other, Column):
            return Column(
                t,
                (
                    sum_of_products(t, ((a, other.nodes[k]) for k, a in row.items()))
                    for row in self.rows
                ),
            )
        turned = other.T
        return SparseMatrix.from_dense(
            t, ((turned @ Column(t, self._full(row))).nodes for row in self.rows), other.width
        )

    @property
    def T(self) -> SparseMatrix:
        """Aᵀ"""
        columns: list[dict[int, int]] = [{} for _ in range(self.width)]
        for i, row in enumerate(self.rows):
            for k, a in row.items():
                columns[k][i] = a
        return SparseMatrix(self.tape, columns, len(self.rows))

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        return self._elementwise(self.tape.add, other)

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return self._elementwise(self.tape.sub, other)

    def _elementwise(self, rule: Callable[[int, int], int], other: SparseMatrix) -> SparseMatrix:
        return SparseMatrix.from_dense(
            self.tape,
            (
                [rule(x, y) for x, y in zip(a, b, strict=True)]
                for a, b in zip(self.dense(), other.dense(), strict=True)
            ),
            self.width,
        )

    def map(self, rule: Callable[[int], int]) -> SparseMatrix:
        """The same rule for every entry; it must leave zeros alone."""
        return SparseMatrix(
            self.tape, ({k: rule(a) for k, a in row.items()} for row in self.rows), self.width
        )

    def first(self, count: int) -> SparseMatrix:
        """The left part."""
        return SparseMatrix(
            self.tape, ({k: a for k, a in row.items() if k < count} for row in self.rows), count
        )

    def _full(self, row: Mapping[int, int]) -> list[int]:
        return [row.get(k, self.tape.zero) for k in range(self.width)]

    def dense(self) -> tuple[tuple[int, ...], ...]:
        """Every entry, zeros too."""
        return tuple(tuple(self._full(row)) for row in self.rows)


def sum_of_products(t: Tape, pairs: Iterable[tuple[int, int]], start: int | None = None) -> int:
    """Σ x y, or c + Σ x y"""
    total = t.zero if start is None else start
    for x, y in pairs:
        total = t.add(total, t.mul(x, y))
    return total


def sum_scalars(tape: Tape, terms: Iterable[Scalar]) -> Scalar:
    """Σ x"""
    return sum(terms, Scalar(tape, tape.zero))


def sum_by_key(t: Tape, pairs: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """{key: Σ of what came with it}"""
    sums: dict[Key, int] = {}
    for key, x in pairs:
        sums[key] = t.add(sums[key], x) if key in sums else x
    return sums


def drop_zero_entries(t: Tape, entries: Mapping[Key, int]) -> dict[Key, int]:
    """The entries but for those that were shown to vanish identically."""
    unclear = [e for e in entries.values() if e != t.zero and not is_monomial(t, e)]
    vanishing = {t.zero, *compress(unclear, provably_zero(t, unclear) if unclear else ())}
    return {key: e for key, e in entries.items() if e not in vanishing}


def gradient_column(e: Scalar, x: Column) -> Column:
    """∂e/∂x"""
    return Column(x.tape, gradient(x.tape, {e.i: x.tape.one}, x.nodes))


def jacobian(c: Column, x: Column) -> SparseMatrix:
    """∂c_i/∂x_k"""
    t = c.tape
    return SparseMatrix.from_dense(t, (gradient(t, {e: t.one}, x.nodes) for e in c.nodes), len(x))
