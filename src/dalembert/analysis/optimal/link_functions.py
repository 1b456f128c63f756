"""M(u⁺ − u⁻) = AᵀΛ, A u⁺ = 0, x_next = X(q, u⁺): from the end of a phase to the beginning of the
next.

Positions are continuous. Points of an impact stop; their impulses Λ are unknowns, and those of
unilateral contacts push.

Source: Y. Hurmuzlu, D. B. Marghitu, Int. J. Robotics Research 13 (1994) 82.
"""

from __future__ import annotations

from typing import Any

from dalembert.analysis.optimal.phase import BadOptimization, Link
from dalembert.analysis.optimal.phase_functions import PhaseFunctions
from dalembert.analysis.optimal.point_function import point_function
from dalembert.errors import BadExpression
from dalembert.runtime.dynamics.required_loads import required_loads
from dalembert.runtime.states.evaluator import Level
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    Substitution,
    copy_expressions,
)
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products


class LinkFunctions:
    """A link as functions of the last state of a phase, the speeds after an impact and its
    impulses.
    """

    def __init__(self, link: Link, before: PhaseFunctions, after: PhaseFunctions) -> None:
        self.link, self.before, self.after = link, before, after
        self.tape = before.tape
        kin = before.equations.evaluator.kin
        count = len(link.impact)
        self.speeds = (
            tuple(self.tape.private_symbol(f"u_after_{k}") for k in range(1, kin.n_u + 1))
            if count
            else ()
        )
        self.impulses = tuple(self.tape.private_symbol(f"impulse_{k}") for k in range(1, count + 1))
        self.unilateral = tuple(e in link.unilateral for e in link.impact)
        # {place of a state of the next phase: its expression}
        self.targets = self._targets()
        self.map = point_function(
            self.tape, [self.tape.neg(e) for e in self.targets.values()], self.unknowns
        )
        self.impact = point_function(self.tape, self._impact(), self.unknowns) if count else None

    @property
    def unknowns(self) -> tuple[int, ...]:
        """The last state of the phase before, what all its points share, speeds after the
        impact, impulses.
        """
        return (*self.before.equations.states, *self.before.common, *self.speeds, *self.impulses)

    def _targets(self) -> dict[int, int]:
        """x⁺ = X(q, u⁺): as given, by the rate of the value given for a coordinate, or the state of
        the same name.
        """
        eq, following = self.before.equations, self.after.equations
        kin = eq.evaluator.kin
        moved = Substitution(self.tape, dict(zip(kin.u, self.speeds, strict=bool(self.speeds))))
        nodes = {eq.name(i): i for i in eq.states}
        for key, expression in self.link.becomes.items():
            name, node = self._name(key), self._read(key, expression)
            nodes[name] = node
            if f"{name}.dot" in map(following.name, following.states):
                nodes[f"{name}.dot"] = eq.evaluator.in_speeds(kin.rate(node))
        for key, expression in self.link.becomes.items():
            nodes[self._name(key)] = self._read(key, expression)
        names = map(following.name, following.states)
        return {place: moved(nodes[name]) for place, name in enumerate(names) if name in nodes}

    def _name(self, key: Any) -> str:
        """The name of a state of the next phase."""
        following = self.after.equations
        try:
            node = following.read(key)
        except BadExpression as problem:
            msg = f"link: {problem}"
            raise BadOptimization(msg) from problem
        if node not in following.states:
            msg = (
                f"link: {key} is not a state of the next phase; these are "
                f"{', '.join(map(following.name, following.states))}"
            )
            raise BadOptimization(msg)
        return following.name(node)

    def _read(self, key: Any, expression: Any) -> int:
        try:
            return self.before.equations.read(expression)
        except BadExpression as problem:
            msg = f"link: {key}: {problem}"
            raise BadOptimization(msg) from problem

    def _impact(self) -> list[int]:
        """M(u⁺ − u⁻) − AᵀΛ along every speed, then A u⁺ for every point that stops."""
        t, kin = self.tape, self.before.equations.evaluator.kin
        M = self._mass_matrix_rows()
        change = [t.sub(after, before) for after, before in zip(self.speeds, kin.u, strict=True)]
        jump = [sum_of_products(t, ((a, change[c]) for c, a in row.items())) for row in M]
        along, stops = LinearCoefficients(t, kin.u), list[int]()
        for key, impulse in zip(self.link.impact, self.impulses, strict=True):
            rest, A = along(self._velocity(key))
            for c, a in A.items():
                jump[c] = t.sub(jump[c], t.mul(a, impulse))
            stops.append(sum_of_products(t, ((a, self.speeds[c]) for c, a in A.items()), rest))
        return [*jump, *stops]

    def _mass_matrix_rows(self) -> list[dict[int, int]]:
        """{speed: entry of M} of each speed, from the loads that a motion requires."""
        evaluator, t = self.before.equations.evaluator, self.tape
        loads = required_loads(evaluator.kin)
        linear = LinearCoefficients(t, evaluator.kin.udot)
        return [
            linear(evaluator.in_speeds(i))[1] for i in copy_expressions(loads.tape, t, loads.nodes)
        ]

    def _velocity(self, key: Any) -> int:
        """The velocity of a position that stops; a velocity is taken as it is."""
        evaluator = self.before.equations.evaluator
        try:
            node = evaluator.node(key)
        except BadExpression as problem:
            msg = f"link: impact: {problem}"
            raise BadOptimization(msg) from problem
        level = evaluator.level(node)
        if level not in (Level.POSITION, Level.VELOCITY):
            msg = f"link: impact: {key} is neither a position nor a velocity"
            raise BadOptimization(msg)
        return evaluator.in_speeds(evaluator.kin.rate(node) if level is Level.POSITION else node)
