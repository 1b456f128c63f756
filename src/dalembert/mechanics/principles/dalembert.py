"""Σ (F − m a)·δr + (M − Ḣ)·δθ = 0: d'Alembert's principle, entirely from positions.

r_k = ∂r/∂q_k, [θ_k]ₓ = (∂R/∂q_k) Rᵀ, a = r̈, Ḣ = d(R I Rᵀ ω)/dt with ω from Ṙ Rᵀ: it shares neither ω nor partial
velocities with the recursion.

Source: Bar00 (13), (16); Mei85 (7.28)–(7.29).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dalembert.foundation.caching import on_demand
from dalembert.foundation.suggestions import options_by_name
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.position_kinematics import Positions
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, equation, total
from dalembert.mechanics.kinetics.spatial_fields import Place, PlaceField, Slopes
from dalembert.mechanics.kinetics.system_quantities import SPIN, Quantities, axial
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Principle, along_q, on_fork
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.formula import letter
from dalembert.symbolic.algebra.tape import Triple

PRINCIPLE = Principle(
    "dalembert",
    "d'Alembert's principle",
    principle_statements.DALEMBERT,
    "Bar00 (13), (16); Mei85 (7.28)",
    "positions",
    "vector",
    "q̇",
    "What of the applied loads is not used up by inertia does no work on any displacement that the constraints allow: dynamics becomes "
    "statics with the inertia loads added.",
)


@options_by_name
def dalembert(system: System | Kinematics) -> Derivation:
    """Σ m a·r_k + Σ Ḣ·θ_k = Q_k + (Aᵀλ)_k      (k = 1, …, n)"""
    x = Quantities(on_fork(system, nonlinear=True))
    at = FromPositions(x)
    r_k = at.r_k().told(
        "Virtual displacements",
        "Bar00 (3), (15)",
        "δr = Σ r_k δq_k. Time is held: a virtual displacement compares neighbouring positions at one instant, so r is differentiated "
        "by q alone.",
    )
    theta_k = at.theta_k().told("Virtual rotations", "Bar00 (15)", "δθ = Σ θ_k δq_k, from how the axes of each body change with q.")
    a = at.a.told("Accelerations", "Bar00 (16)", "The positions differentiated twice.")
    Hdot = (
        at.d_dt(at.H)
        .called("H", dots=1)
        .told(
            "Rates of the angular momenta",
            "Bar00 (16)",
            "H about the mass centre in components along N, which are differentiated as they are.",
        )
    )
    inertia = (
        (total((x.m * a).dot(r_k)) + total(Hdot.dot(theta_k)))
        .called("K", "k")
        .told(
            "Inertia",
            "Bar00 (16)",
            "The rates of the momenta, projected on the displacements.",
        )
    )
    F, M = at.along_N(x.rates.forces), at.along_N(x.rates.moments)
    Q = (
        x.rates.of_all_loads(F, M, r_k, theta_k)
        .called("Q", "k")
        .told(
            "Virtual work",
            "Bar00 (17), Mei85 (7.41)",
            "The work of the applied loads on the same displacements. The rows, if there are any, enter with a multiplier each.",
        )
    )
    told = (r_k, theta_k, a, Hdot, inertia, Q)
    return along_q(PRINCIPLE, x, told, equation(inertia, Q + (x.A.T @ x.lam).indexed("k")))


class FromPositions:
    """What d'Alembert's principle needs of the motion."""

    def __init__(self, of: Quantities) -> None:
        self.of, self.tape, self.at = of, of.tape, Positions(of.kin)

    def _field(self, make: Callable[[Any], Triple], places: tuple[Place, ...] | None = None) -> PlaceField:
        t, N = self.tape, self.of.kin.system.N
        return PlaceField(t, lambda X: Vector(t, {N: make(X)}), places)

    def d_dt(self, a: Quantity) -> Quantity:
        """da/dt in components along N"""
        field, N, dt = a.value, self.of.kin.system.N, self.at.dt
        return Quantity(f.Rate(a.ref), self._field(lambda X: dt(field(X).components(N)), field.places), (a,))

    def along_N(self, a: Quantity) -> Quantity:
        """Loads in components along N"""
        field, in_N = a.value, self.at.in_N
        return Quantity(a.formula, self._field(lambda X: in_N(field(X)), field.places), a.parts, symbol=a.symbol)

    @on_demand
    def r(self) -> Quantity:
        """r from O to any point"""
        return Quantity(letter("r"), self._field(self.at.r), symbol=letter("r"))

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
        return Quantity(SPIN, self._field(self.at.w), symbol=letter("ω"))

    @on_demand
    def H(self) -> Quantity:
        """H = I·ω, with I turned by R"""
        I, w, at, N = self.of.inertia, self.w, self.at, self.of.kin.system.N
        momentum = self._field(lambda F: at.turned(I.value(F), w.value(F).components(N)), I.value.places)
        return Quantity(I.ref.dot(w.ref), momentum, (I, w), symbol=letter("H"))

    def r_k(self) -> Quantity:
        """r_k = ∂r/∂q_k

        Source: Bar00 (3), (4).
        """
        q = self.of.q.at("k")
        return Quantity(f.Partial(self.r.ref, q.ref), Shifts(self, q), (self.r, q), symbol=letter("r", ("k",)), index=q.index)

    def theta_k(self) -> Quantity:
        """[θ_k]ₓ = ∂R/∂q_k Rᵀ"""
        q = self.of.q.at("k")
        return Quantity(axial(f.Partial(letter("R"), q.ref)), Turns(self, q), (q,), symbol=letter("θ", ("k",)), index=q.index)


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
