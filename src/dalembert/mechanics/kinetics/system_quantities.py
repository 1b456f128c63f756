"""T, V, Q, F, A, λ: the quantities that principles are written in, each made once, when a derivation first asks for it.

`rates` holds what is written in q̇ and q̈, `speeds` what is written in u and u̇. Loads come in two ways that share nothing: as forces
and moments at the places where they act, weights and springs among them; or by the potential energy V, with the forces that have no
potential beside it. A principle takes one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from dalembert.foundation.caching import on_demand
from dalembert.mechanics.geometry.frame import Frame, Motion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics import spatial_fields
from dalembert.mechanics.kinetics.quantity import D, Quantity, equation, total
from dalembert.mechanics.kinetics.spatial_fields import DeclaredSum, Place, PlaceField
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.expression_graph import Rewrite
from dalembert.symbolic.algebra.formula import Name, Symbol, letter
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, Rows


class Quantities:
    """What belongs to the system whatever it is written in: coordinates, speeds, rows, masses."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.tape = kin, kin.tape

    @on_demand
    def rates(self) -> Written:
        """What is written in q̇ and q̈"""
        return Written(self, self.kin.motion_in_rates, self.kin.in_rates, self.kin.vector_in_rates)

    @on_demand
    def speeds(self) -> InSpeeds:
        """What is written in u and u̇"""
        return InSpeeds(self, self.kin.motion, self.kin.in_speeds, self.kin.vector_in_speeds)

    @on_demand
    def half(self) -> Quantity:
        """½"""
        return Quantity(f.HALF, Scalar(self.tape, self.tape.const(f.HALF.value)))

    def given(self, letter: str, value: object, *below: str) -> Quantity:
        """What the description gives."""
        symbol = f.letter(letter, below)
        return Quantity(symbol, value, (), symbol)

    def variables(self, symbol: f.Formula, nodes: Iterable[int], index: tuple[str | f.Formula, ...] = ()) -> Quantity:
        """A column of symbols; its entries belong to the coordinates unless said otherwise."""
        return Quantity(symbol, Column(self.tape, nodes), symbol=symbol, index=index or self.coordinates)

    @on_demand
    def coordinates(self) -> tuple[Name, ...]:
        """The names of the coordinates, to label columns with."""
        return tuple(Name(self.kin.name(q)) for q in self.kin.q)

    @on_demand
    def numbers(self) -> tuple[str, ...]:
        """1, …, p"""
        return tuple(map(str, range(1, self.kin.n_u + 1)))

    @on_demand
    def q(self) -> Quantity:
        """q"""
        return self.variables(letter("q"), self.kin.q)

    @on_demand
    def qdot(self) -> Quantity:
        """q̇"""
        return self.variables(letter("q", dots=1), self.kin.qdot)

    @on_demand
    def qddot(self) -> Quantity:
        """q̈"""
        return self.variables(letter("q", dots=2), self.kin.qddot)

    @on_demand
    def u(self) -> Quantity:
        """u, the independent speeds"""
        return self.variables(letter("u"), self.kin.u, self.numbers)

    @on_demand
    def udot(self) -> Quantity:
        """u̇"""
        return self.variables(letter("u", dots=1), self.kin.udot, self.numbers)

    @on_demand
    def lam(self) -> Quantity:
        """λ_1, …, λ_m: one symbol for each row."""
        numbers = tuple(map(str, range(1, len(self.kin.acting_rows) + 1)))
        return self.variables(letter("λ"), (self.tape.private_symbol(f"lambda_{j}") for j in numbers), numbers)

    # ---- rows and speeds -----------------------------------------------------------------------

    @on_demand
    def A(self) -> Quantity:
        """A of the rows A q̇ + b = 0; ∂φ/∂q̇ of those that are not linear in the rates."""
        A = Rows(self.tape, (row.A for row in self.kin.acting_rows), self.kin.n_q)
        return Quantity(letter("A"), A, symbol=letter("A"), index=self.lam.index, across=self.coordinates)

    @on_demand
    def rows(self) -> Quantity:
        """A q̇ + b = 0: the rows that are linear in the rates."""
        kin, t = self.kin, self.tape
        A = Quantity(letter("A"), Rows(t, (row.A for row in kin.rows), kin.n_q), symbol=letter("A"), index=tuple(r.name for r in kin.rows))
        return equation(A @ self.qdot + self.given("b", Column(t, (row.b for row in kin.rows))))

    @on_demand
    def W(self) -> Quantity:
        """W of q̇ = W u + X."""
        W = Rows(self.tape, (row for _, row in self.kin.WX), self.kin.n_u)
        return Quantity(letter("W"), W, symbol=letter("W"), index=self.coordinates, across=self.numbers)

    @on_demand
    def qdot_of_u(self) -> Quantity:
        """q̇ = W u + X"""
        X = self.given("X", Column(self.tape, (X for X, _ in self.kin.WX)))
        tree = self.W.ref * self.u.ref + X.ref
        parts = (self.W, self.u, X, self.qdot)
        return Quantity(tree, Column(self.tape, self.kin.qdot_of_u), parts, symbol=self.qdot.ref, index=self.coordinates)

    def in_speeds(self, a: Quantity) -> Quantity:
        """The same with q̇ = W u + X, and q̈ = d/dt (W u + X)."""
        kin = self.kin
        new = dict(zip((*kin.qddot, *kin.qdot), (*kin.qddot_of_u, *kin.qdot_of_u), strict=True))
        inserted = f.Equation(self.qdot.ref, self.qdot_of_u.formula)
        found = a.map(lambda tree: f.With(tree, (inserted,)), Rewrite(self.tape, new))
        return found.made_of_these(a, self.qdot_of_u)

    # ---- masses --------------------------------------------------------------------------------

    @on_demand
    def m(self) -> Quantity:
        """m at the mass centres"""
        masses = ((b.G, Scalar(self.tape, b.mass.i)) for b in self.kin.system.bodies)
        return self.given("m", PlaceField.of(self.tape, masses))

    @on_demand
    def inertia(self) -> Quantity:
        """I of the frames of rigid bodies, central"""
        rigid = ((b.frame, b.inertia.on(self.tape)) for b in self.kin.system.bodies if b.frame is not None and b.inertia is not None)
        return self.given("I", PlaceField.of(self.tape, rigid))

    # ---- by the energies -----------------------------------------------------------------------

    @on_demand
    def V(self) -> Quantity:
        """V = Σ V_i − Σ m g·r: the declared potentials and that of the weights."""
        declared = total(self.given("V", DeclaredSum(spatial_fields.potential(self.kin)), "i"))
        if self.kin.system.field is None:
            return declared.called("V")
        g, r = self.given("g", None), self.given("r", None)
        height = Quantity(g.ref.dot(r.ref), PlaceField.of(self.tape, spatial_fields.heights(self.kin).items()), (g, r))
        return (declared - total(self.m * height)).called("V")


