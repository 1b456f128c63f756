"""A run to look at: the stage and the plots of the page by themselves, in a notebook or as a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from dalembert.files import file_name, free_name, write
from dalembert.page.embedding import scene_data, script
from dalembert.page.film import PAGES, film
from dalembert.page.markup import shell
from dalembert.page.parts.motion import arrow_legend, bands, coordinates, player
from dalembert.page.plots import Plots
from dalembert.page.scene import frames_of, scene
from dalembert.page.sketch import picture, svg
from dalembert.simulation.plotting.plot import in_notebook

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Animation:
    """A run that shows itself in a notebook, and the file it was saved to."""

    run: Trajectory = field(repr=False)
    path: str | None = None

    @cached_property
    def html(self) -> str:
        """The stage, its controls and the plots, as a document by itself."""
        run = self.run
        drawn, name = scene(frames_of(run)), run.system.name
        plots = Plots.of_run(run)
        still = svg(picture(drawn, 0, 900, 460), f"{name} at the start")
        stage = player(still, plots, arrow_legend(drawn, run.system))
        panels = coordinates(run, frames_of(run))
        body = f'<main style="padding-top:1rem">{stage}{bands(plots)}{plots.grid(panels)}</main>'
        return shell(name, f"{body}{script('plots', plots.embedded())}{script('scene', scene_data(drawn))}")

    def save(self, path: str | os.PathLike[str]) -> Animation:
        """Write it to a file; the ending decides: .html, .png, .gif or .mp4."""
        target = Path(path)
        # whatever is no page is left to the film, which says what it can do
        written = write(target, self.html) if target.suffix.lower() in PAGES else film(self.run, target)
        return Animation(self.run, os.fspath(written))

    def _repr_html_(self) -> str:
        """In a frame of its own, so that the notebook's styles and ours leave one another alone."""
        style = "width:100%;height:46rem;border:0"
        return f'<iframe srcdoc="{escape(self.html)}" style="{style}" title="{escape(self.run.system.name)}"></iframe>'

    def __repr__(self) -> str:
        return f"Animation({self.path or 'not saved'})"


def animate(run: Trajectory, path: str | os.PathLike[str] | None = None) -> Animation:
    """The motion in three dimensions, with its coordinates over time.

    In a notebook it appears below the cell; elsewhere it is saved, as a page or as what the ending of the path says (.png, .gif,
    .mp4), and the name of the file is printed.
    """
    made = Animation(run)
    if path is None and in_notebook():
        return made
    made = made.save(free_name(f"{file_name(run.system.name)}.html") if path is None else path)
    if path is None:
        print(f"saved {made.path}")  # noqa: T201 - in a terminal this is the only sign of it
    return made
