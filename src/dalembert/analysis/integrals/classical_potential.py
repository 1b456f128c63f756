"""U: the classical potential energy, a function of position, and when it exists.

d/dt (K + U) is the sum of three powers, and U exists where each of them vanishes on every motion:

(i)   ∂_tV + V_q·w, with w the rates q̇ at which all material points stand still: the change of V at
      fixed positions and orientations. In y + 3t time is only a name of the coordinate, w = −3.
(ii)  F·v of the loads that have no potential as functions of position.
(iii) the power of the forces that enforce prescribed motions and moving constraints.

𝒰 belongs to the chosen coordinates and speeds and may drop a function of time; U may not.

Source: Mit22 34.2, footnote 2, and the table of 34.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dalembert.analysis.integrals.conservative_terms import LoadSplit, split_loads
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import split_linear
from dalembert.mechanics.kinetics.spatial_fields import declared_kinetic_energy, potential_energy
from dalembert.symbolic.algebra.elimination import Factorization, nonvanishing_order
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column

if TYPE_CHECKING:
    from dalembert.analysis.integrals.energies import Energies

REASONS = (
    "(i) V depends on time at fixed positions and orientations (∂_tV + V_q·w ≠ 0)",
    "(ii) loads without a potential have power",
    "(iii) the forces that enforce prescribed motions or moving constraints have power",
)


class ClassicalPotential:
    """U of a system and the powers that must vanish for it to exist."""

    def __init__(self, E: Energies) -> None:
        self.E, self.kin, self.t = E, E.kin, E.t
        symbols = self.kin.system.symbols.values()
        specified = [s.scalar.i for s in symbols if s.kind == "specified"]
        moving = {x: rate for x in specified if (rate := self.t.rate(x)) is not None}
        self.specified, self.specified_rates = list(moving), list(moving.values())
        self._linear = LinearCoefficients(self.t, [*self.kin.qdot, *self.specified_rates])

    @cached_property
    def U(self) -> Scalar:
        """V of potentials, gravity and the loads that have one as functions of position."""
        return potential_energy(self.kin) + self._split.V

    @cached_property
    def conditions(self) -> tuple[Scalar, Scalar, Scalar]:
        """The powers (i), (ii) and (iii), whose sum is d/dt (K + U)."""
        E, changing = self.E, self.potential_rate_at_rest
        loads = E.P_of_all_loads + E.rate(self._split.V)
        return changing, loads, E.P_in - changing

    @cached_property
    def explicit_rate(self) -> Scalar:
        """∂_tU, the coordinates held still; through prescribed motions too."""
        return self._partial_rate(self.U, set(self.kin.q))

    # ---- (i) ---------------------------------------------------------------------------------

    @cached_property
    def potential_rate_at_rest(self) -> Scalar:
        """∂_tV + V_q·w: the rate of V at fixed positions and orientations.

        Where no w exists, time moves material points, and what moves them is counted in (iii).
        """
        kin, V, w = self.kin, potential_energy(self.kin), self.rates_at_rest
        still = {*kin.q, *self._moving_parts}
        if w is None:
            return self._partial_rate(V, {*still, kin.system.t.i})
        slopes = gradient_column(V, Column(self.t, [*kin.q, *self.specified]))
        return self._partial_rate(V, still) + slopes @ Column(self.t, [x.i for x in w])

    def _partial_rate(self, V: Scalar, still: set[int]) -> Scalar:
        t = self.t
        rate = Derivative(t, lambda x: None if x in still or x not in t.moving else t.rate(x))
        return self.kin.scalar(rate(V.i))

    @cached_property
    def _moving_parts(self) -> set[int]:
        """Prescribed motions that move something: they occur in a velocity, in T or in a row."""
        t, kin = self.t, self.kin
        rows = [e for row in kin.rows for e in (*row.A.values(), row.b)]
        T = declared_kinetic_energy(kin)
        inside = set(symbols_of(t, [*rows, *(() if T is None else (T,))]))
        for columns, _ in self._velocities:
            inside.update(self.specified_rates[k - kin.n_q] for k in columns if k >= kin.n_q)
        pairs = zip(self.specified, self.specified_rates, strict=True)
        return {x for x, rate in pairs if x in inside or rate in inside}

    @cached_property
    def _velocities(self) -> list[tuple[dict[int, Vector], Vector]]:
        """v = Σ v_k q̇_k + Σ v_X Ẋ + v_t of every mass centre, frame and load point."""
        motion = self.kin.motion_in_rates
        return [
            split_linear(self._linear, motion.v(X) if isinstance(X, Point) else motion.w(X))
            for X in dict.fromkeys(self._locations())
        ]

    def _locations(self) -> Iterator[Point | Frame]:
        system = self.kin.system
        for body in system.bodies:
            yield body.G
            if body.frame is not None:
                yield body.frame
        for load in system.loads:
            yield from (P for _, P in load.forces)
            yield from (B for _, B in load.torques)
        for potential in system.potentials:
            yield from potential.between or ()
            yield from (P for _, P in potential.forces)

    @cached_property
    def rates_at_rest(self) -> list[Scalar] | None:
        """w: rates of coordinates and prescribed motions at which every material point stands still
        and every body keeps its orientation; None where there are none.
        """
        if self.kin.system.given_kinetic_energies:
            return self._rates_without_energy()
        n, velocities = self.kin.n_q + len(self.specified), self._velocities
        zero, none = Scalar(self.t, self.t.zero), Vector(self.t, {})
        rests = [rest for _, rest in velocities]
        if all(provably_zero(self.t, [(v @ v).i for v in rests])):
            return [zero] * n
        sums = [[zero] * n for _ in range(n)]
        right = [zero] * n
        for columns, rest in velocities:
            for k, a in columns.items():
                right[k] -= a @ rest
                for l, b in columns.items():
                    sums[k][l] += a @ b
        w = self._solve(sums, right)
        left = [
            rest + sum((a * w[k] for k, a in columns.items()), none) for columns, rest in velocities
        ]
        return w if all(provably_zero(self.t, [(v @ v).i for v in left])) else None

    def _rates_without_energy(self) -> list[Scalar] | None:
        """The rates at which a given T vanishes."""
        t = self.t
        T = self.kin.scalar(declared_kinetic_energy(self.kin) or t.zero)
        rates = [*self.kin.qdot, *self.specified_rates]
        at_rest = Substitution(t, dict.fromkeys(rates, t.zero))
        momenta = gradient_column(T, Column(t, rates))
        right = [Scalar(t, t.neg(at_rest(p))) for p in momenta.nodes]
        columns = [gradient_column(Scalar(t, p), Column(t, rates)).nodes for p in momenta.nodes]
        mass = [[Scalar(t, at_rest(e)) for e in row] for row in columns]
        w = self._solve(mass, right)
        put = Substitution(t, {x: e.i for x, e in zip(rates, w, strict=True)})
        return w if provably_zero(t, [put(T.i)])[0] else None

    def _solve(self, A: list[list[Scalar]], b: list[Scalar]) -> list[Scalar]:
        """A w = b for a symmetric A ≥ 0; zero where a pivot vanishes."""
        t = self.t
        rows = [{k: a.i for k, a in enumerate(row)} for row in A]
        factor = Factorization(t, rows, order=nonvanishing_order(t))
        return [Scalar(t, w) for w in factor.solve([x.i for x in b])]

    # ---- (ii) --------------------------------------------------------------------------------

    @cached_property
    def _split(self) -> LoadSplit:
        """The loads whose work is a function of position: F·dr exact in q, X and t."""
        t, kin = self.t, self.kin
        loads = kin.system.loads
        fields = {load.name: self._work_form(load.forces, load.torques) for load in loads}
        time = {kin.system.t.i, *self.specified}
        beyond = [e for form in fields.values() for e in form[kin.n_q :]]
        inside = set(symbols_of(t, [e for form in fields.values() for e in form]))
        if all(e == t.zero for e in beyond) and not time & inside:
            return self.E.split
        return split_loads(kin, [*kin.q, *self.specified, kin.system.t.i], fields)

    def _work_form(
        self, forces: Sequence[tuple[Vector, Point]], torques: Sequence[tuple[Vector, Frame]]
    ) -> list[int]:
        """F·∂v/∂q̇_k, F·∂v/∂Ẋ and F·v_t of some forces and torques."""
        t, kin, motion = self.t, self.kin, self.kin.motion_in_rates
        n = kin.n_q + len(self.specified)
        form = [Scalar(t, t.zero)] * (n + 1)
        loads = [(F, motion.v(P)) for F, P in forces] + [(T, motion.w(B)) for T, B in torques]
        for load, v in loads:
            columns, rest = split_linear(self._linear, v)
            vector = kin.vector_in_rates(load)
            for k, column in (columns | {n: rest}).items():
                form[k] += column @ vector
        return [e.i for e in form]
