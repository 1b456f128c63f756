"""u̇, M and ∂r/∂x of an open tree, from the tables of its links: r = M u̇ − f at the u̇ of the
equations of motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.derivatives.sparse import sparse_jacobian
from dalembert.runtime.derivatives.tape_function import TapeFunction
from dalembert.runtime.derivatives.tree_columns import TreeColumns
from dalembert.runtime.derivatives.tree_tables import TreeTables
from dalembert.runtime.dynamics.acceleration_derivatives import link_tables, load_slopes
from dalembert.symbolic.algebra.expression_graph import copy_expressions, symbols_of
from dalembert.symbolic.algebra.tape import Tape


class TreeJacobian:
    """u̇, M, ∂r/∂x, and further expressions without u̇ with their slopes, as one function of the
    symbols in `order`; derivatives are taken by those in `wrt`.
    """

    def __init__(
        self, tables: TreeTables, wrt: Sequence[int], order: Sequence[int], others: Sequence[int]
    ) -> None:
        kin, tape = tables.kinematics, tables.tape
        order_of_links = [tables.speeds.index(u) for u in kin.u]
        row, n = {i: k for k, i in enumerate(order_of_links)}, len(kin.u)
        mass_matrix = TreeColumns(tables).mass_matrix()
        columns = [*(mass_matrix[i] for i in order_of_links), *load_slopes(kin, tables, wrt)]
        entries = {(row[i], j): e for j, column in enumerate(columns) for i, e in column.items()}
        more = sparse_jacobian(tape, others, wrt)
        places = zip(more.rows, more.columns, more.nodes, strict=True)
        entries |= {(n + i, n + j): e for i, j, e in places}
        udot = dict(zip(tables.speeds, tables.accelerations, strict=True))
        outs = (*(udot[u] for u in kin.u), *others, *entries.values())
        symbols = symbols_of(tape, outs)
        self._columns = np.array([order.index(i) for i in symbols], np.intp)
        self._function = TapeFunction(tape, outs, symbols)
        self._n, self._shape = n, (n + len(others), n + len(wrt))
        self._rows, self._places = np.array([*entries], np.intp).T

    def at(self, Z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """u̇, M, the values of the other expressions, and the slopes of r and of these, at the
        points in the rows of Z.
        """
        results, n, m = self._function.batch(Z[:, self._columns]), self._n, self._shape[0]
        whole = np.zeros((len(Z), *self._shape))
        whole[:, self._rows, self._places] = results[:, m:]
        return results[:, :n], whole[:, :n, :n], results[:, n:m], whole[:, :, n:]


def tree_jacobian(
    kin: Kinematics, wrt: Sequence[int], order: Sequence[int], tape: Tape, others: Sequence[int]
) -> TreeJacobian | None:
    """The function of an open tree; None for other systems, and where the tables contain constants
    that the equations do not.
    """
    tables = link_tables(kin)
    if tables is None:
        return None
    try:
        return TreeJacobian(tables, wrt, order, copy_expressions(tape, tables.tape, others))
    except ValueError:
        return None
