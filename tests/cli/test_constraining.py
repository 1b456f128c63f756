"""constraints: what it prints and how it ends."""

import pytest

from cli.running import run

PROGRAM = """
import dalembert as da

def twice(second=1):
    s = da.System("Twice")
    x, y = s.coordinates("x y")
    s.particle("p", 1, s.O.offset(x*s.N.x + y*s.N.y))
    s.constrain(x - 1, "first")
    s.constrain(3*x - 3*second, "second")
    return s

def against():
    return twice(2)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    return path


def test_two_wheels_hold_a_position_in_disguise():
    result = run("constraints", "two-wheeled-robot")
    assert 0 == result.exit_code
    assert "integrable: 1 of 3 velocity constraints" in result.stdout
    assert "φ − 1/2 R θᵣ/L + 1/2 R θₗ/L = constant" in result.stdout


def test_a_system_of_the_gallery_is_looked_at_where_its_run_begins():
    result = run("constraints", "bricard")
    assert 0 == result.exit_code
    assert "repeats what" in result.stdout
    assert "wherever the constraints hold" in result.stdout


def test_redundant_rows_of_a_program_are_named(program):
    result = run("constraints", f"{program}:twice")
    assert (0, "") == (result.exit_code, result.stderr)
    assert "redundant: `second` repeats what `first` already imposes" in result.stdout


def test_contradictory_rows_of_a_program_are_refused_with_the_residual(program):
    result = run("constraints", f"{program}:against")
    assert 2 == result.exit_code
    assert (
        "`second` contradicts `first`: where this holds, the residual of `second` is -3"
        in result.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--start", "omega=1"), "omega is not a coordinate"),
        (("--start", "theta_1"), "write it as --start name=value"),
        (("--set", "l_1=long"), "'long' is not a number"),
        (("--input", "w=sin("), "w = 'sin(' cannot be read"),
    ],
)
def test_bad_input(arguments, message):
    result = run("constraints", "four-bar", *arguments)
    assert 2 == result.exit_code
    assert message in result.stderr
