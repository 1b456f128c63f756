"""Where principles meet native code: compile and simulate a description."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dalembert.agreement.agreement import Agreement
from dalembert.agreement.agreement import agreement as certify
from dalembert.equations.explicit import ExplicitEquations, solved
from dalembert.equations.form import Equations
from dalembert.equations.regularity import check_regular
from dalembert.equations.saddle import SaddleEquations, saddle
from dalembert.errors import BadExpression, DalembertError, DalembertWarning, IllPosed, NotApplicable
from dalembert.kinematics.kinematics import Kinematics, all_rates, kinematics
from dalembert.model.system import System
from dalembert.principles.base import Derivation
from dalembert.principles.kane import kane
from dalembert.principles.recursive import recursive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.integrals.energies import Energies
    from dalembert.integrals.integrals import EnergyIntegrals
    from dalembert.integrals.routh import RouthReduction
    from dalembert.integrals.symmetry import Symmetry
    from dalembert.kinetics.reactions import Reactions
    from dalembert.numerics.native import NativeDynamics
    from dalembert.simulation.audit import Quadratures
    from dalembert.simulation.trajectory import Trajectory


# p up to which M = L D Lᵀ is written out on the tape for a run: beyond, native elimination is compiled three times as fast
_LARGEST_ON_TAPE: Final = 12


def forward_dynamics(system: System) -> ExplicitEquations:
    """u̇ = g(q, u, t) by the route native code takes: link by link for open trees, otherwise Kane and M = L D Lᵀ."""
    kin = kinematics(system)
    found = kin.derived.get("forward dynamics")
    if not isinstance(found, ExplicitEquations):
        found = kin.derived["forward dynamics"] = _route(kin)
    return found


def _route(kin: Kinematics) -> ExplicitEquations:
    found = _by_links(kin)
    if found is not None:
        return found
    equations = kane(kin).equations
    check_regular(equations)
    return solved(equations)


def _by_links(kin: Kinematics) -> ExplicitEquations | None:
    """u̇ link by link; None where there is no open tree, or a joint moves nothing."""
    found = kin.derived.get("link by link", False)
    if found is False:
        try:
            found = recursive(kin)
        except (NotApplicable, BadExpression):
            found = None
        kin.derived["link by link"] = found
    return found if isinstance(found, ExplicitEquations) else None


def compile(system: System | Derivation | Equations) -> NativeDynamics:  # noqa: A001 - da.compile is the verb a user looks for
    """f = da.compile(s): native u̇ = f(q, u, t=0, **values); f(Q, U) for states in rows."""
    from dalembert.numerics.native import NativeDynamics

    if isinstance(system, System):
        return NativeDynamics(system, forward_dynamics(system))
    if isinstance(system, Derivation):
        return NativeDynamics(system.kinematics.system, solved(system.equations))
    msg = f"compile: give a System or a Derivation, not {type(system).__name__}"
    raise TypeError(msg)


def agreement(system: System, *, compiled: bool = True) -> Agreement:
    """Every principle on one system with the exact certificate, the audit, and the compiled route held against them."""
    result = certify(system)
    if not compiled:
        return result
    from dalembert.numerics.check import check_compiled

    try:
        native = compile(system)
    except IllPosed:
        return result  # the principles may agree on equations that determine no motion
    return replace(result, compiled=check_compiled(native, kane(kinematics(system)).equations))


def energy_integrals(
    system: System, *, values: Mapping[Any, Any] | None = None, inputs: Mapping[Any, Any] | None = None
) -> EnergyIntegrals:
    """The six energy integrals of a system in its speeds, each decided: constant or not, and under which condition.

    values   constants that are to count as zero, or as arbitrary (any other number)
    inputs   specified motions and inputs: numbers or expressions such as 2*sin(s.t)
    """
    from dalembert.integrals.integrals import energy_integrals as decide

    return decide(*_energies(system, values or {}, inputs or {}))


def symmetry(
    system: System, xi: Mapping[Any, Any], *, values: Mapping[Any, Any] | None = None, inputs: Mapping[Any, Any] | None = None
) -> Symmetry:
    """Whether p·ξ or H − p·ξ is constant for a direction of the coordinates: da.symmetry(s, {x: -y, y: x, phi: 1})."""
    from dalembert.algebra.scalar import on
    from dalembert.integrals.decide import OnTheMotion
    from dalembert.integrals.symmetry import symmetry as decide

    E, equations, where = _energies(system, values or {}, inputs or {})
    names = {q.name: q.i for q in system.q}
    direction: dict[int, int] = {}
    for key, e in xi.items():
        name = key if isinstance(key, str) else getattr(key, "name", None)
        if name not in names:
            msg = f"symmetry: {key!r} is no coordinate of {system.name!r}; the coordinates are {', '.join(map(str, names))}"
            raise BadExpression(msg)
        direction[names[name]] = on(E.t, system.expression(e) if isinstance(e, str) else e)
    return decide(E, OnTheMotion(E.t, equations, E.kin.nonlinear_rows), direction, where)


def routh(system: System) -> RouthReduction:
    """Routh's reduction: ignorable coordinates removed, their momenta constants."""
    from dalembert.integrals.decide import OnTheMotion
    from dalembert.integrals.routh import routh as reduce

    E, equations, _ = _energies(system, {}, {})
    return reduce(E, OnTheMotion(E.t, equations, E.kin.nonlinear_rows))


