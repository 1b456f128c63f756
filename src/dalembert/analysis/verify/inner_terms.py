"""z = a + b → z = a − b: wrong terms inside the definitions of intermediates.

Each term of a definition carries a mark m of value 1, and each definition an added term of value 0.
A row is linear in most of them, S(m) = S + (m − 1) ∂S/∂m, so that m = 1 − S/(∂S/∂m) corrects it;
the term is wrong by one factor if that value is a term. Likewise τ = −S/(∂S/∂τ) is a term that the
definition lacks. Every hit is put into the definition and passes the exact test, which also decides
where a row is not linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dalembert.analysis.verify.changes import Change, single_term
from dalembert.analysis.verify.reading import Definition, Row
from dalembert.analysis.verify.terms import Terms
from dalembert.analysis.verify.truth import Truth
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.verdict import TimeLimit
from dalembert.symbolic.algebra.expression_graph import (
    Substitution,
    dependencies,
    gradient,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar


@dataclass(frozen=True)
class InnerMark:
    """A mark of a row, the definition it belongs to, and its place there; −1 for the added term."""

    node: int
    definition: Definition
    place: int


class InnerSearch:
    """The changes of one term in one definition that correct a row."""

    def __init__(self, truth: Truth, terms: Terms, row: Row, place: int, clock: TimeLimit) -> None:
        assert row.deep is not None
        self.truth, self.terms, self.row, self.place = truth, terms, row, place
        self.clock, self.tape, self.p = clock, truth.tape, terms.prime
        self.deep, self.plain = row.deep.i, _plain_marks(truth, row)
        inside = set(symbols_of(self.tape, (self.deep,)))
        marks = (m for d in row.definitions for m in _marks_of(d))
        self.marks = [m for m in marks if m.node in inside]

    def changes(self) -> Iterator[Change]:
        """All changes of one term of a definition, for the exact test to confirm."""
        t, p = self.tape, self.p
        row = self.truth.in_u(self.deep)
        nodes = [m.node for m in self.marks]
        outs = [row, *gradient(t, {row: t.one}, nodes)]
        ones = {node: int(value == t.one) for node, value in self.plain.items()}
        samples = self.terms.samples
        # once for all points
        dependencies(t, outs)
        columns = []
        for point in (*samples.points, samples.check):
            sigma, *slopes = point.with_values(ones, ()).values(outs)
            inverses = _inverses([x if isinstance(x, int) else 0 for x in slopes], p)
            columns.append([-sigma * x % p for x in inverses] if isinstance(sigma, int) else [])
        if not all(columns):
            return
        for mark, quotients in zip(self.marks, zip(*columns, strict=True), strict=True):
            if self.clock.is_exceeded:
                return
            if all(quotients):
                yield from self._solve_change(mark, quotients)

    def _solve_change(self, mark: InnerMark, quotients: Sequence[int]) -> Iterator[Change]:
        """The factor, or the added term, that makes the row vanish."""
        start = 0 if mark.place < 0 else 1
        v = [(start + x) % self.p for x in quotients]
        if not any(v):
            yield self._change(mark, None)
            return
        for factor in self.terms.recognise(v, outer=False):
            if single_term(self.tape, factor) is not None:
                yield self._change(mark, factor)

    def _change(self, mark: InnerMark, new: Scalar | None) -> Change:
        """The change with its effect on the row."""
        t, definition = self.tape, mark.definition
        inner = mark.node, t.zero if new is None else new.i
        changed = Substitution(t, {**self.plain, inner[0]: inner[1]})(self.deep)
        effect = Scalar(t, changed) - self.row.value
        if mark.place < 0:
            old, after, (kind, size), span = None, new, ("missing", 1), None
        else:
            old, span = self._term_of(mark), definition.spans[mark.place]
            after, (kind, size) = None if new is None else new * old, _kind_of(new)
        return Change(
            self.place,
            old,
            after,
            kind,
            size,
            span,
            effect=effect,
            definition=definition,
            inner=inner,
        )

    @staticmethod
    def holds_with(truth: Truth, row: Row, change: Change) -> bool:
        """Whether another row holds after the change of a definition."""
        assert change.inner is not None
        t = truth.tape
        if row.deep is None or change.inner[0] not in symbols_of(t, (row.deep.i,)):
            return True
        marks = {**_plain_marks(truth, row), change.inner[0]: change.inner[1]}
        return truth.zero([Substitution(t, marks)(row.deep.i)]).zero[0] is True

    def _term_of(self, mark: InnerMark) -> Scalar:
        """∂(definition)/∂m as it was written, with its intermediates by name."""
        t, d = self.tape, mark.definition
        slope = gradient(t, {d.named().i: t.one}, [mark.node])[0]
        return Scalar(t, Substitution(t, dict.fromkeys(d.marks, t.one))(slope))


def _inverses(values: Sequence[int], p: int) -> list[int]:
    """1/x modulo p for each, with one inversion; 0 for 0."""
    before, product = [], 1
    for x in values:
        before.append(product)
        product = product * (x or 1) % p
    inverse = pow(product, -1, p)
    result = [0] * len(values)
    for k in range(len(values) - 1, -1, -1):
        x = values[k]
        if x:
            result[k] = inverse * before[k] % p
            inverse = inverse * x % p
    return result


def _plain_marks(truth: Truth, row: Row) -> dict[int, int]:
    """{mark: 1, added term: 0}"""
    t = truth.tape
    return {m.node: t.zero if m.place < 0 else t.one for d in row.definitions for m in _marks_of(d)}


def _marks_of(d: Definition) -> Iterator[InnerMark]:
    yield from (InnerMark(node, d, k) for k, node in enumerate(d.marks))
    yield InnerMark(d.added, d, -1)


def _kind_of(factor: Scalar | None) -> tuple[str, int]:
    """What a factor on a term is called, and its size."""
    if factor is None:
        return "too many", 1
    term = single_term(factor.tape, factor)
    assert term is not None
    if not term.powers:
        return ("sign" if term.coefficient == -1 else "factor"), 1
    up = sum(k for _, k in term.powers if k > 0)
    down = -sum(k for _, k in term.powers if k < 0)
    return "wrong name or index", max(up, down) + (term.coefficient != 1)
