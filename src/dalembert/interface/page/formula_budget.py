"""The budget of a page for formulas: normal forms that are computed quickly, long fragments
compressed; for the rest the command that prints it.

Of many long expressions most turn out to be too long to be read. The count of operations decides,
not the clock, so that the same page comes out on every computer.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import field, replace
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.report.document_blocks import Block, Display, FormulaSpan, paragraph
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HtmlRenderer
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.short_frame import component_nodes, has_many_frames
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.principles.derivation import Derivation, Step
from dalembert.symbolic.algebra.expression_graph import operands
from dalembert.symbolic.algebra.normal_form.expansion import operation_count
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm
from dalembert.symbolic.algebra.printing.print_tree import (
    ZERO,
    Equality,
    Factors,
    Group,
    OmittedPart,
    SignedTerms,
    Tree,
)
from dalembert.symbolic.algebra.tape import LEAVES, Tape

# operations of expressions that may be tried without result, and in all, before only short ones are
# tried
_MAX_WASTED: Final = 8_000
_MAX_SPENT: Final = 60_000
_SHORT: Final = 40
# operations of long expressions that are written with their intermediates: in one display, and in
# all of a page
_IN_ONE: Final = 4_000
_WITH_INTERMEDIATES: Final = 12_000
# operations of the vectors of large systems for which the shortest frame is searched
_IN_SHORT_VECTORS: Final = 600


class WorkBudget:
    """What was tried, and how much of it without result."""

    def __init__(self) -> None:
        self.wasted, self.spent, self.written, self.shortened = 0, 0, 0, 0
        # tapes are kept, so that none is taken for another
        self.known: dict[tuple[int, int], tuple[Tape, RationalForm | None]] = {}
        self.shown: dict[tuple[int, int], Tree] = {}
        # equations, and the operations that they took of those that may be written with their
        # intermediates
        self.equations: dict[tuple[Hashable, ...], tuple[Tape, Display, int]] = {}
        # single equations; the tape is held, as its number stands for it
        self.rows: dict[tuple[Hashable, ...], tuple[Tape, Equality | None]] = {}

    def reserve(self, operations: int) -> bool:
        """Whether this number of operations may still be written with their intermediates."""
        fits = operations <= self.remaining
        self.written += operations if fits else 0
        return fits

    @property
    def remaining(self) -> int:
        """How many operations may still be written with their intermediates at once."""
        return min(_IN_ONE, _WITH_INTERMEDIATES - self.written)

    def record(self, operations: int, *, in_vain: bool) -> None:
        """Remember what an attempt cost."""
        self.spent += operations
        self.wasted += operations if in_vain else 0

    @property
    def has_budget(self) -> bool:
        """Whether long expressions are still tried."""
        return self.wasted <= _MAX_WASTED and self.spent <= _MAX_SPENT


@dataclass(frozen=True)
class BudgetedFormulaWriter(FormulaWriter):
    """Formulas whose normal forms are remembered, and given up where there is no hope."""

    most_rows: int | None = 24
    budget: WorkBudget = field(default_factory=WorkBudget)

    def normal_form(self, tape: Tape, i: int) -> RationalForm | None:
        """The normal form, where it was found or may be found."""
        key = _original_node(tape, i)
        known = self.budget.known.get(key)
        if known is not None:
            return known[1]
        form = None
        if not _exceeds(tape, (i,), _SHORT) or self.budget.has_budget:
            form = super().normal_form(tape, i)
            self.budget.record(operation_count(tape, (i,)), in_vain=form is None)
        self.budget.known[key] = (tape, form)
        return form

    def shortest_vectors(
        self, vectors: Sequence[Vector], tape: Tape, home: Frame | None = None
    ) -> list[Vector]:
        """The shortest forms; of large systems only until the budget for them is used up."""
        if any(has_many_frames(v) for v in vectors):
            self.budget.shortened += sum(
                operation_count(v.tape, component_nodes(v)) for v in vectors
            )
            if self.budget.shortened > _IN_SHORT_VECTORS:
                return [v.on(tape) for v in vectors]
        return super().shortest_vectors(vectors, tape, home)

    def expression_tree(self, tape: Tape, i: int, form: RationalForm | None) -> Tree:
        """The formula, built once for all derivations that share it."""
        if form is None:
            return super().expression_tree(tape, i, form)
        key = _original_node(tape, i)
        if key not in self.budget.shown:
            self.budget.shown[key] = super().expression_tree(tape, i, form)
        return self.budget.shown[key]

    def equations(
        self, tape: Tape, residuals: Sequence[int], unknowns: Sequence[int], rates: Sequence[int]
    ) -> Display:
        """Built once for the equations and for the last step of their derivation."""
        key = id(tape), tuple(residuals), tuple(unknowns), tuple(rates)
        known = self.budget.equations.get(key)
        if known is not None and (not known[2] or self.budget.reserve(known[2])):
            return known[1]
        before = self.budget.written
        display = super().equations(tape, residuals, unknowns, rates)
        self.budget.equations[key] = tape, display, self.budget.written - before
        return display

    def readable_equation(
        self, tape: Tape, residual: int, unknowns: Sequence[str], rates: Sequence[str]
    ) -> Equality | None:
        """Built once for all derivations and steps that have the same residual."""
        key = _original_node(tape, residual), tuple(unknowns), tuple(rates)
        if key not in self.budget.rows:
            row = super().readable_equation(tape, residual, unknowns, rates)
            self.budget.rows[key] = tape, row
        return self.budget.rows[key][1]

    def long_scalars(
        self, tape: Tape, nodes: tuple[int, ...]
    ) -> tuple[tuple[Equality, ...], list[Tree]]:
        """With their intermediates, as long as a page has room for them; then with a message."""
        return (
            super().long_scalars(tape, nodes)
            if self._fits_budget(tape, nodes)
            else ((), [OmittedPart() for _ in nodes])
        )

    def long_equations(
        self, tape: Tape, residuals: list[int], unknowns: Sequence[int]
    ) -> tuple[tuple[Equality, ...], list[Equality]]:
        """The same for equations."""
        if self._fits_budget(tape, tuple(residuals)):
            return super().long_equations(tape, residuals, unknowns)
        return (), [Equality(OmittedPart(), ZERO) for _ in residuals]

    def _fits_budget(self, tape: Tape, nodes: tuple[int, ...]) -> bool:
        """Whether there is room for some expressions; they are counted to the end only where
        there is.
        """
        return not _exceeds(tape, nodes, self.budget.remaining) and self.budget.reserve(
            operation_count(tape, nodes)
        )


def _original_node(tape: Tape, i: int) -> tuple[int, int]:
    """The tape on which a node was made, from any fork, and the node."""
    while tape.parent is not None and i < tape.forked_at:
        tape = tape.parent
    return id(tape), i


def _exceeds(tape: Tape, nodes: tuple[int, ...], most: int) -> bool:
    """Whether expressions take more operations than that; the count stops where they do."""
    seen: set[int] = set()
    stack = list(nodes)
    while stack and len(seen) <= most:
        k = stack.pop()
        if k not in seen and tape.nodes[k][0] not in LEAVES:
            seen.add(k)
            stack += operands(*tape.nodes[k])
    return len(seen) > most


# ---- fragments -------------------------------------------------------------------------------

# shorter ones are not compressed
_SHORT_FRAGMENT: Final = 12_000
# formulas of one display, and intermediates below it, beyond which a page is no place to read them
MOST_LINES: Final = 60
MOST_DEFINITIONS: Final = 120
# quantities of one step of a derivation
MOST_ITEMS: Final = 24


class CompressingRenderer(HtmlRenderer):
    """HTML that counts the packed fragments of a page, and remembers displays that occur in several
    places.
    """

    def __init__(self) -> None:
        self.count = 0
        # displays are kept, so that none is taken for another
        self._written: dict[int, tuple[Display, tuple[str, str]]] = {}

    def render_display(self, display: Display) -> tuple[str, str]:
        """The lines of a display and its intermediates, written once."""
        if id(display) not in self._written:
            self._written[id(display)] = display, super().render_display(display)
        return self._written[id(display)][1]

    def text(self, blocks: Iterable[Block]) -> str:
        """Blocks with their lists of intermediates folded; what is long is left to the script."""
        return self._compress(super().text(blocks))

    def _collapsible(self, count: str, below: str) -> str:
        """with 12 intermediates, and the formulas below it"""
        return f'<details class="with"><summary>{count}</summary>{self._compress(below)}</details>'

    def _compress(self, html: str) -> str:
        """The fragment itself, or a place that the script fills from a compressed block."""
        if len(html) <= _SHORT_FRAGMENT:
            return html
        self.count += 1
        packed = base64.b64encode(zlib.compress(html.encode(), 9)).decode("ascii")
        waiting = '<p class="quiet">A long formula: it is unfolded by the script of this page.</p>'
        block = (
            f'<script type="application/octet-stream" id="packed-{self.count}">{packed}</script>'
        )
        return f'<div data-packed="packed-{self.count}">{waiting}</div>{block}'


class StepLimiter:
    """Steps with as many quantities as a page can show, and how many each of them lacks, by its
    title.
    """

    def __init__(self) -> None:
        self.missing: dict[str, int] = {}

    def step(self, step: Step) -> Step:
        """The first quantities of a step."""
        if len(step.items) > MOST_ITEMS:
            self.missing[step.title] = len(step.items) - MOST_ITEMS
        return replace(step, items=step.items[:MOST_ITEMS])

    def derivation(self, d: Derivation) -> Derivation:
        """The same for every step of a derivation."""
        return replace(d, quantities=tuple(map(self.step, d.steps)))


def truncate_displays(blocks: list[Block], command: str) -> list[Block]:
    """The same blocks, with the rest of very long displays counted; `command` prints them all."""
    result: list[Block] = []
    for block in blocks:
        result.append(block)
        if isinstance(block, Display) and (
            len(block.lines) > MOST_LINES or len(block.definitions) > MOST_DEFINITIONS
        ):
            result[-1] = replace(
                block,
                lines=block.lines[:MOST_LINES],
                definitions=block.definitions[:MOST_DEFINITIONS],
            )
            missing = (
                max(0, len(block.lines) - MOST_LINES),
                max(0, len(block.definitions) - MOST_DEFINITIONS),
            )
            parts = [
                f"{n} more {what}"
                for n, what in zip(missing, ("lines", "intermediates"), strict=True)
                if n
            ]
            result.append(
                paragraph(
                    f"… and {' and '.join(parts)}: too long for a page; {command} prints them all.",
                    quiet=True,
                )
            )
        if isinstance(block, Display) and has_omissions(block):
            result.append(
                paragraph(
                    f"… stands for what is too long for a page; {command} prints it.", quiet=True
                )
            )
    return result


def has_omissions(display: Display) -> bool:
    """Whether something in its lines was too long to be written."""
    return any(
        isinstance(line.right, FormulaSpan) and _tree_has_omissions(line.right.tree)
        for line in display.lines
    )


def _tree_has_omissions(tree: Tree) -> bool:
    """Whether something in it was left out."""
    match tree:
        case OmittedPart():
            return True
        case Equality(left) | Group(left):
            return _tree_has_omissions(left)
        case SignedTerms(parts):
            return any(_tree_has_omissions(part) for _, part in parts)
        case Factors(factors):
            return any(map(_tree_has_omissions, factors))
    return False
