"""M u̇ − f: the load along every speed that a motion needs beside the declared loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dalembert.algebra.folds import Rewrite
from dalembert.algebra.tape import Tape
from dalembert.errors import BadExpression, NotApplicable
from dalembert.inverse.recursion import joint_loads
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.once import MadeOnce
from dalembert.principles.kane import kane


@dataclass(frozen=True)
class RequiredLoads:
    """τ_r(q, u, u̇, t), one for every independent speed, on a tape of their own."""

    kinematics: Kinematics
    nodes: tuple[int, ...]
    route: str

    @property
    def tape(self) -> Tape:
        """The tape they are written on."""
        return self.kinematics.tape


_REQUIRED: Final = MadeOnce[RequiredLoads]()


def required_loads(kin: Kinematics) -> RequiredLoads:
    """Link by link where the bodies form an open tree whose freedoms are the speeds, otherwise Kane's residual."""
    return _REQUIRED(kin, None, lambda: _by_links(kin) or _by_kane(kin))


def _by_links(kin: Kinematics) -> RequiredLoads | None:
    fork = kin.fork()
    try:
        tau = joint_loads(fork)
    except (NotApplicable, BadExpression):
        return None
    if any(u not in tau for u in fork.u):
        return None  # speeds of the user's own
    in_u = Rewrite(fork.tape, dict(zip(fork.qdot, fork.qdot_of_u, strict=True)))
    return RequiredLoads(fork, tuple(in_u(tau[u]) for u in fork.u), "link by link")


def _by_kane(kin: Kinematics) -> RequiredLoads:
    d = kane(kin)
    return RequiredLoads(d.kinematics, d.native.residuals, "Kane's residual")
