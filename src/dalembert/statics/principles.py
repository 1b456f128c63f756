"""Σ F·δr = 0 and δV = 0: the equations of equilibrium by virtual work and by stationary potential.

Source: Mei85 (7.19), (7.23).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dalembert.algebra.columns import Column
from dalembert.algebra.exact.field import decide_zero
from dalembert.algebra.exact.verdict import Verdict
from dalembert.algebra.folds import symbols_of, transplant
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.errors import NotApplicable
from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System
from dalembert.notebook import Shown
from dalembert.statics.rest import Rest
from dalembert.statics.solutions import Solutions, solutions
from dalembert.statics.steps import StaticStep, potential_steps, work_steps

Telling = Callable[[Rest, Sequence[Scalar]], Iterator[StaticStep]]


@dataclass(frozen=True)
class StaticEquations(Shown):
    """equations = 0 along the independent speeds, with the holonomic rows, at q̇ = 0."""

    system: System = field(repr=False)
    principle: str
    source: str
    tape: Tape = field(repr=False)
    nodes: tuple[int, ...]
    rows: tuple[int, ...]
    told: Callable[[], tuple[StaticStep, ...]] = field(repr=False, compare=False)

    @property
    def steps(self) -> tuple[StaticStep, ...]:
        """How they came about."""
        return self.told()

    def explain(self) -> str:
        """The way to the equations, step by step: the displacements that the rows allow, what the loads do, the coefficients."""
        numbered = [f"{k}. {step}" for k, step in enumerate(self.steps, 1)]
        return "\n\n".join([f"{self.principle} ({self.source})", *numbered])

    @property
    def equations(self) -> tuple[Scalar, ...]:
        """One expression for each independent speed, then one for each holonomic row; each vanishes in equilibrium."""
        return tuple(Scalar(self.tape, i) for i in (*self.nodes, *self.rows))

    def agrees(self, other: StaticEquations) -> Verdict:
        """Whether another route gives the same equations: shown to, shown not to, or undecided."""
        there = transplant(other.tape, self.tape, other.nodes)
        if len(there) != len(self.nodes):
            return Verdict(holds=False)
        return decide_zero(self.tape, (Column(self.tape, self.nodes) - Column(self.tape, there)).nodes).verdict

    def solve(self, unknown: Scalar | str) -> Solutions:
        """The values of one coordinate in equilibrium, as expressions, where an equation in it alone is elementary."""
        name = unknown.name if isinstance(unknown, Scalar) else unknown
        q = {s.name: s.scalar.i for s in self.system.symbols.values() if s.kind == "coordinate"}
        if name not in q:
            msg = f"equilibrium: {name} is not a coordinate; these are {', '.join(q)}"
            raise NotApplicable(msg)
        t, others = self.tape, {i for n, i in q.items() if n != name}
        for e in (*self.nodes, *self.rows):
            inside = set(symbols_of(t, (e,)))
            if q[name] in inside and not inside & others:
                return solutions(Scalar(t, e), Scalar(t, q[name]))
        msg = f"equilibrium: no equation holds {name} alone; da.equilibrium solves for all coordinates together, by numbers"
        raise NotApplicable(msg)

    def __str__(self) -> str:
        return "\n".join([f"{self.principle} ({self.source})", *(f"  {e} = 0" for e in self.equations)])


def virtual_work(system: System) -> StaticEquations:
    """F_r = Σ F·v_r + Σ T·ω_r = 0      (r = 1, …, p)

    The work of the applied loads through virtual displacements compatible with the constraints is zero; reactions do
    not enter. While specified motions go on, the inertia forces of the masses they carry are counted with the loads.

    Source: Mei85 (7.19).
    """
    rest = Rest(kinematics(system))
    return _gathered(system, rest, rest.work, "Virtual work", "Mei85 (7.19)", work_steps)


def stationary_potential(system: System) -> StaticEquations:
    """−∂(V − T₀)/∂q · W_r = 0      (r = 1, …, p)

    The potential energy has a stationary value in equilibrium. Applies where every load that acts at rest has a potential.

    Source: Mei85 (7.23).
    """
    rest = Rest(kinematics(system))
    rest.check_pace()
    return _gathered(system, rest, rest.slope, "Stationary potential", "Mei85 (7.23)", potential_steps)


def _gathered(system: System, rest: Rest, nodes: list[int], principle: str, source: str, tell: Telling) -> StaticEquations:
    rest.check_still()
    rows = tuple(row.phi for row in rest.kin.rows if row.phi is not None and not row.is_norm)
    equations = [Scalar(rest.tape, i) for i in (*nodes, *rows)]
    return StaticEquations(system, principle, source, rest.tape, tuple(nodes), rows, lambda: tuple(tell(rest, equations)))
