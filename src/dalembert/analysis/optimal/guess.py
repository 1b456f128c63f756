"""Where the search begins: a straight line, a run, a table, expressions of time, an earlier answer;
and several starts.

A swing of growing size, x(t/T) cos(ω(T − t)) with a linear frequency ω, leads underactuated systems
to other solutions than a straight line does. Random starts add sines of random sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dalembert.analysis.optimal.phase import BadOptimization
from dalembert.analysis.optimal.phase_functions import NodeCondition, PhaseFunctions
from dalembert.analysis.optimal.replay import PhaseAnswer
from dalembert.analysis.optimal.scheme import basis
from dalembert.errors import BadExpression, DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.tables import Table, table
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

# (x, y, w) at fractions of the duration, a row for each
Curve = Callable[[FloatArray], FloatArray]
_STEP: Final = 1e-6
_STEPS: Final = 6
_SINGULAR: Final = 1e-2
_GRID: Final = 101
_WAVES: Final = 3
# the amplitude of random waves, relative to the range of a state
_AMPLITUDE: Final = 0.7


@dataclass(frozen=True, eq=False)
class PhaseGuess:
    """Unknowns along a phase, and its duration."""

    curve: Curve
    duration: float


def onto_constraints(
    phase: PhaseFunctions, z: FloatArray, common: FloatArray, fractions: FloatArray
) -> FloatArray:
    """Points moved onto φ = 0, then their speeds onto A u + b = 0, by least changes; where rows
    are singular they stay.
    """
    eq = phase.equations
    n_phi, kin = len(eq.gamma), eq.evaluator.kin
    if not eq.constraints:
        return z
    z, q = z.copy(), [eq.states.index(i) for i in kin.q]
    u = [eq.states.index(i) for i in kin.u]
    for rows, columns, steps in ((slice(0, n_phi), q, _STEPS), (slice(n_phi, None), u, 1)):
        for _ in range(steps):
            values, J = phase.constraint_values(z, common, fractions)
            if not values[:, rows].size:
                break
            step = (
                np.linalg.pinv(J[:, rows][:, :, columns], rcond=_SINGULAR) @ values[:, rows, None]
            )
            largest = np.abs(z[:, columns]).max() + 1.0
            z[:, columns] -= np.clip(step[:, :, 0], -largest, largest)
    return z


def phase_guess(phase: PhaseFunctions, given: Any) -> PhaseGuess:
    """The guess of a phase from whatever was given."""
    line = straight_line(phase)
    if given is None:
        return PhaseGuess(line, _duration(phase))
    if isinstance(given, PhaseAnswer):
        return PhaseGuess(answer_curve(phase, given, line), given.duration)
    if isinstance(given, Trajectory):
        return _from_run(phase, given, line)
    if isinstance(given, Mapping):
        return _from_names(phase, given, line)
    if callable(given):
        return PhaseGuess(given, _duration(phase))
    msg = (
        f"guess: {type(given).__name__} is no guess; give {{name: number, table or expression of "
        f"t}}, a run of da.simulate, "
        "or an earlier answer"
    )
    raise BadOptimization(msg)


def _duration(phase: PhaseFunctions) -> float:
    """A fixed duration, or the middle of what is allowed."""
    low, high = phase.span
    if not np.isfinite(high):
        return max(1.0, 2.0 * low)
    return low if low == high else float(np.sqrt(low * high)) if low > 0.0 else 0.5 * high


def straight_line(phase: PhaseFunctions) -> Curve:
    """From the start values to the end values; a variable given at neither is zero where its bounds
    allow it.
    """
    n = len(phase.names)
    begin, end = np.full(n, np.nan), np.full(n, np.nan)
    for values, conditions in ((begin, phase.start), (end, phase.end)):
        for c in conditions:
            if c.place is not None:
                values[c.place] = _middle(c)
    rest = np.clip(np.zeros(n), phase.lower, phase.upper)
    first = phase.n_states + len(phase.equations.algebraic)
    both = (phase.lower[first:] > 0.0) | (phase.upper[first:] < 0.0)
    with np.errstate(invalid="ignore"):
        centre = 0.5 * (phase.lower[first:] + phase.upper[first:])
    rest[first:] = np.where(both & np.isfinite(centre), centre, rest[first:])
    start = np.where(np.isnan(begin), np.where(np.isnan(end), rest, end), begin)
    stop = np.where(np.isnan(end), start, end)
    for place, shift in phase.periodic:
        if np.isnan(end[place]):
            stop[place] = start[place] + shift
    open_ended = [
        j
        for j in range(phase.n_states)
        if not np.isnan(begin[j]) and np.isnan(end[j]) and j not in dict(phase.periodic)
    ]
    return _with_rates(phase, start, stop, open_ended)


def _with_rates(
    phase: PhaseFunctions, start: FloatArray, stop: FloatArray, open_ended: list[int]
) -> Curve:
    """The line; states that are given at the start alone follow their rates along it."""
    duration, grid = _duration(phase), np.linspace(0.0, 1.0, _GRID)
    z = start + (stop - start) * grid[:, None]
    slow = np.zeros((_GRID, len(start)))
    if open_ended:
        theta = np.ones((_GRID, len(phase.theta)))
        span = np.full((_GRID, 0 if phase.span.is_point else 1), duration)
        values = phase.point.values(
            np.column_stack([z, theta, span, grid]), phase.parameters_for(phase.point)
        )
        rates = values[:, open_ended]
        rise = np.vstack(
            [
                np.zeros(len(open_ended)),
                np.cumsum(0.5 * (rates[1:] + rates[:-1]) * np.diff(grid)[:, None], axis=0),
            ]
        )
        if np.isfinite(rise).all():
            low, high = phase.lower[open_ended], phase.upper[open_ended]
            slow[:, open_ended] = np.clip(start[open_ended] + rise, low, high) - start[open_ended]

    def curve(tau: FloatArray) -> FloatArray:
        line = start + (stop - start) * tau[:, None]
        for j in open_ended:
            line[:, j] += np.interp(tau, grid, slow[:, j])
        return line

    return curve


def _middle(c: NodeCondition) -> float:
    low, high = c.range
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return low if np.isfinite(low) else high if np.isfinite(high) else 0.0


def answer_curve(phase: PhaseFunctions, answer: PhaseAnswer, line: Curve) -> Curve:
    """An earlier answer, by its polynomials; unknowns of other names follow the line."""
    layout, names = answer.layout, answer.functions.names
    pairs = [(j, names.index(name)) for j, name in enumerate(phase.names) if name in names]
    n_x, states, values = (
        answer.functions.n_states,
        answer.v[answer.layout.states],
        answer.point_values,
    )

    def curve(tau: FloatArray) -> FloatArray:
        k = np.clip(np.searchsorted(layout.mesh, tau, side="left") - 1, 0, layout.n_intervals - 1)
        s = (tau - layout.mesh[k]) / layout.widths[k]
        x = np.einsum("tj,tjr->tr", basis(layout.scheme.nodes, s), states[k])
        y = np.einsum("tj,tjr->tr", basis(layout.scheme.points, s), values[k][:, :, n_x:])
        earlier, z = np.column_stack([x, y]), line(tau)
        for own, theirs in pairs:
            z[:, own] = earlier[:, theirs]
        return z

    return curve


def _from_run(phase: PhaseFunctions, run: Trajectory, line: Curve) -> PhaseGuess:
    """A simulated motion: every state and input that it knows by name."""
    t0, t1 = float(run.t[0]), float(run.t[-1])
    names = [
        name
        for j, name in enumerate(phase.names)
        if j < phase.n_states or j >= len(phase.names) - len(phase.equations.inputs)
    ]

    def curve(tau: FloatArray) -> FloatArray:
        z, at = line(tau), run.at(np.clip(t0 + (t1 - t0) * tau, t0, t1))
        for name in names:
            try:
                z[:, phase.names.index(name)] = at[name]
            except DalembertError:
                continue
        return z

    return PhaseGuess(curve, t1 - t0 if not phase.span.is_point else phase.span.low)


def _from_names(phase: PhaseFunctions, given: Mapping[Any, Any], line: Curve) -> PhaseGuess:
    """{name: number, table, (times, values), or an expression of t}; speeds that are not named
    are rates of coordinates that are.
    """
    named = dict(given)
    duration = float(named.pop("duration", _duration(phase)))
    columns = dict[int, Callable[[FloatArray], FloatArray]]()
    for key, value in named.items():
        name = str(key.name) if isinstance(key, Scalar) else str(key)
        if name.endswith("'"):
            name = name.rstrip("'") + ".dot" * (len(name) - len(name.rstrip("'")))
        if name not in phase.names:
            msg = (
                f"guess: {name!r} is not an unknown of this motion; these are "
                f"{', '.join(phase.names)}"
            )
            raise BadOptimization(msg)
        columns[phase.names.index(name)] = _function(phase, name, value, duration)
    for j in range(phase.n_states):
        base = phase.names[j].removesuffix(".dot")
        if (
            j not in columns
            and base != phase.names[j]
            and base in phase.names
            and phase.names.index(base) in columns
        ):
            columns[j] = _rate(columns[phase.names.index(base)], duration)

    def curve(tau: FloatArray) -> FloatArray:
        z = line(tau)
        for j, column in columns.items():
            z[:, j] = column(tau)
        return z

    return PhaseGuess(curve, duration)


def _function(
    phase: PhaseFunctions, name: str, value: Any, duration: float
) -> Callable[[FloatArray], FloatArray]:
    if isinstance(value, tuple | list) and len(value) == 2:
        value = table(*value)
    if isinstance(value, Table):
        return lambda tau: np.array(
            [value(value.t[0] + x * (value.t[-1] - value.t[0])) for x in tau]
        )
    if isinstance(value, str | Scalar):
        return _expression(phase, name, value, duration)
    try:
        constant = float(value)
    except (TypeError, ValueError) as problem:
        msg = (
            f"guess: {name} = {value!r:.60}; give a number, a table, a pair (times, values), or "
            f"an expression of t"
        )
        raise BadOptimization(msg) from problem
    return lambda tau: np.full(len(tau), constant)


def _expression(
    phase: PhaseFunctions, name: str, value: Any, duration: float
) -> Callable[[FloatArray], FloatArray]:
    evaluator = phase.equations.evaluator
    try:
        node = evaluator.in_speeds(evaluator.node(value))
    except BadExpression as problem:
        msg = f"guess: {name}: {problem}"
        raise BadOptimization(msg) from problem
    numbers = evaluator.numbers
    strange = [
        i for i in symbols_of(evaluator.tape, (node,)) if i != evaluator.time and i not in numbers
    ]
    if strange:
        msg = (
            f"guess: {name} contains {phase.equations.name(strange[0])}; give it as a function "
            f"of t alone"
        )
        raise BadOptimization(msg)

    def column(tau: FloatArray) -> FloatArray:
        known: dict[int, Any] = {**numbers, evaluator.time: phase.begin + duration * tau}
        return np.broadcast_to(
            evaluate(evaluator.tape, [node], known.__getitem__, ArrayArithmetic())[0], tau.shape
        )

    return column


def _rate(
    position: Callable[[FloatArray], FloatArray], duration: float
) -> Callable[[FloatArray], FloatArray]:
    """The derivative of a column by central differences."""

    def rate(tau: FloatArray) -> FloatArray:
        low, high = np.maximum(tau - _STEP, 0.0), np.minimum(tau + _STEP, 1.0)
        return (position(high) - position(low)) / ((high - low) * duration)

    return rate


# ---- several starts ------------------------------------------------------------------------------


def swing(phase: PhaseFunctions, frequency: float, duration: float) -> Curve:
    """x₀ + (x₁ − x₀)(t/T) cos(ω(T − t)) of every coordinate, with its rate."""
    line, pairs = straight_line(phase), _pairs(phase)

    def curve(tau: FloatArray) -> FloatArray:
        z, ends = line(tau), line(np.array([0.0, 1.0]))
        wave = np.cos(frequency * duration * (1.0 - tau))
        slope = wave / duration + tau * frequency * np.sin(frequency * duration * (1.0 - tau))
        for q, u in pairs:
            z[:, q] = ends[0, q] + (ends[1, q] - ends[0, q]) * tau * wave
            z[:, u] = (ends[1, q] - ends[0, q]) * slope
        return z

    return curve


def random_waves(phase: PhaseFunctions, duration: float, seed: int) -> Curve:
    """The line plus sines of random sizes, with their rates."""
    line, pairs, draw = straight_line(phase), _pairs(phase), np.random.default_rng(seed)
    ends = line(np.array([0.0, 1.0]))
    sizes = np.maximum(
        np.abs(ends).max(axis=0),
        np.where(np.isfinite(phase.upper - phase.lower), 0.25 * (phase.upper - phase.lower), 1.0),
    )
    waves = {
        q: _AMPLITUDE * sizes[q] * draw.standard_normal(_WAVES) / np.arange(1, _WAVES + 1)
        for q, _ in pairs
    }

    def curve(tau: FloatArray) -> FloatArray:
        z, angles = line(tau), np.pi * np.arange(1, _WAVES + 1) * tau[:, None]
        for q, u in pairs:
            z[:, q] += np.sin(angles) @ waves[q]
            slope = (ends[1, q] - ends[0, q]) / duration
            z[:, u] = (
                slope + np.cos(angles) @ (waves[q] * np.pi * np.arange(1, _WAVES + 1)) / duration
            )
        return z

    return curve


def _pairs(phase: PhaseFunctions) -> list[tuple[int, int]]:
    """Places of coordinates and of the speeds that are their rates."""
    names = phase.names[: phase.n_states]
    return [
        (names.index(n.removesuffix(".dot")), j)
        for j, n in enumerate(names)
        if n.endswith(".dot") and n.removesuffix(".dot") in names
    ]


def linear_frequencies(phase: PhaseFunctions, duration: float) -> list[float]:
    """|Im s| of the equations linearized at the first state of the line, where they are regular
    there.
    """
    z = straight_line(phase)(np.zeros(1))
    n_x, n_a = phase.n_states, len(phase.equations.algebraic)
    full = np.column_stack(
        [
            z,
            np.full((1, len(phase.theta)), 1.0),
            *([[duration]] if not phase.span.is_point else []),
            [[0.0]],
        ]
    )
    J = phase.point.jacobian(full, phase.parameters_for(phase.point))[0]
    f, g = J[:n_x] / duration, J[n_x : n_x + len(phase.equations.equations)]
    A = f[:, :n_x]
    if n_a:
        try:
            A = A - f[:, n_x : n_x + n_a] @ np.linalg.solve(g[:, n_x : n_x + n_a], g[:, :n_x])
        except np.linalg.LinAlgError:
            return []
    if not np.isfinite(A).all():
        return []
    omegas = np.abs(np.linalg.eigvals(A).imag)
    return sorted({round(float(w), 9) for w in omegas if w > 1e-6})
