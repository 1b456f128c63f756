"""A surface of triangles: what a mesh leaves when only its looks matter."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# cells along the longest side of the finest grid that corners are gathered in
_FINEST: Final = 512
# triangles of a drawing without a z-buffer
_SKETCHED: Final = 240


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Corners (n × 3), and the three corners of every triangle (m × 3)."""

    vertices: FloatArray = field(repr=False)
    faces: NDArray[np.int64] = field(repr=False)

    def decimate(self, most: int) -> TriangleMesh:
        """At most the given number of triangles: corners in one cell of a grid become one, the grid
        as fine as that allows.
        """
        if len(self.faces) <= most:
            return self
        low, high, best = 1, _FINEST, self._cluster_vertices(1)
        while low < high:
            cells = (low + high + 1) // 2
            candidate = self._cluster_vertices(cells)
            if len(candidate.faces) <= most:
                low, best = cells, candidate
            else:
                high = cells - 1
        return best

    @cached_property
    def preview(self) -> TriangleMesh:
        """Coarse enough to be drawn face by face."""
        return self.decimate(_SKETCHED)

    def _cluster_vertices(self, cells: int) -> TriangleMesh:
        """The corners of a cell at their mean; triangles that have two corners in one cell are
        gone.
        """
        import numpy as np

        least = self.vertices.min(axis=0)
        side = float(np.ptp(self.vertices, axis=0).max()) / cells or 1.0
        i, j, k = np.minimum((self.vertices - least) / side, cells - 1).astype(np.int64).T
        _, cell = np.unique((i * cells + j) * cells + k, return_inverse=True)
        count = np.bincount(cell)
        corners = np.stack(
            [np.bincount(cell, self.vertices[:, axis]) / count for axis in range(3)], axis=1
        )
        faces = cell[self.faces]
        a, b, c = faces.T
        kept = faces[(a != b) & (b != c) & (c != a)]
        a, b, c = np.sort(kept, axis=1).T
        _, first = np.unique((a * len(count) + b) * len(count) + c, return_index=True)
        return TriangleMesh(corners, kept[np.sort(first)])
