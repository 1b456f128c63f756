"""Run the code of a page and set what it prints below it.

In a page, every ```python block runs, one after the other in the same namespace, and every line of
a ```console block that begins with `$ dalembert` is a command. What they print, the value of a last
expression, and a document that a command writes with `-o name.html` follow the block. A value that
a notebook would typeset is typeset here too. A block with the word `refused` after its language
must end in an error of dalembert's own, which is shown.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import itertools
import os
import re
import shlex
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(
    r"^```(?P<language>python|console)(?P<mark> refused)?\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_RICH = ("_repr_html_", "_repr_svg_", "_repr_png_")
# a document written by derive or hybrid; the page of `report` is too large to be shown inside
# another
_MAIN = re.compile(r"<main>\n(.*)\n</main>", re.DOTALL)
_LARGEST = 400_000
# what fits in a line of a page, and what stands between two columns
_WIDTH = 76
_GAP = re.compile(r" {2,}|│")


@dataclass(frozen=True)
class Output:
    """What a block prints, as text or as HTML."""

    text: str = ""
    html: str = ""

    def markdown(self) -> str:
        """The block that shows it; its fence is longer than any inside."""
        kind = "output" if _in_columns(self.text) else "output wrapped"
        shown = (
            f"\n\n``````{{code-block}} text\n:class: {kind}\n{self.text.rstrip()}\n``````"
            if self.text.strip()
            else ""
        )
        return shown + (
            f'\n\n``````{{raw}} html\n<div class="output typeset">\n{self.html}\n</div>\n``````'
            if self.html
            else ""
        )


def _in_columns(text: str) -> bool:
    """Whether a long line is a row of a table, which must not be wrapped."""
    return any(
        len(line) > _WIDTH and len(_GAP.findall(line.strip())) > 1 for line in text.splitlines()
    )


class Page:
    """One page's namespace."""

    def __init__(self, name: str) -> None:
        self.name, self.names = name, {"__name__": name}

    def run(self, language: str, code: str, *, refused: bool) -> Output:
        """The output of one block."""
        if language == "console":
            outputs = [
                self._command(line[2:]) for line in code.splitlines() if line.startswith("$ ")
            ]
            return Output("".join(o.text for o in outputs), "".join(o.html for o in outputs))
        if not refused:
            return self._python(code)
        from dalembert import DalembertError

        try:
            self._python(code)
        except DalembertError as problem:
            return Output(f"{type(problem).__name__}: {problem}")
        msg = f"{self.name}: this was to be refused and is not:\n{code}"
        raise AssertionError(msg)

    def _python(self, code: str) -> Output:
        tree = ast.parse(code, self.name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, value = io.StringIO(), None
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                # the pages are ours
                exec(compile(tree, self.name, "exec"), self.names)  # noqa: S102
                if last is not None:
                    # the pages are ours
                    value = eval(compile(ast.Expression(last.value), self.name, "eval"), self.names)  # noqa: S307
            except Exception as problem:
                problem.add_note(
                    f"{self.name}, in this block:\n{code}which printed:\n{printed.getvalue()}"
                )
                raise
        html, text = _shown(value)
        # a plot that is shown below was also saved, which the page need not say
        lines = (
            printed.getvalue()
            if not html
            else re.sub(r"^saved \S+\n", "", printed.getvalue(), flags=re.MULTILINE)
        )
        return Output(lines + text, html)

    def _command(self, line: str) -> Output:
        from click.testing import CliRunner

        from dalembert.cli.command_line import app

        program, *arguments = shlex.split(line)
        if program != "dalembert":
            msg = f"{self.name}: only dalembert can be run here, not {program!r}"
            raise ValueError(msg)
        result = CliRunner().invoke(app, arguments)
        if result.exit_code:
            msg = f"{self.name}: {line!r} ended with {result.exit_code}: {result.output}"
            raise AssertionError(msg)
        return Output(_without_places(result.output), _document(arguments))


def _without_places(text: str) -> str:
    """The folder in which a page happens to run is nobody's business."""
    return text.replace(f"{Path.cwd()}{os.sep}", "")


def _document(arguments: list[str]) -> str:
    """What stands inside a document that the command has written."""
    for option, name in itertools.pairwise(arguments):
        path = Path(name)
        if (
            option in ("-o", "--output")
            and path.suffix == ".html"
            and path.is_file()
            and path.stat().st_size < _LARGEST
        ):
            found = _MAIN.search(path.read_text(encoding="utf-8"))
            return found[1] if found else ""
    return ""


def _shown(value: Any) -> tuple[str, str]:
    """(HTML, text) of a value."""
    if value is None:
        return "", ""
    for method in _RICH:
        if (show := getattr(value, method, None)) is not None and (made := show()) is not None:
            if method == "_repr_png_":
                made = (
                    f'<img alt="plot" '
                    f'src="data:image/png;base64,{base64.b64encode(made).decode()}">'
                )
            return made, ""
    return "", str(value)


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Files that a page writes are nobody's."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(here)


def run_page(text: str, name: str) -> str:
    """The page with its outputs set below its blocks."""
    page = Page(name)

    def with_output(found: re.Match[str]) -> str:
        language, code = found["language"], found["code"]
        output = page.run(language, code, refused=bool(found["mark"])).markdown()
        return f"```{language}\n{code}```{output}"

    with _elsewhere():
        return _FENCE.sub(with_output, text)
