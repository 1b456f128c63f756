"""The pages of many systems, and an index of thumbnails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dalembert.page.html_page import Study
from dalembert.page.markup import header, shell
from dalembert.page.scene import frames_of, scene
from dalembert.page.sketch import picture, svg


@dataclass(frozen=True)
class Card:
    """A thumbnail and what stands below it."""

    name: str
    title: str
    source: str
    description: str
    picture: str


def card(name: str, study: Study) -> Card:
    """The system a third of its way through its motion, with the way so far."""
    drawn = None if study.run is None else scene(frames_of(study.run, 401), arrows=False)
    thumbnail = "" if drawn is None else svg(picture(drawn, len(drawn.t) // 3, 320, 200, trace=True))
    return Card(name, study.subject.title, study.subject.source, study.subject.description, thumbnail)


def index(cards: Sequence[Card]) -> str:
    """The page that leads to all others."""
    items = "".join(
        f'<li><a href="{escape(c.name)}.html"><span class="picture">{c.picture}</span><span class="words"><b>{escape(c.title)}</b>'
        f"<span>{escape(c.description)}</span><span>{escape(c.source)}</span></span></a></li>"
        for c in cards
    )
    words = f'<p class="lead">{len(cards)} solved systems, each derived by every principle, proved equal, and set in motion.</p>'
    return shell(
        "Gallery · dalembert",
        f'{header("dalembert")}<main><section id="system"><h1>Gallery</h1>{words}<ul class="cards">{items}</ul></section></main>',
    )
