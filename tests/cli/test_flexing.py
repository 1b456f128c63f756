"""hybrid, member: what they print, what they write, how they end."""

import pytest

from cli.running import run

OWN = """
import dalembert as da

def column():
    s = da.System("Column")
    L, EI, mu, p = s.constants(L=2, EI=3, mu=1, p=5)
    s.beam("beam", s.O, s.N.x, s.N.y, L, EI, mu, left="pinned", right="pinned", load=p*s.N.y)
    return s

def loose():
    s = da.System("Loose")
    s.beam("beam", s.O, s.N.x, s.N.y, 1, 1, 1, left="free")
    return s

def negative():
    s = da.System("Negative")
    s.beam("beam", s.O, s.N.x, s.N.y, 1, -1, 1)
    return s

def held_twice():
    s = da.System("Held twice")
    s.beam("beam", s.O, s.N.x, s.N.y, 1, 1, 1, right=s.end("clamped", spring=3))
    return s
"""


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    return file


def test_hybrid_equations():
    result = run("hybrid", "beam-with-tip-mass")
    assert 0 == result.exit_code
    assert "μ v̈ + EI v⁗ = 0    [v(x, t), 0 < x < L]" in result.stdout
    assert "m v̈(L) − EI v‴(L) = 0    [natural, x = L]" in result.stdout
    assert "1. A point of the member" not in result.stdout


def test_steps_formats_and_variables(tmp_path):
    assert "6. The energies" in run("hybrid", "beam-on-ball-joint", "--steps").stdout
    assert "[along ψ]" in run("hybrid", "beam-on-ball-joint", "--along", "coordinates").stdout
    assert "[along ω_z]" in run("hybrid", "beam-on-ball-joint").stdout
    assert (
        r"\int_{0}^{L} x v\,dx"
        in run("hybrid", "beam-on-ball-joint", "--format", "markdown").stdout
    )
    page = tmp_path / "beam.html"
    assert 0 == run("hybrid", "beam-on-ball-joint", "--steps", "-o", str(page)).exit_code
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_modes_of_a_member():
    result = run("member", "cantilever", "--modes", "3")
    assert 0 == result.exit_code
    assert "characteristic equation  1 + cos βL cosh βL = 0" in result.stdout
    assert all(
        root in result.stdout
        for root in ("1.875104068711961", "4.694091132974175", "7.854757438237613")
    )
    assert "error of ω" in result.stdout


def test_constants_can_be_set():
    setting = [word for value in ("Omega=0", "EI=1", "mu=1", "L=1") for word in ("--set", value)]
    assert "3.516015268500151" in run("member", "rotating-beam", "--modes", "1", *setting).stdout


def test_statics_and_buckling_of_ones_own_column(own, tmp_path):
    result = run("member", f"{own}:column", "--static", "--buckling", "1")
    assert "v(x) = 1/24 (L³ − 2 L x² + x³) p x/EI" in result.stdout
    assert "7.40220330081701" in result.stdout
    picture = tmp_path / "column.png"
    assert (
        f"written: {picture}"
        in run("member", f"{own}:column", "--static", "--plot", str(picture)).stdout
    )
    assert picture.stat().st_size > 5_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hybrid", "rolling-disk"), "carries no string, bar, shaft or beam"),
        (("hybrid", "flexible-slider-crank"), "is attached to a point of the expanded member"),
        (("hybrid", "cantilever", "--along", "speed"), "--along 'speed'"),
        (("member", "double-pendulum"), "has no string, bar, shaft or beam"),
        (("member", "cantilever", "--member", "mast"), "there is no member 'mast'"),
        (("member", "cantilever", "--modes", "0"), "whole number from 1 to 60"),
        (
            ("member", "cantilever", "--modes", "2", "--buckling", "1", "--plot", "x.png"),
            "a plot shows one result",
        ),
        (("member", "cantilever", "--set", "rho=1"), "rho"),
        (("member", "spin-up-beam"), "change with time"),
    ],
)
def test_refusals(arguments, said):
    result = run(*arguments)
    assert 0 != result.exit_code
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("loose", "its ends (free–free) allow a rigid motion"),
        ("negative", "its stiffness is -1; it must be positive"),
        ("held_twice", "over-supported"),
    ],
)
def test_bad_members(own, function, said):
    result = run("member", f"{own}:{function}")
    assert 0 != result.exit_code
    assert said in result.stderr


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("beam-with-tip-mass", "m=-1", "end of beam 'beam': its mass is -1; it must be positive"),
        ("cantilever", "mu=-1", "its density is -1; it must be positive"),
        ("cantilever", "L=0", "its length is 0; it must be positive"),
    ],
)
def test_hybrid_equations_are_not_written_for_values_that_no_member_can_have(name, given, said):
    result = run("hybrid", name, "--set", given)
    assert 2 == result.exit_code
    assert said in result.stderr


def test_help_teaches():
    for command, words in (
        ("hybrid", "every boundary condition"),
        ("member", "characteristic equation"),
    ):
        shown = " ".join(run(command, "--help").stdout.split())
        assert words in shown
        assert f"dalembert {command} " in shown
    assert "dalembert member cantilever" in run("--help").stdout