class Written:
    """Velocities, accelerations, momenta and loads in one set of velocity variables, here in the rates q̇."""

    def __init__(self, of: Quantities, motion: Motion, node: Callable[[int], int], vector: Callable[[Vector], Vector]) -> None:
        self.of, self.kin, self.tape, self._motion, self.rate = of, of.kin, of.tape, motion, motion.rate
        # what the description gives, in these variables
        self._node, self._vector = node, vector

    @property
    def directions(self) -> Quantity:
        """What virtual power is collected on: q̇."""
        return self.of.qdot

    def d_dt(self, a: Quantity) -> Quantity:
        """da/dt along the motion, of a vector in the inertial frame."""
        return a.map(f.Rate, self._motion.derivative if isinstance(a.value, PlaceField) else self.rate)

    # ---- motion --------------------------------------------------------------------------------

    @on_demand
    def v(self) -> Quantity:
        """v = dr/dt at any point"""
        return Quantity(_VELOCITY, PlaceField(self.tape, self._motion.v), symbol=letter("v"))

    @on_demand
    def w(self) -> Quantity:
        """ω of any frame, [ω]ₓ = Ṙ Rᵀ"""
        return Quantity(SPIN, PlaceField(self.tape, self._motion.w), symbol=letter("ω"))

    @on_demand
    def spin(self) -> Quantity:
        """ω along the axes in which the inertia is written: a quadratic form in it is short."""
        return self.along_inertia(self.w)

    @on_demand
    def a(self) -> Quantity:
        """a = dv/dt"""
        return self.d_dt(self.v).called("a")

    @on_demand
    def alpha(self) -> Quantity:
        """α = dω/dt, along the axes in which the inertia is written"""
        return self.along_inertia(self.d_dt(self.w).called("α"))

    def along_inertia(self, a: Quantity) -> Quantity:
        """A vector of rigid bodies along the axes in which their inertia is written."""
        I, t = self.of.inertia.value, self.tape

        def at(F: Frame) -> Vector:
            axes = I(F).frame if F in I.places else F
            return Vector(t, {axes: a.value(F).components(axes)})

        return Quantity(a.formula, PlaceField(t, at), a.parts, symbol=a.symbol)

    @on_demand
    def H(self) -> Quantity:
        """H = I·ω"""
        return self.of.inertia.dot(self.w).called("H")

    @on_demand
    def Hdot(self) -> Quantity:
        """Ḣ = dH/dt"""
        return self.d_dt(self.H).called("H", dots=1)

    # ---- energies ------------------------------------------------------------------------------

    @on_demand
    def T(self) -> Quantity:
        """T = ½ Σ m v·v + ½ Σ ω·I·ω

        Source: Gre03 (4.43).
        """
        declared = spatial_fields.kinetic(self.kin)
        if declared is not None:
            return self.of.given("T", Scalar(self.tape, self._node(declared))).called("T")
        return kinetic_energy(self.of, self.v, self.spin)

    @on_demand
    def S(self) -> Quantity:
        """S = ½ Σ m a·a + ½ Σ α·I·α + Σ α·(ω × I·ω), up to terms free of accelerations

        Source: Bar00 (31), for rigid bodies with the whole α.
        """
        return gibbs_function(self.of, self.a, self.spin, self.alpha)

    @on_demand
    def dissipation(self) -> Quantity:
        """D, Rayleigh's dissipation"""
        return self.of.given("D", Scalar(self.tape, self._node(spatial_fields.dissipation(self.kin).i)))

    # ---- loads ---------------------------------------------------------------------------------

    def _field(self, pairs: Iterable[tuple[Place, Vector]]) -> PlaceField:
        return PlaceField.of(self.tape, ((X, self._vector(load)) for X, load in pairs))

    @on_demand
    def forces(self) -> Quantity:
        """F at every point where a load acts: declared forces, weights and springs."""
        acting = (*spatial_fields.applied_forces(self.kin), *spatial_fields.weights(self.kin), *spatial_fields.spring_forces(self.kin))
        return self.of.given("F", self._field((P, F) for _, F, P in acting))

    @on_demand
    def forces_without_potential(self) -> Quantity:
        """F of the declared forces alone"""
        return self.of.given("F", self._field((P, F) for _, F, P in spatial_fields.applied_forces(self.kin)))

    @on_demand
    def moments(self) -> Quantity:
        """M on every frame"""
        return self.of.given("M", self._field((B, M) for _, M, B in spatial_fields.applied_torques(self.kin)))

    @on_demand
    def Q(self) -> Quantity:
        """Q = Σ F·∂v/∂q̇ + Σ M·∂ω/∂q̇ − ∂D/∂q̇, of the loads that have no potential

        Source: Mei85 (7.40)–(7.41), Bar00 (17).
        """
        return self.without_potential(self.directions).called("Q")

    def without_potential(self, x: Quantity) -> Quantity:
        """Σ F·∂v/∂x + Σ M·∂ω/∂x − ∂D/∂x, of the loads that have no potential, along any velocities x"""
        return self._dragged(total(self.forces_without_potential.dot(D(self.v, x))) + total(self.moments.dot(D(self.w, x))), x)

    @on_demand
    def of_loads_but_gravity(self) -> Quantity:
        """Q − ∂V/∂q, V of the declared potentials, gravity left out"""
        return self.Q - D(self.of.given("V", spatial_fields.potential(self.kin)), self.of.q)

    def of_all_loads(self, F: Quantity, M: Quantity, v_k: Quantity, w_k: Quantity, letter: str = "k") -> Quantity:
        """Σ F·v_k + Σ M·ω_k − ∂D/∂q̇_k − ∂V/∂q_k, V of the potentials without a place

        Source: Bar00 (30), Mar (9), Mit22 (27).
        """
        along = self._dragged(total(F.dot(v_k)) + total(M.dot(w_k)), self.directions.at(letter))
        return along if self.placeless is None else along - self._slopes(self.placeless, letter)

    def _dragged(self, along: Quantity, x: Quantity) -> Quantity:
        return along - D(self.dissipation, x) if self.kin.system.dissipations else along

    def _slopes(self, V: Quantity, letter: str) -> Quantity:
        return D(V, self.of.q.at(letter))

    @on_demand
    def placeless(self) -> Quantity | None:
        """V of the potentials that act at no place: known by their slopes only."""
        V = spatial_fields.potential_without_place(self.kin)
        return None if V is None else self.of.given("V", V)


