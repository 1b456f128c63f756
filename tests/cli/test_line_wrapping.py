"""Lines fit the terminal and words stay whole."""

import io

import pytest

from cli.running import run
from dalembert.cli.line_wrapping import wrap_lines


def test_without_a_terminal_lines_stay_whole(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "word " * 60
    assert text == wrap_lines(text, io.StringIO())


def test_a_line_goes_on_under_its_last_column(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    shown = wrap_lines("agreement   eleven principles agree exactly\n  short", io.StringIO())
    assert "agreement   eleven principles\n            agree exactly\n  short" == shown


def test_a_word_that_is_too_long_stays_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    assert "see\n  /a/very/long/path.html" == wrap_lines(
        "see /a/very/long/path.html", io.StringIO()
    )


@pytest.mark.parametrize("columns", [80, 50])
@pytest.mark.parametrize(
    "line",
    [
        "constraints rolling-disk",
        "equilibrium bead-on-hoop",
        "modes simple-pendulum",
        "member cantilever",
        "verify simple-pendulum phi''=0",
        "derive simple-pendulm",
    ],
)
def test_what_commands_print_fits(line, columns):
    result = run(*line.split(), columns=columns)
    shown = (result.stdout + result.stderr).splitlines()
    assert len(shown) > 1
    assert [] == [text for text in shown if len(text) > columns]
