"""(q̇, u̇) and δq as native code with one common list of parameters; in augmented form (q̇, ż,
λ).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations, constraint_projection
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction, jacobian
from dalembert.runtime.ode.rates import ExplicitRates, Rates
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.expression_graph import (
    Substitution,
    copy_expressions,
    dependencies,
    functions_in,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import LEAVES, Tape

if TYPE_CHECKING:
    from dalembert.mechanics.equations.sparse_saddle_point import SaddleSolution
    from dalembert.runtime.numerics.taylor_code import CompiledTaylor
    from dalembert.runtime.numerics.taylor_recurrence import ImplicitRates
    from dalembert.runtime.ode.constrained.block_layout import Entries

# these have a discontinuity or a kink where an argument is zero; of these each side is smooth
NONSMOOTH: Final = frozenset({"sign", "abs", "atan2"})
_PIECEWISE: Final = frozenset({"sign", "abs"})


@dataclass(frozen=True)
class NativeModel:
    """What the integrator calls, and the symbols that are its parameters."""

    rates: Rates
    projection: CompiledFunction | None
    parameters: tuple[int, ...]
    # the same rates as expressions, for integrators that want them so
    tape: Tape
    nodes: tuple[int, ...]
    state: tuple[int, ...]
    # whether the rates do without the time
    autonomous: bool = False
    # δq and the largest residual as expressions, where there is a projection
    steps: tuple[int, ...] = ()
    # the entries of rates in augmented form
    entries: Entries | None = None
    # the equations that u̇ solves, where there are such
    implicit_rates: ImplicitRates | None = None
    # contact forces and pivots of their solution, which `rates` gives after the rates: quadratures
    # and guards depend on them
    forces: tuple[int, ...] = ()

    @cached_property
    def rates_alone(self) -> Rates:
        """The rates without forces."""
        if not self.forces:
            return self.rates
        return ExplicitRates(self.tape, self.nodes, self.state, self.parameters)

    @property
    def jets(self) -> CompiledTaylor:
        """The same rates with their Taylor coefficients, compiled only for runs by that method."""
        jets = self._jets_or_reason
        if isinstance(jets, NotApplicable):
            raise NotApplicable(str(jets))
        return jets

    @cached_property
    def _jets_or_reason(self) -> CompiledTaylor | NotApplicable:
        """That there are none takes as long to find out."""
        from dalembert.runtime.numerics.taylor_code import CompiledTaylor

        try:
            return CompiledTaylor(
                self.tape, self.nodes, self.state, self.parameters, implied=self.implicit_rates
            )
        except NotApplicable as reason:
            return reason

    @cached_property
    def operation_counts(self) -> tuple[int, int]:
        """How many the rates take, and how many of them are sines and cosines."""
        nodes = self.tape.nodes
        operations = [
            op for i in dependencies(self.tape, self.nodes) if (op := nodes[i][0]) not in LEAVES
        ]
        return len(operations), sum(op in ("sin", "cos") for op in operations)

    @cached_property
    def time_switches(self) -> tuple[int, ...]:
        """Arguments of sign, |·| and atan2 that contain the time."""
        return time_switches(self.tape, self.state[-1])

    @cached_property
    def knot_handles(self) -> tuple[int, ...]:
        """The symbols of the handles of tables in time."""
        return knot_handles(self.tape, self.state[-1])

    def discontinuities(self, p: FloatArray, t0: float, t1: float) -> tuple[float, ...]:
        """Where steps end because of a discontinuity or kink in time: branches and the knots of
        tables.
        """
        if not self.time_switches and not self.knot_handles:
            return ()
        from dalembert.runtime.simulation.discontinuity_times import discontinuity_times, knot_times

        numbers = dict(zip(self.parameters, p.tolist(), strict=True))
        jumps = discontinuity_times(self.tape, self.state[-1], numbers, t0, t1, self.time_switches)
        knots = knot_times([numbers[i] for i in self.knot_handles if i in numbers], t0, t1)
        return tuple(np.union1d(jumps, knots).tolist()) if len(knots) else jumps

    @cached_property
    def state_switches(self) -> tuple[int, ...]:
        """Arguments of sign and |·| in explicit rates that change with the state."""
        tape, moving = self.tape, set(self.state[:-1])
        if not any(op in _PIECEWISE for op, _, _ in tape.nodes):
            return ()
        arguments = dict.fromkeys(
            tape.nodes[i][1]
            for i in functions_in(tape, self.nodes)
            if tape.nodes[i][0] in _PIECEWISE
        )
        return tuple(a for a in arguments if not moving.isdisjoint(symbols_of(tape, (a,))))

    @cached_property
    def jumps_with_state(self) -> bool:
        """Whether the rates contain a sign that changes with the state."""
        tape, moving, entries = self.tape, set(self.state[:-1]), self.entries
        if not any(op == "sign" for op, _, _ in tape.nodes):
            return False
        nodes = self.nodes if entries is None else (*entries.f, *entries.gamma)
        signs = [tape.nodes[i][1] for i in dependencies(tape, nodes) if tape.nodes[i][0] == "sign"]
        return any(not moving.isdisjoint(symbols_of(tape, (a,))) for a in signs)

    @cached_property
    def jacobian(self) -> CompiledFunction:
        """∂(q̇, u̇)/∂(q, u, t), row by row, compiled only for runs of stiff systems."""
        return jacobian(self.tape, self.nodes, self.state, self.parameters)


def time_switches(tape: Tape, time: int) -> tuple[int, ...]:
    """The nodes under sign, |·| and atan2 that contain the time."""
    arguments = dict.fromkeys(a for op, a, _ in tape.nodes if op in NONSMOOTH)
    return tuple(a for a in arguments if time in symbols_of(tape, (a,)))


def knot_handles(tape: Tape, time: int) -> tuple[int, ...]:
    """The symbols that name the knots of tables in time."""
    return tuple(dict.fromkeys(b for op, a, b in tape.nodes if op == "interval" and a == time))


_NATIVE_MODELS: Final = PerOwnerCache[NativeModel]()


def native_model(
    setting: RunValues,
    equations: ExplicitEquations | SaddlePointEquations,
    baumgarte_alpha: float = 0.0,
) -> NativeModel:
    """Compile the equations as set; what was compiled for the same description and bindings is used
    again.

    A `stabilizer` α > 0 adds α δq to q̇, with δq the projection step onto the holonomic rows.
    """
    kin = setting.kin
    key = (equations.route, setting.binding_key, baumgarte_alpha)

    def compile_model() -> NativeModel:
        if isinstance(equations, SaddlePointEquations):
            return _constrained_model(setting, equations)
        return _explicit_model(setting, equations, baumgarte_alpha)

    return _NATIVE_MODELS(kin, key, compile_model)


def _explicit_model(
    setting: RunValues, equations: ExplicitEquations, stabilizer: float
) -> NativeModel:
    kin = setting.kin
    # on a tape of its own: what else was compiled with this setting must not show in the last bits
    tape = kin.tape.fork()
    insert = Substitution(tape, setting.bindings)

    def here(source: Tape, nodes: Sequence[int]) -> list[int]:
        return [insert(i) for i in copy_expressions(source, tape, nodes)]

    # what is held changes at its times alone
    still = [tape.zero] * len(kin.sampled_inputs)
    rates = [
        *here(equations.tape, equations.qdot),
        *here(kin.tape, kin.xdot),
        *still,
        *here(equations.tape, equations.udot),
    ]
    back = constraint_projection(kin)
    steps = [] if back is None else here(back.tape, (*back.step, back.residual))
    if stabilizer and steps:
        rates[: kin.n_q] = _with_feedback(tape, rates[: kin.n_q], steps[:-1], stabilizer)
    state = (*kin.state, kin.system.t.i)
    parameters = tuple(i for i in symbols_of(tape, (*rates, *steps)) if i not in state)
    compiled = ExplicitRates(tape, rates, state, parameters)
    back_native = CompiledFunction(tape, steps, state, parameters) if steps else None
    autonomous = state[-1] not in symbols_of(tape, rates)
    implied, source = None, equations.source
    if source is not None:
        symbols, residuals = (here(source.tape, i) for i in (source.udot, source.residuals))
        known = {*state, *parameters, *symbols}
        implied = _implicit_rates(tape, symbols, residuals, rates, known)
    return NativeModel(
        compiled,
        back_native,
        parameters,
        tape,
        tuple(rates),
        state,
        autonomous,
        tuple(steps),
        implicit_rates=implied,
    )


def _with_feedback(tape: Tape, qdot: Sequence[int], step: Sequence[int], gain: float) -> list[int]:
    """q̇ + α δq: Baumgarte's term."""
    alpha = tape.const(Fraction(gain))
    return [tape.add(v, tape.mul(alpha, dq)) for v, dq in zip(qdot, step, strict=True)]


