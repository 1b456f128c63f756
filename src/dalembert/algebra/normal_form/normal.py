"""The normal form: an expression multiplied out, with sin² + cos² = 1 used up, in the fewest terms.

The tape is evaluated in ℚ[symbols, c, s, …] modulo the relations of its functions (`ring`), so expressions that are equal
as rational functions of symbols, sines and cosines come out equal. Then each angle gets the reduction that leaves the
fewest terms, and sums of angles are merged where that shortens (`angles`).

No principle needs this in order to be right: it is for reading and for counting terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.folds import operations
from dalembert.algebra.normal_form.expansion import Expansion
from dalembert.algebra.normal_form.forms import Form
from dalembert.algebra.normal_form.ring import TooLong
from dalembert.algebra.tape import LEAVES, Tape

__all__ = ["LIMIT", "TooLong", "expanded", "normal_form", "operation_count"]

LIMIT = 20_000


def normal_form(
    tape: Tape, outs: Sequence[int], *, limit: int = LIMIT, longest: int | None = None, order: Sequence[int] | None = None
) -> list[Form]:
    """The normal forms of some expressions; raises TooLong where one passes `limit` terms on the way.

    Where a result has more than `longest` terms before it is shortened, that is not tried and TooLong is raised too.
    `order` lists symbols in the order in which products and sums shall name them; the default, and the order of
    symbols not listed, is that of creation on the tape.
    """
    longest = limit if longest is None else longest
    kept = Expansion(tape, outs, (limit, longest), order, "kept")
    try:
        forms: list[Form] | None = kept.forms()
    except TooLong:
        if not kept.has_sums:
            raise
        forms = None
    if forms is None:
        return Expansion(tape, outs, (limit, longest), order, "expanded").forms()
    return _shortened(tape, outs, forms, limit, order) if kept.has_sums else forms


def _shortened(tape: Tape, outs: Sequence[int], forms: list[Form], limit: int, order: Sequence[int] | None) -> list[Form]:
    """The addition theorems decide, so that equal expressions come out equal, unless angles as written are shorter."""
    longest = min(limit, 100 + 10 * max((f.term_count for f in forms), default=0))
    expansion = Expansion(tape, outs, (limit, longest), order, "expanded")
    try:
        expansion.run()
    except TooLong:
        return forms
    found: list[Form] = []
    for i, kept in zip(outs, forms, strict=True):
        try:
            form = expansion.form(i)
        except TooLong:
            form = kept
        found.append(form if form.term_count <= kept.term_count else kept)
    return found


def expanded(tape: Tape, outs: Sequence[int], *, limit: int = LIMIT, order: Sequence[int] | None = None) -> list[Form]:
    """The expressions multiplied out as they stand, with no identity between functions used: a book's own terms."""
    return Expansion(tape, outs, (limit, limit), order, "as written").forms()


def operation_count(tape: Tape, outs: Sequence[int]) -> int:
    """How many additions, products, divisions, signs and functions it takes to evaluate `outs` together."""
    found = list(operations(tape, outs))
    return len(found) - sum(map(LEAVES.__contains__, found))
