"""I_A α + p = n: forward dynamics of an open tree from link to link, in a number of operations proportional to the links.

From the tips to the root each link's inertia and bias force are seen through its joint (articulated bodies); from
the root to the tips the accelerations follow. Classical accelerations of the joint points are used, so only angular
velocities are needed. This is the route that native code takes for open trees.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 7, in classical accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.folds import Derivative, Rewrite
from dalembert.algebra.tape import Tape, Triple
from dalembert.equations.explicit import ExplicitEquations
from dalembert.geometry.frame import Frame
from dalembert.geometry.rotation import Quaternion
from dalembert.geometry.vector import cross3, dot3, plus
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinematics.tree import Link, Tree
from dalembert.kinetics.generalized_forces import generalized_forces_by_sweep
from dalembert.model.system import System
from dalembert.principles.base import on_fork

Matrix = tuple[Triple, Triple, Triple]


@dataclass
class Articulated:
    """n = A α + B a + n₀, f = Bᵀ α + M a + f₀ at the link's point, in the link's axes."""

    A: Matrix
    B: Matrix
    M: Matrix
    n: Triple
    f: Triple


class Links:
    """The links of an open tree with their angular velocities, their accelerations at q̈ = 0 and what each weighs by itself."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.t = kin, kin.tape
        self.tree = Tree(kin)
        t = self.t
        zero = self.tree.zero
        self.zero_matrix: Matrix = (zero, zero, zero)
        Q = generalized_forces_by_sweep(kin)
        self.load = dict(zip(kin.qdot, Q, strict=True))
        for link in self.tree.links:
            self._load_of_ball(link)
        self.w: dict[Link, Triple] = {}
        self.bodies: dict[Link, Articulated] = {}
        self.bias: dict[Link, tuple[Triple, Triple]] = {}
        for link in self.tree.links:
            self._velocity(link)
            self.bodies[link] = self._own_inertia(link)
        field = kin.system.field
        down = zero if field is None else field.g.on(t).components(kin.system.N)
        # the root that accelerates upwards is the field
        self.accelerations: dict[Link, tuple[Triple, Triple]] = {self.tree.root: (zero, self._neg(down))}

    def _load_of_ball(self, link: Link) -> None:
        """ė = ½ Eᵀ s, so the load along the spin s of a quaternion is ½ E Q_e."""
        t, rotation = self.t, _own_quaternion(link)
        if rotation is None:
            return
        Q = [self.load[t.rate(e) or e] for e in rotation.e]
        half = t.div(t.one, t.const(2))
        for (s, _, _), row in zip(link.freedoms, rotation.rows(t), strict=True):
            total = t.zero
            for x, y in zip(row, Q, strict=True):
                total = t.add(total, t.mul(x, y))
            self.load[s] = t.mul(half, total)

    # ---- small algebra -----------------------------------------------------------------------

    def _neg(self, a: Triple) -> Triple:
        return self.t.neg(a[0]), self.t.neg(a[1]), self.t.neg(a[2])

    def _scale(self, k: int, a: Triple) -> Triple:
        mul = self.t.mul
        return mul(k, a[0]), mul(k, a[1]), mul(k, a[2])

    def _times(self, X: Matrix, a: Triple) -> Triple:
        return dot3(self.t, X[0], a), dot3(self.t, X[1], a), dot3(self.t, X[2], a)

    def _plus(self, X: Matrix, Y: Matrix) -> Matrix:
        t = self.t
        return plus(t, X[0], Y[0]), plus(t, X[1], Y[1]), plus(t, X[2], Y[2])

    # ---- from the root to the tips -----------------------------------------------------------

    def _velocity(self, link: Link) -> None:
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
        swing = cross3(t, w_p, plus(t, self._scale(t.const(2), link.r_dot), cross3(t, w_p, link.r)))
        c_v = plus(t, link.r_bias, swing)
        if link.frame is not link.parent.frame:
            c_v = link.frame.turn(t, c_v, back=False)
        self.bias[link] = (c_w, c_v)

    def _own_inertia(self, link: Link) -> Articulated:
        """The masses fixed to a link, about its point."""
        t = self.t
        total = Articulated(self.zero_matrix, self.zero_matrix, self.zero_matrix, self.tree.zero, self.tree.zero)
        w = self.w[link]
        for body, rho in link.masses:
            m = body.mass.i
            m_rho = self._scale(m, rho)
            # ω×(ω×ρ) m, and ω×Iω about the link's point
            centrifugal = cross3(t, w, cross3(t, w, m_rho))
            A = _minus_cross_squared(t, m_rho, rho)
            if body.frame is not None and body.inertia is not None:
                A = self._plus(A, body.inertia.on(t).to(link.frame).rows)
            total.A = self._plus(total.A, A)
            total.B = self._plus(total.B, _cross_matrix(t, m_rho))
            total.M = self._plus(total.M, ((m, t.zero, t.zero), (t.zero, m, t.zero), (t.zero, t.zero, m)))
            total.n = plus(t, total.n, cross3(t, w, self._times(A, w)))
            total.f = plus(t, total.f, centrifugal)
        return total

    def _carried(self, link: Link) -> tuple[Triple, Triple]:
        """(α, a) of a link whose own freedoms have no acceleration."""
        t, parent = self.t, link.parent
        assert parent is not None
        alpha, a = self.accelerations[parent]
        a = plus(t, a, cross3(t, alpha, link.r))
        if link.frame is not parent.frame:
            alpha, a = link.frame.turn(t, alpha, back=False), link.frame.turn(t, a, back=False)
        c_w, c_v = self.bias[link]
        return plus(t, alpha, c_w), plus(t, a, c_v)

    def _add_moved(self, total: Articulated, I: Articulated, link: Link, F: Frame) -> None:
        """Turn into the parent's axes, move to the parent's point, add."""
        t, r = self.t, link.r
        A, B, M, n, f = I.A, I.B, I.M, I.n, I.f
        if link.frame is not F:
            A, B, M = _symmetric(_turned(t, link.frame, A)), _turned(t, link.frame, B), _symmetric(_turned(t, link.frame, M))
            n, f = link.frame.turn(t, n, back=True), link.frame.turn(t, f, back=True)
        r_x = _cross_matrix(t, r)
        moved_B = self._plus(B, _product(t, r_x, M))
        # A' = A + [r]ₓ Bᵀ − B' [r]ₓ with B' = B + [r]ₓ M
        gain = self._plus(_product(t, r_x, _transposed(B)), _negative(t, _product(t, moved_B, r_x)))
        A, B = _symmetric(self._plus(A, gain)), moved_B
        total.A, total.B, total.M = self._plus(total.A, A), self._plus(total.B, B), self._plus(total.M, M)
        total.n = plus(t, total.n, plus(t, n, cross3(t, r, f)))
        total.f = plus(t, total.f, f)


