"""Trim in any scale, with inputs as unknowns: hover, precession, oil pressures, random systems."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.runtime.numerics.symbol_values import BadValue

_BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")
# only while it is imported: modules there have names of folders of the tests
sys.path.insert(0, _BENCHMARKS)
import trim  # noqa: E402

sys.path.remove(_BENCHMARKS)


def test_thrusts_of_a_hover_are_solved_for() -> None:
    e = da.equilibrium(trim.quadrotor(), guess={f"T{k}": 1 for k in range(1, 5)})
    assert 1.6 * 9.81 == pytest.approx(sum(e[f"T{k}"] for k in range(1, 5)), rel=1e-12)


def test_an_input_is_guessed_or_given() -> None:
    with pytest.raises(BadValue, match="T1 is given in inputs and guessed"):
        da.equilibrium(trim.quadrotor(), guess={"T1": 1}, inputs={"T1": "3*t"})


@pytest.mark.parametrize("guess", [3.0, 30.0])
def test_a_top_precesses_slowly_and_fast(guess: float) -> None:
    top = gallery.build("lagrange-top")
    e = da.equilibrium(top, {"theta": 0.5, "psi.dot": 150.0}, guess={"phi.dot": guess})
    rate = e["phi.dot"]
    spin = 150.0 + rate * math.cos(0.5)
    terms = (0.006 * rate**2 * math.cos(0.5), -0.001 * spin * rate, 0.5 * 9.81 * 0.1)
    assert abs(sum(terms)) <= 1e-12 * sum(map(abs, terms))


@pytest.mark.parametrize("pressure", [1e6, 5e6])
def test_a_lift_rests_on_its_oil(pressure: float) -> None:
    e = da.equilibrium(trim.scissor_lift(), guess={"alpha": 0.6, "p": pressure})
    load = 1500 * 9.81 * math.cos(e["alpha"])
    assert load == pytest.approx(e["p"] * 0.004 * math.sin(e["alpha"]), rel=1e-9)
    assert 3.85e6 == pytest.approx(e["p"], rel=1e-2)


def test_random_systems_in_scales_from_a_millionth_to_1e8() -> None:
    verdicts = [c.verdict() for c in map(trim.RandomChain, range(30)) if c.solvable]
    assert 0 == verdicts.count("wrong")
    assert verdicts.count("found") >= 0.95 * len(verdicts)


def test_a_small_root_is_found_to_its_own_digits() -> None:
    """k x = F with x = 1e-7: a guess of 1 must not pass for it."""
    s = da.System("stiff")
    x = s.coordinate("x")
    s.particle("p", 1, s.O.offset(x * s.N.x))
    s.potential(10**7 * x**2 / 2)
    s.force(s.N.x, at=s.bodies[0].G)
    assert 1e-7 == pytest.approx(da.equilibrium(s, guess={"x": 1.0})["x"], rel=1e-9)
