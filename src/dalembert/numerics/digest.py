"""A hash of the nodes of a tape, which only grows: what was hashed once is never hashed again, neither here nor on its forks."""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from dalembert.algebra.tape import Node, Tape
from dalembert.once import MAKING

_BLOCK: Final = 4096


def tape_digest(tape: Tape, length: int) -> Any:
    """The running hash of the first `length` nodes; the caller's own, to be continued."""
    with MAKING:
        known = tape.prefixes
        for k in range(len(known), length // _BLOCK):
            known.append(_continued(known[-1] if known else hashlib.sha256(), tape.nodes[k * _BLOCK : (k + 1) * _BLOCK]))
        whole = length // _BLOCK
        return _continued(known[whole - 1] if whole else hashlib.sha256(), tape.nodes[whole * _BLOCK : length])


def _continued(before: Any, nodes: Sequence[Node]) -> Any:
    # by columns, which is the fastest way through the nodes
    flat: list[Any] = list(chain.from_iterable(nodes))
    ops, first, second = flat[0::3], flat[1::3], flat[2::3]
    i = -1
    for _ in range(ops.count("const")):
        i = ops.index("const", i + 1)
        if first[i].__class__ is not int:
            first[i] = first[i].as_integer_ratio()
    digest = before.copy()
    digest.update(" ".join(ops).encode())
    digest.update(marshal.dumps((first, second), 2))
    return digest
