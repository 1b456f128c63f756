"""da.periodic: the periodic motion near a guess or a run, with its multipliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dalembert.analysis.periodic.drive import DrivePeriod, check_period, drive_period
from dalembert.analysis.periodic.flow import RTOL, TIGHT, Flow, describe
from dalembert.analysis.periodic.grazing import explain_failure, refuse_grazing
from dalembert.analysis.periodic.guess import guess_from_mode, guess_from_run
from dalembert.analysis.periodic.multipliers import FloquetMultipliers
from dalembert.analysis.periodic.orbit import (
    PeriodicOrbit,
    multipliers_at,
    multipliers_of_map,
    stability,
)
from dalembert.analysis.periodic.return_map import (
    EventShooting,
    acting_events,
    event_shooting,
    flow_with_events,
)
from dalembert.analysis.periodic.shooting import (
    Closing,
    Conditions,
    DriveSlope,
    NoPeriodicMotion,
    Shooting,
    amplitudes,
    newton_solve,
    nodes_along,
    segment_count,
)
from dalembert.analysis.periodic.structure import TWO_PI, Structure
from dalembert.errors import NotApplicable, NotASystem, Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.suggestions import check_options, suggest_name
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue, finite_number, require_mapping
from dalembert.runtime.ode.failures import RunStopped
from dalembert.runtime.simulation.trajectory import Trajectory

_AT_REST: Final = 1e-10
_HOLD: Final = ("energy", "period")
# of multipliers that were not computed a second time
_UNCHECKED: Final = 1e-7


@check_options
def periodic(
    system: System,
    start: Mapping[Any, Any] | Trajectory | None = None,
    period: float | str | None = None,
    *,
    guess: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    events: Sequence[Any] = (),
    section: str | None = None,
    returns: int = 1,
    subharmonic: int = 1,
    hold: str = "energy",
    energy: float | None = None,
    shift: Sequence[str] | None = None,
    closing: Mapping[Any, Any] | None = None,
    reversal: Mapping[str, int] | bool | None = None,
    mode: int | None = None,
    amplitude: float = 0.02,
    segments: int | None = None,
    t0: float = 0.0,
    rtol: float = RTOL,
) -> PeriodicOrbit:
    """The periodic motion near a guess, by multiple shooting on exact variational equations.

    start        initial conditions near the orbit, or a run whose end comes near one; with `mode`,
                 an equilibrium
    period       a guess of the period, or an expression such as "2*pi/Omega" for a forced system,
                 where it may be left out
    subharmonic  periods of the drive after which the motion repeats
    hold         which number stays as it is in a conservative system: "energy" (default) or
                 "period"
    energy       the energy of the orbit, if it is not that of the start
    shift        coordinates that may advance in a period; by default those on which no rate depends
    closing      a map after which the motion closes: {"theta": "-theta"} for half a period of a
                 symmetric motion
    reversal     True, or signs of coordinates {"y": -1}: a motion that time reversal maps to itself
                 (half a period is run)
    mode         begin with the linear mode of this number (1, 2, …) at the equilibrium `start`,
                 with an `amplitude`
    events       events with resets and impacts; `section` names the one after which a period ends,
                 `returns` how many times
    segments     number of shooting segments; by default from the growth of deviations
    """
    _check_system_and_hold(system, hold)
    _check_counts(returns=returns, subharmonic=subharmonic, segments=segments)
    _check_contact_segments(system, segments)
    if isinstance(start, Trajectory):
        start, result = guess_from_run(start)
        period = result if period is None else period
    given = describe(system, start, guess, values, inputs, t0)
    if section is not None and not events:
        msg = "periodic: section= names one of events=[…]; give the events"
        raise Unknown(msg)
    flow: Flow
    if events or system.contacts:
        flow = flow_with_events(given, acting_events(events), rtol)
    else:
        flow = Flow(given, (), rtol)
    if section is not None or (events and flow.autonomous and period is None):
        return _solve_orbit(*event_shooting(given, events, section, returns, period, shift, rtol))
    if mode is not None:
        flow, period = guess_from_mode(flow, mode, amplitude)
    problem = _OrbitProblem(flow, hold, energy, shift, closing, reversal)
    T, drive = problem.period(period, subharmonic)
    return problem.solve(T, drive, segments)


def _check_system_and_hold(system: object, hold: str) -> None:
    if not isinstance(system, System):
        msg = f"periodic: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    if hold not in _HOLD:
        msg = f"periodic: hold={hold!r}; choose 'energy' or 'period'"
        raise Unknown(msg)


def _check_contact_segments(system: System, segments: int | None) -> None:
    """Refuse multiple shooting with contacts."""
    if system.contacts and (segments or 1) > 1:
        msg = (
            f"periodic: segments={segments} with contacts: where a segment begins, the mode of a "
            f"contact is not known; leave segments out"
        )
        raise Unknown(msg)


def _check_counts(**counts: int | None) -> None:
    """Refuse what is not 1, 2, …; None stands for the default."""
    for name, value in counts.items():
        if value is not None and (not isinstance(value, int) or value < 1):
            msg = f"periodic: {name}={value!r}; give 1, 2, …"
            raise BadValue(msg)


class _OrbitProblem:
    """The conditions of an orbit of a flow."""

    def __init__(
        self,
        flow: Flow,
        hold: str,
        energy: float | None,
        shift: Sequence[str] | None,
        closing: Mapping[Any, Any] | None,
        reversal: Mapping[str, int] | bool | None,
    ) -> None:
        self.flow, self.hold, self.energy = flow, hold, energy
        for name in shift or ():
            if name not in flow.names[: flow.kin.n_q]:
                hint = (
                    suggest_name(str(name), flow.names)
                    or f"the coordinates are {', '.join(flow.names[: flow.kin.n_q])}"
                )
                msg = f"periodic: shift: no coordinate {name!r}: {hint}"
                raise Unknown(msg)
        self.structure = Structure(flow, shift)
        self.map = None if closing is None else closing_map(flow, closing)
        self.reversal = None if not reversal else reversal_signs(flow, reversal)

    def period(
        self, period: float | str | None, subharmonic: int
    ) -> tuple[float, DrivePeriod | None]:
        """The guess of T, and T(p) of a forced system."""
        flow = self.flow
        if flow.autonomous:
            if period is None:
                msg = (
                    "periodic: give a guess of the period, period=, or a run that comes near the "
                    "orbit as start"
                )
                raise NotApplicable(msg)
            return _positive(_period_value(flow, period)), None
        if period is None:
            drive = drive_period(flow, subharmonic)
        else:
            drive = _given_drive(flow, period, subharmonic)
        T = _positive(drive.value())
        if self.map is None:
            check_period(flow, T)
        return T, drive

    def solve(self, T: float, drive: DrivePeriod | None, segments: int | None) -> PeriodicOrbit:
        """Newton's method from the guess; the result or the closest approach."""
        shooting, z = self._begin(T, drive, segments)
        orbit = _solve_orbit(shooting, z)
        self._check_motion(shooting.unpack(orbit.z)[0], orbit.period)
        return orbit

    def _begin(
        self, T: float, drive: DrivePeriod | None, segments: int | None
    ) -> tuple[Shooting, FloatArray]:
        flow, structure = self.flow, self.structure
        x0, t0 = flow.x0, flow.given.t0
        self._check_start(x0, t0)
        span = T / 2 if self.reversal is not None else T
        try:
            arrival = flow(x0, t0, t0 + span)
        except RunStopped as problem:
            msg = f"periodic: the run of the guess stops: {problem}"
            raise NoPeriodicMotion(msg) from problem
        growth = 1.0 if flow.given.system.contacts else float(np.linalg.norm(arrival.Phi, 2))
        count = segments or segment_count(growth)
        times = np.linspace(0.0, 1.0, count + 1)
        x = nodes_along(flow, x0, span, times.tolist())
        end = arrival.x if self.map is None else self.map(arrival.x, t0 + span)[0]
        conditions = self._conditions(x0, T, drive)
        shooting = Shooting(
            flow,
            structure,
            self._closing(end, x0),
            conditions,
            times,
            x0,
            _scale(amplitudes(flow, np.array([x0, arrival.x]), T)),
            period_scale=T,
        )
        return shooting, shooting.pack(x, T, 0.0)

    def _check_start(self, x0: FloatArray, t0: float) -> None:
        if self.flow.autonomous:
            rate = self.flow.rate(x0, t0)
            moving = [r for j, r in enumerate(rate) if j not in self.structure.shifts]
            if np.linalg.norm(moving) <= _AT_REST * max(1.0, float(np.linalg.norm(x0))):
                msg = (
                    "periodic: the start is an equilibrium: every period fits; start off it, or "
                    "give mode=1 to begin with a linear mode"
                )
                raise NoPeriodicMotion(msg, 0.0)

    def _check_motion(self, x: FloatArray, T: float) -> None:
        """Refuse a solution that has collapsed to rest."""
        flow, t0 = self.flow, self.flow.given.t0
        if not flow.autonomous:
            return
        rates = np.array([flow.rate(y, t0) for y in x])
        outside = [j for j in range(flow.n) if j not in self.structure.shifts]
        if np.abs(rates[:, outside]).max() * T <= 1e-6 * max(1.0, float(np.abs(x).max())):
            msg = (
                "periodic: Newton's method has ended in an equilibrium; start farther from it, "
                "or hold the energy"
            )
            raise NoPeriodicMotion(msg, 0.0, dict(zip(flow.names, x[0].tolist(), strict=True)), T)

    def _closing(self, end: FloatArray, x0: FloatArray) -> Closing:
        """Turns of angles and signs of quaternions from where the guess ends."""
        structure, n = self.structure, self.flow.n
        turns, signs = np.zeros(n), np.ones(n)
        factor = 2.0 if self.reversal is not None else 1.0
        for j in structure.angles:
            if j in structure.shifts:
                continue
            turns[j] = np.round(factor * (end[j] - x0[j]) / TWO_PI)
        for four in structure.quaternions:
            places = list(four)
            if float(end[places] @ x0[places]) < 0.0:
                signs[places] = -1.0
        rows = tuple(j for j in range(n) if j not in structure.shifts)
        return Closing(rows, turns, signs, self.map)

    def _conditions(self, x0: FloatArray, T: float, drive: DrivePeriod | None) -> Conditions:
        """Which numbers stay: energy or period, and momenta of shifted coordinates."""
        structure, t0 = self.structure, self.flow.given.t0
        values = structure.integrals(x0, t0)[0]
        energy = period = None
        if structure.energy is not None and self.flow.autonomous:
            if self.hold == "energy":
                energy = (
                    float(values[structure.energy])
                    if self.energy is None
                    else finite_number("energy", self.energy)
                )
            else:
                period = T
        elif self.energy is not None:
            msg = "periodic: energy= is given, but the energy of this system is not constant"
            raise NotApplicable(msg)
        elif self.hold == "period" and self.flow.autonomous:
            msg = "periodic: hold='period' is for conservative systems; here the period is found"
            raise NotApplicable(msg)
        held = tuple(
            (k, float(values[k]))
            for k in range(len(values))
            if k != structure.energy and structure.shifts
        )
        by_drive = None if drive is None else DriveSlope(drive)
        return Conditions("", "", energy, period, by_drive, held, self.reversal)


