"""I_A α + p = n: forward dynamics of an open tree from link to link, in a number of operations
proportional to the links.
Keywords: articulated-body algorithm.

From the tips to the root each link's inertia and bias force are seen through its joint (articulated
bodies); from the root to the tips the accelerations follow. Classical accelerations of the joint
points are used, so only angular velocities are needed. This is the route that native code takes for
open trees. A coordinate that moves several links, as coupled joints do, is carried along as a
column U with f = I a + U ẍ + p until the link where all of them meet.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7, in classical
accelerations.
"""

from __future__ import annotations

from dataclasses import field

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.rotation import (
    Matrix3,
    add3,
    cross3,
    matrix_vector,
    negate3,
    scale3,
    wrench_power,
)
from dalembert.mechanics.kinematics.kinematic_tree import KinematicTree, TreeLink
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.articulated_inertia import InertiaBlocks, add_to_parent
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution
from dalembert.symbolic.algebra.tape import Triple


@dataclass
class ArticulatedInertia(InertiaBlocks):
    """n = A α + B a + n₀, f = Bᵀ α + M a + f₀ at the link's point, in the link's axes."""

    n: Triple
    f: Triple
    # {freedom not yet taken out: (U_n, U_f)}
    coupled_columns: dict[int, tuple[Triple, Triple]] = field(default_factory=dict)


class LinkDynamics:
    """The links of an open tree with their angular velocities, their accelerations at q̈ = 0 and
    what each weighs by itself.
    """

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.t = kin, kin.tape
        self.tree = KinematicTree(kin)
        t = self.t
        zero = self.tree.zero
        self.zero_matrix: Matrix3 = (zero, zero, zero)
        Q = Quantities(kin).rates.generalized_force_without_gravity.value
        self.load = dict(zip(kin.qdot, Q, strict=True))
        for link in self.tree.links:
            self._spherical_joint_load(link)
        self.w: dict[TreeLink, Triple] = {}
        self.bodies: dict[TreeLink, ArticulatedInertia] = {}
        self.bias: dict[TreeLink, tuple[Triple, Triple]] = {}
        for link in self.tree.links:
            self._propagate_velocity(link)
            self.bodies[link] = self._rigid_body_inertia(link)
        field = kin.system.gravity_field
        down = zero if field is None else field.g.on(t).components(kin.system.N)
        # the root that accelerates upwards is the field
        self.accelerations: dict[TreeLink, tuple[Triple, Triple]] = {
            self.tree.root: (zero, negate3(t, down))
        }

    def _spherical_joint_load(self, link: TreeLink) -> None:
        """ė = ½ Eᵀ s, so the load along the spin s of a quaternion is ½ E Q_e."""
        if link.ball is not None:
            Q = [self.load[self.t.rate(e) or e] for e in link.ball.e]
            self.load |= dict(
                zip(
                    (s for s, _, _ in link.joint_axes),
                    link.ball.torque_from_load(self.t, Q),
                    strict=True,
                )
            )

    # ---- from the root to the tips -----------------------------------------------------------

    def _propagate_velocity(self, link: TreeLink) -> None:
        """ω and the accelerations that are there at q̈ = 0."""
        t = self.t
        if link.parent is None:
            self.w[link] = self.tree.zero
            return
        w_p = self.w[link.parent]
        turned = (
            link.frame.transform_components(t, w_p, to_parent=False)
            if link.frame is not link.parent.frame
            else w_p
        )
        w = self.w[link] = add3(t, turned, link.spin)
        # d(spin)/dt = bias + ω × spin;  d²r/dt² = r̈ + 2 ω×ṙ + ω×(ω×r)
        c_w = add3(t, link.spin_bias, cross3(t, w, link.spin))
        swing = cross3(t, w_p, add3(t, scale3(t, t.const(2), link.r_dot), cross3(t, w_p, link.r)))
        c_v = add3(t, link.r_bias, swing)
        if link.frame is not link.parent.frame:
            c_v = link.frame.transform_components(t, c_v, to_parent=False)
        self.bias[link] = (c_w, c_v)

    def _rigid_body_inertia(self, link: TreeLink) -> ArticulatedInertia:
        """The masses fixed to a link, about its point."""
        t = self.t
        total = ArticulatedInertia(
            self.zero_matrix, self.zero_matrix, self.zero_matrix, self.tree.zero, self.tree.zero
        )
        w = self.w[link]
        for body, rho in link.masses:
            # ω×(ω×ρ) m, and ω×Iω about the link's point
            centrifugal = cross3(t, w, cross3(t, w, scale3(t, body.mass.i, rho)))
            A = total.add_body(t, body, rho, link.frame)
            total.n = add3(t, total.n, cross3(t, w, matrix_vector(t, A, w)))
            total.f = add3(t, total.f, centrifugal)
        return total

    def _inherited_acceleration(self, link: TreeLink) -> tuple[Triple, Triple]:
        """(α, a) of a link whose own joint rates have no acceleration."""
        t, parent = self.t, link.parent
        assert parent is not None
        alpha, a = self.accelerations[parent]
        a = add3(t, a, cross3(t, alpha, link.r))
        if link.frame is not parent.frame:
            alpha, a = (
                link.frame.transform_components(t, alpha, to_parent=False),
                link.frame.transform_components(t, a, to_parent=False),
            )
        c_w, c_v = self.bias[link]
        return add3(t, alpha, c_w), add3(t, a, c_v)

    def _add_transformed(
        self, total: ArticulatedInertia, I: ArticulatedInertia, link: TreeLink, F: Frame
    ) -> None:
        """Turn into the parent's axes, move to the parent's point, add."""
        t, r = self.t, link.r
        n, f = I.n, I.f
        add_to_parent(t, total, I, link)
        if link.frame is not F:
            n, f = (
                link.frame.transform_components(t, n, to_parent=True),
                link.frame.transform_components(t, f, to_parent=True),
            )
        total.n = add3(t, total.n, add3(t, n, cross3(t, r, f)))
        total.f = add3(t, total.f, f)
        for x, U in I.coupled_columns.items():
            U_n, U_f = (
                U
                if link.frame is F
                else (
                    link.frame.transform_components(t, U[0], to_parent=True),
                    link.frame.transform_components(t, U[1], to_parent=True),
                )
            )
            self._add_coupled_column(total, x, add3(t, U_n, cross3(t, r, U_f)), U_f)

    def _add_bias_force(self, I: ArticulatedInertia, alpha: Triple, a: Triple) -> None:
        """n and f with what an acceleration adds."""
        n, f = I.wrench(self.t, alpha, a)
        I.n, I.f = add3(self.t, I.n, n), add3(self.t, I.f, f)

    def _add_coupled_column(
        self, total: ArticulatedInertia, x: int, U_n: Triple, U_f: Triple
    ) -> None:
        n, f = total.coupled_columns.get(x, (self.tree.zero, self.tree.zero))
        total.coupled_columns[x] = add3(self.t, n, U_n), add3(self.t, f, U_f)


