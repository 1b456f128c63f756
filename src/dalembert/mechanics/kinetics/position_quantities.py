"""r, v, a, ω, H and ∂r/∂q_k, [θ_k]ₓ = (∂R/∂q_k) Rᵀ as quantities, entirely from positions and
rotation matrices.

Source: Bar00 (3), (4), (15), (16).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dalembert.foundation.caching import lazy_property
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.position_kinematics import PositionKinematics
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.spatial_fields import Location, SpatialField, VelocityPartials
from dalembert.mechanics.kinetics.system_quantities import (
    ANGULAR_VELOCITY,
    Quantities,
    axial_vector,
)
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.formula import letter
from dalembert.symbolic.algebra.tape import Triple


class PositionQuantities:
    """The motion as functions of the coordinates, their rates and their accelerations."""

    def __init__(self, of: Quantities) -> None:
        self.of, self.tape, self.at = of, of.tape, PositionKinematics(of.kin)

    def _field(
        self, make: Callable[[Any], Triple], places: tuple[Location, ...] | None = None
    ) -> SpatialField:
        t, N = self.tape, self.of.kin.system.N
        return SpatialField(t, lambda X: Vector(t, {N: make(X)}), places)

    def d_dt(self, a: Quantity) -> Quantity:
        """da/dt in components along N"""
        field, N, dt = a.value, self.of.kin.system.N, self.at.time_derivative
        return Quantity(
            f.Rate(a.ref), self._field(lambda X: dt(field(X).components(N)), field.support), (a,)
        )

    def in_inertial_axes(self, a: Quantity) -> Quantity:
        """Loads in components along N"""
        field, in_N = a.value, self.at.in_N
        return Quantity(
            a.formula,
            self._field(lambda X: in_N(field(X)), field.support),
            a.parts,
            symbol=a.symbol,
        )

    @lazy_property
    def r(self) -> Quantity:
        """r from O to any point"""
        return Quantity(letter("r"), self._field(self.at.r), symbol=letter("r"))

    @lazy_property
    def v(self) -> Quantity:
        """v = dr/dt"""
        return self.d_dt(self.r).with_letter("v")

    @lazy_property
    def a(self) -> Quantity:
        """a = dv/dt"""
        return self.d_dt(self.v).with_letter("a")

    @lazy_property
    def w(self) -> Quantity:
        """ω from [ω]ₓ = Ṙ Rᵀ"""
        return Quantity(ANGULAR_VELOCITY, self._field(self.at.w), symbol=letter("ω"))

    @lazy_property
    def H(self) -> Quantity:
        """H = I·ω, with I turned by R"""
        I, w, at, N = self.of.inertia, self.w, self.at, self.of.kin.system.N
        momentum = self._field(
            lambda F: at.angular_momentum(I.value(F), w.value(F).components(N)), I.value.support
        )
        return Quantity(I.ref.dot(w.ref), momentum, (I, w), symbol=letter("H"))

    def r_k(self) -> Quantity:
        """r_k = ∂r/∂q_k

        Source: Bar00 (3), (4).
        """
        q = self.of.q.at("k")
        return Quantity(
            f.Partial(self.r.ref, q.ref),
            PositionPartials(self, q),
            (self.r, q),
            symbol=letter("r", ("k",)),
            row_labels=q.row_labels,
        )

    def theta_k(self) -> Quantity:
        """[θ_k]ₓ = ∂R/∂q_k Rᵀ"""
        q = self.of.q.at("k")
        return Quantity(
            axial_vector(f.Partial(letter("R"), q.ref)),
            RotationPartials(self, q),
            (q,),
            symbol=letter("θ", ("k",)),
            row_labels=q.row_labels,
        )


class PositionPartials(VelocityPartials):
    """r_k of every point."""

    def __init__(self, of: PositionQuantities, by: Quantity) -> None:
        super().__init__(of.r.value, by.value)
        self.at, self.N = of.at, of.of.kin.system.N

    def __call__(self, X: Location) -> dict[int, Vector]:
        moves = {k: Vector(self.tape, {self.N: self._partial(X, k)}) for k in range(len(self.by))}
        return {k: move for k, move in moves.items() if move.parts}

    def _partial(self, X: Any, k: int) -> Triple:
        return self.at.r_k(X, k)


class RotationPartials(PositionPartials):
    """θ_k of every frame, from the rates of change of its rotation matrix."""

    def __init__(self, of: PositionQuantities, by: Quantity) -> None:
        super().__init__(of, by)
        self.of_field = of.w.value

    def _partial(self, X: Any, k: int) -> Triple:
        return self.at.theta_k(X, k)

    def seeds(self, X: Any, load: Vector) -> Iterator[tuple[int, int]]:
        """M·θ_k = M_x ∂R_z·R_y + M_y ∂R_x·R_z + M_z ∂R_y·R_x, by the rows of R."""
        t, R = self.tape, self.at.R(X)
        for M, moved, held in zip(load.components(self.N), (2, 0, 1), (1, 2, 0), strict=True):
            yield from ((a, t.mul(M, b)) for a, b in zip(R[moved], R[held], strict=True))
