"""Sketches and live scenes of gallery systems on the pages, made from the library while the pages
are built.

`<!-- sketch: rolling-disk -->` becomes a drawing of the system during its motion, `<!-- live:
rolling-disk -->` a scene with plots and the panel "Try it", which simulates inside the page.
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from html import escape
from pathlib import Path, PurePosixPath

from thumbnails import motion, sketch

import dalembert as da
from dalembert import gallery

MARK = re.compile(r"^<!-- (?P<kind>sketch|live): (?P<name>[a-z0-9-]+) -->$", re.MULTILINE)
FOLDER = "scenes"


def with_scenes(text: str, docname: str, outdir: Path) -> str:
    """The page with its drawings; live scenes are written to files of their own."""

    def drawn(match: re.Match[str]) -> str:
        up = "../" * (len(PurePosixPath(docname).parts) - 1)
        made = (
            _live(match["name"], outdir, up)
            if match["kind"] == "live"
            else _figure(match["name"], outdir, up)
        )
        return f"``````{{raw}} html\n{made}\n``````"

    return MARK.sub(drawn, text)


def _figure(name: str, outdir: Path, up: str) -> str:
    title = escape(gallery.entry(name).title)
    if (outdir / "gallery" / f"{name}.html").is_file():
        title = f'<a href="{up}gallery/{name}.html">{title}: open the live page</a>'
    return f'<figure class="sketch">{_sketch(name)}<figcaption>{title}</figcaption></figure>'


@cache
def _sketch(name: str) -> str:
    return sketch(motion(name), gallery.entry(name).title)


def _live(name: str, outdir: Path, up: str) -> str:
    path = outdir / FOLDER / f"{name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_view(name), encoding="utf-8")
    title = escape(gallery.entry(name).title)
    return (
        f'<iframe class="live" loading="lazy" src="{up}{FOLDER}/{name}.html" title="{title}, '
        f'live"></iframe>'
    )


@cache
def _view(name: str) -> str:
    entry = gallery.entry(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        run = da.simulate(
            entry.build(),
            entry.duration,
            start=entry.start,
            inputs=entry.inputs,
            events=entry.events,
        )
    return run.view().html
