"""da.simulate, a described system set in motion: which equations, which quadratures, and the report
when it stops.

Two more functions take the same start, values and inputs: da.lyapunov, how fast neighbours of a run
part from it, and da.rests, whether friction holds a system where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from dalembert.errors import DalembertError, NotApplicable, NotASystem, warn
from dalembert.foundation.caching import paused_collection
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.likely_errors import warn_stiff_run
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import independent_contact_equations, select_equations
from dalembert.runtime.ode.failures import NoProgress, RunStopped
from dalembert.runtime.simulation.run_options import (
    RunOptions,
    SimulationKeywords,
    StartKeywords,
    parse_events,
    take_run_options,
)

if TYPE_CHECKING:
    from dalembert.analysis.studies.lyapunov import LyapunovExponent
    from dalembert.runtime.contact.static_equilibrium import RestPosition
    from dalembert.runtime.simulation.energy_audit import Quadratures
    from dalembert.runtime.simulation.simulate import RunMemory, SwitchedRun
    from dalembert.runtime.simulation.trajectory import Trajectory
    from dalembert.runtime.states.run_values import RunValues


@check_options
@take_run_options(SimulationKeywords)
def simulate(
    system: System,
    duration: float,
    *,
    audit: bool = True,
    energy_tolerance: float | None = None,
    relative_energy_tolerance: float | None = None,
    keep_energy: bool = False,
    **options: Unpack[SimulationKeywords],
) -> Trajectory:
    """The motion of a system for a duration.

    duration   how long it runs, in seconds or as "2 min"
    start      values of any coordinates, rates or speeds, numbers or "30 deg"; what is not named
               is zero where the constraints allow it
    guess      near which values coordinates are solved for: it selects the way of assembly
    values     constants that differ from their declared values
    inputs     inputs and prescribed motions: numbers, expressions such as 2*sin(s.t), tables
               (da.table(times, values), "road.csv"), or Python functions f(t) and f(t, now) with
               now["theta"], called at every stage, or held by da.sampled(f, every=0.01)
    t0         the initial time
    at         times at which to give the motion, by default the integrator's own steps; any time
               can be asked for later. Of a long run only the steps that hold one of them are kept,
               so that memory does not bound its length
    rtol, atol   relative and absolute tolerance of each step; atol may be a list, one for each
               component of the state
    max_step   the longest step
    integrator  "native" (Runge and Kutta's 8(5,3)), "taylor" (Taylor series, for small smooth
               systems and tight tolerances), "rosenbrock" (for stiff systems), "auto" (the cheaper
               of the first two, and the third where these stall), or, where installed, one of
               SciPy's (RK45, DOP853, Radau, BDF, LSODA), "CVODE", "IDA" or "heyoka"
    stabilize  constraint stabilization: "projection" (default) in the mass metric after every
               step, "baumgarte" with errors that fade as e^(−baumgarte_rate t), or "none" (default
               of the other integrators, which cannot project)
    baumgarte_rate   20 per unit of time unless given
    events     what to do when an expression crosses zero: [da.event("theta - 1", stop=True),
               da.impact(gap, 0.8)]; an expression by itself is recorded. run.events lists what
               happened (native integrators only)
    sensitivities   constants and initial values, ["m", "theta"]: ∂(q, u)/∂m along the run, with
               the error control of the motion; read with run.sensitivity("theta", "m") (native
               integrator only)
    progress   show a progress bar; by default on a terminal
    audit      integrate Z and the works of the loads alongside, for run.integrals; the motion is
               the same to the last bit
    energy_tolerance, relative_energy_tolerance   by how much K₂ + 𝒰 + Z may change in all, in
               units of energy or relative to max(K₂ + |𝒰 − 𝒰₀| + |Z|); steps are made as small as
               that takes
    keep_energy   project K₂ + 𝒰 + Z to its level after every step, by the shortest change of the
               speeds; what was taken out is reported (native integrator only)
    """
    with paused_collection():
        from dalembert.analysis.integrals.run_integrals import check_native, energy_budget

    check_system(system, "simulate")
    chosen = parse_run_options(system, options)
    if keep_energy:
        check_native(chosen.integrator)
        if chosen.sensitivities:
            msg = (
                "keep_energy changes the speeds after every step, which sensitivities do not "
                "include; leave out one of them"
            )
            raise NotApplicable(msg)
    budget = energy_budget(energy_tolerance, relative_energy_tolerance, duration, chosen.integrator)
    if budget is not None:
        chosen = replace(chosen, budget=budget)
    return run_system(system, duration, chosen, audit=audit, keep_energy=keep_energy)


@check_options
@take_run_options(StartKeywords)
def lyapunov(
    system: System, duration: float, *, seed: int = 0, **options: Unpack[StartKeywords]
) -> LyapunovExponent:
    """The largest Lyapunov exponent of a motion, with its own error, from the variational
    equations along it.

    duration   the longer the smaller the error: about with 1/√duration for chaotic motions, with
               1/duration for regular ones
    seed       of the direction in which the neighbour begins

    The other options are those of da.simulate.
    """
    from dalembert.analysis.studies.lyapunov import lyapunov_of_motion

    check_system(system, "lyapunov")
    if system.contacts:
        msg = (
            "lyapunov: systems with contacts or dry friction are not supported: their equations "
            "change along the run"
        )
        raise NotApplicable(msg)
    chosen = parse_run_options(system, options)
    return lyapunov_of_motion(*select_equations(system, chosen.integrator), duration, chosen, seed)


@check_options
def rests(
    system: System,
    *,
    at: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> RestPosition:
    """H λ = −c, N ≥ 0, |T| ≤ k μ_s N: whether friction and contacts hold a system at rest, and
    the fraction k of the friction that this needs.

    `at` gives the position as `start` of a run does. Equilibria with friction are sets: those
    positions with k ≤ 1.
    """
    from dalembert.runtime.contact.static_equilibrium import solve_rest_position

    check_system(system, "rests")
    if not system.contacts:
        msg = (
            "rests: this system has no contact and no friction; da.equilibrium finds where it rests"
        )
        raise NotApplicable(msg)
    kin, equations = independent_contact_equations(system)
    return solve_rest_position(kin, equations, at or {}, values or {}, inputs or {}, t)


def check_system(system: object, verb: str) -> None:
    """Refuse what is no System."""
    if not isinstance(system, System):
        msg = f"{verb}: give a System, not {type(system).__name__}"
        raise NotASystem(msg)


def parse_run_options(system: System, given: Mapping[str, Any]) -> RunOptions:
    """The options of a run, with "30 deg" as a number and what was left out at its default."""
    from dalembert.runtime.numerics.symbol_values import strip_units

    options = dict(given)
    for name in ("start", "guess", "values"):
        options[name] = strip_units(system, options.get(name))
    if options.get("inputs") is None:
        options["inputs"] = {}
    return RunOptions(**{**options, "events": parse_events(options.get("events", ()))})


def _explain_stop(failure: RunStopped, kin: Kinematics, options: RunOptions) -> None:
    """Add to the failure what stopped the run, in the terms of the equations and the energy."""
    from dalembert.analysis.integrals.run_integrals import explain_energy_failure
    from dalembert.mechanics.principles.kane import kane
    from dalembert.runtime.simulation.diagnosis import explain_failure

    explain_failure(failure, kane(kin).equations)
    if options.budget is not None:
        explain_energy_failure(failure)


def run_system(
    system: System,
    duration: float,
    options: RunOptions,
    *,
    audit: bool = True,
    keep_energy: bool = False,
    memory: RunMemory | None = None,
) -> Trajectory:
    """The run itself, as its options say; where it stops, the failure says why."""
    with paused_collection():
        from dalembert.analysis.integrals.run_integrals import RunIntegrals
        from dalembert.runtime.simulation.simulate import simulate_equations

    if system.expansions:
        _check_flexible_members(system, duration, options)
    kin, equations = select_equations(system, options.integrator)
    contacts = _contact_binding(system, equations)
    if keep_energy:
        _check_energy_projection(kin, contacts=contacts is not None)
    quadratures = energy_quadratures(
        kin, audit=audit, required=options.budget is not None, project_energy=keep_energy
    )
    try:
        trajectory = simulate_equations(
            kin, equations, duration, options, quadratures, RunIntegrals, contacts, memory
        )
    except RunStopped as failure:
        stiff = isinstance(failure, NoProgress) and failure.is_stiff
        explicit = not isinstance(equations, SaddlePointEquations)
        if options.integrator == "auto" and stiff and explicit:
            warn(f"this run is stiff, and was repeated with integrator='rosenbrock': {failure}")
            again = replace(options, integrator="rosenbrock")
            return run_system(system, duration, again, audit=audit, keep_energy=keep_energy)
        _explain_stop(failure, kin, options)
        raise
    _warn_after_run(system, trajectory, options)
    return trajectory


def _contact_binding(
    system: System, equations: ExplicitEquations | SaddlePointEquations
) -> Callable[[RunValues, RunOptions], SwitchedRun] | None:
    """What binds the forces of contacts, where there are any."""
    if not system.contacts:
        return None
    from dalembert.runtime.contact.contact_run import contact_run

    assert isinstance(equations, ExplicitEquations)
    return contact_run(equations)


def _warn_after_run(system: System, trajectory: Trajectory, options: RunOptions) -> None:
    """Beams that turned too fast for their members, and a stiff run by the wrong method."""
    if system.expansions:
        from dalembert.analysis.flexible.assumed_modes.ritz import warn_missing_stiffening_after

        warn_missing_stiffening_after(trajectory, options.values)
    if trajectory.solution.stiff and options.integrator == "native":
        warn_stiff_run(system, trajectory.solution.steps)


def _check_flexible_members(system: System, duration: float, options: RunOptions) -> None:
    """Members in a system: their values are checked, and beams that will turn too fast are
    named.
    """
    from dalembert.analysis.flexible.assumed_modes.member_properties import check_values
    from dalembert.analysis.flexible.assumed_modes.ritz import warn_missing_stiffening

    check_values(system, options.values)
    warn_missing_stiffening(
        kinematics(system), duration, options.t0, options.start, options.values, options.inputs
    )


def _check_energy_projection(kin: Kinematics, *, contacts: bool) -> None:
    """Speeds scaled by one factor stay on rows that do not move, and on no others."""
    if contacts:
        msg = (
            "keep_energy scales all speeds by one factor, so a contact that sticks on a belt would "
            "slip; leave it out with contacts"
        )
        raise NotApplicable(msg)
    moving = [
        row.row.name
        for row in kin.fork().velocity_rows
        if row.row.nonlinear is not None or row.row.b != kin.tape.zero
    ]
    if moving:
        why = "and scaling all speeds by one factor would violate it"
        msg = f"keep_energy: {moving[0]!r} moves or is not linear, {why}; declare speeds (s.speeds)"
        raise NotApplicable(msg)


def energy_quadratures(
    kin: Kinematics, *, audit: bool, required: bool, project_energy: bool
) -> Quadratures | None:
    """Z and the works, where they are wanted and available."""
    from dalembert.analysis.integrals.run_integrals import quadratures, with_defect_quadrature

    if not (audit or required or project_energy):
        return None
    try:
        return with_defect_quadrature(quadratures(kin)) if project_energy else quadratures(kin)
    except DalembertError as problem:
        if required or project_energy:
            raise
        warn(f"this run has no energy audit: {problem}")
        return None
