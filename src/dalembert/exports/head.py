"""What stands at the head of every exported file: the system, the order of state, inputs and constants, and what was renamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dalembert.exports.model import Model, Variable
from dalembert.exports.names import LETTERS, changed


def head(model: Model, names: Mapping[str, str], *, first: int = 0) -> list[str]:
    """Lines without comment marks; `first` is the number of the first entry of an array."""
    return list(_lines(model, names, first))


def _lines(model: Model, names: Mapping[str, str], first: int) -> Iterator[str]:
    yield f"{model.title}: equations of motion, written by dalembert"
    if model.source:
        yield f"Source: {model.source}"
    yield ""
    yield f"State x = (q, u), {len(model.q)} coordinates and {len(model.u)} speeds; rates by {_ascii(model.route)}."
    yield from _listed("x", model.states, first)
    if model.inputs:
        yield "Inputs w"
        yield from _listed("w", model.inputs, first)
    if model.parameters:
        yield "Constants p"
        for p in model.parameters:
            number = "no value in the description: give one" if p.value is None else repr(p.value)
            yield f"  {names[p.name]} = {number}"
    if model.outputs:
        yield "Outputs y"
        yield from _listed("y", model.outputs, first)
    if model.rows:
        yield "Constraint rows: " + "; ".join(map(_ascii, model.rows))
    renamed = changed(names)
    if renamed:
        yield "Renamed for this language: " + ", ".join(f"{_ascii(old)} -> {new}" for old, new in renamed)
    yield from map(_ascii, model.notes)


def _listed(array: str, variables: Sequence[Variable], first: int) -> Iterator[str]:
    for k, x in enumerate(variables, first):
        start = "" if x.value is None else f", {x.value!r} at the start"
        yield f"  {array}[{k}]  {_ascii(x.name)}{start}"


def _ascii(text: str) -> str:
    """Some compilers and boards read nothing else."""
    spelled = "".join(LETTERS.get(c, c) for c in text)
    spelled = spelled.replace("ᵀ", "^T").replace("−", "-").replace("·", "*").replace("̇", "'")
    return spelled.encode("ascii", "replace").decode()
