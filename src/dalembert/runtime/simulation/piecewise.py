"""σ = sign g(q, u, t): rates with a symbol for the side of every branch that the state decides,
smooth between two switchings.
Keywords: piecewise-smooth.

sign g becomes σ + φ sign g, and |g| becomes (σ + φ sign g) g. While a run knows the side, σ = ±1
and φ = 0: a step may reach beyond g = 0 and stays smooth, so that where it crosses is known to all
its digits. With σ = 0 and φ = 1 the jump is the error control's. One piece of machine code serves
all sides, as it serves all modes of contacts.

A run pauses where g crosses zero, and continues on the other side. The side that follows is the one
that g goes to by the rates of that side. Where neither side leads away from g = 0 (a motion that
slides along it), or crossings accumulate, the branch is left to the error control, as without
events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.llvm_types import padded_size
from dalembert.runtime.ode.rates import ExplicitRates
from dalembert.runtime.simulation.energy_audit import Audit, BoundAudit
from dalembert.runtime.simulation.events.automaton import Automaton, OneMode
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.runtime.simulation.events.event_actions import EventActions
from dalembert.runtime.simulation.events.event_functions import (
    EventFunctions,
    EventMonitor,
    event_functions,
    event_node,
)
from dalembert.runtime.simulation.events.event_loop import EventRun, event_energy_recorder
from dalembert.runtime.simulation.events.root_finding import Crossing
from dalembert.runtime.simulation.model import NativeModel
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.run_values import RunValues, parameter_vector
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions, symbols_of

if TYPE_CHECKING:
    from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
    from dalembert.runtime.ode.integration import Integrator, Progress
    from dalembert.runtime.simulation.context import Context
    from dalembert.symbolic.algebra.tape import Tape

# parts of Σ |∂g/∂x| |x|, and numbers, that count as zero
_ZERO: Final = 1e-12
_ZERO_ANYWAY: Final = 1e-14
# a part of the step to come after which g = ġ = 0 shows where it goes
_MOMENT: Final = 1e-3
# more crossings within a step of usual length are not treated as switching
_MANY: Final = 8
# distance behind a break in last bits
_BREAK_ULPS: Final = 4


class SwitchedTerm(NamedTuple):
    """g, σ and φ as nodes."""

    argument: int
    side: int
    free: int


@dataclass(frozen=True)
class CompiledBranches:
    """The rates, and the rates of the quadratures, with the sides of their branches as parameters;
    g on the tape of the rates.
    """

    native: NativeModel
    audit: Audit | None
    branches: tuple[SwitchedTerm, ...]

    @property
    def flags(self) -> dict[int, float]:
        """Every σ and φ, as long as no side is known."""
        return {i: x for b in self.branches for i, x in ((b.side, 0.0), (b.free, 1.0))}


class PiecewiseModel(NamedTuple):
    """A model with sides, its parameters in one run, and the quadratures."""

    model: CompiledBranches
    p: FloatArray
    watched: BoundAudit | None


_BRANCHED: Final = PerOwnerCache[CompiledBranches]()


def piecewise_model(
    setting: RunValues, model: NativeModel, watched: BoundAudit | None, key: tuple[object, ...]
) -> PiecewiseModel:
    """The model of a run with sides; what was compiled for the same `key` and bindings is used
    again.
    """
    audit = None if watched is None else watched.audit
    whole = (key, setting.binding_key, None if audit is None else audit.names)
    sided = _BRANCHED(setting.kin, whole, lambda: _compile_branches(model, audit))
    known = replace(setting, numbers={**setting.numbers, **sided.flags})
    rides = (
        None
        if sided.audit is None
        else BoundAudit(sided.audit, parameter_vector(known, sided.audit.parameters))
    )
    return PiecewiseModel(sided, parameter_vector(known, sided.native.parameters), rides)


def _compile_branches(model: NativeModel, audit: Audit | None) -> CompiledBranches:
    tape = model.tape.fork()
    branches, insert = replace_branches(tape, model.state_switches)
    rates = tuple(map(insert, model.nodes))
    symbols = symbols_of(tape, (*rates, *model.steps))
    parameters = tuple(i for i in symbols if i not in model.state)
    native = replace(
        model,
        rates=ExplicitRates(tape, rates, model.state, parameters),
        projection=CompiledFunction(tape, model.steps, model.state, parameters)
        if model.steps
        else None,
        parameters=parameters,
        tape=tape,
        nodes=rates,
        autonomous=model.state[-1] not in symbols_of(tape, rates),
        implicit_rates=None,
    )
    # after the rates: quadratures must not change their last bits
    return CompiledBranches(
        native, None if audit is None else _audit(tape, insert, audit), branches
    )


def replace_branches(
    tape: Tape, arguments: Sequence[int]
) -> tuple[tuple[SwitchedTerm, ...], Substitution]:
    """The branches with these arguments, and what puts their sides into expressions."""
    branches, replaced = [], dict[int, int]()
    # what stands inside an argument was made before it
    for k, a in enumerate(sorted(arguments)):
        g = Substitution(tape, replaced)(a)
        b = SwitchedTerm(
            g, tape.symbol(f"side of branch {k}"), tape.symbol(f"freedom of branch {k}")
        )
        side = tape.add(b.side, tape.mul(b.free, tape.call("sign", g)))
        for op, value in (("sign", side), ("abs", tape.mul(side, g))):
            if tape.nodes[i := tape.call(op, a)] == (op, a, None):
                replaced[i] = value
        branches.append(b)
    return tuple(branches), Substitution(tape, replaced)


def _audit(tape: Tape, insert: Substitution, audit: Audit) -> Audit:
    rates, energies = (
        tuple(map(insert, copy_expressions(audit.tape, tape, nodes)))
        for nodes in (audit.nodes, audit.energies)
    )
    parameters = tuple(i for i in symbols_of(tape, (*rates, *energies)) if i not in audit.state)
    return replace(audit, parameters=parameters, tape=tape, nodes=rates, energies=energies)


# ---- the run -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BranchFlags:
    """Parameters of native code, the places of σ and φ of branches among them, and which of
    these stands at each place.
    """

    p: FloatArray
    places: list[int]
    numbers: list[int]

    @classmethod
    def of(cls, p: FloatArray, symbols: Sequence[int], flags: Sequence[int]) -> BranchFlags:
        """Those flags that are among the symbols."""
        numbers = [k for k, i in enumerate(flags) if i in symbols]
        return cls(p, [symbols.index(flags[k]) for k in numbers], numbers)

    def set_active_branches(self, flags: FloatArray) -> None:
        """Let the parameters be these."""
        self.p[self.places] = flags[self.numbers]


class _BranchNodes(NamedTuple):
    """g, σ and φ of every branch on the tape of an evaluator."""

    arguments: list[int]
    sides: list[int]
    free: list[int]

    @classmethod
    def of(cls, tape: Tape, model: CompiledBranches) -> _BranchNodes:
        """Copies of those of a model."""
        nodes = copy_expressions(model.native.tape, tape, [i for b in model.branches for i in b])
        return cls(nodes[::3], nodes[1::3], nodes[2::3])

    @property
    def flags(self) -> list[int]:
        """What a run sets: σ, then φ."""
        return [*self.sides, *self.free]

    def only_at_stages(self, tape: Tape, chosen: RunValues) -> BoolArray:
        """Branches with Python callbacks, which are evaluated only at integrator stages."""
        unheld = {i for each in chosen.callback_inputs if each.is_continuous for i in each.nodes}
        return np.array([not unheld.isdisjoint(symbols_of(tape, (a,))) for a in self.arguments])


def _branch_flags(
    sided: PiecewiseModel, functions: EventFunctions, branches: _BranchNodes
) -> list[BranchFlags]:
    """The places of the flags among the parameters of the events, of the rates and of the audit."""
    model, p, watched = sided
    flags = [*(b.side for b in model.branches), *(b.free for b in model.branches)]
    settings = [
        BranchFlags.of(functions.p, functions.symbols, branches.flags),
        BranchFlags.of(p, model.native.parameters, flags),
    ]
    if watched is not None:
        settings.append(BranchFlags.of(watched.p, watched.audit.parameters, flags))
    return settings


def branch_run(
    chosen: RunValues,
    sided: PiecewiseModel,
    events: tuple[Event, ...],
    problem: InitialValueProblem,
    context: Context,
    show: Progress | None,
) -> EventRun:
    """The run with its branches, and the user's events before them."""
    evaluator = Evaluator(chosen.kin, chosen.numbers, chosen.bindings)
    kin, tape = evaluator.kin, evaluator.tape
    nodes = [event_node(evaluator, e) for e in events]
    branches = _BranchNodes.of(tape, sided.model)
    own = tuple(
        Event(f"side of branch {k}", action=EventAction.SWITCH)
        for k in range(len(branches.arguments))
    )
    functions = event_functions(
        evaluator, (*events, *own), [*nodes, *branches.arguments], branches.flags
    )
    settings = _branch_flags(sided, functions, branches)
    n = len(kin.state)
    actor = EventActions(chosen, evaluator, events, nodes)
    return EventRun(
        problem,
        Automaton.of(kin, actor, events, [(e.title, e) for e in own]),
        EventMonitor(functions, n, padded_size(problem.size), problem.dense_form),
        event_energy_recorder(n, context, sided.watched),
        show,
        modes=BranchModes(context, settings, branches.only_at_stages(tape, chosen)),
    )


