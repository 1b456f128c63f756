"""φ = 0 and A q̇ + b = 0 along a run: how what integration errors take away from the rows is brought back.

projection   after every step, the shortest way in the mass metric, positions first, then speeds
baumgarte    A q̈ + γ + 2α (A q̇ + b) + α² φ = 0 (all rates in the state), q̇ + α δq (speeds chosen): errors fade with e^(−α t)
none         left alone
"""

from __future__ import annotations

from typing import Final

from dalembert.errors import Unknown
from dalembert.numerics.symbol_values import number
from dalembert.ode.failures import BadRun

PROJECTION: Final = "projection"
BAUMGARTE: Final = "baumgarte"
NONE: Final = "none"
# errors that fade within a twentieth of the unit of time
_RATE: Final = 20.0
CHOICES: Final = (PROJECTION, BAUMGARTE, NONE)


def chosen_stabilizer(name: str | None, *, native: bool) -> str:
    """What was asked for; by default projection, where the integrator can."""
    if name is None:
        return PROJECTION if native else NONE
    if name not in CHOICES:
        msg = f"stabilize = {name!r} is unknown: choose one of {', '.join(CHOICES)}"
        raise Unknown(msg)
    if name == PROJECTION and not native:
        msg = "stabilize = 'projection' moves the ends of steps, which only the native integrator allows; choose 'baumgarte' or 'none'"
        raise BadRun(msg)
    return name


def baumgarte_rate(stabilizer: str, rate: float | None) -> float:
    """α, zero unless asked for."""
    if rate is not None and stabilizer != BAUMGARTE:
        msg = f"baumgarte_rate = {rate} has no meaning with stabilize = {stabilizer!r}: give stabilize='baumgarte' or leave it out"
        raise BadRun(msg)
    value = number("baumgarte_rate", _RATE if rate is None else rate)
    if value <= 0.0:
        msg = f"baumgarte_rate = {value:g}: give a positive number, in 1/s"
        raise BadRun(msg)
    return value if stabilizer == BAUMGARTE else 0.0