class ArticulatedBodyAlgorithm(LinkDynamics):
    """One pass from the root to the tips, one back, and one forth."""

    def __init__(self, kin: Kinematics) -> None:
        super().__init__(kin)
        t = self.t
        # x → (U_n, U_f, 1/D, τ − S·p, {y: D_xy}), y taken out nearer to the root
        self.elimination_data: dict[int, tuple[Triple, Triple, int, int, dict[int, int]]] = {}
        # D_xy of joint rates that are not yet eliminated, and their reduced loads
        self.D = {(x, x): self.tree.flywheels.get(x, t.zero) for x in self.tree.links_moved_by}
        self.tau = {x: self.load.get(x, t.zero) for x in self.tree.links_moved_by}
        self.elimination_link = {x: self.tree.common_ancestor(x) for x in self.tree.links_moved_by}
        # joint rates of links further out that meet at a link which they do not move
        self.outer_freedoms: dict[TreeLink, list[int]] = {}
        for x, link in self.elimination_link.items():
            if link not in self.tree.links_moved_by[x]:
                self.outer_freedoms.setdefault(link, []).append(x)
        for link in reversed(self.tree.links):
            self._propagate_to_parent(link)
        self.qddot: dict[int, int] = {}
        for link in self.tree.links:
            self._propagate_acceleration(link)

    # ---- from the tips to the root -----------------------------------------------------------

    def _propagate_to_parent(self, link: TreeLink) -> None:
        t, I = self.t, self.bodies[link]
        for x in self.outer_freedoms.get(link, ()):
            self._eliminate_freedom(I, x)
        for x, s_w, s_v in reversed(link.joint_axes):
            self._add_freedom(I, x, s_w, s_v)
            if self.elimination_link[x] is link:
                self._eliminate_freedom(I, x)
                if len(self.tree.links_moved_by[x]) == 1 and x not in self.tree.flywheels:
                    I.clear_axis(t, s_w, s_v)
        if link.parent is None:
            return
        c_w, c_v = self.bias[link]
        self._add_bias_force(I, c_w, c_v)
        for x, (U_n, U_f) in I.coupled_columns.items():
            self.tau[x] = t.sub(self.tau[x], wrench_power(t, U_n, U_f, c_w, c_v))
        self._add_transformed(self.bodies[link.parent], I, link, link.parent.frame)

    def _add_freedom(self, I: ArticulatedInertia, x: int, s_w: Triple, s_v: Triple) -> None:
        """U_x = I S, D_xy = S·U_y, τ − S·p"""
        t = self.t
        self.tau[x] = t.sub(self.tau[x], wrench_power(t, s_w, s_v, I.n, I.f))
        U_n, U_f = I.wrench(t, s_w, s_v)
        for y, (V_n, V_f) in I.coupled_columns.items():
            power = wrench_power(t, s_w, s_v, V_n, V_f)
            # x that is carried already meets itself twice
            for pair in ((x, y), (y, x)):
                self.D[pair] = t.add(self.D.get(pair, t.zero), power)
        self.D[x, x] = t.add(wrench_power(t, s_w, s_v, U_n, U_f), self.D[x, x])
        self._add_coupled_column(I, x, U_n, U_f)

    def _eliminate_freedom(self, I: ArticulatedInertia, x: int) -> None:
        """I − U Uᵀ/D, p + U τ/D; of every y still carried U_y − U D_xy/D, D_yz − D_xy D_xz/D,
        τ_y − D_xy τ/D.
        """
        t = self.t
        U_n, U_f = I.coupled_columns.pop(x)
        over_D, tau = t.div(t.one, self.D[x, x]), self.tau[x]
        D = {y: self.D[x, y] for y in I.coupled_columns if (x, y) in self.D}
        self.elimination_data[x] = (U_n, U_f, over_D, tau, D)
        V_n, V_f = I.eliminate(t, U_n, U_f, over_D)
        push = t.mul(over_D, tau)
        I.n = add3(t, I.n, scale3(t, push, U_n))
        I.f = add3(t, I.f, scale3(t, push, U_f))
        # native code is keyed by its nodes; at this point they are serialized in a quarter of the
        # time
        t.serialize()
        for y, d in D.items():
            self._add_coupled_column(I, y, scale3(t, d, V_n), scale3(t, d, V_f))
            self.tau[y] = t.sub(self.tau[y], t.mul(d, push))
            for z, e in D.items():
                self.D[y, z] = t.sub(self.D.get((y, z), t.zero), t.mul(t.mul(d, e), over_D))

    # ---- from the root to the tips again -----------------------------------------------------

    def _propagate_acceleration(self, link: TreeLink) -> None:
        t = self.t
        alpha, a = (
            self.accelerations[link] if link.parent is None else self._inherited_acceleration(link)
        )
        for x, s_w, s_v in link.joint_axes:
            if self.elimination_link[x] is link:
                self._solve_freedom(x, alpha, a)
            alpha, a = (
                add3(t, alpha, scale3(t, self.qddot[x], s_w)),
                add3(t, a, scale3(t, self.qddot[x], s_v)),
            )
        self.accelerations[link] = (alpha, a)
        for x in reversed(self.outer_freedoms.get(link, [])):
            self._solve_freedom(x, alpha, a)

    def _solve_freedom(self, x: int, alpha: Triple, a: Triple) -> None:
        """ẍ = (τ − U·a − Σ D_xy ÿ)/D"""
        t = self.t
        U_n, U_f, over_D, tau, D = self.elimination_data[x]
        rest = t.sub(tau, wrench_power(t, U_n, U_f, alpha, a))
        for y, d in D.items():
            rest = t.sub(rest, t.mul(d, self.qddot[y]))
        self.qddot[x] = t.mul(over_D, rest)
        t.serialize()


