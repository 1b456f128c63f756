"""(q, x, u) at the start of every member, and who of them can exist.

Where nothing holds the coordinates together, what is given is the start and the rest is zero: the table is the start. Otherwise native code
finds them one after the other, by the function that finds that of a run alone, so with the same bits; what it refuses is asked again as a
run alone would ask, which says why. Of masses and inertias there is only suspicion: who is suspected is then judged as the values of a
single run are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from dalembert.analysis.studies.ensemble_plan import Role, StudyPlan
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import Indices, Numbers
from dalembert.runtime.numerics.symbol_values import mapping
from dalembert.runtime.states.initial_conditions import find_start, first_order_states, guessed_coordinates
from dalembert.runtime.states.initial_form import start_form
from dalembert.runtime.states.initial_solver import start_solver
from dalembert.runtime.states.initial_values import with_values
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.runtime.states.run_values import Values


Refuse = Callable[[int, DalembertError], None]


class Starts:
    """Starts of the members of a study; `values` are those of one of them."""

    def __init__(self, plan: StudyPlan, values: Values, model_member: int) -> None:
        self.plan, self.values = plan, values
        self._given = plan.options_of(model_member).start
        self.is_direct = self._direct()
        self._one = self._found(self._given, values) if self.is_direct else None

    def _direct(self) -> bool:
        """No rows but the norms of quaternions, and every varied start value a coordinate, a state or a speed itself."""
        kin, evaluator = self.values.kin, self.values.evaluator
        if any(not row.is_norm for row in kin.linear_rows) or kin.nonlinear or kin.multipliers or (kin.rows and kin.system.constraints):
            return False
        quaternions = {i for row in kin.linear_rows if row.phi is not None for i in symbols_of(kin.tape, (row.phi,))}
        nodes = {key: evaluator.node(key) for key in self._given}
        plain = {*kin.state} - quaternions
        moved = self.plan.names_as(Role.START)
        # an expression in constants, l/2, may change with them; a speed that is not a state variable depends on the position
        numbers = all(isinstance(value, int | float | np.number) for value in self._given.values())
        return numbers and all(node in plain for key, node in nodes.items() if key in moved or node not in quaternions)

    def _found(self, given: object, values: Values) -> Numbers:
        o = self.plan.options
        return find_start(values.kin, mapping("start", given), values.value_at(o.t0), o.t0, guess=mapping("guess", o.guess)).y

    def table(
        self, members: Indices, rows: Numbers, varied: Mapping[int, Numbers], values_of: Callable[[int], Values], refuse: Refuse
    ) -> Numbers:
        """A row (q, x, u) for each member; what is refused is left at NaN and said. `varied` has the columns of symbols."""
        kin = self.values.kin
        if self._one is not None:
            starts = np.tile(self._one, (len(members), 1))
            places = {i: k for k, i in enumerate(kin.state)}
            for k, (name, role) in enumerate(self.plan.roles.items()):
                if role is Role.START:
                    starts[:, places[self.values.evaluator.node(name)]] = rows[:, k]
            return starts
        starts, found = self._solved(rows, varied)
        known: dict[bytes, Numbers] = {}
        same = all(role is Role.START for role in self.plan.roles.values())
        for k in np.flatnonzero(~found).tolist():
            member, key = int(members[k]), rows[k].tobytes()
            try:
                if key not in known:
                    known[key] = self._found(self.plan.options_of(member).start, self.values if same else values_of(member))
                starts[k] = known[key]
            except DalembertError as problem:
                refuse(k, problem)
        return starts

    def _solved(self, rows: Numbers, varied: Mapping[int, Numbers]) -> tuple[Numbers, NDArray[np.bool_]]:
        """(q, x, u) as native code finds it, and for which members it did."""
        kin, o = self.values.kin, self.plan.options
        starts, nobody = np.full((len(rows), len(kin.state)), np.nan), np.zeros(len(rows), dtype=bool)
        places = {name: k for k, (name, role) in enumerate(self.plan.roles.items()) if role is Role.START}
        numbers = self.values.value_at(o.t0)
        try:
            form = start_form(kin, self._given, o.guess, numbers, o.t0)
            asked = with_values(form.read, self._given, lambda: self.values.evaluator, o.t0, "start")
            near = guessed_coordinates(
                form, with_values(form.guess, mapping("guess", o.guess), lambda: self.values.evaluator, o.t0, "guess")
            )
        except DalembertError:
            return starts, nobody
        changing = len(places) < len(self.plan.roles)
        expressions = any(isinstance(value, str | Scalar) for value in (*self._given.values(), *o.guess.values()))
        bound = any(i in self.values.bindings for i in form.at_position.parameters)
        # a quaternion is scaled, and expressions are worth something else in every member
        if not form.is_native or form.quaternions or len(form.read) != len(asked) or (changing and (expressions or bound)):
            return starts, nobody
        given = np.tile([c.value for c in asked], (len(rows), 1))
        for k, key in enumerate(self._given):
            if key in places:
                given[:, k] = rows[:, places[key]]
        P = np.tile(form.at_position.parameters_of(numbers), (len(rows), 1))
        for k, i in enumerate(form.at_position.parameters):
            if i in varied:
                P[:, k] = varied[i]
        with start_solver(form) as solver:
            solver.guess(near)
            found, codes = solver.solve_many(given, P, o.t0)
        starts[:, : kin.n_q], starts[:, kin.first_speed :] = found[:, : kin.n_q], found[:, kin.n_q :]
        starts[:, kin.n_q : kin.first_speed] = first_order_states(form, asked)[0]
        for k, place in form.first_order:
            starts[:, kin.n_q + place] = given[:, k]
        return starts, (codes == 0) & np.isfinite(rows).all(axis=1)


class Possible:
    """m > 0, I ≥ 0: the masses and inertias that what varies has a part in, looked at for all members at once."""

    def __init__(self, values: Values, varied: dict[int, int]) -> None:
        self._evaluator = evaluator = values.evaluator
        tape = evaluator.tape

        def varies(nodes: list[int]) -> bool:
            inside = set(symbols_of(tape, nodes))
            return not inside.isdisjoint(varied) and inside <= {*varied, *values.numbers}

        bodies = values.kin.system.bodies
        self._masses = [body.mass.i for body in bodies if varies([body.mass.i])]
        turning = [list(b.inertia.on(tape).to(b.frame).entries()) for b in bodies if b.frame is not None and b.inertia is not None]
        self._inertias = [entries for entries in turning if varies(entries)]

    def suspects(self, varied: dict[int, Numbers], count: int) -> list[int]:
        """Members with a mass that is not positive, or an inertia with a moment that is not."""
        bad = np.zeros(count, dtype=bool)
        if self._masses:
            bad |= ~(self._evaluator.arrays(self._masses, varied, count) > 0.0).all(axis=0)
        for entries in self._inertias:
            xx, yy, zz, xy, yz, xz = self._evaluator.arrays(entries, varied, count)
            I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
            # rounding may make a moment that is zero negative; the judge knows
            bad |= ~(np.linalg.eigvalsh(np.nan_to_num(I)) >= 0.0).all(axis=1)
        return [int(k) for k in np.flatnonzero(bad)]