@dataclass
class BranchModes(OneMode):
    """The sides of the branches of a run; their guards follow the user's events."""

    context: Context
    settings: list[BranchFlags]
    # branches that are the error control's for good
    given_up: BoolArray
    # a side that changes leaves the state as it is
    doubles_points = False

    def start(self, run: EventRun) -> InitialValueProblem:
        """The first sides; where a side is not known, it is zero and the branch free."""
        m = len(self.given_up)
        self._watch, self._n, self._first = run.watch, run.n, run.automaton.n_events
        self._sides = np.zeros(m)
        self._times: list[list[float]] = [[] for _ in range(m)]
        # those that have just crossed, with the sides they left
        self._left: dict[int, float] = {}
        self._apply()
        problem = run.problem
        x = np.append(problem.start[: self._n], problem.t0)
        self._sides[:] = np.where(self.given_up, 0.0, np.sign(self._values(x)))
        self._apply()
        if not problem.discontinuities:
            return problem
        return replace(problem, on_discontinuity=self._behind_break(problem.on_discontinuity))

    # ---- sides -------------------------------------------------------------------------------

    def _values(self, x: FloatArray) -> FloatArray:
        return self._watch.functions.values.call(x, self._watch.functions.p)[self._first :].copy()

    def _apply(self) -> None:
        """The sides as they are now, in all native code."""
        for flags in self.settings:
            flags.set_active_branches(np.concatenate([self._sides, self._sides == 0.0]))
        self.context.refresh_parameters()
        self._watch.parameters_changed()

    def arm(self, run: EventRun, integration: Integrator, *, first: bool) -> None:
        """From sides that lead to themselves."""
        self._settle(integration)
        run.arm_events(integration, first=first)
        self._stand(np.append(integration.state[: self._n], integration.t))

    def _stand(self, x: FloatArray) -> None:
        """Look for crossings from these sides on; what has just crossed is at zero."""
        g = self._values(x)
        self._watch.set_sides(
            self._first, self._sides, np.where(self._sides * g > 0.0, g, 0.0), ~self.given_up
        )

    def _settle(self, integration: Integrator) -> None:
        """Sides that lead to themselves: where g is zero, by its rate on that side; where no
        side does, it is free.
        """
        had, free = set(self._left.items()), self.given_up.copy()
        while True:
            wanted = np.where(free, 0.0, self._wanted(integration))
            changed = np.flatnonzero(wanted != self._sides).tolist()
            if not changed:
                break
            for k in changed:
                had.add((k, float(self._sides[k])))
                free[k] = not wanted[k] or (k, float(wanted[k])) in had
                self._sides[k] = 0.0 if free[k] else wanted[k]
            self._apply()
            integration.resume_after_jump()
        self._left.clear()

    def _wanted(self, integration: Integrator) -> FloatArray:
        """The side of each branch, by the value of g, else by its rate, else by its rate a
        moment later.
        """
        n, functions = self._n, self._watch.functions
        x, xdot = (
            np.append(integration.state[:n], integration.t),
            np.append(integration.slope[:n], 1.0),
        )
        g, slopes = self._values(x), functions.gradients(x)[self._first :]
        rates = slopes @ xdot
        small = np.abs(g) <= _ZERO * (np.abs(slopes) @ np.abs(x)) + _ZERO_ANYWAY
        small[list(self._left)] = True
        side = np.where(small, np.sign(rates), np.sign(g))
        if not side.all():
            h = _MOMENT * integration.next_step_size
            later = x + h * xdot
            rate_later = np.append(integration.evaluate_rhs(later[-1], later[:-1])[:n], 1.0)
            side = np.where(
                side == 0.0, np.sign(functions.gradients(later)[self._first :] @ rate_later), side
            )
        return side

    def _behind_break(
        self, change: Callable[[float, FloatArray], None] | None
    ) -> Callable[[float, FloatArray], None]:
        """What else happens at a break, and then the sides again: g may jump there."""

        def behind(t: float, y: FloatArray) -> None:
            if change is not None:
                change(t, y)
            x = np.append(y[: self._n], t + _BREAK_ULPS * math.ulp(t))
            g, before = self._values(x), self._sides.copy()
            self._sides = np.where(
                self.given_up | (np.abs(g) <= _ZERO_ANYWAY), self._sides, np.sign(g)
            )
            if (self._sides != before).any():
                self._apply()
            self._stand(x)

        return behind

    # ---- crossings ---------------------------------------------------------------------------

    def change(
        self, run: EventRun, integration: Integrator, y: FloatArray, found: Sequence[Crossing]
    ) -> FloatArray:
        """The other side of each branch that crossed; at the end that changes nothing."""
        if integration.t >= run.problem.t1:
            return y
        before = self._watch.side_before[self._first :]
        for k in dict.fromkeys(c.event - self._first for c in found if c.event >= self._first):
            self._left[k] = float(self._sides[k]) or float(before[k])
            self._sides[k] = -self._left[k]
            self._give_up_accumulating(run, integration, k)
        self._apply()
        return y

    def _give_up_accumulating(self, run: EventRun, integration: Integrator, k: int) -> None:
        """Crossings without end are the error control's."""
        t, times = integration.t, self._times[k]
        times.append(t)
        usual = (t - run.problem.t0) / max(integration.steps, 1)
        if len(times) > _MANY and t - times[-_MANY - 1] <= usual:
            self.given_up[k], self._sides[k] = True, 0.0
