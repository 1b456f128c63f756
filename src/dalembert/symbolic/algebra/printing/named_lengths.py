"""r = |P − Q|: lengths that keep their own symbols in print, and their definitions.

Only printing replaces them. What is computed and proved contains the roots themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dalembert.symbolic.algebra.expression_graph import Substitution, dependencies
from dalembert.symbolic.algebra.tape import Tape


def replace_lengths(tape: Tape, nodes: Sequence[int]) -> tuple[Tape, list[int]]:
    """The expressions with the symbol of every named length, on a tape of their own."""
    present = _lengths_in(tape, nodes)
    if not present:
        return tape, list(nodes)
    named = tape.fork()
    named.lengths = {}
    symbols = {name: named.moving_symbol(name) for name in dict.fromkeys(present.values())}
    replace = Substitution(named, {i: symbols[name] for i, name in present.items()})
    return named, [replace(i) for i in nodes]


def length_definitions(tape: Tape, nodes: Iterable[int]) -> dict[str, int]:
    """{name: root} of the named lengths that the expressions contain."""
    present = _lengths_in(tape, list(nodes))
    definitions: dict[str, int] = {}
    for i, name in tape.lengths.items():
        if i in present:
            definitions.setdefault(name, i)
    return definitions


def _lengths_in(tape: Tape, nodes: Sequence[int]) -> dict[int, str]:
    if not tape.lengths:
        return {}
    return {i: tape.lengths[i] for i in dependencies(tape, nodes) if i in tape.lengths}
