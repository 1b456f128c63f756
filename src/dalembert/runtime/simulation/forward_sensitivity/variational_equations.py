"""d/dt S = ∂f/∂x S + ∂f/∂p: S = ∂x/∂p integrated alongside the motion x = (q, u) of a run, x' =
f(x, t, p), and how it jumps at events.
Keywords: saltation, variational equations.

The columns of S follow x in the state. What f and its derivatives have in common is computed once.
Where u̇ solves M u̇ = f̂ in many operations, its derivative is that of the residual r = M u̇ − f̂,

    du̇ = −M⁻¹ dr with u̇ held

This takes half the operations of differentiating the solution. Along an open tree both r and M⁻¹
take operations proportional to the links.

    S⁺ = ∂y⁺/∂y (S⁻ + f⁻ ∂t*) + ∂y⁺/∂t ∂t* + ∂y⁺/∂p − f⁺ ∂t*,   ∂t* = −(∂g/∂y S⁻ + ∂g/∂p) / ġ⁻

is what an event g(y, t, p) = 0 does to S: its time moves with p, and before and after it the motion
goes its own way. y⁺ is what a reset or an impact makes of y; where the state stays as it was only
∂t* is noted.

Source: HNW1 I.14, II.6 (discontinuities); the matrix by which S jumps is called the saltation
matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.errors import BadExpression, NotApplicable, warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.ode.constrained.constrained_rates import (
    ConstrainedRates,
    VariationalEquations,
)
from dalembert.runtime.ode.rates import ExplicitRates, Rates
from dalembert.runtime.simulation.discontinuity_times import discontinuity_times
from dalembert.runtime.simulation.events.event_actions import EventActions
from dalembert.runtime.simulation.events.event_functions import EventFunctions
from dalembert.runtime.simulation.forward_sensitivity.initial_sensitivity import (
    SensitivityParameter,
    initial_sensitivity,
    sensitivity_parameters,
)
from dalembert.runtime.simulation.model import NativeModel
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.initial_conditions import InitialState
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.elimination import factor_symmetric
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    symbols_of,
)
from dalembert.symbolic.algebra.sparse_matrix import Column, sum_of_products
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.runtime.ode.constrained.block_layout import Entries


# the constants of the directions, None for one that only the start begins
Directions = tuple[int | None, ...]
# operations of the rates from which on the derivatives of residuals pay
_MIN_OPERATIONS: Final = 600
_VARIED: Final = PerOwnerCache[NativeModel]()
_TANGENTS: Final = PerOwnerCache[VariationalEquations]()


def variational_model(kin: Kinematics, model: NativeModel, directions: Directions) -> NativeModel:
    """The model with state (x, S, t); what was compiled for the same model and directions is
    used again.
    """
    if isinstance(model.rates, ConstrainedRates):
        tangents = _TANGENTS(
            kin, (model.tape, directions), lambda: _saddle_tangents(kin, model, directions)
        )
        return replace(model, rates=model.rates.with_sensitivities(tangents))
    return _VARIED(kin, (model, directions), lambda: _explicit_variational(kin, model, directions))


def sensitivity_symbols(
    tape: Tape, state: Sequence[int], directions: Directions
) -> list[list[int]]:
    """The symbols of S, column by column."""
    return [[tape.symbol(f"∂{k}/∂{j}") for k in range(len(state))] for j in range(len(directions))]


def total_derivative(
    tape: Tape, state: Sequence[int], column: Sequence[int], constant: int | None
) -> Derivative:
    """de/dp = ∂e/∂x S + ∂e/∂p"""
    rates = dict(zip(state, column, strict=True))
    if constant is not None:
        rates[constant] = tape.one
    return Derivative(tape, rates.get)


@dataclass(frozen=True)
class _VariedState:
    """(x, S, t) as symbols: S follows x column by column."""

    tape: Tape
    x: Sequence[int]
    S: list[list[int]]
    t: int
    directions: Directions

    @classmethod
    def of(cls, tape: Tape, state: Sequence[int], directions: Directions) -> _VariedState:
        """The symbols of S added to a state (x, t)."""
        *x, t = state
        return cls(tape, x, sensitivity_symbols(tape, x, directions), t, directions)

    @property
    def symbols(self) -> tuple[int, ...]:
        """(x, S, t)"""
        return (*self.x, *(s for column in self.S for s in column), self.t)

    def derivatives(self) -> Iterator[Derivative]:
        """d/dp along each direction."""
        for column, constant in zip(self.S, self.directions, strict=True):
            yield total_derivative(self.tape, self.x, column, constant)


class _ImpliedAccelerations(NamedTuple):
    """r(x, u̇) = M u̇ − f̂ = 0: the symbols u̇, the residuals r, and what gives M⁻¹ b."""

    symbols: tuple[int, ...]
    residuals: tuple[int, ...]
    solve: Callable[[Sequence[int]], Sequence[int]]


def _implied_accelerations(kin: Kinematics, model: NativeModel) -> _ImpliedAccelerations | None:
    """The residuals on the tape of `kin`; None where differentiating u̇ itself takes fewer
    operations, or contacts act.
    """
    if model.operation_counts[0] < _MIN_OPERATIONS or model.forces:
        return None
    if model.implicit_rates is None:
        return _tree_accelerations(kin, model)
    symbols, residuals, _ = model.implicit_rates
    linear = LinearCoefficients(kin.tape, symbols)
    rows, zero = [linear(r)[1] for r in residuals], kin.tape.zero
    M = [[row.get(s, zero) for s in range(len(symbols))] for row in rows]
    return _ImpliedAccelerations(symbols, residuals, factor_symmetric(kin.tape, M).solve)


def _tree_accelerations(kin: Kinematics, model: NativeModel) -> _ImpliedAccelerations | None:
    """r and M⁻¹ from link to link; None where there is no open tree, or motions are prescribed."""
    from dalembert.mechanics.equations.tree_factor import TreeFactor
    from dalembert.mechanics.kinetics.recursive_newton_euler import joint_torques

    tape = kin.tape
    try:
        factor, torques = TreeFactor(kin), joint_torques(kin)
    except (NotApplicable, BadExpression):
        return None
    if any(u not in torques for u in kin.u):
        return None
    in_speeds = Substitution(tape, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
    residuals = tuple(in_speeds(torques[u]) for u in kin.u)
    known = {*model.state, *model.parameters, *kin.udot}
    if not known.issuperset(symbols_of(tape, (*residuals, *factor.D_inverse.values()))):
        return None

    def solve(b: Sequence[int]) -> list[int]:
        y = factor.forward(dict(enumerate(b)))
        scaled = {k: tape.mul(d, y.get(k, tape.zero)) for k, d in factor.D_inverse.items()}
        x = factor.backward(scaled)
        return [x[k] for k in range(len(b))]

    return _ImpliedAccelerations(tuple(kin.udot), residuals, solve)


def _explicit_variational(
    kin: Kinematics, model: NativeModel, directions: Directions
) -> NativeModel:
    kin = kin.fork(model.tape)
    tape = kin.tape
    varied = _VariedState.of(tape, model.state, directions)
    implied = _implied_accelerations(kin, model)
    solved = () if implied is None else model.nodes[-len(implied.symbols) :]
    insert = Substitution(
        tape, {} if implied is None else dict(zip(implied.symbols, solved, strict=True))
    )
    rates, steps = list(model.nodes), list(model.steps[:-1])
    still = [tape.zero] * (len(varied.x) - len(steps))
    moves = [*steps, *still]
    for d in varied.derivatives():
        rates += [d(e) for e in model.nodes[: len(model.nodes) - len(solved)]]
        if implied is not None:
            slopes = implied.solve([d(r) for r in implied.residuals])
            rates += [insert(tape.neg(e)) for e in slopes]
        moves += [*(d(e) for e in steps), *still]
    state, p = varied.symbols, model.parameters
    return replace(
        model,
        rates=ExplicitRates(tape, rates, state, p),
        projection=(
            CompiledFunction(tape, [*moves, model.steps[-1]], state, p) if model.steps else None
        ),
        tape=tape,
        nodes=tuple(rates),
        state=state,
        forces=(),
    )


def _saddle_tangents(
    kin: Kinematics, model: NativeModel, directions: Directions
) -> VariationalEquations:
    """The derivatives of M ż = f + Aᵀλ and A ż + γ = 0 with ż and λ held, those of φ and e, and
    E δz.
    """
    assert model.entries is not None
    tape, entries = model.tape.fork(), model.entries
    n, m = len(entries.f), len(entries.A)
    varied = _VariedState.of(tape, model.state, directions)
    zdot, lam = (
        [tape.symbol(f"∂{name}{k}") for k in range(count)] for name, count in (("ż", n), ("λ", m))
    )
    balance, rows = _saddle_residuals(tape, entries, zdot, lam)
    equations: list[int] = []
    held: list[int] = []
    for d in varied.derivatives():
        equations += [d(e) for e in (*entries.qdot, *balance, *rows)]
        held += [d(e) for e in (*entries.phi, *entries.e)]
    shift = _coordinate_shift(tape, entries, varied.x[len(entries.qdot) :], kin.n_q)
    state, p = varied.symbols, model.parameters
    return VariationalEquations(
        len(directions),
        CompiledFunction(tape, equations, (*state, *zdot, *lam), p),
        CompiledFunction(tape, held, state, p),
        CompiledFunction(tape, shift, model.state, p),
    )


def _saddle_residuals(
    tape: Tape, entries: Entries, zdot: Sequence[int], lam: Sequence[int]
) -> tuple[Column, list[int]]:
    """f + Aᵀλ − M ż and A ż + γ"""
    left = _mass_matrix_product(tape, entries.M, zdot)
    force = [
        sum_of_products(tape, ((row[r], lam[j]) for j, row in enumerate(entries.A) if r in row), f)
        for r, f in enumerate(entries.f)
    ]
    balance = Column(tape, force) - Column(tape, left)
    rows = [
        sum_of_products(tape, ((a, zdot[s]) for s, a in row.items()), g)
        for row, g in zip(entries.A, entries.gamma, strict=True)
    ]
    return balance, rows


def _coordinate_shift(tape: Tape, entries: Entries, z: Sequence[int], n_q: int) -> list[int]:
    """E δz; nothing moves first-order states onto rows."""
    linear = LinearCoefficients(tape, z)
    shift = [
        sum_of_products(tape, ((c, z[r]) for r, c in linear(e)[1].items()))
        for e in entries.qdot[:n_q]
    ]
    return shift + [tape.zero] * (len(entries.qdot) - n_q)


def _mass_matrix_product(tape: Tape, M: Sequence[dict[int, int]], zdot: Sequence[int]) -> list[int]:
    """M ż with M from its upper half."""
    full: list[dict[int, int]] = [{} for _ in M]
    for r, row in enumerate(M):
        for s, i in row.items():
            if s >= r:
                full[r][s] = full[s][r] = i
    return [sum_of_products(tape, ((i, zdot[s]) for s, i in row.items())) for row in full]


class EventTimeSensitivity(NamedTuple):
    """∂t/∂p of an event that happened at time t, for every p."""

    t: float
    name: str
    slopes: FloatArray


@dataclass(frozen=True, eq=False)
class ForwardSensitivity:
    """What is varied, the model with state (q, u, S, t) and the numbers of its parameters, S at the
    start, and the jumps at events.
    """

    numbers: tuple[SensitivityParameter, ...]
    model: NativeModel
    p: FloatArray
    # a row for each number
    start: FloatArray
    events: list[EventTimeSensitivity] = field(default_factory=list)
    # times from which on there is no derivative
    lost: list[float] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers."""
        return tuple(x.name for x in self.numbers)

    def atol(self, atol: ArrayLike) -> ArrayLike:
        """|p| S counts as x does: what is allowed of x, and of S as much over |p|; a wrong shape
        is left for others to refuse.
        """
        own, n = np.asarray(atol), self.start.shape[1]
        if own.shape not in ((), (n,)):
            return atol
        each = np.broadcast_to(own, n)
        return np.concatenate([each, *(each / x.scale for x in self.numbers)])