class Sweep(Links):
    """One pass from the root to the tips, one back, and one forth."""

    def __init__(self, kin: Kinematics) -> None:
        super().__init__(kin)
        # freedom → (U_n, U_f, 1/D, τ − S·p)
        self.through: dict[int, tuple[Triple, Triple, int, int]] = {}
        for link in reversed(self.tree.links[1:]):
            self._into_parent(link)
        self.qddot: dict[int, int] = {}
        for link in self.tree.links[1:]:
            self._acceleration(link)

    # ---- from the tips to the root -----------------------------------------------------------

    def _into_parent(self, link: Link) -> None:
        t, I = self.t, self.bodies[link]
        for x, s_w, s_v in reversed(link.freedoms):
            self._see_through(I, x, s_w, s_v)
        c_w, c_v = self.bias[link]
        I.n = plus(t, I.n, plus(t, self._times(I.A, c_w), self._times(I.B, c_v)))
        I.f = plus(t, I.f, plus(t, self._times(_transposed(I.B), c_w), self._times(I.M, c_v)))
        parent = link.parent
        assert parent is not None
        self._add_moved(self.bodies[parent], I, link, parent.frame)

    def _see_through(self, I: Articulated, x: int, s_w: Triple, s_v: Triple) -> None:
        """Take one freedom S out: I − U Uᵀ/D and p + U τ/D with U = I S, D = S·U + J, τ = load − S·p."""
        t = self.t
        U_n = plus(t, self._times(I.A, s_w), self._times(I.B, s_v))
        U_f = plus(t, self._times(_transposed(I.B), s_w), self._times(I.M, s_v))
        J = self.tree.flywheels.get(x, t.zero)
        over_D = t.div(t.one, t.add(t.add(dot3(t, s_w, U_n), dot3(t, s_v, U_f)), J))
        tau = t.sub(self.load.get(x, t.zero), t.add(dot3(t, s_w, I.n), dot3(t, s_v, I.f)))
        self.through[x] = (U_n, U_f, over_D, tau)
        V_n, V_f = self._neg(self._scale(over_D, U_n)), self._neg(self._scale(over_D, U_f))
        # without a flywheel S·I vanishes after this: along a coordinate axis that is a row of exact zeros
        turns, slides = (_unit(t, s_w, s_v), _unit(t, s_v, s_w)) if t.zero == J else (None, None)
        I.A = _cleared(t, _symmetric(self._plus(I.A, _outer(t, V_n, U_n))), turns, turns)
        I.B = _cleared(t, self._plus(I.B, _outer(t, V_n, U_f)), turns, slides)
        I.M = _cleared(t, _symmetric(self._plus(I.M, _outer(t, V_f, U_f))), slides, slides)
        push = t.mul(over_D, tau)
        I.n = plus(t, I.n, self._scale(push, U_n))
        I.f = plus(t, I.f, self._scale(push, U_f))

    # ---- from the root to the tips again -----------------------------------------------------

    def _acceleration(self, link: Link) -> None:
        t = self.t
        alpha, a = self._carried(link)
        for x, s_w, s_v in link.freedoms:
            U_n, U_f, over_D, tau = self.through[x]
            qddot = self.qddot[x] = t.mul(over_D, t.sub(tau, t.add(dot3(t, U_n, alpha), dot3(t, U_f, a))))
            alpha, a = plus(t, alpha, self._scale(qddot, s_w)), plus(t, a, self._scale(qddot, s_v))
        self.accelerations[link] = (alpha, a)


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