def _energies(system: System, values: Mapping[Any, Any], inputs: Mapping[Any, Any]) -> tuple[Energies, Equations, dict[int, int]]:
    """The energies and powers, the equations of motion, and what is known of constants, motions and inputs."""
    from dalembert.integrals.bindings import known
    from dalembert.integrals.energies import Energies
    from dalembert.simulation.setting import setting

    kin = kinematics(system)
    equations = kane(kin).equations
    check_regular(equations)
    E = Energies(kin)
    _check_powerless(E, equations)
    return E, equations, known(E, setting(kin, values, inputs))


def _check_powerless(E: Energies, equations: Equations) -> None:
    """A u = 0 where φ = 0: otherwise the reaction of a row that is not linear has power, which none of the energies counts."""
    from dalembert.integrals.decide import OnTheMotion

    motion = OnTheMotion(E.t, equations, E.kin.nonlinear_rows)
    for row in E.kin.nonlinear_rows:
        power = E.t.zero
        for r, a in row.A.items():
            power = E.t.add(power, E.t.mul(a, E.kin.u[r]))
        if not motion.vanishes(power):
            why = "is not linear in the velocities, and its reaction has power"
            msg = f"energy integrals: {row.row.name!r} {why}; run.energy and run.integrals of a simulation show what is kept"
            raise NotApplicable(msg)


