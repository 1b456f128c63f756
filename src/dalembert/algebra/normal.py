"""The normal form: an expression multiplied out, with sin² + cos² = 1 used up, in the fewest terms.

The tape is evaluated in ℚ[symbols, c, s, …] modulo the relations of its functions (`ring`), so expressions that are equal
as rational functions of symbols, sines and cosines come out equal. Then each angle gets the reduction that leaves the
fewest terms, and sums of angles are merged where that shortens (`angles`).

No principle needs this in order to be right: it is for reading and for counting terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.expansion import Expansion
from dalembert.algebra.folds import needed
from dalembert.algebra.forms import Form
from dalembert.algebra.ring import TooLong
from dalembert.algebra.tape import LEAVES, Tape

__all__ = ["LIMIT", "TooLong", "expanded", "normal_form", "operation_count"]

LIMIT = 20_000


def normal_form(tape: Tape, outs: Sequence[int], *, limit: int = LIMIT, order: Sequence[int] | None = None) -> list[Form]:
    """The normal forms of some expressions; raises TooLong where one passes `limit` terms on the way.

    `order` lists symbols in the order in which products and sums shall name them; the default, and the order of
    symbols not listed, is that of creation on the tape.
    """
    expansion = Expansion(tape, outs, limit=limit, order=order, angles="expanded")
    try:
        forms = expansion.forms()
    except TooLong:
        if not expansion.has_sums:
            raise
        return Expansion(tape, outs, limit=limit, order=order, angles="kept").forms()
    if not expansion.has_sums:
        return forms
    try:
        kept = Expansion(tape, outs, limit=limit, order=order, angles="kept").forms()
    except TooLong:
        return forms
    # what vanishes by the addition theorems vanishes; otherwise angles stay as written unless others are shorter
    return [f if f.term_count < k.term_count else k for f, k in zip(forms, kept, strict=True)]


def expanded(tape: Tape, outs: Sequence[int], *, limit: int = LIMIT, order: Sequence[int] | None = None) -> list[Form]:
    """The expressions multiplied out as they stand, with no identity between functions used: a book's own terms."""
    return Expansion(tape, outs, limit=limit, order=order, angles="as written").forms()


def operation_count(tape: Tape, outs: Sequence[int]) -> int:
    """How many additions, products, divisions, signs and functions it takes to evaluate `outs` together."""
    return sum(tape.nodes[i][0] not in LEAVES for i in needed(tape, outs))
