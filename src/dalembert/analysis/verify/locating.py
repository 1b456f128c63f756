"""τ = t_j − σ: every change of one written term that makes a false row true.

σ is the row where the true accelerations are put in. Replacing the term t_j by τ corrects the row
if
and only if τ = t_j − σ there; a missing term is −σ, one too many is t_j = σ. Whether such a value
is a
term is looked up (`terms`). Every hit is applied and passes the exact test.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from fractions import Fraction

from dalembert.analysis.verify.changes import (
    Change,
    Written,
    distance,
    is_right,
    single_term,
    span_of,
    written_terms,
)
from dalembert.analysis.verify.inner_terms import InnerSearch
from dalembert.analysis.verify.matching import match_quantity, match_rows
from dalembert.analysis.verify.reading import MARK, Row
from dalembert.analysis.verify.terms import Terms, terms_of
from dalembert.analysis.verify.truth import Truth
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.verdict import TimeLimit
from dalembert.symbolic.algebra.exact.zero_test import BadPoint
from dalembert.symbolic.algebra.expression_graph import Substitution, gradient, symbols_of
from dalembert.symbolic.algebra.normal_form.rational_form import Atom, RationalForm, Term, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar

Correction = tuple[Change, ...]
SECONDS = 3.0
MOST_FOR_PAIRS = 40


@dataclass
class Search:
    """The changes of one row that correct it."""

    truth: Truth
    terms: Terms
    row: Row
    place: int
    clock: TimeLimit
    # {the same function: the smallest change}
    changes: dict[object, Change] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tape, self.p = self.truth.tape, self.terms.prime
        self.written, self.below = written_terms(self.tape, self.row)
        own = self.row.value if self.below is None else self.row.value * self.below
        self.sigma = self.terms.samples.values(own.i)
        self._values: dict[int, list[int]] = {}
        self._inside = set(symbols_of(self.tape, (self.row.value.i,)))
        self.written = [w for w in self.written if not self._is_given(w)]

    def _single(self, e: Scalar) -> Term | None:
        """The expression as one term, kept for the system."""
        store: dict[int, Term | None] = self.truth.kept.setdefault("single terms", {})
        if e.i not in store:
            store[e.i] = single_term(self.tape, e)
        return store[e.i]

    def _is_given(self, w: Written) -> bool:
        """Whether a term is the quantity that the row is about."""
        unwritten = bool(self.row.spans) and not w.marks
        return unwritten or any(x in self.truth.opaque for x in symbols_of(self.tape, (w.value.i,)))

    def values(self, node: int) -> list[int]:
        """The values of a node at the points, kept."""
        if node not in self._values:
            self._values[node] = self.terms.samples.values(node)
        return self._values[node]

    def _add(self, old: Written | None, new: Scalar | None) -> None:
        after = None if new is None else self._single(new)
        if new is not None and after is None:
            return
        size, kind = distance(old.term if old else None, after)
        before = None if old is None else old.value
        span = None if old is None else span_of(self.row, old.marks)
        right = self.row.is_about_left if old is None else is_right(self.row, old.marks)
        change = Change(self.place, before, new, kind, size, span, right=right)
        key = self.terms.key(self.truth.in_u(change.difference.i))
        kept = self.changes.get(key)
        if kept is None or self._order(kept) > self._order(change):
            self.changes[key] = change

    def _order(self, change: Change) -> tuple[int, bool, int, int]:
        """The smallest change first, of a written term, in the fewest factors and the symbols of
        the row.
        """
        term = None if change.new is None else self._single(change.new)
        powers = () if term is None else term.powers
        strange = sum(
            self.tape.names.get(a.name) not in self._inside for a, _ in powers if a.op == "symbol"
        )
        return change.distance, change.old is None, sum(abs(k) for _, k in powers), strange

    def one_term(self, shift: Sequence[int] | None = None) -> list[Change]:
        """All changes of one term, the smallest first; `shift` is what another change has added to
        the row.
        """
        self.changes = {}
        sigma = self.sigma
        if shift is not None:
            sigma = [(a + b) % self.p for a, b in zip(sigma, shift, strict=True)]
        self._missing(sigma)
        for w in self.written:
            self._replace_term(w, sigma)
        changes = sorted(self.changes.values(), key=lambda c: c.distance)
        return [self._as_written(c) for c in changes]

    def as_written(self) -> list[Change]:
        """The same for a row with a denominator, term by term as it was written."""
        whole = self.written, self.below, self.sigma
        self.written = [w for w in self._marked_terms() if not self._is_given(w)]
        self.below, self.sigma = None, self.terms.samples.values(self.row.value.i)
        changes = self.one_term()
        self.written, self.below, self.sigma = whole
        return changes

    def _marked_terms(self) -> Iterator[Written]:
        """The written addends that are single terms."""
        for k, group in enumerate(self._groups()):
            term = self._single(group)
            if term is not None:
                yield Written(term, group, (k,))

    def _as_written(self, change: Change) -> Change:
        """The change as written in the row, which may have a denominator."""
        return change if self.below is None else change.divided(self.below)

    def _missing(self, sigma: list[int]) -> None:
        for new in self.terms.recognise([-x % self.p for x in sigma]):
            term = self._single(new)
            same = [w for w in self.written if term and dict(w.term.powers) == dict(term.powers)]
            for w in same:
                assert term is not None
                self._add(w, w.value + new if w.term.coefficient + term.coefficient else None)
            if not same:
                self._add(None, new)

    def _replace_term(self, w: Written, sigma: list[int]) -> None:
        """t_j replaced by one term, or multiplied by one."""
        own = self.values(w.value.i)
        v = [(a - b) % self.p for a, b in zip(own, sigma, strict=True)]
        if not any(v):
            self._add(w, None)
            self._invisible(w)
            return
        for new in self.terms.recognise(v):
            self._add(w, new)
        if all(own):
            ratio = [a * pow(b, -1, self.p) % self.p for a, b in zip(v, own, strict=True)]
            for factor in self.terms.recognise(ratio):
                self._add(w, factor * w.value)

    def _invisible(self, w: Written) -> None:
        """An acceleration that vanishes in every motion may be meant in place of another."""
        t, accelerations = self.tape, self.truth.accelerations
        hidden = [a for a in accelerations if not any(self.values(a))]
        for a in hidden:
            for atom, _ in w.term.powers:
                if t.names.get(atom.name) in accelerations and t.names[atom.name] != a:
                    new = Atom("symbol", str(t.nodes[a][1]))
                    powers = tuple((new if x == atom else x, n) for x, n in w.term.powers)
                    self._add(w, to_scalar(RationalForm((Term(w.term.coefficient, powers),)), t))

    def _groups(self) -> list[Scalar]:
        """∂(row)/∂(mark): what each mark was multiplied with."""
        t = self.tape
        symbols = [t.symbol(f"{MARK}{k}") for k in range(len(self.row.spans))]
        one = Substitution(t, dict.fromkeys(symbols, t.one))
        slopes = gradient(t, {self.row.marked.i: t.one}, symbols) if symbols else []
        return [Scalar(t, one(slope)) for slope in slopes]

    # ---- groups --------------------------------------------------------------------------------

    def groups(self) -> Iterator[Change]:
        """A bracket such as (M + m) x'' with another factor."""
        t = self.tape
        sigma = self.terms.samples.values(self.row.value.i)
        for k, group in enumerate(self._groups()):
            # a bracket is not one term
            if t.nodes[group.i][0] in ("symbol", "const") or self._single(group) is not None:
                continue
            own = self.terms.samples.values(group.i)
            if not all(own):
                continue
            ratio = [(a - b) * pow(a, -1, self.p) % self.p for a, b in zip(own, sigma, strict=True)]
            for factor in self.terms.recognise(ratio) if any(ratio) else ():
                change = self._group_change(k, group, factor)
                if change is not None:
                    yield change

    def _group_change(self, k: int, group: Scalar, factor: Scalar) -> Change | None:
        """The bracket number k times a factor; None where the factor is not one term."""
        term = self._single(factor)
        if term is None:
            return None
        return Change(
            self.place,
            group,
            factor * group,
            "sign" if not term.powers and term.coefficient == -1 else "factor",
            1 if not term.powers else sum(abs(n) for _, n in term.powers) + 1,
            self.row.spans[k],
            group=True,
            right=k >= self.row.right,
            bracket=self._bracket(k),
            factor=factor,
        )

    def _bracket(self, k: int) -> str | None:
        """A bracket with named intermediates, as it was written."""
        start, stop = self.row.spans[k]
        return self.row.text[start:stop] if self.row.definitions else None

    # ---- two errors ----------------------------------------------------------------------------

    def two_terms(self) -> Iterator[Correction]:
        """One change from a short list (sign, 2, ½, none), the other free."""
        if len(self.written) > MOST_FOR_PAIRS:
            return
        for w in self.written:
            v = self.values(w.value.i)
            for factor, kind in (
                (Fraction(-1), "sign"),
                (Fraction(2), "factor"),
                (Fraction(1, 2), "factor"),
                (Fraction(0), "too many"),
            ):
                if self.clock.is_exceeded:
                    return
                f = factor - 1
                shift = [x * f.numerator * pow(f.denominator, -1, self.p) % self.p for x in v]
                new = None if not factor else factor * w.value
                plain = Change(
                    self.place,
                    w.value,
                    new,
                    kind,
                    1,
                    span_of(self.row, w.marks),
                    right=is_right(self.row, w.marks),
                )
                first = self._as_written(plain)
                for other in self.one_term(shift):
                    if other.old is None or first.old is None or other.old.i != first.old.i:
                        yield first, other


class Locator:
    """The smallest corrections of the wrong rows of an answer, each confirmed by the exact test."""

    def __init__(
        self,
        truth: Truth,
        rows: list[Row],
        *,
        right: Collection[int] = (),
        seconds: float = SECONDS,
    ) -> None:
        self.truth, self.rows, self.seconds = truth, rows, seconds
        # rows that hold, which a change of a definition must leave true
        self.right = right

    def corrections(self, place: int, *, free: bool, pairs: bool = True) -> list[Correction]:
        """All equally small corrections of one row; none where one or two terms are not enough."""
        row, clock = self.rows[place], TimeLimit(self.seconds)
        try:
            terms = terms_of(self.truth, [row.value], free=free)
            search = Search(self.truth, terms, row, place, clock)
        except BadPoint:
            return []
        changes = [*search.one_term(), *search.groups()]
        changes += search.as_written() if search.below is not None else []
        inner: list[Change] = []
        if row.deep is not None:
            inner = list(InnerSearch(self.truth, terms, row, place, clock).changes())
        single = [(c,) for c in (*inner, *changes)]
        good = self._confirm_corrections(single, place, free=free)
        if not good and pairs:
            matched = (
                match_quantity(self.truth, row, place)
                if free
                else match_rows(self.truth, row, place)
            )
            good = self._confirm_corrections(matched, place, free=free)
            if not good or size_of(good[0]) > 2:
                good += self._pairs(search, place, free=free)
        return smallest(good, lambda node: terms.key(self.truth.in_u(node)))

    def _pairs(self, search: Search, place: int, *, free: bool) -> list[Correction]:
        good: list[Correction] = []
        for option in search.two_terms():
            if search.clock.is_exceeded:
                break
            if not good or size_of(option) <= size_of(good[0]):
                good += self._confirm_corrections([option], place, free=free)
        return good

    def _confirm_corrections(
        self, options: Sequence[Correction], place: int, *, free: bool
    ) -> list[Correction]:
        """Those after which the row holds and still says something; larger ones are not tried once
        some hold.
        """
        good: list[Correction] = []
        for option in sorted(options, key=size_of):
            if good and size_of(option) > size_of(good[0]):
                break
            if self._holds(option, place, free=free):
                good.append(option)
        return good

    def corrected(self, option: Correction, place: int) -> Scalar:
        """The row with its terms changed."""
        total = self.rows[place].value
        for change in option:
            total = total + change.difference
        return total

    def _holds(self, option: Correction, place: int, *, free: bool) -> bool:
        row = self.corrected(option, place)
        if row.i == self.truth.tape.zero or self.truth.zero([row.i], free=free).zero[0] is not True:
            return False
        if not all(self._keeps_others(change, place) for change in option):
            return False
        return free or self._says_something(row.i, self.rows[place].value.i)

    def _keeps_others(self, change: Change, place: int) -> bool:
        """Whether the other rows that hold still do with the new definition."""
        if change.definition is None:
            return True
        others = [self.rows[k] for k in self.right if k != place]
        return all(InnerSearch.holds_with(self.truth, row, change) for row in others)

    def _says_something(self, new: int, old: int) -> bool:
        """Whether accelerations are left in a row that had some; 0 = 0 corrects nothing."""
        t, truth = self.truth.tape, self.truth
        y = truth.unknowns
        written = truth.in_u(old)
        samples = terms_of(truth, (), free=False).samples
        if set(symbols_of(t, (written,))).isdisjoint(y):
            return bool(samples.distinct.real_value(new))
        slopes = gradient(t, {truth.in_u(new): t.one}, y)
        return any(samples.points[0].real_value(e) for e in slopes)


def size_of(option: Correction) -> int:
    """The number of symbols and coefficients that change."""
    return sum(change.distance for change in option)


def smallest(options: Sequence[Correction], key: Callable[[int], int]) -> list[Correction]:
    """All corrections of the least size, each once; changes of terms before changes of brackets."""
    least = min(map(size_of, options), default=0)
    unique: dict[object, Correction] = {}
    for option in options:
        if size_of(option) == least:
            unique.setdefault(frozenset(key(c.difference.i) for c in option), option)
    return sorted(unique.values(), key=_first_column)


def _first_column(option: Correction) -> float:
    """Where the first change stands; missing terms come last."""
    return min((float(c.span[0]) for c in option if c.span is not None), default=float("inf"))
