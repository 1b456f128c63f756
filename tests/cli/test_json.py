"""--json: the same numbers for other programs, on every command that prints a table."""

import inspect
import json
import math

import pytest

from cli.running import run
from dalembert.cli.command_registry import COMMANDS, load_command

# what prints files or pages
WITHOUT = {"report", "hybrid", "export", "view", "new", "convert", "schema"}
# servers print nothing but their address
WITHOUT |= {"serve", "studio"}


def told(*line):
    result = run(*line, "--json")
    assert 0 == result.exit_code, result.stderr
    return json.loads(result.stdout)


def test_every_command_that_prints_a_table_has_it():
    assert set(COMMANDS) - WITHOUT == {
        name for name in COMMANDS if "as_json" in inspect.signature(load_command(name)).parameters
    }


def test_study():
    found = told(
        "study",
        "simple-pendulum",
        "--over",
        "phi=0.1,0.2,0.3",
        "--keep",
        "max(phi)",
        "--for",
        "0.5",
    )
    assert {"finished": 3} == found["outcomes"]
    assert [0.1, 0.2, 0.3] == [row["phi_0"] for row in found["members"]]
    # let go at rest, it is highest where it began
    assert [0.1, 0.2, 0.3] == pytest.approx([row["max(phi)"] for row in found["members"]])
    assert {"finished"} == {row["outcome"] for row in found["members"]}


def test_derive():
    derivation = told("derive", "simple-pendulum")
    assert "m l² φ̈ = −m l g sin φ" == derivation["equations"]
    assert (["phi"], ["phi'"]) == (derivation["coordinates"], derivation["speeds"])
    assert len(told("derive", "simple-pendulum", "--by", "all")) > 5


def test_gallery():
    found = told("gallery")
    assert "Bead on a rotating hoop" == next(
        row["title"] for row in found if row["name"] == "bead-on-hoop"
    )


def test_principles():
    found = told("agree", "simple-pendulum")
    assert found["holds"] is True
    assert {"kane", "lagrange"} <= {
        row["principle"]["name"] for row in found["rows"] if row["agrees"]
    }
    assert all(isinstance(row["principle"]["statement"], str) for row in found["rows"])
    routes = told("compare", "simple-pendulum")["routes"]
    assert all(isinstance(route["operations"], int) for route in routes)


def test_equilibria_in_full_digits():
    """cos θ = g/(r ω²) of the bead."""
    found = told("equilibrium", "bead-on-hoop", "--box", "theta=-0.1:3.2")
    expected = [0, math.acos(9.81 / (0.5 * 8**2)), math.pi]
    assert expected == pytest.approx([each["point"]["theta"] for each in found], abs=1e-12)
    assert ["unstable", "stable", "unstable"] == [each["stability"]["verdict"] for each in found]


def test_modes():
    found = told("modes", "simple-pendulum")
    assert [m["eigenvalue"]["re"] for m in found["modes"]] == [0, 0]
    low, high = sorted(m["eigenvalue"]["im"] for m in found["modes"])
    # ω² = A₂₁
    assert high == -low == pytest.approx((-found["A"][1][0]) ** 0.5)


def test_sweep():
    found = told("modes", "bead-on-hoop", "--sweep", "theta=0:1:3")
    assert [0, 0.5, 1] == found["values"]
    assert 3 == len(found["eigenvalues"])


def test_rows_and_integrals():
    assert 2 == told("constraints", "rolling-disk")["velocity_rank"]
    found = told("integrals", "simple-pendulum")
    assert {"E", "𝓗"} <= {v["symbol"] for v in found["verdicts"] if v["constant"]}
    checked = told("check", "simple-pendulum")
    assert (1, True) == (
        checked["degrees_of_freedom"],
        all(row["agrees"] for row in checked["agreement"]["rows"] if row["applicable"]),
    )


def test_a_run_and_where_its_file_is(tmp_path):
    file = tmp_path / "run.csv"
    result = run(
        "simulate",
        "simple-pendulum",
        "--for",
        "1",
        "--energy-tolerance",
        "1e-9",
        "-o",
        str(file),
        "--json",
    )
    found = json.loads(result.stdout)
    assert [0, 1] == found["t"]
    assert abs(found["energy"][1] - found["energy"][0]) < 1e-9
    assert f"written: {file}" in result.stderr


def test_the_tolerance_of_energy_is_taken():
    steps = [
        told(
            "simulate", "simple-pendulum", "--for", "1", "--rtol", "1e-4", "--energy-tolerance", e
        )["steps"]
        for e in ("1", "1e-11")
    ]
    assert steps[1] > 2 * steps[0]


@pytest.mark.parametrize(
    "line",
    [
        ("derive", "simple-pendulum", "-o", "x.pdf"),
        ("derive", "simple-pendulum", "-o", "x.mat"),
        ("hybrid", "cantilever", "-o", "x.xlsx"),
        ("report", "simple-pendulum", "-o", "x.pdf"),
        ("simulate", "simple-pendulum", "-o", "x.pdf"),
        ("simulate", "simple-pendulum", "--plot", "x.xyz"),
    ],
)
def test_an_unknown_ending_is_refused(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*line)
    assert 2 == result.exit_code, result.stdout
    assert "x." in result.stderr
    assert not list(tmp_path.iterdir())