def reactions(system: System) -> Reactions:
    """The wrench in every joint and the force of every constraint row, as expressions."""
    from dalembert.kinetics.reactions import reactions as reactions_of

    return reactions_of(kinematics(system))


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
) -> Trajectory:
    """The motion of a system for a duration.

    start    values of any coordinates, rates or speeds; what is not named is zero where the constraints allow it
    values   constants that differ from their declared values
    inputs   inputs and specified motions: numbers or expressions such as 2*sin(s.t)
    integrator  "native", or one of SciPy's (RK45, DOP853, Radau, BDF, LSODA), "CVODE", "IDA" or "heyoka" where installed
    stabilize   how drift off the constraints is treated: "projection" (default) in the mass metric after every step, "baumgarte"
             with errors that fade as e^(−baumgarte_rate t), 20 per unit of time unless given, or "none" (default of the other
             integrators, which cannot project)
    at       times at which to give the motion (by default the integrator's own steps; any time can be asked for later)
    audit    let Z and the works of the loads ride along, for run.integrals; the motion is the same to the last bit
    energy_tolerance, relative_energy_tolerance   by how much K₂ + 𝒰 + Z may change in all, in units of energy or as a
             part of max(K₂ + |𝒰 − 𝒰₀| + |Z|); steps are made as small as that takes
    keep_energy   bring K₂ + 𝒰 + Z back to its level after every step, by the shortest change of the speeds; what was
             taken out is reported (native integrator only)
    events   what to do when an expression crosses zero, [da.event("theta - 1", stop=True), da.impact(gap, 0.8)]; an expression by
             itself is recorded; run.events tells what happened (native integrator only)
    """
    from dalembert.integrals.audit import RunIntegrals
    from dalembert.integrals.moderation import budget, check_native
    from dalembert.integrals.moderation import explain as explain_refusal
    from dalembert.simulation.events.event import read_events
    from dalembert.simulation.failures import RunStopped
    from dalembert.simulation.simulate import Wish, run
    from dalembert.simulation.stopping import explain

    if not isinstance(system, System):
        msg = f"simulate: give a System, not {type(system).__name__}"
        raise TypeError(msg)
    wish = Wish(
        start={} if start is None else start,
        guess={} if guess is None else guess,
        values={} if values is None else values,
        inputs={} if inputs is None else inputs,
        rtol=rtol,
        atol=atol,
        at=at,
        t0=t0,
        max_step=max_step,
        progress=progress,
        integrator=integrator,
        stabilize=stabilize,
        baumgarte_rate=baumgarte_rate,
        events=read_events(events),
        budget=budget(energy_tolerance, relative_energy_tolerance, duration, integrator),
    )
    if keep_energy:
        check_native(integrator)
    if system.expansions:
        from dalembert.flexible.softening import warn_of_softening
        from dalembert.flexible.values import check_values

        check_values(system, wish.values)
        warn_of_softening(kinematics(system), duration, t0, wish.start, wish.values, wish.inputs)
    kin, equations = _motion(system, integrator)
    if keep_energy:
        _check_level(kin)
    watched = _watched(kin, audit=audit, needed=wish.budget is not None, level=keep_energy)
    try:
        made = run(kin, equations, duration, wish, watched, RunIntegrals)
    except RunStopped as failure:
        explain(failure, kane(kin).equations)
        if wish.budget is not None:
            explain_refusal(failure)
        raise
    if system.expansions:
        from dalembert.flexible.softening import warn_of_softened_run

        warn_of_softened_run(made, wish.values)
    return made


def _motion(system: System, integrator: str) -> tuple[Kinematics, ExplicitEquations | SaddleEquations]:
    """What a run integrates: independent speeds where they can never be singular or were declared, otherwise all rates."""
    kin = kinematics(system)
    free = not system.speed_list
    needed = bool(kin.nonlinear) or (free and bool(system.constraints) and (bool(kin.redundant) or kin.n_u == 0))
    wanted = free and bool(kin.moving_pivots)
    # solved by numbers rather than on the tape, which takes n³/6 operations to write and to compile
    large = kin.n_u > _LARGEST_ON_TAPE and (free or not system.constraints) and _by_links(kin) is None
    if integrator == "heyoka" and needed:
        msg = "heyoka needs independent speeds in closed form, which these constraints do not give; choose another integrator"
        raise NotApplicable(msg)
    if integrator == "heyoka" or not (needed or wanted or large):
        return kin, forward_dynamics(system)
    return _beside(all_rates(kin) if system.constraints else kin)


def _beside(kin: Kinematics) -> tuple[Kinematics, SaddleEquations]:
    """The equations with the rows beside them; computed once."""
    found = kin.derived.get("saddle")
    if not isinstance(found, SaddleEquations):
        d = kane(kin)
        found = kin.derived["saddle"] = saddle(d.kinematics, d.equations)
    return kin, found


def _check_level(kin: Kinematics) -> None:
    """Speeds scaled by one factor stay on rows that do not move, and on no others."""
    moving = [row.row.name for row in kin.velocity_rows if row.row.nonlinear is not None or row.row.b != kin.tape.zero]
    if moving:
        why = "and a change of all speeds by one factor would leave it"
        msg = f"keep_energy: {moving[0]!r} moves or is not linear, {why}; declare speeds (s.speeds)"
        raise NotApplicable(msg)


def _watched(kin: Kinematics, *, audit: bool, needed: bool, level: bool) -> Quadratures | None:
    """Z and the works, where they are wanted and can be had."""
    from dalembert.integrals.audit import leveled, quadratures

    if not (audit or needed or level):
        return None
    try:
        return leveled(quadratures(kin)) if level else quadratures(kin)
    except DalembertError as problem:
        if needed or level:
            raise
        warnings.warn(f"this run carries no energy audit: {problem}", DalembertWarning, stacklevel=3)
        return None
