"""Short columns for every freedom of an open tree, from which the derivatives of its accelerations
follow by dot products.

In axes of the ground, about one point. S is the unit motion of a freedom; V, A the velocity and
acceleration of a link (p: of its parent). With Ψ' = V_p × S, Ψ'' = A_p × S + V_p × Ψ', Θ = Ψ' + V ×
S, the inertia I of a link,

    2B = V×* I − I V× + (I V)×̄*     (only a 3 × 3 block E and the vector k = −2 f are not zero)

and the force F that accelerates the link, sums over all links further out give I^C, B^C, F^C and

    g = I^C S,  b = (2B^C)ᵀ S,  d = 2B^C Ψ' + I^C Ψ'' + S ×* F^C,  e = 2B^C S + I^C Θ

    ∂ID_i/∂q_j = b_i·Ψ'_j + g_i·Ψ''_j,  ∂ID_i/∂u_j = b_i·S_j + g_i·Θ_j      (j on the way to i)
    ∂ID_j/∂q_i = S_j·d_i,  ∂ID_j/∂u_i = S_j·e_i,  M_ji = S_j·g_i            (j nearer to the root)

U and 1/D are those of the articulated bodies; M⁻¹ times a column takes 48 operations for each
freedom.

Source: S. Singh, R. P. Russell, P. M. Wensing, IEEE Robotics and Automation Letters 7 (2022) 1776.
"""

from __future__ import annotations

from dataclasses import field

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.rotation import (
    Matrix3,
    add3,
    cross3,
    cross_matrix,
    identity,
    matrix_product,
    matrix_sum,
    matrix_vector,
    negate3,
    outer,
    parallel_axis_term,
    scale3,
    symmetrize,
    transpose,
)
from dalembert.mechanics.kinematics.kinematic_tree import KinematicTree, TreeLink
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.runtime.derivatives.spatial_vectors import (
    RigidInertia,
    Six,
    SpatialInertia,
    SpatialVectors,
)
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.tape import Tape, Triple


@dataclass
class DegreeOfFreedom:
    """One freedom: its speed, the link it moves, and its columns."""

    speed: int
    link: TreeLink
    # the place of the freedom before it on the way to the root; −1 for the first
    parent: int
    S: Six
    psi1: Six
    psi2: Six
    theta: Six
    g: Six
    b: Triple
    d: Six
    e: Six
    U: Six
    over_D: int

    @property
    def row(self) -> list[int]:
        """S, Ψ'_ω, Ψ'', Θ, g, b, d, e, U, 1/D: 49 numbers."""
        six = (self.S, self.psi2, self.theta, self.g, self.d, self.e, self.U)
        S, psi2, theta, g, d, e, U = ([*a[0], *a[1]] for a in six)
        return [*S, *self.psi1[0], *psi2, *theta, *g, *self.b, *d, *e, *U, self.over_D]


@dataclass(frozen=True)
class TreeTables:
    """The degrees of freedom of a tree, parents first, with u̇, the declared loads and the inertias
    of flywheels along each, on one tape.
    """

    kinematics: Kinematics
    dofs: tuple[DegreeOfFreedom, ...]
    # along each freedom
    accelerations: tuple[int, ...]
    loads: tuple[int, ...]
    flywheels: tuple[int, ...]

    @property
    def tape(self) -> Tape:
        """Where the nodes are."""
        return self.kinematics.tape

    @property
    def speeds(self) -> tuple[int, ...]:
        """The speed of each freedom."""
        return tuple(f.speed for f in self.dofs)


def tree_tables(kin: Kinematics) -> TreeTables:
    """The tables on a fork; NotApplicable where the links are no open tree with one speed for each
    freedom.
    """
    return _Sweeps(kin.fork()).tables()


