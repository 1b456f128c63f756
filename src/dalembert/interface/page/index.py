"""The pages of many systems, and an index of thumbnails."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dalembert.interface.page.html_elements import html_document, page_header
from dalembert.interface.page.report_page import ReportData
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg


def gallery_card(name: str, study: ReportData) -> str:
    """A thumbnail, the system a third of its way through its motion with its trace so far, and the
    text below it.
    """
    drawn, subject = (
        None if study.run is None else build_scene(sample_frames(study.run, 401), arrows=False),
        study.subject,
    )
    thumbnail = (
        "" if drawn is None else svg(draw_scene(drawn, len(drawn.t) // 3, 320, 200, trace=True))
    )
    words = (
        f"<b>{escape(subject.title)}</b><span>{escape(subject.description)}</span>"
        f"<span>{escape(subject.source)}</span>"
    )
    return (
        f'<li><a href="{escape(name)}.html"><span class="picture">{thumbnail}</span><span '
        f'class="words">{words}</span></a></li>'
    )


def index(cards: Sequence[str]) -> str:
    """The page that leads to all others."""
    words = (
        f'<p class="lead">{len(cards)} solved systems, each derived by every principle, '
        f"proved "
        f"equal, and set in motion.</p>"
    )
    items = f'<ul class="cards">{"".join(cards)}</ul>'
    return html_document(
        "Gallery · dalembert",
        f"{page_header('dalembert')}<main><section "
        f'id="system"><h1>Gallery</h1>{words}{items}</section></main>',
    )
