"""|E_Z(t) − E_Z(t₀)| ≤ tolerance: an energy integral in command of the integrator.

Past drift cannot be undone, so the tolerance is granted evenly over time: a step of length h may change E_Z by its share
h/(t₁ − t₀), at its end and at its quarters, or by a tenth of what earlier steps have left over. A step that changes more is tried again,
smaller; where rounding alone uses up the tolerance the run stops.

Source: Mit22, summary of chapter 34.
"""

from __future__ import annotations

from dalembert.numerics.symbol_values import number
from dalembert.ode.failures import BadTolerance, RunStopped, StepCollapsed, StepRefused
from dalembert.simulation.energy_audit.audit import Budget
from dalembert.simulation.integrators import NATIVE, OWN


def budget(absolute: float | None, relative: float | None, duration: float, integrator: str = NATIVE) -> Budget | None:
    """The tolerances on E_Z, per unit of time; None if there is none."""
    if absolute is None and relative is None:
        return None
    check_native(integrator)
    length = number("duration", duration)
    return Budget(_rate("energy_tolerance", absolute, length), _rate("relative_energy_tolerance", relative, length), length)


def check_native(integrator: str) -> None:
    """Refuse integrators that take their steps without asking."""
    if integrator not in OWN:
        msg = f"integrator {integrator!r} cannot be held to an energy integral: only {', '.join(OWN)} ask before they take a step"
        raise BadTolerance(msg)


def _rate(name: str, tolerance: float | None, length: float) -> float:
    if tolerance is None:
        return 0.0
    value = number(name, tolerance)
    if not value > 0.0:
        msg = f"{name} = {value:g}: give a positive number"
        raise BadTolerance(msg)
    return value / length


def explain(failure: RunStopped) -> None:
    """Say what stood in the way where a run under an energy tolerance found no step small enough."""
    if isinstance(failure, StepRefused | StepCollapsed):
        failure.reason += "\nK₂ + 𝒰 + Z is not kept within the energy tolerance by any step: rounding has used it up; allow a larger one"
