"""Normal forms where they can be had soon: of many long expressions most turn out to be too long to be read.

The count of operations decides, not the clock, so that the same page comes out on every computer.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from dalembert.algebra.folds import operands
from dalembert.algebra.normal_form.forms import Form
from dalembert.algebra.normal_form.normal import operation_count
from dalembert.algebra.printing.tree import ZERO, Sides, TooLongToWrite, Tree
from dalembert.algebra.tape import LEAVES, Tape
from dalembert.report.blocks import Display
from dalembert.report.writing import Writing

# operations of expressions that may be tried in vain, and in all, before only short ones are tried
_IN_VAIN: Final = 8_000
_IN_ALL: Final = 60_000
_SHORT: Final = 40
# operations of long expressions that are written with their intermediates: in one display, and in all of a page
_IN_ONE: Final = 4_000
_WITH_INTERMEDIATES: Final = 12_000


class Patience:
    """What was tried, and how much of it in vain."""

    def __init__(self) -> None:
        self.in_vain, self.in_all, self.written = 0, 0, 0
        # tapes are kept, so that none is taken for another
        self.known: dict[tuple[int, int], tuple[Tape, Form | None]] = {}
        self.shown: dict[tuple[int, int], Tree] = {}
        # equations, and the operations that they took of those that may be written with their intermediates
        self.equations: dict[tuple[Hashable, ...], tuple[Tape, Display, int]] = {}

    def allows(self, operations: int) -> bool:
        """Whether so many operations may still be written with their intermediates."""
        fits = operations <= self.room
        self.written += operations if fits else 0
        return fits

    @property
    def room(self) -> int:
        """How many operations may still be written with their intermediates at once."""
        return min(_IN_ONE, _WITH_INTERMEDIATES - self.written)

    def tried(self, operations: int, *, in_vain: bool) -> None:
        """Remember what an attempt cost."""
        self.in_all += operations
        self.in_vain += operations if in_vain else 0

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
        key = _home(tape, i)
        known = self.patience.known.get(key)
        if known is not None:
            return known[1]
        form = None
        if not _takes_more(tape, (i,), _SHORT) or self.patience.lasts:
            form = super().form_of(tape, i)
            self.patience.tried(operation_count(tape, (i,)), in_vain=form is None)
        self.patience.known[key] = (tape, form)
        return form

    def written(self, tape: Tape, i: int, form: Form | None) -> Tree:
        """The formula, made once for all derivations that share it."""
        if form is None:
            return super().written(tape, i, form)
        key = _home(tape, i)
        if key not in self.patience.shown:
            self.patience.shown[key] = super().written(tape, i, form)
        return self.patience.shown[key]

    def equations(self, tape: Tape, residuals: Sequence[int], unknowns: Sequence[int], rates: Sequence[int]) -> Display:
        """Made once for the equations and for the last step of their derivation."""
        key = id(tape), tuple(residuals), tuple(unknowns), tuple(rates)
        known = self.patience.equations.get(key)
        if known is not None and (not known[2] or self.patience.allows(known[2])):
            return known[1]
        before = self.patience.written
        display = super().equations(tape, residuals, unknowns, rates)
        self.patience.equations[key] = tape, display, self.patience.written - before
        return display

    def long_scalars(self, tape: Tape, nodes: tuple[int, ...]) -> tuple[tuple[Sides, ...], list[Tree]]:
        """With their intermediates, as long as a page has room for them; then with a word."""
        return super().long_scalars(tape, nodes) if self._fit(tape, nodes) else ((), [TooLongToWrite() for _ in nodes])

    def long_equations(self, tape: Tape, residuals: list[int], unknowns: Sequence[int]) -> tuple[tuple[Sides, ...], list[Sides]]:
        """The same for equations."""
        if self._fit(tape, tuple(residuals)):
            return super().long_equations(tape, residuals, unknowns)
        return (), [Sides(TooLongToWrite(), ZERO) for _ in residuals]

    def _fit(self, tape: Tape, nodes: tuple[int, ...]) -> bool:
        """Whether there is room for some expressions; they are counted to the end only where there is."""
        return not _takes_more(tape, nodes, self.patience.room) and self.patience.allows(operation_count(tape, nodes))


def _home(tape: Tape, i: int) -> tuple[int, int]:
    """The tape on which a node was made, whichever fork it is asked of, and the node."""
    while tape.parent is not None and i < tape.forked_at:
        tape = tape.parent
    return id(tape), i


def _takes_more(tape: Tape, nodes: tuple[int, ...], most: int) -> bool:
    """Whether expressions take more operations than that; the count stops where they do."""
    seen: set[int] = set()
    stack = list(nodes)
    while stack and len(seen) <= most:
        k = stack.pop()
        if k not in seen and tape.nodes[k][0] not in LEAVES:
            seen.add(k)
            stack += operands(*tape.nodes[k])
    return len(seen) > most
