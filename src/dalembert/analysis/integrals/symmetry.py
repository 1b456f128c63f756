"""d/dt(p·ξ) = L_ξ(T − V) + (Q + Aᵀλ)·ξ: whether a direction ξ(q) of the coordinates keeps a
momentum constant.

p·ξ is constant where T and V do not change along ξ, no load acts along it and A ξ = 0; H − p·ξ is
constant where A ξ + b = 0 instead and nothing depends on time.

R = T − V − Σ_c p_c q̇_c removes ignorable coordinates, whose momenta are constants (Routh). With
p_c = ∂T/∂q̇_c constant, d/dt ∂R/∂q̇_s − ∂R/∂q_s = Q_s holds for the other coordinates alone. What R
leaves at q̇_s = 0 is minus the amended potential, V + ½ pᵀ M_cc⁻¹ p where no velocity has a part of
its own.

Source: Gol80 8-3; PRINCIPLES, first integrals along symmetries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from dalembert.analysis.integrals.energies import Energies
from dalembert.analysis.integrals.first_integrals import jacobi_integral, kinetic_energy_in_rates
from dalembert.analysis.integrals.identity_test import MotionIdentityTest
from dalembert.errors import DalembertError, NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinetics.generalized_forces import generalized_forces
from dalembert.symbolic.algebra.elimination import factor_symmetric
from dalembert.symbolic.algebra.exact.verdict import Undecided, Verdict
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    symbols_of,
)
from dalembert.symbolic.algebra.printing import equation_text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix, gradient_column


@dataclass(frozen=True)
class Symmetry(Displayable):
    """A direction ξ, its momentum p·ξ in the speeds, and what was found about both, each decided
    exactly.
    """

    system: str
    xi: tuple[tuple[str, str], ...]
    momentum: Scalar = field(repr=False)
    moving_energy: Scalar = field(repr=False)
    checks: tuple[tuple[str, Verdict], ...]
    # None where that is undecided
    momentum_is_constant: bool | None
    moving_energy_is_constant: bool | None

    @property
    def failed_conditions(self) -> tuple[str, ...]:
        """What does not hold of the conditions for p·ξ."""
        return tuple(
            name for name, found in self.checks if found.holds is False and name != "A ξ + b = 0"
        )

    def __bool__(self) -> bool:
        """Whether p·ξ or H − p·ξ is constant."""
        verdicts = (self.momentum_is_constant, self.moving_energy_is_constant)
        if None in verdicts and True not in verdicts:
            msg = (
                "symmetry: undecided; ask .momentum_is_constant and .moving_energy_is_constant, "
                "which are True, False or None"
            )
            raise Undecided(msg)
        return True in verdicts

    def __str__(self) -> str:
        direction = ", ".join(f"{q}: {x}" for q, x in self.xi)
        lines = [f"{self.system}: the direction ξ = ({direction})"]
        lines += [f"  {name:32} {found}" for name, found in self.checks]
        lines.append(f"  p·ξ = {self.momentum}: {_constancy_text(self.momentum_is_constant)}")
        lines.append(f"  H − p·ξ: {_constancy_text(self.moving_energy_is_constant)}")
        return "\n".join(lines)


def _constancy_text(constant: bool | None) -> str:
    return {True: "constant", False: "not constant", None: "undecided"}[constant]


def symmetry(
    E: Energies, motion: MotionIdentityTest, xi: Mapping[int, int], where: Mapping[int, int]
) -> Symmetry:
    """Decide on ξ = {q_k: ξ_k}, nodes of E's tape."""
    t, kin = E.t, E.kin
    T = kinetic_energy_in_rates(E)
    direction = Column(t, (xi.get(q, t.zero) for q in kin.q))
    insert = Substitution(t, where)
    conditions = _conditions(E, T, direction).items()
    checks = tuple(
        (name, decide_zero(t, column.map(insert).nodes).verdict) for name, column in conditions
    )
    momentum = kin.scalar(kin.in_speeds((direction @ gradient_column(T, Column(t, kin.qdot))).i))
    energy = jacobi_integral(E) - momentum
    constant = motion.are_zero([E.rate(momentum), E.rate(energy)], where)
    shown = tuple((str(kin.scalar(q)), str(kin.scalar(e))) for q, e in xi.items())
    return Symmetry(kin.system.name, shown, momentum, energy, checks, constant[0], constant[1])


