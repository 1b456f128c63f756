"""Zᵀ E = 0, A u̇ + γ = 0: equations along the speeds, with rows φ(q, u, t) = 0 that are not linear in them.

Chetaev's assumption: a virtual change of the speeds that such a row allows satisfies A δu = 0 with A = ∂φ/∂u, so that its
reaction is Aᵀλ. The columns of Z span these changes; γ is the rest of dφ/dt. Where φ is linear this is the usual rule.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.columns import Column, Rows, contracted
from dalembert.errors import IllPosed
from dalembert.kinematics.elimination import Elimination
from dalembert.kinematics.system_kinematics import Kinematics


def virtual_speeds(kin: Kinematics) -> list[dict[int, int]]:
    """Z by columns, A Z = 0: for each free speed j, {r: ∂u_r/∂u_j}."""
    t, rows = kin.tape, kin.nonlinear_rows
    solved, dependent = Elimination(t, [(t.zero, dict(row.A)) for row in rows], lambda k: -k, t.moving).run()
    if dependent:
        name = rows[dependent[0]].row.name
        msg = f"{name!r}: what it says about the velocities follows from the other rows, or contradicts them; remove one of them"
        raise IllPosed(msg)
    free = [j for j in range(kin.n_u) if j not in solved]
    return [{j: t.one} | {r: t.neg(a[j]) for r, (_, a) in sorted(solved.items()) if j in a} for j in free]


def with_nonlinear_rows(kin: Kinematics, along_u: Sequence[int]) -> list[int]:
    """Σ_r Z_rj E_r = 0 for every column of Z, then the rows Σ_r A_r u̇_r + γ = 0; without such rows the equations as they are."""
    t, rows = kin.tape, kin.nonlinear_rows
    if not rows:
        return list(along_u)
    free = Rows(t, virtual_speeds(kin), kin.n_u) @ Column(t, along_u)
    return [*free, *(contracted(t, ((a, kin.udot[r]) for r, a in row.A.items()), row.gamma) for row in rows)]
