"""I_A α + p = n: forward dynamics of an open tree from link to link, in a number of operations proportional to the links.

From the tips to the root each link's inertia and bias force are seen through its joint (articulated bodies); from
the root to the tips the accelerations follow. Classical accelerations of the joint points are used, so only angular
velocities are needed. This is the route that native code takes for open trees. A coordinate that moves several links, as
coupled joints do, is carried along as a column U with f = I a + U ẍ + p until the link where all of them meet.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7, in classical accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dalembert.foundation.suggestions import options_by_name
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.rotation import (
    Matrix3,
    cross3,
    cross_matrix,
    matrix_product,
    matrix_sum,
    negative,
    opposite,
    outer,
    plus,
    power,
    scaled,
    steiner,
    symmetric,
    times,
    transposed,
)
from dalembert.mechanics.kinematics.kinematic_tree import Tree, TreeLink
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import on_fork
from dalembert.symbolic.algebra.expression_graph import Derivative, Rewrite
from dalembert.symbolic.algebra.tape import Tape, Triple


def _turned(t: Tape, F: Frame, X: Matrix3) -> Matrix3:
    """R X Rᵀ from the axes of F to those of its parent."""
    half = tuple(F.turn(t, c, back=True) for c in transposed(X))
    return tuple(F.turn(t, c, back=True) for c in transposed(half))  # type: ignore[arg-type, return-value]


@dataclass
class Articulated:
    """n = A α + B a + n₀, f = Bᵀ α + M a + f₀ at the link's point, in the link's axes."""

    A: Matrix3
    B: Matrix3
    M: Matrix3
    n: Triple
    f: Triple
    # {freedom not yet taken out: (U_n, U_f)}
    carried: dict[int, tuple[Triple, Triple]] = field(default_factory=dict)


class Links:
    """The links of an open tree with their angular velocities, their accelerations at q̈ = 0 and what each weighs by itself."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.t = kin, kin.tape
        self.tree = Tree(kin)
        t = self.t
        zero = self.tree.zero
        self.zero_matrix: Matrix3 = (zero, zero, zero)
        Q = Quantities(kin).rates.of_loads_but_gravity.value
        self.load = dict(zip(kin.qdot, Q, strict=True))
        for link in self.tree.links:
            self._load_of_ball(link)
        self.w: dict[TreeLink, Triple] = {}
        self.bodies: dict[TreeLink, Articulated] = {}
        self.bias: dict[TreeLink, tuple[Triple, Triple]] = {}
        for link in self.tree.links:
            self._velocity(link)
            self.bodies[link] = self._own_inertia(link)
        field = kin.system.field
        down = zero if field is None else field.g.on(t).components(kin.system.N)
        # the root that accelerates upwards is the field
        self.accelerations: dict[TreeLink, tuple[Triple, Triple]] = {self.tree.root: (zero, negative(t, down))}

    def _load_of_ball(self, link: TreeLink) -> None:
        """ė = ½ Eᵀ s, so the load along the spin s of a quaternion is ½ E Q_e."""
        if link.ball is not None:
            Q = [self.load[self.t.rate(e) or e] for e in link.ball.e]
            self.load |= dict(zip((s for s, _, _ in link.freedoms), link.ball.load_of_spin(self.t, Q), strict=True))

    # ---- from the root to the tips -----------------------------------------------------------

    def _velocity(self, link: TreeLink) -> None:
        """ω and the accelerations that are there at q̈ = 0."""
        t = self.t
        if link.parent is None:
            self.w[link] = self.tree.zero
            return
        w_p = self.w[link.parent]
        turned = link.frame.turn(t, w_p, back=False) if link.frame is not link.parent.frame else w_p
        w = self.w[link] = plus(t, turned, link.spin)
        # d(spin)/dt = bias + ω × spin;  d²r/dt² = r̈ + 2 ω×ṙ + ω×(ω×r)
        c_w = plus(t, link.spin_bias, cross3(t, w, link.spin))
        swing = cross3(t, w_p, plus(t, scaled(t, t.const(2), link.r_dot), cross3(t, w_p, link.r)))
        c_v = plus(t, link.r_bias, swing)
        if link.frame is not link.parent.frame:
            c_v = link.frame.turn(t, c_v, back=False)
        self.bias[link] = (c_w, c_v)

    def _own_inertia(self, link: TreeLink) -> Articulated:
        """The masses fixed to a link, about its point."""
        t = self.t
        total = Articulated(self.zero_matrix, self.zero_matrix, self.zero_matrix, self.tree.zero, self.tree.zero)
        w = self.w[link]
        for body, rho in link.masses:
            m = body.mass.i
            m_rho = scaled(t, m, rho)
            # ω×(ω×ρ) m, and ω×Iω about the link's point
            centrifugal = cross3(t, w, cross3(t, w, m_rho))
            A = steiner(t, m_rho, rho)
            if body.frame is not None and body.inertia is not None:
                A = matrix_sum(t, A, body.inertia.on(t).to(link.frame).rows)
            total.A = matrix_sum(t, total.A, A)
            total.B = matrix_sum(t, total.B, cross_matrix(t, m_rho))
            total.M = matrix_sum(t, total.M, ((m, t.zero, t.zero), (t.zero, m, t.zero), (t.zero, t.zero, m)))
            total.n = plus(t, total.n, cross3(t, w, times(t, A, w)))
            total.f = plus(t, total.f, centrifugal)
        return total

    def _carried(self, link: TreeLink) -> tuple[Triple, Triple]:
        """(α, a) of a link whose own freedoms have no acceleration."""
        t, parent = self.t, link.parent
        assert parent is not None
        alpha, a = self.accelerations[parent]
        a = plus(t, a, cross3(t, alpha, link.r))
        if link.frame is not parent.frame:
            alpha, a = link.frame.turn(t, alpha, back=False), link.frame.turn(t, a, back=False)
        c_w, c_v = self.bias[link]
        return plus(t, alpha, c_w), plus(t, a, c_v)

    def _add_moved(self, total: Articulated, I: Articulated, link: TreeLink, F: Frame) -> None:
        """Turn into the parent's axes, move to the parent's point, add."""
        t, r = self.t, link.r
        A, B, M, n, f = I.A, I.B, I.M, I.n, I.f
        if link.frame is not F:
            A, B, M = symmetric(_turned(t, link.frame, A)), _turned(t, link.frame, B), symmetric(_turned(t, link.frame, M))
            n, f = link.frame.turn(t, n, back=True), link.frame.turn(t, f, back=True)
        r_x = cross_matrix(t, r)
        moved_B = matrix_sum(t, B, matrix_product(t, r_x, M))
        # A' = A + [r]ₓ Bᵀ − B' [r]ₓ with B' = B + [r]ₓ M
        gain = matrix_sum(t, matrix_product(t, r_x, transposed(B)), opposite(t, matrix_product(t, moved_B, r_x)))
        A, B = symmetric(matrix_sum(t, A, gain)), moved_B
        total.A, total.B, total.M = matrix_sum(t, total.A, A), matrix_sum(t, total.B, B), matrix_sum(t, total.M, M)
        total.n = plus(t, total.n, plus(t, n, cross3(t, r, f)))
        total.f = plus(t, total.f, f)
        for x, U in I.carried.items():
            U_n, U_f = U if link.frame is F else (link.frame.turn(t, U[0], back=True), link.frame.turn(t, U[1], back=True))
            self._carry(total, x, plus(t, U_n, cross3(t, r, U_f)), U_f)

    def _momentum(self, I: Articulated, w: Triple, v: Triple) -> tuple[Triple, Triple]:
        """(A w + B v, Bᵀ w + M v)"""
        t = self.t
        return plus(t, times(t, I.A, w), times(t, I.B, v)), plus(t, times(t, transposed(I.B), w), times(t, I.M, v))

    def _resist(self, I: Articulated, alpha: Triple, a: Triple) -> None:
        """n and f with what an acceleration adds."""
        n, f = self._momentum(I, alpha, a)
        I.n, I.f = plus(self.t, I.n, n), plus(self.t, I.f, f)

    def _carry(self, total: Articulated, x: int, U_n: Triple, U_f: Triple) -> None:
        n, f = total.carried.get(x, (self.tree.zero, self.tree.zero))
        total.carried[x] = plus(self.t, n, U_n), plus(self.t, f, U_f)


