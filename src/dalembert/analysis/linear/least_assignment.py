"""min over permutations π of Σᵢ cost[i, π(i)]: which column each row gets.

Shortest augmenting paths on reduced costs (D. F. Crouse, On implementing 2D rectangular assignment
algorithms, IEEE Transactions on Aerospace and Electronic Systems 52, 2016); ties are broken as in
SciPy's `linear_sum_assignment`, whose package takes longer to load than a page's matrices to solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


class LeastAssignment:
    """The rows assigned so far, with prices u, v for which cost − u − v ≥ 0, = 0 where assigned."""

    def __init__(self, cost: Sequence[Sequence[float]]) -> None:
        self.cost, size = cost, len(cost)
        self.u, self.v = [0.0] * size, [0.0] * size
        self.columns, self.rows = [-1] * size, [-1] * size

    def solve(self) -> list[int]:
        """The column of each row."""
        for row in range(len(self.cost)):
            self._assign(row)
        return self.columns

    def _assign(self, row: int) -> None:
        """Assigns one more row along the shortest path to a column that is free."""
        path, reach, order = self._shortest_path(row)
        column = order[-1]
        length = reach[column]
        self.u[row] += length
        for j in order[:-1]:
            self.u[self.rows[j]] += length - reach[j]
        for j in order:
            self.v[j] -= length - reach[j]
        i = -1
        while i != row:
            i = path[column]
            self.rows[column] = i
            self.columns[i], column = column, self.columns[i]

    def _shortest_path(self, i: int) -> tuple[list[int], list[float], list[int]]:
        """From row i: the row before each column, the lengths, the columns in order of length."""
        size = len(self.cost)
        path, reach, order = [-1] * size, [inf] * size, list[int]()
        left, length = list(range(size - 1, -1, -1)), 0.0
        while True:
            index, lowest = -1, inf
            for place, j in enumerate(left):
                r = length + self.cost[i][j] - self.u[i] - self.v[j]
                if r < reach[j]:
                    path[j], reach[j] = i, r
                # of equally near columns one that is free
                if reach[j] < lowest or (reach[j] == lowest and self.rows[j] == -1):
                    index, lowest = place, reach[j]
            j, length = left[index], lowest
            order.append(j)
            if self.rows[j] == -1:
                return path, reach, order
            i = self.rows[j]
            # the last one takes its place
            left[index] = left[-1]
            left.pop()
