"""The contacts of one run as machine code: rates for all modes, the projection onto the active
rows, and the guards of mode changes.
Keywords: contact mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import constraint_projection
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.elements import UnilateralContact
from dalembert.runtime.contact.active_rows import RowLoops
from dalembert.runtime.contact.contact_equations import (
    ContactEquations,
    Guard,
    contact_equations,
    guards,
    normal_force,
    projection_step,
)
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import BadValue
from dalembert.runtime.ode.rates import ExplicitRates
from dalembert.runtime.simulation.model import NativeModel
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.run_values import RunValues, parameter_vector
from dalembert.symbolic.algebra.expression_graph import (
    Substitution,
    copy_expressions,
    dependencies,
    symbols_of,
)
from dalembert.symbolic.algebra.sparse_matrix import Column
from dalembert.symbolic.algebra.tape import LEAVES, Tape

_ROUNDING: Final = 1e-12
# operations that take no longer than handing their results from one function to another
_FEW_OPERATIONS: Final = 32
_EQUATIONS: Final = PerOwnerCache[ContactEquations]()
_MODELS: Final = PerOwnerCache["CompiledContacts"]()


class ContactQuantities(NamedTuple):
    """At one state: a = A λ + b, u̇ = c + H λ, the velocities v of the rows, and for each
    contact its gap, μ, μ_s and given normal force.
    """

    A: FloatArray
    b: FloatArray
    H: FloatArray
    v: FloatArray
    gap: list[float]
    mu: list[float]
    mu_static: list[float]
    normal: list[float]
    # what the forces λ add to a normal force that is the force of a row
    normal_force_jacobian: FloatArray


class ModeFunction(NamedTuple):
    """A native function of q, u and t in every mode, and the symbols of its parameters."""

    function: CompiledFunction
    parameters: tuple[int, ...]

    @classmethod
    def of(cls, tape: Tape, nodes: Sequence[int], inputs: tuple[int, ...]) -> ModeFunction:
        """Expressions on a tape, compiled; forces that are arguments follow the time."""
        parameters = tuple(i for i in symbols_of(tape, nodes) if i not in inputs)
        return cls(CompiledFunction(tape, nodes, inputs, parameters), parameters)


@dataclass(frozen=True)
class CompiledContacts:
    """Machine code that is the same for every run with the same bindings."""

    native: NativeModel
    quantities: ModeFunction
    # the monitors as functions of the forces of `native`, and those without forces
    guards_of_forces: ModeFunction
    free: ModeFunction
    watched: list[Guard]
    # the monitors with their forces as expressions
    monitors: tuple[int, ...]

    @cached_property
    def guards(self) -> ModeFunction:
        """The monitors as functions of the state alone."""
        if not self.native.forces:
            return self.guards_of_forces
        return ModeFunction.of(self.native.tape, self.monitors, self.native.state)


@dataclass(frozen=True)
class ContactModel:
    """The contacts of a run with its values: λ bound to what the modes make of it."""

    equations: ContactEquations
    values: RunValues
    compiled: CompiledContacts
    p: FloatArray
    # symbols of each contact that a run sets
    mode_symbols: tuple[int, ...]

    @property
    def contacts(self) -> Sequence[UnilateralContact]:
        """As they were declared."""
        return self.equations.contacts

    @property
    def guards(self) -> list[Guard]:
        """The guards, in the order of the compiled function."""
        return self.compiled.watched

    def check_coefficients(self, q: ContactQuantities) -> None:
        """0 ≤ μ ≤ μ_s, for the values of this run."""
        for c, mu, mu_static in zip(self.contacts, q.mu, q.mu_static, strict=True):
            if mu < 0.0:
                msg = (
                    f"{c.name!r}: friction = {mu:g} for the values of this run; a coefficient "
                    f"of "
                    f"friction is not negative"
                )
                raise BadValue(msg)
            if mu_static < mu * (1.0 - _ROUNDING):
                msg = (
                    f"{c.name!r}: static = {mu_static:g} is less than friction = {mu:g} for the "
                    f"values of this run; raise it to that"
                )
                raise BadValue(msg)

    def quantity_nodes(self, evaluator: Evaluator) -> list[int]:
        """The quantities as expressions on the tape of an evaluator."""
        nodes = copy_expressions(self.equations.tape, evaluator.tape, _quantities(self.equations))
        return [evaluator.in_state(i) for i in nodes]

    def quantities(self, y: FloatArray, t: float) -> ContactQuantities:
        """What a change of mode is decided by, at the state y = (q, u)."""
        return self.unpack(self.quantity_values(y, t))

    def quantity_values(self, y: FloatArray, t: float) -> FloatArray:
        """The same in one array."""
        x = np.empty(len(y) + 1)
        x[:-1], x[-1] = y, t
        return np.asarray(self.compiled.quantities.function.call(x, self.p))

    def unpack(self, outputs: FloatArray) -> ContactQuantities:
        """The quantities, or their derivatives, from one array."""
        m, n_u, k = len(self.equations.rows), self.values.kin.n_u, len(self.contacts)
        b, H = m * m, m * m + m
        v = H + n_u * m
        gap, pressed = v + m, v + m + 4 * k
        gaps, mu, mu_static, normal = outputs[gap:pressed].reshape(4, k).tolist()
        return ContactQuantities(
            outputs[:b].reshape(m, m),
            outputs[b:H],
            outputs[H:v].reshape(n_u, m),
            outputs[v:gap],
            gaps,
            mu,
            mu_static,
            normal,
            outputs[pressed:].reshape(k, m),
        )


def contact_model(
    chosen: RunValues, equations: ExplicitEquations, *, as_expressions: bool = False
) -> ContactModel:
    """The contacts with the values of a run; `as_expressions` for λ that can be differentiated."""
    kin = chosen.kin
    e = _EQUATIONS(kin, equations.route, lambda: contact_equations(kin, equations))
    if unrolls := as_expressions and e.loops is not None:
        e = _EQUATIONS(
            kin,
            (equations.route, "unrolled"),
            lambda: contact_equations(kin, equations, as_expressions=True),
        )
    own = tuple(
        (i, kin.tape.nodes[i])
        for i in dependencies(kin.tape, chosen.bindings.values())
        if i >= kin.base_tape_length
    )
    key = (equations.route, unrolls, tuple(chosen.bindings.items()), own)
    compiled = _MODELS(kin, key, lambda: _compile_contacts(chosen, e))
    insert = Substitution(kin.tape, chosen.bindings)
    lam = {
        row.lam: insert(x)
        for row, x in zip(e.rows, copy_expressions(e.tape, kin.tape, e.lam), strict=True)
    }
    if e.permanent is not None:
        solved = Substitution(kin.tape, chosen.bindings | lam)
        here = copy_expressions(e.tape, kin.tape, e.permanent.multipliers)
        lam |= dict(zip(kin.multipliers, map(solved, here), strict=True))
    if e.loops is not None:
        # symbols whose values a run finds
        lam = {row.lam: row.lam for row in e.rows}
    own_flags = (x.i for c in e.contacts for x in (*c.mode_symbols, *c.plane_symbols))
    flags = dict.fromkeys(own_flags, 0.0)
    values = replace(
        chosen,
        numbers=chosen.numbers | flags,
        bindings=chosen.bindings | lam,
        state_dependent=frozenset(lam),
    )
    return ContactModel(
        e,
        values,
        compiled,
        np.array(parameter_vector(values, compiled.quantities.parameters), dtype=float),
        tuple(flags),
    )


def _compile_contacts(chosen: RunValues, e: ContactEquations) -> CompiledContacts:
    if e.loops is not None:
        return _compile_loops(chosen, e)
    kin, here = chosen.kin, _RunTape(chosen, e.tape)
    tape, state = here.tape, (*kin.state, kin.system.t.i)
    rates, correction = _rates(chosen.kin, e, here), _correction(chosen.kin, e, here)
    watched, lam = guards(e), [row.lam for row in e.rows]
    monitors, forces = here([m.node for m in watched]), here(e.lam)
    pivots = [i for i, m in zip(monitors, watched, strict=True) if m.kind == "jam"]
    # forces of few operations are computed again where they are needed
    hands_over = _count_operations(tape, (*forces, *pivots)) > _FEW_OPERATIONS
    as_symbols = {i: tape.symbol(f"pivot {k}") for k, i in enumerate(pivots) if hands_over}
    solved = (*forces, *as_symbols) if hands_over else ()
    native = _native_model(tape, state, rates, correction, solved)
    with_all = Substitution(tape, dict(zip(lam, forces, strict=True)))
    monitors_of_state = tuple(map(with_all, monitors))
    of_forces, inputs = monitors_of_state, state
    if hands_over:
        of_forces = tuple(map(Substitution(tape, as_symbols), monitors))
        inputs = (*state, *lam, *as_symbols.values())
    return CompiledContacts(
        native,
        ModeFunction.of(tape, here(_quantities(e)), state),
        ModeFunction.of(tape, of_forces, inputs),
        ModeFunction.of(tape, here([m.free for m in watched if m.free is not None]), state),
        watched,
        monitors_of_state,
    )


class _RunTape:
    """Expressions copied to a tape of their own, with the values of a run inserted."""

    def __init__(self, chosen: RunValues, source: Tape) -> None:
        self.tape, self._source = chosen.kin.tape.fork(), source
        self._insert = Substitution(self.tape, chosen.bindings)

    def __call__(self, nodes: Sequence[int], source: Tape | None = None) -> list[int]:
        source = self._source if source is None else source
        return [self._insert(i) for i in copy_expressions(source, self.tape, nodes)]


def _rates(kin: Kinematics, e: ContactEquations, here: _RunTape) -> list[int]:
    """q̇, what stands between, and u̇ with the forces inserted."""
    with_forces = Substitution(
        here.tape, dict(zip((row.lam for row in e.rows), here(e.lam), strict=True))
    )
    explicit = e.explicit_equations("")
    qdot, udot = here(explicit.qdot), here(explicit.udot)
    between = [*here(kin.xdot, kin.tape), *[here.tape.zero] * len(kin.sampled_inputs)]
    return [with_forces(i) for i in (*qdot, *between, *udot)]


def _correction(kin: Kinematics, e: ContactEquations, here: _RunTape) -> list[int]:
    """The step onto active rows and constraint rows, in the order of the state; its residual."""
    back = projection_step(e)
    dq, du = Column(here.tape, here((*back.dq, back.residual))), here(back.du)
    rows = None if e.permanent is not None else constraint_projection(kin)
    if rows is not None:
        dq += Column(here.tape, here((*rows.step, rows.residual), rows.tape))
    still = [here.tape.zero] * (len(kin.xdot) + len(kin.sampled_inputs))
    return [*dq.nodes[:-1], *still, *du, dq.nodes[-1]]


def _native_model(
    tape: Tape,
    state: tuple[int, ...],
    rates: list[int],
    correction: list[int],
    solved: tuple[int, ...],
) -> NativeModel:
    """Rates, followed by the forces and pivots that are handed over, and the correction."""
    parameters = tuple(
        i for i in symbols_of(tape, (*rates, *correction, *solved)) if i not in state
    )
    return NativeModel(
        ExplicitRates(tape, (*rates, *solved), state, parameters),
        CompiledFunction(tape, correction, state, parameters),
        parameters,
        tape,
        tuple(rates),
        state,
        state[-1] not in symbols_of(tape, rates),
        tuple(correction),
        forces=solved,
    )


def _count_operations(tape: Tape, nodes: Sequence[int]) -> int:
    return sum(tape.nodes[i][0] not in LEAVES for i in dependencies(tape, nodes))


def _compile_loops(chosen: RunValues, e: ContactEquations) -> CompiledContacts:
    """The same where K λ = r is solved by loops: guards are functions of its forces and pivots."""
    assert e.loops is not None
    kin, here = chosen.kin, _RunTape(chosen, e.tape)
    tape = here.tape
    rows, still = constraint_projection(kin), [tape.zero] * len(kin.sampled_inputs)
    back = [] if rows is None else here((*rows.step, rows.residual), rows.tape)
    loops = RowLoops(e, e.loops, tape, here)
    native = loops.native_model([*here(kin.xdot, kin.tape), *still], back)
    watched, monitors = guards(e), here([m.node for m in guards(e)])
    return CompiledContacts(
        native,
        ModeFunction(*loops.quantities(_contact_data(e))),
        ModeFunction.of(tape, monitors, (*native.state, *native.forces)),
        ModeFunction.of(tape, here([m.free for m in watched if m.free is not None]), native.state),
        watched,
        tuple(monitors),
    )


def _quantities(e: ContactEquations) -> list[int]:
    """In the order of `ContactQuantities`."""
    t, m = e.tape, len(e.rows)
    H = [h.get(k, t.zero) for h in e.H for k in range(m)]
    data = _contact_data(e)
    pressed = [t.zero] * (m * len(e.contacts))
    for k, force in e.joint_normal_forces.items():
        for j, x in force.coefficients.items():
            pressed[k * m + j] = x
    matrix = (a for row in e.A for a in row)
    return [*matrix, *e.b, *H, *(row.v for row in e.rows), *data, *pressed]


def _contact_data(e: ContactEquations) -> list[int]:
    """Gap, μ, μ_s and the given normal force of all contacts."""
    t = e.tape
    gaps = [t.one if c.gap is None else c.gap.i for c in e.contacts]
    mu, mu_static = (
        [t.zero if x is None else e.kin.in_speeds(x.i) for x in xs]
        for xs in zip(*((c.friction, c.static) for c in e.contacts), strict=True)
    )
    normal = [t.zero if c.normal is None else normal_force(e.kin, c) for c in e.contacts]
    for k, force in e.joint_normal_forces.items():
        normal[k] = force.free
    return [*gaps, *mu, *mu_static, *normal]
