"""The inputs of an answer given to the integrator: as one motion, or restarted from every node of
the mesh.

Each interval's own polynomial is the input, and steps end at the nodes. In the restarted motion the
state is set to that of the collocation polynomial at every node, so that errors of one interval are
seen by themselves.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from dalembert.analysis.integrals.run_integrals import RunIntegrals, quadratures
from dalembert.analysis.optimal.input_polynomials import polynomial_table
from dalembert.analysis.optimal.phase_functions import PhaseFunctions
from dalembert.analysis.optimal.point_equations import collocation_kinematics
from dalembert.analysis.optimal.transcription import PhaseLayout
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.dynamics.compile import forward_dynamics_of, saddle_equations
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import integrate
from dalembert.runtime.simulation.callback_inputs import CallbackInputs
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.runtime.simulation.run_setup import prepare_run
from dalembert.runtime.simulation.simulate import simulate_equations
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.evaluator import Key, label
from dalembert.runtime.states.run_values import RunValues, run_values
from dalembert.runtime.states.tables import Table

_RTOL: Final = 1e-12
# mesh points, relative to the duration
_SAME_TIME: Final = 1e-12
# a pivot below this part of the largest one means that rows depend on one another
_DEPENDENT: Final = 1e-9


@dataclass(frozen=True, eq=False)
class PhaseAnswer:
    """An answer on one phase: where its unknowns lie, their values, duration and parameters."""

    functions: PhaseFunctions
    layout: PhaseLayout
    v: FloatArray
    # where the phase begins
    t0: float

    @cached_property
    def duration(self) -> float:
        """T"""
        span = self.functions.span
        return span.low if span.is_point else float(self.v[self.layout.common[-1]])

    @cached_property
    def parameters(self) -> dict[str, float]:
        """The optimized constants by name."""
        names = self.functions.theta_names
        return dict(zip(names, self.v[self.layout.common[: len(names)]].tolist(), strict=True))

    @property
    def common(self) -> FloatArray:
        """Parameters and a free duration."""
        values: FloatArray = self.v[self.layout.common]
        return values

    @cached_property
    def times(self) -> FloatArray:
        """The nodes of the mesh."""
        t: FloatArray = self.t0 + self.duration * self.layout.mesh
        return t

    @cached_property
    def node_states(self) -> FloatArray:
        """The states at the nodes: a row for each."""
        places = np.concatenate([self.layout.first[None], self.layout.ends])
        rows: FloatArray = self.v[places]
        return rows

    @cached_property
    def point_values(self) -> FloatArray:
        """(interval, point, unknown)"""
        K = self.layout.scheme.order
        values: FloatArray = self.v[self.layout.points].reshape(self.layout.n_intervals, K, -1)
        return values

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Every unknown input of the system as polynomials."""
        eq, scheme = self.functions.equations, self.layout.scheme
        first = len(eq.states) + len(eq.algebraic)
        tables = dict[str, Table]()
        symbols = {
            s.scalar.i: s.name for s in self.functions.phase.system.symbols.values() if s.is_open
        }
        for place, i in enumerate(eq.states):
            if i in symbols:
                values = self.v[self.layout.states[:, :, place]]
                tables[symbols[i]] = polynomial_table(self.times, scheme.nodes, values)
        for k, i in enumerate(eq.inputs):
            if i in symbols:
                tables[symbols[i]] = polynomial_table(
                    self.times, scheme.points, self.point_values[:, :, first + k]
                )
        return tables


