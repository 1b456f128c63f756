"""Partial and total derivatives of vectors written in the inertial frame, from positions and
rotations alone.
"""

from dataclasses import dataclass, field
from functools import cached_property

from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import cross3, dot3
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.expression_graph import Derivative
from dalembert.symbolic.algebra.tape import Tape, Triple


@dataclass
class Along:
    """r, v, a, R, ω, α in N and their derivatives; q̇ and q̈ are symbols of their own."""

    kin: Kinematics
    _partials: dict[int, Derivative] = field(default_factory=dict)

    @property
    def tape(self) -> Tape:
        return self.kin.tape

    @cached_property
    def total(self) -> Derivative:
        """d/dt with q' and q'' as independent symbols."""
        return Derivative(self.tape, self.tape.rate)

    def partial(self, x: int) -> Derivative:
        """∂/∂x of a symbol x."""
        if x not in self._partials:
            self._partials[x] = Derivative(self.tape, lambda i: self.tape.one if i == x else None)
        return self._partials[x]

    def components(self, v: Vector) -> Triple:
        return v.on(self.tape).components(self.kin.system.N)

    def r(self, P: Point) -> Triple:
        return self.components(P - self.kin.system.O)

    def v(self, P: Point) -> Triple:
        return self.components(self.kin.motion_in_rates.v(P))

    def w(self, F: Frame) -> Triple:
        return self.components(self.kin.motion_in_rates.w(F))

    def theta(self, F: Frame, x: int) -> Triple:
        """θ_k with [θ_k]ₓ = (∂R/∂q_k) Rᵀ."""
        R = F.dcm_nodes(self.tape)
        return self._axis([self.each(self.partial(x), row) for row in R], R)

    def w_from_rotation(self, F: Frame) -> Triple:
        """ω with [ω]ₓ = Ṙ Rᵀ."""
        R = F.dcm_nodes(self.tape)
        return self._axis([self.each(self.total, row) for row in R], R)

    def _axis(self, S: list[Triple], R: tuple[Triple, ...]) -> Triple:
        t = self.tape
        return dot3(t, S[2], R[1]), dot3(t, S[0], R[2]), dot3(t, S[1], R[0])

    @staticmethod
    def each(rule: Derivative, c: Triple) -> Triple:
        return rule(c[0]), rule(c[1]), rule(c[2])

    def minus(self, a: Triple, b: Triple) -> list[int]:
        return [self.tape.sub(x, y) for x, y in zip(a, b, strict=True)]

    def cross(self, a: Triple, b: Triple) -> Triple:
        return cross3(self.tape, a, b)
