"""The gallery as cards: a sketch of each system on its way, what it is, where it is printed, and
the page of its report.
"""

from __future__ import annotations

import warnings
from html import escape
from pathlib import Path

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg

_TIMES = 301
_SIZE = (320, 200)


def sketch(name: str) -> str:
    """The system a third of its way through the motion that the gallery proposes, with the way
    so far.
    """
    entry = gallery.entry(name)
    with warnings.catch_warnings():
        # what a run warns of is said in its report; a sketch needs no accuracy
        warnings.simplefilter("ignore", da.DalembertWarning)
        run = da.simulate(
            entry.build(),
            entry.duration,
            start=entry.start,
            inputs=entry.inputs,
            events=entry.events,
            audit=False,
        )
    drawn = build_scene(sample_frames(run, _TIMES), arrows=False)
    return svg(draw_scene(drawn, _TIMES // 3, *_SIZE, trace=True), f"sketch of {entry.title}")


def card(name: str, reports: Path) -> str:
    """One system; its title leads to its report where that has been built."""
    entry = gallery.entry(name)
    title = escape(entry.title)
    if (reports / f"{name}.html").is_file():
        title = f'<a href="../gallery/{name}.html">{title}</a>'
    where = f'<span class="source">{escape(entry.source)}</span>'
    words = f"<b>{title}</b><code>{name}</code><span>{escape(entry.description)}</span>{where}"
    return f'<li><span class="picture">{sketch(name)}</span><span class="words">{words}</span></li>'


def cards(reports: Path) -> str:
    """All systems of the gallery."""
    return f'<ul class="cards">{"".join(card(name, reports) for name in gallery.names())}</ul>'
