"""E(q̈, λ) = 0, A q̈ + γ = 0: the multipliers as expressions of the state, with the accelerations eliminated.

Source: Gre03 (4.14).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dalembert.algebra.columns import solution
from dalembert.algebra.folds import Linear
from dalembert.errors import NotApplicable
from dalembert.kinematics.system_kinematics import Kinematics

# beyond, the expressions are longer than anyone would read
MOST_ROWS: Final = 3


def solved_multipliers(kin: Kinematics, residuals: Sequence[int], multipliers: Sequence[int]) -> dict[str, int]:
    """{row: λ in q, q̇ and t} from equations along the coordinates that are linear in q̈ and λ."""
    rows = kin.acting_rows
    if len([row for row in rows if not row.is_norm]) > MOST_ROWS:
        msg = f"{len(rows)} rows: λ is written out for up to {MOST_ROWS}; da.multipliers(s).compile() gives them as a program"
        raise NotApplicable(msg)
    if kin.nonlinear:
        msg = f"{kin.nonlinear[0].name!r} is not linear in the velocities; da.multipliers(s).compile() gives its multiplier as a program"
        raise NotApplicable(msg)
    t = kin.tape
    unknowns = [*kin.qddot, *multipliers]
    linear = Linear(t, unknowns)
    rate = kin.motion_in_rates.rate
    equations = (linear(e) for e in (*residuals, *(rate(kin.row_in_rates(row)) for row in rows)))
    # accelerations first, so that multipliers are left for the last
    solved = solution(t, equations, lambda k: k)
    return {row.name: solved[len(kin.qddot) + j] for j, row in enumerate(rows) if not row.is_norm}
