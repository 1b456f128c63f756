"""M u̇ − f: the load along every speed that a motion needs in addition to the declared loads.
Keywords: recursive Newton–Euler.

τ = S·(I α̂ + …) in every joint of an open tree, in operations proportional to the links: from the
root to the tips the velocities and accelerations; from the tips to the root the forces and moments
that give each link its acceleration. Classical accelerations of the joint points are used; gravity
enters as an acceleration of the ground upwards.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 5, in classical
accelerations.
"""

from __future__ import annotations

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.rotation import (
    Matrix3,
    add3,
    cross3,
    matrix_sum,
    matrix_vector,
    negate3,
    parallel_axis_term,
    scale3,
    wrench_power,
)
from dalembert.mechanics.kinematics.kinematic_tree import KinematicTree, TreeLink
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.tape import Tape, Triple


@dataclass(frozen=True)
class LinkInertia:
    """m, h = Σ m ρ and the inertia A about the link's point, of all that is fixed to a link, in
    its axes.
    """

    m: int
    h: Triple
    A: Matrix3


class LinkMotion:
    """ω, α and a of every link at given q̈, gravity taken as an acceleration upwards."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.t = kin, kin.tape
        self.tree = KinematicTree(kin)
        t, zero = self.t, self.tree.zero
        field = kin.system.gravity_field
        g = zero if field is None else field.g.on(t).components(kin.system.N)
        self.w: dict[TreeLink, Triple] = {self.tree.root: zero}
        self.alpha: dict[TreeLink, Triple] = {self.tree.root: zero}
        self.a: dict[TreeLink, Triple] = {self.tree.root: negate3(t, g)}
        for link in self.tree.links[1:]:
            self._propagate_motion(link)

    def _propagate_motion(self, link: TreeLink) -> None:
        """ω = ω_p + ω̄, α = α_p + ω × ω̄ + …, a = a_p + α_p × r + ω_p × (ω_p × r + 2 ṙ) + r̈"""
        t, parent = self.t, link.parent
        assert parent is not None
        w_p, alpha, a = self.w[parent], self.alpha[parent], self.a[parent]
        swing = add3(t, cross3(t, w_p, link.r), scale3(t, t.const(2), link.r_dot))
        a = add3(
            t, add3(t, a, link.r_bias), add3(t, cross3(t, alpha, link.r), cross3(t, w_p, swing))
        )
        w = w_p
        if link.frame is not parent.frame:
            w, alpha, a = (
                link.frame.transform_components(t, x, to_parent=False) for x in (w_p, alpha, a)
            )
        # ω × ω̄ = (ω_p) × ω̄, since ω̄ × ω̄ = 0
        alpha = add3(t, alpha, add3(t, link.spin_bias, cross3(t, w, link.spin)))
        for x, s_w, s_v in link.joint_axes:
            xdot = t.rate(x)
            assert xdot is not None
            alpha, a = add3(t, alpha, scale3(t, xdot, s_w)), add3(t, a, scale3(t, xdot, s_v))
        self.w[link], self.alpha[link], self.a[link] = add3(t, w, link.spin), alpha, a


def joint_torques(kin: Kinematics) -> dict[int, int]:
    """{q̇ or spin: τ}: what must act along each joint rate of an open tree in addition to the
    declared loads.
    """
    motions = LinkMotion(kin)
    t, tree = kin.tape, motions.tree
    force: dict[TreeLink, Triple] = {}
    moment: dict[TreeLink, Triple] = {}
    for link in tree.links:
        moment[link], force[link] = _inertia_wrench(
            t, link_inertia(kin, link), motions.w[link], motions.alpha[link], motions.a[link]
        )
    tau: dict[int, int] = {}
    for link in reversed(tree.links[1:]):
        n, f = moment[link], force[link]
        for x, s_w, s_v in link.joint_axes:
            xdot = t.rate(x)
            assert xdot is not None
            before = tau[x] if x in tau else t.mul(tree.flywheels.get(x, t.zero), xdot)
            tau[x] = t.add(wrench_power(t, s_w, s_v, n, f), before)
        parent = link.parent
        assert parent is not None
        if link.frame is not parent.frame:
            n, f = (
                link.frame.transform_components(t, n, to_parent=True),
                link.frame.transform_components(t, f, to_parent=True),
            )
        force[parent] = add3(t, force[parent], f)
        moment[parent] = add3(t, moment[parent], add3(t, n, cross3(t, link.r, f)))
    applied = _applied_joint_loads(kin, tree)
    return {x: t.sub(e, applied.get(x, t.zero)) for x, e in tau.items()}


def link_inertia(kin: Kinematics, link: TreeLink) -> LinkInertia:
    """All masses fixed to a link, summed about its point."""
    t = kin.tape
    zero = (t.zero, t.zero, t.zero)
    m, h, A = t.zero, zero, (zero, zero, zero)
    for body, rho in link.masses:
        k = body.mass.i
        m_rho = scale3(t, k, rho)
        m, h = t.add(m, k), add3(t, h, m_rho)
        A = matrix_sum(t, A, parallel_axis_term(t, m_rho, rho))
        if body.inertia is not None:
            A = matrix_sum(t, A, body.inertia.on(t).to(link.frame).rows)
    return LinkInertia(m, h, A)


def _inertia_wrench(
    t: Tape, I: LinkInertia, w: Triple, alpha: Triple, a: Triple
) -> tuple[Triple, Triple]:
    """n = A α + ω × A ω + h × a,  f = m a + α × h + ω × (ω × h), at the link's point."""
    n = add3(
        t,
        add3(t, matrix_vector(t, I.A, alpha), cross3(t, w, matrix_vector(t, I.A, w))),
        cross3(t, I.h, a),
    )
    f = add3(t, scale3(t, I.m, a), add3(t, cross3(t, alpha, I.h), cross3(t, w, cross3(t, w, I.h))))
    return n, f


def _applied_joint_loads(kin: Kinematics, tree: KinematicTree) -> dict[int, int]:
    """The declared loads along every freedom, gravity left out; along a spin ½ E Q_e, since ė =
    ½ Eᵀ s.
    """
    t = kin.tape
    Q = dict(
        zip(kin.qdot, Quantities(kin).rates.generalized_force_without_gravity.value, strict=True)
    )
    for link in tree.links[1:]:
        if link.ball is not None:
            along = link.ball.torque_from_load(t, [Q[t.rate(e) or e] for e in link.ball.e])
            Q |= dict(zip((s for s, _, _ in link.joint_axes), along, strict=True))
    return Q
