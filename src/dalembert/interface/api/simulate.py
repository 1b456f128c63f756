"""da.simulate, a described system set in motion: which equations, which quadratures, and the report
when it stops.

Two more functions take the same start, values and inputs: da.lyapunov, how fast neighbours of a run
part from it, and da.rests, whether friction holds a system where it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dalembert.errors import DalembertError, NotApplicable, NotASystem, warn
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.ode.failures import NoProgress, RunStopped

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.analysis.studies.lyapunov import LyapunovExponent
    from dalembert.runtime.contact.static_equilibrium import RestPosition
    from dalembert.runtime.simulation.energy_audit import Quadratures
    from dalembert.runtime.simulation.run_options import RunOptions
    from dalembert.runtime.simulation.trajectory import Trajectory


@check_options
def simulate(
    system: System,
    duration: float,
    *,
    start: Mapping[Any, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    rtol: float = 1e-9,
    atol: ArrayLike = 1e-9,
    at: ArrayLike | None = None,
    t0: float = 0.0,
    max_step: float = math.inf,
    progress: bool | None = None,
    integrator: str = "native",
    stabilize: str | None = None,
    baumgarte_rate: float | None = None,
    audit: bool = True,
    energy_tolerance: float | None = None,
    relative_energy_tolerance: float | None = None,
    keep_energy: bool = False,
    events: Sequence[Any] = (),
    sensitivities: Sequence[Any] = (),
) -> Trajectory:
    """The motion of a system for a duration.

    start    values of any coordinates, rates or speeds, numbers or "30 deg"; what is not named is
    zero where the constraints allow it values   constants that differ from their declared values
    inputs   inputs and prescribed motions: numbers, expressions such as 2*sin(s.t), tables
    (da.table(times, values), "road.csv"), or Python
             functions f(t) and f(t, now) with now["theta"], asked at every stage, or held by
             da.sampled(f, every=0.01)
    integrator  "native" (Runge and Kutta's 8(5,3)), "taylor" (Taylor series, for small smooth
    systems and tight tolerances),
             "rosenbrock" (for stiff systems), "auto" (the cheaper of the first two, and the third
             where these stall), or one of SciPy's (RK45, DOP853, Radau, BDF, LSODA), "CVODE", "IDA"
             or "heyoka" where installed
    stabilize   how drift off the constraints is treated: "projection" (default) in the mass metric
    after every step, "baumgarte"
             with errors that fade as e^(−baumgarte_rate t), 20 per unit of time unless given, or
             "none" (default of the other
             integrators, which cannot project)
    at       times at which to give the motion (by default the integrator's own steps; any time can
    be asked for later); of a long run
             only the steps that hold one of them are kept, and its length is not bounded by memory
    audit    integrate Z and the works of the loads alongside, for run.integrals; the motion is the
             same
    to the last bit energy_tolerance, relative_energy_tolerance   by how much K₂ + 𝒰 + Z may change
    in all, in units of energy or relative to max(K₂ + |𝒰 − 𝒰₀| + |Z|); steps are made as small as
    that takes
    keep_energy   project K₂ + 𝒰 + Z to its level after every step, by the shortest change of the
    speeds; what was
             taken out is reported (native integrator only)
    events   what to do when an expression crosses zero, [da.event("theta - 1", stop=True),
    da.impact(gap, 0.8)]; an expression by
             itself is recorded; run.events reports what happened (native integrator only)
    sensitivities   constants and start values, ["m", "theta"]: ∂(q, u)/∂m along the run by the
    varied equations, with the error
             control of the motion; read with run.sensitivity("theta", "m") (native integrator only)
    """
    from dalembert.analysis.integrals.run_integrals import check_native, energy_budget

    check_system(system, "simulate")
    if keep_energy:
        check_native(integrator)
        if sensitivities:
            msg = (
                "keep_energy changes the speeds after every step, which sensitivities do not "
                "see; leave out one of them"
            )
            raise NotApplicable(msg)
    options = parse_run_options(
        system,
        start,
        guess,
        values,
        inputs,
        events,
        rtol=rtol,
        atol=atol,
        at=at,
        t0=t0,
        max_step=max_step,
        progress=progress,
        integrator=integrator,
        stabilize=stabilize,
        baumgarte_rate=baumgarte_rate,
        sensitivities=sensitivities,
        budget=energy_budget(energy_tolerance, relative_energy_tolerance, duration, integrator),
    )
    return run_system(system, duration, options, audit=audit, keep_energy=keep_energy)


def lyapunov(
    system: System,
    duration: float,
    *,
    start: Mapping[Any, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    max_step: float = math.inf,
    t0: float = 0.0,
    seed: int = 0,
) -> LyapunovExponent:
    """The largest Lyapunov exponent of a motion, with its own error, from the varied equations
    along it.

    duration   the longer the smaller the error: about with 1/√duration for chaotic motions, with
    1/duration for regular ones seed       of the direction in which the neighbour begins The rest
    is as in da.simulate.
    """
    from dalembert.analysis.studies.lyapunov import lyapunov_of_motion

    check_system(system, "lyapunov")
    if system.contacts:
        msg = (
            "lyapunov: contacts and dry friction change the equations on the way, which the "
            "neighbour does not see"
        )
        raise NotApplicable(msg)
    options = parse_run_options(
        system, start, guess, values, inputs, rtol=rtol, atol=atol, max_step=max_step, t0=t0
    )
    return lyapunov_of_motion(
        *select_equations(system, options.integrator), duration, options, seed
    )


@check_options
def rests(
    system: System,
    *,
    at: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> RestPosition:
    """H λ = −c, N ≥ 0, |T| ≤ k μ_s N: whether friction and contacts hold a system at rest, and what
    part k of the friction it takes.

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
    kin, equations = select_equations(system, "native")
    assert isinstance(equations, ExplicitEquations)
    return solve_rest_position(kin, equations, at or {}, values or {}, inputs or {}, t)


