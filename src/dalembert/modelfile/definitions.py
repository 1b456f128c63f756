"""where = { z_1 = "…" }: names for parts of an element's expressions, so that what is read back is made in the order in which it was.

The order in which nodes come onto the tape is the order of the operands of later sums, and so decides on the last bit of a motion. Where
a text would be read in another order, or would be long because parts of it are used several times, these parts stand before it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from dalembert.algebra.folds import operands
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.geometry.dyadic import Dyadic
from dalembert.geometry.vector import Vector
from dalembert.modelfile.expression_text import ExpressionText


def nodes_in(value: Any) -> list[int]:
    """The expressions of an argument, in the order in which a file writes them."""
    if isinstance(value, Scalar):
        return [value.i]
    if isinstance(value, Vector):
        return [i for components in value.parts.values() for i in components]
    if isinstance(value, Dyadic):
        return list(value.entries())
    if isinstance(value, tuple | list):
        return [i for x in value for i in nodes_in(x)]
    return []


def as_read(tape: Tape, roots: Iterable[int], existing: Container[int]) -> list[int]:
    """The operations that a reader makes, in its order, without those that exist: operands from left to right, then the operation."""
    made: dict[int, None] = {}
    for root in roots:
        stack = [(root, False)]
        while stack:
            i, ready = stack.pop()
            parts = operands(*tape.nodes[i])
            if not parts or i in made or i in existing:
                continue
            if ready:
                made[i] = None
            else:
                stack += [(i, True), *((x, False) for x in reversed(parts))]
    return list(made)


def definitions(text: ExpressionText, roots: list[int], existing: set[int], typed: Iterable[int]) -> dict[str, str]:
    """{name: text} of the parts to be made first; the names stand in the texts that follow, and what they make exists from then on.

    `typed` is all that was made between the last declaration and this one, also what only later ones contain.
    """
    tape = text.tape
    order = as_read(tape, roots, existing)
    shared = text.shared(roots) if any(text.is_long(i) for i in roots) else set()
    if order == sorted(order) and not shared:
        return {}
    wanted = sorted({*order, *(i for i in typed if i not in existing and operands(*tape.nodes[i]))})
    made, found = existing, {}
    for k, i in enumerate(wanted):
        if i in made:
            continue
        best: list[int] = []
        for j in wanted[k:]:
            chunk = as_read(tape, [j], made)
            if chunk == wanted[k : k + len(chunk)] and not shared.intersection(chunk[:-1]):
                best = chunk
        made.update(best)
        last = best[-1]
        if last in roots and last not in shared and len(roots) == 1:
            continue
        name, definition = text.name(last)
        found[name] = definition
    return found