def _implicit_rates(
    tape: Tape,
    symbols: Sequence[int],
    residuals: Sequence[int],
    rates: Sequence[int],
    known: set[int],
) -> ImplicitRates | None:
    """The equations that u̇ solves, unless they contain what a run does not know."""
    if not set(symbols_of(tape, residuals)) <= known:
        return None
    from dalembert.runtime.numerics.taylor_recurrence import ImplicitRates

    return ImplicitRates(tuple(symbols), tuple(residuals), tuple(rates[-len(symbols) :]))


def _constrained_model(setting: RunValues, equations: SaddlePointEquations) -> NativeModel:
    from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates, RatesKind

    kin = setting.kin
    tape = kin.tape.fork()
    insert = Substitution(tape, setting.bindings)
    entries = _saddle_entries(kin, equations, insert)
    nodes = (
        *entries.qdot,
        *entries.f,
        *entries.gamma,
        *entries.e,
        *entries.phi,
        *entries.retraction,
        *(i for row in (*entries.M, *entries.A) for i in row.values()),
    )
    state = (*kin.state, kin.system.t.i)
    inside = symbols_of(tape, nodes)
    parameters = tuple(i for i in inside if i not in state)
    kind = RatesKind(
        equations.has_singular_mass, equations.has_quaternions, not equations.has_linear_rows
    )
    solution = None if kind.massless else _saddle_solution(kin, equations, entries, insert)
    rates = ConstrainedRates(tape, entries, state, parameters, kind, solution)
    return NativeModel(
        rates, None, parameters, tape, (), state, state[-1] not in inside, entries=entries
    )


