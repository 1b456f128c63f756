"""(q, x, u) at the start of every member.

Where nothing holds the coordinates together, what is given is the start and the rest is zero: the table is the start. Otherwise the start
of every member is found as that of a run alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dalembert.errors import DalembertError
from dalembert.numerics.symbol_values import mapping
from dalembert.states.start import find_start
from dalembert.studies.plan import Role, StudyPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.states.values import Values

    Numbers = NDArray[np.float64]

Refuse = Callable[[int, str], None]


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
        quaternions = {i for row in kin.linear_rows if row.phi is not None for i in self._inside(row.phi)}
        nodes = {key: evaluator.node(key) for key in self._given}
        plain = {*kin.state} - quaternions
        moved = {name for name, role in zip(self.plan.members.names, self.plan.roles, strict=True) if role is Role.START}
        # an expression in constants, l/2, may change with them; a speed that is not a state variable depends on the position
        numbers = all(isinstance(value, int | float | np.number) for value in self._given.values())
        return numbers and all(node in plain for key, node in nodes.items() if key in moved or node not in quaternions)

    def _inside(self, node: int) -> tuple[int, ...]:
        from dalembert.algebra.folds import symbols_of

        return tuple(symbols_of(self.values.kin.tape, (node,)))

    def _found(self, given: object, values: Values) -> Numbers:
        o = self.plan.options
        return find_start(values.kin, mapping("start", given), values.value_at(o.t0), o.t0, guess=mapping("guess", o.guess)).y

    def table(self, members: NDArray[np.intp], rows: Numbers, values_of: Callable[[int], Values], refuse: Refuse) -> Numbers:
        """A row (q, x, u) for each member; what is refused is left at NaN and said."""
        kin = self.values.kin
        if self._one is not None:
            starts = np.tile(self._one, (len(members), 1))
            places = {i: k for k, i in enumerate(kin.state)}
            for k, (name, role) in enumerate(zip(self.plan.members.names, self.plan.roles, strict=True)):
                if role is Role.START:
                    starts[:, places[self.values.evaluator.node(name)]] = rows[:, k]
            return starts
        starts = np.full((len(members), len(kin.state)), np.nan)
        known: dict[bytes, Numbers] = {}
        same = all(role is Role.START for role in self.plan.roles)
        for k, member in enumerate(members.tolist()):
            key = rows[k].tobytes()
            try:
                if key not in known:
                    known[key] = self._found(self.plan.options_of(member).start, self.values if same else values_of(member))
                starts[k] = known[key]
            except DalembertError as problem:
                refuse(k, str(problem))
        return starts
