"""simulate --stop-when, and systems of the gallery that carry events."""

import csv
import math

import pytest

from cli.running import run

PROGRAM = '''
import dalembert as da


def falling():
    """A stone falls."""
    s = da.System("Stone", gravity=9.81)
    y = s.coordinate("y")
    s.particle("stone", 1, s.O.offset(y * s.N.y))
    return s
'''


@pytest.fixture
def stone(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return f"{path}:falling"


def test_the_run_ends_there(stone, tmp_path):
    out = tmp_path / "out.csv"
    result = run(
        "simulate",
        stone,
        "--start",
        "y=2",
        "--stop-when",
        "y - 1",
        "--stop-when",
        "y.dot + 50",
        "-o",
        str(out),
        columns=200,
    )
    assert 0 == result.exit_code, result.stderr
    assert "of 10, ended by 'y - 1'" in result.stdout
    assert "event y.dot + 50: never fired" in result.stdout
    with out.open(encoding="utf-8", newline="") as file:
        last = list(csv.DictReader(file))[-1]
    assert math.sqrt(2 / 9.81) == pytest.approx(float(last["t"]), abs=1e-13)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("z - 1", "unknown name 'z'"),
        ("y -", "cannot be read"),
        ("3", "does not change"),
        ("y.dot.dot", "acceleration"),
    ],
)
def test_what_cannot_be_watched(stone, text, message):
    result = run("simulate", stone, "--start", "y=2", "--stop-when", text)
    assert 2 == result.exit_code
    assert message in result.stderr


def test_the_gallery_carries_its_impacts():
    result = run("simulate", "bouncing-ball", columns=200)
    assert 0 == result.exit_code, result.stderr
    assert "event table (impact): 19 times" in result.stdout
    assert "removed by events" in result.stdout


def test_events_without_end_are_told_and_what_there_is_is_kept():
    result = run("simulate", "bouncing-ball", "--input", "Y=0*t", "--for", "20", columns=200)
    assert 1 == result.exit_code
    assert "'table' fires ever more often" in result.stderr
    assert "NOT FINISHED" in result.stdout
