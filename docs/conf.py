"""How the documentation is built: `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from formulas import display, inline
from running import run_page
from thumbnails import cards

import dalembert as da

project, author, copyright = "dalembert", "the dalembert authors", "the dalembert authors"  # noqa: A001 - the builder asks for this name
release = version = "0.1"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "dalembert"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["myst.header", "ref.python"]
nitpicky = False

GALLERY, NAMES = "<!-- cards -->", "<!-- names -->"


def _read(app: Any, docname: str, source: list[str]) -> None:
    """Run the code of a page, and put in what is made from the library itself."""
    if docname.startswith("decisions"):
        return
    text = run_page(source[0], docname)
    if GALLERY in text:
        text = text.replace(GALLERY, f"``````{{raw}} html\n{cards(Path(app.outdir) / 'gallery')}\n``````")
    source[0] = text.replace(NAMES, _names()) if NAMES in text else text


def _names() -> str:
    """Every public name with the first line of what it says about itself."""
    rows = "\n".join(f"| {{any}}`dalembert.{name}` | {_first_line(getattr(da, name))} |" for name in da.__all__)
    return f"| name | what it is |\n|---|---|\n{rows}"


def _first_line(found: Any) -> str:
    line = (found.__doc__ or "").strip().partition("\n")[0].strip()
    return re.sub(r"([*|`_\\$<\[])", r"\\\1", line)


def _everything(_app: Any, env: Any, *_changes: Any) -> list[str]:
    """All pages are run anew: the code that they show may have changed though they have not."""
    return list(env.found_docs)


def _plain(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """A docstring as it was written: its first line is an equation, and | and * are signs of it."""
    lines[:] = ["| " + re.sub(r"([*|`_\\])", r"\\\1", line) if line.strip() else "" for line in lines]


def setup(app: Any) -> None:
    """Pages that run, formulas as MathML."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("env-get-outdated", _everything)
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _plain)
