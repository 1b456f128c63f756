"""periodic, continue: orbits and families on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cli.running import run


def test_an_orbit_with_its_files(tmp_path: Path) -> None:
    path, picture = tmp_path / "orbit.json", tmp_path / "circle.png"
    line = ("periodic", "double-pendulum", "--mode", "1", "--amplitude", "0.3")
    done = run(*line, "-o", str(path), "--multipliers", str(picture))
    assert 0 == done.exit_code, done.stderr
    assert "2 multipliers are exactly one: time shift, energy" in done.stdout
    assert json.loads(path.read_text(encoding="utf-8"))["period"] == pytest.approx(2.36, abs=0.01)
    assert picture.stat().st_size > 5000


def test_a_short_line_has_the_default_options() -> None:
    assert "T = 2.006" in run("periodic", "simple-pendulum", "--mode", "1").stdout


def test_a_family_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "family.csv"
    line = ("continue", "double-pendulum", "--mode", "1", "--in", "energy", "--over=-19.62:-15")
    done = run(*line, "--step", "0.3", "-o", str(path))
    assert 0 == done.exit_code, done.stderr
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert float(rows[-1]["energy"]) == pytest.approx(-15.0)
    assert {"linearly stable"} == {row["stability"] for row in rows}


def test_an_orbit_as_a_page(tmp_path: Path) -> None:
    path = tmp_path / "orbit.html"
    done = run("periodic", "double-pendulum", "--mode", "1", "-o", str(path))
    assert 0 == done.exit_code, done.stderr
    assert "Floquet multipliers" in path.read_text(encoding="utf-8")


def test_a_later_call_goes_on_from_the_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    line = ("continue", "double-pendulum", "--mode", "1", "--in", "energy", "--step", "0.3")
    done = run(*line, "--over=-19.62:-18", "-o", str(first))
    assert 0 == done.exit_code, done.stderr
    done = run(*line, "--over=-19.62:-17", "--resume", str(first), "-o", str(second))
    assert 0 == done.exit_code, done.stderr
    rows = list(csv.DictReader(second.read_text(encoding="utf-8").splitlines()))
    energies = [float(row["energy"]) for row in rows]
    assert energies == sorted(energies)
    assert energies[-1] == pytest.approx(-17.0)


def test_equilibria_are_followed_too() -> None:
    done = run(
        "continue", "bead-on-hoop", "--equilibria", "--in", "R", "--over", "0.1:0.3", "--json"
    )
    assert 0 == done.exit_code, done.stderr
    # Ω = 8: Ω² R = g
    assert json.loads(done.stdout)["marks"][0][1] == pytest.approx(9.81 / 64)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("periodic", "double-pendulum", "--period", "0", "--start", "alpha=1"), "positive"),
        (("periodic", "double-pendulum", "--mode", "5"), "2 oscillations"),
        (("continue", "double-pendulum", "--mode", "1", "--in", "energy", "--over", "3"), "--over"),
        (("continue", "double-pendulum", "--mode", "1"), "--in"),
        (("periodic", "double-pendulum", "--mode", "1", "-o", "orbit.txt"), ".html"),
        (
            (
                "continue",
                "double-pendulum",
                "--in",
                "energy",
                "--over",
                "0:1",
                "--resume",
                "missing.json",
            ),
            "missing.json cannot be read",
        ),
    ],
)
def test_mistakes_have_a_clear_message(line: tuple[str, ...], said: str) -> None:
    done = run(*line)
    assert 0 != done.exit_code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
