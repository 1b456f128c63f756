"""Where principles meet native code, runs and integrals: what a user calls on a whole system."""

from dalembert.api.agreement import agreement
from dalembert.api.compile import (
    compile,  # noqa: A004 - da.compile is the verb a user looks for
    forward_dynamics,
)
from dalembert.api.energy_integrals import energy_integrals, routh, symmetry
from dalembert.api.reactions import reactions
from dalembert.api.robots import crosscheck, load
from dalembert.api.simulate import simulate

__all__ = [
    "agreement",
    "compile",
    "crosscheck",
    "energy_integrals",
    "forward_dynamics",
    "load",
    "reactions",
    "routh",
    "simulate",
    "symmetry",
]