class Sweep(Links):
    """One pass from the root to the tips, one back, and one forth."""

    def __init__(self, kin: Kinematics) -> None:
        super().__init__(kin)
        t = self.t
        # x → (U_n, U_f, 1/D, τ − S·p, {y: D_xy}), y taken out nearer to the root
        self.through: dict[int, tuple[Triple, Triple, int, int, dict[int, int]]] = {}
        # D_xy of freedoms that are not yet taken out, and what is left of their loads
        self.D = {(x, x): self.tree.flywheels.get(x, t.zero) for x in self.tree.moved}
        self.tau = {x: self.load.get(x, t.zero) for x in self.tree.moved}
        self.meeting = {x: self.tree.meeting(x) for x in self.tree.moved}
        # freedoms of links further out that meet at a link which they do not move
        self.from_outside: dict[TreeLink, list[int]] = {}
        for x, link in self.meeting.items():
            if link not in self.tree.moved[x]:
                self.from_outside.setdefault(link, []).append(x)
        for link in reversed(self.tree.links):
            self._into_parent(link)
        self.qddot: dict[int, int] = {}
        for link in self.tree.links:
            self._acceleration(link)

    # ---- from the tips to the root -----------------------------------------------------------

    def _into_parent(self, link: TreeLink) -> None:
        t, I = self.t, self.bodies[link]
        for x in self.from_outside.get(link, ()):
            self._take_out(I, x)
        for x, s_w, s_v in reversed(link.freedoms):
            self._enter(I, x, s_w, s_v)
            if self.meeting[x] is link:
                self._take_out(I, x)
                # without a flywheel S·I vanishes after this: along a coordinate axis that is a row of exact zeros
                if len(self.tree.moved[x]) == 1 and x not in self.tree.flywheels:
                    _clear(t, I, _unit(t, s_w, s_v), _unit(t, s_v, s_w))
        if link.parent is None:
            return
        c_w, c_v = self.bias[link]
        self._resist(I, c_w, c_v)
        for x, (U_n, U_f) in I.carried.items():
            self.tau[x] = t.sub(self.tau[x], power(t, U_n, U_f, c_w, c_v))
        self._add_moved(self.bodies[link.parent], I, link, link.parent.frame)

    def _enter(self, I: Articulated, x: int, s_w: Triple, s_v: Triple) -> None:
        """U_x = I S, D_xy = S·U_y, τ − S·p"""
        t = self.t
        self.tau[x] = t.sub(self.tau[x], power(t, s_w, s_v, I.n, I.f))
        U_n, U_f = self._momentum(I, s_w, s_v)
        for y, (V_n, V_f) in I.carried.items():
            # x that is carried already meets itself twice
            for pair in ((x, y), (y, x)):
                self.D[pair] = t.add(self.D.get(pair, t.zero), power(t, s_w, s_v, V_n, V_f))
        self.D[x, x] = t.add(power(t, s_w, s_v, U_n, U_f), self.D[x, x])
        self._carry(I, x, U_n, U_f)

    def _take_out(self, I: Articulated, x: int) -> None:
        """I − U Uᵀ/D, p + U τ/D; of every y still carried U_y − U D_xy/D, D_yz − D_xy D_xz/D, τ_y − D_xy τ/D."""
        t = self.t
        U_n, U_f = I.carried.pop(x)
        over_D, tau = t.div(t.one, self.D[x, x]), self.tau[x]
        D = {y: self.D[x, y] for y in I.carried if (x, y) in self.D}
        self.through[x] = (U_n, U_f, over_D, tau, D)
        V_n, V_f = negative(t, scaled(t, over_D, U_n)), negative(t, scaled(t, over_D, U_f))
        I.A = symmetric(matrix_sum(t, I.A, outer(t, V_n, U_n)))
        I.B = matrix_sum(t, I.B, outer(t, V_n, U_f))
        I.M = symmetric(matrix_sum(t, I.M, outer(t, V_f, U_f)))
        push = t.mul(over_D, tau)
        I.n = plus(t, I.n, scaled(t, push, U_n))
        I.f = plus(t, I.f, scaled(t, push, U_f))
        # native code is found by its nodes; while they are at hand they are written down in a quarter of the time
        t.write_down()
        for y, d in D.items():
            self._carry(I, y, scaled(t, d, V_n), scaled(t, d, V_f))
            self.tau[y] = t.sub(self.tau[y], t.mul(d, push))
            for z, e in D.items():
                self.D[y, z] = t.sub(self.D.get((y, z), t.zero), t.mul(t.mul(d, e), over_D))

    # ---- from the root to the tips again -----------------------------------------------------

    def _acceleration(self, link: TreeLink) -> None:
        t = self.t
        alpha, a = self.accelerations[link] if link.parent is None else self._carried(link)
        for x, s_w, s_v in link.freedoms:
            if self.meeting[x] is link:
                self._solve(x, alpha, a)
            alpha, a = plus(t, alpha, scaled(t, self.qddot[x], s_w)), plus(t, a, scaled(t, self.qddot[x], s_v))
        self.accelerations[link] = (alpha, a)
        for x in reversed(self.from_outside.get(link, [])):
            self._solve(x, alpha, a)

    def _solve(self, x: int, alpha: Triple, a: Triple) -> None:
        """ẍ = (τ − U·a − Σ D_xy ÿ)/D"""
        t = self.t
        U_n, U_f, over_D, tau, D = self.through[x]
        rest = t.sub(tau, power(t, U_n, U_f, alpha, a))
        for y, d in D.items():
            rest = t.sub(rest, t.mul(d, self.qddot[y]))
        self.qddot[x] = t.mul(over_D, rest)
        t.write_down()


