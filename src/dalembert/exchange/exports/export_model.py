"""What is exported of a system: rates, M and f, rows, projection, energies, outputs and slopes, gathered on one tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dalembert.errors import NotLinear
from dalembert.exchange.exports.composite_rigid_body import tree_equations
from dalembert.exchange.exports.constrained_dynamics import solved
from dalembert.exchange.exports.exported_model import POSITION_STEP, SPEED_STEP, ExportedFunction, Model, Result, Variable
from dalembert.mechanics.equations.saddle_point import projection
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, all_rates, kinematics
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.kane import kane
from dalembert.runtime.dynamics.compile import forward_dynamics, saddle_equations
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.simulation.energy_and_residuals import energies
from dalembert.runtime.states.evaluator import Evaluator, Key, label
from dalembert.runtime.states.initial_conditions import Start, find_start
from dalembert.runtime.states.run_values import Values, values_of_run
from dalembert.symbolic.algebra.expression_graph import Derivative, Linear, Rewrite, symbols_of, transplant
from dalembert.symbolic.algebra.tape import Tape

# Newton steps on rows that are not linear in the speeds
_CURVED_ROUNDS = 4


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What is wanted besides the equations: numbers, bindings, a start, outputs, slopes."""

    values: Mapping[Any, Any]
    inputs: Mapping[Any, Any]
    start: Mapping[Any, Any]
    outputs: Sequence[Key] = ()
    linear: bool = False


def model(system: System, wanted: Contents) -> Model:
    """The system as functions of t, x = (q, u), inputs w and constants p."""
    return _Gathering(system, wanted).model()


