"""What all parts are written with: sections, tabs, tables, numbers, and the letters of the energies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from shlex import quote
from typing import Final

from dalembert.algebra.printing.names import displayed, superscript, unicode_name
from dalembert.model.system import System

# the letters of the energies, set as mathematics
_LETTERS: Final = re.compile(r"E_Z|σ_R|K̇₂|K[₀₁₂]|\b[KETVZC]\b(?! is)")
# as programs write rates, and as names carry them
_DOTS: Final = {"": "", "dot": "'", "ddot": "''"}
_LOWERED: Final = {"E_Z": "<i>E<sub>Z</sub></i>", "σ_R": "<i>σ<sub>R</sub></i>"}


def section(identity: str, title: str, *inside: str) -> str:
    """A part with its heading."""
    head = f'<h2 id="{identity}-title">{escape(title)}</h2>'
    return f'<section id="{identity}" aria-labelledby="{identity}-title">{head}{"".join(inside)}</section>'


def typeset(text: str) -> str:
    """Plain words with the energies in italics and their indices lowered."""
    return _LETTERS.sub(lambda found: _LOWERED.get(found[0], f"<i>{found[0]}</i>"), escape(text))


def shown_name(system: System, name: str) -> str:
    """psi.dot → ψ̇: a symbol or its rate as a book prints it; expressions as they are."""
    stem, _, rate = name.partition(".")
    return unicode_name(displayed(stem + _DOTS[rate], system.space.tape.displays)) if stem.isidentifier() and rate in _DOTS else name


def short(x: float) -> str:
    """1.9 × 10⁻¹⁰"""
    if x == 0:
        return "0"
    digits, _, exponent = f"{x:.1e}".partition("e")
    return f"{x:.3g}" if -3 <= int(exponent) < 4 else f"{digits.removesuffix('.0')} × 10{superscript(int(exponent))}"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of HTML under headings."""
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    above = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table>{above}<tbody>{body}</tbody></table>"


def switch(label: str, family: str, titles: Sequence[tuple[str, str]], chosen: int = 0) -> str:
    """Buttons of which one is chosen: (identity of the panel, title) each."""
    buttons = "".join(
        f'<button role="tab" type="button" aria-controls="{family}-{name}" aria-selected="{str(k == chosen).lower()}" '
        f'tabindex="{0 if k == chosen else -1}">{escape(title)}</button>'
        for k, (name, title) in enumerate(titles)
    )
    return f'<div class="tabs" role="tablist" aria-label="{escape(label)}">{buttons}</div>'


def panel(kind: str, family: str, name: str, title: str, inside: str, *, first: bool) -> str:
    """What a button of a switch shows."""
    hidden = "" if first else " hidden"
    return f'<div class="{kind}" role="tabpanel" id="{family}-{name}" aria-label="{escape(title)}"{hidden}>{inside}</div>'


def lowered(html: str) -> str:
    """A fragment whose headings stand one level deeper."""
    return html.replace("<h2>", "<h3>").replace("</h2>", "</h3>")


def shell_name(name: str) -> str:
    """A system as the command line takes it."""
    return quote(name) if name else "SYSTEM"
