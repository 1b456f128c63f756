"""M_rs = S_r·(I_c S_s), f_r = Q_r − S_r·p: the mass matrix and the forcing of an open tree from
link to link.

I_c is the inertia of a link together with everything it carries, p the load of that whole at u̇ =
0. The forcing takes a number of operations proportional to the links, the mass matrix to the pairs
of links on a common branch.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapters 5 and 6, in classical
accelerations.
"""

from __future__ import annotations

from dalembert.errors import BadExpression, NotApplicable
from dalembert.mechanics.equations.articulated_body import LinkDynamics
from dalembert.mechanics.geometry.rotation import add3, cross3, wrench_power
from dalembert.mechanics.kinematics.kinematic_tree import TreeLink
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.tape import Triple

Wrench = tuple[Triple, Triple]


class _CompositeBodies(LinkDynamics):
    """Every link with what it carries, from the tips to the root."""

    def __init__(self, kin: Kinematics) -> None:
        super().__init__(kin)
        self.M = {(x, x): J for x, J in self.tree.flywheels.items()}
        self.f = {x: self.load.get(x, self.t.zero) for x in self.tree.links_moved_by}
        for link in self.tree.links[1:]:
            self.accelerations[link] = self._inherited_acceleration(link)
            self._add_bias_force(self.bodies[link], *self.accelerations[link])
        for link in reversed(self.tree.links[1:]):
            for x, s_w, s_v in link.joint_axes:
                I = self.bodies[link]
                self.f[x] = self.t.sub(self.f[x], wrench_power(self.t, s_w, s_v, I.n, I.f))
                self._propagate_wrench(link, x, I.wrench(self.t, s_w, s_v))
            assert link.parent is not None
            self._add_transformed(
                self.bodies[link.parent], self.bodies[link], link, link.parent.frame
            )

    def _propagate_wrench(self, link: TreeLink, x: int, F: Wrench) -> None:
        """S_r·F along the branch below, F carried from link to link."""
        t = self.t
        at: TreeLink | None = link
        while at is not None:
            for y, s_w, s_v in at.joint_axes:
                entry = wrench_power(t, s_w, s_v, *F)
                for pair in ((x, y),) if at is link else ((x, y), (y, x)):
                    self.M[pair] = t.add(self.M.get(pair, t.zero), entry)
            n, f = F
            if at.parent is not None:
                if at.frame is not at.parent.frame:
                    n, f = (
                        at.frame.transform_components(t, n, to_parent=True),
                        at.frame.transform_components(t, f, to_parent=True),
                    )
                F = add3(t, n, cross3(t, at.r, f)), f
            at = at.parent


def tree_equations(kin: Kinematics) -> tuple[list[int], list[int]] | None:
    """M row by row and f on the tape of `kin`; None where the bodies form no open tree or the
    speeds are not the tree's own.
    """
    t = kin.tape
    try:
        composite = _CompositeBodies(kin)
    except (NotApplicable, BadExpression):
        return None
    if set(composite.f) != set(kin.u):
        return None
    M = [composite.M.get((r, s), t.zero) for r in kin.u for s in kin.u]
    f = [composite.f[r] for r in kin.u]
    if kin.qdot != kin.qdot_of_u:
        in_u = Substitution(t, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
        M, f = [in_u(e) for e in M], [in_u(e) for e in f]
    return M, f