def check_system(system: object, verb: str) -> None:
    """Refuse what is no System."""
    if not isinstance(system, System):
        msg = f"{verb}: give a System, not {type(system).__name__}"
        raise NotASystem(msg)


def parse_run_options(
    system: System,
    start: Any,
    guess: Any,
    values: Any,
    inputs: Any,
    events: Sequence[Any] = (),
    **others: Any,
) -> RunOptions:
    """The options of a run, with "30 deg" as a number and what was left out as nothing."""
    from dalembert.runtime.numerics.symbol_values import strip_units
    from dalembert.runtime.simulation.run_options import RunOptions, parse_events

    start, guess, values = (strip_units(system, given) for given in (start, guess, values))
    inputs = {} if inputs is None else inputs
    return RunOptions(
        start=start,
        guess=guess,
        values=values,
        inputs=inputs,
        events=parse_events(events),
        **others,
    )


def run_system(
    system: System,
    duration: float,
    options: RunOptions,
    *,
    audit: bool = True,
    keep_energy: bool = False,
) -> Trajectory:
    """The run itself, as its options say; where it stops, the failure says why."""
    from dalembert.analysis.integrals.run_integrals import RunIntegrals
    from dalembert.runtime.simulation.simulate import simulate_equations

    if system.expansions:
        _check_flexible_members(system, duration, options)
    kin, equations = select_equations(system, options.integrator)
    contacts = None
    if system.contacts:
        from dalembert.runtime.contact.contact_run import contact_run

        assert isinstance(equations, ExplicitEquations)
        contacts = contact_run(equations)
    if keep_energy:
        _check_energy_projection(kin)
        if contacts is not None:
            msg = (
                "keep_energy changes all speeds by one factor, which leaves what sticks on a "
                "belt; leave it out with contacts"
            )
            raise NotApplicable(msg)
    quadratures = energy_quadratures(
        kin, audit=audit, required=options.budget is not None, project_energy=keep_energy
    )
    try:
        trajectory = simulate_equations(
            kin, equations, duration, options, quadratures, RunIntegrals, contacts
        )
    except RunStopped as failure:
        if (
            options.integrator == "auto"
            and isinstance(failure, NoProgress)
            and failure.is_stiff
            and not isinstance(equations, SaddlePointEquations)
        ):
            warn(f"this run is stiff, and was repeated with integrator='rosenbrock': {failure}")
            return run_system(
                system,
                duration,
                replace(options, integrator="rosenbrock"),
                audit=audit,
                keep_energy=keep_energy,
            )
        from dalembert.analysis.integrals.run_integrals import (
            explain_energy_failure as explain_refusal,
        )
        from dalembert.mechanics.principles.kane import kane
        from dalembert.runtime.simulation.diagnosis import explain_failure

        explain_failure(failure, kane(kin).equations)
        if options.budget is not None:
            explain_refusal(failure)
        raise
    if system.expansions:
        from dalembert.analysis.flexible.assumed_modes.ritz import warn_missing_stiffening_after

        warn_missing_stiffening_after(trajectory, options.values)
    return trajectory


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


def _check_energy_projection(kin: Kinematics) -> None:
    """Speeds scaled by one factor stay on rows that do not move, and on no others."""
    moving = [
        row.row.name
        for row in kin.fork().velocity_rows
        if row.row.nonlinear is not None or row.row.b != kin.tape.zero
    ]
    if moving:
        why = "and a change of all speeds by one factor would leave it"
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
        warn(f"this run carries no energy audit: {problem}")
        return None