def _saddle_entries(
    kin: Kinematics, equations: SaddlePointEquations, insert: Substitution
) -> Entries:
    """The entries of the equations in augmented form, with prescribed motions and inputs."""
    from dalembert.runtime.ode.constrained.block_layout import Entries

    source, tape, rows = equations.tape, insert.tape, equations.rows

    def here(nodes: Sequence[int]) -> tuple[int, ...]:
        return tuple(insert(i) for i in copy_expressions(source, tape, nodes))

    def matrix(rows: Sequence[dict[int, int]]) -> tuple[dict[int, int], ...]:
        # all entries at once: a row by itself would visit again what it shares with the others
        nodes = iter(here([i for row in rows for i in row.values()]))
        return tuple({k: next(nodes) for k in row} for row in rows)

    phi = [source.zero if x is None else x for x in equations.phi]
    single = (
        equations.qdot,
        equations.f,
        [row.gamma for row in rows],
        [row.e for row in rows],
        phi,
        equations.retraction,
    )
    qdot, f, gamma, e, phi_here, moved = map(here, single)
    # first-order states are appended to the coordinates: no row restrains them
    xdot = (insert(i) for i in copy_expressions(kin.tape, tape, kin.xdot))
    qdot = (*qdot, *xdot, *(tape.zero for _ in kin.sampled_inputs))
    moved = (*moved, *kin.x, *kin.sampled_inputs)
    M, A = matrix(equations.M), matrix([row.A for row in rows])
    return Entries(qdot, M, f, A, gamma, e, phi_here, moved)


def _saddle_solution(
    kin: Kinematics, equations: SaddlePointEquations, entries: Entries, insert: Substitution
) -> SaddleSolution | None:
    """ż and λ in closed form by the zeros of M and A, or else along the spanning tree; None where
    both take too many operations.
    """
    from dalembert.mechanics.equations.sparse_saddle_point import (
        SaddleSolution,
        factor_saddle_point,
    )

    saddle = factor_saddle_point(insert.tape, entries.M, entries.A)
    if saddle is not None:
        return saddle.solve_all(entries.f, entries.gamma, entries.phi, entries.e)
    from dalembert.mechanics.equations.tree_factor import tree_solution

    found = tree_solution(kin, equations)
    if found is None:
        return None
    source, groups = found
    return SaddleSolution(
        *(tuple(map(insert, copy_expressions(source, insert.tape, nodes))) for nodes in groups)
    )


@dataclass(frozen=True)
class Accelerations:
    """u̇ of states in rows, each at its time."""

    rates: Rates
    parameters: FloatArray
    # the place of the first speed in the state
    first_speed: int
    # whether the ends of steps were projected
    projects: bool = False
    # the symbols of the parameters, where some of them change on the way
    symbols: tuple[int, ...] = ()
    # contact forces, which the rates give after the speeds
    forces: tuple[int, ...] = ()

    def __call__(
        self, y: FloatArray, t: FloatArray, /, changed: Mapping[int, FloatArray] | None = None
    ) -> FloatArray:
        """u̇ at (y, t), row by row, with y = (q, x, u); `changed` are parameters that differ
        from row to row.
        """
        return self._outputs(y, t, changed or {})[:, self.first_speed : y.shape[1]]

    def contact_forces(
        self, y: FloatArray, t: FloatArray, /, changed: Mapping[int, FloatArray]
    ) -> FloatArray:
        """The forces of `forces` at (y, t), row by row."""
        return self._outputs(y, t, changed)[:, y.shape[1] :]

    def _outputs(
        self, y: FloatArray, t: FloatArray, changed: Mapping[int, FloatArray]
    ) -> FloatArray:
        p = self.parameters
        if changed:
            p = np.tile(p, (len(t), 1))
            for k, i in enumerate(self.symbols):
                if i in changed:
                    p[:, k] = changed[i]
        rates = self.rates
        evaluate = rates.at_states if isinstance(rates, CompiledFunction) else rates.batch
        outputs: FloatArray = evaluate(np.column_stack([y, t]), p)
        return outputs

    def project(self, y: FloatArray, t: FloatArray, /) -> FloatArray:
        """y = (q, x, u) in rows, projected onto the rows in augmented form as at the ends of
        steps.
        """
        states = np.column_stack([y, t])
        return (
            self.rates.project_states(states, self.parameters) if self.projects else states[:, :-1]
        )

    def multipliers(self, y: FloatArray, t: FloatArray, /) -> FloatArray:
        """λ at (y, t), row by row, of the rows in augmented form; none where all were
        eliminated.
        """
        return self.rates.minimum_norm_multipliers(np.column_stack([y, t]), self.parameters)
