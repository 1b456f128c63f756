"""Names of symbols and expressions as HTML: u_delta as mathematics, beta - pi as β − π."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.symbolic.algebra.printing.mathml import math
from dalembert.symbolic.algebra.printing.symbol_names import superscript, unicode_name

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.tape import Tape

_SEMANTICS: Final = re.compile(
    r"</?semantics>|<annotation.*?</annotation>| xmlns=\"[^\"]*\"", flags=re.DOTALL
)
# a name with its rates, no function
_NAME: Final = re.compile(r"[A-Za-z]\w*(?:\.d*dot\b|'+)?(?![\w(])")
_RATES: Final = {".dot": "'", ".ddot": "''"}
_SIGNS: Final = {"-": "−", "*": "·"}


def symbol_html(tape: Tape, name: str) -> str:
    """A symbol as the equations print it."""
    writing = FormulaWriter().on(tape)
    return _SEMANTICS.sub("", math(writing.symbol(name.replace(".dot", "'")).tree))


def expression_html(text: str) -> str:
    """time(beta - pi, up) → time(β − π, up): an expression as programs write it, with its letters
    and signs as books print them.
    """
    names = _NAME.sub(lambda found: unicode_name(_with_primes(found[0])), text)
    powers = re.sub(r"\*\*(\d+)", lambda found: superscript(int(found[1])), names)
    signs = re.sub(r"(?<!e)[-*]", lambda found: _SIGNS[found[0]], powers)
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", escape(signs))


def _with_primes(name: str) -> str:
    stem, dot, rate = name.partition(".")
    return stem + _RATES.get(dot + rate, dot + rate)
