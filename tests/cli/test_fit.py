"""fit, and --sensitivity of simulate: what they print and how they end."""

import numpy as np
import pytest

import dalembert as da
from cli.running import run
from dalembert.gallery import build


@pytest.fixture
def swing(tmp_path):
    """A simple pendulum of l = 0.7 from φ = 0.8, measured with σ = 0.01, every fifth value lost."""
    t = np.linspace(0, 3, 61)
    motion = da.simulate(build("simple-pendulum"), 3.0, start={"phi": 0.8}, values={"l": 0.7}, at=t)
    phi = motion["phi"] + 0.01 * np.random.default_rng(0).normal(size=len(t))
    lines = [f"{a},{'' if k % 5 == 4 else b}" for k, (a, b) in enumerate(zip(t, phi, strict=True))]
    file = tmp_path / "swing.csv"
    file.write_text("t,phi [rad]\n" + "\n".join(lines))
    return file


def test_fit_from_a_file(swing, tmp_path):
    picture = tmp_path / "fit.png"
    result = run(
        "fit", "simple-pendulum", str(swing), "--unknown", "l=0.6,phi", "--plot", str(picture)
    )
    assert 0 == result.exit_code, result.output
    assert "49 values, 2 unknowns" in result.stdout
    value, error = (
        float(x)
        for x in next(x for x in result.stdout.splitlines() if x.startswith("  l ")).split()[1::2]
    )
    assert abs(value - 0.7) < 3 * error < 0.01
    assert "all are identifiable" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ((), "name the unknowns"),
        (("--unknown", "ll"), "did you mean 'l'"),
        (("--unknown", "l=x"), "'x' is not a number"),
    ],
)
def test_fit_says_what_is_wrong(swing, line, said):
    result = run("fit", "simple-pendulum", str(swing), *line)
    assert 2 == result.exit_code
    assert said in result.output


def test_sensitivity_of_a_run(tmp_path):
    file = tmp_path / "run.csv"
    result = run(
        "simulate",
        "double-pendulum",
        "--for",
        "1",
        "--sensitivity",
        "l_1",
        "--sensitivity",
        "alpha",
        "-o",
        str(file),
    )
    assert 0 == result.exit_code
    assert "d/d alpha(0)" in result.stdout
    assert "d beta/d l_1" in file.read_text().splitlines()[0]
