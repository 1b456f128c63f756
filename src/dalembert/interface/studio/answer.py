"""What a model text means, part after part: faults, equations, motion, verdict; after a pause the
rates of the coordinates, plots and sliders.

Each part is a dictionary that the page of the studio shows by itself as soon as it is there.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import DalembertError, DalembertWarning, NotApplicable
from dalembert.exchange.modelfile.run_settings import Settings
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.api.agreement import agreement
from dalembert.interface.api.simulate import run_system
from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.formula_budget import BudgetedFormulaWriter, truncate_displays
from dalembert.interface.page.html_elements import scientific, typeset
from dalembert.interface.page.interactive_panel import InteractiveRequest, interactive_panel
from dalembert.interface.page.parts.first_screen import energy_error
from dalembert.interface.page.parts.motion import (
    arrow_legend,
    contact_mode_bands,
    coordinates,
    energy_parts,
    event_table,
    player,
)
from dalembert.interface.page.report_page import report_run_options
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg
from dalembert.interface.page.time_plots import Plots
from dalembert.interface.report import derivation_steps as steps
from dalembert.interface.report import result_blocks as results
from dalembert.interface.report.document_blocks import Block, Heading
from dalembert.interface.report.renderers import HTML
from dalembert.interface.report.result_blocks import ACCEPTABLE_DRIFT
from dalembert.interface.studio.faults import (
    declared_names,
    element_lines,
    place_fault,
    read_with_faults,
)
from dalembert.mechanics.agreement.principle_registry import PRINCIPLE_NAMES, load_principle
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.ode.failures import RunStopped

if TYPE_CHECKING:
    from dalembert.interface.page.scene import Scene
    from dalembert.mechanics.model.system import System
    from dalembert.runtime.simulation.trajectory import Trajectory

Part = dict[str, Any]
DURATION: Final = 10.0
_SHORTEST_RUN: Final = 3


@dataclass(frozen=True)
class Job:
    """A text to be understood, the name of its file, and the principle its equations are to
    follow from.
    """

    text: str
    file: str = "model.toml"
    principle: str = "kane"


def answer(job: Job) -> Iterator[Part]:
    """All parts of what a text means; after a fault of the text there are no more."""
    system, faults = read_with_faults(job.text, job.file)
    if system is None:
        yield {"part": "faults", "faults": [asdict(f) for f in faults]}
        return
    try:
        kinematics(system)
    except DalembertError as problem:
        yield _described(system, [place_fault(problem, system)])
        return
    yield _described(system, [])
    yield equations(system, job.principle)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", DalembertWarning)
        moved, part = motion(system)
    remarks = dict.fromkeys(
        str(w.message) for w in heard if issubclass(w.category, DalembertWarning)
    )
    yield part | {"remarks": list(remarks)}
    yield verdict(system)
    yield rates(system, job.principle)
    if moved is not None:
        yield plots(moved)
        yield sliders(moved)


def _described(system: System, faults: list[Any]) -> Part:
    """The faults, the names for completion, and where each element stands."""
    source = system.settings.source if isinstance(system.settings, Settings) else None
    return {
        "part": "faults",
        "faults": [asdict(f) for f in faults],
        "name": system.name,
        "names": dict(declared_names(system)),
        "lines": {} if source is None else element_lines(source),
    }


def equations(system: System, chosen: str) -> Part:
    """M u̇ = f by the chosen principle, and the degrees of freedom."""
    kin = kinematics(system)
    title, derive = load_principle(chosen if chosen in PRINCIPLE_NAMES else PRINCIPLE_NAMES[0])
    try:
        d = cached_derivation(derive, kin)
    except NotApplicable as problem:
        html = f'<p class="fails">{escape(title.title)}: {escape(str(problem))}</p>'
    else:
        writing = BudgetedFormulaWriter().on(d.tape)
        blocks: list[Block] = [
            b for b in steps.derivation(d, writing, level="equations") if not isinstance(b, Heading)
        ]
        html = HTML.text(truncate_displays(blocks, f"dalembert derive FILE --by {title.name}"))
    dof = f"{kin.n_u} degree{'s' * (kin.n_u != 1)} of freedom (velocity level)"
    counts = f"{kin.n_q} coordinate{'s' * (kin.n_q != 1)}"
    return {"part": "equations", "html": html, "dof": f"{dof}, {counts}"}


def rates(system: System, chosen: str) -> Part:
    """q̇ = W u + X, and the parameters that the equations do not contain."""
    title, derive = load_principle(chosen if chosen in PRINCIPLE_NAMES else PRINCIPLE_NAMES[0])
    try:
        d = cached_derivation(derive, kinematics(system))
    except NotApplicable:
        return {"part": "rates", "html": ""}
    writing = BudgetedFormulaWriter().on(d.tape)
    command = f"dalembert derive FILE --by {title.name}"
    written = HTML.text(truncate_displays(list(steps.rates(d, writing)), command))
    absent = HTML.text(results.absent_parameters(d, writing))
    return {"part": "rates", "html": f"<h2>Rates of the coordinates</h2>{written}{absent}"}


@dataclass(frozen=True)
class Motion:
    """A run, the same at even times, and its scene."""

    run: Trajectory
    even: Trajectory
    scene: Scene | None


def motion(system: System) -> tuple[Motion | None, Part]:
    """The run that the file asks for, as a scene, or the reason why there is none."""
    try:
        run = _run(system)
    except DalembertError as problem:
        return None, {"part": "motion", "why": str(problem)}
    even, stage, data = sample_frames(run), "", ""
    drawn = build_scene(even) if system.bodies else None
    if drawn is not None:
        still = svg(draw_scene(drawn, 0, 900, 460), f"{system.name} at its start")
        unit = "m" if system.has_units else ""
        stage = player(still, Plots.of_run(run), arrow_legend(drawn, system), unit)
        data = data_block("scene", scene_data(drawn))
    stopped = "" if run.finished else run.solution.message or run.solution.outcome.value
    times = {"first": float(run.t[0]), "last": float(run.t[-1])}
    part = {"part": "motion", "stage": stage, "times": times, "data": data, "stopped": stopped}
    return Motion(run, even, drawn), part | {"energy": energy(run)}


def plots(moved: Motion) -> Part:
    """Events, contact modes, coordinates and energies over time."""
    run, curves = moved.run, Plots.of_run(moved.run)
    panels = coordinates(run, moved.even)
    panels += [] if run.energy_audit is None else [energy_parts(run.integrals)]
    grid = f"{event_table(run)}{contact_mode_bands(curves)}{curves.grid(panels)}"
    return {"part": "plots", "plots": grid, "data": data_block("plots", curves.json_data())}


def _run(system: System) -> Trajectory:
    asked = dict(system.settings.run) if isinstance(system.settings, Settings) else {}
    start, values, inputs = (asked.get(key) for key in ("start", "values", "inputs"))
    options = report_run_options(start, values, inputs, asked.get("events", ()))
    if asked.get("guess"):
        from dataclasses import replace

        options = replace(options, guess=asked["guess"])
    try:
        return run_system(system, float(asked.get("duration", DURATION)), options)
    except RunStopped as failure:
        part: Trajectory | None = failure.trajectory
        if part is None or len(part) < _SHORTEST_RUN:
            raise
        warnings.warn(str(failure), DalembertWarning, stacklevel=2)
        return part


def energy(run: Trajectory) -> str:
    """Energy error and largest constraint violation of a run, as one line."""
    size, what = energy_error(run)
    facts = [(size, what)]
    facts += [(run.worst_residual, "largest constraint violation")] if run.residuals else []
    tones = ("good" if size <= ACCEPTABLE_DRIFT else "bad" for size, _ in facts)
    return "".join(
        f'<li class="{tone}"><b>{scientific(size)}</b><span>{typeset(what)}</span></li>'
        for tone, (size, what) in zip(tones, facts, strict=True)
    )


def verdict(system: System) -> Part:
    """Whether all principles that apply agree."""
    agreed = agreement(system, compiled=False)
    tone = {True: "good", False: "bad", None: "plain"}[agreed.holds]
    count = sum(row.applicable for row in agreed.rows)
    word = {True: "agree exactly", False: "DISAGREE", None: "compared: undecided"}[agreed.holds]
    chance = (
        f"chance of error below {scientific(agreed.bound)}"
        if agreed.bound
        else "identical expressions"
    )
    return {
        "part": "verdict",
        "tone": tone,
        "head": f"{count} principles {word}",
        "more": chance if agreed.holds else agreed.statement,
        "table": HTML.text(results.agreement(agreed)),
        "applicable": [
            name for name, row in zip(PRINCIPLE_NAMES, agreed.rows, strict=True) if row.applicable
        ],
    }


def sliders(moved: Motion) -> Part:
    """The panel that runs the model again in the page, and the module behind it."""
    run = moved.run
    asked: Mapping[str, Any] = (
        run.system.settings.run if isinstance(run.system.settings, Settings) else {}
    )
    start, values, inputs = (dict(asked.get(key, {})) for key in ("start", "values", "inputs"))
    head = f"import dalembert as da\n\ns = da.load(...)  # {run.system.name!r}"
    duration = float(run.t[-1] - run.t[0])
    request = InteractiveRequest(
        run, duration, start, values, inputs, run.declared_events, head, run.system.name
    )
    panel, live = interactive_panel(request, moved.scene)
    return {"part": "sliders", "panel": panel, "live": live}