class Replay:
    """An answer replayed by the native integrator."""

    def __init__(self, answer: PhaseAnswer) -> None:
        self.answer = answer
        phase = answer.functions
        self.kin, self.equations = _equations(phase)
        kin = self.kin
        self.values: dict[Any, Any] = {**phase.phase.values, **answer.parameters}
        self.inputs: dict[Any, Any] = {**phase.phase.inputs, **answer.tables}
        # places among the states of collocation of (q, x, u)
        eq = phase.equations
        self.places = [eq.states.index(i) for i in (*kin.q, *kin.x, *kin.u)]

    @cached_property
    def chosen(self) -> RunValues:
        """FloatArray and inputs of the replay."""
        return run_values(self.kin, self.values, self.inputs, live=True, table_states=True)

    def _given(self, state: FloatArray) -> tuple[dict[Key, float], dict[Key, float]]:
        """Independent initial values, and dependent coordinates as a guess."""
        kin, phase = self.kin, self.answer.functions
        names = [label(kin.name(i)) for i in (*kin.q, *kin.x, *kin.u)]
        values = state[self.places]
        z = np.append(state, self.answer.point_values[0, 0, len(state) :])
        J = phase.constraint_values(z[None], self.answer.common, np.zeros(1))[1][0][:, self.places]
        positions, first = len(phase.equations.gamma), len(names) - kin.n_u
        dependent = _dependent(J[:positions, : kin.n_q], 0) | _dependent(
            J[positions:, first:], first
        )
        if kin.n_u != kin.n_q:
            # quaternions are normalized by the start itself
            dependent = {k for k in dependent if k >= first}
        given: dict[Key, float] = {
            n: float(x)
            for k, (n, x) in enumerate(zip(names, values, strict=True))
            if k not in dependent
        }
        return given, {names[k]: float(values[k]) for k in dependent if k < kin.n_q}

    def whole(self, *, rtol: float = _RTOL, audit: bool = True) -> Trajectory:
        """The whole motion from the first node, with the energy integral alongside."""
        given, guess = self._given(self.answer.node_states[0])
        options = RunOptions(
            start=given,
            guess=guess,
            values=self.values,
            inputs=self.inputs,
            rtol=rtol,
            atol=rtol,
            t0=self.answer.t0,
            progress=False,
        )
        watched = None
        if audit:
            try:
                watched = quadratures(self.kin)
            except DalembertError:
                watched = None
        return simulate_equations(
            self.kin, self.equations, self.answer.duration, options, watched, RunIntegrals
        )

    def restarted(self, *, rtol: float = _RTOL) -> tuple[FloatArray, Trajectory]:
        """The states at the ends of all intervals, each restarted from its node, and the motion
        with its jumps.
        """
        answer, chosen = self.answer, self.chosen
        given, guess = self._given(answer.node_states[0])
        t0, t1 = float(answer.times[0]), float(answer.times[-1])
        options = RunOptions(start=given, guess=guess, rtol=rtol, atol=rtol)
        model = native_model(chosen, self.equations)
        setup = prepare_run(chosen, model, options, t0).at_row_rank()
        start, context = setup.start, setup.context()
        problem = InitialValueProblem(
            rhs=context.rhs,
            project=context.project,
            accept=context.accept,
            context=context.address,
            y0=start.y,
            t0=t0,
            t1=t1,
            rtol=rtol,
            atol=rtol,
        )
        live, ends = CallbackInputs(chosen), list[FloatArray]()
        problem = live.wrap(problem)
        own = chosen.kin.layout.without_inputs
        set_inputs, nodes = problem.on_discontinuity, answer.node_states[:, self.places]

        def restart(t: float, y: FloatArray) -> None:
            # knots of recorded inputs lie between mesh points
            if abs(t - answer.times[len(ends) + 1]) <= _SAME_TIME * (t1 - t0):
                ends.append(y[own].copy())
                y[own] = nodes[len(ends)]
            if set_inputs is not None:
                set_inputs(t, y)

        solution = integrate(replace(problem, on_discontinuity=restart), None)
        motion = Trajectory(chosen, start, solution, t_end=t1, accelerations=setup.accelerations)
        ends.append(solution.y[-1][own])
        return np.array(ends), motion


def _dependent(J: FloatArray, first: int) -> set[int]:
    """Columns that independent rows determine."""
    if not J.size:
        return set()
    from scipy.linalg import qr

    _, R, pivots = qr(J, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int((diagonal > _DEPENDENT * diagonal[0]).sum())
    return {first + int(k) for k in pivots[:rank]}


def _equations(
    phase: PhaseFunctions,
) -> tuple[Kinematics, ExplicitEquations | SaddlePointEquations]:
    """The equations of the system in the speeds of its collocation."""
    kin = collocation_kinematics(phase.phase.system)
    if kin.fork().velocity_rows:
        return saddle_equations(kin)
    if not kin.u:
        return kin, ExplicitEquations(
            kin.system.name, kin.fork().tape, (), (), (), (), "rates of first-order states"
        )
    return kin, forward_dynamics_of(kin)
