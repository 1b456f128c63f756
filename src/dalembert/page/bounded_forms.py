"""Normal forms where they can be had soon: of many long expressions most turn out to be too long to be read.

The count of operations decides, not the clock, so that the same page comes out on every computer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dalembert.algebra.normal_form.forms import Form
from dalembert.algebra.normal_form.normal import operation_count
from dalembert.algebra.tape import Tape
from dalembert.report.writing import Writing

# operations of expressions that may be tried in vain, and in all, before only short ones are tried
_IN_VAIN: Final = 12_000
_IN_ALL: Final = 60_000
_SHORT: Final = 40


class Patience:
    """What was tried, and how much of it in vain."""

    def __init__(self) -> None:
        self.in_vain, self.in_all = 0, 0
        # tapes are kept, so that none is taken for another
        self.known: dict[tuple[int, int], tuple[Tape, Form | None]] = {}

    @property
    def lasts(self) -> bool:
        """Whether long expressions are still tried."""
        return self.in_vain <= _IN_VAIN and self.in_all <= _IN_ALL


@dataclass(frozen=True)
class BoundedForms(Writing):
    """Formulas whose normal forms are remembered, and given up where there is no hope."""

    patience: Patience = field(default_factory=Patience)

    def form_of(self, tape: Tape, i: int) -> Form | None:
        """The normal form, where it was found or may be found."""
        known = self.patience.known.get((id(tape), i))
        if known is not None:
            return known[1]
        operations = operation_count(tape, (i,))
        form = super().form_of(tape, i) if operations <= _SHORT or self.patience.lasts else None
        self.patience.in_all += operations
        self.patience.in_vain += operations if form is None else 0
        self.patience.known[id(tape), i] = (tape, form)
        return form
