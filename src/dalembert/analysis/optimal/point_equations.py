"""ẋ = f(x, y, w), g(x, y, w) = 0 at one point: the equations of motion as collocation takes them.

explicit   u̇ is an expression of q, u and w: for few speeds and no constraint equations
implicit   u̇ = a with ID(q, u, a) − Aᵀλ − w = 0: inverse dynamics, no mass matrix is inverted

Constraint equations are in stabilised index-2 form: φ(q) = 0 and A u + b = 0 hold at every point,
with q̇ = W u + Gᵀγ, G = ∂φ/∂q. γ vanishes along an exact solution; on a mesh it is an error
indicator.

Source: C. W. Gear, B. Leimkuhler, G. K. Gupta, J. Comput. Appl. Math. 12–13 (1985) 77.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import (
    Kinematics,
    kinematics,
    unreduced_kinematics,
)
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import forward_dynamics_of
from dalembert.runtime.dynamics.required_loads import required_loads
from dalembert.runtime.states.evaluator import Evaluator, label
from dalembert.runtime.states.run_values import RunValues, run_values
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    Substitution,
    copy_expressions,
    gradient,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import Tape

# speeds up to which u̇ is written out
_MOST_EXPLICIT: Final = 3


@dataclass(frozen=True, eq=False)
class PointEquations:
    """States with their rates, algebraic unknowns, inputs, and equations that hold at every
    point; nodes of one tape.
    """

    values: RunValues
    evaluator: Evaluator
    states: tuple[int, ...]
    rates: tuple[int, ...]
    # accelerations, multipliers λ, and γ
    algebraic: tuple[int, ...]
    inputs: tuple[int, ...]
    equations: tuple[int, ...]
    # φ and A u + b, with the names of their constraints; they hold at the first node too
    constraints: tuple[int, ...]
    constraint_names: tuple[str, ...]
    # u̇ in the explicit form
    accelerations: Mapping[int, int]
    multipliers: tuple[int, ...]
    gamma: tuple[int, ...]

    @property
    def tape(self) -> Tape:
        """The tape of all nodes."""
        return self.evaluator.tape

    @property
    def unknowns(self) -> tuple[int, ...]:
        """z = (x, y, w) of one point."""
        return (*self.states, *self.algebraic, *self.inputs)

    def name(self, i: int) -> str:
        """A symbol as it is written in a program."""
        return label(str(self.tape.nodes[i][1]))

    def read(self, key: Any) -> int:
        """The node of a name or an expression, in the unknowns of a point."""
        e = self.evaluator
        return Substitution(self.tape, self.accelerations)(e.in_speeds(e.node(key)))


def collocation_kinematics(system: System) -> Kinematics:
    """Independent speeds where positions are free; all rates where constraint equations restrict
    them or speeds may be singular.
    """
    if system.contacts:
        listed = ", ".join(repr(c.name) for c in system.contacts)
        msg = (
            f"optimize: the contact {listed} changes its mode at unknown times; describe each mode "
            f"by constraint equations "
            "and give them as phases"
        )
        raise NotApplicable(msg)
    if not system.q and system.state_rates:
        return Kinematics(system, complete=False)
    kin = kinematics(system)
    held = any(r.phi is not None and not r.is_norm for r in kin.linear_rows)
    singular = bool(kin.state_dependent_pivots) and not system.speed_list
    return unreduced_kinematics(kin) if held or kin.nonlinear or singular else kin


def point_equations(
    system: System,
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
    rated: Sequence[str] = (),
    *,
    explicit: bool | None = None,
) -> PointEquations:
    """The equations of a system at one point; the inputs in `rated` are states whose rates are
    the unknown inputs.
    """
    kin = collocation_kinematics(system)
    chosen = run_values(kin, values, inputs)
    evaluator = Evaluator(chosen.kin, chosen.numbers, chosen.bindings)
    form = _Form(evaluator, explicit)
    free = _FreeInputs(evaluator, chosen, form.nodes, rated)
    clean = Substitution(evaluator.tape, free.absent)
    k = evaluator.kin
    states = (*k.q, *k.x, *free.states, *k.u)
    rates = (*form.qdot, *form.xdot, *free.rates, *form.udot)
    return PointEquations(
        chosen,
        evaluator,
        states,
        tuple(map(clean, rates)),
        form.algebraic,
        free.inputs,
        tuple(map(clean, form.equations)),
        tuple(map(clean, form.constraints)),
        tuple(form.names),
        {u: clean(e) for u, e in form.accelerations.items()},
        form.multipliers,
        form.gamma,
    )


class _Form:
    """q̇, ẋ, u̇ and the equations of one of the two forms."""

    def __init__(self, evaluator: Evaluator, explicit: bool | None) -> None:
        kin, t = evaluator.kin, evaluator.tape
        self.evaluator = evaluator
        rows = [r for r in kin.velocity_rows if not r.row.redundant]
        held = [r for r in kin.rows if r.phi is not None and not r.redundant]
        small = kin.n_u <= _MOST_EXPLICIT
        self.explicit = not rows and (small if explicit is None else explicit)
        phi = [evaluator.in_speeds(e) for e in position_residuals(t, held)]
        speed_rows = [evaluator.in_speeds(r.e) for r in rows]
        self.gamma = tuple(t.private_symbol(f"gamma_{j}") for j in range(1, len(phi) + 1))
        self.multipliers = tuple(t.private_symbol(f"lambda_{j}") for j in range(1, len(rows) + 1))
        push = gradient(t, dict(zip(phi, self.gamma, strict=True)), kin.q)
        self.qdot = [
            t.add(evaluator.in_speeds(e), g) for e, g in zip(kin.qdot_of_u, push, strict=True)
        ]
        self.xdot = [evaluator.in_speeds(e) for e in kin.xdot]
        self.accelerations: dict[int, int] = {}
        self.constraints = (*phi, *speed_rows)
        self.names = (*(r.name for r in held), *(f"{r.row.name} (velocities)" for r in rows))
        if self.explicit:
            self._explicit(kin)
        else:
            self._implicit(kin, rows)
        self.equations = (*self.motion, *self.constraints)

    def _explicit(self, kin: Kinematics) -> None:
        self.motion: tuple[int, ...] = ()
        self.algebraic: tuple[int, ...] = self.gamma
        if not kin.u:
            self.udot: list[int] = []
            return
        e = forward_dynamics_of(kin)
        here = copy_expressions(e.tape, self.evaluator.tape, e.udot)
        self.udot = [self.evaluator.in_speeds(i) for i in here]
        self.accelerations = dict(zip(kin.udot, self.udot, strict=True))

    def _implicit(self, kin: Kinematics, rows: Sequence[Any]) -> None:
        evaluator, t = self.evaluator, self.evaluator.tape
        needed = required_loads(kin)
        r = [evaluator.in_speeds(i) for i in copy_expressions(needed.tape, t, needed.nodes)]
        for row, lam in zip(rows, self.multipliers, strict=True):
            for c, a in row.A.items():
                r[c] = t.sub(r[c], t.mul(evaluator.in_speeds(a), lam))
        self.motion, self.udot = tuple(r), list(kin.udot)
        self.algebraic = (*kin.udot, *self.multipliers, *self.gamma)

    @property
    def nodes(self) -> tuple[int, ...]:
        """Everything that the equations contain."""
        return (*self.qdot, *self.xdot, *self.udot, *self.equations)


class _FreeInputs:
    """Inputs and prescribed motions that were not given: unknowns; those whose rates are needed
    are states.
    """

    def __init__(
        self, evaluator: Evaluator, chosen: RunValues, nodes: Sequence[int], rated: Sequence[str]
    ) -> None:
        t = evaluator.tape
        self.absent: dict[int, int] = {}
        states, rates, inputs = list[int](), list[int](), list[int]()
        given = {evaluator.kin.name(i) for i in chosen.bindings}
        for s in evaluator.kin.system.symbols.values():
            if not s.is_open or s.name in given:
                continue
            if s.kind == "specified" and s.scalar.i in chosen.numbers:
                continue
            chain = self._jets(t, s.scalar.i, nodes)
            if s.name in rated and len(chain) == 1:
                chain.append(t.private_symbol(f"{s.name}'"))
            states += chain[:-1]
            rates += chain[1:]
            inputs.append(chain[-1])
        self.states, self.rates, self.inputs = tuple(states), tuple(rates), tuple(inputs)

    def _jets(self, t: Tape, x: int, nodes: Sequence[int]) -> list[int]:
        """x and those of its rates that the equations depend on; one that drops out exactly is
        not asked for.
        """
        chain, present = [x], set(symbols_of(t, nodes))
        symbol = t.rates.get(x)
        while symbol is not None:
            chain.append(symbol)
            symbol = t.rates.get(symbol)
        while len(chain) > 1:
            last = chain[-1]
            if last in present:
                along = Derivative(t, {last: t.one}.get)
                slopes = [d for e in nodes if (d := along(e)) != t.zero]
                if not all(provably_zero(t, slopes)):
                    break
                self.absent[last] = t.zero
            chain.pop()
        return chain
