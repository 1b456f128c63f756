"""Command lines that somebody mistyped, or meant to do harm with: a sentence and a code, nothing
executed.
"""

import pytest

from cli.running import run
from hostile import MARK, mutated

LINES = [
    ["gallery"],
    ["derive", "simple-pendulum", "--by", "kane", "--steps", "brief"],
    ["derive", "simple-pendulum", "--format", "latex", "-o", "out.tex"],
    ["agree", "simple-pendulum"],
    ["compare", "simple-pendulum"],
    ["constraints", "pendulum-absolute"],
    ["integrals", "simple-pendulum", "--set", "m=2"],
    ["modes", "simple-pendulum", "--about", "theta=0"],
    ["equilibrium", "simple-pendulum", "--near", "theta=0.1"],
    ["equilibrium", "simple-pendulum", "--box", "theta=-1:1"],
    [
        "simulate",
        "simple-pendulum",
        "--for",
        "0.1",
        "--set",
        "m=2",
        "--start",
        "theta=1",
        "-o",
        "run.csv",
    ],
    ["simulate", "simple-pendulum", "--for", "0.1", "--rtol", "1e-6", "--plot", "run.svg"],
    ["simulate", "hoist", "--for", "0.1", "--input", "x=sin(t)", "--reactions", "forces.csv"],
    ["simulate", "simple-pendulum", "--for", "0.1", "--stop-when", "theta - 0.5"],
    ["hybrid", "cantilever", "--format", "markdown"],
    ["report", "simple-pendulum", "--text"],
    ["export", "simple-pendulum", "--to", "numpy", "-o", "pendulum"],
    ["derive", "mine.py:system"],
]
PROGRAM = """
import dalembert as da


def system():
    s = da.System("Mine", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O), mass=1, length=1)
    return s
"""
COUNT, FAST = 500, 40


@pytest.mark.parametrize(
    "seed", [k if k < FAST else pytest.param(k, marks=pytest.mark.slow) for k in range(COUNT)]
)
@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_a_mutated_command_line_ends_in_words(seed, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    line = mutated(LINES, seed)
    result = run(*line)
    assert result.exit_code in (0, 1, 2, 3), (line, result.stderr)
    assert isinstance(result.exception, SystemExit | None), (line, result.exception)
    assert "Traceback" not in result.stdout + result.stderr, line
    if result.exit_code:
        assert "dalembert: " in result.stderr or result.stdout, line
    assert not [p for p in tmp_path.rglob("*") if p.name == MARK], line
    assert {"here"} == {p.name for p in tmp_path.iterdir()} - {"x"}, line
