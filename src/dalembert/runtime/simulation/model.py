"""(q̇, u̇) and δq as native code with one common list of parameters; with rows beside the equations (q̇, ż, λ)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import Numbers
from dalembert.foundation.caching import MadeOnce
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddleEquations, projection
from dalembert.runtime.numerics.compiled_function import CompiledFunction, jacobian
from dalembert.runtime.numerics.taylor_code import CompiledJets
from dalembert.runtime.numerics.taylor_recurrence import ImpliedRates
from dalembert.runtime.ode.constrained.block_layout import Entries
from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates, RatesKind
from dalembert.runtime.states.run_values import Values
from dalembert.symbolic.algebra.expression_graph import Rewrite, needed, symbols_of, transplant
from dalembert.symbolic.algebra.tape import LEAVES, Tape

# these jump or bend where an argument is zero; of these each side is smooth
BENDING: Final = frozenset({"sign", "abs", "atan2"})
_TWO_SIDED: Final = frozenset({"sign", "abs"})


@dataclass(frozen=True)
class NativeModel:
    """What the integrator calls, and the symbols that are its parameters."""

    rates: CompiledFunction | ConstrainedRates
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
    # what rates with rows beside the equations are made of
    entries: Entries | None = None
    # the equations that u̇ solves, where there are such
    implied: ImpliedRates | None = None

    @property
    def jets(self) -> CompiledJets:
        """The same rates with their Taylor coefficients, compiled only for runs by that method."""
        found = self._jets_or_reason
        if isinstance(found, NotApplicable):
            raise NotApplicable(str(found))
        return found

    @cached_property
    def _jets_or_reason(self) -> CompiledJets | NotApplicable:
        """That there are none takes as long to find out."""
        try:
            return CompiledJets(self.tape, self.nodes, self.state, self.parameters, implied=self.implied)
        except NotApplicable as reason:
            return reason

    @cached_property
    def operations(self) -> tuple[int, int]:
        """How many the rates take, and how many of them are sines and cosines."""
        nodes = self.tape.nodes
        found = [op for i in needed(self.tape, self.nodes) if (op := nodes[i][0]) not in LEAVES]
        return len(found), sum(op in ("sin", "cos") for op in found)

    @cached_property
    def bends(self) -> tuple[int, ...]:
        """What stands under sign, |·| and atan2 and contains the time."""
        return bends_of_time(self.tape, self.state[-1])

    @cached_property
    def switching(self) -> tuple[int, ...]:
        """What stands under sign and |·| in explicit rates and moves with the state."""
        tape, moving = self.tape, set(self.state[:-1])
        if not any(op in _TWO_SIDED for op, _, _ in tape.nodes):
            return ()
        arguments = dict.fromkeys(tape.nodes[i][1] for i in needed(tape, self.nodes) if tape.nodes[i][0] in _TWO_SIDED)
        return tuple(a for a in arguments if not moving.isdisjoint(symbols_of(tape, (a,))))

    @cached_property
    def jacobian(self) -> CompiledFunction:
        """∂(q̇, u̇)/∂(q, u, t), row by row, compiled only for runs of stiff systems."""
        return jacobian(self.tape, self.nodes, self.state, self.parameters)


def bends_of_time(tape: Tape, time: int) -> tuple[int, ...]:
    """The nodes under sign, |·| and atan2 that contain the time."""
    arguments = dict.fromkeys(a for op, a, _ in tape.nodes if op in BENDING)
    return tuple(a for a in arguments if time in symbols_of(tape, (a,)))


_NATIVE_MODELS: Final = MadeOnce[NativeModel]()


def native_model(setting: Values, equations: ExplicitEquations | SaddleEquations, stabilizer: float = 0.0) -> NativeModel:
    """Compile the equations as set; what was compiled for the same description and bindings is used again.

    A `stabilizer` α > 0 adds α δq to q̇, with δq the way back onto the holonomic rows.
    """
    kin = setting.kin
    key = (equations.route, setting.bound, stabilizer)

    def compiled() -> NativeModel:
        if isinstance(equations, SaddleEquations):
            return _constrained_model(setting, equations)
        return _explicit_model(setting, equations, stabilizer)

    return _NATIVE_MODELS(kin, key, compiled)


def _explicit_model(setting: Values, equations: ExplicitEquations, stabilizer: float) -> NativeModel:
    kin = setting.kin
    # on a tape of its own: what else was compiled with this setting must not show in the last bits
    tape = kin.tape.fork()
    insert = Rewrite(tape, setting.bindings)

    def here(source: Tape, nodes: Sequence[int]) -> list[int]:
        return [insert(i) for i in transplant(source, tape, nodes)]

    # what is held changes at its times alone
    still = [tape.zero] * len(kin.held)
    rates = [*here(equations.tape, equations.qdot), *here(kin.tape, kin.xdot), *still, *here(equations.tape, equations.udot)]
    back = projection(kin)
    steps = [] if back is None else here(back.tape, (*back.step, back.residual))
    if stabilizer and steps:
        alpha = tape.const(Fraction(stabilizer))
        rates[: kin.n_q] = [tape.add(rate, tape.mul(alpha, step)) for rate, step in zip(rates[: kin.n_q], steps[:-1], strict=True)]
    state = (*kin.state, kin.system.t.i)
    parameters = tuple(i for i in symbols_of(tape, (*rates, *steps)) if i not in state)
    compiled = CompiledFunction(tape, rates, state, parameters)
    back_native = CompiledFunction(tape, steps, state, parameters) if steps else None
    autonomous = state[-1] not in symbols_of(tape, rates)
    implied = None
    if equations.solved is not None:
        symbols, residuals = (here(equations.solved.tape, i) for i in (equations.solved.udot, equations.solved.residuals))
        if set(symbols_of(tape, residuals)) <= {*state, *parameters, *symbols}:
            implied = ImpliedRates(tuple(symbols), tuple(residuals), tuple(rates[-len(symbols) :]))
    return NativeModel(compiled, back_native, parameters, tape, tuple(rates), state, autonomous, tuple(steps), implied=implied)


def _constrained_model(setting: Values, equations: SaddleEquations) -> NativeModel:
    kin = setting.kin
    tape = kin.tape.fork()
    insert = Rewrite(tape, setting.bindings)
    source = equations.tape

    def here(nodes: Sequence[int]) -> tuple[int, ...]:
        return tuple(insert(i) for i in transplant(source, tape, nodes))

    def matrix(rows: Sequence[dict[int, int]]) -> tuple[dict[int, int], ...]:
        return tuple(dict(zip(row, here(list(row.values())), strict=True)) for row in rows)

    rows = equations.rows
    phi = [source.zero if x is None else x for x in equations.phi]
    single = (equations.qdot, equations.f, [r.gamma for r in rows], [r.e for r in rows], phi, equations.retraction)
    qdot, f, gamma, e, phi_here, moved = map(here, single)
    # first-order states stand beside the coordinates: nothing moves them onto rows
    xdot = (insert(i) for i in transplant(kin.tape, tape, kin.xdot))
    qdot, moved = (*qdot, *xdot, *(tape.zero for _ in kin.held)), (*moved, *kin.x, *kin.held)
    entries = Entries(qdot, matrix(equations.M), f, matrix([r.A for r in rows]), gamma, e, phi_here, moved)
    nodes = (*qdot, *f, *gamma, *e, *phi_here, *moved, *(i for row in (*entries.M, *entries.A) for i in row.values()))
    state = (*kin.state, kin.system.t.i)
    inside = symbols_of(tape, nodes)
    parameters = tuple(i for i in inside if i not in state)
    kind = RatesKind(equations.massless, equations.has_quaternions, not equations.linear_rows)
    rates = ConstrainedRates(tape, entries, state, parameters, kind)
    return NativeModel(rates, None, parameters, tape, (), state, state[-1] not in inside, entries=entries)


@dataclass(frozen=True)
class Accelerations:
    """u̇ of states in rows, each at its time."""

    rates: CompiledFunction | ConstrainedRates
    parameters: Numbers
    # the place of the first speed in the state
    first_speed: int
    # whether the ends of steps were projected
    projects: bool = False
    # the symbols of the parameters, where some of them change on the way
    symbols: tuple[int, ...] = ()

    def __call__(self, y: Numbers, t: Numbers, /, changed: Mapping[int, Numbers] | None = None) -> Numbers:
        """u̇ at (y, t), row by row, with y = (q, x, u); `changed` are parameters that differ from row to row."""
        p = self.parameters
        if changed:
            p = np.tile(p, (len(t), 1))
            for k, i in enumerate(self.symbols):
                if i in changed:
                    p[:, k] = changed[i]
        found: Numbers = self.rates.batch(np.column_stack([y, t]), p)[:, self.first_speed : y.shape[1]]
        return found

    def onto_rows(self, y: Numbers, t: Numbers, /) -> Numbers:
        """y = (q, x, u) in rows, as near as projections at the ends of steps would have brought them to the rows beside the equations."""
        states = np.column_stack([y, t])
        if not (self.projects and isinstance(self.rates, ConstrainedRates) and self.rates.layout.m):
            return states[:, :-1]
        return self.rates.onto_rows(states, self.parameters)

    def multipliers(self, y: Numbers, t: Numbers, /) -> Numbers:
        """λ at (y, t), row by row, of the rows that stand beside the equations; none where all were eliminated."""
        if not isinstance(self.rates, ConstrainedRates):
            return np.zeros((len(t), 0))
        return self.rates.least_multipliers(np.column_stack([y, t]), self.parameters)