class InSpeeds(Written):
    """The same in the independent speeds u: q̇ = W u + X."""

    @on_demand
    def v(self) -> Quantity:
        return super().v.made_of_these(self.of.qdot_of_u)

    @property
    def directions(self) -> Quantity:
        return self.of.u

    def _slopes(self, V: Quantity, letter: str) -> Quantity:
        return (self.of.W.T @ D(V, self.of.q)).indexed(letter)

    @on_demand
    def a(self) -> Quantity:
        return Quantity(f.Rate(self.v.ref), PlaceField(self.tape, self.kin.a), (self.v,), symbol=letter("a"))


def kinetic_energy(of: Quantities, v: Quantity, w: Quantity) -> Quantity:
    """T = ½ Σ m v·v + ½ Σ ω·I·ω"""
    return (of.half * total(of.m * v.dot(v)) + of.half * total(w.dot(of.inertia.dot(w)))).called("T")


def gibbs_function(of: Quantities, a: Quantity, w: Quantity, alpha: Quantity) -> Quantity:
    """S = ½ Σ m a·a + ½ Σ α·I·α + Σ α·(ω × I·ω)"""
    square = of.half * total(of.m * a.dot(a)) + of.half * total(alpha.dot(of.inertia.dot(alpha)))
    return (square + total(alpha.dot(w.cross(of.inertia.dot(w))))).called("S")


def axial(rate: f.Formula) -> f.Formula:
    """ω of [ω]ₓ = Ṙ Rᵀ, θ_k of [θ_k]ₓ = ∂R/∂q_k Rᵀ"""
    return f.Function(Symbol("axial"), (rate * Symbol("R").T,))


_VELOCITY: Final = f.Rate(letter("r"))
SPIN: Final = axial(f.Rate(letter("R")))
