"""T, V, Q, F, A, λ: the quantities that principles are written in, each computed once, on first use
by a derivation.

`rates` holds what is written in q̇ and q̈, `speeds` what is written in u and u̇. Loads come in two
ways that share nothing: as forces and moments at the places where they act, weights and springs
among them; or by the potential energy V, together with the forces that have no potential. A
principle takes one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from dalembert.foundation.caching import lazy_property
from dalembert.mechanics.geometry.frame import Frame, VelocityRecursion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics import spatial_fields
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation, total
from dalembert.mechanics.kinetics.spatial_fields import DeclaredTotal, Location, SpatialField
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.formula import Name, Symbol, letter
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix


class Quantities:
    """What belongs to the system whatever it is written in: coordinates, speeds, rows, masses."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.tape = kin, kin.tape

    @lazy_property
    def rates(self) -> RateQuantities:
        """What is written in q̇ and q̈"""
        return RateQuantities(
            self, self.kin.motion_in_rates, self.kin.in_rates, self.kin.vector_in_rates
        )

    @lazy_property
    def speeds(self) -> SpeedQuantities:
        """What is written in u and u̇"""
        return SpeedQuantities(self, self.kin.motion, self.kin.in_speeds, self.kin.vector_in_speeds)

    @lazy_property
    def half(self) -> Quantity:
        """½"""
        return Quantity(f.HALF, Scalar(self.tape, self.tape.const(f.HALF.value)))

    def declared_quantity(self, letter: str, value: object, *below: str) -> Quantity:
        """What the description gives."""
        symbol = f.letter(letter, below)
        return Quantity(symbol, value, (), symbol)

    def variables(
        self, symbol: f.Formula, nodes: Iterable[int], index: tuple[str | f.Formula, ...] = ()
    ) -> Quantity:
        """A column of symbols; its entries belong to the coordinates by default."""
        return Quantity(
            symbol, Column(self.tape, nodes), symbol=symbol, row_labels=index or self.coordinates
        )

    @lazy_property
    def coordinates(self) -> tuple[Name, ...]:
        """The names of the coordinates, to label columns with."""
        return tuple(Name(self.kin.name(q)) for q in self.kin.q)

    @lazy_property
    def speed_labels(self) -> tuple[str, ...]:
        """1, …, p"""
        return tuple(map(str, range(1, self.kin.n_u + 1)))

    @lazy_property
    def q(self) -> Quantity:
        """q"""
        return self.variables(letter("q"), self.kin.q)

    @lazy_property
    def qdot(self) -> Quantity:
        """q̇"""
        return self.variables(letter("q", dots=1), self.kin.qdot)

    @lazy_property
    def qddot(self) -> Quantity:
        """q̈"""
        return self.variables(letter("q", dots=2), self.kin.qddot)

    @lazy_property
    def u(self) -> Quantity:
        """u, the independent speeds"""
        return self.variables(letter("u"), self.kin.u, self.speed_labels)

    @lazy_property
    def udot(self) -> Quantity:
        """u̇"""
        return self.variables(letter("u", dots=1), self.kin.udot, self.speed_labels)

    @lazy_property
    def lam(self) -> Quantity:
        """λ_1, …, λ_m: one symbol for each row."""
        numbers = tuple(map(str, range(1, len(self.kin.rows_with_multipliers) + 1)))
        return self.variables(
            letter("λ"), (self.tape.private_symbol(f"lambda_{j}") for j in numbers), numbers
        )

    # ---- rows and speeds -----------------------------------------------------------------------

    @lazy_property
    def A(self) -> Quantity:
        """A of the rows A q̇ + b = 0; ∂φ/∂q̇ of those that are not linear in the rates."""
        A = SparseMatrix(self.tape, (row.A for row in self.kin.rows_with_multipliers), self.kin.n_q)
        return Quantity(
            letter("A"),
            A,
            symbol=letter("A"),
            row_labels=self.lam.row_labels,
            column_labels=self.coordinates,
        )

    @lazy_property
    def rows(self) -> Quantity:
        """A q̇ + b = 0: the rows that are linear in the rates."""
        kin, t = self.kin, self.tape
        A = Quantity(
            letter("A"),
            SparseMatrix(t, (row.A for row in kin.rows), kin.n_q),
            symbol=letter("A"),
            row_labels=tuple(r.name for r in kin.rows),
        )
        return equation(
            A @ self.qdot + self.declared_quantity("b", Column(t, (row.b for row in kin.rows)))
        )

    @lazy_property
    def W(self) -> Quantity:
        """W of q̇ = W u + X."""
        W = SparseMatrix(self.tape, (row for _, row in self.kin.WX), self.kin.n_u)
        return Quantity(
            letter("W"),
            W,
            symbol=letter("W"),
            row_labels=self.coordinates,
            column_labels=self.speed_labels,
        )

    @lazy_property
    def qdot_of_u(self) -> Quantity:
        """q̇ = W u + X"""
        X = self.declared_quantity("X", Column(self.tape, (X for X, _ in self.kin.WX)))
        tree = self.W.ref * self.u.ref + X.ref
        parts = (self.W, self.u, X, self.qdot)
        return Quantity(
            tree,
            Column(self.tape, self.kin.qdot_of_u),
            parts,
            symbol=self.qdot.ref,
            row_labels=self.coordinates,
        )

    def in_speeds(self, a: Quantity) -> Quantity:
        """The same with q̇ = W u + X, and q̈ = d/dt (W u + X)."""
        kin = self.kin
        new = dict(zip((*kin.qddot, *kin.qdot), (*kin.qddot_of_u, *kin.qdot_of_u), strict=True))
        inserted = f.Equation(self.qdot.ref, self.qdot_of_u.formula)
        substituted = a.map(lambda tree: f.With(tree, (inserted,)), Substitution(self.tape, new))
        return substituted.with_parts(a, self.qdot_of_u)

    # ---- masses --------------------------------------------------------------------------------

    @lazy_property
    def m(self) -> Quantity:
        """m at the mass centres"""
        masses = ((b.G, Scalar(self.tape, b.mass.i)) for b in self.kin.system.bodies)
        return self.declared_quantity("m", SpatialField.from_values(self.tape, masses))

    @lazy_property
    def inertia(self) -> Quantity:
        """I of the frames of rigid bodies, central"""
        rigid = (
            (b.frame, b.inertia.on(self.tape))
            for b in self.kin.system.bodies
            if b.frame is not None and b.inertia is not None
        )
        return self.declared_quantity("I", SpatialField.from_values(self.tape, rigid))

    # ---- by the energies -----------------------------------------------------------------------

    @lazy_property
    def V(self) -> Quantity:
        """V = Σ V_i − Σ m g·r: the declared potentials and that of the weights."""
        declared = total(
            self.declared_quantity(
                "V", DeclaredTotal(spatial_fields.declared_potential_energy(self.kin)), "i"
            )
        )
        if self.kin.system.gravity_field is None:
            return declared.with_letter("V")
        g, r = self.declared_quantity("g", None), self.declared_quantity("r", None)
        height = Quantity(
            g.ref.dot(r.ref),
            SpatialField.from_values(
                self.tape, spatial_fields.gravity_projections(self.kin).items()
            ),
            (g, r),
        )
        return (declared - total(self.m * height)).with_letter("V")


