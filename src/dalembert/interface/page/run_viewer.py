"""A run to look at: the stage and the plots of the page by themselves, in a notebook or as a
file, and with "Try it" one that lives on.
"""

from __future__ import annotations

import base64
import os
from dataclasses import field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dalembert.foundation.atomic_write import slug, unused_path, write_text
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.api.simulate import simulate
from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.html_elements import html_document
from dalembert.interface.page.image_export import PAGES, save_image
from dalembert.interface.page.interactive_panel import PHASE, InteractiveRequest, interactive_panel
from dalembert.interface.page.parts.motion import (
    arrow_legend,
    contact_mode_bands,
    coordinates,
    event_table,
    player,
)
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg
from dalembert.interface.page.time_plots import Plots
from dalembert.runtime.simulation.plotting.plot import in_notebook
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.mechanics.model.system import System
    from dalembert.runtime.simulation.trajectory import Trajectory

_HEIGHT: Final = "58rem"


def viewer_parts(
    run: Trajectory, request: InteractiveRequest | None = None
) -> tuple[str, str, str]:
    """The stage with its controls and the plots, the data behind them, and a picture of the
    start.
    """
    name, even = run.system.name, sample_frames(run)
    drawn, plots = build_scene(even), Plots.of_run(run)
    still = svg(draw_scene(drawn, 0, 900, 460), f"{name} at the start")
    panel, live = interactive_panel(request, drawn)
    phase = "" if request is None else PHASE
    unit = "m" if run.system.has_units else ""
    parts = (
        player(still, plots, arrow_legend(drawn, run.system), unit),
        panel,
        event_table(run),
        contact_mode_bands(plots),
        plots.grid(coordinates(run, even)),
        phase,
    )
    data = f"{data_block('plots', plots.json_data())}{data_block('scene', scene_data(drawn))}{live}"
    return "".join(parts), data, still


def _document(run: Trajectory, request: InteractiveRequest | None = None) -> tuple[str, str]:
    """The stage, its controls and the plots as a document by itself, with what it may be asked
    for; and a picture of the start.
    """
    body, data, still = viewer_parts(run, request)
    page = f'<main style="padding-top:1rem">{body}</main>{data}'
    return html_document(run.system.name, page), still


@dataclass(frozen=True, eq=False)
class Animation:
    """A run that shows itself in a notebook, and the file it was saved to."""

    run: Trajectory = field(repr=False)
    path: str | None = None

    @cached_property
    def html(self) -> str:
        """The stage, its controls and the plots, as a document by itself."""
        return _document(self.run)[0]

    def save(self, path: str | os.PathLike[str]) -> Animation:
        """Write it to a file; the ending decides: .html, .png, .gif or .mp4."""
        target = Path(path)
        # whatever is no page is left to the film, which says what it can do
        written = (
            write_text(target, self.html)
            if target.suffix.lower() in PAGES
            else save_image(self.run, target)
        )
        return Animation(self.run, os.fspath(written))

    def _repr_html_(self) -> str:
        """In a frame of its own, so that the notebook's styles and ours leave one another alone."""
        return _frame(self.html, self.run.system.name, "width:100%;height:46rem;border:0")

    def __repr__(self) -> str:
        return f"Animation({self.path or 'not saved'})"


def animate(run: Trajectory, path: str | os.PathLike[str] | None = None) -> Animation:
    """The motion in three dimensions, with its coordinates over time.

    In a notebook it appears below the cell; elsewhere it is saved, as a page or as what the ending
    of the path says (.png, .gif, .mp4), and the name of the file is printed.
    """
    made = Animation(run)
    if path is None and in_notebook():
        return made
    made = made.save(unused_path(f"{slug(run.system.name)}.html") if path is None else path)
    if path is None:
        print(f"saved {made.path}")  # noqa: T201 - in a terminal this is the only sign of it
    return made


@dataclass(frozen=True, eq=False)
class RunView:
    """A run that shows itself in a notebook and can be run again there; `save` writes it as a
    page.
    """

    run: Trajectory = field(repr=False)

    @cached_property
    def _parts(self) -> tuple[str, str]:
        """The document, and a picture of the start."""
        return _document(self.run, run_request(self.run))

    @property
    def html(self) -> str:
        """The stage, the panel and the plots, as a document by itself."""
        return self._parts[0]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as a page."""
        return write_text(path, self.html)

    def _repr_html_(self) -> str:
        """A frame over a picture: where frames are taken out, as in notebooks that are not
        trusted, the picture is left.
        """
        html, still = self._parts
        name = self.run.system.name
        encoded = base64.b64encode(_standalone_svg(still).encode()).decode("ascii")
        image = f"data:image/svg+xml;base64,{encoded}"
        over = _frame(html, name, "position:absolute;inset:0;width:100%;height:100%;border:0")
        look = "width:100%;max-height:30rem"
        under = f'<img src="{image}" alt="{escape(name)} at its start" style="{look}">'
        return (
            f'<div data-fit="yes" style="position:relative;min-height:{_HEIGHT};background:#fff">'
            f"{under}{over}</div>"
        )

    def __repr__(self) -> str:
        return f"RunView({self.run.system.name!r})"


def _frame(html: str, title: str, style: str) -> str:
    """A document in a frame, which the document itself makes as high as it is."""
    return (
        f'<iframe data-fit="yes" srcdoc="{escape(html)}" style="{style}" '
        f'title="{escape(title)}"></iframe>'
    )


def _standalone_svg(still: str) -> str:
    """An SVG picture as a file by itself."""
    return (
        still
        if "xmlns=" in still
        else still.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    )


def run_request(run: Trajectory) -> InteractiveRequest:
    """The options that the run itself remembers."""
    values, system = run.values, run.system
    start = {m.name: m.value for m in run.start.values if m.origin == "given"}
    # the run itself solves for the forces of contacts
    solved = {str(x.name) for c in system.contacts for x in c.forces}
    given = [s for s in system.symbols.values() if s.kind == "input" and s.name not in solved]
    names = {s.scalar.i: s.name for s in given}
    inputs = {
        names[i]: Scalar(values.kin.tape, e) for i, e in values.bindings.items() if i in names
    }
    head = f"import dalembert as da\n\ns = ...  # {system.name!r}, as it was described"
    return InteractiveRequest(
        run, float(run.t[-1] - run.t[0]), start, {}, inputs, run.declared_events, head, system.name
    )


def view_system(system: System, duration: float, **options: Any) -> RunView:
    """A system set in motion and shown."""
    return RunView(simulate(system, duration, **options))
