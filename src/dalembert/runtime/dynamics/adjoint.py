"""run.gradient(cost): the derivatives of a cost of a run by all constants, start values and input
samples, in one sweep backwards.

J = Φ(y(T), T, p) + ∫ L(y, t, p) dt. The steps of the run are transposed one after the other, their
sizes held; what happens at an event g = 0 is transposed as

    ȳ⁻ = R_yᵀ ȳ⁺ − g_yᵀ c/ġ,  p̄ += R_pᵀ ȳ⁺ − g_pᵀ c/ġ,  c = ȳ⁺·(R_y f⁻ + R_t − f⁺) + L⁻ − L⁺

with y⁺ = R(y⁻, t, p). Where constraint equations r(y, p) = 0 are held, ȳ is brought to the tangent
space after every step: ȳ ← ȳ − Gᵀ μ, p̄ ← p̄ − r_pᵀ μ with G Gᵀ μ = G ȳ.

Source: HNW1 II.6; the transposed steps are those of W. W. Hager, Numerische Mathematik 87 (2000)
247.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import NotApplicable, Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.runtime.derivatives.adjoint_steps import ExplicitSteps
from dalembert.runtime.derivatives.tape_function import TapeDerivatives
from dalembert.runtime.dynamics.adjoint_constrained import ConstrainedSteps
from dalembert.runtime.dynamics.adjoint_samples import InputSamples
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.simulation.events.event import EventAction
from dalembert.runtime.simulation.events.event_actions import EventActions
from dalembert.runtime.simulation.events.event_functions import (
    EventFunctions,
    event_functions,
    event_node,
)
from dalembert.runtime.simulation.forward_sensitivity.initial_sensitivity import (
    SensitivityParameter,
    initial_sensitivity,
)
from dalembert.runtime.simulation.model import NativeModel, native_model
from dalembert.runtime.states.run_values import RunValues, parameter_vector, with_table_states
from dalembert.symbolic.algebra.expression_graph import copy_expressions, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

# steps of other methods are divided until Runge and Kutta's method follows them as well
_FOLLOWS: Final = 1e-12
_ORDER: Final = 8
_MOST_PARTS: Final = 64
_DEPENDENT: Final = 1e-10
_STEPS: Final = PerOwnerCache[ExplicitSteps]()


@dataclass(frozen=True, eq=False)
class CostGradient(Displayable):
    """J and its derivatives: by constants, by start values, and by the samples of inputs from
    tables or functions.
    """

    value: float
    constants: dict[str, float]
    start: dict[str, float]
    # {input: one derivative for each sample}
    inputs: dict[str, FloatArray] = field(default_factory=dict)

    def __getitem__(self, key: Scalar | str) -> float | FloatArray:
        """The derivative by a constant, a start value or the samples of an input."""
        name = str(key.name if isinstance(key, Scalar) else key).replace("'", ".dot")
        for known in (self.constants, self.start, self.inputs):
            if name in known:
                return known[name]
        names = (*self.constants, *self.start, *self.inputs)
        msg = (
            f"no derivative by {name!r}; "
            f"{suggest_name(name, names) or 'there are ' + ', '.join(names)}"
        )
        raise Unknown(msg)

    def __str__(self) -> str:
        lines = [f"cost {self.value:.9g}"]
        pairs = [*self.constants.items(), *((f"{name}(0)", x) for name, x in self.start.items())]
        width = max((len(name) for name, _ in pairs), default=0)
        lines += [f"  d/d {name:<{width}} = {x:.9g}" for name, x in pairs]
        lines += [
            f"  d/d {name}: {len(x)} samples, norm {np.linalg.norm(x):.6g}"
            for name, x in self.inputs.items()
        ]
        return "\n".join(lines)


def cost_gradient(run: Trajectory, cost: Any = None, *, end: Any = None) -> CostGradient:
    """J = ∫ cost dt + end, with its derivatives by all constants, start values and input
    samples.
    """
    if cost is None and end is None:
        msg = (
            "gradient: give the integrand, run.gradient('F**2'), or the cost at the end, "
            "run.gradient(end='x**2')"
        )
        raise Unknown(msg)
    return _Adjoint(run, cost, end).result()


class _Adjoint:
    """One sweep backwards over a run."""

    def __init__(self, run: Trajectory, cost: Any, end: Any) -> None:
        self.run = run
        self.chosen = with_table_states(run.values) if run.values.table_inputs else run.values
        _refuse(run)
        self.kin = self.chosen.kin
        self.n = len(self.kin.state)
        self.model = _model(run, self.chosen)
        t = self.tape = self.model.tape.fork()
        self.state = (*self.kin.state, self.kin.system.t.i)
        self.L, self.Phi = (self._read(e) for e in (cost, end))
        inside = symbols_of(t, (self.L, self.Phi))
        more = (i for i in inside if i not in self.state and i not in self.model.parameters)
        self.parameters = (*self.model.parameters, *more)
        self.p = parameter_vector(self.chosen, self.parameters)
        self.ybar, self.pbar = np.zeros(self.n), np.zeros(len(self.parameters))
        self.samples = [InputSamples(each, self.kin) for each in self.chosen.callback_inputs]
        self.costs = TapeDerivatives(
            t, (self.L, self.Phi), self.state, self.parameters, (*self.state, *self.parameters)
        )

    def _read(self, expression: Any) -> int:
        """A cost in q, x, u and t on the tape of the model."""
        t = self.tape
        if expression is None:
            return t.zero
        evaluator = self.chosen.evaluator
        if isinstance(expression, int | float):
            msg = (
                f"gradient: {expression!r} is a number; give an expression of the motion, such as "
                "'F**2'"
            )
            raise Unknown(msg)
        node = evaluator.in_state(evaluator.node(expression))
        unknown = (*evaluator.kin.udot, *evaluator.kin.multipliers)
        if evaluator.contains([node], unknown):
            msg = (
                f"gradient: {expression} contains an acceleration or a multiplier; give a cost in "
                "positions, velocities and inputs"
            )
            raise NotApplicable(msg)
        return copy_expressions(evaluator.tape, t, [node])[0]

    # ---- costs -------------------------------------------------------------------------------

    def _cost(
        self, which: int, y: FloatArray, t: float
    ) -> tuple[float, FloatArray, float, FloatArray]:
        """A cost with its derivatives by y, t and p: 0 the integrand, 1 that of the end."""
        X = np.append(y, t)[None]
        value = float(self.costs.values(X, self.p)[0, which])
        row = np.zeros((2, self.n + 1 + len(self.parameters)))
        pattern = self.costs.jacobian_pattern
        row[list(pattern.rows), list(pattern.columns)] = self.costs.jacobian(X, self.p)[0]
        return value, row[which, : self.n], float(row[which, self.n]), row[which, self.n + 1 :]

    def result(self) -> CostGradient:
        """The cost and all derivatives."""
        times, states = self._points()
        end, y = float(times[-1]), states[-1]
        value, y_slope, t_slope, p_slope = self._cost(1, y, end)
        self.ybar += y_slope
        self.pbar += p_slope
        stop = _stop(self.run)
        if stop is not None:
            rate = float(y_slope @ self._rates(y, end)) + t_slope + self._cost(0, y, end)[0]
            self._moment(self._event(stop), y, end, rate)
        value += self._integral(times, states)
        self._backwards(times, states)
        constants, start = self._at_start()
        inputs = {each.name: each.result() for each in self.samples}
        return CostGradient(value, constants, start, inputs)

    # ---- steps -------------------------------------------------------------------------------

    def _points(self) -> tuple[FloatArray, FloatArray]:
        """The points of the run, with those between that Runge and Kutta's method needs."""
        solve_rows = self.run.solution
        t, y = solve_rows.t, self._with_inputs(solve_rows.y)
        for each in self.samples:
            each.begin(float(t[0]))
            each.fill(t[:-1] + np.diff(t) / 2, y)
        dense = solve_rows.dense
        if dense is not None and not solve_rows.motion.powers:
            return t, y
        ends = self._followed(t[:-1], y[:-1], np.diff(t))
        off = np.abs(ends - y[1:]).max(axis=1, initial=0.0) / np.maximum(
            1.0, np.abs(y[1:]).max(axis=1, initial=0.0)
        )
        parts = np.clip(np.ceil((off / _FOLLOWS) ** (1 / _ORDER)), 1, _MOST_PARTS).astype(int)
        fine = [
            np.linspace(a, b, m, endpoint=False)
            for a, b, m in zip(t[:-1], t[1:], parts, strict=True)
        ]
        times = np.concatenate([*fine, t[-1:]])
        states = self._with_inputs(solve_rows.at(times))
        for each in self.samples:
            each.fill_table(times[:-1] + np.diff(times) / 2, states)
        states[np.cumsum([0, *parts])] = y
        return times, states

    def _with_inputs(self, rows: FloatArray) -> FloatArray:
        """States of the run in rows, with room for the coefficients of tables."""
        kin = self.run.values.kin
        layout = kin.layout
        missing = self.n - layout.size
        return np.insert(rows[:, layout.state], [layout.speed_offset] * missing, 0.0, axis=1)

    def _stages(
        self, t: FloatArray, y: FloatArray, h: FloatArray
    ) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """(z_i, t_i, k_i) of all steps at once."""
        from dalembert.runtime.ode.dop853_coefficients import STEP_STAGES, A, C

        results: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for i in range(STEP_STAGES):
            moved = sum((a * results[j][2] for j, a in A[i].items()), np.zeros_like(y))
            z, at = y + h[:, None] * moved, t + C[i] * h
            results.append((z, at, self._rates_in_rows(z, at)))
        return results

    def _followed(self, t: FloatArray, y: FloatArray, h: FloatArray) -> FloatArray:
        """The ends of steps by Runge and Kutta's method."""
        from dalembert.runtime.ode.dop853_coefficients import B

        stages = self._stages(t, y, h)
        return y + h[:, None] * sum((b * stages[i][2] for i, b in B.items()), np.zeros_like(y))

    def _integral(self, times: FloatArray, states: FloatArray) -> float:
        """∫ L dt by the same stages."""
        from dalembert.runtime.ode.dop853_coefficients import B

        if self.tape.zero == self.L:
            return 0.0
        h = np.diff(times)
        stages, total = self._stages(times[:-1], states[:-1], h), 0.0
        for i, b in B.items():
            z, at, _ = stages[i]
            total += b * float(h @ self.costs.values(np.column_stack([z, at]), self.p)[:, 0])
        return total

    def _rates_in_rows(self, y: FloatArray, t: FloatArray) -> FloatArray:
        p = self.p[: len(self.model.parameters)]
        return np.asarray(self.model.rates.batch(np.column_stack([y, t]), p)[:, : self.n])

    def _rates(self, y: FloatArray, t: float) -> FloatArray:
        return np.asarray(self._rates_in_rows(y[None], np.array([t]))[0])

    @cached_property
    def _transposed(self) -> ExplicitSteps | ConstrainedSteps:
        rates = self.model.rates
        if not rates.closed_form:
            return ConstrainedSteps(self.tape, self.model, self.L, self.state, self.parameters)
        key = (self.chosen.binding_key, self.tape.nodes[self.L], self.L, self.parameters)
        given = (self.tape, self.model.nodes, self.L, self.state, self.parameters)
        forward = rates.functions(0)["rates"]
        return _STEPS(self.kin, key, lambda: ExplicitSteps(*given, forward))

    def _backwards(self, times: FloatArray, states: FloatArray) -> None:
        """From the end to the start: stretches of steps, and what lies between them."""
        h, jumps = np.diff(times), np.flatnonzero(np.diff(times) == 0.0)
        middle = times[:-1] + h / 2
        cuts = {int(k) for k in jumps} | {int(k) + 1 for k in jumps} | {0, len(h)}
        for each in self.samples:
            cuts |= each.cuts(middle)
        if self._rows is not None:
            cuts = set(range(len(h) + 1))
        edges = sorted(cuts)
        for first, last in zip(reversed(edges[:-1]), reversed(edges[1:]), strict=True):
            if h[first] == 0.0:
                self._jump(float(times[first]), states[first], states[last])
                continue
            self._project(states[last], float(times[last]))
            part = slice(first, last)
            bars = self.ybar, self.pbar
            self._transposed.back(times[part], h[part], states[part], bars, self.p)
            for each in self.samples:
                each.collect(float(middle[first]), self.ybar)

    # ---- constraint equations ------------------------------------------------------------------

    @cached_property
    def _rows(self) -> TapeDerivatives | None:
        """The constraint equations that the run holds, as functions of (y, p)."""
        kin, t = self.chosen.evaluator.kin, self.tape
        evaluator = self.chosen.evaluator
        nodes = [evaluator.in_state(i) for i in position_residuals(evaluator.tape, kin.linear_rows)]
        nodes += [evaluator.in_state(row.e) for row in kin.velocity_rows]
        if not nodes:
            return None
        here = copy_expressions(evaluator.tape, t, nodes)
        inside = [
            i for i in symbols_of(t, here) if i not in self.state and i not in self.parameters
        ]
        numbers = parameter_vector(self.chosen, tuple(inside))
        self._row_parameters = np.concatenate([self.p, numbers])
        wrt = (*self.state[:-1], *self.parameters)
        return TapeDerivatives(t, here, self.state, (*self.parameters, *inside), wrt)

    def _project(self, y: FloatArray, t: float) -> None:
        """ȳ − Gᵀ μ and p̄ − r_pᵀ μ with G Gᵀ μ = G ȳ"""
        rows = self._rows
        if rows is None:
            return
        slopes = np.zeros(rows.jacobian_pattern.shape)
        entries = rows.jacobian(np.append(y, t)[None], self._row_parameters)[0]
        slopes[rows.jacobian_rows, rows.jacobian_columns] = entries
        G, r_p = slopes[:, : self.n], slopes[:, self.n :]
        mu = np.linalg.lstsq(G.T, self.ybar, rcond=_DEPENDENT)[0]
        self.ybar -= G.T @ mu
        self.pbar -= r_p.T @ mu

    # ---- events --------------------------------------------------------------------------------

    @cached_property
    def _events(self) -> tuple[EventFunctions, EventActions]:
        evaluator, events = self.chosen.evaluator, self.run.declared_events
        functions = event_functions(evaluator, events, [event_node(evaluator, e) for e in events])
        return functions, EventActions(self.chosen, evaluator, events, functions.nodes)

    def _event(self, name: str) -> int:
        return next(k for k, e in enumerate(self.run.declared_events) if e.title == name)

    def _moment(self, event: int, y: FloatArray, t: float, c: float) -> None:
        """ȳ − g_y c/ġ, p̄ − g_p c/ġ"""
        from dalembert.symbolic.algebra.dual_numbers import jacobian

        functions, evaluator = self._events[0], self.chosen.evaluator
        slopes = functions.gradients(np.append(y, t))[event]
        rate = float(slopes[:-1] @ self._rates(y, t) + slopes[-1])
        if not rate:
            title = functions.events[event].title
            msg = (
                f"gradient: the motion only touches the event {title!r} at t = {t:.9g}, where no "
                "derivative exists"
            )
            raise NotApplicable(msg)
        state = {
            **evaluator.numbers,
            **dict(zip(self.kin.state, y, strict=True)),
            evaluator.time: t,
        }
        by_p = jacobian(evaluator.tape, [functions.nodes[event]], self.parameters, state)[1][0, 0]
        self.ybar -= slopes[:-1] * (c / rate)
        self.pbar -= by_p * (c / rate)

    def _jump(self, t: float, before: FloatArray, after: FloatArray) -> None:
        """What events did at one time, the last first."""
        acting = [o for o in self.run.events if o.acts and o.t == t]
        if not acting:
            if np.array_equal(before, after):
                return
            msg = f"gradient: the state jumps at t = {t:.9g} without an event"
            raise NotApplicable(msg)
        for occurrence in reversed(acting):
            y, new = (np.array([*x.values()]) for x in (occurrence.before, occurrence.after))
            self._project(new, t)
            event = self._event(occurrence.name)
            R = self._events[1].jacobian(event, y, t, self.parameters)
            n = self.n
            through = R[:, :n] @ self._rates(y, t) + R[:, n] - self._rates(new, t)
            c = float(self.ybar @ through) + self._cost(0, y, t)[0] - self._cost(0, new, t)[0]
            self.pbar += R[:, n + 1 :].T @ self.ybar
            self.ybar[:] = R[:, :n].T @ self.ybar
            self._moment(event, y, t, c)

    # ---- start ---------------------------------------------------------------------------------

    def _at_start(self) -> tuple[dict[str, float], dict[str, float]]:
        """Derivatives by constants, and by the state at the start: along changes that the
        constraint equations admit.
        """
        kin = self.kin
        held = {i for each in self.samples for i in each.nodes}
        places = [k for k, i in enumerate(kin.state) if i not in held]
        numbers = [k for k, i in enumerate(self.parameters) if kin.name(i) in kin.system.symbols]
        moved = np.zeros(len(numbers))
        if self._rows is not None:
            ybar, pbar = self.ybar.copy(), self.pbar.copy()
            self._project(self.run.start.y, self.run.start.t)
            moved = self._with_start(numbers, ybar, (self.pbar - pbar)[numbers])
            self.pbar = pbar
        constants = dict(
            zip(
                (kin.name(self.parameters[k]) for k in numbers),
                self.pbar[numbers] + moved,
                strict=True,
            )
        )
        start = dict(zip(self.run.names, self.ybar[places], strict=True))
        return {n: float(x) for n, x in constants.items()}, {n: float(x) for n, x in start.items()}

    def _with_start(self, numbers: list[int], ybar: FloatArray, shortest: FloatArray) -> FloatArray:
        """What constants do through the start: values that were solved for follow them.

        Where all were given, the start follows on the shortest way onto the constraint equations.
        """
        start = self.run.start
        given = {m.name: m.value for m in start.values if m.origin == "given"}
        names = [(self.kin.name(self.parameters[k]), k) for k in numbers]
        varied = [SensitivityParameter(n, float(self.p[k]), self.parameters[k]) for n, k in names]
        try:
            return np.asarray(initial_sensitivity(self.chosen, given, {}, start, varied) @ ybar)
        except BadStart:
            return shortest


