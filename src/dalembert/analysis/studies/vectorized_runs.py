"""Members in lanes and threads: from the table of a study to the numbers that are kept, without
Python in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from dalembert.analysis.studies.ensemble_plan import EnsemblePlan, Output, ParameterRole, key_name
from dalembert.analysis.studies.execution import Runner
from dalembert.analysis.studies.initial_states import InitialStates, PhysicalityCheck
from dalembert.analysis.studies.lane_method import default_lanes, lane_series, quadrature_rates
from dalembert.analysis.studies.parameter_grid import BadStudy
from dalembert.analysis.studies.result import FINISHED, REFUSED, STOPPED, ResultChunk
from dalembert.errors import BadExpression, DalembertError, warn
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import BadValue, MissingValue
from dalembert.runtime.ode.failure_diagnosis import run_stopped_error
from dalembert.runtime.ode.failures import Cause, NoProgress, RunStopped
from dalembert.runtime.ode.integrator_state import IntegratorState, StepCause
from dalembert.runtime.ode.solution import ChunkedArray, Outcome, Solution, StoredTrajectory
from dalembert.runtime.ode.vectorized.layout import Functional, LaneFunctions, LaneSeries
from dalembert.runtime.ode.vectorized.loop import NO_PROGRESS
from dalembert.runtime.ode.vectorized.workers import (
    EnsembleTables,
    LaneProblem,
    Progress,
    VectorizedCode,
    run_ensemble,
)
from dalembert.runtime.simulation.discontinuity_times import has_discontinuities
from dalembert.runtime.simulation.energy_audit import (
    UNRESOLVED,
    Audit,
    Quadratures,
    energy_scale,
    native_audit,
)
from dalembert.runtime.simulation.events.event import SIGNS
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.simulation.run_options import AUTO, NATIVE, PROJECTION, TAYLOR
from dalembert.runtime.states.evaluator import Level, label
from dalembert.runtime.states.run_values import RunValues, parameter_vector, run_values
from dalembert.symbolic.algebra.expression_graph import symbols_of

# of members, in the search for one with possible values
_MAX_TRIES: Final = 1000


def vectorization_obstacle(plan: EnsemblePlan, equations: object) -> str | None:
    """What lanes cannot do; None where they can."""
    o = plan.options
    if not isinstance(equations, ExplicitEquations):
        return "constraint rows in augmented form"
    if o.integrator not in (NATIVE, TAYLOR, AUTO):
        return f"integrator {o.integrator!r}"
    reasons = (
        # series are taken of other expressions where a factor is a number
        ("amplitudes", o.integrator != NATIVE and ParameterRole.AMPLITUDE in plan.roles.values()),
        ("contacts", bool(plan.system.contacts)),
        ("events", bool(o.events)),
        ("an energy tolerance", o.budget is not None),
        ("members", bool(plan.system.expansions)),
    )
    return next((why for why, holds in reasons if holds), None)


class VectorizedRunner:
    """A study compiled for lanes."""

    def __init__(
        self,
        plan: EnsemblePlan,
        kin: Kinematics,
        equations: ExplicitEquations,
        quadratures: Quadratures | None,
        lanes: int | None,
        alone: Runner,
    ) -> None:
        self.plan, self._kin, self._sequential = plan, kin, alone
        self.values, self._reference_run = self._reference_values()
        o = plan.options
        self.model = native_model(self.values, equations, o.alpha)
        assert isinstance(self.model.rates, CompiledFunction)
        self._parameters = {"rates": self.model.parameters}
        # every constant has a number, or the error names the one without
        parameter_vector(self.values, self.model.parameters)
        self.audit = self._audit(quadratures)
        series = lane_series(plan, self.values, self.model, self.audit, quadratures)
        self._functionals = [kept for kept in plan.outputs if kept.functional is not None]
        self.functions = self._lane_functions(self.model.rates, series)
        self.program = VectorizedCode(self.functions, lanes or default_lanes(series))
        self.starts = InitialStates(plan, self.values, self._reference_run)
        self._nodes = {
            kept.name: self._output_node(kept) for kept in plan.outputs if kept.functional is None
        }
        self._physicality = PhysicalityCheck(self.values, self._varied_nodes())
        self.at = np.sort(np.unique(plan.times))

    def discontinuity_obstacle(self) -> str:
        """Why steps of a single run would end where lanes would not end them: jumps in time, or in
        the state; nothing for most.
        """
        if self.model.state_switches:
            return "jumps in the state"
        numbers = dict(
            zip(
                self.model.parameters,
                parameter_vector(self.values, self.model.parameters),
                strict=True,
            )
        )
        return (
            "jumps in time"
            if has_discontinuities(self.model.tape, self._kin.system.t.i, numbers)
            else ""
        )

    def _lane_functions(self, rates: CompiledFunction, series: LaneSeries | None) -> LaneFunctions:
        """The rates or their series, the audit's energies, the projection and the functionals."""
        quantities = self._compile_functionals()
        return LaneFunctions(
            rates if series is None else series.motion.zero,
            quadrature_rates(self.audit, series),
            self.audit.energy if self.audit else None,
            self.model.projection if self.plan.options.stabilizer == PROJECTION else None,
            quantities,
            tuple(
                Functional(kept.functional, k, SIGNS[kept.direction])
                for k, kept in enumerate(self._functionals)
                if kept.functional is not None
            ),
            series,
        )

    # ---- values ------------------------------------------------------------------------------

    def _reference_values(self) -> tuple[RunValues, int]:
        """The values of the first member that can exist."""
        problem: BadValue | None = None
        for member in range(min(len(self.plan.grid), _MAX_TRIES)):
            try:
                return self._with_amplitudes(self.values_of(member)), member
            except BadValue as fault:
                problem = problem or fault
        assert problem is not None
        raise problem

    def values_of(self, member: int) -> RunValues:
        """The values of one member, checked; inputs with an amplitude as if it were 1."""
        o = self.plan.run_options(member)
        return run_values(self._kin, o.values, {**o.inputs, **self._amplitude_inputs()})

    def _amplitude_inputs(self) -> dict[object, object]:
        amplified = self.plan.names_with_role(ParameterRole.AMPLITUDE)
        return {
            key: value
            for key, value in self.plan.options.inputs.items()
            if key_name(key) in amplified
        }

    def _with_amplitudes(self, values: RunValues) -> RunValues:
        """Inputs times a symbol of their own, which is then a parameter like any other."""
        self._amplitudes: dict[str, int] = {}
        tape, bindings, numbers = values.kin.tape, dict(values.bindings), dict(values.numbers)
        for name in self.plan.names_with_role(ParameterRole.AMPLITUDE):
            a = self._amplitudes[name] = tape.symbol(f"amplitude of {name}")
            numbers[a] = 1.0
            x: int | None = values.kin.system.symbols[name].scalar.i
            while x is not None and x in bindings:
                bindings[x] = tape.mul(a, bindings[x])
                x = tape.rates.get(x)
        return RunValues(values.kin, numbers, bindings)

    def _varied_nodes(self) -> dict[int, int]:
        """{symbol: its column in the table of members}, start values aside."""
        tape, columns = self.values.kin.tape, {}
        for k, (name, role) in enumerate(self.plan.roles.items()):
            if role is ParameterRole.AMPLITUDE:
                columns[self._amplitudes[name]] = k
            elif role is not ParameterRole.START:
                columns[tape.names[name]] = k
        return columns

    def _audit(self, quadratures: Quadratures | None) -> Audit | None:
        """Z and the energies; the works of the loads stay at home."""
        if quadratures is None:
            return None
        Z = quadratures.Z
        alone = replace(
            quadratures,
            names=() if Z is None else (quadratures.names[Z],),
            rates=() if Z is None else (quadratures.rates[Z],),
            Z=None if Z is None else 0,
            projection_change=None,
        )
        audit = native_audit(self.values, alone)
        try:
            parameter_vector(self.values, audit.parameters)
        except MissingValue as problem:
            warn(f"this study has no energy audit: {problem}")
            return None
        self._parameters |= dict.fromkeys(("quadrature", "energy"), audit.parameters)
        return audit

    # ---- what is kept ------------------------------------------------------------------------

    def _output_node(self, kept: Output) -> int:
        """What is kept, in q, u, u̇ and t."""
        evaluator = self.values.evaluator
        try:
            return evaluator.in_state(evaluator.node(kept.expression))
        except (BadExpression, MissingValue) as problem:
            msg = f"keep: {kept.name!r} cannot be read: {problem}"
            raise BadStudy(msg) from problem

    def _compile_functionals(self) -> CompiledFunction | None:
        evaluator = self.values.evaluator
        nodes = [self._output_node(kept) for kept in self._functionals]
        for kept, node in zip(self._functionals, nodes, strict=True):
            if evaluator.level(node) is Level.ACCELERATION:
                msg = (
                    f"keep: {kept.name!r} contains an acceleration, which is kept at the end or "
                    f"at given times only"
                )
                raise BadStudy(msg)
        if not nodes:
            return None
        kin = evaluator.kin
        state = (*kin.state, evaluator.time)
        self._parameters["quantities"] = parameters = tuple(
            i for i in symbols_of(evaluator.tape, nodes) if i not in state
        )
        return CompiledFunction(evaluator.tape, nodes, state, parameters)

    # ---- a chunk -----------------------------------------------------------------------------

    def run(
        self, run_indices: IndexArray, threads: int, on_progress: Progress | None = None
    ) -> ResultChunk:
        """What becomes of these members."""
        plan = self.plan
        rows = plan.grid.table(run_indices)
        chunk = ResultChunk.empty(plan, len(run_indices), audit=self.audit is not None)
        varied = {node: rows[:, k] for node, k in self._varied_nodes().items()}
        for k in self._physicality.suspect_rows(varied, len(run_indices)):
            try:
                self.values_of(int(run_indices[k]))
            except DalembertError as problem:
                chunk.refuse(k, problem)
        starts = self.starts.table(run_indices, rows, varied, self.values_of, chunk.refuse)
        begun = np.flatnonzero(chunk.outcome != REFUSED)
        # the parameters of every function, one function after the other
        symbols = [
            i
            for name in self.functions.parameterized_functions
            for i in self._parameters["rates" if name == "projection" else name]
        ]
        P = self._parameter_table(symbols, varied, len(run_indices))
        tables = run_ensemble(
            self.program, self._problem(), P[begun], starts[begun], threads, on_progress
        )
        self._record_outcomes(chunk, begun, tables, starts)
        if self.audit is not None and chunk.drift is not None:
            known = self._parameter_table(self.audit.parameters, varied, len(run_indices))
            chunk.drift[begun] = self._relative_drifts(tables, starts[begun], known[begun])
        self._record_outputs(chunk, begun, tables, {node: x[begun] for node, x in varied.items()})
        if plan.options.integrator == AUTO:
            # members that stall because they are stiff are repeated by another method
            stalled = begun[tables.column("cause") == NO_PROGRESS]
            chunk.replace_rows(stalled, self._sequential.run(run_indices[stalled], 1))
        return chunk

    def _parameter_table(
        self, symbols: Sequence[int], varied: dict[int, FloatArray], count: int
    ) -> FloatArray:
        """The numbers of these symbols, a row for each member."""
        table = np.empty((count, len(symbols)))
        for k, i in enumerate(symbols):
            table[:, k] = varied[i] if i in varied else self.values.numbers[i]
        return table

    def _problem(self) -> LaneProblem:
        o, n = self.plan.options, self.functions.n
        atol = np.broadcast_to(np.asarray(o.atol, dtype=np.float64), (n,)).copy()
        return LaneProblem(
            float(o.t0),
            float(o.t0) + float(self.plan.duration),
            float(o.rtol),
            atol,
            float(o.max_step),
            self.at,
        )

    def _record_outcomes(
        self, chunk: ResultChunk, begun: IndexArray, tables: EnsembleTables, starts: FloatArray
    ) -> None:
        """How each member ended, and the reasons of those that stopped."""
        t1 = self._problem().t1
        done = tables.column("t") >= t1
        chunk.outcome[begun] = np.where(done, FINISHED, STOPPED)
        chunk.reached[begun], chunk.steps[begun] = tables.column("t"), tables.column("steps")
        for row in np.flatnonzero(~done):
            chunk.stop(int(begun[row]), self._failure(tables, int(row), starts[begun[row]]))

    def _relative_drifts(
        self, tables: EnsembleTables, starts: FloatArray, known: FloatArray
    ) -> FloatArray:
        """The drift of E_Z of each member relative to its energies, or at rest to their terms;
        `known` are the parameters of the audit.
        """
        drifts, scales = tables.column("drift"), tables.column("scale")
        sizes = np.where(scales > 0.0, scales, 1.0)
        for k in np.flatnonzero(~(drifts <= UNRESOLVED * scales)):
            terms = partial(self._energy_terms, starts[k], known[k])
            sizes[k] = energy_scale(float(drifts[k]), float(scales[k]), terms).size
        relative: FloatArray = drifts / sizes
        return relative

    def _energy_terms(self, y: FloatArray, p: FloatArray) -> float:
        assert self.audit is not None
        state = np.append(y, float(self.plan.options.t0))
        return float(np.sum(self.audit.energy_terms.call(state, p)))

    def _failure(self, tables: EnsembleTables, row: int, start: FloatArray) -> RunStopped:
        """The failure with which a single run would stop, with names for components."""
        t, steps, cause = (float(tables.column(name)[row]) for name in ("t", "steps", "cause"))
        n = self.functions.n
        run = IntegratorState(
            t=t,
            h=float(tables.column("h")[row]),
            cause=int(cause),
            code=int(cause == StepCause.PROJECT),
        )
        y = tables.results[row, self.functions.columns["y"] :][:n]
        slope = tables.results[row, self.functions.columns["slope"] :][:n]
        motion = StoredTrajectory(
            ChunkedArray([np.array([self.plan.options.t0, t])]),
            ChunkedArray([np.array([start, y])]),
            None,
            int(steps) - 1,
        )
        solution = Solution(motion, Outcome.STOPPED, "", 0, 0)
        if int(cause) == NO_PROGRESS:
            return NoProgress(Cause.NO_PROGRESS, solution)
        failure = run_stopped_error(run, solution, slope)
        kin = self.values.kin
        failure.names = tuple(label(kin.name(i)) for i in kin.state)
        return failure

    def _record_outputs(
        self,
        chunk: ResultChunk,
        begun: IndexArray,
        tables: EnsembleTables,
        varied: dict[int, FloatArray],
    ) -> None:
        for k, kept in enumerate(self._functionals):
            value = tables.results[:, self.functions.columns["functionals"] + k]
            if kept.kind == "mean":
                length = tables.column("t") - self.plan.options.t0
                with np.errstate(all="ignore"):
                    value = value / length
            chunk.outputs[kept.name][begun] = value
        self._record_states(chunk, begun, tables, varied)

    def _record_states(
        self,
        chunk: ResultChunk,
        begun: IndexArray,
        tables: EnsembleTables,
        varied: dict[int, FloatArray],
    ) -> None:
        """Expressions of the state at the end, and at the times."""
        plain = [kept for kept in self.plan.outputs if kept.functional is None]
        ends = [kept for kept in plain if not self.plan.is_time_series(kept)]
        times = [kept for kept in self.plan.outputs if self.plan.is_time_series(kept)]
        if ends:
            end = tables.results[:, self.functions.columns["y"] :][:, : self.functions.n]
            rows = self._evaluate(
                [self._nodes[kept.name] for kept in ends], end, tables.column("t"), varied
            )
            for kept, row in zip(ends, rows, strict=True):
                chunk.outputs[kept.name][begun] = row
        if times:
            m, (n, count) = len(begun), (self.functions.n, len(self.at))
            repeated = {node: np.repeat(x, count) for node, x in varied.items()}
            states, t = tables.samples.reshape(m * count, n), np.tile(self.at, m)
            rows = self._evaluate([self._nodes[kept.name] for kept in times], states, t, repeated)
            # in the requested order, with repetitions
            order = np.searchsorted(self.at, self.plan.times)
            for kept, row in zip(times, rows, strict=True):
                chunk.outputs[kept.name][begun] = row.reshape(m, count)[:, order]

    def _evaluate(
        self, nodes: list[int], y: FloatArray, t: FloatArray, varied: dict[int, FloatArray]
    ) -> FloatArray:
        """Expressions of the states, by the operations that a trajectory evaluates them with."""
        evaluator = self.values.evaluator
        kin = evaluator.kin
        columns = np.ascontiguousarray(y.T)
        state = {**dict(zip(kin.state, columns, strict=True)), evaluator.time: t, **varied}
        if evaluator.contains(nodes, kin.udot):
            assert isinstance(self.model.rates, CompiledFunction)
            rates = self.model.rates.batch(
                np.column_stack([y, t]),
                self._parameter_table(self.model.parameters, varied, len(t)),
            )
            state |= dict(
                zip(
                    kin.udot,
                    np.ascontiguousarray(rates[:, kin.layout.u].T),
                    strict=True,
                )
            )
        return evaluator.values_along(nodes, state, len(t))
