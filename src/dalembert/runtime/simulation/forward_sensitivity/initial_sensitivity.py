"""p, the numbers of a run that are varied, and ∂(q₀, u₀)/∂p: how the start varies, what the
constraints determine with it.

Positions:  J δq = −(∂φ/∂p + J_g ∂q_g/∂p),   velocities:  C δu = ∂value/∂p − ∂c/∂q δq − ∂c/∂p

for the rows φ(q, t) = 0 and the conditions c(q, u, t) = value that determine a start; given values
g vary as specified. Where the conditions leave a choice, what is chosen depends on how it was
found: there the start itself is found again nearby.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dalembert.errors import BadExpression, NotApplicable, Unknown
from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_name
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.assembly import Assembler
from dalembert.runtime.states.evaluator import Evaluator, Key, Level, label
from dalembert.runtime.states.initial_conditions import InitialState, solve_initial_conditions
from dalembert.runtime.states.initial_values import InitialCondition, PositionRow, read_conditions
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar


@dataclass(frozen=True)
class SensitivityParameter:
    """A number of a run: `constant` is its symbol, or None for the start value of what `key`
    names.
    """

    name: str
    value: float
    constant: int | None
    key: Key | None = None

    @property
    def label(self) -> str:
        """m, or theta(0) for a start value."""
        return self.name if self.constant is not None else f"{self.name}(0)"

    @property
    def scale(self) -> float:
        """What counts as a change of order one."""
        return abs(self.value) or 1.0


def sensitivity_parameters(
    chosen: RunValues, given: Mapping[Any, Any], start: InitialState, wanted: object
) -> tuple[SensitivityParameter, ...]:
    """The requested parameters, each once: the name of a constant or of a held input, or of a
    coordinate, a rate or a speed at the start.
    """
    if isinstance(wanted, str | Scalar) or not isinstance(wanted, Sequence):
        msg = (
            "sensitivities: give a list of constants and start values, such as "
            "sensitivities=['m', 'theta']"
        )
        raise Unknown(msg)
    parameters = [_sensitivity_parameter(chosen, given, start, key) for key in wanted]
    twice = next(
        (x.name for k, x in enumerate(parameters) if x.name in {y.name for y in parameters[:k]}),
        None,
    )
    if twice is not None:
        msg = f"sensitivities: {twice} is named twice"
        raise Unknown(msg)
    return tuple(parameters)


def _sensitivity_parameter(
    chosen: RunValues, given: Mapping[Any, Any], start: InitialState, key: Any
) -> SensitivityParameter:
    evaluator, system = chosen.evaluator, chosen.kin.system
    name = str(key.name if isinstance(key, Scalar) else key)
    symbol = system.symbols.get(name)
    if symbol is not None and (symbol.kind == "constant" or symbol.is_open):
        if symbol.scalar.i in chosen.numbers:
            return SensitivityParameter(name, chosen.numbers[symbol.scalar.i], symbol.scalar.i)
        what = (
            "has no value"
            if symbol.kind == "constant"
            else "is no number in this run; name a constant of its expression"
        )
        msg = f"sensitivities: {name} {what}"
        raise NotApplicable(msg)
    return _initial_value(evaluator, given, start, key)


def _initial_value(
    evaluator: Evaluator, given: Mapping[Any, Any], start: InitialState, key: Any
) -> SensitivityParameter:
    try:
        node = evaluator.node(key)
    except BadExpression as problem:
        kin = evaluator.kin
        constants = [n for n, s in kin.system.symbols.items() if s.kind == "constant"]
        known = [*constants, *(label(kin.name(i)) for i in kin.state)]
        hint = suggest_name(str(key), known) or f"known are {', '.join(known)}"
        msg = (
            f"sensitivities: {key!r} is no constant and no start value of {kin.system.name!r}; "
            f"{hint}"
        )
        raise Unknown(msg) from problem
    shown = evaluator.display_name(key)
    if evaluator.level(node) not in (Level.POSITION, Level.VELOCITY):
        msg = (
            f"sensitivities: {shown} is no constant and no start value; name coordinates, "
            f"rates, "
            f"speeds and constants"
        )
        raise Unknown(msg)
    for each in given:
        if evaluator.node(each) == node:
            value = next(m.value for m in start.values if m.name == evaluator.display_name(each))
            return SensitivityParameter(shown, value, None, each)
    mark = next((m for m in start.values if m.name == shown), None)
    if mark is None or mark.origin == "solved":
        why = "follows from the constraints at this start" if mark else "is not given in the start"
        msg = f"sensitivities: {shown} {why}; give it in start={{{shown!r}: …}}"
        raise NotApplicable(msg)
    return SensitivityParameter(shown, mark.value, None, shown)


_RANK: Final = 1e-10
_SOLVED: Final = 1e-8
_ROUNDING: Final = 1e-13
# f' = Σ w_k (f(x + k h) − f(x − k h)) / h, of order six
_WEIGHTS: Final = ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
_STEP: Final = 2e-3


class _Underdetermined(Exception):
    """Conditions that leave a choice."""


def initial_sensitivity(
    chosen: RunValues,
    given: Mapping[Any, Any],
    guess: Mapping[Any, Any],
    start: InitialState,
    varied: Sequence[SensitivityParameter],
) -> FloatArray:
    """∂(q₀, u₀)/∂p, a row for each number."""
    variation = _InitialSensitivity(chosen, given, start, varied)
    try:
        return variation.solve()
    except _Underdetermined:
        return np.array([_finite_differences(chosen, given, guess, start.t, x) for x in varied])


def _infeasible_start(x: SensitivityParameter, problem: BadStart) -> BadStart:
    why = problem.sentence if problem.where == "start" else str(problem)
    return BadStart(
        f"sensitivities: the initial conditions cannot follow a change of {x.name}: {why}"
    )


class _InitialSensitivity:
    """The conditions of a start, as they vary with p."""

    def __init__(
        self,
        chosen: RunValues,
        given: Mapping[Any, Any],
        start: InitialState,
        varied: Sequence[SensitivityParameter],
    ) -> None:
        self._evaluator, self._start, self._varied = chosen.evaluator, start, varied
        named = {x.key: x.value for x in varied if x.key is not None and x.key not in given}
        given = {**given, **named}
        self._asked = read_conditions(self._evaluator, given, start.t)
        kin = self._evaluator.kin
        self._state = {**self._evaluator.numbers, self._evaluator.time: start.t}
        self._state |= dict(zip(kin.state, start.y, strict=True))
        self._targets = self._given_derivatives(given)

    def solve(self) -> FloatArray:
        """(δq, δx, δu) for each p."""
        if self._varies_quaternion():
            raise _Underdetermined
        dq = self._positions()
        return np.vstack([dq, self._first_order(), self._velocities(dq)]).T

    def _varies_quaternion(self) -> bool:
        """A given quaternion is divided by its length, and its rates with it."""
        evaluator = self._evaluator
        norms = [
            evaluator.in_state(row.phi)
            for row in evaluator.kin.linear_rows
            if row.is_norm and row.phi is not None
        ]
        inside = set(symbols_of(evaluator.tape, norms))
        inside |= {rate for i in inside if (rate := evaluator.tape.rate(i)) is not None}
        return any(x.key is not None and evaluator.node(x.key) in inside for x in self._varied)

    # ---- given values ------------------------------------------------------------------------

    def _given_derivatives(self, given: Mapping[Any, Any]) -> dict[int, FloatArray]:
        """∂value/∂p of the given values, by node: one for a start value itself, and what its
        expression says of constants.
        """
        evaluator = self._evaluator
        derivatives = {}
        for key, value in given.items():
            node = evaluator.node(key)
            direct = np.array(
                [float(x.key is not None and evaluator.node(x.key) == node) for x in self._varied]
            )
            if isinstance(value, str | Scalar) and not direct.any():
                read = evaluator.kin.system.expression(value) if isinstance(value, str) else value
                direct = self._constant_derivatives([evaluator.in_state(evaluator.node(read))])[0]
            derivatives[node] = direct
        return derivatives

    def _constant_derivatives(self, nodes: Sequence[int]) -> FloatArray:
        """∂e/∂p of nodes; zero along start values."""
        wrt = [x.constant for x in self._varied if x.constant is not None]
        jacobian_columns = np.zeros((len(nodes), len(self._varied)))
        if nodes and wrt:
            slopes = jacobian(self._evaluator.tape, nodes, wrt, self._state)[1][0]
            jacobian_columns[
                :, [j for j, x in enumerate(self._varied) if x.constant is not None]
            ] = slopes
        return jacobian_columns

    def _target(self, c: InitialCondition) -> FloatArray:
        """∂value/∂p of a condition."""
        named = {self._evaluator.in_state(i): slopes for i, slopes in self._targets.items()}
        return self._targets[c.symbol] if c.symbol in self._targets else named[c.node]

    # ---- positions ---------------------------------------------------------------------------

    def _positions(self) -> FloatArray:
        evaluator, kin, k = self._evaluator, self._evaluator.kin, len(self._varied)
        rows = [
            PositionRow(r.name, evaluator.in_state(r.phi))
            for r in kin.linear_rows
            if r.phi is not None
        ]
        targets = [np.zeros(k)] * len(rows)
        dq, free = np.zeros((kin.n_q, k)), np.ones(kin.n_q, dtype=bool)
        place = {i: at for at, i in enumerate(kin.q)}
        for c in self._asked:
            if c.symbol in place:
                dq[place[c.symbol]], free[place[c.symbol]] = self._target(c), False
            elif c.level is Level.POSITION and c.symbol not in kin.x:
                rows.append(PositionRow(c.name, c.node, c.value, is_given=True))
                targets.append(self._target(c))
        if rows:
            self._correct_positions(dq, free, rows, targets)
        return dq

    def _correct_positions(
        self,
        dq: FloatArray,
        free: BoolArray,
        rows: Sequence[PositionRow],
        targets: Sequence[FloatArray],
    ) -> None:
        """Move the free coordinates: J δq = ∂value/∂p − ∂φ/∂p."""
        assembler = Assembler.from_rows(self._evaluator, rows, self._start.t)
        J = assembler(self._start.q)[1]
        by_constants = self._constant_derivatives([r.node for r in rows])
        off = by_constants - np.array(targets) + J @ dq
        size = np.abs(by_constants) + np.abs(targets) + np.abs(J) @ np.abs(dq)
        violated = np.abs(off) > _ROUNDING * size
        for j in range(dq.shape[1]):
            reached, columns = assembler.connected_block(violated[:, j], free)
            if reached.any():
                dq[columns, j] = self._row_step(J[np.ix_(reached, columns)], -off[reached, j])

    def _row_step(self, J: FloatArray, off: FloatArray) -> FloatArray:
        """The shortest step back onto rows; refused where an assembly chose among several."""
        step, determined = _min_norm_solution(J, off)
        if not determined and self._start.iterations:
            raise _Underdetermined
        return step

    def _first_order(self) -> FloatArray:
        """First-order states, which no row determines."""
        x, asked = self._evaluator.kin.x, {c.symbol: c for c in self._asked}
        return np.array(
            [self._target(asked[i]) if i in asked else np.zeros(len(self._varied)) for i in x]
        ).reshape(len(x), len(self._varied))

    # ---- velocities --------------------------------------------------------------------------

    def _velocities(self, dq: FloatArray) -> FloatArray:
        evaluator, kin, k = self._evaluator, self._evaluator.kin, len(self._varied)
        asked = [c for c in self._asked if c.level is Level.VELOCITY]
        nodes = [c.node for c in asked] + [evaluator.in_state(row.e) for row in kin.velocity_rows]
        du = np.zeros((kin.n_u, k))
        if not nodes:
            return du
        C, wanted = self._velocity_conditions(asked, nodes, dq)
        place = {i: at for at, i in enumerate(kin.u)}
        direct = [place[c.symbol] for c in asked if c.symbol in place]
        for c in asked:
            if c.symbol in place:
                du[place[c.symbol]] = self._target(c)
        free = self._free_speeds(C, direct)
        size = np.abs(wanted) + np.abs(C) @ np.abs(du)
        for j in range(k):
            left = wanted[:, j] - C @ du[:, j]
            violated = np.abs(left) > _ROUNDING * size[:, j]
            du[free, j] = self._speed_step(C[:, free], np.where(violated, left, 0.0))
        return du

    def _velocity_conditions(
        self, asked: Sequence[InitialCondition], nodes: Sequence[int], dq: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """C and ∂value/∂p − ∂c/∂q δq − ∂c/∂p; the value of the rows is zero."""
        kin, k = self._evaluator.kin, len(self._varied)
        slopes = jacobian(self._evaluator.tape, nodes, (*kin.q, *kin.u), self._state)[1][0]
        targets = [self._target(c) for c in asked]
        wanted = np.array([*targets, *[np.zeros(k)] * (len(nodes) - len(asked))])
        wanted = wanted - slopes[:, : kin.n_q] @ dq - self._constant_derivatives(nodes)
        return slopes[:, kin.n_q :], wanted

    def _speed_step(self, C: FloatArray, left: FloatArray) -> FloatArray:
        """The shortest step that satisfies the conditions; refused where a moving start chose."""
        step, determined = _min_norm_solution(C, left)
        if not determined and self._start.u.any():
            raise _Underdetermined
        return step

    def _free_speeds(self, C: FloatArray, given: Sequence[int]) -> BoolArray:
        """The speeds that the conditions determine."""
        kin, u = self._evaluator.kin, self._start.u
        free: BoolArray = (C != 0.0).any(axis=0)
        free[list(given)] = False
        for r in range(kin.n_u if kin.multipliers and u.any() else 0):
            # rates that may be zero are so, first declared first, as where the start was found
            if np.linalg.matrix_rank(C[:, free], tol=_RANK) == np.count_nonzero(free):
                break
            free[r] &= u[r] != 0.0
        return free


def _min_norm_solution(A: FloatArray, b: FloatArray) -> tuple[FloatArray, bool]:
    """The shortest x with A x = b, and whether there is no other."""
    if not A.shape[1] and b.any():
        raise _Underdetermined
    x, _, rank, _ = np.linalg.lstsq(A, b, rcond=_RANK)
    if np.abs(A @ x - b).max(initial=0.0) > _SOLVED * np.abs(b).max(initial=0.0):
        raise _Underdetermined
    return np.asarray(x, dtype=np.float64), bool(rank == A.shape[1])


def _finite_differences(
    chosen: RunValues,
    given: Mapping[Any, Any],
    guess: Mapping[Any, Any],
    t: float,
    x: SensitivityParameter,
) -> FloatArray:
    """∂(q₀, u₀)/∂p by the start found again at six neighbours."""
    h = _STEP * x.scale

    def at(shift: float) -> FloatArray:
        if x.constant is None:
            moved, asked = chosen, {**given, x.key: x.value + shift}
        else:
            moved, asked = (
                replace(chosen, numbers={**chosen.numbers, x.constant: x.value + shift}),
                dict(given),
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                start = solve_initial_conditions(
                    moved.kin, asked, moved.symbol_values_at(t), t, guess=guess
                )
            except BadStart as problem:
                raise _infeasible_start(x, problem) from problem
        return start.y

    return np.asarray(np.sum([w * (at(k * h) - at(-k * h)) / h for k, w in _WEIGHTS], axis=0))
