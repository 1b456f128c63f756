"""theta.dot → theta_dot: names that a language accepts, each once, and the head of every exported
file, which explains its contents.

The head names the system, the order of state, inputs and constants, and what was renamed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from dalembert.exchange.exports.exported_model import ExportedModel, Variable
from dalembert.symbolic.algebra.printing.symbol_names import GREEK

LETTERS: Final = {letter: name for name, letter in GREEK.items() if name != "lam"}


def ascii_identifier(name: str) -> str:
    """Letters, digits and underscores that say the same: θ₁.dot → theta1_dot."""
    text = (
        name.replace("''", "_ddot")
        .replace("'", "_dot")
        .replace(".dot.dot", "_ddot")
        .replace(".dot", "_dot")
    )
    text = "".join(LETTERS.get(c, c) for c in text)
    text = unicodedata.normalize("NFKD", text)
    text = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_") or "x"
    return f"x{text}" if text[0].isdigit() else text


def word_set(text: str) -> frozenset[str]:
    """The words of a text, such as the keywords of a language."""
    return frozenset(text.split())


def file_name(title: str) -> str:
    """Double pendulum → double_pendulum"""
    return ascii_identifier(title).lower()


def identifiers(
    wanted: Iterable[str], reserved: Iterable[str], *, case_insensitive: bool = False
) -> dict[str, str]:
    """{name: identifier}: each identifier once and none of the reserved; `folded` where a language
    ignores case.
    """

    def key(text: str) -> str:
        return text.lower() if case_insensitive else text

    taken = {key(r) for r in reserved}
    assigned: dict[str, str] = {}
    for name in wanted:
        candidate = ascii_identifier(name)
        while key(candidate) in taken:
            candidate += "_"
        taken.add(key(candidate))
        assigned[name] = candidate
    return assigned


def renamed_names(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The names that a language could not take as they are (theta.dot as theta_dot goes without
    saying).
    """
    return [
        (name, new)
        for name, new in names.items()
        if new != ascii_identifier(name)
        or ascii_identifier(name) != name.replace(".dot.dot", "_ddot").replace(".dot", "_dot")
    ]


def header_lines(
    model: ExportedModel, names: Mapping[str, str], *, first: int = 0
) -> Iterator[str]:
    """Lines without comment marks; `first` is the number of the first entry of an array."""
    yield f"{model.title}: equations of motion, written by dalembert"
    if model.source:
        yield f"Source: {model.source}"
    yield ""
    yield (
        f"State x = (q, u), {len(model.q)} coordinates and {len(model.u)} speeds; rates by "
        f"{ascii_text(model.route)}."
    )
    yield from _variable_lines("x", model.states, first)
    if model.inputs:
        yield "Inputs w"
        yield from _variable_lines("w", model.inputs, first)
    if model.parameters:
        yield "Constants p"
        for p in model.parameters:
            number = "no value in the description: give one" if p.value is None else repr(p.value)
            yield f"  {names[p.name]} = {number}"
    if model.outputs:
        yield "Outputs y"
        yield from _variable_lines("y", model.outputs, first)
    if model.rows:
        yield "Constraint rows: " + "; ".join(map(ascii_text, model.rows))
    renamed = renamed_names(names)
    if renamed:
        yield "Renamed for this language: " + ", ".join(
            f"{ascii_text(old)} -> {new}" for old, new in renamed
        )
    yield from map(ascii_text, model.notes)


def _variable_lines(array: str, variables: Sequence[Variable], first: int) -> Iterator[str]:
    for k, x in enumerate(variables, first):
        start = "" if x.value is None else f", {x.value!r} at the start"
        yield f"  {array}[{k}]  {ascii_text(x.name)}{start}"


def ascii_text(text: str) -> str:
    """Some compilers and boards read nothing else."""
    spelled = "".join(LETTERS.get(c, c) for c in text)
    spelled = spelled.replace("ᵀ", "^T").replace("−", "-").replace("·", "*").replace("̇", "'")
    return spelled.encode("ascii", "replace").decode()