def _refuse(run: Trajectory) -> None:
    if run.contact_modes is not None:
        msg = (
            "gradient: the contacts of this run change their modes; give the obstacles as "
            "da.impact events"
        )
        raise NotApplicable(msg)
    if run.solution.motion.dropped:
        msg = "gradient: this long run kept only the times in at=; simulate without at="
        raise NotApplicable(msg)
    continuous = next(
        (each.name for each in run.values.callback_inputs if each.is_continuous), None
    )
    if continuous is not None:
        msg = (
            f"gradient: {continuous} is a Python function, which has no derivatives; hold it with "
            "da.sampled, or give an expression"
        )
        raise NotApplicable(msg)


def _model(run: Trajectory, chosen: RunValues) -> NativeModel:
    """The equations of the run as native code."""
    kin = chosen.kin
    _, equations = select_equations(run.system, "native")
    explicit = run.accelerations is None or not hasattr(run.accelerations.rates, "layout")
    if explicit != isinstance(equations, ExplicitEquations):
        _, equations = select_equations(run.system, "rosenbrock")
    speeds = equations.u if isinstance(equations, ExplicitEquations) else equations.z
    if speeds != kin.u:
        msg = (
            "gradient: this run has other speeds than da.simulate chooses; simulate it with "
            "da.simulate"
        )
        raise NotApplicable(msg)
    model = native_model(chosen, equations)
    signs = [i for i in model.state_switches if i is not None] if model.entries is None else []
    if signs and any(op == "sign" for op, _, _ in model.tape.nodes):
        msg = "gradient: a load jumps with the state (sign); write the jump as an event"
        raise NotApplicable(msg)
    return model


def _stop(run: Trajectory) -> str | None:
    """The event that ended the run."""
    last = run.events[-1] if run.events else None
    ended = last is not None and last.action == EventAction.STOP.value
    return last.name if last is not None and ended and last.t == run.solution.t[-1] else None
