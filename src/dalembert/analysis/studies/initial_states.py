"""(q, x, u) at the start of every member; infeasible members are marked.

Without constraints the given values are the initial state, the others zero: the table is the
initial state. Otherwise native code solves for one state after the other, by the function of a
single run, so bit-identically; members that it refuses are repeated as single runs, which give the
reason. Of masses and inertias there is only suspicion: who is suspected is then judged as the
values of a single run are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.studies.ensemble_plan import EnsemblePlan, ParameterRole
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.runtime.numerics.symbol_values import require_mapping
from dalembert.runtime.states.initial_conditions import (
    first_order_states,
    guessed_coordinates,
    solve_initial_conditions,
)
from dalembert.runtime.states.initial_form import InitialForm, initial_form
from dalembert.runtime.states.initial_solver import borrow_solver
from dalembert.runtime.states.initial_values import GivenQuantity, InitialCondition, bind_values
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.runtime.states.run_values import RunValues


Refuse = Callable[[int, DalembertError], None]


class InitialStates:
    """Starts of the members of a study; `values` are those of one of them."""

    def __init__(self, plan: EnsemblePlan, values: RunValues, model_member: int) -> None:
        self.plan, self.values = plan, values
        self._given = plan.run_options(model_member).start
        self.is_direct = self._check_direct()
        self._common = self._solve_one(self._given, values) if self.is_direct else None

    def _check_direct(self) -> bool:
        """No rows but the norms of quaternions, and every varied start value a coordinate, a
        state or a speed itself.
        """
        kin, evaluator = self.values.kin, self.values.evaluator
        if (
            any(not row.is_norm for row in kin.linear_rows)
            or kin.nonlinear
            or kin.multipliers
            or (kin.rows and kin.system.constraints)
        ):
            return False
        quaternions = {
            i
            for row in kin.linear_rows
            if row.phi is not None
            for i in symbols_of(kin.tape, (row.phi,))
        }
        nodes = {key: evaluator.node(key) for key in self._given}
        plain = {*kin.state} - quaternions
        moved = self.plan.names_with_role(ParameterRole.START)
        # an expression in constants, l/2, may change with them; a speed that is not a state
        # variable depends on the position
        numbers = all(isinstance(value, int | float | np.number) for value in self._given.values())
        return numbers and all(
            node in plain for key, node in nodes.items() if key in moved or node not in quaternions
        )

    def _solve_one(self, given: object, values: RunValues) -> FloatArray:
        o = self.plan.options
        return solve_initial_conditions(
            values.kin,
            require_mapping("start", given),
            values.symbol_values_at(o.t0),
            o.t0,
            guess=require_mapping("guess", o.guess),
        ).y

    def table(
        self,
        members: IndexArray,
        rows: FloatArray,
        varied: Mapping[int, FloatArray],
        values_of: Callable[[int], RunValues],
        refuse: Refuse,
    ) -> FloatArray:
        """A row (q, x, u) for each member; refused members are NaN and reported. `varied` has the
        columns of symbols.
        """
        kin = self.values.kin
        if self._common is not None:
            starts = np.tile(self._common, (len(members), 1))
            places = {i: k for k, i in enumerate(kin.state)}
            for k, (name, role) in enumerate(self.plan.roles.items()):
                if role is ParameterRole.START:
                    starts[:, places[self.values.evaluator.node(name)]] = rows[:, k]
            return starts
        starts, solved = self._solve_native(rows, varied)
        known: dict[bytes, FloatArray] = {}
        same = all(role is ParameterRole.START for role in self.plan.roles.values())
        for k in np.flatnonzero(~solved).tolist():
            member, key = int(members[k]), rows[k].tobytes()
            try:
                if key not in known:
                    known[key] = self._solve_one(
                        self.plan.run_options(member).start,
                        self.values if same else values_of(member),
                    )
                starts[k] = known[key]
            except DalembertError as problem:
                refuse(k, problem)
        return starts

    def _solve_native(
        self, rows: FloatArray, varied: Mapping[int, FloatArray]
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """(q, x, u) as native code finds it, and for which members it did."""
        kin, o = self.values.kin, self.plan.options
        starts = np.full((len(rows), len(kin.state)), np.nan)
        numbers = self.values.symbol_values_at(o.t0)
        try:
            form = initial_form(kin, self._given, o.guess, numbers, o.t0)
            asked = self._bind(form.parsed, self._given, "start")
            guess = self._bind(form.guess, require_mapping("guess", o.guess), "guess")
            near = guessed_coordinates(form, guess)
        except DalembertError:
            return starts, np.zeros(len(rows), dtype=bool)
        if not self._can_solve_together(form, asked):
            return starts, np.zeros(len(rows), dtype=bool)
        given = self._given_table(rows, asked)
        P = np.tile(form.at_position.parameters_of(numbers), (len(rows), 1))
        for k, i in enumerate(form.at_position.parameters):
            if i in varied:
                P[:, k] = varied[i]
        with borrow_solver(form) as solver:
            solver.set_guess(near)
            states, codes = solver.solve_batch(given, P, o.t0)
        layout = kin.layout
        starts[:, layout.q], starts[:, layout.u] = np.hsplit(states, [layout.n_q])
        starts[:, layout.x_and_inputs] = first_order_states(form, asked)[0]
        for k, place in form.first_order:
            starts[:, kin.n_q + place] = given[:, k]
        return starts, (codes == 0) & np.isfinite(rows).all(axis=1)

    def _bind(
        self, parsed: Sequence[GivenQuantity], given: Mapping[Any, Any], what: str
    ) -> list[InitialCondition]:
        return bind_values(parsed, given, lambda: self.values.evaluator, self.plan.options.t0, what)

    def _start_columns(self) -> dict[str, int]:
        """{name: column} of the initial values that vary."""
        return {
            name: k
            for k, (name, role) in enumerate(self.plan.roles.items())
            if role is ParameterRole.START
        }

    def _can_solve_together(self, form: InitialForm, asked: Sequence[InitialCondition]) -> bool:
        """Whether all members have one linear form; a quaternion is scaled, and expressions are
        worth something else in every member.
        """
        changing = len(self._start_columns()) < len(self.plan.roles)
        given = (*self._given.values(), *self.plan.options.guess.values())
        expressions = any(isinstance(value, str | Scalar) for value in given)
        bound = any(i in self.values.bindings for i in form.at_position.parameters)
        return (
            form.is_linear
            and not form.quaternions
            and len(form.parsed) == len(asked)
            and not (changing and (expressions or bound))
        )

    def _given_table(self, rows: FloatArray, asked: Sequence[InitialCondition]) -> FloatArray:
        """The given values, a row for each member."""
        places = self._start_columns()
        given = np.tile([c.value for c in asked], (len(rows), 1))
        for k, key in enumerate(self._given):
            if key in places:
                given[:, k] = rows[:, places[key]]
        return given


class PhysicalityCheck:
    """m > 0, I ≥ 0: the masses and inertias that what varies has a part in, looked at for all
    members at once.
    """

    def __init__(self, values: RunValues, varied: Collection[int]) -> None:
        self._evaluator = evaluator = values.evaluator
        tape = evaluator.tape

        def varies(nodes: list[int]) -> bool:
            inside = set(symbols_of(tape, nodes))
            return not inside.isdisjoint(varied) and inside <= {*varied, *values.numbers}

        bodies = values.kin.system.bodies
        self._masses = [body.mass.i for body in bodies if varies([body.mass.i])]
        turning = [
            list(b.inertia.on(tape).to(b.frame).entries())
            for b in bodies
            if b.frame is not None and b.inertia is not None
        ]
        self._inertias = [entries for entries in turning if varies(entries)]

    def suspect_rows(self, varied: dict[int, FloatArray], count: int) -> list[int]:
        """Members with a mass that is not positive, or an inertia with a moment that is not."""
        bad = np.zeros(count, dtype=bool)
        if self._masses:
            bad |= ~(self._evaluator.values_along(self._masses, varied, count) > 0.0).all(axis=0)
        for entries in self._inertias:
            xx, yy, zz, xy, yz, xz = self._evaluator.values_along(entries, varied, count)
            I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
            # rounding may make a moment that is zero negative; the judge knows
            bad |= ~(np.linalg.eigvalsh(np.nan_to_num(I)) >= 0.0).all(axis=1)
        return [int(k) for k in np.flatnonzero(bad)]
