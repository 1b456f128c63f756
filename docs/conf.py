"""How the documentation is built: `make docs`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from accessible import repair
from charts import with_charts
from claims import with_claims
from formulas import display, inline
from measured import day, with_measurements
from reference_fields import fields
from running import run_page
from scenes import with_scenes
from thumbnails import cards

import dalembert as da
from dalembert.interface.report.bibliography import REFERENCES

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
# the builder asks for this name
project, author, copyright = "dalembert", "the dalembert authors", "the dalembert authors"  # noqa: A001
release = version = PROJECT["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dalembert {version}"
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme_options = {"sidebar_hide_name": False}
if repository := PROJECT.get("urls", {}).get("Repository"):
    html_theme_options |= {
        "source_repository": repository,
        "source_branch": "main",
        "source_directory": "docs/",
    }
html_js_files = ["search_order.js"]
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "
copybutton_selector = "div:not(.output) > div.highlight > pre"
html_copy_source = False
html_show_sphinx = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["myst.header", "ref.python"]
nitpicky = False

GALLERY, NAMES, SOURCES, DAY = (
    "<!-- cards -->",
    "<!-- names -->",
    "<!-- sources -->",
    "<!-- day -->",
)


def _read(app: Any, docname: str, source: list[str]) -> None:
    """Run the code of a page, and put in what is made from the library itself."""
    if docname.startswith("decisions"):
        return
    text = with_claims(with_charts(with_measurements(run_page(source[0], docname)))).replace(
        DAY, day()
    )
    text = with_scenes(text, docname, Path(app.outdir))
    if GALLERY in text:
        text = text.replace(
            GALLERY, f"``````{{raw}} html\n{cards(Path(app.outdir) / 'gallery')}\n``````"
        )
    if NAMES in text:
        text = text.replace(NAMES, _names())
    source[0] = text.replace(SOURCES, _sources())


def _names() -> str:
    """Every public name with the first line of what it says about itself."""
    rows = "\n".join(
        f"| {{any}}`da.{name} <dalembert.{name}>` | {_first_line(getattr(da, name))} |"
        for name in da.__all__
    )
    return f"| name | what it is |\n|---|---|\n{rows}"


def _sources() -> str:
    """The works behind the keys."""
    rows = "\n".join(f"| {key} | {work} |" for key, work in sorted(REFERENCES.items()))
    return f"| key | work |\n|---|---|\n{rows}"


def _first_line(thing: Any) -> str:
    spans = (thing.__doc__ or "").strip().partition("\n")[0].strip().split("`")
    return "`".join(
        s if n % 2 else re.sub(r"([*|_\\$<\[])", r"\\\1", s) for n, s in enumerate(spans)
    )


def _everything(_app: Any, env: Any, *_changes: Any) -> list[str]:
    """All pages are rebuilt: the library may have changed although they have not."""
    return list(env.found_docs)


_ENTRY = re.compile(r"^(\w+(?:, \w+)*)(?: {2,}|\t)(\S.*)$")


def _docstring(
    _app: Any, what: str, name: str, described: Any, _options: Any, lines: list[str]
) -> None:
    """Typeset a docstring: the equation on its own line, then paragraphs; parameters as a list.
    A public function gets its shared parameters, its result and its exceptions.
    """
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    first, _, rest = paragraphs[0].partition("\n")
    shown = [_literal(first), ""]
    for paragraph in ([rest] if rest.strip() else []) + paragraphs[1:]:
        shown += [*_paragraph(paragraph.splitlines()), ""]
    if what == "function" and name.count(".") == 1:
        shown += [*fields(described), ""]
    lines[:] = shown


def _paragraph(lines: list[str]) -> list[str]:
    """Sentences flow; lines such as `start    values of …` are items."""
    if not any(_ENTRY.match(line) for line in lines):
        return [" ".join(_literal(line.strip()) for line in lines)]
    items: list[str] = []
    for line in lines:
        if found := _ENTRY.match(line):
            items.append(f"* **{_literal(found[1])}**: {_literal(found[2])}")
        elif items:
            items[-1] += " " + _literal(line.strip())
        else:
            items.append(f"* {_literal(line.strip())}")
    return items


def _literal(text: str) -> str:
    """Signs such as | and * mean themselves; what stands between backticks is code."""
    spans = text.split("`")
    if len(spans) % 2 == 0:
        spans = [text]
    marked = [
        f"``{s}``" if n % 2 and s.strip() == s and s else re.sub(r"([*|`_\\])", r"\\\1", s)
        for n, s in enumerate(spans)
    ]
    return "".join(marked)


# classes that users call; all others are results of functions, and their constructors are internal
CONSTRUCTED = {"System", "Shape", "MarkScheme"}


def _signature(
    _app: Any, what: str, name: str, _described: Any, _options: Any, signature: Any, _returns: Any
) -> tuple[str, None] | None:
    """No signature for classes that functions return; all others as they are."""
    hidden = what in {"class", "exception"} and name.rpartition(".")[2] not in CONSTRUCTED
    return ("", None) if signature and hidden else None


def _finished(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        repair(Path(app.outdir))


def setup(app: Any) -> None:
    """Pages that run, formulas as MathML."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("env-get-outdated", _everything)
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-signature", _signature)
    app.connect("build-finished", _finished)
