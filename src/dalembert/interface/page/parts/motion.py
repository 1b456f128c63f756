"""The run: its animation, the plots that share its clock, the energy integrals along it and what
their drift is due to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.interface.page.data_blocks import largest_magnitude
from dalembert.interface.page.formula_budget import (
    BudgetedFormulaWriter,
    CompressingRenderer,
    truncate_displays,
)
from dalembert.interface.page.html_elements import (
    scientific,
    section,
    shell_argument,
    shown_name,
    tab_bar,
    tab_panel,
    table,
    typeset,
)
from dalembert.interface.page.interactive_panel import PHASE
from dalembert.interface.page.simulator.outputs import reaction_offsets
from dalembert.interface.page.time_plots import Plots
from dalembert.interface.report.document_blocks import Heading
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.result_blocks import energy_integrals
from dalembert.runtime.simulation.plotting.chart import Curve, Panel
from dalembert.runtime.simulation.summary import grouped_events
from dalembert.symbolic.algebra.printing.mathml import math
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from dalembert.analysis.integrals.run_integrals import RunIntegrals
    from dalembert.interface.page.report_page import ReportData
    from dalembert.interface.page.scene import Scene
    from dalembert.mechanics.model.elements import UnilateralContact
    from dalembert.mechanics.model.system import System
    from dalembert.runtime.simulation.reactions.loads import JointLoad, RowLoad, RunReactions
    from dalembert.runtime.simulation.trajectory import Trajectory


_MOST_PANELS: Final = 60
_MOST_EVENTS: Final = 40
_MOST_REACTIONS: Final = 24
# reactions below this part of the largest are rounding
_ROUNDOFF: Final = 1e-11
_GO: Final = (
    '<svg viewBox="0 0 16 16" class="go" aria-hidden="true"><path d="M4 2.5v11l9.5-5.5z"/></svg>'
)
_PAUSE: Final = (
    '<svg viewBox="0 0 16 16" class="pause" aria-hidden="true"><path d="M3.5 '
    '2.5h3v11h-3zm6 0h3v11h-3z"/></svg>'
)
PLAY: Final = f'<button class="play" type="button" aria-label="Play">{_GO}{_PAUSE}</button>'
_ARROWS: Final = {
    "weight": "weights",
    "load": "loads",
    "normal": "normal forces",
    "friction": "friction",
    "torque": "torques",
    "reaction": "reactions",
}
_SPEEDS: Final = {
    "auto": "≈ 8 s",
    "0.01": "0.01×",
    "0.1": "⅒×",
    "0.25": "¼×",
    "0.5": "½×",
    "1": "1×",
    "2": "2×",
    "4": "4×",
    "10": "10×",
}
_STEPS: Final = "".join(
    f'<button type="button" class="step" data-step="{way}" aria-label="One picture {word}">{sign}'
    "</button>"
    for way, word, sign in (("-1", "back", "‹"), ("1", "forward", "›"))
)
_REPEAT: Final = (
    '<label><input type="checkbox" data-loop checked> loop</label>'
    '<label title="Continue after the end"><input type="checkbox" data-endless> endless</label>'
)
_EXPORTS: Final = "".join(
    f'<button type="button" data-take="{action}">{label}</button>'
    for action, label in {
        "full": "full screen",
        "png": "PNG",
        "svg": "SVG",
        "film": "video",
        "link": "copy link",
    }.items()
)
_VIEWS: Final = {"home": "natural", "front": "front", "side": "side", "top": "top"}
_SHOWN: Final = {
    "arrows": "forces",
    "velocities": "velocities",
    "traces": "traces",
    "frames": "frames",
    "labels": "names",
}


def scene_player(study: ReportData, plots: Plots | None, drawn: Scene | None, sketch: str) -> str:
    """The scene with its controls, for the first screen."""
    if drawn is None or plots is None:
        return ""
    unit = "m" if study.system.has_units else ""
    return player(sketch, plots, arrow_legend(drawn, study.system), unit)


def motion(
    study: ReportData, even: Trajectory | None, plots: Plots | None, drawn: Scene | None
) -> str:
    """How it began, and the groups of plots behind a switch; `even` is the run at even times."""
    run = study.run
    if run is None or even is None or plots is None:
        return section("motion", "Motion", f"<p>Not run: {escape(study.run_failure)}</p>")
    shown = [
        (title, panels)
        for title, panels in plot_groups(
            run, even, largest_magnitude(drawn, "force") if drawn is not None else 0.0
        )
        if panels
    ]
    titles = [(str(k), title) for k, (title, _) in enumerate(shown)]
    grids = [
        tab_panel("group", "group", str(k), title, plots.grid(panels), first=not k)
        for k, (title, panels) in enumerate(shown)
    ]
    remarks = "".join(f'<p class="fails">{escape(remark)}</p>' for remark in study.remarks)
    return section(
        "motion",
        "Motion",
        f'<p class="caption">{_run_sentence(run)}</p>',
        remarks,
        event_table(run),
        contact_mode_bands(plots),
        tab_bar("Plots", "group", titles),
        *grids,
        PHASE,
    )


def _run_sentence(run: Trajectory) -> str:
    asked = [m for m in run.start.values if m.origin == "given"]
    given = ", ".join(
        f"{shown_name(run.system, m.name)} = {m.value:.6g} "
        f"{run.start.units.get(m.name, '')}".rstrip()
        for m in asked
    )
    s = run.solution
    reached = (
        f"{run.t[-1] - run.t[0]:.6g} s in {s.steps} steps, {s.rejected} rejected, {s.calls} "
        f"evaluations"
    )
    stopped = "" if run.finished else f" It stopped before its end: {s.message or s.outcome.value}."
    return escape(f"From {given or 'zero'}: {reached}.{stopped}")


def event_table(run: Trajectory) -> str:
    """What happened, how often, first and last, and the energy that it took or gave."""
    groups = grouped_events(run)
    rows = [
        (
            escape(name),
            escape(action),
            str(len(group)),
            f"{group[0].t:.9g}",
            f"{group[-1].t:.9g}" if len(group) > 1 else "",
            scientific(taken) if (taken := sum(o.energy for o in group)) else "",
        )
        for (name, action), group in groups.items()
    ]
    rows += [(escape(x), "never fired", "0", "", "", "") for x in run.solution.untriggered_events]
    if not rows:
        # other runs of the page may have some
        return '<div class="events"></div>' if run.system.contacts else ""
    more = f"<p>{len(rows) - _MOST_EVENTS} more follow.</p>" if len(rows) > _MOST_EVENTS else ""
    unit = " in J" if run.system.has_units else ""
    heads = "event", "what happens", "times", "first, t", "last, t", f"energy{unit}"
    return f'<div class="events">{table(heads, rows[:_MOST_EVENTS])}{more}</div>'


# ---- the stage -------------------------------------------------------------------------------


def arrow_legend(drawn: Scene, system: System) -> str:
    """The kinds of arrows there are to be seen, and what the longest of them stands for."""
    there = {a.kind for a in drawn.arrows}
    kinds = "".join(
        f'<span><i style="background:var(--{kind})"></i>{_ARROWS[kind]}</span>'
        for kind in _ARROWS
        if kind in there
    )
    known, forces, torques = system.has_units, there - {"torque"}, there & {"torque"}
    scales = [f"force {scientific(largest_magnitude(drawn, 'force'))}{' N' * known}"] * bool(forces)
    scales += [f"torque {scientific(largest_magnitude(drawn, 'torque'))}{' N m' * known}"] * bool(
        torques
    )
    return (
        f"{kinds}<span>longest arrow of the recorded run: {', '.join(scales)}</span>"
        if scales
        else ""
    )


def player(sketch: str, plots: Plots, legend: str, unit: str = "") -> str:
    """A stage with its controls; until the script has begun it shows the drawing."""
    speeds = "".join(f'<option value="{k}">{label}</option>' for k, label in _SPEEDS.items())
    views = "".join(f'<option value="{k}">{label}</option>' for k, label in _VIEWS.items())
    wanted = {key: label for key, label in _SHOWN.items() if legend or key != "arrows"}
    boxes = "".join(
        f'<label><input type="checkbox" data-show="{key}"> {label}</label>'
        for key, label in wanted.items()
    )
    ends = f'min="{plots.first!r}" max="{plots.last!r}" value="{plots.first!r}"'
    return (
        f'<div class="player" id="player"><div class="stage"><div class="fallback">{sketch}</div>'
        '<canvas tabindex="0" role="img" aria-label="The system in motion; arrow keys turn it, '
        'plus and minus zoom, space plays"></canvas>'
        '<div class="labels" aria-hidden="true" hidden></div>'
        '<div class="energies empty" aria-hidden="true"></div>'
        f'<div class="ruler" aria-hidden="true" data-unit="{unit}"></div></div>'
        f'<div class="controls"><div class="time">{PLAY}{_STEPS}<input type="range" {ends} '
        f'step="any" aria-label="Time"><output '
        f'class="clock"></output></div>'
        f'<label>speed <select class="speed">{speeds}</select></label>'
        f'<details class="view"><summary>view and export</summary><div>{_REPEAT}'
        f'<label>view <select class="camera">{views}</select></label>'
        f'<label><input type="checkbox" data-follow> follow</label>{boxes}{_EXPORTS}</div>'
        f'</details></div><div class="legend" hidden>{legend}</div></div>'
    )


def contact_mode_bands(plots: Plots) -> str:
    """What contacts do over the time of all plots."""
    return "" if plots.modes is None else plots.modes.figure()


# ---- plots -----------------------------------------------------------------------------------


def _panel(title: str, t: FloatArray, *curves: tuple[str, FloatArray, str], **how: Any) -> Panel:
    """Curves over the same times: the name of each, its values, and what a run in the page calls
    it.
    """
    return Panel(title, tuple(Curve(name, t, x, key=key) for name, x, key in curves), **how)


def _single_panels(
    t: FloatArray, names: Iterable[str], columns: Iterable[FloatArray], letter: str, first: int = 0
) -> list[Panel]:
    """One panel for each of some quantities of one kind."""
    numbered = enumerate(zip(names, columns, strict=True), first)
    return [_panel("", t, (name, x, f"{letter}:{k}")) for k, (name, x) in numbered][:_MOST_PANELS]


def coordinates(run: Trajectory, even: Trajectory) -> list[Panel]:
    """One panel for each coordinate."""
    return _single_panels(even.t, _display_names(run, run.kinematics.q), even.q.T, "q")


def _display_names(run: Trajectory, symbols: Sequence[int]) -> list[str]:
    """Symbols as a book prints them, with their units where these are known."""
    kin = run.kinematics
    writing = FormulaWriter().on(kin.tape)
    return [
        label_with_unit(
            math(writing.symbol(kin.name(i)).tree), escape(run.system.unit(kin.name(i)))
        )
        for i in symbols
    ]


def plot_groups(
    run: Trajectory, even: Trajectory, largest_force: float = 0.0
) -> Iterator[tuple[str, list[Panel]]]:
    """Titles and panels; empty groups are left to the caller; `largest` is the largest force
    that is known.
    """
    kin = run.kinematics
    yield "Coordinates", coordinates(run, even)
    yield "Speeds", _single_panels(even.t, _display_names(run, kin.u), even.u.T, "u")
    yield (
        "First-order states",
        _single_panels(even.t, _display_names(run, kin.x), even.x.T, "q", kin.n_q),
    )
    # at the steps themselves: between them the polynomials add an error of their own
    yield (
        "Constraint residuals",
        _single_panels(run.t, map(escape, run.residuals), run.residuals.values(), "r"),
    )
    forces = (
        [_contact(run, even, c) for c in run.system.contacts]
        if run.contact_modes is not None
        else []
    )
    yield "Contact forces", forces[:_MOST_PANELS]
    yield "Reactions", list(_reactions(even, largest_force))[:_MOST_REACTIONS]


def _contact(run: Trajectory, even: Trajectory, c: UnilateralContact) -> Panel:
    """N and T of one contact, as the run found them."""
    curves = [
        (f"<i>{letter}</i>", even[force], "")
        for letter, force in (("N", c.N), ("T", c.T), ("T₂", c.T_across))
        if force is not None
    ]
    return _panel(
        label_with_unit(escape(c.name), "N" if run.system.has_units else ""), even.t, *curves
    )


def _reactions(run: Trajectory, largest: float) -> Iterator[Panel]:
    """Forces and moments in the joints, multipliers of the rows, loads behind prescribed motions;
    those that are not zero.
    """
    try:
        reactions = run.reactions
    except DalembertError:
        return
    yield from _joint_loads(run, reactions, largest)
    yield from _multipliers(run, reactions)


def _joint_loads(run: Trajectory, reactions: RunReactions, largest: float) -> Iterator[Panel]:
    """Force and moment of each joint and constraint, component by component."""
    places = reaction_offsets(reactions)
    loads: list[JointLoad | RowLoad] = [*reactions.joints.values(), *reactions.rows.values()]
    named = [
        (load.name, what, values, newton)
        for load in loads
        for what, values, newton in (("force", load.force, "N"), ("moment", load.moment, "N m"))
        if values is not None
    ]
    largest = max([largest, *(np.abs(values).max(initial=0.0) for _, _, values, _ in named)])
    for name, what, values, newton in named:
        if np.abs(values).max(initial=0.0) <= _ROUNDOFF * largest:
            continue
        first = places[name, what]
        curves = [(axis, values[:, k], f"f:{first + k}") for k, axis in enumerate("xyz")]
        unit = newton if reactions.units else ""
        yield _panel(label_with_unit(f"{escape(name)}, {what}", unit), run.t, *curves)


def _multipliers(run: Trajectory, reactions: RunReactions) -> Iterator[Panel]:
    """Multipliers of constraints that are no joint, and loads behind prescribed motions."""
    places = reaction_offsets(reactions)
    alone = [
        (row.name, "lambda", "λ of", row.multiplier)
        for row in reactions.rows.values()
        if row.force is None
    ]
    alone += [
        (drive.name, "load", "load behind", drive.load) for drive in reactions.drives.values()
    ]
    for name, what, prefix, values in alone:
        title = label_with_unit(
            f"{prefix} {escape(name)}", reactions.units.get(f"{name}: {what}", "")
        )
        yield _panel("", run.t, (title, values, f"f:{places[name, what]}"))


_ABOUT: Final = (
    "E_Z = K₂ + 𝒰 + Z is constant on every motion, whatever the loads do; how far a run departs "
    "from that is its own error. "
    "E = K₂ + 𝒰, 𝓗 = K₂ − K₀ + 𝒰 and C = K + 𝒰 are constant only under conditions, which are "
    "decided below."
)
_CURVES: Final = 6


def energy(study: ReportData, plots: Plots | None, packing: CompressingRenderer) -> str:
    """Along the run first, then in general."""
    parts = (
        list(_energy_plots(study.run, plots)) if study.run is not None and plots is not None else []
    )
    if study.integrals is None:
        parts.append(
            f"<p>The energy integrals were not decided: {escape(study.why_no_integrals)}</p>"
        )
    else:
        command = f"dalembert integrals {shell_argument(study.request.name)}"
        blocks = truncate_displays(
            list(energy_integrals(study.integrals, BudgetedFormulaWriter())), command
        )
        parts.append(
            packing.text([Heading(3, b.words) if isinstance(b, Heading) else b for b in blocks])
        )
    return section("energy", "Energy", *parts)


def _energy_plots(run: Trajectory, plots: Plots) -> Iterator[str]:
    if run.energy_audit is None:
        parts = (
            ("T", run.kinetic_energy, "T"),
            ("V", run.potential_energy, "V"),
            ("T + V", run.energy, "C"),
        )
        curves = [(typeset(name), x, key) for name, x, key in parts]
        yield plots.grid(
            [
                _panel(
                    label_with_unit("Energies", "J" if run.system.has_units else ""),
                    run.t,
                    *curves,
                    wide=True,
                )
            ]
        )
        return
    run_integrals = run.integrals
    yield f"<p>{typeset(_ABOUT)}</p>"
    yield plots.grid(_panels(run_integrals))
    yield _error_table(run_integrals)


def _panels(run_integrals: RunIntegrals) -> Iterator[Panel]:
    t, J = run_integrals.t, run_integrals.unit.strip()
    drift = (run_integrals.E_Z - run_integrals.E_Z[:1]) / (run_integrals.scale or 1.0)
    yield _panel(
        typeset("Relative drift of the energy integral E_Z"), t, ("", drift, "drift"), wide=True
    )
    integrals = (
        ("E_Z", run_integrals.E_Z, "E_Z"),
        ("E", run_integrals.E, "E"),
        ("𝓗", run_integrals.H, "H"),
        ("C", run_integrals.C, "C"),
    )
    shown = _panel(
        label_with_unit("Integrals", J),
        t,
        *((typeset(name), x, key) for name, x, key in integrals),
        coinciding=True,
    )
    yield shown
    apart = shown.differences(label_with_unit(typeset("Differences from E_Z"), J))
    if apart is not None:
        yield apart
    yield energy_parts(run_integrals)
    works = [
        (escape(name), w.classical, f"w:{k}")
        for k, (name, w) in enumerate(run_integrals.works.items())
    ]
    for k in range(0, len(works), _CURVES):
        yield _panel(label_with_unit("Work of each load", J), t, *works[k : k + _CURVES])


def energy_parts(run_integrals: RunIntegrals) -> Panel:
    """What E_Z consists of."""
    parts = (
        ("K₂", run_integrals.K2, "K2"),
        ("𝒰", run_integrals.potential, "V"),
        ("Z", run_integrals.Z, "Z"),
    )
    return _panel(
        label_with_unit(typeset("E_Z = K₂ + 𝒰 + Z"), run_integrals.unit.strip()),
        run_integrals.t,
        *((typeset(name), x, key) for name, x, key in parts),
    )


def _error_table(run_integrals: RunIntegrals) -> str:
    model = (
        "none"
        if run_integrals.is_model_consistent
        else scientific(run_integrals.model_error) + run_integrals.unit
    )
    rows = (
        (
            "model",
            model,
            (
                f"K̇₂ + σ_R = 𝒫 at single states, to "
                f"{scientific(run_integrals.model_residual)} of the "
                f"powers"
            ),
        ),
        (
            "constraints",
            scientific(run_integrals.constraint_drift) + run_integrals.unit,
            "jumps of K₂ + 𝒰 at constraint projections",
        ),
        ("integrator", scientific(run_integrals.integrator_error) + run_integrals.unit, "the rest"),
    )
    J = run_integrals.unit
    change = (
        f"Largest change of E_Z: {scientific(run_integrals.drift)}{J}, which is "
        f"{scientific(run_integrals.relative_drift)} relative to {run_integrals.scale:.4g}{J}."
    )
    shown = table(
        ("due to", "size", "how it is determined"),
        [(escape(a), escape(b), typeset(c)) for a, b, c in rows],
    )
    return f"<h3>Three kinds of error</h3><p>{typeset(change)}</p>{shown}"
