"""The motion as an animation: the chapter that draws comes later and is imported by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.foundation.late_imports import late_module

if TYPE_CHECKING:
    from os import PathLike

    from dalembert.interface.page.run_viewer import Animation, RunView
    from dalembert.runtime.simulation.trajectory import Trajectory


def view(run: Trajectory) -> RunView:
    """The motion in a notebook, interactive: scene, plots, and a panel that runs it again with
    other numbers in the page itself.

    It works without the kernel; where scripts are not trusted a picture replaces it.
    """
    view: RunView = late_module("viewer").RunView(run)
    return view


def animate(run: Trajectory, path: str | PathLike[str] | None = None) -> Animation:
    """The motion in three dimensions, with its coordinates over time.

    In a notebook it appears below the cell; elsewhere it is saved, as a page or as what the ending
    of the path says (.png, .gif, .mp4), and the name of the file is printed.
    """
    animation: Animation = late_module("viewer").animate(run, path)
    return animation
