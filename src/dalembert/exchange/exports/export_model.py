"""What is exported of a system: rates, M and f, rows, projection, energies, outputs and slopes,
gathered on one tape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from dalembert.errors import NotLinear
from dalembert.exchange.exports.composite_rigid_body import tree_equations
from dalembert.exchange.exports.constrained_dynamics import solve_constrained
from dalembert.exchange.exports.exported_model import (
    GUARDS,
    POSITION_STEP,
    SPEED_STEP,
    ExportedFunction,
    ExportedModel,
    Result,
    SwitchedPart,
    Variable,
)
from dalembert.exchange.exports.switched_model import (
    SwitchedCollector,
    bound_forces,
    contact_steps,
    exported_contacts,
    has_modes,
    with_branches,
)
from dalembert.exchange.exports.table_data import number_tables
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.saddle_point import ProjectionStep, constraint_projection
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import (
    Kinematics,
    kinematics,
    unreduced_kinematics,
)
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.kane import kane
from dalembert.runtime.contact.contact_model import ContactModel
from dalembert.runtime.dynamics.compile import forward_dynamics, saddle_equations
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.simulation.energy_and_residuals import energy_nodes
from dalembert.runtime.simulation.events.event import Event
from dalembert.runtime.states.evaluator import Evaluator, Key, label
from dalembert.runtime.states.initial_conditions import InitialState, solve_initial_conditions
from dalembert.runtime.states.run_values import RunValues, run_values
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    copy_expressions,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import Tape

# Newton steps on rows that are not linear in the speeds
_NONLINEAR_ITERATIONS = 4


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """What is wanted besides the equations: numbers, bindings, a start, outputs, slopes."""

    values: Mapping[Any, Any]
    inputs: Mapping[Any, Any]
    start: Mapping[Any, Any]
    outputs: Sequence[Key] = ()
    linear: bool = False
    events: Sequence[Event] = ()
    # whether the format changes modes: those of contacts, sides of branches, events
    switches: bool = False


def exported_model(system: System, wanted: ExportRequest) -> ExportedModel:
    """The system as functions of t, x = (q, u), inputs w and constants p."""
    return _ModelCollector(system, wanted).model()


class _ModelCollector:
    """Everything on one tape, prescribed motions and inputs replaced by what they are bound to."""

    def __init__(self, system: System, request: ExportRequest) -> None:
        kin = kinematics(system)
        # all rates in the state where a choice of independent speeds can become singular, as in a
        # run
        modes = request.switches and has_modes(system, list(map(str, request.inputs)))
        self.saddle = not modes and _needs_dependent_rates(system, kin)
        self.original_kinematics = kin
        kin = unreduced_kinematics(kin) if self.saddle and system.constraints else kin
        self.values: RunValues = run_values(kin, request.values, request.inputs)
        self.kin, self.wanted, self.system = self.values.kin, request, system
        self.contacts: ContactModel | None = None
        if modes:
            self.contacts = exported_contacts(system, self.values)
            self.values = bound_forces(self.contacts, self.values)
        # a setting has a tape of its own
        self.tape: Tape = self.kin.tape
        numbered, self.tables = number_tables(self.values)
        self.bindings = numbered.bindings
        self._insert = Substitution(self.tape, self.bindings) if self.bindings else None

    def transplant_nodes(self, source: Tape, nodes: Sequence[int]) -> tuple[int, ...]:
        """Nodes of another tape of the system on this one."""
        nodes_here = nodes if source is self.tape else copy_expressions(source, self.tape, nodes)
        return tuple(nodes_here) if self._insert is None else tuple(map(self._insert, nodes_here))

    # ---- the functions -----------------------------------------------------------------------

    def _saddle_dynamics(
        self,
    ) -> tuple[tuple[int, ...], tuple[int, ...], str, tuple[ExportedFunction, ...]]:
        """The same with all rates in the state."""
        _, equations = saddle_equations(
            unreduced_kinematics(self.original_kinematics)
            if self.system.constraints
            else self.original_kinematics
        )
        constrained = solve_constrained(equations)
        steps = self._projection_steps(
            constrained.tape, constrained.projected_q, constrained.residual, constrained.z
        )
        qdot = self.transplant_nodes(equations.tape, equations.qdot)
        zdot = self.transplant_nodes(constrained.tape, constrained.zdot)
        route = "M and A by their factors, all rates in the state"
        return (*qdot, *self._state_rates), zdot, route, steps

    @cached_property
    def dynamics(
        self,
    ) -> tuple[tuple[int, ...], tuple[int, ...], str, tuple[ExportedFunction, ...]]:
        """q̇, u̇, the route they came by, and the steps back onto the rows."""
        if self.saddle:
            return self._saddle_dynamics()
        explicit = (
            forward_dynamics(self.system)
            if self.contacts is None
            else self.contacts.equations.explicit_equations("independent speeds")
        )
        back = constraint_projection(self.kin)
        steps: tuple[ExportedFunction, ...] = ()
        if self.contacts is not None:
            steps = self._contact_projection(back)
        elif back is not None:
            moved = [back.tape.add(q, d) for q, d in zip(self.kin.q, back.step, strict=True)]
            steps = self._projection_steps(back.tape, moved, back.residual, ())
        qdot, udot = (
            self.transplant_nodes(explicit.tape, explicit.qdot),
            self.transplant_nodes(explicit.tape, explicit.udot),
        )
        return (*qdot, *self._state_rates), udot, explicit.route, steps

    def _contact_projection(self, back: ProjectionStep | None) -> tuple[ExportedFunction, ...]:
        """Onto the constraints, closed gaps and rows of contacts that hold."""
        assert self.contacts is not None
        e = self.contacts.equations
        t, (moved, residual, speeds) = e.tape, contact_steps(e)
        if back is not None:
            *step, left = copy_expressions(back.tape, t, (*back.step, back.residual))
            moved = [t.add(q, d) for q, d in zip(moved, step, strict=True)]
            residual = t.add(residual, left)
        return self._projection_steps(t, moved, residual, speeds)

    @property
    def _state_rates(self) -> tuple[int, ...]:
        """The rates of first-order states, which stand behind the coordinates."""
        return self.transplant_nodes(self.kin.tape, self.kin.xdot)

    def _projection_steps(
        self, tape: Tape, moved: Sequence[int], residual: int, speeds: Sequence[int]
    ) -> tuple[ExportedFunction, ...]:
        functions = []
        if residual != tape.zero or tuple(moved) != self.kin.q:
            q, (r,) = (
                (*self.transplant_nodes(tape, moved), *self.kin.x),
                self.transplant_nodes(tape, (residual,)),
            )
            says = (
                "one Newton step onto the position constraints, and their largest residual "
                "before it"
            )
            functions.append(
                ExportedFunction(
                    POSITION_STEP,
                    says,
                    (Result("q_new", q, (len(q),)), Result("residual", (r,), ())),
                )
            )
        if tuple(speeds) not in ((), self.kin.u):
            u = self.transplant_nodes(tape, speeds)
            functions.append(
                ExportedFunction(
                    SPEED_STEP,
                    "speeds projected onto the constraint rows",
                    (Result("u_new", u, (len(u),)),),
                )
            )
        return tuple(functions)

    def _rates(self) -> ExportedFunction:
        qdot, udot, _, _ = self.dynamics
        return ExportedFunction(
            "rates", "dx/dt = (q', u')", (Result("dx", (*qdot, *udot), (len(qdot) + len(udot),)),)
        )

    def _mass_and_forcing(self) -> list[ExportedFunction]:
        """M u̇ = f of independent speeds; with all rates M ż = f + Aᵀλ."""
        n, mass_and_forcing = self.kin.n_u, None if self.saddle else tree_equations(self.kin)
        tape = self.tape
        if mass_and_forcing is None:
            equations = kane(self.kin).equations
            tape = equations.tape
            mass_and_forcing = (
                [row.get(s, tape.zero) for row in equations.mass_nodes for s in range(n)],
                equations.forcing_nodes,
            )
        M, f = (
            self.transplant_nodes(tape, mass_and_forcing[0]),
            self.transplant_nodes(tape, mass_and_forcing[1]),
        )
        what = (
            "M u' = f + A^T lambda, rows A by `constraints`"
            if self.saddle and self.system.constraints
            else "M u' = f"
        )
        return [
            ExportedFunction("mass_matrix", f"M of {what}", (Result("M", M, (n, n)),)),
            ExportedFunction("forcing", f"f of {what}", (Result("f", f, (n,)),)),
        ]

    def _constraints(self) -> list[ExportedFunction]:
        """φ, e = A q̇ + b and A = ∂e/∂q̇ of every row."""
        kin, qdot = self.kin, dict(zip(self.kin.qdot, self.dynamics[0], strict=False))
        rows = [*kin.linear_rows, *kin.nonlinear]
        if not rows:
            return []
        t = kin.tape
        in_rates = Substitution(self.tape, qdot)
        phi = position_residuals(t, rows)
        e = [kin.row_in_rates(r) if r.nonlinear is None else r.nonlinear for r in rows]
        A = [r.A.get(k, t.zero) for r in rows for k in range(kin.n_q)]
        entries = [in_rates(i) for i in self.transplant_nodes(t, (*phi, *e, *A))]
        ends = len(phi), len(phi) + len(e)
        results = (
            Result("phi", tuple(entries[: ends[0]]), (len(phi),)),
            Result("e", tuple(entries[ends[0] : ends[1]]), (len(e),)),
            Result("A", tuple(entries[ends[1] :]), (len(e), kin.n_q)),
        )
        says = (
            "phi(q, t) = 0 of the position constraints, e = A q' + b = 0 of all constraint rows, "
            "A = de/dq'"
        )
        return [ExportedFunction("constraints", says, tuple(r for r in results if r.nodes))]

    def _energies(self) -> ExportedFunction:
        nodes = energy_nodes(self.kin)
        T, V = self.transplant_nodes(self.kin.tape, nodes)
        return ExportedFunction(
            "energies",
            "kinetic and potential energy",
            (Result("T", (T,), ()), Result("V", (V,), ())),
        )

    def _outputs(self) -> list[ExportedFunction]:
        if not self.wanted.outputs:
            return []
        kin, evaluator = self.kin, self._evaluator()
        reduced = [evaluator.in_state(evaluator.node(key)) for key in self.wanted.outputs]
        accelerations = Substitution(self.tape, dict(zip(kin.udot, self.dynamics[1], strict=True)))
        y = tuple(accelerations(i) for i in self.transplant_nodes(evaluator.tape, reduced))
        return [ExportedFunction("outputs", "y, the chosen outputs", (Result("y", y, (len(y),)),))]

    def _linearization(self, inputs: Sequence[Variable]) -> list[ExportedFunction]:
        """A = ∂ẋ/∂x and B = ∂ẋ/∂w at any state."""
        if not self.wanted.linear:
            return []
        qdot, udot, _, _ = self.dynamics
        rates, t = (*qdot, *udot), self.tape

        def slopes(wrt: Sequence[int]) -> tuple[int, ...]:
            columns = []
            for x in wrt:
                along = Derivative(t, {x: t.one}.get)
                columns.append([along(e) for e in rates])
            return tuple(column[k] for k in range(len(rates)) for column in columns)

        states, driven = self.kin.state, [w.node for w in inputs]
        A = Result("A", slopes(states), (len(rates), len(states)))
        B = Result("B", slopes(driven), (len(rates), len(driven)))
        return [
            ExportedFunction(
                "linear",
                "A = d(dx/dt)/dx and B = d(dx/dt)/dw at this state",
                (A, B) if driven else (A,),
            )
        ]

    # ---- the whole ---------------------------------------------------------------------------

    def _functions(self, switched: SwitchedCollector | None) -> list[ExportedFunction]:
        """All but the linear model and the steps back onto the rows."""
        return [
            self._rates(),
            *self._mass_and_forcing(),
            *self._constraints(),
            self._energies(),
            *self._outputs(),
            *(switched.functions(self.transplant_nodes) if switched else ()),
        ]

    def _output_variables(self) -> tuple[Variable, ...]:
        return tuple(
            Variable(-1, str(key) if isinstance(key, str) else label(str(key)))
            for key in self.wanted.outputs
        )

    def _speed_iterations(self) -> int:
        """How often the step back onto the velocity rows is repeated."""
        if not self.kin.velocity_rows:
            return int(self.contacts is not None)
        return _NONLINEAR_ITERATIONS if self.kin.nonlinear else 1

    def _with_branches(
        self,
        switched: SwitchedCollector,
        functions: list[ExportedFunction],
        inputs: Sequence[Variable],
    ) -> tuple[list[ExportedFunction], SwitchedPart | None]:
        """The functions with their branches, and what changes modes, if anything can."""
        varying = (*self.kin.state, self.system.t.i, *(w.node for w in inputs))
        functions, branches = with_branches(
            self.tape, functions, varying, self._friction_coefficients()
        )
        if any(f.nodes for f in functions if f.name == GUARDS):
            return functions, switched.part(branches)
        return [f for f in functions if f.name != GUARDS], None

    def model(self) -> ExportedModel:
        kin, switched = self.kin, self._switched()
        _, _, route, steps = self.dynamics
        functions = [*self._functions(switched), *steps]
        inside = symbols_of(self.tape, [i for f in functions for i in f.nodes])
        constants = {s.scalar.i for s in self.system.symbols.values() if s.kind == "constant"}
        start, notes = self._initial_state()
        inputs = [self._variable(i) for i in self._input_symbols(inside)]
        functions[-len(steps) or len(functions) :] = [*self._linearization(inputs), *steps]
        part = None
        if switched is not None:
            functions, part = self._with_branches(switched, functions, inputs)
        values = {} if start is None else dict(zip(kin.state, start.y.tolist(), strict=True))
        return ExportedModel(
            title=self.system.name,
            source=self.system.source,
            tape=self.tape,
            time=self.system.t.i,
            q=tuple(self._variable(i, values.get(i)) for i in (*kin.q, *kin.x)),
            u=tuple(self._variable(i, values.get(i)) for i in kin.u),
            inputs=tuple(inputs),
            parameters=tuple(self._variable(i) for i in inside if i in constants),
            functions=tuple(functions),
            route=route,
            rows=tuple(r.name for r in (*kin.linear_rows, *kin.nonlinear)),
            outputs=self._output_variables(),
            speed_iterations=self._speed_iterations(),
            notes=notes,
            tables=self.tables,
            switching=part,
        )

    def _switched(self) -> SwitchedCollector | None:
        """What changes modes, in formats that do."""
        if not self.wanted.switches:
            return None
        return SwitchedCollector(self.contacts, self._evaluator(), self.wanted.events)

    def _evaluator(self) -> Evaluator:
        """Expressions in the state, whatever the constants are."""
        tape = self.kin.tape
        numbers = dict.fromkeys(symbols_of(tape, range(len(tape.nodes))), 0.0)
        return Evaluator(self.kin, numbers, self.bindings)

    def _friction_coefficients(self) -> tuple[int, ...]:
        coefficients = (
            x for c in self.system.contacts for x in (c.friction, c.static) if x is not None
        )
        nodes = [self.kin.in_speeds(x.i) for x in coefficients]
        return self.transplant_nodes(self.kin.tape, nodes)

    @cached_property
    def _units(self) -> dict[int, str]:
        return _infer_units(self.kin)

    def _variable(self, i: int, value: float | None = None) -> Variable:
        number = self.values.numbers.get(i) if value is None else value
        return Variable(i, label(self.kin.name(i)), number, self._units.get(i, ""))

    def _input_symbols(self, inside: Sequence[int]) -> list[int]:
        """Declared inputs, and the prescribed motions left unbound with those of their rates that
        occur.
        """
        symbols: list[int] = []
        for s in self.system.symbols.values():
            # a declared motion that was given a number instead is an input too
            given = s.kind in ("input", "specified") and s.driver is None
            if not given or s.scalar.i in self.values.bindings:
                continue
            x: int | None = s.scalar.i
            while x is not None:
                if (x == s.scalar.i and s.kind == "input") or x in inside:
                    symbols.append(x)
                x = self.tape.rates.get(x)
        return symbols

    def _initial_state(self) -> tuple[InitialState | None, tuple[str, ...]]:
        """The initial state of a run; None, with the reason, where none is given and zero is not
        admissible.
        """
        chosen = self.values
        held = {
            i: 0.0
            for i in self._input_symbols(range(len(self.tape.nodes)))
            if i not in chosen.numbers
        }
        try:
            return solve_initial_conditions(
                self.kin, self.wanted.start, {**held, **chosen.symbol_values_at(0.0)}, 0.0
            ), ()
        except (MissingValue, BadStart) as problem:
            if self.wanted.start:
                raise
            return None, (f"no start was solved: {problem}",)


def _needs_dependent_rates(system: System, kin: Kinematics) -> bool:
    """Whether independent speeds do not exist in closed form, or can become singular."""
    chosen_for_the_user = not system.speed_list and bool(system.constraints)
    return bool(kin.nonlinear) or (
        chosen_for_the_user
        and (bool(kin.redundant) or kin.n_u == 0 or bool(kin.state_dependent_pivots))
    )


def _infer_units(kin: Kinematics) -> dict[int, str]:
    """{symbol: unit} as the description decides it: angles of rotations, lengths along unit
    vectors, rates of both, masses of bodies.
    """
    system, t = kin.system, kin.tape
    units: dict[int, str] = {
        body.mass.i: "kg" for body in system.bodies if t.nodes[body.mass.i][0] == "symbol"
    }
    inside = set(kin.q)
    for F in system.space.frames:
        if F.rotation is None:
            continue
        unit = "1" if isinstance(F.rotation, Quaternion) else "rad"
        units |= {i: unit for i in symbols_of(t, F.rotation.variables()) if i in inside}
    along = LinearCoefficients(t, kin.q)
    for P in system.space.points:
        for components in P.r.parts.values():
            for c in components:
                try:
                    slopes = along(c)[1]
                except NotLinear:
                    continue
                units |= {
                    kin.q[k]: "m"
                    for k, slope in slopes.items()
                    if slope in (t.one, t.neg(t.one)) and kin.q[k] not in units
                }
    for q, qdot in zip(kin.q, kin.qdot, strict=True):
        if q in units:
            units[qdot] = {"1": "1/s"}.get(units[q], f"{units[q]}/s")
    return units
