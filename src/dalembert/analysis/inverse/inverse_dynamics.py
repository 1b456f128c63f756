"""B τ = M u̇ − f: the loads that make a motion, given by drives of one's choice.

Without a choice there is one load for every independent speed, and it is unique. Inputs or joints
may be chosen as drives instead: where they are more than the speeds, the answer is the one of least
norm; where they cannot make the motion (a free root that no joint holds), it is refused with what
is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from dalembert.analysis.inverse.compiled_expressions import CompiledStateFunction
from dalembert.errors import BadDescription, DalembertError, NotLinear
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.required_loads import RequiredLoads, required_loads
from dalembert.runtime.numerics.symbol_values import symbol_name
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, Substitution

Numbers = NDArray[np.float64]
_RESIDUAL_TOLERANCE: Final = 1e-8


class NotDriven(DalembertError):
    """A motion that the chosen drives cannot produce."""


class InverseDynamics(Displayable):
    """tau = f(q, u, udot, t=0, **values): the loads of the drives at one state, or in rows at many.

    `drives` says what each entry belongs to, `route` how the loads were derived.
    """

    def __init__(
        self,
        loads: RequiredLoads,
        drives: tuple[str, ...],
        B: list[dict[int, int]] | None,
        nodes: Sequence[int],
    ) -> None:
        kin = loads.kinematics
        self.drives, self.route, self._names = drives, loads.route, tuple(map(kin.name, kin.u))
        self.n_u = kin.n_u
        zero = kin.tape.zero
        entries = [] if B is None else [row.get(k, zero) for row in B for k in range(len(drives))]
        self.state_function = CompiledStateFunction(kin, [*nodes, *entries])
        self._has_actuators = B is not None

    def __str__(self) -> str:
        return (
            f"Inverse dynamics {self.route}: f(q, u, udot) = the loads of "
            f"{', '.join(self.drives)}\n  u = {', '.join(self._names)}"
        )

    def __call__(self, q: Any, u: Any, udot: Any, t: Any = 0.0, **values: Any) -> Numbers:
        """The loads of the drives."""
        y = self.state_function(q, u, udot, t, **values)
        if not self._has_actuators:
            return y
        return (
            np.array([self._least_norm_loads(row) for row in y])
            if y.ndim == 2
            else self._least_norm_loads(y)
        )

    def _least_norm_loads(self, y: Numbers) -> Numbers:
        """The least τ with B τ = r; an error where there is none."""
        p, k = self.n_u, len(self.drives)
        r, B = y[:p], y[p:].reshape(p, k)
        tau = np.linalg.lstsq(B, r, rcond=1e-12)[0]
        missing = r - B @ tau
        worst = int(np.argmax(np.abs(missing)))
        if abs(missing[worst]) > _RESIDUAL_TOLERANCE * max(1.0, float(np.max(np.abs(r)))):
            name = self._names[worst]
            msg = (
                f"these drives cannot produce this motion: along {name} a load of "
                f"{missing[worst]:g} is missing; add a drive there"
            )
            raise NotDriven(msg)
        return np.asarray(tau)


def inverse_dynamics(
    system: System, drives: Sequence[str] | Literal["inputs"] | None = None
) -> InverseDynamics:
    """Native loads for given q, u, u̇: along every speed, or of chosen drives (inputs or
    coordinates by name, or "inputs").
    """
    kin = kinematics(system)
    loads = required_loads(kin)
    if drives is None:
        return InverseDynamics(loads, tuple(map(kin.name, kin.u)), None, loads.nodes)
    names = (
        [s.name for s in system.symbols.values() if s.kind == "input"]
        if drives == "inputs"
        else list(drives)
    )
    if not names or len(set(names)) != len(names):
        msg = "inverse_dynamics: give different drives, inputs or coordinates by name" + (
            "; this system has no inputs" if not names else ""
        )
        raise BadDescription(msg)
    names = [symbol_name(system, n, ("input", "coordinate")) for n in names]
    nodes, B = actuation_matrix(system, loads, names)
    return InverseDynamics(loads, tuple(names), B, nodes)


def _drive_coefficients(loads: RequiredLoads, inputs: list[int]) -> list[dict[int, int]]:
    """{number of the input: its coefficient} in each load, which must be linear in them."""
    linear = LinearCoefficients(loads.tape, inputs)
    try:
        return [linear(e)[1] for e in loads.nodes]
    except NotLinear as problem:
        msg = f"inverse_dynamics: the loads are not linear in the drives: {problem}"
        raise BadDescription(msg) from problem


def actuation_matrix(
    system: System, loads: RequiredLoads, names: list[str]
) -> tuple[list[int], list[dict[int, int]]]:
    """r and B with r = B τ: an input acts as its loads say, a coordinate along its own rate."""
    kin, t = loads.kinematics, loads.tape
    inputs = {n: s.scalar.i for n in names if (s := system.symbols[n]).kind == "input"}
    columns = [names.index(n) for n in inputs]
    still = Substitution(t, dict.fromkeys(inputs.values(), t.zero))
    nodes = [still(e) for e in loads.nodes]
    forms = _drive_coefficients(loads, list(inputs.values()))
    B = [{columns[k]: t.neg(c) for k, c in form.items()} for form in forms]
    W = {kin.name(q): row for q, (_, row) in zip(kin.q, kin.WX, strict=True)}
    for n in names:
        for r, w in W.get(n, {}).items():
            B[r][names.index(n)] = w
    return nodes, B