def _solve_orbit(shooting: Shooting | EventShooting, z: FloatArray) -> PeriodicOrbit:
    """The orbit by Newton's method, or the closest approach."""
    try:
        z, error, converged, iterations = newton_solve(shooting, z)
    except RunStopped as problem:
        msg = f"periodic: the run of the guess stops: {problem}"
        raise NoPeriodicMotion(msg) from problem
    x, T, _ = shooting.unpack(z)
    if converged and T > 0.0:
        refuse_grazing(shooting, z)
        return orbit_of(shooting, z, iterations, error)
    state = dict(zip(shooting.flow.names, x[0].tolist(), strict=True))
    where = ", ".join(f"{k} = {v:.6g}" for k, v in state.items())
    msg = (
        f"periodic: no periodic motion near the guess; the closest approach misses by {error:.3g} "
        f"(relative) with T = {T:.6g} at {where}{explain_failure(shooting, z)}"
    )
    raise NoPeriodicMotion(msg, error, state, T)


def _scale(largest: FloatArray) -> FloatArray:
    """What counts as one for each component; none is much smaller than the others."""
    return np.maximum(largest, 0.1 * min(max(float(largest.max()), 1e-300), 1.0))


def _positive(T: float) -> float:
    if not (np.isfinite(T) and T > 0.0):
        msg = f"periodic: period = {T:g}; give a positive number"
        raise BadValue(msg)
    return T


