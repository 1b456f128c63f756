"""w(t) = Σ_m c_km (t − t_k)^m on interval k: the inputs of an answer as a run takes them."""

from __future__ import annotations

import numpy as np

from dalembert.analysis.optimal.scheme import monomials
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.states.tables import Table


def polynomial_table(t: FloatArray, nodes: FloatArray, values: FloatArray) -> Table:
    """Through values at nodes of (0, 1] of every interval between the times t: a row of values
    for each interval.
    """
    h = np.diff(t)
    coefficients = values @ monomials(nodes).T / h[:, None] ** np.arange(len(nodes))
    # the polynomial of an interval at its beginning, and the last one at its end
    ends = np.append(coefficients[:, 0], coefficients[-1] @ h[-1] ** np.arange(len(nodes)))
    return Table.from_rows(t, ends, "polynomial", coefficients)