class _Gathering:
    """Everything on one tape, specified motions and inputs replaced by what they are bound to."""

    def __init__(self, system: System, wanted: Contents) -> None:
        kin = kinematics(system)
        # all rates in the state where a choice of independent speeds can become singular, as in a run
        self.saddle = _needs_all_rates(system, kin)
        self.given = kin
        kin = all_rates(kin) if self.saddle and system.constraints else kin
        self.values: Values = values_of_run(kin, wanted.values, wanted.inputs)
        self.kin, self.wanted, self.system = self.values.kin, wanted, system
        # a setting has a tape of its own
        self.tape: Tape = self.kin.tape
        self._insert = Rewrite(self.tape, self.values.bindings) if self.values.bindings else None

    def here(self, source: Tape, nodes: Sequence[int]) -> tuple[int, ...]:
        """Nodes of another tape of the system on this one."""
        found = nodes if source is self.tape else transplant(source, self.tape, nodes)
        return tuple(found) if self._insert is None else tuple(map(self._insert, found))

    # ---- the functions -----------------------------------------------------------------------

    @cached_property
    def dynamics(self) -> tuple[tuple[int, ...], tuple[int, ...], str, tuple[ExportedFunction, ...]]:
        """q̇, u̇, the route they came by, and the steps back onto the rows."""
        if self.saddle:
            _, equations = saddle_equations(all_rates(self.given) if self.system.constraints else self.given)
            found = solved(equations)
            steps = self._steps(found.tape, found.moved, found.residual, found.z)
            qdot, zdot = self.here(equations.tape, equations.qdot), self.here(found.tape, found.zdot)
            return (*qdot, *self._xdot), zdot, "M and A by their factors, all rates in the state", steps
        explicit = forward_dynamics(self.system)
        back = projection(self.kin)
        steps = ()
        if back is not None:
            moved = [back.tape.add(q, d) for q, d in zip(self.kin.q, back.step, strict=True)]
            steps = self._steps(back.tape, moved, back.residual, ())
        qdot, udot = self.here(explicit.tape, explicit.qdot), self.here(explicit.tape, explicit.udot)
        return (*qdot, *self._xdot), udot, explicit.route, steps

    @property
    def _xdot(self) -> tuple[int, ...]:
        """The rates of first-order states, which stand behind the coordinates."""
        return self.here(self.kin.tape, self.kin.xdot)

    def _steps(self, tape: Tape, moved: Sequence[int], residual: int, speeds: Sequence[int]) -> tuple[ExportedFunction, ...]:
        found = []
        if residual != tape.zero or tuple(moved) != self.kin.q:
            q, (r,) = (*self.here(tape, moved), *self.kin.x), self.here(tape, (residual,))
            says = "one Newton step onto the rows that stand on positions, and how far the state is off them before"
            found.append(ExportedFunction(POSITION_STEP, says, (Result("q_new", q, (len(q),)), Result("residual", (r,), ()))))
        if tuple(speeds) not in ((), self.kin.u):
            u = self.here(tape, speeds)
            found.append(ExportedFunction(SPEED_STEP, "speeds carried back onto the rows", (Result("u_new", u, (len(u),)),)))
        return tuple(found)

    def _rates(self) -> ExportedFunction:
        qdot, udot, _, _ = self.dynamics
        return ExportedFunction("rates", "dx/dt = (q', u')", (Result("dx", (*qdot, *udot), (len(qdot) + len(udot),)),))

    def _mass_and_forcing(self) -> list[ExportedFunction]:
        """M u̇ = f of independent speeds; with all rates M ż = f + Aᵀλ."""
        n, found = self.kin.n_u, None if self.saddle else tree_equations(self.kin)
        tape = self.tape
        if found is None:
            equations = kane(self.kin).equations
            tape = equations.tape
            found = [row.get(s, tape.zero) for row in equations.M for s in range(n)], equations.f
        M, f = self.here(tape, found[0]), self.here(tape, found[1])
        what = "M u' = f + A^T lambda, rows A by `constraints`" if self.saddle and self.system.constraints else "M u' = f"
        return [
            ExportedFunction("mass_matrix", f"M of {what}", (Result("M", M, (n, n)),)),
            ExportedFunction("forcing", f"f of {what}", (Result("f", f, (n,)),)),
        ]

    def _rows(self) -> list[ExportedFunction]:
        """φ, e = A q̇ + b and A = ∂e/∂q̇ of every row."""
        kin, qdot = self.kin, dict(zip(self.kin.qdot, self.dynamics[0], strict=False))
        rows = [*kin.linear_rows, *kin.nonlinear]
        if not rows:
            return []
        t = kin.tape
        in_rates = Rewrite(self.tape, qdot)
        phi = position_residuals(t, rows)
        e = [kin.row_in_rates(r) if r.nonlinear is None else r.nonlinear for r in rows]
        A = [r.A.get(k, t.zero) for r in rows for k in range(kin.n_q)]
        found = [in_rates(i) for i in self.here(t, (*phi, *e, *A))]
        ends = len(phi), len(phi) + len(e)
        results = (
            Result("phi", tuple(found[: ends[0]]), (len(phi),)),
            Result("e", tuple(found[ends[0] : ends[1]]), (len(e),)),
            Result("A", tuple(found[ends[1] :]), (len(e), kin.n_q)),
        )
        says = "phi(q, t) = 0 of the rows that stand on positions, e = A q' + b = 0 of all, A = de/dq'"
        return [ExportedFunction("constraints", says, tuple(r for r in results if r.nodes))]

    def _energies(self) -> ExportedFunction:
        found = energies(self.kin)
        T, V = self.here(self.kin.tape, found)
        return ExportedFunction("energies", "kinetic and potential energy", (Result("T", (T,), ()), Result("V", (V,), ())))

    def _outputs(self) -> list[ExportedFunction]:
        if not self.wanted.outputs:
            return []
        kin = self.kin
        numbers = dict.fromkeys(symbols_of(kin.tape, range(len(kin.tape.nodes))), 0.0)
        evaluator = Evaluator(kin, numbers, self.values.bindings)
        reduced = [evaluator.reduced(evaluator.node(key)) for key in self.wanted.outputs]
        accelerations = Rewrite(self.tape, dict(zip(kin.udot, self.dynamics[1], strict=True)))
        y = tuple(accelerations(i) for i in self.here(evaluator.tape, reduced))
        return [ExportedFunction("outputs", "y, the chosen outputs", (Result("y", y, (len(y),)),))]

    def _linear(self, inputs: Sequence[Variable]) -> list[ExportedFunction]:
        """A = ∂ẋ/∂x and B = ∂ẋ/∂w at any state."""
        if not self.wanted.linear:
            return []
        qdot, udot, _, _ = self.dynamics
        rates, t = (*qdot, *udot), self.tape

        def slopes(wrt: Sequence[int]) -> tuple[int, ...]:
            columns = []
            for x in wrt:
                along = Derivative(t, lambda i, x=x: t.one if i == x else None)  # type: ignore[misc]
                columns.append([along(e) for e in rates])
            return tuple(column[k] for k in range(len(rates)) for column in columns)

        states, driven = self.kin.state, [w.node for w in inputs]
        A = Result("A", slopes(states), (len(rates), len(states)))
        B = Result("B", slopes(driven), (len(rates), len(driven)))
        return [ExportedFunction("linear", "A = d(dx/dt)/dx and B = d(dx/dt)/dw at this state", (A, B) if driven else (A,))]

    # ---- the whole ---------------------------------------------------------------------------

    def model(self) -> Model:
        kin = self.kin
        _, _, route, steps = self.dynamics
        functions = [self._rates(), *self._mass_and_forcing(), *self._rows(), self._energies(), *self._outputs(), *steps]
        inside = symbols_of(self.tape, [i for f in functions for i in f.nodes])
        constants = {s.scalar.i for s in self.system.symbols.values() if s.kind == "constant"}
        start, notes = self._start()
        inputs = [self._variable(i) for i in self._input_symbols(inside)]
        functions[-len(steps) or len(functions) :] = [*self._linear(inputs), *steps]
        values = {} if start is None else dict(zip(kin.state, start.y.tolist(), strict=True))
        return Model(
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
            outputs=tuple(Variable(-1, str(key) if isinstance(key, str) else label(str(key))) for key in self.wanted.outputs),
            speed_rounds=0 if not kin.velocity_rows else _CURVED_ROUNDS if kin.nonlinear else 1,
            notes=notes,
        )

    @cached_property
    def _units(self) -> dict[int, str]:
        return _units_of(self.kin)

    def _variable(self, i: int, value: float | None = None) -> Variable:
        number = self.values.numbers.get(i) if value is None else value
        return Variable(i, label(self.kin.name(i)), number, self._units.get(i, ""))

    def _input_symbols(self, inside: Sequence[int]) -> list[int]:
        """Declared inputs, and the specified motions left unbound with those of their rates that occur."""
        found: list[int] = []
        for s in self.system.symbols.values():
            if s.kind not in ("input", "specified") or s.scalar.i in self.values.bindings:
                continue
            x: int | None = s.scalar.i
            while x is not None:
                if s.kind == "input" or x in inside:
                    found.append(x)
                x = self.tape.rates.get(x)
        return found

    def _start(self) -> tuple[Start | None, tuple[str, ...]]:
        """Where a run begins; None, with the reason, where nothing is said about it and zero will not do."""
        chosen = self.values
        held = {i: 0.0 for i in self._input_symbols(range(len(self.tape.nodes))) if i not in chosen.numbers}
        try:
            return find_start(self.kin, self.wanted.start, {**held, **chosen.value_at(0.0)}, 0.0), ()
        except (MissingValue, BadStart) as problem:
            if self.wanted.start:
                raise
            return None, (f"no start was solved: {problem}",)


