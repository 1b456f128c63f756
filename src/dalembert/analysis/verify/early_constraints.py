"""d/dt ∂T̄/∂u − ∂T̄/∂q W = U with T̄ reduced by the constraints: a known error, as a hypothesis.

Source: Bar00 (56)–(58) shows that the reduced T̄ fails for nonholonomic systems.
"""

from __future__ import annotations

from dalembert.analysis.verify.reading import Row
from dalembert.analysis.verify.truth import Truth
from dalembert.symbolic.algebra.exact.zero_test import BadPoint, ZeroTest
from dalembert.symbolic.algebra.expression_graph import Derivative, gradient, symbols_of


def explains(truth: Truth, rows: list[Row]) -> bool:
    """Whether all rows hold where the accelerations follow from the reduced kinetic energy."""
    kin, t = truth.kin, truth.tape
    inside = set(symbols_of(t, [row.value.i for row in rows]))
    nonholonomic = any(not row.holonomic for row in kin.rows)
    if (
        not nonholonomic
        or kin.system.given_kinetic_energies
        or not inside.isdisjoint(truth.multipliers)
    ):
        return False
    wrong = _reduced_equations(truth)
    try:
        decision = ZeroTest(t, wrong, truth.udot).decide([truth.in_u(row.value.i) for row in rows])
    except BadPoint:
        return False
    return decision.all_zero is True


def _reduced_equations(truth: Truth) -> list[int]:
    """d/dt ∂T̄/∂u_r − Σ ∂T̄/∂q_k W_kr − F_r"""
    kin, t = truth.kin, truth.tape
    T = truth.in_u(truth.quantities.T.i)
    momenta = gradient(t, {T: t.one}, kin.u)
    slopes = gradient(t, {T: t.one}, kin.q)
    rate: Derivative = kin.rate
    rows = []
    for r in range(kin.n_u):
        total = t.sub(rate(momenta[r]), truth.quantities.active_force(r))
        for k, (_, W) in enumerate(kin.WX):
            total = t.sub(total, t.mul(slopes[k], W.get(r, t.zero)))
        rows.append(truth.in_u(total))
    return rows
