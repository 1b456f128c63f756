"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_example_prints_what_is_shown():
    (code,), (shown,) = blocks("python"), blocks("text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert shown == printed.getvalue()


def test_the_other_statements_of_the_readme_hold():
    (code,) = blocks("python")
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "README.md", "exec"), names)
        text = eval("str(da.agreement(s))", names)
    assert re.match(r"Cart and bar: \d+ principles agree exactly, ", text)
    assert eval("str(da.lagrange(s).equations) == str(da.kane(s).equations)", names)
