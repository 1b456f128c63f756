"""M u̇ − f: the load along every speed that a motion needs in addition to the declared loads, from
link to link or by Kane's residual.
Keywords: inverse dynamics.
"""

from __future__ import annotations

from typing import Final

from dalembert.errors import BadExpression, NotApplicable
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.recursive_newton_euler import joint_torques
from dalembert.mechanics.principles.kane import kane
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.tape import Tape


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


_REQUIRED_LOADS_CACHE: Final = PerOwnerCache[RequiredLoads]()


def required_loads(kin: Kinematics) -> RequiredLoads:
    """Link by link where the bodies form an open tree whose joint rates are the speeds, otherwise
    Kane's residual.
    """
    return _REQUIRED_LOADS_CACHE(kin, None, lambda: _by_recursion(kin) or _by_kane(kin))


def _by_recursion(kin: Kinematics) -> RequiredLoads | None:
    fork = kin.fork()
    try:
        tau = joint_torques(fork)
    except (NotApplicable, BadExpression):
        return None
    if any(u not in tau for u in fork.u):
        return None  # speeds of the user's own
    in_u = Substitution(fork.tape, dict(zip(fork.qdot, fork.qdot_of_u, strict=True)))
    return RequiredLoads(fork, tuple(in_u(tau[u]) for u in fork.u), "link by link")


def _by_kane(kin: Kinematics) -> RequiredLoads:
    d = kane(kin)
    return RequiredLoads(d.kinematics, d.native.residuals, "Kane's residual")
