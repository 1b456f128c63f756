"""optimize: what it prints and writes, and how it ends."""

import json
import signal
from pathlib import Path

import pytest

from cli.running import run
from dalembert.analysis.optimal.solver import _Watch

MODEL = """
name = "block"
inputs = "F"
constants = {{ m = "1 kg" }}

slide.x = "O"
particle.block = {{ mass = "m", at = "x" }}
force.push = {{ F = "F*N.x", at = "x" }}

[optimize]
duration = "1 s"
minimize = "F**2"
start = {{ x = 0, "x.dot" = 0 }}
end = {{ x = "1 m", "x.dot" = 0 }}
bounds = {{ {bounds} }}
{more}
"""


@pytest.fixture
def model(tmp_path):
    """A file with the bounds and further lines that a test gives."""

    def write(bounds="F = 20", more=""):
        file = tmp_path / "block.toml"
        file.write_text(MODEL.format(bounds=bounds, more=more), encoding="utf-8")
        return str(file)

    return write


def test_optimize_prints_the_audit_and_writes_files(model, tmp_path):
    table, picture, page = (tmp_path / name for name in ("best.csv", "best.png", "best.html"))
    files = ["-o", str(table), "--plot", str(picture), "--page", str(page)]
    result = run("optimize", model(), *files)
    assert 0 == result.exit_code, result.output
    assert "cost 12" in result.stdout
    assert "audit: passed" in result.stdout
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    assert head == "t,x,x.dot,F"
    assert [1.0, 1.0, 0.0, -6.0] == pytest.approx([*map(float, rows[-1].split(","))], abs=1e-7)
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text(encoding="utf-8")
    assert "optimal motion" in text
    assert "upper bound" in text
    assert "audit: passed" in text


@pytest.mark.filterwarnings("ignore:optimize. interrupted after 0 iterations")
def test_ctrl_c_keeps_what_there_is_and_writes_it(model, tmp_path, monkeypatch):
    """The signal comes at the first iteration, as if a person had pressed the keys."""
    iterate = _Watch.iterate

    def press(watch, *state):
        signal.raise_signal(signal.SIGINT)
        return iterate(watch, *state)

    monkeypatch.setattr(_Watch, "iterate", press)
    table = tmp_path / "best.csv"
    result = run("optimize", model(), "-o", str(table))
    assert 1 == result.exit_code, result.output
    assert "audit: FAILED" in result.stdout
    assert len(table.read_text(encoding="utf-8").splitlines()) > 20


def test_optimize_as_json(model):
    result = run("optimize", model(more='integrals = { "F**2" = ["none", 20] }'), "--json")
    assert 0 == result.exit_code, result.output
    answer = json.loads(result.stdout)
    assert 12.0 == pytest.approx(answer["cost"], rel=1e-8)
    assert answer["passed"] is True


@pytest.mark.parametrize(
    ("bounds", "more", "text"),
    [
        ("G = 20", "", "block.toml:15:12: unknown name 'G'"),
        ("F = [1, 2, 3]", "", "expected [low, high]"),
        ("F = 20", "gues = { x = 1 }", "unknown key 'gues' of optimize"),
        ("F = 20", 'starts = "many"', "expected a whole number"),
        ("F = 20", "periodic = 3", "expected true, or a list of names"),
        ("F = 20", "guess = { F = [1] }", "expected a number or an expression of t"),
        ("x = 0.5", "", "lies outside its bounds"),
    ],
)
def test_a_fault_is_named_with_its_place(model, bounds, more, text):
    result = run("optimize", model(bounds, more))
    assert 2 == result.exit_code
    assert text in result.stderr


def test_a_file_without_the_section_says_so():
    result = run("optimize", "simple-pendulum")
    assert 2 == result.exit_code
    assert "no section [optimize]" in result.stderr


def test_the_model_file_of_the_docs(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "howto" / "optimal.md"
    text = page.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    file = tmp_path / "cart-pole.toml"
    file.write_text(text, encoding="utf-8")
    result = run("optimize", str(file), "--json")
    assert 0 == result.exit_code, result.output
    answer = json.loads(result.stdout)
    assert 58.8076674588 == pytest.approx(answer["cost"], abs=1e-6)
    assert answer["passed"] is True
