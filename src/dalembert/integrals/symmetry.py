"""d/dt(p·ξ) = L_ξ(T − V) + (Q + Aᵀλ)·ξ: whether a direction ξ(q) of the coordinates keeps a momentum constant.

p·ξ is constant where T and V do not change along ξ, no load acts along it and A ξ = 0; H − p·ξ is constant where
A ξ + b = 0 instead and nothing depends on time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dalembert.algebra.exact.field import decide_zero
from dalembert.algebra.exact.verdict import Verdict
from dalembert.algebra.folds import Derivative, Rewrite, gradient
from dalembert.algebra.scalar import Scalar
from dalembert.integrals.decide import OnTheMotion
from dalembert.integrals.energies import Energies
from dalembert.integrals.momenta import jacobi, kinetic_energy_in_rates
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
    conditions = direction.conditions(T)
    checks = tuple((name, decide_zero(t, [insert(e) for e in nodes]).verdict) for name, nodes in conditions.items())
    p = gradient(t, {T: t.one}, kin.qdot)
    momentum = kin.in_speeds(direction.product(dict(enumerate(p))))
    energy = t.sub(jacobi(E), momentum)
    constant = motion.vanish([E.rate(momentum), E.rate(energy)], where)
    shown = tuple((str(kin.scalar(q)), str(kin.scalar(e))) for q, e in xi.items())
    return Symmetry(kin.system.name, shown, kin.scalar(momentum), kin.scalar(energy), checks, constant[0], constant[1])


class _Direction:
    """ξ = {q_k: ξ_k} and what changes along it."""

    def __init__(self, E: Energies, xi: Mapping[int, int]) -> None:
        self.E, self.t, self.kin = E, E.t, E.kin
        place = {q: k for k, q in enumerate(E.kin.q)}
        self.xi = {place[q]: e for q, e in xi.items()}

    def along(self, f: int) -> int:
        """ξ·∂f/∂q + ξ̇·∂f/∂q̇"""
        t, kin = self.t, self.kin
        rate, total = Derivative(t, t.rate), t.zero
        by_q, by_rate = gradient(t, {f: t.one}, kin.q), gradient(t, {f: t.one}, kin.qdot)
        for k, e in self.xi.items():
            total = t.add(total, t.add(t.mul(e, by_q[k]), t.mul(rate(e), by_rate[k])))
        return total

    def product(self, row: Mapping[int, int]) -> int:
        """Σ_k a_k ξ_k"""
        t = self.t
        total = t.zero
        for k, e in self.xi.items():
            total = t.add(total, t.mul(row.get(k, t.zero), e))
        return total

    def conditions(self, T: int) -> dict[str, list[int]]:
        """What must vanish for p·ξ to be constant, and A ξ + b, in words."""
        rows = self.kin.rows
        found = {
            "T does not change along ξ": [self.along(T)],
            "V does not change along ξ": [self.along(self.E.V)],
            "no load acts along ξ": [self.product(dict(enumerate(generalized_forces(self.kin))))],
        }
        if rows:
            found["A ξ = 0"] = [self.product(row.A) for row in rows]
            found["A ξ + b = 0"] = [self.t.add(self.product(row.A), row.b) for row in rows]
        return found