def _check(kin: Kinematics, tree: KinematicTree) -> None:
    """Joint rates along constant axes of their own links, each moving one link; nothing is
    prescribed.
    """
    t = kin.tape
    why = "derivatives link by link need joints that rotate about or slide along fixed axes"
    if any(len(links) > 1 for links in tree.links_moved_by.values()):
        msg = f"{why}, each by a coordinate of its own"
        raise NotApplicable(msg)
    if {*tree.links_moved_by} != {*kin.u}:
        msg = f"{why}, with their own rates as speeds"
        raise NotApplicable(msg)
    for link in tree.links[1:]:
        axes = [x for _, w, v in link.joint_axes for x in (*w, *v)]
        moving = any(x in t.moving for x in symbols_of(t, axes))
        parts = () if link.ball is not None else (*link.spin, *link.r_dot)
        prescribed = any(tree.linear(x)[0] != t.zero for x in parts)
        curved = any(x != t.zero for x in (*link.spin_bias, *link.r_bias))
        if moving or prescribed or curved:
            msg = f"{why}; {link.frame.name} is moved otherwise"
            raise NotApplicable(msg)


@dataclass
class _Motion:
    """Position, velocity, acceleration and inertia of a link."""

    R: Matrix3
    place: Triple
    V: Six
    # V_p × (V − V_p): the acceleration that is there without u̇
    bias: Six
    own: RigidInertia
    # V ×* I V
    p: Six
    acceleration: Six
    S: list[Six] = field(default_factory=list)


