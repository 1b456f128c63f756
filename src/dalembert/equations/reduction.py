"""Wᵀ E(q̈ = W u̇ + c) = 0: equations along q brought to the independent speeds.

Because Wᵀ Aᵀ = 0, the multipliers drop out of the contraction: no symbolic solution is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.columns import Column, Rows
from dalembert.algebra.folds import Rewrite
from dalembert.kinematics.system_kinematics import Kinematics


def contracted_with_W(kin: Kinematics, along_q: Sequence[int], multipliers: Sequence[int]) -> list[int]:
    """Σ_k W_kr E_k in u and u̇, from E_k in q̇, q̈ and λ."""
    t = kin.tape
    replace = dict(zip(kin.qddot, kin.qddot_of_u, strict=True))
    replace |= dict(zip(kin.qdot, kin.qdot_of_u, strict=True))
    replace |= dict.fromkeys(multipliers, t.zero)
    in_u = Rewrite(t, replace)
    W = Rows(t, (row for _, row in kin.WX), kin.n_u)
    return list(W.T @ Column(t, map(in_u, along_q)))
