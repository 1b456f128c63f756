"""How the documentation is built: `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from running import run_page

import dalembert as da

project, author, copyright = "dalembert", "the dalembert authors", "the dalembert authors"  # noqa: A001 - the builder asks for this name
release = version = "0.1"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "dalembert"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["myst.header", "ref.python"]
nitpicky = False


def _run(_app: Any, docname: str, source: list[str]) -> None:
    if not docname.startswith("decisions"):
        source[0] = run_page(source[0], docname)


def _names() -> str:
    """The public names, grouped by what they are."""
    parts = {"Classes": [], "Functions": [], "Errors": []}
    for name in da.__all__:
        found = getattr(da, name)
        kind = "Functions" if not isinstance(found, type) else "Errors" if issubclass(found, Exception) else "Classes"
        parts[kind].append(name)
    lines = []
    for heading, names in parts.items():
        lines += [f"## {heading}", ""]
        for name in names:
            directive = "autofunction" if heading == "Functions" else "autoclass" if heading == "Classes" else "autoexception"
            options = "\n:members:\n:inherited-members:" if heading == "Classes" else ""
            lines += [f"```{{eval-rst}}\n.. {directive}:: dalembert.{name}" + options.replace("\n", "\n   ") + "\n```", ""]
    return "\n".join(lines)


def _write_reference(_app: Any) -> None:
    path = Path(__file__).parent / "reference" / "api.md"
    text = f"# Public names\n\nEvery name of `import dalembert as da`.\n\n{_names()}"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _plain(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """A docstring as it was written: its first line is an equation, and | and * are signs of it."""
    lines[:] = ["| " + re.sub(r"([*|`_\\])", r"\\\1", line) if line.strip() else "" for line in lines]


def setup(app: Any) -> None:
    """Run the pages, and write the list of public names."""
    app.connect("builder-inited", _write_reference)
    app.connect("source-read", _run)
    app.connect("autodoc-process-docstring", _plain)
