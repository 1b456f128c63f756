"""Scalars, vectors, symbols and equations in one of two notations: Unicode for the terminal, LaTeX for paper."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Self

from dalembert.algebra.formula import Formula as Tree
from dalembert.algebra.normal_form.forms import Form
from dalembert.algebra.printing import ranking_for, readable
from dalembert.algebra.printing.equation import equation
from dalembert.algebra.printing.formula_text import FormulaText
from dalembert.algebra.printing.layout import Printer
from dalembert.algebra.printing.names import GREEK, displayed, latex_name, parts, unicode_name
from dalembert.algebra.printing.notation import Latex, Notation, Text
from dalembert.algebra.printing.zform import equations_with_intermediates, intermediates
from dalembert.algebra.tape import Tape
from dalembert.geometry.frame import Frame
from dalembert.geometry.vector import Vector
from dalembert.report.blocks import Display, Formula, Line, Span
from dalembert.report.breaking import is_sum
from dalembert.report.formulas import latex_formula
from dalembert.report.latex import escaped, length

# matrices that fit on a page: letters across, and columns (LaTeX has no more)
WIDEST: Final = 84
MOST_COLUMNS: Final = 10
# T, theta_1', F*_2: what may stand for a symbol in a label
_SYMBOL: Final = re.compile(r"([^\W\d_]+)(\*?)(\d*(?:_[^\W_]+)*'*)")
# a name inside a formula, and what makes a label a formula
_NAME: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]\w*'*")
_MATHEMATICS: Final = re.compile(r"[∂−/_₀-₉\u0300-\u036f]")


@dataclass(frozen=True)
class Writing:
    """What the builders of a report ask for; `notation` decides what they get."""

    notation: Notation = field(default_factory=Text)

    def on(self, tape: Tape) -> Self:
        """The same with the display names of a tape's symbols."""
        return replace(self, notation=Text(tape.displays))

    @property
    def displays(self) -> Mapping[str, str]:
        """What is printed for symbols where that is not their own name."""
        return getattr(self.notation, "displays", {})

    # ---- scalars -----------------------------------------------------------------------------

    def scalars(self, tape: Tape, nodes: Sequence[int]) -> tuple[list[str], tuple[str, ...]]:
        """Each expression, and the intermediates shared by those that are too long to be read in full."""
        forms = [None if tape.nodes[i][0] == "symbol" else self.form_of(tape, i) for i in nodes]
        long = [i for i, form in zip(nodes, forms, strict=True) if form is None and tape.nodes[i][0] != "symbol"]
        definitions, results = intermediates(tape, tuple(dict.fromkeys(long)), self.notation) if long else ([], [])
        shown = dict(zip(dict.fromkeys(long), (self.notation.sum([(p.negative, p.text)]) for p in results), strict=True))
        written = [shown[i] if i in shown else self._form(tape, i, form) for i, form in zip(nodes, forms, strict=True)]
        return written, tuple(definitions)

    def form_of(self, tape: Tape, i: int) -> Form | None:
        """The normal form, unless it is too long to be read."""
        return readable(tape, i)

    def _form(self, tape: Tape, i: int, form: Form | None) -> str:
        if form is None:
            return self.notation.symbol(str(tape.nodes[i][1]))
        return Printer(self.notation, ranking_for(tape, form)).form(form)

    def scalar(self, tape: Tape, i: int) -> Formula:
        """One expression."""
        (written,), definitions = self.scalars(tape, (i,))
        return Formula(written, definitions)

    # ---- equations ---------------------------------------------------------------------------

    def equations(self, tape: Tape, residuals: Sequence[int], unknowns: Sequence[int], rates: Sequence[int]) -> Display:
        """residual = 0, accelerations and rates on the left; long ones share their intermediates."""
        names = [[str(tape.nodes[i][1]) for i in symbols] for symbols in (unknowns, rates)]
        forms = [self.form_of(tape, r) for r in residuals]
        long = [r for r, form in zip(residuals, forms, strict=True) if form is None]
        definitions, results = equations_with_intermediates(tape, long, unknowns, self.notation) if long else ([], [])
        rest = iter(results)
        written = [next(rest) if form is None else self._equation(tape, form, *names) for form in forms]
        return Display(tuple(Line(Formula(w)) for w in written), tuple(definitions))

    def _equation(self, tape: Tape, form: Form, unknowns: Sequence[str], rates: Sequence[str]) -> str:
        sides, ranking = equation(form, tape, unknowns, rates)
        printer = Printer(self.notation, ranking)
        return self.notation.equation(printer.form(sides.left), printer.form(sides.right))

    # ---- vectors -----------------------------------------------------------------------------

    def vector(self, v: Vector) -> Formula:
        """Σ component · axis, frame by frame."""
        entries = components(v)
        written, definitions = self.scalars(v.tape, [c for _, _, c in entries])
        return Formula(self.along_axes((F, axis, w) for (F, axis, _), w in zip(entries, written, strict=True)), definitions)

    def along_axes(self, components: Iterable[tuple[Frame, str, str]]) -> str:
        """Components that are written already, each with its axis."""
        n = self.notation
        one, zero = n.number(Fraction(1)), n.number(Fraction(0))
        terms: list[tuple[bool, str]] = []
        for F, axis, component in components:
            unit = self.axis(F, axis)
            if is_sum(component):
                terms.append((False, self.times_axis(n.group(component), unit)))
                continue
            size = component.lstrip("−-")
            terms.append((size != component, unit if size == one else self.times_axis(size, unit)))
        return n.sum(terms) if terms else zero

    def axis(self, F: Frame, axis: str) -> str:
        """A unit vector, as a program writes it: B.x"""
        return f"{GREEK.get(F.name, F.name)}.{axis}"

    def times_axis(self, component: str, unit: str) -> str:
        """A component and its unit vector."""
        return f"{component} {unit}"

    def in_words(self, first: str, words: str, then: str = "") -> str:
        """Formulas with words between them."""
        return f"{first}{words}{then}"

    def matrix(self, rows: Sequence[Sequence[str]]) -> Formula | None:
        """Rows between brackets; None where they would not fit on a page."""
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        if sum(widths) + 2 * len(widths) > WIDEST or len(widths) > MOST_COLUMNS:
            return None
        lines = ["  ".join(entry.center(width) for entry, width in zip(row, widths, strict=True)) for row in rows]
        if len(lines) == 1:
            return Formula(f"[ {lines[0]} ]")
        left, right = (top + middle * (len(lines) - 2) + bottom for top, middle, bottom in ("⎡⎢⎣", "⎤⎥⎦"))
        return Formula("\n".join(f"{a} {line} {b}" for a, line, b in zip(left, lines, right, strict=True)))

    # ---- names and general formulas ----------------------------------------------------------

    def symbol(self, name: str) -> Formula:
        """A symbol of the system."""
        return Formula(self.notation.symbol(name))

    def listed(self, names: Iterable[str]) -> tuple[Span, ...]:
        """Symbols with commas between them."""
        return tuple(span for name in names for span in (", ", self.symbol(name)))[1:]

    def general(self, formula: str | Tree) -> Formula:
        """A formula that holds for every system, as a tree or typed in Unicode."""
        return Formula(self.unicode(formula))

    def unicode(self, formula: str | Tree) -> str:
        """A formula in Unicode, with the symbols of the model as they are displayed."""
        return formula if isinstance(formula, str) else FormulaText(Text(self.displays).symbol)(formula)

    def label(self, label: str | Tree, names: Container[str]) -> tuple[Span, ...]:
        """What a quantity of a step is called: T, F₁*, ∂H/∂θ, v of disk; words where nothing looks like a symbol."""
        if not isinstance(label, str):
            return (self.general(label),)
        head, of, place = label.partition(" of ")
        symbol = _SYMBOL.fullmatch(head)
        letter, underscore, index = head.partition("_")
        if underscore and len(letter) == 1 and index in names and (index in self.displays or parts(index).subscripts):
            return (Formula(self.indexed(letter, index)), of + place)
        if symbol and (head in names or len(symbol[1]) == 1 or symbol[1] in GREEK):
            return (Formula(self.starred(*symbol.groups())), of + place)
        if _MATHEMATICS.search(head):
            printed = _NAME.sub(lambda found: unicode_name(displayed(found[0], self.displays)) if found[0] in names else found[0], head)
            return (self.general(printed), of + place)
        return (label,)

    def starred(self, letters: str, star: str, tail: str) -> str:
        """F*_1 → F₁*, p_theta → p_θ"""
        name = parts(letters + tail)
        if not any(s in GREEK for s in name.subscripts):
            return self.notation.symbol(letters + tail) + star
        return self.notation.symbol(letters + "'" * name.dots) + star + "".join(f"_{GREEK.get(s, s)}" for s in name.subscripts)

    def indexed(self, letter: str, index: str) -> str:
        """Q_θ₁: a quantity of one coordinate."""
        return f"{letter}_{self.notation.symbol(index)}"

    def partial(self, quantity: str, variable: str) -> Formula:
        """∂v/∂u₁: how a velocity depends on a speed."""
        return Formula(f"∂{quantity}/∂{self.notation.symbol(variable)}")


