"""M_s u̇ − f_s at our u̇: SymPy's own equations beside ours, at random states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate, transplant
from dalembert.algebra.scalar import Scalar
from dalembert.api.compile import forward_dynamics
from dalembert.errors import DalembertError
from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System


class Disagreement(DalembertError):
    """SymPy's equations and ours differ, and by how much."""


def check_agreement(system: System, M: Sequence[Scalar], f: Sequence[Scalar], u: Sequence[Scalar], count: int, close: float) -> None:
    """Refuse a model whose equations in SymPy are others than those of its bodies, positions and loads."""
    worst = disagreement(system, M, f, u, count)
    if not worst <= close:
        why = "velocities that were typed may contradict the positions, or a load or body is missing in one of them"
        msg = f"SymPy's own equations disagree with those rebuilt from positions and orientations, by {worst:.2g} relative: {why}"
        raise Disagreement(msg)


def disagreement(system: System, M: Sequence[Scalar], f: Sequence[Scalar], u: Sequence[Scalar], count: int) -> float:
    """The largest |M_s u̇ − f_s| over random states, relative to its largest term, with our own u̇."""
    explicit, kin, rng = forward_dynamics(system), kinematics(system).fork(), np.random.default_rng(1)
    entries = [kin.in_speeds(i) for i in transplant(system.space.tape, kin.tape, [e.i for e in (*M, *f)])]
    # the speeds and their rates in the independent ones
    rates = [kin.rate(kin.in_speeds(x.i)) for x in u]
    n, worst = len(u), 0.0
    for _ in range(count):
        numbers = {i: float(rng.uniform(0.3, 1.3)) for i, node in enumerate(kin.tape.nodes) if node[0] == "symbol"}
        udot = evaluate(explicit.tape, explicit.udot, numbers.__getitem__, Floats())
        found = np.array(
            evaluate(kin.tape, (*entries, *rates), {**numbers, **dict(zip(kin.udot, udot, strict=True))}.__getitem__, Floats())
        )
        mass, forcing, accelerations = found[: n * n].reshape(n, n), found[n * n : n * n + n], found[n * n + n :]
        size = (np.abs(mass) @ np.abs(accelerations) + np.abs(forcing)).max()
        worst = max(worst, float(np.abs(mass @ accelerations - forcing).max() / (size or 1.0)))
    return worst
