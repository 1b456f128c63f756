"""w(t) = Σ_m c_km (t − t_k)^m on interval k: the inputs of an answer as a run takes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.analysis.optimal.scheme import monomials
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.states.inputs import Table


@dataclass(frozen=True, eq=False)
class PolynomialTable(Table):
    """One polynomial for each interval; the steps of a run end at its times."""

    @property
    def degree(self) -> int:
        """The degree of the polynomials."""
        return int(self.coefficients.shape[1]) - 1

    def __str__(self) -> str:
        return (
            f"polynomials of degree {self.degree} on {len(self.t) - 1} intervals from t = "
            f"{self.t[0]:g} to {self.t[-1]:g}"
        )


def polynomial_table(t: FloatArray, nodes: FloatArray, values: FloatArray) -> PolynomialTable:
    """Through values at nodes of (0, 1] of every interval between the times t: a row of values
    for each interval.
    """
    h = np.diff(t)
    coefficients = values @ monomials(nodes).T / h[:, None] ** np.arange(len(nodes))
    # the polynomial of an interval at its beginning, and the last one at its end
    ends = np.append(coefficients[:, 0], coefficients[-1] @ h[-1] ** np.arange(len(nodes)))
    return PolynomialTable(t, ends, "cubic", coefficients)
