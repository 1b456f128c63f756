import csv
import os

import pytest

from cli.running import run

PROGRAM = '''
import dalembert as da


def falling():
    """A stone falls."""
    s = da.System("Stone", gravity=9.81)
    y = s.coordinate("y")
    s.particle("stone", s.constant("m"), s.O.offset(y * s.N.y))
    return s


def running_away():
    s = da.System("Runaway")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("P", 1, P)
    s.force((1 + x**3) * s.N.x, P)
    return s
'''


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def test_a_run_is_told_about_and_written(tmp_path):
    path, picture = tmp_path / "out.csv", tmp_path / "out.png"
    result = run(
        *(
            "simulate",
            "cart-and-bar",
            "--for",
            "2",
            "--set",
            "m=2",
            "--start",
            "theta=pi/6",
            "--input",
            "F=2*sin(t)",
        ),
        *("--rtol", "1e-10", "--atol", "1e-10", "-o", str(path), "--plot", str(picture)),
    )
    assert 0 == result.exit_code, result.stderr
    assert "Cart and bar: t = 0 … 2" in result.stdout
    assert "theta      0.523598775598  given" in result.stdout
    assert f"written: {path}" in result.stdout
    rows = table(path)
    assert ["t", "x", "theta", "x.dot", "theta.dot"] == list(rows[0])
    assert 2.0 == rows[-1]["t"]
    assert b"\x89PNG" == picture.read_bytes()[:4]


def test_without_options_it_runs_as_the_gallery_proposes(tmp_path):
    path = tmp_path / "disk.csv"
    result = run("simulate", "rolling-disk", "-o", str(path))
    assert 0 == result.exit_code, result.stderr
    first, *_, last = table(path)
    assert (1.2, 6.0, 10.0) == (first["theta"], first["psi.dot"], last["t"])
    assert "energy: drift" in result.stdout
    assert "constraints: largest violation" in result.stdout


def test_a_system_of_the_user(program, tmp_path):
    path = tmp_path / "out.csv"
    result = run(
        "simulate",
        f"{program}:falling",
        "--for",
        "2",
        "--set",
        "m=3",
        "--start",
        "y.dot=9.81",
        "-o",
        str(path),
    )
    assert 0 == result.exit_code, result.stderr
    assert 0.0 == pytest.approx(table(path)[-1]["y"], abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--set", "rr=1"),
            "'rr' is not a constant or an input of 'Rolling disk': did you mean 'r'?",
        ),
        (("--start", "tetha=1"), "did you mean 'theta'?"),
        (("--input", "phy=1"), "'phy' is not an input"),
        (("--set", "m"), "--set 'm': write it as --set name=value"),
        (("--set", "m="), "--set 'm=': write it as --set name=value"),
        (("--set", "m=heavy"), "--set m=heavy: 'heavy' is not a number"),
        (("--start", "theta=1/0"), "--start theta=1/0: '1/0' is not a number"),
        (("--start", "theta=nan"), "theta = nan is not finite"),
        (("--set", "m=1", "--set", "m=2"), "--set m: it is given twice, as 1 and as 2"),
        (("--set", "m=-1"), "the mass of 'disk' is -1; a mass must be positive"),
        (("--for", "0"), "duration = 0: a run goes forward in time"),
        (("--for", "nan"), "duration = nan is not finite"),
        (("--for", "long"), "'--for'"),
        (("--rtol", "2"), "rtol = 2.0 is out of range"),
        (
            ("--start", "theta=1", "--start", "x.dot=1", "--start", "psi.dot=0"),
            "contradicts 'rolling of disk along x'",
        ),
    ],
)
def test_bad_values_are_one_sentence_and_exit_code_two(arguments, sentence):
    result = run("simulate", "rolling-disk", *arguments)
    assert 2 == result.exit_code
    assert "" == result.stdout
    assert sentence in result.stderr
    assert result.stderr.startswith("dalembert: ")
    assert 1 == len(result.stderr.splitlines())


def test_a_missing_constant_is_named(program):
    result = run("simulate", f"{program}:falling")
    assert 2 == result.exit_code
    assert "no value for the constant m" in result.stderr


def test_a_run_that_stops_is_written_as_far_as_it_came(program, tmp_path):
    path = tmp_path / "out.csv"
    result = run("simulate", f"{program}:running_away", "-o", str(path))
    assert 1 == result.exit_code
    assert "it grows without bound in finite time" in result.stderr
    assert "NOT FINISHED" in result.stdout
    assert len(table(path)) > 10


def test_an_unwritable_file_does_not_lose_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = run(
        "simulate", "simple-pendulum", "--for", "1", "-o", str(tmp_path / "missing" / "out.csv")
    )
    assert 1 == result.exit_code
    assert "No such file or directory; the result is in " in result.stderr
    kept = result.stderr.rpartition(" is in ")[2].strip()
    assert kept.endswith(f"{os.sep}out.csv")
    assert 1.0 == table(tmp_path / os.path.relpath(kept, tmp_path))[-1]["t"]


def test_report_runs_the_system(program):
    result = run("report", "rolling-disk", "--text")
    assert 0 == result.exit_code
    for part in (
        "From theta = 1.2, psi.dot = 6: 10 s in",
        "T + V drifts by",
        "largest violation",
        "Native code, M = L D Lᵀ: agrees, relative residual",
    ):
        assert part in result.stdout
    assert (
        "Not run: no value for the constant m"
        in run("report", f"{program}:falling", "--text").stdout
    )
    assert (
        "loads or moving constraints do work" in run("report", "ball-on-turntable", "--text").stdout
    )
