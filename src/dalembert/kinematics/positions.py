"""r, R and nothing else: positions and attitudes in the inertial frame, and all kinematics from differentiating them.

Independent of the recursion for velocities: v = ṙ, a = r̈, [ω]ₓ = Ṙ Rᵀ, r_k = ∂r/∂q_k, [θ_k]ₓ = (∂R/∂q_k) Rᵀ.
"""

from __future__ import annotations

from dalembert.algebra.folds import Derivative
from dalembert.algebra.tape import Triple
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.rotation import dot3, plus
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics

Matrix = tuple[Triple, Triple, Triple]


class Positions:
    """Everything in components along N, in q, q̇, q̈ and t."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.t = kin, kin.tape
        t = self.t
        self.rate = Derivative(t, t.rate)
        self._along = [Derivative(t, _Along(t.one, q)) for q in kin.q]
        one: Matrix = ((t.one, t.zero, t.zero), (t.zero, t.one, t.zero), (t.zero, t.zero, t.one))
        self._R: dict[Frame, Matrix] = {kin.system.N: one}
        self._r: dict[Point, Triple] = {kin.system.O: (t.zero, t.zero, t.zero)}

    def R(self, F: Frame) -> Matrix:
        """v_N = R v_F, from the product of the turns."""
        chain = []
        G = F
        while G not in self._R:
            chain.append(G)
            assert G.parent is not None
            G = G.parent
        R = self._R[G]
        basis = self._R[self.kin.system.N]
        for H in reversed(chain):
            assert H.rotation is not None
            columns = [H.rotation.turn(self.t, e, back=True) for e in basis]
            R = tuple(tuple(dot3(self.t, row, c) for c in columns) for row in R)  # type: ignore[assignment]
            self._R[H] = R
        return R

    def in_N(self, v: Vector) -> Triple:
        """The components of a vector along N: Σ_F R_F v_F."""
        t = self.t
        total: Triple = (t.zero, t.zero, t.zero)
        for F, c in v.on(t).parts.items():
            R = self.R(F)
            total = plus(t, total, (dot3(t, R[0], c), dot3(t, R[1], c), dot3(t, R[2], c)))
        return total

    def r(self, P: Point) -> Triple:
        """The position of P from O."""
        chain = []
        Q = P
        while Q not in self._r:
            chain.append(Q)
            assert Q.parent is not None
            Q = Q.parent
        r = self._r[Q]
        for H in reversed(chain):
            r = self._r[H] = plus(self.t, r, self.in_N(H.r))
        return r

    def dt(self, c: Triple) -> Triple:
        """d/dt in components along N."""
        return self.rate(c[0]), self.rate(c[1]), self.rate(c[2])

    def w(self, F: Frame) -> Triple:
        """ω from [ω]ₓ = Ṙ Rᵀ."""
        return self._axial(tuple(self.dt(row) for row in self.R(F)), self.R(F))  # type: ignore[arg-type]

    def r_k(self, P: Point, k: int) -> Triple:
        """r_k = ∂r/∂q_k

        Source: Bar00 (3), (4).
        """
        d = self._along[k]
        x, y, z = self.r(P)
        return d(x), d(y), d(z)

    def theta_k(self, F: Frame, k: int) -> Triple:
        """[θ_k]ₓ = (∂R/∂q_k) Rᵀ"""
        d = self._along[k]
        R = self.R(F)
        return self._axial(tuple((d(a), d(b), d(c)) for a, b, c in R), R)  # type: ignore[arg-type]

    def _axial(self, dR: Matrix, R: Matrix) -> Triple:
        return dot3(self.t, dR[2], R[1]), dot3(self.t, dR[0], R[2]), dot3(self.t, dR[1], R[0])


class _Along:
    """∂q/∂q = 1: the rates for a partial derivative along one coordinate."""

    def __init__(self, one: int, q: int) -> None:
        self.one, self.q = one, q

    def __call__(self, i: int) -> int | None:
        return self.one if i == self.q else None