def forward_sensitivity(
    chosen: RunValues,
    model: NativeModel,
    p: FloatArray,
    start: InitialState,
    given: tuple[Mapping[Any, Any], Mapping[Any, Any]],
    wanted: object,
) -> ForwardSensitivity:
    """The variation of a run from its start; `given` are its start values and guesses."""
    numbers = sensitivity_parameters(chosen, given[0], start, wanted)
    enlarged = variational_model(chosen.kin, model, tuple(x.constant for x in numbers))
    return ForwardSensitivity(
        numbers, enlarged, p, initial_sensitivity(chosen, *given, start, numbers)
    )


def check_differentiable(
    variation: ForwardSensitivity, time: int, span: tuple[float, float]
) -> None:
    """Refuse numbers that move the times at which f jumps, and say where a jump that depends on
    the state is not seen.
    """
    model = variation.model
    p = dict(zip(model.parameters, variation.p.tolist(), strict=True))
    switches = model.time_switches
    times = discontinuity_times(model.tape, time, p, *span, switches)
    for x in variation.numbers if times else ():
        if x.constant is None or x.constant not in p:
            continue
        moved = {**p, x.constant: x.value + 1e-6 * x.scale}
        if times != discontinuity_times(model.tape, time, moved, *span, switches):
            msg = (
                f"sensitivities: {x.name} moves a time at which the loads jump, t = "
                f"{times[0]:.6g}; write the jump as an event"
            )
            raise NotApplicable(msg)
    if model.jumps_with_state:
        warn(
            "sensitivities: a load jumps with the state (sign), and the change of "
            "the sensitivities at the jump is not computed; use an event"
        )


