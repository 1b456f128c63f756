"""equilibrium, modes: what they print and how they end."""

import pytest

from cli.running import run, start


def test_equilibrium_near_a_guess():
    result = run("equilibrium", "mass-on-incline")
    assert 0 == result.exit_code
    assert "r = 0.1962" in result.stdout
    assert "stable: V has a minimum on the constraints" in result.stdout


def test_equilibria_in_a_box():
    result = run("equilibrium", "bead-on-hoop", "--box", "theta=-0.1:3.2")
    assert ["theta = 0", "theta = 1.25921679124", "theta = 3.14159265359"] == [
        line.strip() for line in result.stdout.splitlines() if "theta =" in line
    ]


def test_steady_motion():
    result = run(
        "equilibrium",
        "rolling-disk",
        "--at",
        "theta=pi/3",
        "--at",
        "phi.dot=1",
        "--near",
        "psi.dot=-5",
    )
    assert "psi.dot = -7.96840818767" in result.stdout


def test_modes_about_a_point():
    result = run("modes", "whipple-bicycle", "--about", "v=5")
    assert "-0.775341882 ± 4.46486771 i" in result.stdout
    assert "0, 6 times: ignorable coordinates and free speeds" in result.stdout


def test_sweep_and_plot(tmp_path):
    file = tmp_path / "disk.png"
    result = run(
        "modes",
        "rolling-disk",
        "--about",
        "theta=pi/2",
        "--sweep",
        "psi.dot=1:4:31",
        "--plot",
        str(file),
    )
    assert 0 == result.exit_code
    assert "stability changes between psi.dot = 2.5 and 2.6" in result.stdout
    assert file.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_bicycle_from_a_cold_command():
    """Derived, linearized and swept in a new process."""
    result = start("modes", "whipple-bicycle", "--sweep", "v=0:10")
    assert "stability changes between v = 4.2 and 4.4" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("modes", "rolling-disk", "--sweep", "psi.dot=1"),
            "--sweep psi.dot=1: write it as --sweep psi.dot=from:to or from:to:points",
        ),
        (
            ("modes", "rolling-disk", "--sweep", "m"),
            "--sweep 'm': write it as --sweep name=from:to",
        ),
        (
            ("modes", "rolling-disk", "--plot", "x.png"),
            "--plot: give --sweep too, which is plotted",
        ),
        (
            ("modes", "lagrange-top", "--about", "psi.dot=9"),
            "the mass matrix is singular at this point",
        ),
        (
            ("equilibrium", "bead-on-hoop", "--near", "theta=1", "--box", "theta=0:1"),
            "--near and --box: give one of them",
        ),
        (
            ("equilibrium", "bead-on-hoop", "--box", "theta=0"),
            "--box theta=0: write it as --box theta=from:to",
        ),
    ],
)
def test_what_is_refused(arguments, sentence):
    result = run(*arguments)
    assert 2 == result.exit_code
    assert sentence in result.stderr


def test_a_box_has_two_ends_the_smaller_one_first():
    result = run("equilibrium", "simple-pendulum", "--box", "theta=1:0")
    assert (
        2,
        "dalembert: equilibria: the box of theta goes from 1 to 0; give the smaller end first\n",
    ) == (
        result.exit_code,
        result.stderr,
    )
    result = run("equilibrium", "simple-pendulum", "--box", "theta=0:1:2")
    assert (2, "dalembert: --box theta=0:1:2: write it as --box theta=from:to\n") == (
        result.exit_code,
        result.stderr,
    )


def test_steps_of_an_equilibrium():
    result = run("equilibrium", "mass-on-incline", "--steps")
    assert 0 == result.exit_code
    assert "δr: −k r + m g sin θ = 0" in result.stdout
