"""w = w₀: the setting in which a system is balanced or linearized."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System
from dalembert.numerics.symbol_values import symbol_name
from dalembert.states.values import Values, values_of_run


def operating(system: System, values: Mapping[Any, Any], inputs: Mapping[Any, Any]) -> Values:
    """Constants, inputs and specified motions as given; inputs about which nothing is said are zero."""
    kin = kinematics(system)
    given = {symbol_name(system, key, ("input", "specified")) for key in inputs}
    rest = {s.name: 0.0 for s in system.symbols.values() if s.kind == "input" and s.name not in given}
    return values_of_run(kin, values, {**rest, **inputs})
