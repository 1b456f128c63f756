"""Expressions in q, u, u̇ and t as one native function, with the constants and inputs of the
system as parameters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.mechanics.equations.equations_of_motion import derivative_bindings
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import finite_number, require_values, symbol_name
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of


class CompiledStateFunction:
    """y = f(q, u, u̇, t, **values): one state, or many in rows (bit for bit the same)."""

    def __init__(self, kin: Kinematics, outs: Sequence[int]) -> None:
        self.kin = kin
        t = kin.tape
        motions = {
            s.scalar.i: s.motion for s in kin.system.symbols.values() if s.motion is not None
        }
        insert = Substitution(t, derivative_bindings(t, motions))
        outs = [insert(i) for i in outs]
        self.argument_sizes = (kin.n_q, kin.n_u, kin.n_u, 1)
        state = (*kin.q, *kin.u, *kin.udot, kin.system.t.i)
        known = set(state)
        self.parameters = tuple(i for i in symbols_of(t, outs) if i not in known)
        self.parameter_names = tuple(kin.name(i) for i in self.parameters)
        self.function = CompiledFunction(t, outs, state, self.parameters, self.argument_sizes)
        defaults = {
            s.name: float(s.value) for s in kin.system.symbols.values() if s.value is not None
        }
        self._defaults = np.array([defaults.get(n, math.nan) for n in self.parameter_names])

    def __call__(
        self, q: Any, u: Any, udot: Any, t: Any = 0.0, **values: Any
    ) -> NDArray[np.float64]:
        """The values at one state, or in rows at many."""
        p = self.values(values)
        if np.ndim(q) == 2:
            times = np.reshape(np.broadcast_to(np.asarray(t, dtype=float), (len(q),)), (-1, 1))
            return self.function.batch(
                *(np.asarray(x, dtype=float) for x in (q, u, udot)), times, p
            )
        return self.function.call(q, u, udot, t, p)

    def values(self, given: dict[str, Any]) -> NDArray[np.float64]:
        """The parameters: declared values, then those given; an error names what is missing."""
        p = self._defaults.copy()
        system = self.kin.system
        for key, value in given.items():
            name = key if key in system.symbols else key.replace("_ddot", "''").replace("_dot", "'")
            if name in self.parameter_names:
                p[self.parameter_names.index(name)] = finite_number(key, value)
            else:
                # declared, but it drops out of these expressions; or unknown
                symbol_name(system, key, ("constant", "input", "specified", "state"))
        if np.isnan(p).any():
            have = {
                n: x
                for n, x in zip(self.parameter_names, p.tolist(), strict=True)
                if not math.isnan(x)
            }
            require_values(system, self.parameter_names, have)
        return p
