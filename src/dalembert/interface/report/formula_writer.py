"""Scalars, vectors, symbols, equations and the names of quantities as the formulas of a report."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Final, Self

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.report.document_blocks import Display, FormulaSpan, Line, Span
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, symbols_of
from dalembert.symbolic.algebra.formula import Formula, Name, Negative, Partial, Rate, Symbol
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm
from dalembert.symbolic.algebra.printing import (
    length_trees,
    ranking_for,
    readable_equation,
    readable_form,
)
from dalembert.symbolic.algebra.printing.formula_layout import formula_tree
from dalembert.symbolic.algebra.printing.named_lengths import replace_lengths
from dalembert.symbolic.algebra.printing.print_tree import (
    ONE,
    ZERO,
    Equality,
    Factors,
    Group,
    MatrixBrackets,
    NamedSymbol,
    Prose,
    SignedTerms,
    Tree,
    UnitVector,
    split_sign,
    total,
)
from dalembert.symbolic.algebra.printing.term_layout import Naming, Printer, symbol_namer
from dalembert.symbolic.algebra.printing.unicode_notation import Text
from dalembert.symbolic.algebra.tape import Tape

# matrices that fit on a page: letters across, and columns (LaTeX has no more)
MAX_MATRIX_WIDTH: Final = 84
MOST_COLUMNS: Final = 10


def _plain_name(name: str) -> Tree:
    return NamedSymbol(name, name)


@dataclass(frozen=True)
class FormulaWriter:
    """What the builders of a report ask for; `naming` says what is shown for the symbols of the
    model.
    """

    naming: Naming = _plain_name
    # the name of the frame in which every vector of a derivation is written; "" for the shortest
    frame: str = ""
    # letters of general formulas that stand for vectors
    vectors: frozenset[Formula] = frozenset()
    # rows of a table of kinematic coefficients; None for all
    most_rows: int | None = None

    def on(self, tape: Tape) -> Self:
        """The same with the display names of a tape's symbols."""
        return replace(self, naming=symbol_namer(tape))

    # ---- scalars -----------------------------------------------------------------------------

    def scalars(self, tape: Tape, nodes: Sequence[int]) -> tuple[list[Tree], tuple[Equality, ...]]:
        """Each expression, and the intermediates shared by those that are too long to be read in
        full.
        """
        tape, nodes = replace_lengths(tape, nodes)
        forms = [None if tape.nodes[i][0] == "symbol" else self.normal_form(tape, i) for i in nodes]
        long = tuple(
            dict.fromkeys(
                i
                for i, form in zip(nodes, forms, strict=True)
                if form is None and tape.nodes[i][0] != "symbol"
            )
        )
        definitions, results = self.long_scalars(tape, long) if long else ((), [])
        shown = dict(zip(long, results, strict=True))
        return [
            shown[i] if i in shown else self.expression_tree(tape, i, form)
            for i, form in zip(nodes, forms, strict=True)
        ], definitions

    def long_scalars(
        self, tape: Tape, nodes: tuple[int, ...]
    ) -> tuple[tuple[Equality, ...], list[Tree]]:
        """Expressions that are too long to be read in full, and their intermediates."""
        from dalembert.symbolic.algebra.printing.common_subexpressions import intermediates

        return intermediates(tape, nodes, self.naming)

    def long_equations(
        self, tape: Tape, residuals: list[int], unknowns: Sequence[int]
    ) -> tuple[tuple[Equality, ...], list[Equality]]:
        """Equations that are too long to be read in full, and their intermediates."""
        from dalembert.symbolic.algebra.printing.common_subexpressions import (
            equations_with_intermediates,
        )

        return equations_with_intermediates(tape, residuals, unknowns, self.naming)

    def normal_form(self, tape: Tape, i: int) -> RationalForm | None:
        """The normal form, unless it is too long to be read."""
        return readable_form(tape, i)

    def expression_tree(self, tape: Tape, i: int, form: RationalForm | None) -> Tree:
        """A symbol, or what its normal form looks like."""
        if form is None:
            return self.naming(str(tape.nodes[i][1]))
        return Printer(self.naming, ranking_for(tape, form)).form(form)

    def scalar(self, tape: Tape, i: int) -> FormulaSpan:
        """One expression."""
        (written,), definitions = self.scalars(tape, (i,))
        return FormulaSpan(written, definitions)

    # ---- equations ---------------------------------------------------------------------------

    def equations(
        self, tape: Tape, residuals: Sequence[int], unknowns: Sequence[int], rates: Sequence[int]
    ) -> Display:
        """residual = 0, accelerations and rates on the left; long ones share their
        intermediates.
        """
        lengths = tuple(length_trees(tape, residuals))
        tape, residuals = replace_lengths(tape, residuals)
        names = [[str(tape.nodes[i][1]) for i in symbols] for symbols in (unknowns, rates)]
        trees = [self.readable_equation(tape, r, *names) for r in residuals]
        long = [r for r, tree in zip(residuals, trees, strict=True) if tree is None]
        definitions, results = self.long_equations(tape, long, unknowns) if long else ((), [])
        rest = iter(results)
        written = [next(rest) if tree is None else tree for tree in trees]
        return Display(tuple(Line(FormulaSpan(w)) for w in written), (*definitions, *lengths))

    def readable_equation(
        self, tape: Tape, residual: int, unknowns: Sequence[str], rates: Sequence[str]
    ) -> Equality | None:
        """residual = 0, unless it is too long to be read."""
        return readable_equation(tape, residual, unknowns, rates, self.naming)

    def variation_sum(self, tape: Tape, i: int) -> FormulaSpan | None:
        """(…) δx + (…) δθ: a sum collected on virtual displacements; None where it has none."""
        present = symbols_of(tape, (i,))
        variations = [k for k in present if str(tape.nodes[k][1]).startswith("δ")]
        if not variations:
            return None
        own = tape.fork()
        rest, slopes = LinearCoefficients(own, variations)(i)
        order = sorted(slopes)
        written, definitions = self.scalars(own, [slopes[k] for k in order])
        terms = [
            scaled(w, self.naming(str(tape.nodes[variations[k]][1])))
            for k, w in zip(order, written, strict=True)
            if w != ZERO
        ]
        return None if rest != own.zero or not terms else FormulaSpan(total(terms), definitions)

    # ---- vectors -----------------------------------------------------------------------------

    def shortest_vectors(
        self, vectors: Sequence[Vector], tape: Tape, home: Frame | None = None
    ) -> list[Vector]:
        """Vectors of one body in the frame that the reader named, by default in the shortest."""
        from dalembert.mechanics.geometry.short_frame import in_frame, shortest_forms

        frames = {F.name: F for v in vectors for G in v.parts for F in G.space.frames}
        chosen = frames.get(self.frame)
        if chosen is None:
            return shortest_forms(vectors, tape, home)
        return [in_frame(v, tape, chosen) for v in vectors]

    def vector(self, v: Vector) -> FormulaSpan:
        """Σ component · axis, frame by frame."""
        entries = components(v)
        written, definitions = self.scalars(v.tape, [c for _, _, c in entries])
        return FormulaSpan(
            along_axes([(F, axis, w) for (F, axis, _), w in zip(entries, written, strict=True)]),
            definitions,
        )

    # ---- names and general formulas ----------------------------------------------------------

    def symbol(self, name: str) -> FormulaSpan:
        """A symbol of the system."""
        return FormulaSpan(self.naming(name))

    def symbol_list(self, names: Iterable[str]) -> tuple[Span, ...]:
        """Symbols with commas between them."""
        return tuple(span for name in names for span in (", ", self.symbol(name)))[1:]

    def general_formula(self, formula: str | Formula) -> FormulaSpan:
        """A formula that holds for every system; words where a chapter states it in words."""
        return FormulaSpan(
            Prose(formula)
            if isinstance(formula, str)
            else formula_tree(formula, self.naming, self.vectors)
        )