class RateQuantities:
    """Velocities, accelerations, momenta and loads in one set of velocity variables, here in the
    rates q̇.
    """

    def __init__(
        self,
        of: Quantities,
        motion: VelocityRecursion,
        node: Callable[[int], int],
        vector: Callable[[Vector], Vector],
    ) -> None:
        self.of, self.kin, self.tape, self._motion, self.rate = (
            of,
            of.kin,
            of.tape,
            motion,
            motion.rate,
        )
        # what the description gives, in these variables
        self._node, self._vector = node, vector

    @property
    def velocity_variables(self) -> Quantity:
        """What virtual power is collected on: q̇."""
        return self.of.qdot

    def d_dt(self, a: Quantity) -> Quantity:
        """da/dt along the motion, of a vector in the inertial frame."""
        return a.map(
            f.Rate, self._motion.derivative if isinstance(a.value, SpatialField) else self.rate
        )

    # ---- motion --------------------------------------------------------------------------------

    @lazy_property
    def v(self) -> Quantity:
        """v = dr/dt at any point"""
        return Quantity(_VELOCITY, SpatialField(self.tape, self._motion.v), symbol=letter("v"))

    @lazy_property
    def w(self) -> Quantity:
        """ω of any frame, [ω]ₓ = Ṙ Rᵀ"""
        return Quantity(
            ANGULAR_VELOCITY, SpatialField(self.tape, self._motion.w), symbol=letter("ω")
        )

    @lazy_property
    def w_in_inertia_axes(self) -> Quantity:
        """ω along the axes in which the inertia is written: a quadratic form in it is short."""
        return self.in_inertia_axes(self.w)

    @lazy_property
    def a(self) -> Quantity:
        """a = dv/dt"""
        return self.d_dt(self.v).with_letter("a")

    @lazy_property
    def alpha(self) -> Quantity:
        """α = dω/dt, along the axes in which the inertia is written"""
        return self.in_inertia_axes(self.d_dt(self.w).with_letter("α"))

    def in_inertia_axes(self, a: Quantity) -> Quantity:
        """A vector of rigid bodies along the axes in which their inertia is written."""
        I, t = self.of.inertia.value, self.tape

        def at(F: Frame) -> Vector:
            axes = I(F).frame if F in I.support else F
            return Vector(t, {axes: a.value(F).components(axes)})

        return Quantity(a.formula, SpatialField(t, at), a.parts, symbol=a.symbol)

    @lazy_property
    def H(self) -> Quantity:
        """H = I·ω"""
        return self.of.inertia.dot(self.w).with_letter("H")

    @lazy_property
    def Hdot(self) -> Quantity:
        """Ḣ = dH/dt"""
        return self.d_dt(self.H).with_letter("H", dots=1)

    # ---- energies ------------------------------------------------------------------------------

    @lazy_property
    def T(self) -> Quantity:
        """T = ½ Σ m v·v + ½ Σ ω·I·ω

        Source: Gre03 (4.43).
        """
        declared = spatial_fields.declared_kinetic_energy(self.kin)
        if declared is not None:
            return self.of.declared_quantity(
                "T", Scalar(self.tape, self._node(declared))
            ).with_letter("T")
        return kinetic_energy(self.of, self.v, self.w_in_inertia_axes)

    @lazy_property
    def S(self) -> Quantity:
        """S = ½ Σ m a·a + ½ Σ α·I·α + Σ α·(ω × I·ω), up to terms free of accelerations

        Source: Bar00 (31), for rigid bodies with the whole α.
        """
        return gibbs_function(self.of, self.a, self.w_in_inertia_axes, self.alpha)

    @lazy_property
    def dissipation(self) -> Quantity:
        """D, Rayleigh's dissipation"""
        return self.of.declared_quantity(
            "D", Scalar(self.tape, self._node(spatial_fields.dissipation(self.kin).i))
        )

    # ---- loads ---------------------------------------------------------------------------------

    def _field(self, pairs: Iterable[tuple[Location, Vector]]) -> SpatialField:
        return SpatialField.from_values(self.tape, ((X, self._vector(load)) for X, load in pairs))

    @lazy_property
    def forces(self) -> Quantity:
        """F at every point where a load acts: declared forces, weights and springs."""
        acting = (
            *spatial_fields.applied_forces(self.kin),
            *spatial_fields.weights(self.kin),
            *spatial_fields.spring_forces(self.kin),
        )
        return self.of.declared_quantity("F", self._field((P, F) for _, F, P in acting))

    @lazy_property
    def forces_without_potential(self) -> Quantity:
        """F of the declared forces alone"""
        return self.of.declared_quantity(
            "F", self._field((P, F) for _, F, P in spatial_fields.applied_forces(self.kin))
        )

    @lazy_property
    def moments(self) -> Quantity:
        """M on every frame"""
        return self.of.declared_quantity(
            "M", self._field((B, M) for _, M, B in spatial_fields.applied_torques(self.kin))
        )

    @lazy_property
    def Q(self) -> Quantity:
        """Q = Σ F·∂v/∂q̇ + Σ M·∂ω/∂q̇ − ∂D/∂q̇, of the loads that have no potential

        Source: Mei85 (7.40)–(7.41), Bar00 (17).
        """
        return self.nonpotential_force(self.velocity_variables).with_letter("Q")

    def nonpotential_force(self, x: Quantity) -> Quantity:
        """Σ F·∂v/∂x + Σ M·∂ω/∂x − ∂D/∂x, of the loads that have no potential, along any
        velocities x
        """
        return self._subtract_dissipation(
            total(self.forces_without_potential.dot(diff(self.v, x)))
            + total(self.moments.dot(diff(self.w, x))),
            x,
        )

    @lazy_property
    def generalized_force_without_gravity(self) -> Quantity:
        """Q − ∂V/∂q, V of the declared potentials, gravity left out"""
        return self.Q - diff(
            self.of.declared_quantity("V", spatial_fields.declared_potential_energy(self.kin)),
            self.of.q,
        )

    def generalized_force(
        self, F: Quantity, M: Quantity, v_k: Quantity, w_k: Quantity, letter: str = "k"
    ) -> Quantity:
        """Σ F·v_k + Σ M·ω_k − ∂D/∂q̇_k − ∂V/∂q_k, V of the potentials without a place

        Source: Bar00 (30), Mar (9), Mit22 (27).
        """
        along = self._subtract_dissipation(
            total(F.dot(v_k)) + total(M.dot(w_k)), self.velocity_variables.at(letter)
        )
        return (
            along
            if self.unlocated_potential is None
            else along - self._potential_gradient(self.unlocated_potential, letter)
        )

    def _subtract_dissipation(self, along: Quantity, x: Quantity) -> Quantity:
        return along - diff(self.dissipation, x) if self.kin.system.dissipations else along

    def _potential_gradient(self, V: Quantity, letter: str) -> Quantity:
        return diff(V, self.of.q.at(letter))

    @lazy_property
    def unlocated_potential(self) -> Quantity | None:
        """V of the potentials that act at no place: known by their slopes only."""
        V = spatial_fields.unlocated_potential(self.kin)
        return None if V is None else self.of.declared_quantity("V", V)


