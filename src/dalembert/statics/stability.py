"""δ²(V − T₀ − λ·φ) > 0 on the constraint tangent: stability of equilibrium from the energy.

At rest (T₀ = 0) a minimum is stable and a negative direction unstable. While specified motions go on, a minimum of V − T₀ is
stable, and a negative direction proves nothing where gyroscopic forces may act. With nonholonomic rows the Hessian says
nothing: eigenvalues decide, with as many zeros as the rows leave equilibria in a continuous family.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from dalembert.algebra.duals import jacobian
from dalembert.algebra.folds import Rewrite, gradient, transplant
from dalembert.errors import NotApplicable
from dalembert.principles.base import derived
from dalembert.principles.lagrange import lagrange
from dalembert.statics.balance import StaticBalance
from dalembert.statics.rest import Rest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Verdict = Literal["stable", "unstable", "undetermined"]
# second derivatives below this part of the largest are zero
_FLAT: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Stability:
    """The verdict, why, and the eigenvalues of the Hessian on the tangent (none where the Hessian does not decide)."""

    verdict: Verdict
    reason: str
    hessian: Numbers | None = None


def multipliers(balance: StaticBalance, y: Numbers) -> dict[str, float]:
    """λ of every row from Q + Aᵀλ = 0, inertia forces included in Q; of least norm where rows repeat one another here."""
    kin, tape = balance.kin, balance.tape
    if not kin.rows:
        return {}
    d = derived(lagrange, balance.chosen.kin)
    own = d.tape.fork()
    without = Rewrite(own, dict.fromkeys(d.native.multipliers, own.zero))
    here = transplant(own, tape, [without(i) for i in d.native.residuals])
    nodes = [balance.at_rest(balance.evaluator.reduced(i)) for i in here]
    places = [(j, k, balance.evaluator.reduced(a)) for j, row in enumerate(kin.rows) for k, a in row.A.items()]
    values = jacobian(tape, [*nodes, *(a for _, _, a in places)], (), balance.at(y))[0][0]
    A = np.zeros((len(kin.rows), kin.n_q))
    for (j, k, _), a in zip(places, values[kin.n_q :], strict=True):
        A[j, k] = a
    found = np.linalg.lstsq(A.T, values[: kin.n_q], rcond=1e-12)[0]
    return {row.name: float(x) + 0.0 for row, x in zip(kin.rows, found, strict=True)}


def potential_residual(balance: StaticBalance, y: Numbers) -> float | None:
    """max |W_r · ∂(V − T₀)/∂q|: what the second route, stationary potential, leaves at y; None where it does not apply."""
    if balance.moving:
        return None
    rest = Rest(balance.chosen.kin, balance.idle)
    try:
        slope = rest.slope
    except NotApplicable:
        return None
    nodes = [balance.evaluator.reduced(i) for i in transplant(rest.tape, balance.tape, slope)]
    return float(np.abs(jacobian(balance.tape, nodes, (), balance.at(y))[0]).max(initial=0.0))


def stability(balance: StaticBalance, y: Numbers, lam: dict[str, float]) -> Stability:
    """The Hessian of V − T₀ − λ·φ on the tangent of the holonomic rows, and what follows from it."""
    kin = balance.kin
    if balance.moving:
        return Stability("undetermined", "a steady motion: da.linearize gives its eigenvalues")
    if not all(row.holonomic for row in kin.rows):
        return Stability("undetermined", "rows on velocities: da.linearize gives its eigenvalues")
    rest = Rest(balance.chosen.kin, balance.idle)
    try:
        rest.check_potential()
    except NotApplicable as reason:
        return Stability("undetermined", str(reason))
    e = _reduced_hessian(balance, rest, y, lam)
    flat = _FLAT * np.abs(e).max(initial=0.0)
    return Stability(*_verdict(e, flat, moves=rest.moves), e)


def _reduced_hessian(balance: StaticBalance, rest: Rest, y: Numbers, lam: dict[str, float]) -> Numbers:
    tape, q = balance.tape, balance.kin.q
    energy = balance.evaluator.reduced(transplant(rest.tape, tape, [rest.tape.sub(rest.V, rest.T0)])[0])
    seeds = {energy: tape.one}
    rows = [row for row in balance.kin.rows if row.phi is not None]
    for row, phi in zip(rows, balance.phi, strict=True):
        seeds[phi] = tape.const(Fraction(-lam[row.name]))
    slopes = gradient(tape, seeds, q)
    hessian = jacobian(tape, slopes, q, balance.at(y))[1][0]
    J = jacobian(tape, balance.phi, q, balance.at(y))[1][0]
    _, s, Vt = np.linalg.svd(J) if len(J) else (None, np.zeros(0), np.eye(len(q)))
    S = Vt[int(np.sum(s > 1e-10 * s.max(initial=0.0))) :].T
    return np.asarray(np.linalg.eigvalsh(S.T @ (hessian + hessian.T) @ S / 2))


def _verdict(e: Numbers, flat: float, *, moves: bool) -> tuple[Verdict, str]:
    name = "V − T₀" if moves else "V"
    if not e.size or e.min() > flat:
        return "stable", f"{name} has a minimum on the constraints"
    if e.min() >= -flat:
        return "undetermined", f"{name} is flat in {int(np.sum(e <= flat))} of {e.size} directions"
    if moves and e.size > 1:
        return "undetermined", f"{name} has no minimum; gyroscopic forces may stabilize: da.linearize gives the eigenvalues"
    return "unstable", f"{name} falls in {int(np.sum(e < -flat))} of {e.size} directions"