@options_by_name
def recursive(system: System | Kinematics) -> ExplicitEquations:
    """u̇ = u̇(q, u, t) of an open tree, explicitly; NotApplicable where the description is no open tree."""
    kin = on_fork(system)
    t = kin.tape
    sweep = Sweep(kin)
    known = {xdot: e for x, e in sweep.qddot.items() if (xdot := t.rate(x)) is not None}
    # u̇ = d(Ψ q̇ + ψ)/dt with q̈ as found
    rate = Derivative(t, t.rate)
    insert = Rewrite(t, known | _quaternion_accelerations(sweep, rate, Rewrite(t, known)))
    in_u = Rewrite(t, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
    direct = [known.get(udot) for udot in kin.udot]
    udot = [e if e is not None else insert(rate(d)) for e, d in zip(direct, kin.definitions, strict=True)]
    return ExplicitEquations(kin.system.name, t, kin.q, kin.u, kin.qdot_of_u, tuple(in_u(e) for e in udot), "link by link")


def _quaternion_accelerations(sweep: Sweep, rate: Derivative, insert: Rewrite) -> dict[int, int]:
    """ë = d(½ Eᵀ s)/dt with ṡ as found."""
    t = sweep.t
    found: dict[int, int] = {}
    for link in sweep.tree.links:
        rotation = link.ball
        if rotation is not None:
            x, y, z = (s for s, _, _ in link.freedoms)
            for e, edot in zip(rotation.e, rotation.rates_from_spin(t, (x, y, z)), strict=True):
                found[t.rate(t.rate(e) or e) or e] = insert(rate(edot))
    return found


def _unit(t: Tape, s: Triple, other: Triple) -> int | None:
    """Which coordinate axis S lies along, if it is one of them and nothing else."""
    if any(x != t.zero for x in other) or sum(x != t.zero for x in s) != 1:
        return None
    return next(k for k in range(3) if s[k] != t.zero)


def _clear(t: Tape, I: Articulated, turns: int | None, slides: int | None) -> None:
    """Rows and columns that are known to vanish."""
    I.A, I.B, I.M = _cleared(t, I.A, turns, turns), _cleared(t, I.B, turns, slides), _cleared(t, I.M, slides, slides)


def _cleared(t: Tape, X: Matrix3, row: int | None, column: int | None) -> Matrix3:
    """X with a row and a column that are known to vanish."""
    return tuple(tuple(t.zero if i == row or j == column else x for j, x in enumerate(r)) for i, r in enumerate(X))  # type: ignore[return-value]
