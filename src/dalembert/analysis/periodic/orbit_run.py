"""The motion of an orbit as an ordinary run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.runtime.contact.contact_run import contact_run
from dalembert.runtime.dynamics.compile import independent_contact_equations, select_equations
from dalembert.runtime.numerics.symbol_values import BadValue
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.runtime.simulation.simulate import simulate_equations
from dalembert.runtime.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from dalembert.analysis.periodic.orbit import PeriodicOrbit


def run_of_orbit(orbit: PeriodicOrbit, periods: float) -> Trajectory:
    """The run over a number of periods from the start of the orbit, through its events."""
    if not periods > 0.0:
        msg = f"run: periods={periods!r}; give a positive number"
        raise BadValue(msg)
    shooting = orbit.shooting
    events = () if shooting is None else shooting.flow.event_list
    inputs = {} if shooting is None else shooting.flow.given.inputs
    t0 = 0.0 if shooting is None else shooting.flow.given.t0
    options = RunOptions(
        start=orbit.start,
        guess={},
        values=orbit.constants,
        inputs=inputs,
        events=events,
        rtol=1e-11,
        atol=1e-11,
        t0=t0,
        progress=False,
    )
    length = periods * orbit.period
    if orbit.system.contacts:
        kin, explicit = independent_contact_equations(orbit.system)
        return simulate_equations(
            kin, explicit, length, options, with_contacts=contact_run(explicit)
        )
    return simulate_equations(*select_equations(orbit.system, options.integrator), length, options)
