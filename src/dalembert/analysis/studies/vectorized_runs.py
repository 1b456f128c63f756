"""Members in lanes and threads: from the table of a study to the numbers that are kept, without Python in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from dalembert.analysis.studies.ensemble_plan import Kept, Role, StudyPlan, name_of
from dalembert.analysis.studies.execution import Runner
from dalembert.analysis.studies.initial_states import Possible, Starts
from dalembert.analysis.studies.lane_method import lane_series, ride_along, usual_lanes
from dalembert.analysis.studies.parameter_grid import BadStudy
from dalembert.analysis.studies.result import FINISHED, REFUSED, STOPPED, Chunk
from dalembert.errors import BadExpression, DalembertError, warn
from dalembert.foundation.array_types import Indices, Numbers
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import BadValue, MissingValue
from dalembert.runtime.ode.failure_diagnosis import stopped
from dalembert.runtime.ode.failures import Cause, NoProgress, RunStopped
from dalembert.runtime.ode.integrator_state import Run, StepCause
from dalembert.runtime.ode.solution import Outcome, Pieces, Solution, StoredMotion
from dalembert.runtime.ode.vectorized.layout import Functional, LaneFunctions
from dalembert.runtime.ode.vectorized.loop import CRAWLING
from dalembert.runtime.ode.vectorized.workers import LaneProblem, LaneProgram, Progress, Tables, run_members
from dalembert.runtime.simulation.discontinuity_times import has_jumps
from dalembert.runtime.simulation.energy_audit import Audit, Quadratures, native_audit
from dalembert.runtime.simulation.events.event import SIGNS
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.simulation.run_options import AUTO, NATIVE, PROJECTION, TAYLOR
from dalembert.runtime.states.evaluator import Level, label
from dalembert.runtime.states.run_values import Values, parameters_of, values_of_run
from dalembert.symbolic.algebra.expression_graph import symbols_of

# of members, when one is looked for whose values are possible
_TRIES: Final = 1000


def why_one_by_one(plan: StudyPlan, equations: object) -> str | None:
    """What lanes cannot do; None where they can."""
    o = plan.options
    if not isinstance(equations, ExplicitEquations):
        return "rows stand beside the equations"
    if o.integrator not in (NATIVE, TAYLOR, AUTO):
        return f"integrator {o.integrator!r}"
    reasons = (
        # series are taken of other expressions where a factor is a number
        ("amplitudes", o.integrator != NATIVE and Role.AMPLITUDE in plan.roles.values()),
        ("events", bool(o.events)),
        ("an energy tolerance", o.budget is not None),
        ("members", bool(plan.system.expansions)),
    )
    return next((why for why, holds in reasons if holds), None)


class SideBySide:
    """A study compiled for lanes."""

    def __init__(
        self,
        plan: StudyPlan,
        kin: Kinematics,
        equations: ExplicitEquations,
        quadratures: Quadratures | None,
        lanes: int | None,
        alone: Runner,
    ) -> None:
        self.plan, self._kin, self._alone = plan, kin, alone
        self.values, self._model_member = self._first_values()
        o = plan.options
        self.model = native_model(self.values, equations, o.alpha)
        assert isinstance(self.model.rates, CompiledFunction)
        self._parameters = {"rates": self.model.parameters}
        # every constant has a number, or it is said which has none
        parameters_of(self.values, self.model.parameters)
        self.audit = self._audit(quadratures)
        series = lane_series(plan, self.values, self.model, self.audit, quadratures)
        self._functionals = [kept for kept in plan.kept if kept.functional is not None]
        quantities = self._quantities()
        self.functions = LaneFunctions(
            self.model.rates if series is None else series.motion.zero,
            ride_along(self.audit, series),
            self.audit.energy if self.audit else None,
            self.model.projection if o.stabilizer == PROJECTION else None,
            quantities,
            tuple(
                Functional(kept.functional, k, SIGNS[kept.direction])
                for k, kept in enumerate(self._functionals)
                if kept.functional is not None
            ),
            series,
        )
        self.program = LaneProgram(self.functions, lanes or usual_lanes(series))
        self.starts = Starts(plan, self.values, self._model_member)
        self._nodes = {kept.name: self._node(kept) for kept in plan.kept if kept.functional is None}
        self._possible = Possible(self.values, self._varied_nodes())
        self.at = np.sort(np.unique(plan.times))

    def jumps(self) -> str:
        """Why steps of a single run would end where lanes know nothing of: jumps in time, or in the state; nothing for most."""
        if self.model.switching:
            return "jumps in the state"
        numbers = dict(zip(self.model.parameters, parameters_of(self.values, self.model.parameters), strict=True))
        return "jumps in time" if has_jumps(self.model.tape, self._kin.system.t.i, numbers) else ""

    # ---- values ------------------------------------------------------------------------------

    def _first_values(self) -> tuple[Values, int]:
        """The values of the first member that can exist."""
        problem: BadValue | None = None
        for member in range(min(len(self.plan.members), _TRIES)):
            try:
                return self._amplified(self.values_of(member)), member
            except BadValue as fault:
                problem = problem or fault
        assert problem is not None
        raise problem

    def values_of(self, member: int) -> Values:
        """The values of one member, checked; inputs with an amplitude as if it were 1."""
        o = self.plan.options_of(member)
        return values_of_run(self._kin, o.values, {**o.inputs, **self._unscaled()})

    def _unscaled(self) -> dict[object, object]:
        amplified = self.plan.names_as(Role.AMPLITUDE)
        return {key: value for key, value in self.plan.options.inputs.items() if name_of(key) in amplified}

    def _amplified(self, values: Values) -> Values:
        """Inputs times a symbol of their own, which is then a parameter like any other."""
        self._amplitudes: dict[str, int] = {}
        tape, bindings, numbers = values.kin.tape, dict(values.bindings), dict(values.numbers)
        for name in self.plan.names_as(Role.AMPLITUDE):
            a = self._amplitudes[name] = tape.symbol(f"amplitude of {name}")
            numbers[a] = 1.0
            x: int | None = values.kin.system.symbols[name].scalar.i
            while x is not None and x in bindings:
                bindings[x] = tape.mul(a, bindings[x])
                x = tape.rates.get(x)
        return Values(values.kin, numbers, bindings)

    def _varied_nodes(self) -> dict[int, int]:
        """{symbol: its column in the table of members}, start values aside."""
        tape, found = self.values.kin.tape, {}
        for k, (name, role) in enumerate(self.plan.roles.items()):
            if role is Role.AMPLITUDE:
                found[self._amplitudes[name]] = k
            elif role is not Role.START:
                found[tape.names[name]] = k
        return found

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
            jump=None,
        )
        audit = native_audit(self.values, alone)
        try:
            parameters_of(self.values, audit.parameters)
        except MissingValue as problem:
            warn(f"this study carries no energy audit: {problem}")
            return None
        self._parameters |= dict.fromkeys(("ride", "energy"), audit.parameters)
        return audit

    # ---- what is kept ------------------------------------------------------------------------

    def _node(self, kept: Kept) -> int:
        """What is kept, in q, u, u̇ and t."""
        evaluator = self.values.evaluator
        try:
            return evaluator.reduced(evaluator.node(kept.expression))
        except (BadExpression, MissingValue) as problem:
            msg = f"keep: {kept.name!r} cannot be read: {problem}"
            raise BadStudy(msg) from problem

    def _quantities(self) -> CompiledFunction | None:
        evaluator = self.values.evaluator
        nodes = [self._node(kept) for kept in self._functionals]
        for kept, node in zip(self._functionals, nodes, strict=True):
            if evaluator.level(node) is Level.ACCELERATION:
                msg = f"keep: {kept.name!r} contains an acceleration, which is kept at the end or at given times only"
                raise BadStudy(msg)
        if not nodes:
            return None
        kin = evaluator.kin
        state = (*kin.state, evaluator.time)
        self._parameters["quantities"] = parameters = tuple(i for i in symbols_of(evaluator.tape, nodes) if i not in state)
        return CompiledFunction(evaluator.tape, nodes, state, parameters)

    # ---- a chunk -----------------------------------------------------------------------------

    def run(self, members: Indices, threads: int, on_progress: Progress | None = None) -> Chunk:
        """What becomes of these members."""
        plan = self.plan
        rows = plan.members.table(members)
        chunk = Chunk.empty(plan, len(members), audit=self.audit is not None)
        varied = {node: rows[:, k] for node, k in self._varied_nodes().items()}
        for k in self._possible.suspects(varied, len(members)):
            try:
                self.values_of(int(members[k]))
            except DalembertError as problem:
                chunk.refuse(k, problem)
        starts = self.starts.table(members, rows, varied, self.values_of, chunk.refuse)
        begun = np.flatnonzero(chunk.outcome != REFUSED)
        # the parameters of every function, one function after the other
        symbols = [i for name in self.functions.present for i in self._parameters["rates" if name == "projection" else name]]
        P = self._columns(symbols, varied, len(members))
        tables = run_members(self.program, self._problem(), P[begun], starts[begun], threads, on_progress)
        self._settle(chunk, begun, tables, starts)
        self._keep(chunk, begun, tables, {node: x[begun] for node, x in varied.items()})
        if plan.options.integrator == AUTO:
            # what crawls because it is stiff is made anew by another method
            self._run_alone(chunk, members, begun[tables.column("cause") == CRAWLING])
        return chunk

    def _run_alone(self, chunk: Chunk, members: Indices, rows: Indices) -> None:
        """Members as runs of their own, in place of what became of them here."""
        found = self._alone.run(members[rows], 1)
        columns = found.columns()
        for name, column in chunk.columns().items():
            column[rows] = columns[name]
        for k, row in enumerate(rows.tolist()):
            chunk.reasons.pop(row, None)
            if k in found.reasons:
                chunk.reasons[row] = found.reasons[k]

    def _columns(self, symbols: Sequence[int], varied: dict[int, Numbers], count: int) -> Numbers:
        """The numbers of these symbols, a row for each member."""
        table = np.empty((count, len(symbols)))
        for k, i in enumerate(symbols):
            table[:, k] = varied[i] if i in varied else self.values.numbers[i]
        return table

    def _problem(self) -> LaneProblem:
        o, n = self.plan.options, self.functions.n
        atol = np.broadcast_to(np.asarray(o.atol, dtype=np.float64), (n,)).copy()
        return LaneProblem(float(o.t0), float(o.t0) + float(self.plan.duration), float(o.rtol), atol, float(o.max_step), self.at)

    def _settle(self, chunk: Chunk, begun: Indices, tables: Tables, starts: Numbers) -> None:
        """How each member ended, and the reasons of those that stopped."""
        t1 = self._problem().t1
        done = tables.column("t") >= t1
        chunk.outcome[begun] = np.where(done, FINISHED, STOPPED)
        chunk.reached[begun], chunk.steps[begun] = tables.column("t"), tables.column("steps")
        if chunk.drift is not None:
            scale = tables.column("scale")
            chunk.drift[begun] = tables.column("drift") / np.where(scale > 0.0, scale, 1.0)
        for row in np.flatnonzero(~done):
            chunk.stop(int(begun[row]), self._failure(tables, int(row), starts[begun[row]]))

    def _failure(self, tables: Tables, row: int, start: Numbers) -> RunStopped:
        """The failure with which a single run would stop, with names for components."""
        t, steps, cause = (float(tables.column(name)[row]) for name in ("t", "steps", "cause"))
        n = self.functions.n
        run = Run(t=t, h=float(tables.column("h")[row]), cause=int(cause), code=int(cause == StepCause.PROJECT))
        y = tables.results[row, self.functions.columns["y"] :][:n]
        slope = tables.results[row, self.functions.columns["slope"] :][:n]
        motion = StoredMotion(Pieces([np.array([self.plan.options.t0, t])]), Pieces([np.array([start, y])]), None, int(steps) - 1)
        solution = Solution(motion, Outcome.STOPPED, "", 0, 0)
        if int(cause) == CRAWLING:
            return NoProgress(Cause.NO_PROGRESS, solution)
        failure = stopped(run, solution, slope)
        kin = self.values.kin
        failure.names = tuple(label(kin.name(i)) for i in kin.state)
        return failure

    def _keep(self, chunk: Chunk, begun: Indices, tables: Tables, varied: dict[int, Numbers]) -> None:
        for k, kept in enumerate(self._functionals):
            value = tables.results[:, self.functions.columns["functionals"] + k]
            if kept.kind == "mean":
                length = tables.column("t") - self.plan.options.t0
                with np.errstate(all="ignore"):
                    value = value / length
            chunk.kept[kept.name][begun] = value
        ends = [kept for kept in self.plan.kept if kept.functional is None and not self.plan.over_time(kept)]
        times = [kept for kept in self.plan.kept if self.plan.over_time(kept)]
        if ends:
            end = tables.results[:, self.functions.columns["y"] :][:, : self.functions.n]
            rows = self._evaluated([self._nodes[kept.name] for kept in ends], end, tables.column("t"), varied)
            for kept, row in zip(ends, rows, strict=True):
                chunk.kept[kept.name][begun] = row
        if times:
            m, (n, count) = len(begun), (self.functions.n, len(self.at))
            repeated = {node: np.repeat(x, count) for node, x in varied.items()}
            states, t = tables.samples.reshape(m * count, n), np.tile(self.at, m)
            rows = self._evaluated([self._nodes[kept.name] for kept in times], states, t, repeated)
            # as they were asked for, unsorted and twice where that is so
            order = np.searchsorted(self.at, self.plan.times)
            for kept, row in zip(times, rows, strict=True):
                chunk.kept[kept.name][begun] = row.reshape(m, count)[:, order]

    def _evaluated(self, nodes: list[int], y: Numbers, t: Numbers, varied: dict[int, Numbers]) -> Numbers:
        """Expressions of the states, by the operations that a trajectory evaluates them with."""
        evaluator = self.values.evaluator
        kin = evaluator.kin
        columns = np.ascontiguousarray(y.T)
        state = {**dict(zip(kin.state, columns, strict=True)), evaluator.time: t, **varied}
        if evaluator.contains(nodes, kin.udot):
            assert isinstance(self.model.rates, CompiledFunction)
            rates = self.model.rates.batch(np.column_stack([y, t]), self._columns(self.model.parameters, varied, len(t)))
            state |= dict(zip(kin.udot, np.ascontiguousarray(rates[:, kin.first_speed : kin.first_speed + kin.n_u].T), strict=True))
        return evaluator.arrays(nodes, state, len(t))
