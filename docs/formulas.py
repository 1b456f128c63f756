"""Formulas in prose: $∂T/∂q̇$ in a page is typeset as MathML when the pages are built; a browser
needs no script for it.

A formula without a backslash is Unicode as the principles state theirs, any other is LaTeX that our
printers know.
"""

from __future__ import annotations

from typing import Any, NoReturn

from latex_reading import math
from typed_formulas import latex_formula


def typeset(formula: str, *, block: bool = False) -> str:
    """A <math> element; statements side by side on a line of their own keep a distance."""
    latex = formula if "\\" in formula else latex_formula(formula)
    return math(latex.replace(", ", r",\quad ") if block else latex, block=block)


def inline(translator: Any, node: Any) -> None:
    """A formula inside a line."""
    translator.body.append(typeset(node.astext()))
    _leave()


def display(translator: Any, node: Any) -> None:
    """A formula on a line of its own."""
    translator.body.append(
        f'<div class="formula">{typeset(node.astext().strip(), block=True)}</div>'
    )
    _leave()


def _leave() -> NoReturn:
    """There is nothing more to visit in the node."""
    from docutils.nodes import SkipNode

    raise SkipNode