def _own_quaternion(link: Link) -> Quaternion | None:
    """The quaternion of a ball joint; a link that slides in the same frame has none of its own."""
    turns = link.parent is not None and link.frame is not link.parent.frame
    return link.frame.rotation if turns and isinstance(link.frame.rotation, Quaternion) else None


def _quaternion_accelerations(sweep: Sweep, rate: Derivative, insert: Rewrite) -> dict[int, int]:
    """ë = d(½ Eᵀ s)/dt with ṡ as found."""
    t = sweep.t
    found: dict[int, int] = {}
    for link in sweep.tree.links:
        rotation = _own_quaternion(link)
        if rotation is not None:
            x, y, z = (s for s, _, _ in link.freedoms)
            for e, edot in zip(rotation.e, rotation.rates_from_spin(t, (x, y, z)), strict=True):
                found[t.rate(t.rate(e) or e) or e] = insert(rate(edot))
    return found


def _cross_matrix(t: Tape, r: Triple) -> Matrix:
    """[r]ₓ"""
    x, y, z = r
    return (t.zero, t.neg(z), y), (z, t.zero, t.neg(x)), (t.neg(y), x, t.zero)


def _minus_cross_squared(t: Tape, m_r: Triple, r: Triple) -> Matrix:
    """m (r·r 1 − r r)"""
    xx, yy, zz = t.mul(m_r[0], r[0]), t.mul(m_r[1], r[1]), t.mul(m_r[2], r[2])
    xy, yz, xz = t.neg(t.mul(m_r[0], r[1])), t.neg(t.mul(m_r[1], r[2])), t.neg(t.mul(m_r[0], r[2]))
    return (t.add(yy, zz), xy, xz), (xy, t.add(xx, zz), yz), (xz, yz, t.add(xx, yy))


def _transposed(X: Matrix) -> Matrix:
    return (X[0][0], X[1][0], X[2][0]), (X[0][1], X[1][1], X[2][1]), (X[0][2], X[1][2], X[2][2])


def _outer(t: Tape, a: Triple, b: Triple) -> Matrix:
    return tuple((t.mul(x, b[0]), t.mul(x, b[1]), t.mul(x, b[2])) for x in a)  # type: ignore[return-value]


def _product(t: Tape, X: Matrix, Y: Matrix) -> Matrix:
    columns = _transposed(Y)
    return tuple((dot3(t, x, columns[0]), dot3(t, x, columns[1]), dot3(t, x, columns[2])) for x in X)  # type: ignore[return-value]


def _turned(t: Tape, F: Frame, X: Matrix) -> Matrix:
    """R X Rᵀ from the axes of F to those of its parent."""
    half = tuple(F.turn(t, c, back=True) for c in _transposed(X))
    return tuple(F.turn(t, c, back=True) for c in _transposed(half))  # type: ignore[arg-type, return-value]


def _negative(t: Tape, X: Matrix) -> Matrix:
    return tuple((t.neg(a), t.neg(b), t.neg(c)) for a, b, c in X)  # type: ignore[return-value]


def _symmetric(X: Matrix) -> Matrix:
    """A matrix known to be symmetric, by its upper half: the lower half is never computed."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = X
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


def _unit(t: Tape, s: Triple, other: Triple) -> int | None:
    """Which coordinate axis S lies along, if it is one of them and nothing else."""
    if any(x != t.zero for x in other) or sum(x != t.zero for x in s) != 1:
        return None
    return next(k for k in range(3) if s[k] != t.zero)


def _cleared(t: Tape, X: Matrix, row: int | None, column: int | None) -> Matrix:
    """X with a row and a column that are known to vanish."""
    return tuple(tuple(t.zero if i == row or j == column else x for j, x in enumerate(r)) for i, r in enumerate(X))  # type: ignore[return-value]