def along_axes(entries: Iterable[tuple[Frame, str, Tree]]) -> Tree:
    """Components, each with its axis."""
    terms: list[tuple[bool, Tree]] = []
    for F, axis, component in entries:
        if component != ZERO:
            terms.append(scaled(component, UnitVector(F.name, axis)))
    return total(terms) if terms else ZERO


def scaled(factor: Tree, of: Tree) -> tuple[bool, Tree]:
    """(a + b) x, −a x, x: whether it is negative, and its size."""
    if isinstance(factor, SignedTerms) and len(factor.parts) > 1:
        return False, Factors((Group(factor), of))
    negative, size = split_sign(factor)
    return negative, of if size == ONE else Factors((size, of))


def matrix(rows: Sequence[Sequence[Tree]]) -> FormulaSpan | None:
    """Rows between brackets; None where they would not fit on a page."""
    widths = [max(len(Text()(x)) for x in column) for column in zip(*rows, strict=True)]
    if sum(widths) + 2 * len(widths) > MAX_MATRIX_WIDTH or len(widths) > MOST_COLUMNS:
        return None
    return FormulaSpan(MatrixBrackets(tuple(map(tuple, rows))))


def components(v: Vector) -> list[tuple[Frame, str, int]]:
    """(frame, axis, node) of every component that is not zero."""
    return [
        (F, axis, c)
        for F, triple in v.parts.items()
        for axis, c in zip("xyz", triple, strict=True)
        if c != v.tape.zero
    ]


_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def quantity_label(
    text: str | Formula, writing: FormulaWriter, names: Container[str], of: str = ""
) -> tuple[Span, ...]:
    """As a formula where it is one, and whose it is."""
    owner = f" of {of}" if of else ""
    if not isinstance(text, str):
        return (writing.general_formula(text), *([owner] if owner else []))
    head, joint, place = text.partition(" of ")
    formula = _formula(head, names)
    tail = f"{joint}{place}{owner}"
    return (
        head if formula is None else writing.general_formula(formula),
        *([tail] if tail else []),
    )


def _formula(head: str, names: Container[str]) -> Formula | None:
    if head in names:
        return Name(head)
    if head.startswith("d/dt "):
        inside = _formula(head.removeprefix("d/dt "), names)
        return None if inside is None else Rate(inside)
    above, slash, below = head.partition("/∂")
    if slash and above.removeprefix("−").startswith("∂") and below in names:
        slope = Partial(_letter(above.removeprefix("−")[1:], names), Name(below))
        return Negative(slope) if above.startswith("−") else slope
    return (
        _letter(head, names)
        if len(head.partition("_")[0].rstrip("*₀₁₂₃₄₅₆₇₈₉")) == 1
        or (head.isalpha() and len(head) == 1)
        else None
    )


def _letter(head: str, names: Container[str]) -> Symbol:
    letter, underscore, index = head.partition("_")
    bare = letter.rstrip("*").rstrip("₀₁₂₃₄₅₆₇₈₉")
    digits = letter.rstrip("*")[len(bare) :].translate(_DIGITS)
    below = (
        (Name(index) if index in names else index,) if underscore else (digits,) if digits else ()
    )
    return Symbol(bare, below, star=letter.endswith("*"))
