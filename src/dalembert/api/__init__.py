"""Where principles meet native code, runs and integrals: what a user calls on a whole system."""

from dalembert.api.compiling import (
    compile,  # noqa: A004 - da.compile is the verb a user looks for
    forward_dynamics,
)
from dalembert.api.integrating import energy_integrals, routh, symmetry
from dalembert.api.proving import agreement
from dalembert.api.reacting import reactions
from dalembert.api.running import simulate

__all__ = ["agreement", "compile", "energy_integrals", "forward_dynamics", "reactions", "routh", "simulate", "symmetry"]
