"""One HTML file that shows everything dalembert knows about a system, and needs nothing but a
browser.

A study computes all of it once: derivations, agreement, a run, integrals, linear modes. The page
writes it, one part after another.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.integrals.energy_integrals import EnergyIntegrals
from dalembert.errors import DalembertError, DalembertWarning, NotApplicable, NotASystem, Unknown
from dalembert.foundation.atomic_write import slug, write_text
from dalembert.foundation.caching import sparse_collection
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import check_options
from dalembert.interface.api.agreement import agreement
from dalembert.interface.api.energy_integrals import energy_integrals
from dalembert.interface.api.simulate import run_system
from dalembert.interface.page.data_blocks import data_block, encode_floats, scene_data
from dalembert.interface.page.formula_budget import CompressingRenderer
from dalembert.interface.page.html_elements import html_document, page_header
from dalembert.interface.page.interactive_panel import interactive_panel, interactive_request
from dalembert.interface.page.mode_shapes import LinearizedPoint, linearized_points, modes_section
from dalembert.interface.page.parts import equations, motion, reproduce
from dalembert.interface.page.parts.first_screen import first_screen
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg
from dalembert.interface.page.time_plots import Plots
from dalembert.interface.report.system_report import ReportSubject
from dalembert.mechanics.agreement.agreement_table import Agreement
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, cached_derivation
from dalembert.runtime.numerics.symbol_values import strip_units
from dalembert.runtime.ode.failures import RunInterrupted, RunStopped
from dalembert.runtime.simulation.run_options import RunOptions, parse_events
from dalembert.runtime.simulation.table_export import table_columns

if TYPE_CHECKING:
    from dalembert.interface.page.scene import Scene
    from dalembert.runtime.simulation.trajectory import Trajectory

TOLERANCE: Final = 1e-11


@dataclass(frozen=True)
class ReportRequest:
    """How a system is to be set in motion, and how it is named on the command line and in
    Python.
    """

    duration: float = 10.0
    run: RunOptions = field(default_factory=RunOptions)
    # the argument of `dalembert report`: a name of the gallery or path/to/file.py:function; empty
    # in a program
    name: str = ""
    # the options that were given on the command line, as they were given
    options: tuple[str, ...] = ()


def report_run_options(
    start: Mapping[Any, float] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    events: Sequence[Any] = (),
) -> RunOptions:
    """A run for close inspection: finer than usual, and without a bar of its own."""
    return RunOptions(
        start=start or {},
        values=values or {},
        inputs=inputs or {},
        rtol=TOLERANCE,
        atol=TOLERANCE,
        progress=False,
        events=parse_events(events),
    )


@dataclass(frozen=True)
class ReportData:
    """A system and all that is known about it; what could not be had is None, with the reason."""

    subject: ReportSubject
    request: ReportRequest
    derivations: tuple[Derivation, ...]
    agreement: Agreement
    run: Trajectory | None
    run_failure: str = ""
    integrals: EnergyIntegrals | None = None
    why_no_integrals: str = ""
    vibrations: tuple[LinearizedPoint, ...] = ()
    why_no_vibrations: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def system(self) -> System:
        """The system itself."""
        return self.subject.system


ProgressCallback = Callable[[str], None]
# what `on_progress` reports in the course of one study, before the page is written
STAGES = (
    "principles and their agreement",
    "motion",
    "energy integrals",
    "equilibria and linear modes",
)


@sparse_collection()
def compute_report(
    subject: ReportSubject, request: ReportRequest, on_progress: ProgressCallback = lambda _: None
) -> ReportData:
    """Derive, compare, run, decide, linearize; `on_progress` is called at every stage."""
    system, given = subject.system, request.run
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DalembertWarning)
        on_progress(STAGES[0])
        agreed = agreement(system)
        derivations = tuple(_derivations(system))
        on_progress(STAGES[1])
        run, why_no_run = _try_compute(lambda: _run(system, request))
        on_progress(STAGES[2])
        integrals, why_no_integrals = _try_compute(
            lambda: energy_integrals(system, values=given.values, inputs=given.inputs)
        )
        on_progress(STAGES[3])
        linearized, why_no_vibrations = _try_compute(lambda: linearized_points(system, given))
    heard = (str(w.message) for w in caught if issubclass(w.category, DalembertWarning))
    return ReportData(
        subject=subject,
        request=request,
        derivations=derivations,
        agreement=agreed,
        run=run,
        run_failure=why_no_run,
        integrals=integrals,
        why_no_integrals=why_no_integrals,
        vibrations=linearized or (),
        why_no_vibrations=why_no_vibrations,
        remarks=tuple(dict.fromkeys(heard)),
    )


def _derivations(system: System) -> list[Derivation]:
    kin = kinematics(system)
    derivations = []
    for _, derive in PRINCIPLES:
        try:
            derivations.append(cached_derivation(derive, kin))
        except NotApplicable:
            continue  # the table of agreement says why
    return derivations


def _run(system: System, request: ReportRequest) -> Trajectory:
    try:
        return run_system(system, request.duration, request.run)
    except RunInterrupted as ended:
        part: Trajectory = ended.trajectory
        return part
    except RunStopped as failure:
        # what there is of it is shown, and that it stopped
        if failure.trajectory is None or len(failure.trajectory) < 3:
            raise
        warnings.warn(str(failure), DalembertWarning, stacklevel=2)
        partial_run: Trajectory = failure.trajectory
        return partial_run


def _try_compute(make: Callable[[], Any]) -> tuple[Any, str]:
    """What could be made, or the reason why not."""
    try:
        return make(), ""
    except DalembertError as problem:
        return None, str(problem)


# ---- the page --------------------------------------------------------------------------------

PARTS: Final = (
    ("system", "System"),
    ("equations", "Equations"),
    ("description", "Model"),
    ("agreement", "Agreement"),
    ("motion", "Motion"),
    ("energy", "Energy"),
    ("linear", "Modes"),
    ("reproduction", "Reproduce"),
)
_MOST_ROWS: Final = 5000


@sparse_collection()
def render_page(study: ReportData) -> str:
    """The whole page."""
    packing, run = CompressingRenderer(), study.run
    # scene and plots share their times, and so what is computed there
    sampled = None if run is None else sample_frames(run)
    drawn = build_scene(sampled) if sampled is not None and study.system.bodies else None
    title = study.subject.title
    sketch = f"Sketch of {title} at its start"
    plots = None if run is None else Plots.of_run(run)
    panel, live = interactive_panel(interactive_request(study), drawn)
    still = "" if drawn is None else svg(draw_scene(drawn, 0, 900, 460))
    parts = [
        first_screen(study, motion.scene_player(study, plots, drawn, still), panel),
        equations.equations(study, packing),
        equations.description(
            study, "" if drawn is None else svg(draw_scene(drawn, letters=True), sketch), packing
        ),
        equations.agreement(study),
        motion.motion(study, sampled, plots, drawn),
        motion.energy(study, plots, packing),
        modes_section(study),
        reproduce.reproduction(study),
    ]
    links = "".join(f'<a href="#{identity}">{escape(words)}</a>' for identity, words in PARTS)
    bar = f'<a class="skip" href="#system">Skip to the page</a>{page_header(title, links)}'
    foot = "<footer>Made with dalembert. This file holds everything it shows.</footer>"
    return html_document(
        f"{title} · dalembert",
        f"{bar}\n<main>\n",
        "\n".join(parts),
        f"\n{foot}\n</main>\n",
        _recorded_data(study, plots, drawn),
        f"\n{live}",
    )


def _recorded_data(study: ReportData, plots: Plots | None, drawn: Scene | None) -> str:
    """The numbers behind plots, table and scene."""
    blocks = []
    if plots is not None:
        blocks += [data_block("plots", plots.json_data()), data_block("table", _table(study))]
    if drawn is not None:
        blocks.append(data_block("scene", scene_data(drawn)))
    return "\n".join(blocks)


def _table(study: ReportData) -> dict[str, Any]:
    """The motion for a CSV file: times, coordinates, speeds at the integrator's steps, or at
    even times where these are too many.
    """
    run = study.run
    assert run is not None
    even = len(run) > _MOST_ROWS and run.solution.has_full_dense_output
    shown = run.at(np.linspace(float(run.t[0]), float(run.t[-1]), _MOST_ROWS)) if even else run
    columns = table_columns(shown)
    values = np.column_stack([shown.t, *columns.values()])
    return {
        "names": ["t", *columns],
        "values": encode_floats(values, "<f8"),
        "file": f"{slug(study.subject.title)}.csv",
    }


@check_options
def write_report(
    system: System,
    path: str | os.PathLike[str],
    *,
    duration: float = 10.0,
    start: Mapping[Any, float] | None = None,
    values: Mapping[Any, float] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    events: Sequence[Any] = (),
    description: str = "",
) -> Path:
    """Everything about a system in one HTML file: description, equations, agreement, motion,
    energy, modes.

    duration, start, values, inputs and events are those of `simulate`.
    """
    if not isinstance(system, System):
        msg = f"write_report: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    if not str(path).lower().endswith((".html", ".htm")):
        msg = (
            f"write_report: {path} — a report is a page; give a path that ends in .html, and "
            f"print it from the browser for a PDF"
        )
        raise Unknown(msg)
    given = {"start": strip_units(system, start), "values": strip_units(system, values)}
    named = {name: {_name(key): x for key, x in numbers.items()} for name, numbers in given.items()}
    motions = {_name(key): x for key, x in (inputs or {}).items()}
    request = ReportRequest(
        duration, report_run_options(named["start"], named["values"], motions, events)
    )
    return write_text(
        path,
        render_page(
            compute_report(ReportSubject(system, system.name, system.source, description), request)
        ),
    )


def _name(key: Any) -> str:
    return str(getattr(key, "name", None) or key)
