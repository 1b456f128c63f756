"""A picture: inline in a notebook, elsewhere a file."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import IllPosed, Unwritable
from dalembert.foundation.atomic_write import (
    atomic_replace,
    check_extension,
    slug,
    unused_path,
)
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.simulation.plotting.chart import Chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_USUAL: Final = (".svg", ".png", ".pdf")


@dataclass(frozen=True, eq=False)
class Plot:
    """A picture that shows itself in a notebook, and the file it was saved to."""

    source: Chart | Figure
    path: str | None = None

    @property
    def figure(self) -> Figure:
        """The same as a figure of matplotlib, to be changed at will."""
        return _figure(self.source)

    def save(self, path: str | os.PathLike[str]) -> Plot:
        """Write it to a file; the ending decides on the format."""
        name = os.fspath(path)
        save(self.source, path, "the run is kept, plot it somewhere else")
        return Plot(self.source, name)

    def _repr_svg_(self) -> str | None:
        return _rendered(self.source, "svg").decode() if isinstance(self.source, Chart) else None

    def _repr_png_(self) -> bytes | None:
        return None if isinstance(self.source, Chart) else _rendered(self.source, "png")

    def __repr__(self) -> str:
        return f"Plot({self.path or 'not saved'})"


def check_plot_format(path: str | os.PathLike[str]) -> None:
    """Refuse, before a run is made, an ending that no picture has."""
    if os.fspath(path).lower().endswith(_USUAL):
        return
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = [f".{kind}" for kind in FigureCanvasBase.get_supported_filetypes()]
    check_extension(path, (*_USUAL, *(kind for kind in kinds if kind not in _USUAL)))


def save(
    source: Chart | Figure, path: str | os.PathLike[str], remedy: str = "name another place"
) -> None:
    """A chart or a figure of matplotlib as a file, in the format of the ending."""
    if not isinstance(path, str | os.PathLike):
        msg = f"a plot is saved to a file: give its name, not {path!r:.60}"
        raise Unwritable(msg)
    check_plot_format(path)
    picture = _rendered(source, os.fspath(path).lower().rpartition(".")[2])
    with atomic_replace(path, remedy) as part, part.open("wb") as file:
        file.write(picture)


def _rendered(source: Chart | Figure, form: str) -> bytes:
    from dalembert.runtime.simulation.plotting.matplotlib_figure import render

    return render(_figure(source), form)


def _figure(source: Chart | Figure) -> Figure:
    if not isinstance(source, Chart):
        return source
    from dalembert.runtime.simulation.plotting.matplotlib_figure import figure

    return figure(source)


@dataclass(frozen=True)
class Appearance:
    """How a plot is drawn by matplotlib: on axes of the caller, in a size in inches, in a style;
    all empty for the usual picture.
    """

    ax: Any = None
    figsize: tuple[float, float] | None = None
    style: Any = None

    def apply(self, chart: Chart) -> Chart | Figure:
        """The chart itself, or a figure of matplotlib if one of them is given."""
        if self.ax is None and self.figsize is None and self.style is None:
            return chart
        from dalembert.runtime.simulation.plotting.matplotlib_figure import draw_on, figure

        if self.ax is not None:
            return draw_on(self.ax, chart)
        try:
            return figure(chart, self.figsize, self.style)
        except (OSError, TypeError, ValueError) as problem:
            # what matplotlib refuses: an unknown style, a size that is none
            msg = f"plot: figsize={self.figsize!r:.40}, style={self.style!r:.40}: {problem!s:.120}"
            raise IllPosed(msg) from None


def display(
    source: Chart | Figure,
    name: str,
    path: str | os.PathLike[str] | None,
    appearance: Appearance | None = None,
) -> Plot:
    """Inline in a notebook; elsewhere a file of that name, which is printed unless a path was
    given. What is drawn on axes of the caller is not saved by itself.
    """
    if appearance is not None and isinstance(source, Chart):
        source = appearance.apply(source)
        if appearance.ax is not None and path is None:
            return Plot(source)
    plot = Plot(source)
    if path is not None:
        return plot.save(path)
    if in_notebook():
        return plot
    plot = plot.save(unused_path(f"{slug(name)}.svg"))
    print(f"saved {plot.path}")  # noqa: T201 - in a terminal this is the only sign of the plot
    return plot


def in_notebook() -> bool:
    """Whether a notebook shows what the last line of a cell returns."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return getattr(shell, "kernel", None) is not None
