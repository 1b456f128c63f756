"""r, R and their derivatives as quantities: motion and loads from positions alone, in components along N.

v = dr/dt, a = dv/dt, [ω]ₓ = Ṙ Rᵀ, H = I·ω, r_k = ∂r/∂q_k, [θ_k]ₓ = ∂R/∂q_k Rᵀ: nothing of the recursion for velocities is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dalembert.algebra import formula as f
from dalembert.algebra.formula import Symbol
from dalembert.algebra.tape import Triple
from dalembert.geometry.frame import Frame
from dalembert.geometry.triples import dot3
from dalembert.geometry.vector import Vector
from dalembert.kinematics.positions import Positions
from dalembert.kinetics.fields import Place, PlaceField, Slopes
from dalembert.kinetics.quantities import Quantities, axial
from dalembert.kinetics.quantity import Quantity
from dalembert.once import on_demand


class FromPositions:
    """What d'Alembert's principle needs of the motion."""

    def __init__(self, of: Quantities) -> None:
        self.of, self.tape, self.at = of, of.tape, Positions(of.kin)

    def _field(self, make: Callable[[Any], Triple], places: tuple[Place, ...] | None = None) -> PlaceField:
        N = self.of.kin.system.N
        return PlaceField(self.tape, lambda X: Vector(self.tape, {N: make(X)}), places)

    def d_dt(self, a: Quantity) -> Quantity:
        """da/dt in components along N"""
        field, N = a.value, self.of.kin.system.N
        return Quantity(f.Rate(a.ref), self._field(lambda X: self.at.dt(field(X).components(N)), field.places), (a,))

    def along_N(self, a: Quantity) -> Quantity:
        """Loads in components along N"""
        field = a.value
        return Quantity(a.formula, self._field(lambda X: self.at.in_N(field(X)), field.places), a.parts, symbol=a.symbol)

    @on_demand
    def r(self) -> Quantity:
        """r from O to any point"""
        return Quantity(Symbol("r"), self._field(self.at.r), symbol=Symbol("r"))

    @on_demand
    def v(self) -> Quantity:
        """v = dr/dt"""
        return self.d_dt(self.r).called("v")

    @on_demand
    def a(self) -> Quantity:
        """a = dv/dt"""
        return self.d_dt(self.v).called("a")

    @on_demand
    def w(self) -> Quantity:
        """ω from [ω]ₓ = Ṙ Rᵀ"""
        return Quantity(axial(f.Rate(Symbol("R"))), self._field(self.at.w), symbol=Symbol("ω"))

    @on_demand
    def H(self) -> Quantity:
        """H = I·ω, with I turned by R"""
        I = self.of.inertia
        return Quantity(I.ref.dot(self.w.ref), self._field(self._angular_momentum, I.value.places), (I, self.w), symbol=Symbol("H"))

    def _angular_momentum(self, F: Frame) -> Triple:
        """R I Rᵀ ω"""
        t, I, N = self.tape, self.of.inertia.value(F), self.of.kin.system.N
        R = self.at.R(I.frame)
        x, y, z = zip(*R, strict=True)
        w = self.w.value(F).components(N)
        in_body: Triple = (dot3(t, x, w), dot3(t, y, w), dot3(t, z, w))
        H: Triple = (dot3(t, I.rows[0], in_body), dot3(t, I.rows[1], in_body), dot3(t, I.rows[2], in_body))
        return dot3(t, R[0], H), dot3(t, R[1], H), dot3(t, R[2], H)

    def r_k(self) -> Quantity:
        """r_k = ∂r/∂q_k

        Source: Bar00 (3), (4).
        """
        q = self.of.q.at("k")
        return Quantity(f.Partial(self.r.ref, q.ref), Shifts(self, q), (self.r, q), symbol=Symbol("r", ("k",)), index=q.index)

    def theta_k(self) -> Quantity:
        """[θ_k]ₓ = ∂R/∂q_k Rᵀ"""
        q = self.of.q.at("k")
        return Quantity(axial(f.Partial(Symbol("R"), q.ref)), Turns(self, q), (q,), symbol=Symbol("θ", ("k",)), index=q.index)


class Shifts(Slopes):
    """r_k of every point."""

    def __init__(self, of: FromPositions, by: Quantity) -> None:
        super().__init__(of.r.value, by.value)
        self.at, self.N = of.at, of.of.kin.system.N

    def __call__(self, X: Place) -> dict[int, Vector]:
        moves = {k: Vector(self.tape, {self.N: self._along(X, k)}) for k in range(len(self.by))}
        return {k: move for k, move in moves.items() if move.parts}

    def _along(self, X: Any, k: int) -> Triple:
        return self.at.r_k(X, k)


class Turns(Shifts):
    """θ_k of every frame, from the rates of change of its rotation matrix."""

    def __init__(self, of: FromPositions, by: Quantity) -> None:
        super().__init__(of, by)
        self.of_field = of.w.value

    def _along(self, X: Any, k: int) -> Triple:
        return self.at.theta_k(X, k)

    def seeds(self, X: Any, load: Vector) -> Iterator[tuple[int, int]]:
        """M·θ_k = M_x ∂R_z·R_y + M_y ∂R_x·R_z + M_z ∂R_y·R_x, by the rows of R."""
        t, R = self.tape, self.at.R(X)
        for M, moved, held in zip(load.components(self.N), (2, 0, 1), (1, 2, 0), strict=True):
            yield from ((a, t.mul(M, b)) for a, b in zip(R[moved], R[held], strict=True))