class Saltation:
    """The jumps of S at the events of one run; called with an event, its time and the states
    before and after, S behind them.
    """

    def __init__(
        self,
        variation: ForwardSensitivity,
        rates: Rates,
        p: FloatArray,
        evaluator: Evaluator,
        functions: EventFunctions,
        actor: EventActions,
    ) -> None:
        self._variation, self._rates, self._p = variation, rates, p
        self._evaluator, self._functions, self._actor = evaluator, functions, actor
        # places of the constants among the numbers, and their symbols
        self._places = [j for j, x in enumerate(variation.numbers) if x.constant is not None]
        self._constants = [x.constant for x in variation.numbers if x.constant is not None]

    def __call__(self, i: int, t: float, before: FloatArray, after: FloatArray) -> None:
        """Note ∂t* and, where the state was changed, let S jump: `after` is written to."""
        k, n = self._variation.start.shape
        S, y = before[n : n * (1 + k)].reshape(k, n), before[:n]
        f = self._rates.call(np.append(y, t), self._p)[:n]
        moment = self._event_time_derivative(i, t, y, S, f)
        self._variation.events.append(
            EventTimeSensitivity(t, self._functions.events[i].title, moment)
        )
        if after is before:
            return
        slopes = self._actor.jacobian(i, y, t, self._constants)
        new = (S + np.outer(moment, f)) @ slopes[:, :n].T + np.outer(moment, slopes[:, n])
        new[self._places] += slopes[:, n + 1 :].T
        f_after = self._rates.call(np.append(after[:n], t), self._p)[:n]
        after[n : n * (1 + k)] = (new - np.outer(moment, f_after)).ravel()

    def _event_time_derivative(
        self, i: int, t: float, y: FloatArray, S: FloatArray, f: FloatArray
    ) -> FloatArray:
        """∂t* for every p; no number where the motion only touches the event, ġ = 0."""
        gradient = self._functions.gradients(np.append(y, t))[i]
        rate = float(gradient[:-1] @ f + gradient[-1])
        change = S @ gradient[:-1]
        if self._constants:
            evaluator = self._evaluator
            state = {
                **evaluator.numbers,
                **dict(zip(evaluator.kin.state, y, strict=True)),
                evaluator.time: t,
            }
            change[self._places] += jacobian(
                evaluator.tape, [self._functions.nodes[i]], self._constants, state
            )[1][0, 0]
        return np.asarray(-change / rate) if rate else np.full(len(S), np.nan)