def _conditions(E: Energies, T: Scalar, xi: Column) -> dict[str, Column]:
    """What must vanish for p·ξ to be constant, and A ξ + b, in words."""
    t, kin, rows = E.t, E.kin, E.kin.rows

    def along(f: Scalar) -> Column:
        """ξ·∂f/∂q + ξ̇·∂f/∂q̇"""
        by_q, by_rate = (
            gradient_column(f, Column(t, kin.q)),
            gradient_column(f, Column(t, kin.qdot)),
        )
        return Column(t, [(xi @ by_q + xi.map(Derivative(t, t.rate)) @ by_rate).i])

    conditions = {
        "T does not change along ξ": along(T),
        "V does not change along ξ": along(E.V),
        "no load acts along ξ": Column(t, [(xi @ generalized_forces(kin)).i]),
    }
    if rows:
        A = SparseMatrix(t, (row.A for row in rows), kin.n_q)
        conditions["A ξ = 0"] = A @ xi
        conditions["A ξ + b = 0"] = A @ xi + Column(t, (row.b for row in rows))
    return conditions


# ---- Routh's reduction --------------------------------------------------------------------------


@dataclass(frozen=True)
class RouthReduction(Displayable):
    """The Routhian and the equations of the coordinates that remain; `equations[s]` = 0, proved
    on the motion.
    """

    system: str
    ignorable: tuple[str, ...]
    remaining: tuple[str, ...]
    # {p_c: ∂T/∂q̇_c}, and q̇_c by p and the rest
    momenta: tuple[tuple[str, Scalar], ...] = field(repr=False)
    rates: tuple[tuple[str, Scalar], ...] = field(repr=False)
    routhian: Scalar = field(repr=False)
    amended_potential: Scalar = field(repr=False)
    equations: tuple[Scalar, ...] = field(repr=False)
    _leading: tuple[int, ...] = field(repr=False)
    _rates: tuple[int, ...] = field(repr=False)

    def __str__(self) -> str:
        tape = self.routhian.tape
        lines = [f"{self.system}: Routh's reduction, ignorable: {', '.join(self.ignorable)}"]
        lines += [f"  {name} = {e}, constant" for name, e in self.momenta]
        lines += [f"  {name} = {e}" for name, e in self.rates]
        lines += [f"  R = {self.routhian}", f"  amended potential = {self.amended_potential}"]
        lines += [
            f"  {equation_text(tape, e.i, self._leading, self._rates)}" for e in self.equations
        ]
        return "\n".join(lines)


def routh(E: Energies, motion: MotionIdentityTest) -> RouthReduction:
    """Remove every ignorable coordinate whose momentum is constant on the motion."""
    return _RouthReducer(E, motion).result()


