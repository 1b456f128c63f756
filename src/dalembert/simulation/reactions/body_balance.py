"""Every body of a run cut free and held against its positions: do the reactions balance it, and do joints leave it its freedom?

The accelerations are those of differentiated positions and rotations, which the reactions were not made from. What a joint exerts along
the freedom it gives is zero, or what acts in it; the multipliers behind it come from Lagrange's equations. So a load that was booked
to the wrong body shows here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.folds import Linear
from dalembert.algebra.scalar import Scalar
from dalembert.errors import NotApplicable
from dalembert.kinetics.balance import Balances
from dalembert.kinetics.free_bodies import joint_loads
from dalembert.kinetics.row_actions import held_rows, multipliers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

# of the run's times at which the bodies are weighed
_MOST_TIMES: Final = 16


def body_balance(run: Trajectory, lam: Numbers) -> float:
    """The largest residual of any body at some of the run's times, as a part of the largest force or moment."""
    kin = run.kinematics.fork()
    balances = Balances(kin)
    parts = [balances.of([b for b, _ in g.masses], g.masses[0][0].G) for g in balances.groups.groups[1:] if g.masses]
    N = kin.system.N
    left = [c for part in parts for v in (part.force, part.moment) for c in v.components(N)]
    scale = [c for part in parts for w in (part.inertia, part.loads, part.reactions) for v in w for c in v.components(N)]
    chosen = np.unique(np.linspace(0, len(run) - 1, min(len(run), _MOST_TIMES)).astype(int))
    values = _values(run, balances, [*left, *_along_freedoms(balances), *scale], lam, chosen)
    cut = len(values) - len(scale)
    largest = float(np.max(np.abs(values[cut:]), initial=0.0))
    return float(np.max(np.abs(values[:cut]), initial=0.0)) / (largest or 1.0)


def _along_freedoms(balances: Balances) -> list[int]:
    """Σ f·v_k + μ·ω_k − τ_k − (Aᵀλ)_k of what acts in the joints, for every coordinate."""
    groups, kin, t = balances.groups, balances.kin, balances.kin.tape
    try:
        tau = joint_loads(groups)
    except NotApplicable:
        return []
    totals = [kin.scalar(kin.in_speeds(t.neg(tau[k])) if k in tau else t.zero) for k in range(kin.n_q)]
    for group, wrench in balances.joints.items():
        for k, (v, w) in groups.twists(group).items():
            totals[k] += v @ wrench.force + w @ wrench.moment
    for lam, row, action in zip(multipliers(kin), held_rows(kin), balances.actions, strict=True):
        for k, a in row.A.items() if not (action.forces or action.moments) else ():
            totals[k] -= kin.scalar(lam) * kin.scalar(a)
    return [e.i for e in totals]


def _values(run: Trajectory, balances: Balances, nodes: list[int], lam: Numbers, chosen: NDArray[np.intp]) -> Numbers:
    """Nodes that are linear in the multipliers, at the chosen times."""
    symbols = multipliers(balances.kin)
    linear = Linear(balances.kin.tape, list(symbols))
    forms = [linear(i) for i in nodes]
    wanted = list(dict.fromkeys(i for c, k in forms for i in (c, *k.values())))
    table = run.rows([Scalar(balances.kin.tape, i) for i in wanted])[:, chosen]
    values = dict(zip(wanted, table, strict=True))
    return np.array([values[c] + sum((values[i] * lam[j, chosen] for j, i in k.items()), np.zeros(len(chosen))) for c, k in forms])
