"""x = (x₁, …, x_n) and A x: columns and sparse rows of expressions, with the operators that formulas are written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, overload

from dalembert.algebra.folds import gradient
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape

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
        return self._combined(self.tape.add, other)

    def __sub__(self, other: Column) -> Column:
        return self._combined(self.tape.sub, other)

    def _combined(self, rule: Callable[[int, int], int], other: Column) -> Column:
        return Column(self.tape, [rule(a, b) for a, b in zip(self.nodes, other.nodes, strict=True)])

    def __neg__(self) -> Column:
        return self.map(self.tape.neg)

    def __matmul__(self, other: Column) -> Scalar:
        return Scalar(self.tape, contracted(self.tape, zip(self.nodes, other.nodes, strict=True)))

    def map(self, rule: Callable[[int], int]) -> Column:
        """The same rule for every entry: a derivative, a substitution."""
        return Column(self.tape, map(rule, self.nodes))

    def first(self, count: int) -> Column:
        """The upper part."""
        return Column(self.tape, self.nodes[:count])


class Rows:
    """A matrix by its rows {column: entry}, zeros left out: `A @ x`, `A @ B`, `A.T`, `+ -`."""

    __slots__ = ("rows", "tape", "width")

    def __init__(self, tape: Tape, rows: Iterable[Mapping[int, int]], width: int) -> None:
        self.tape, self.rows, self.width = tape, tuple(rows), width

    @classmethod
    def of(cls, tape: Tape, dense: Iterable[Sequence[int]], width: int) -> Rows:
        """From rows that are written in full."""
        return cls(tape, ({k: a for k, a in enumerate(row) if a != tape.zero} for row in dense), width)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __matmul__(self, other: Column) -> Column: ...
    @overload
    def __matmul__(self, other: Rows) -> Rows: ...
    def __matmul__(self, other: Column | Rows) -> Column | Rows:
        t = self.tape
        if isinstance(other, Column):
            return Column(t, (contracted(t, ((a, other.nodes[k]) for k, a in row.items())) for row in self.rows))
        turned = other.T
        return Rows.of(t, ((turned @ Column(t, self._full(row))).nodes for row in self.rows), other.width)

    @property
    def T(self) -> Rows:
        """Aᵀ"""
        columns: list[dict[int, int]] = [{} for _ in range(self.width)]
        for i, row in enumerate(self.rows):
            for k, a in row.items():
                columns[k][i] = a
        return Rows(self.tape, columns, len(self.rows))

    def __add__(self, other: Rows) -> Rows:
        return self._combined(self.tape.add, other)

    def __sub__(self, other: Rows) -> Rows:
        return self._combined(self.tape.sub, other)

    def _combined(self, rule: Callable[[int, int], int], other: Rows) -> Rows:
        return Rows.of(
            self.tape,
            ([rule(x, y) for x, y in zip(a, b, strict=True)] for a, b in zip(self.dense(), other.dense(), strict=True)),
            self.width,
        )

    def map(self, rule: Callable[[int], int]) -> Rows:
        """The same rule for every entry; it must leave zeros alone."""
        return Rows(self.tape, ({k: rule(a) for k, a in row.items()} for row in self.rows), self.width)

    def first(self, count: int) -> Rows:
        """The left part."""
        return Rows(self.tape, ({k: a for k, a in row.items() if k < count} for row in self.rows), count)

    def _full(self, row: Mapping[int, int]) -> list[int]:
        return [row.get(k, self.tape.zero) for k in range(self.width)]

    def dense(self) -> tuple[tuple[int, ...], ...]:
        """Every entry, zeros too."""
        return tuple(tuple(self._full(row)) for row in self.rows)


def contracted(t: Tape, pairs: Iterable[tuple[int, int]], start: int | None = None) -> int:
    """Σ x y, or c + Σ x y"""
    total = t.zero if start is None else start
    for x, y in pairs:
        total = t.add(total, t.mul(x, y))
    return total


def total(tape: Tape, terms: Iterable[Scalar]) -> Scalar:
    """Σ x"""
    return sum(terms, Scalar(tape, tape.zero))


def gathered(t: Tape, pairs: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """{key: Σ of what came with it}"""
    found: dict[Key, int] = {}
    for key, x in pairs:
        found[key] = t.add(found[key], x) if key in found else x
    return found


def slopes(e: Scalar, x: Column) -> Column:
    """∂e/∂x"""
    return Column(x.tape, gradient(x.tape, {e.i: x.tape.one}, x.nodes))


def jacobian(c: Column, x: Column) -> Rows:
    """∂c_i/∂x_k"""
    t = c.tape
    return Rows.of(t, (gradient(t, {e: t.one}, x.nodes) for e in c.nodes), len(x))
