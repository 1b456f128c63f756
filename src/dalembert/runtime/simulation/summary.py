"""A run in a few lines: how far it came, what it cost, how it began, how well it kept energy and
constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from dalembert.runtime.simulation.events.event import Occurrence
    from dalembert.runtime.simulation.trajectory import Trajectory
    from dalembert.symbolic.algebra.scalar import Scalar

# a longer start is counted; print(run.start) shows it
_LONGEST_START: Final = 24


def summary(run: Trajectory) -> str:
    """The lines, joined."""
    return "\n".join(
        [
            f"{run.system.name}: {_time_line(run)}",
            _cost_line(run),
            *_start(run),
            _energy(run),
            *_integrals(run),
            *_constraints(run),
            *_truncation_lines(run),
            *event_lines(run),
        ]
    )


def summary_dict(run: Trajectory) -> dict[str, Any]:
    """The same as numbers by name, with the state at either end."""
    s = run.solution
    return {
        "system": run.system.name,
        "t": [s.t[0], s.t[-1]],
        "finished": run.finished,
        "message": s.message,
        "steps": s.steps,
        "rejected": s.rejected,
        "evaluations": s.calls,
        "start": dict(zip(run.names, run.y[0], strict=True)),
        "end": dict(zip(run.names, run.y[-1], strict=True)),
        "energy": [run.energy[0], run.energy[-1]],
        "conserves_energy": run.conserves_energy,
        "energy_drift": run.energy_drift if run.conserves_energy else None,
        "residuals": {name: np.max(np.abs(r), initial=0.0) for name, r in run.residuals.items()},
        "events": [{"t": o.t, "name": o.name, "action": o.action} for o in run.events],
    }


def _time_line(run: Trajectory) -> str:
    first, last = run.solution.t[0], run.solution.t[-1]
    way = f"t = {first:.6g} … {last:.6g}"
    if run.finished:
        ended = run.t_end is not None and last < run.t_end
        how = f"ended by {run.solution.ended_by!r}" if run.solution.ended_by else "finished"
        return f"{way} of {run.t_end:.6g}, {how}" if ended else way
    asked = "" if run.t_end is None else f" of {run.t_end:.6g}"
    reason = f" ({run.solution.message})" if run.solution.message else ""
    return f"{way}{asked}, NOT FINISHED: {run.solution.outcome.value}{reason}"


def grouped_events(run: Trajectory) -> dict[tuple[str, str], list[Occurrence]]:
    """What happened, by its name and what was done."""
    groups: dict[tuple[str, str], list[Occurrence]] = {}
    for o in run.events:
        groups.setdefault((o.name, o.action), []).append(o)
    return groups


def event_lines(run: Trajectory) -> list[str]:
    """How often each event happened, and which never did."""
    lines = [
        f"event {name} ({action}): {_format_times([o.t for o in group])}"
        for (name, action), group in grouped_events(run).items()
    ]
    return lines + [f"event {name}: never fired" for name in run.solution.untriggered_events]


def _format_times(times: list[float]) -> str:
    return (
        f"at t = {times[0]:.9g}"
        if len(times) == 1
        else f"{len(times)} times, t = {times[0]:.9g} … {times[-1]:.9g}"
    )


def _cost_line(run: Trajectory) -> str:
    s = run.solution
    seconds = "" if run.wall_time is None else f", {format_duration(run.wall_time)}"
    other = "" if len(run) == s.steps + 1 else f"; shown at {len(run)} times"
    return f"{s.steps} steps, {s.rejected} rejected, {s.calls} evaluations{seconds}{other}"


def format_duration(seconds: float) -> str:
    """0.00024 → 0.24 ms"""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _start(run: Trajectory) -> list[str]:
    if len(run.start.values) <= _LONGEST_START:
        return str(run.start).splitlines()
    return [
        (
            f"start at t = {run.start.t:.12g}: {run.start.origin_counts()}; print(run.start) lists "
            f"them"
        ),
        *run.start.notes,
    ]


def _energy(run: Trajectory) -> str:
    E = run.energy
    J = " J" if run.system.has_units else ""
    if run.conserves_energy and run.is_at_rest:
        change = np.max(np.abs(run.energy_change), initial=0.0)
        return f"energy: T + V changes by {change:.2g}{J}, which is rounding (at rest, or nearly)"
    if run.conserves_energy:
        return f"energy: drift {run.energy_drift:.2g} of the largest kinetic energy"
    return (
        f"energy: from {E[0]:.6g}{J} to {E[-1]:.6g}{J} (loads or moving constraints do work)"
        if len(E)
        else "energy: no times"
    )


def _integrals(run: Trajectory) -> list[str]:
    return str(run.integrals).splitlines() if run.energy_audit is not None and len(run) else []


def _constraints(run: Trajectory) -> list[str]:
    sizes = {name: float(np.max(np.abs(r), initial=0.0)) for name, r in run.residuals.items()}
    if not sizes:
        return []
    worst = max(sizes, key=lambda name: sizes[name])
    accelerations = run.acceleration_residuals if run.kinematics.velocity_rows else {}
    largest = max(
        (float(np.max(np.abs(r), initial=0.0)) for r in accelerations.values()), default=0.0
    )
    return [
        f"constraints: largest violation {sizes[worst]:.2g} ({worst})"
        + (f", {largest:.2g} in accelerations" if accelerations else "")
    ]


def _truncation_lines(run: Trajectory) -> list[str]:
    """Whether enough functions of every expanded member are kept."""

    def size(q: Scalar) -> float:
        return float(np.max(np.abs(run[q]), initial=0.0))

    return [
        line
        for expansion in run.system.expansions.values()
        for line in expansion.truncation_report(size)
    ]
