"""What may be called what."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Sequence

from dalembert.errors import BadDescription
from dalembert.symbolic.algebra.tape import FUNCTIONS

RESERVED = frozenset({"t", "pi", "dot", "tan", "tanh", "atan2", *FUNCTIONS})
LONGEST = 100
_SHAPE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def check_name(name: str, taken: dict[str, str]) -> str:
    """The name if it can be used; otherwise an error that says why not and what to do."""
    if not isinstance(name, str) or not name:
        msg = f"a name is missing: got {name!r}"
        raise BadDescription(msg)
    if not _SHAPE.fullmatch(name):
        # printing is opened only by those who need it
        from dalembert.symbolic.algebra.printing.symbol_names import GREEK

        several = (
            "; several are declared by s.coordinates('x y')"
            if all(map(_SHAPE.fullmatch, split_names(name)))
            else ""
        )
        letter = next((word for word, letter in GREEK.items() if letter == name), "")
        plain = "use letters, digits and _, beginning with a letter (theta_1 prints as θ₁)"
        cure = f"write {letter!r}, which prints as {name}" if letter else plain
        symbol, equals, value = name.partition("=")
        if equals and _SHAPE.fullmatch(symbol):
            cure = f"give its value as a keyword, s.constants({symbol}={value or '1'})"
        msg = f"{name!r:.60} cannot be a name: {cure}{several}"
        raise BadDescription(msg)
    if len(name) > LONGEST:
        msg = f"a name of {len(name)} letters, {name[:20]}…: at most {LONGEST} can be read"
        raise BadDescription(msg)
    if name in RESERVED or keyword.iskeyword(name):
        msg = f"{name!r} is reserved; choose another name"
        raise BadDescription(msg)
    if name in taken:
        article = "an" if taken[name][0] in "aeiou" else "a"
        msg = (
            f"{name!r} is declared already, as {article} {taken[name]}; names are used once in "
            f"a "
            f"system"
        )
        raise BadDescription(msg)
    return name


_SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def parse_display_name(text: str) -> str:
    """θ₁ → θ1: what may be printed for a symbol, in the spelling that the printers read."""
    # printing is opened only by those who need it
    from dalembert.symbolic.algebra.printing.symbol_names import LATEX_LETTERS

    letters = f"A-Za-z{''.join(LATEX_LETTERS)}"
    plain = (
        re.sub("[₀-₉]+", lambda found: f"_{found[0].translate(_SMALL)}", text)
        if isinstance(text, str)
        else ""
    )
    if not re.fullmatch(rf"[{letters}]+[0-9]*(?:_[{letters}0-9]+)*", plain):
        msg = (
            f"{text!r:.60} cannot be displayed for a symbol: use Latin or Greek letters and "
            f"indices, such as 'θ', 'θ₁', 'omega_B'"
        )
        raise BadDescription(msg)
    return plain


def unused_name(wanted: str, taken: Container[str], joint: str = "_") -> str:
    """The name, or with the first number from 2 on that nothing has."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}{joint}{number}"
    return name


def split_names(names: str | Sequence[str]) -> list[str]:
    """The single names in "x y z" or "x, y, z", or in a list of such texts."""
    texts = (
        names
        if isinstance(names, list | tuple) and all(isinstance(n, str) for n in names)
        else [names]
    )
    single_names = [
        name for text in texts if isinstance(text, str) for name in text.replace(",", " ").split()
    ]
    if not single_names:
        msg = f'expected names such as "x y theta", got {names!r:.60}'
        raise BadDescription(msg)
    return single_names