def components(v: Vector) -> list[tuple[Frame, str, int]]:
    """(frame, axis, node) of every component that is not zero."""
    return [(F, axis, c) for F, triple in v.parts.items() for axis, c in zip("xyz", triple, strict=True) if c != v.tape.zero]


@dataclass(frozen=True)
class LatexWriting(Writing):
    """The same in LaTeX."""

    notation: Notation = field(default_factory=Latex)

    def on(self, tape: Tape) -> Self:
        return replace(self, notation=Latex(tape.displays))

    def axis(self, F: Frame, axis: str) -> str:
        name = latex_name(F.name) if F.name.isidentifier() else f"\\text{{{escaped(F.name)}}}"
        return f"\\mathbf{{e}}^{{{name}}}_{{{axis}}}"

    def times_axis(self, component: str, unit: str) -> str:
        return f"{component}\\,{unit}"

    def general(self, formula: str | Tree) -> Formula:
        return Formula(latex_formula(self.unicode(formula)))

    def starred(self, letters: str, star: str, tail: str) -> str:
        shown = self.notation.symbol(letters + tail) if letters.isascii() else latex_formula(letters + tail)
        return shown + "^{*}" * bool(star)

    def partial(self, quantity: str, variable: str) -> Formula:
        return Formula(f"\\frac{{\\partial {latex_formula(quantity)}}}{{\\partial {self.notation.symbol(variable)}}}")

    def indexed(self, letter: str, index: str) -> str:
        return f"{latex_formula(letter)}_{{{self.notation.symbol(index)}}}"

    def in_words(self, first: str, words: str, then: str = "") -> str:
        return f"{first}\\text{{{escaped(words)}}}{then}"

    def matrix(self, rows: Sequence[Sequence[str]]) -> Formula | None:
        widths = [max(map(length, column)) for column in zip(*rows, strict=True)]
        if sum(widths) + 2 * len(widths) > WIDEST or len(widths) > MOST_COLUMNS:
            return None
        # in braces, so that no line is broken inside
        return Formula("{\\begin{bmatrix} " + " \\\\ ".join(" & ".join(row) for row in rows) + " \\end{bmatrix}}")