@check_options
def recursive(system: System | Kinematics) -> ExplicitEquations:
    """u̇ = u̇(q, u, t) of an open tree, explicitly; NotApplicable where the description is no
    open tree.
    """
    kin = forked_kinematics(system)
    t = kin.tape
    sweep = ArticulatedBodyAlgorithm(kin)
    known = {xdot: e for x, e in sweep.qddot.items() if (xdot := t.rate(x)) is not None}
    # u̇ = d(Ψ q̇ + ψ)/dt with q̈ as found
    rate = Derivative(t, t.rate)
    insert = Substitution(t, known | _quaternion_accelerations(sweep, rate, Substitution(t, known)))
    in_u = Substitution(t, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
    direct = [known.get(udot) for udot in kin.udot]
    udot = [
        e if e is not None else insert(rate(d))
        for e, d in zip(direct, kin.definitions, strict=True)
    ]
    return ExplicitEquations(
        kin.system.name,
        t,
        kin.q,
        kin.u,
        kin.qdot_of_u,
        tuple(in_u(e) for e in udot),
        "link by link",
    )


def _quaternion_accelerations(
    sweep: ArticulatedBodyAlgorithm, rate: Derivative, insert: Substitution
) -> dict[int, int]:
    """ë = d(½ Eᵀ s)/dt with ṡ as found."""
    t = sweep.t
    accelerations: dict[int, int] = {}
    for link in sweep.tree.links:
        rotation = link.ball
        if rotation is not None:
            x, y, z = (s for s, _, _ in link.joint_axes)
            for e, edot in zip(rotation.e, rotation.rates_from_velocity(t, (x, y, z)), strict=True):
                accelerations[t.rate(t.rate(e) or e) or e] = insert(rate(edot))
    return accelerations
