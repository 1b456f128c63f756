"""r, R and nothing else: positions and attitudes in the inertial frame, and all kinematics from
differentiating them.

Independent of the recursion for velocities: v = ṙ, a = r̈, [ω]ₓ = Ṙ Rᵀ, r_k = ∂r/∂q_k, [θ_k]ₓ =
(∂R/∂q_k) Rᵀ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from dalembert.foundation.caching import lazy_property
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import Matrix3, add3, dot3, matrix_vector, transpose
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.expression_graph import Derivative
from dalembert.symbolic.algebra.tape import Triple

FrameOrPoint = TypeVar("FrameOrPoint", Frame, Point)


class PositionKinematics:
    """Everything in components along N, in q, q̇, q̈ and t."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.t = kin, kin.tape
        t = self.t
        self.rate = Derivative(t, t.rate)
        one: Matrix3 = ((t.one, t.zero, t.zero), (t.zero, t.one, t.zero), (t.zero, t.zero, t.one))
        self._R: dict[Frame, Matrix3] = {kin.system.N: one}
        self._r: dict[Point, Triple] = {kin.system.O: (t.zero, t.zero, t.zero)}

    def R(self, F: Frame) -> Matrix3:
        """v_N = R v_F, from the product of the turns."""
        basis = self._R[self.kin.system.N]
        for G in _missing_ancestors(F, self._R):
            assert G.parent is not None
            assert G.rotation is not None
            columns = [G.rotation.transform(self.t, e, back=True) for e in basis]
            self._R[G] = tuple(
                tuple(dot3(self.t, row, c) for c in columns) for row in self._R[G.parent]
            )  # type: ignore[assignment]
        return self._R[F]

    def in_N(self, v: Vector) -> Triple:
        """The components of a vector along N: Σ_F R_F v_F."""
        t = self.t
        total: Triple = (t.zero, t.zero, t.zero)
        for F, c in v.on(t).parts.items():
            R = self.R(F)
            total = add3(t, total, matrix_vector(t, R, c))
        return total

    def r(self, P: Point) -> Triple:
        """The position of P from O."""
        for Q in _missing_ancestors(P, self._r):
            assert Q.parent is not None
            self._r[Q] = add3(self.t, self._r[Q.parent], self.in_N(Q.r))
        return self._r[P]

    def time_derivative(self, c: Triple) -> Triple:
        """d/dt in components along N."""
        return self.rate(c[0]), self.rate(c[1]), self.rate(c[2])

    def w(self, F: Frame) -> Triple:
        """ω from [ω]ₓ = Ṙ Rᵀ."""
        R = self.R(F)
        R_dot = tuple(self.time_derivative(row) for row in R)
        return self._axial_vector(R_dot, R)  # type: ignore[arg-type]

    def angular_momentum(self, I: Dyadic, w: Triple) -> Triple:
        """R I Rᵀ ω"""
        t, R = self.t, self.R(I.frame)
        return matrix_vector(t, R, matrix_vector(t, I.rows, matrix_vector(t, transpose(R), w)))

    def r_k(self, P: Point, k: int) -> Triple:
        """r_k = ∂r/∂q_k

        Source: Bar00 (3), (4).
        """
        d = self._coordinate_derivatives[k]
        x, y, z = self.r(P)
        return d(x), d(y), d(z)

    def theta_k(self, F: Frame, k: int) -> Triple:
        """[θ_k]ₓ = (∂R/∂q_k) Rᵀ"""
        d = self._coordinate_derivatives[k]
        R = self.R(F)
        R_k = tuple((d(a), d(b), d(c)) for a, b, c in R)
        return self._axial_vector(R_k, R)  # type: ignore[arg-type]

    @lazy_property
    def _coordinate_derivatives(self) -> list[Derivative]:
        """∂/∂q_k for every k"""
        return [Derivative(self.t, {q: self.t.one}.get) for q in self.kin.q]

    def _axial_vector(self, dR: Matrix3, R: Matrix3) -> Triple:
        return dot3(self.t, dR[2], R[1]), dot3(self.t, dR[0], R[2]), dot3(self.t, dR[1], R[0])


def _missing_ancestors(X: FrameOrPoint, known: Mapping[FrameOrPoint, object]) -> list[FrameOrPoint]:
    """X and its ancestors that are not known yet, ancestors first."""
    chain: list[FrameOrPoint] = []
    while X not in known:
        chain.append(X)
        assert X.parent is not None
        X = X.parent
    return chain[::-1]