class _RouthReducer:
    def __init__(self, E: Energies, motion: MotionIdentityTest) -> None:
        self.E, self.t, self.kin, self.motion = E, E.t, E.kin, motion
        if self.kin.rows:
            rows = ", ".join(repr(row.name) for row in self.kin.rows)
            msg = (
                f"Routh's reduction is for independent coordinates; {self.kin.system.name!r} "
                f"has "
                f"the rows {rows}"
            )
            raise NotApplicable(msg)
        self.T = kinetic_energy_in_rates(E)
        self.p = gradient_column(self.T, Column(self.t, self.kin.qdot)).nodes
        self.ignorable = self._ignorable()
        self.remaining = [k for k in range(self.kin.n_q) if k not in self.ignorable]

    def _ignorable(self) -> list[int]:
        """Coordinates that T and V do not contain and along which no load acts."""
        E, kin = self.E, self.kin
        inside = set(symbols_of(self.t, [self.T.i, E.V.i]))
        absent = [k for k, q in enumerate(kin.q) if q not in inside]
        constant = self.motion.are_zero(
            [E.rate(kin.scalar(kin.in_speeds(self.p[k]))) for k in absent]
        )
        ignorable = [k for k, holds in zip(absent, constant, strict=True) if holds]
        if not ignorable and None in constant:
            msg = (
                f"whether a coordinate of {kin.system.name!r} is ignorable: undecided "
                f"({self.motion.undecided_reason})"
            )
            raise Undecided(msg)
        if not ignorable:
            why = (
                f"a load acts along {', '.join(self._name(k) for k in absent)}"
                if absent
                else "T or V contains each of them"
            )
            msg = f"no coordinate of {kin.system.name!r} is ignorable: {why}"
            raise NotApplicable(msg)
        return ignorable

    def _name(self, k: int) -> str:
        return self.kin.name(self.kin.q[k])

    def result(self) -> RouthReduction:
        t, kin, s = self.t, self.kin, self.kin.scalar
        symbols = [t.private_symbol(f"p_{self._name(k)}") for k in self.ignorable]
        rates = self._rates(symbols)
        insert = Substitution(
            t, dict(zip((kin.qdot[k] for k in self.ignorable), rates, strict=True))
        )
        carried = Column(t, symbols) @ Column(t, (kin.qdot[k] for k in self.ignorable))
        R = insert((self.T - self.E.V - carried).i)
        at_rest = Substitution(t, {kin.qdot[k]: t.zero for k in self.remaining})
        equations = self._equations(R, insert)
        self._verify_on_motion(equations, symbols)
        return RouthReduction(
            system=kin.system.name,
            ignorable=tuple(str(s(kin.q[k])) for k in self.ignorable),
            remaining=tuple(str(s(kin.q[k])) for k in self.remaining),
            momenta=tuple(
                (str(s(x)), s(self.p[k])) for x, k in zip(symbols, self.ignorable, strict=True)
            ),
            rates=tuple(
                (str(s(kin.qdot[k])), s(e)) for k, e in zip(self.ignorable, rates, strict=True)
            ),
            routhian=s(R),
            amended_potential=s(t.neg(at_rest(R))),
            equations=tuple(s(e) for e in equations),
            _leading=tuple(kin.qddot[k] for k in self.remaining),
            _rates=tuple(kin.qdot[k] for k in self.remaining),
        )

    def _rates(self, symbols: Sequence[int]) -> list[int]:
        """q̇_c = M_cc⁻¹ (p_c − M_cs q̇_s − B_c)"""
        t = self.t
        linear = LinearCoefficients(t, [self.kin.qdot[k] for k in self.ignorable])
        forms = [linear(self.p[k]) for k in self.ignorable]
        n = len(forms)
        M = [[row.get(j, t.zero) for j in range(n)] for _, row in forms]
        return factor_symmetric(t, M).solve(
            (Column(t, symbols) - Column(t, (rest for rest, _ in forms))).nodes
        )

    def _equations(self, R: int, insert: Substitution) -> list[int]:
        """d/dt ∂R/∂q̇_s − ∂R/∂q_s − Q_s, the momenta being constant."""
        t, kin = self.t, self.kin
        routhian, rate = kin.scalar(R), Derivative(t, t.rate)
        inertia = gradient_column(routhian, Column(t, kin.qdot)).map(rate) - gradient_column(
            routhian, Column(t, kin.q)
        )
        left = inertia - generalized_forces(kin).map(insert)
        return [left.nodes[k] for k in self.remaining]

    def _verify_on_motion(self, equations: Sequence[int], symbols: Sequence[int]) -> None:
        """Each vanishes on every motion, with p_c = ∂T/∂q̇_c."""
        t, kin = self.t, self.kin
        put_momenta = Substitution(
            t, dict(zip(symbols, (self.p[k] for k in self.ignorable), strict=True))
        )
        put_accelerations = Substitution(t, dict(zip(kin.qddot, kin.qddot_of_u, strict=True)))
        left = [kin.scalar(kin.in_speeds(put_accelerations(put_momenta(e)))) for e in equations]
        same = self.motion.are_zero(left)
        if False not in same and None in same:
            msg = (
                f"whether Routh's equations of {kin.system.name!r} are those of the motion: "
                f"undecided ({self.motion.undecided_reason})"
            )
            raise Undecided(msg)
        if not all(same):
            msg = f"Routh's equations of {kin.system.name!r} are not those of the motion"
            raise DalembertError(msg)