def _period_value(flow: Flow, period: float | str) -> float:
    if not isinstance(period, str):
        return finite_number("period", period)
    return _given_drive(flow, period, 1).value()


def _given_drive(flow: Flow, period: float | str, times: int) -> DrivePeriod:
    """T(p) as a user wrote it; a number stays what it is."""
    evaluator = flow.chosen.evaluator
    if isinstance(period, str):
        node = evaluator.node(period)
        return DrivePeriod(
            flow, evaluator.tape, evaluator.in_state(node), float(times), of_frequency=False
        )
    return DrivePeriod(
        flow,
        evaluator.tape,
        evaluator.tape.one,
        finite_number("period", period) * times,
        of_frequency=False,
    )


def closing_map(
    flow: Flow, changes: Mapping[Any, Any]
) -> Callable[[FloatArray, float], tuple[FloatArray, FloatArray]]:
    """x → C(x) with ∂C/∂x, written as the reset of an event is."""
    from dalembert.runtime.simulation.events.event import BadEvent, event
    from dalembert.runtime.simulation.events.event_actions import reset_values
    from dalembert.symbolic.algebra.dual_numbers import jacobian

    evaluator = flow.chosen.evaluator
    require_mapping("closing", changes)
    try:
        places, nodes = reset_values(evaluator, event("t", reset=changes, name="closing"))
    except BadEvent as problem:
        msg = f"periodic: closing={changes!r:.80} cannot be read: {problem}"
        raise BadEvent(msg) from problem
    state = flow.kin.state

    def apply_map(x: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        numbers = {
            **flow.chosen.numbers,
            **dict(zip(state, x.tolist(), strict=True)),
            evaluator.time: t,
        }
        values, slopes = jacobian(evaluator.tape, nodes, state, numbers)
        y, D = x.copy(), np.eye(len(x))
        y[places], D[places] = values[0], slopes[0]
        return y, D

    return apply_map


def reversal_signs(flow: Flow, reversal: Mapping[str, int] | bool) -> FloatArray:
    """R with R x = (±q, ∓u), checked: f(R x) = −R f(x)."""
    given = {} if reversal is True else dict(reversal or {})
    n_q = flow.kin.n_q
    R = np.ones(flow.n)
    for name, sign in given.items():
        if name not in flow.names[:n_q] or sign not in (-1, 1):
            msg = f"periodic: reversal={{{name!r}: {sign!r}}}; name coordinates with 1 or −1"
            raise Unknown(msg)
        R[flow.names.index(name)] = sign
    # what multiplies q̇ = W u gives the sign of each speed
    R[n_q:] = -1.0
    for k, u in enumerate(flow.kin.u):
        for j, rate in enumerate(flow.kin.qdot):
            if u == rate:
                R[flow.kin.speed_offset + k] = -R[j]
    generator = np.random.default_rng(1)
    for _ in range(3):
        x = flow.x0 + 0.3 * generator.normal(size=flow.n)
        a, b = flow.rate(R * x, 0.0), -R * flow.rate(x, 0.0)
        if not np.allclose(a, b, rtol=1e-8, atol=1e-8):
            msg = (
                "periodic: these equations are not reversible with the given signs: f(R x) ≠ −R "
                "f(x)"
            )
            raise NotApplicable(msg)
    return R


def orbit_of(
    shooting: Shooting | EventShooting,
    z: FloatArray,
    iterations: int,
    error: float,
    known: FloquetMultipliers | None = None,
) -> PeriodicOrbit:
    """The orbit at a solution that was evaluated last; a second run estimates its errors.

    There is no second run where the multipliers are `known`.
    """
    flow, structure = shooting.flow, shooting.structure
    multipliers = shooting_multipliers(shooting, z) if known is None else known
    unchecked = (np.nan, np.nan, _UNCHECKED)
    errors = _errors(shooting, z, multipliers.values) if known is None else unchecked
    x, T, _ = shooting.unpack(z)
    notes = () if not structure.reason else (f"first integrals are unknown: {structure.reason}",)
    return PeriodicOrbit(
        system=flow.given.system,
        period=T,
        start=dict(zip(flow.names, x[0].tolist(), strict=True)),
        multipliers=multipliers.values,
        unit_multipliers=multipliers.unit,
        stability=stability(multipliers.values, errors[2], conservative=multipliers.conservative),
        period_error=errors[0],
        state_error=errors[1],
        multiplier_error=errors[2],
        closing_error=error,
        energy=structure.energy_at(x[0], flow.given.t0),
        constants=flow.constant_values(),
        advance=_advance(shooting, x[0]),
        iterations=iterations,
        notes=notes,
        eigenvectors=multipliers.vectors,
        monodromy=shooting.monodromy(z),
        shooting=shooting,
        z=z,
    )


def shooting_multipliers(shooting: Shooting | EventShooting, z: FloatArray) -> FloquetMultipliers:
    """The multipliers at a solution, which was evaluated last."""
    x = shooting.unpack(z)[0]
    flow, M = shooting.flow, shooting.monodromy(z)
    if isinstance(shooting, Shooting):
        return multipliers_at(flow, shooting.structure, x[0], M)
    return multipliers_of_map(flow, shooting.structure, x[0], M)


def _advance(shooting: Shooting | EventShooting, x: FloatArray) -> dict[str, float]:
    """By how much shifted coordinates and angles that turn advance in a period."""
    names, shifts = shooting.flow.names, shooting.structure.shifts
    end = shooting.end
    result = {} if end is None else {names[j]: float(end[j] - x[j]) for j in shifts}
    turned = {names[j]: float(TWO_PI * k) for j, k in enumerate(shooting.closing.turns) if k}
    return result | turned


def _errors(
    shooting: Shooting | EventShooting, z: FloatArray, values: FloatArray
) -> tuple[float, float, float]:
    """How Newton's next step and the multipliers differ in a run with smaller steps."""
    tight = shooting.with_tolerance(TIGHT)
    linear = tight(z)
    step = tight.newton_step(linear) * shooting.sizes
    again = shooting_multipliers(tight, z).values
    near = (
        np.abs(again[:, None] - values[None, :]).min(axis=0, initial=np.inf)
        if len(again)
        else np.zeros(0)
    )
    return abs(float(step[-2])), float(np.abs(step[:-2]).max()), float(near.max(initial=0.0))