class _Sweeps:
    """Outwards for velocities, inwards for articulated bodies, outwards for accelerations, inwards
    for the sums.
    """

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.t, self.x = kin, kin.tape, SpatialVectors(kin.tape)
        self.tree = KinematicTree(kin)
        _check(kin, self.tree)
        t, zero = self.t, self.tree.zero
        self.in_u = Substitution(t, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
        self.load = self._loads()
        gravity = kin.system.gravity_field
        g = zero if gravity is None else gravity.g.on(t).components(kin.system.N)
        nothing = RigidInertia(t.zero, zero, (zero, zero, zero))
        still = self.x.zero
        up = (zero, negate3(t, g))
        self.links = self.tree.links[1:]
        root = _Motion(identity(t), zero, still, still, nothing, still, up)
        self.motion = {self.tree.root: root}
        for link in self.links:
            self.motion[link] = self._move(link)
        self.U: dict[int, Six] = {}
        self.over_D: dict[int, int] = {}
        self._articulate()
        self.udot: dict[int, int] = {}
        for link in self.links:
            self._accelerate(link)

    def _loads(self) -> dict[int, int]:
        """The declared loads along every speed, gravity left out; along a spin ½ E Q_e, since ė = ½
        Eᵀ s.
        """
        kin, t = self.kin, self.t
        Q = dict(
            zip(
                kin.qdot, Quantities(kin).rates.generalized_force_without_gravity.value, strict=True
            )
        )
        for link in self.tree.links[1:]:
            if link.ball is not None:
                along = link.ball.torque_from_load(t, [Q[t.rate(e) or e] for e in link.ball.e])
                Q |= dict(zip((s for s, _, _ in link.joint_axes), along, strict=True))
        return {x: self.in_u(Q[x]) for x in self.tree.links_moved_by}

    # ---- outwards ----------------------------------------------------------------------------

    def _move(self, link: TreeLink) -> _Motion:
        t, x6 = self.t, self.x
        assert link.parent is not None
        up = self.motion[link.parent]
        # the first body that slides freely is the origin: numbers stay small far from the ground's
        free = link.parent is self.tree.root and link.frame is link.parent.frame
        place = self.tree.zero if free else add3(t, up.place, matrix_vector(t, up.R, link.r))
        R = up.R
        if link.frame is not link.parent.frame:
            a, b, c = (link.frame.transform_components(t, row, to_parent=False) for row in up.R)
            R = (a, b, c)
        S: list[Six] = []
        spin = x6.zero
        for speed, s_w, s_v in link.joint_axes:
            w = matrix_vector(t, R, s_w)
            S.append((w, add3(t, matrix_vector(t, R, s_v), cross3(t, place, w))))
            spin = x6.sum(spin, x6.scaled(self.in_u(speed), S[-1]))
        V = x6.sum(up.V, spin)
        own = self._inertia(link, R, place)
        p = x6.force_cross(V, x6.momentum(own, V))
        return _Motion(R, place, V, x6.motion_cross(up.V, spin), own, p, x6.zero, S)

    def _inertia(self, link: TreeLink, R: Matrix3, place: Triple) -> RigidInertia:
        """All masses fixed to a link, about the origin."""
        t, zero = self.t, self.tree.zero
        m, h, A = t.zero, zero, (zero, zero, zero)
        for body, rho in link.masses:
            k = body.mass.i
            h_own = scale3(t, k, rho)
            m, h, A = (
                t.add(m, k),
                add3(t, h, h_own),
                matrix_sum(t, A, parallel_axis_term(t, h_own, rho)),
            )
            if body.inertia is not None:
                A = matrix_sum(t, A, body.inertia.on(t).to(link.frame).rows)
        turned = matrix_vector(t, R, h)
        A = matrix_product(t, matrix_product(t, R, A), transpose(R))
        h = add3(t, turned, scale3(t, m, place))
        A = matrix_sum(
            t,
            A,
            matrix_sum(t, parallel_axis_term(t, h, place), parallel_axis_term(t, place, turned)),
        )
        return RigidInertia(m, h, symmetrize(A))

    # ---- articulated bodies ------------------------------------------------------------------

    def _articulate(self) -> None:
        """U = I^A S, 1/D, and the remainder of each load, from the tips to the root."""
        t, x6 = self.t, self.x
        self.left: dict[int, int] = {}
        bodies: dict[TreeLink, SpatialInertia] = {}
        force: dict[TreeLink, Six] = {}
        for link in self.links:
            bodies[link] = self._own_inertia(link)
            force[link] = self.motion[link].p
        for link in reversed(self.links):
            I, p = bodies[link], force[link]
            motion, up = self.motion[link], link.parent
            pairs = [*zip(link.joint_axes, motion.S, strict=True)]
            for (speed, _, _), S in reversed(pairs):
                I, p = self._take_out(speed, S, I, p)
            if up is not None and up is not self.tree.root:
                p = x6.sum(p, x6.resistance(I, motion.bias))
                force[up] = x6.sum(force[up], p)
                add = (matrix_sum(t, X, Y) for X, Y in zip(bodies[up], I, strict=True))
                bodies[up] = SpatialInertia(*add)

    def _own_inertia(self, link: TreeLink) -> SpatialInertia:
        """That of a link alone."""
        own, O = self.motion[link].own, self.t.zero
        m = own.m
        diagonal: Matrix3 = ((m, O, O), (O, m, O), (O, O, m))
        return SpatialInertia(own.A, cross_matrix(self.t, own.h), diagonal)

    def _take_out(
        self, speed: int, S: Six, I: SpatialInertia, p: Six
    ) -> tuple[SpatialInertia, Six]:
        """I − U Uᵀ/D, p + U (τ − S·p)/D"""
        t, x6 = self.t, self.x
        U = self.U[speed] = x6.resistance(I, S)
        D = t.add(x6.dot(S, U), self.tree.flywheels.get(speed, t.zero))
        over_D = self.over_D[speed] = t.div(t.one, D)
        self.left[speed] = t.sub(self.load[speed], x6.dot(S, p))
        (n, f), (kn, kf) = U, x6.scaled(t.neg(over_D), U)
        A = symmetrize(matrix_sum(t, I.A, outer(t, kn, n)))
        B = matrix_sum(t, I.B, outer(t, kn, f))
        M = symmetrize(matrix_sum(t, I.M, outer(t, kf, f)))
        p = x6.sum(p, x6.scaled(t.mul(over_D, self.left[speed]), U))
        return SpatialInertia(A, B, M), p

    def _accelerate(self, link: TreeLink) -> None:
        """u̇ = (τ − S·p − U·a)/D"""
        t, x6, motion = self.t, self.x, self.motion[link]
        assert link.parent is not None
        a = x6.sum(self.motion[link.parent].acceleration, motion.bias)
        for (speed, _, _), S in zip(link.joint_axes, motion.S, strict=True):
            rest = t.sub(self.left[speed], x6.dot(a, self.U[speed]))
            self.udot[speed] = t.mul(self.over_D[speed], rest)
            a = x6.sum(a, x6.scaled(self.udot[speed], S))
        motion.acceleration = a

    # ---- sums over all links further out -------------------------------------------------------

    def tables(self) -> TreeTables:
        """The columns of every freedom."""
        t, x6 = self.t, self.x
        I = {link: self.motion[link].own for link in self.links}
        E, k, F = {}, {}, {}
        for link in self.links:
            motion = self.motion[link]
            F[link] = x6.sum(x6.momentum(motion.own, motion.acceleration), motion.p)
            E[link], k[link] = self._coriolis(motion)
        rows: dict[int, DegreeOfFreedom] = {}
        for link in reversed(self.links):
            for (speed, _, _), S in zip(link.joint_axes, self.motion[link].S, strict=True):
                rows[speed] = self._freedom(speed, link, S, (I[link], E[link], k[link], F[link]))
            up = link.parent
            if up is not None and up is not self.tree.root:
                I[up], F[up] = x6.joined(I[up], I[link]), x6.sum(F[up], F[link])
                E[up], k[up] = matrix_sum(t, E[up], E[link]), add3(t, k[up], k[link])
        return self._numbered(rows)

    def _coriolis(self, motion: _Motion) -> tuple[Matrix3, Triple]:
        """E = [ω] A − A [ω] − [v][h] − [h][v] − [n], column by column, and k = −2 f with (n, f) = I
        V.
        """
        t = self.t
        (w, v), (_, h, A) = motion.V, motion.own
        n, f = self.x.momentum(motion.own, motion.V)
        columns = []
        for axis in identity(t):
            twice = add3(t, cross3(t, v, cross3(t, h, axis)), cross3(t, h, cross3(t, v, axis)))
            less = add3(t, matrix_vector(t, A, cross3(t, w, axis)), twice)
            turned = add3(t, cross3(t, w, matrix_vector(t, A, axis)), negate3(t, less))
            columns.append(add3(t, turned, cross3(t, axis, n)))
        x, y, z = columns
        return transpose((x, y, z)), scale3(t, t.const(-2), f)

    def _freedom(
        self, speed: int, link: TreeLink, S: Six, sums: tuple[RigidInertia, Matrix3, Triple, Six]
    ) -> DegreeOfFreedom:
        t, x6 = self.t, self.x
        I, E, k, F = sums
        assert link.parent is not None
        up, own = self.motion[link.parent], self.motion[link]
        psi1 = x6.motion_cross(up.V, S)
        psi2 = x6.sum(x6.motion_cross(up.acceleration, S), x6.motion_cross(up.V, psi1))
        alone = len(link.joint_axes) == 1
        theta = x6.scaled(t.const(2), psi1) if alone else x6.sum(psi1, x6.motion_cross(own.V, S))
        g = x6.momentum(I, S)
        b = add3(t, matrix_vector(t, transpose(E), S[0]), cross3(t, S[1], k))
        moved = matrix_vector(t, E, psi1[0]), cross3(t, k, psi1[0])
        d = x6.sum(moved, x6.momentum(I, psi2), x6.force_cross(S, F))
        e = x6.sum((matrix_vector(t, E, S[0]), cross3(t, k, S[0])), x6.momentum(I, theta))
        columns = (S, psi1, psi2, theta, g, b, d, e, self.U[speed], self.over_D[speed])
        return DegreeOfFreedom(speed, link, -1, *columns)

    def _numbered(self, rows: dict[int, DegreeOfFreedom]) -> TreeTables:
        """Parents first, the degrees of freedom of one link one behind the other."""
        dofs: list[DegreeOfFreedom] = []
        last: dict[TreeLink, int] = {self.tree.root: -1}
        for link in self.links:
            assert link.parent is not None
            before = last[link.parent]
            for speed, _, _ in link.joint_axes:
                rows[speed].parent = before
                before = len(dofs)
                dofs.append(rows[speed])
            last[link] = before
        speeds = [f.speed for f in dofs]
        flywheels = {x: self.tree.flywheels.get(x, self.t.zero) for x in speeds}
        results = (tuple(of[x] for x in speeds) for of in (self.udot, self.load, flywheels))
        return TreeTables(self.kin, tuple(dofs), *results)
