"""d/dt(p·ξ) = L_ξ(T − V) + (Q + Aᵀλ)·ξ: whether a direction ξ(q) of the coordinates keeps a momentum constant.

p·ξ is constant where T and V do not change along ξ, no load acts along it and A ξ = 0; H − p·ξ is constant where
A ξ + b = 0 instead and nothing depends on time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dalembert.algebra.columns import Column, Rows, slopes
from dalembert.algebra.exact.field import decide_zero
from dalembert.algebra.exact.verdict import Verdict
from dalembert.algebra.folds import Derivative, Rewrite
from dalembert.algebra.scalar import Scalar
from dalembert.integrals.decide import OnTheMotion
from dalembert.integrals.energies import Energies
from dalembert.integrals.first_integrals import jacobi, kinetic_energy_in_rates
from dalembert.kinetics.generalized_forces import generalized_forces
from dalembert.notebook import Shown


@dataclass(frozen=True)
class Symmetry(Shown):
    """A direction ξ, its momentum p·ξ in the speeds, and what was found about both, each decided exactly."""

    system: str
    xi: tuple[tuple[str, str], ...]
    momentum: Scalar = field(repr=False)
    moving_energy: Scalar = field(repr=False)
    checks: tuple[tuple[str, Verdict], ...]
    # None where that is undecided
    momentum_is_constant: bool | None
    moving_energy_is_constant: bool | None

    @property
    def failed(self) -> tuple[str, ...]:
        """What does not hold of the conditions for p·ξ."""
        return tuple(name for name, found in self.checks if found.holds is False and name != "A ξ + b = 0")

    def __str__(self) -> str:
        direction = ", ".join(f"{q}: {x}" for q, x in self.xi)
        lines = [f"{self.system}: the direction ξ = ({direction})"]
        lines += [f"  {name:32} {found}" for name, found in self.checks]
        lines.append(f"  p·ξ = {self.momentum}: {_word(self.momentum_is_constant)}")
        lines.append(f"  H − p·ξ: {_word(self.moving_energy_is_constant)}")
        return "\n".join(lines)


def _word(constant: bool | None) -> str:
    return {True: "constant", False: "not constant", None: "undecided"}[constant]


def symmetry(E: Energies, motion: OnTheMotion, xi: Mapping[int, int], where: Mapping[int, int]) -> Symmetry:
    """Decide on ξ = {q_k: ξ_k}, nodes of E's tape."""
    t, kin = E.t, E.kin
    T = kinetic_energy_in_rates(E)
    direction = _Direction(E, xi)
    insert = Rewrite(t, where)
    conditions = direction.conditions(T).items()
    checks = tuple((name, decide_zero(t, column.map(insert).nodes).verdict) for name, column in conditions)
    momentum = kin.scalar(kin.in_speeds((direction.xi @ slopes(T, Column(t, kin.qdot))).i))
    energy = jacobi(E) - momentum
    constant = motion.vanish([E.rate(momentum), E.rate(energy)], where)
    shown = tuple((str(kin.scalar(q)), str(kin.scalar(e))) for q, e in xi.items())
    return Symmetry(kin.system.name, shown, momentum, energy, checks, constant[0], constant[1])


class _Direction:
    """ξ = {q_k: ξ_k} and what changes along it."""

    def __init__(self, E: Energies, xi: Mapping[int, int]) -> None:
        self.E, self.t, self.kin = E, E.t, E.kin
        self.xi = Column(E.t, (xi.get(q, E.t.zero) for q in E.kin.q))

    def along(self, f: Scalar) -> Column:
        """ξ·∂f/∂q + ξ̇·∂f/∂q̇"""
        t, kin = self.t, self.kin
        by_q, by_rate = slopes(f, Column(t, kin.q)), slopes(f, Column(t, kin.qdot))
        return Column(t, [(self.xi @ by_q + self.xi.map(Derivative(t, t.rate)) @ by_rate).i])

    def conditions(self, T: Scalar) -> dict[str, Column]:
        """What must vanish for p·ξ to be constant, and A ξ + b, in words."""
        t, rows = self.t, self.kin.rows
        found = {
            "T does not change along ξ": self.along(T),
            "V does not change along ξ": self.along(self.E.V),
            "no load acts along ξ": Column(t, [(self.xi @ generalized_forces(self.kin)).i]),
        }
        if rows:
            A = Rows(t, (row.A for row in rows), self.kin.n_q)
            found["A ξ = 0"] = A @ self.xi
            found["A ξ + b = 0"] = A @ self.xi + Column(t, (row.b for row in rows))
        return found