class SpeedQuantities(RateQuantities):
    """The same in the independent speeds u: q̇ = W u + X."""

    @lazy_property
    def v(self) -> Quantity:
        return super().v.with_parts(self.of.qdot_of_u)

    @property
    def velocity_variables(self) -> Quantity:
        return self.of.u

    def _potential_gradient(self, V: Quantity, letter: str) -> Quantity:
        return (self.of.W.T @ diff(V, self.of.q)).with_index(letter)

    @lazy_property
    def a(self) -> Quantity:
        return Quantity(
            f.Rate(self.v.ref), SpatialField(self.tape, self.kin.a), (self.v,), symbol=letter("a")
        )


def kinetic_energy(of: Quantities, v: Quantity, w: Quantity) -> Quantity:
    """T = ½ Σ m v·v + ½ Σ ω·I·ω"""
    return (
        of.half * total(of.m * v.dot(v)) + of.half * total(w.dot(of.inertia.dot(w)))
    ).with_letter("T")


def gibbs_function(of: Quantities, a: Quantity, w: Quantity, alpha: Quantity) -> Quantity:
    """S = ½ Σ m a·a + ½ Σ α·I·α + Σ α·(ω × I·ω)"""
    square = of.half * total(of.m * a.dot(a)) + of.half * total(alpha.dot(of.inertia.dot(alpha)))
    return (square + total(alpha.dot(w.cross(of.inertia.dot(w))))).with_letter("S")


def axial_vector(rate: f.Formula) -> f.Formula:
    """ω of [ω]ₓ = Ṙ Rᵀ, θ_k of [θ_k]ₓ = ∂R/∂q_k Rᵀ"""
    return f.Function(Symbol("axial"), (rate * Symbol("R").T,))


_VELOCITY: Final = f.Rate(letter("r"))
ANGULAR_VELOCITY: Final = axial_vector(f.Rate(letter("R")))
