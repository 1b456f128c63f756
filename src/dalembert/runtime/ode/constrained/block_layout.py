"""A system in augmented form in memory: the place of every number of M, f, A, γ, e and φ, and the
scratch space.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.llvm_types import offsets, padded_size


@dataclass(frozen=True)
class Entries:
    """The nodes of q̇, M, f, A, γ, e, φ and q + E δz, all on one tape; matrices sparsely by
    rows.
    """

    qdot: tuple[int, ...]
    M: tuple[dict[int, int], ...]
    f: tuple[int, ...]
    A: tuple[dict[int, int], ...]
    gamma: tuple[int, ...]
    e: tuple[int, ...]
    # zero for rows that are not holonomic
    phi: tuple[int, ...]
    retraction: tuple[int, ...]


class MemoryLayout(NamedTuple):
    """Where the arrays of a workspace begin in one piece of memory, by the names of their
    fields, and how many numbers it has.
    """

    places: dict[str, int]
    size: int


@dataclass(frozen=True)
class BlockLayout:
    """Where the parts of the block begin: q̇, f, γ, φ, e, U, B, R."""

    n_q: int
    n: int
    m: int

    @property
    def width(self) -> int:
        """The length of a row of U or B."""
        return padded_size(self.n)

    @property
    def row_width(self) -> int:
        """The length of a column of R."""
        return padded_size(self.m)

    @functools.cached_property
    def parts(self) -> dict[str, int]:
        """{name: offset}, and the size of all under `end`."""
        sizes = {
            "qdot": padded_size(self.n_q),
            "f": self.width,
            "gamma": self.row_width,
            "phi": self.row_width,
            "e": self.row_width,
            "U": self.n * self.width,
            "B": self.m * self.width,
            "R": self.m * self.row_width,
        }
        return offsets(sizes, "end")

    def entry_indices(self, entries: Entries, zero: int) -> tuple[list[int], list[int]]:
        """The nodes that do not vanish, and the place of each in the block; of M the upper half."""
        parts = self.parts
        indexed_nodes: list[tuple[int, int]] = []
        for name, nodes in (
            ("qdot", entries.qdot),
            ("f", entries.f),
            ("gamma", entries.gamma),
            ("phi", entries.phi),
            ("e", entries.e),
        ):
            indexed_nodes += [(i, parts[name] + k) for k, i in enumerate(nodes)]
        indexed_nodes += [
            (i, parts["U"] + r * self.width + s)
            for r, row in enumerate(entries.M)
            for s, i in row.items()
            if s >= r
        ]
        indexed_nodes += [
            (i, parts["B"] + j * self.width + s)
            for j, row in enumerate(entries.A)
            for s, i in row.items()
        ]
        indexed_nodes = [(i, place) for i, place in indexed_nodes if i != zero]
        return [i for i, _ in indexed_nodes], [place for _, place in indexed_nodes]

    def memory_layout(self, sizes: Mapping[str, int]) -> MemoryLayout:
        """The block with its parts, then arrays of these sizes, each from a multiple of four on."""
        after = offsets(
            {
                "block": self.parts["end"],
                **{name: padded_size(size) for name, size in sizes.items()},
            },
            "end",
        )
        array_offsets = {**self.parts, **after}
        return MemoryLayout(array_offsets, array_offsets.pop("end"))
