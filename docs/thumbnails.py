"""The gallery as cards: a sketch of each system on its way, what it is, where it is printed, and
its live page.
"""

from __future__ import annotations

import warnings
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

_TIMES = 301
_SIZE = (320, 200)


def motion(name: str) -> Trajectory:
    """The motion that the gallery proposes."""
    entry = gallery.entry(name)
    with warnings.catch_warnings():
        # what a run warns of is said in its report; a sketch needs no accuracy
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.simulate(
            entry.build(),
            entry.duration,
            start=entry.start,
            inputs=entry.inputs,
            events=entry.events,
        )


def sketch(run: Trajectory, title: str) -> str:
    """The system a third of its way through its motion, with the way so far."""
    drawn = build_scene(sample_frames(run, _TIMES), arrows=False)
    return svg(draw_scene(drawn, _TIMES // 3, *_SIZE, trace=True), f"sketch of {title}")


def card(name: str, reports: Path) -> str:
    """One system; picture and title lead to its report where that has been built, else to a live
    page of its motion, which is written here.
    """
    entry, run = gallery.entry(name), motion(name)
    page = f"{name}.html"
    if not (reports / page).is_file():
        page = f"{name}-live.html"
        reports.mkdir(parents=True, exist_ok=True)
        run.view().save(reports / page)
    picture = f'<span class="picture">{sketch(run, entry.title)}</span>'
    title = f'<a href="../gallery/{page}">{escape(entry.title)}</a>'
    where = f'<span class="source">{escape(entry.source)}</span>'
    words = f"<b>{title}</b><code>{name}</code><span>{escape(entry.description)}</span>{where}"
    return (
        f'<li><a href="../gallery/{page}" tabindex="-1" aria-hidden="true">{picture}</a>'
        f'<span class="words">{words}</span></li>'
    )


def cards(reports: Path) -> str:
    """All systems of the gallery."""
    return f'<ul class="cards">{"".join(card(name, reports) for name in gallery.names())}</ul>'
