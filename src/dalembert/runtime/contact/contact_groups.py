"""A = J M⁻¹ Jᵀ in blocks: contacts that interact, group by group.
Keywords: contact graph, connected components.

Contacts belong to one group where a force of one changes an acceleration of the other. Groups are
solved apart: twenty balls on a floor are twenty problems of one contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray

# entries of A below this part of √(A_ii A_jj) are rounding
_ROUNDING: Final = 1e-13


def contact_groups(A: FloatArray, rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The connected components of contacts, each given by the rows of A that it uses."""
    if len(rows) < 2:
        return [list(range(len(rows)))] if rows else []
    size = np.sqrt(np.abs(np.diag(A)))
    linked = np.abs(A) > _ROUNDING * np.outer(size, size)
    linked |= linked.T
    uses = np.zeros((len(rows), len(A)), dtype=bool)
    for i, own in enumerate(rows):
        uses[i, list(own)] = True
    neighbours = (uses.astype(float) @ linked @ uses.T) > 0.0
    left, groups = list(range(len(rows))), []
    while left:
        group, waiting = [], [left.pop(0)]
        while waiting:
            i = waiting.pop()
            group.append(i)
            near = [j for j in left if neighbours[i, j]]
            left = [j for j in left if not neighbours[i, j]]
            waiting += near
        groups.append(sorted(group))
    return groups