def _needs_all_rates(system: System, kin: Kinematics) -> bool:
    """Whether independent speeds do not exist in closed form, or can become singular."""
    chosen_for_the_user = not system.speed_list and bool(system.constraints)
    return bool(kin.nonlinear) or (chosen_for_the_user and (bool(kin.redundant) or kin.n_u == 0 or bool(kin.moving_pivots)))


def _units_of(kin: Kinematics) -> dict[int, str]:
    """{symbol: unit} as the description decides it: angles of rotations, lengths along unit vectors, rates of both, masses of bodies."""
    system, t = kin.system, kin.tape
    found: dict[int, str] = {body.mass.i: "kg" for body in system.bodies if t.nodes[body.mass.i][0] == "symbol"}
    inside = set(kin.q)
    for F in system.space.frames:
        if F.rotation is None:
            continue
        unit = "1" if isinstance(F.rotation, Quaternion) else "rad"
        found |= {i: unit for i in symbols_of(t, F.rotation.variables()) if i in inside}
    along = Linear(t, kin.q)
    for P in system.space.points:
        for components in P.r.parts.values():
            for c in components:
                try:
                    slopes = along(c)[1]
                except NotLinear:
                    continue
                found |= {kin.q[k]: "m" for k, slope in slopes.items() if slope in (t.one, t.neg(t.one)) and kin.q[k] not in found}
    for q, qdot in zip(kin.q, kin.qdot, strict=True):
        if q in found:
            found[qdot] = {"1": "1/s"}.get(found[q], f"{found[q]}/s")
    return found
