"""Equations compared on the motion, constants that are zero, and the time of a decision."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib

import pytest

import dalembert as da
from dalembert.mechanics.agreement.agreement_table import agreement
from dalembert.mechanics.agreement.principle_registry import load_principle as principle
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from faults.limited import run_limited


def pendulum():
    s = da.System("Pendulum", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y, "P"))
    s.constrain(x**2 + y**2 - 1, "rod")
    return s


def planted(error):
    """Kane's equations and d'Alembert's with an error of the coordinates in the first row."""
    (kane, derive), (other, derive_other) = principle("kane"), principle("dalembert")

    def wrong(kin):
        d = derive_other(kin)
        eq = d.equations
        x, y = (da.Scalar(eq.tape, i) for i in eq.q)
        residuals = ((da.Scalar(eq.tape, eq.residuals[0]) + error(x, y)).i, *eq.residuals[1:])
        changed = dataclasses.replace(eq, residuals=residuals)
        object.__setattr__(d, "equations", changed)
        return d

    return agreement(pendulum(), ((kane, derive), (other, wrong)))


def test_an_error_that_does_not_vanish_on_the_motion_is_a_disagreement():
    assert planted(lambda x, y: x / 1000).disagree


@pytest.mark.parametrize(
    "factor",
    [lambda x, y: 1, lambda x, y: x * y, lambda x, y: da.sin(x)],
    ids=["1", "x y", "sin x"],
)
def test_an_error_times_a_position_row_is_no_disagreement(factor):
    assert not planted(lambda x, y: factor(x, y) * (x**2 + y**2 - 1)).disagree


def test_an_error_far_away_is_undecided_with_the_sampled_region():
    far = planted(lambda x, y: (abs(x - 1000) + x - 1000) / 2)
    assert not far.agree
    assert "sampled region, -8 to 8" in far.undecided


def test_equal_equations_agree():
    assert planted(lambda x, y: 0 * x).agree


# left minus right is zero
CONSTANTS = (
    ("cos(pi/8)", "sqrt(2 + sqrt(2))/2"),
    ("sin(pi/8)", "sqrt(2 - sqrt(2))/2"),
    ("cos(pi/12)", "(sqrt(6) + sqrt(2))/4"),
    ("cos(pi/5)", "(1 + sqrt(5))/4"),
    ("sin(pi/5)", "sqrt(10 - 2*sqrt(5))/4"),
    ("tan(pi/8)", "sqrt(2) - 1"),
    ("sqrt(3 + 2*sqrt(2))", "1 + sqrt(2)"),
    ("cos(pi/7)*cos(2*pi/7)*cos(3*pi/7)", "1/8"),
    ("atan(1)", "pi/4"),
    ("4*atan(1/5) - atan(1/239)", "pi/4"),
    ("asin(1/2)", "pi/6"),
    ("acos(1/2)", "pi/3"),
    ("atan(sqrt(3))", "pi/3"),
    ("cos(pi/16)", "sqrt(2 + sqrt(2 + sqrt(2)))/2"),
    ("exp(log(3))", "3"),
    ("log(8)/log(2)", "3"),
    ("cosh(log(2))", "5/4"),
    ("sqrt(2)*sqrt(3)", "sqrt(6)"),
    ("cos(pi/17)**2 + sin(pi/17)**2", "1"),
    ("sin(pi/10)", "(sqrt(5) - 1)/4"),
    ("cos(pi/24)", "sqrt(2 + sqrt(2 + sqrt(3)))/2"),
    ("cos(2*pi/5) + cos(4*pi/5)", "-1/2"),
    ("sqrt(5 + 2*sqrt(6)) - sqrt(5 - 2*sqrt(6))", "2*sqrt(2)"),
    ("atan(1/2) + atan(1/3)", "pi/4"),
    ("acos(1/3) + asin(1/3)", "pi/2"),
    ("asin(sqrt(2)/2)", "pi/4"),
    ("atan(2 - sqrt(3))", "pi/12"),
    ("12*atan(1/18) + 8*atan(1/57) - 5*atan(1/239)", "pi/4"),
    ("log(6) - log(2)", "log(3)"),
    ("log(3 + 2*sqrt(2))/log(1 + sqrt(2))", "2"),
    ("sin(pi/9)*sin(2*pi/9)*sin(4*pi/9)", "sqrt(3)/8"),
)


@pytest.mark.parametrize(("left", "right"), CONSTANTS)
def test_constants_that_are_zero_are_seen_as_zero(left, right):
    s = da.System("Constants")
    e = s.expression(left) - s.expression(right)
    assert (True,) == decide_zero(e.tape, [e.i]).zero


# left and right differ by less than 1e-4, some by 1e-12
NEARLY = (
    ("cos(pi/8)", "sqrt(2 + sqrt(3))/2"),
    ("4*atan(1/5) - atan(1/238)", "pi/4"),
    ("cos(pi/8)", "92387953251128675613/100000000000000000000"),
    ("sqrt(2) + sqrt(3)", "31462643699419723/10000000000000000"),
    ("atan(sqrt(3)) + 1/1000000000000000000000000000000", "pi/3"),
    ("log(8)/log(2)", "3 + 1/1000000000000000000000000000000000000000000000000000000000000"),
    ("atan(1/2) + atan(1/3)", "pi/4 + pi"),
    ("log(8)/log(2)", "2"),
    ("cos(pi/16)", "-sqrt(2 + sqrt(2 + sqrt(2)))/2"),
    ("sqrt(3 - 2*sqrt(2))", "1 - sqrt(2)"),
)


@pytest.mark.parametrize(("left", "right"), NEARLY)
def test_constants_that_are_nearly_zero_are_not_zero(left, right):
    s = da.System("Constants")
    e = s.expression(left) - s.expression(right)
    assert (True,) != decide_zero(e.tape, [e.i]).zero


CAR = """
import dalembert as da
s = da.System("Car")
x, y, psi = s.coordinates("x y psi")
B = s.N.rotated(psi, s.N.z, "B")
G = s.O.offset(x * s.N.x + y * s.N.y, "G")
s.body("car", 1200, G, B, da.inertia(B, 500, 1500, 1600))
delta = s.constant("delta", 0.05)
for k, (a, b) in enumerate(((1.2, 0.7), (1.2, -0.7), (-1.4, 0.7), (-1.4, -0.7))):
    W = G.offset(a * B.x + b * B.y, f"W{k}", B)
    slip = da.atan(W.v @ B.y / da.sqrt((W.v @ B.x) ** 2 + 1)) - (delta if a > 0 else 0)
    e = 10 * slip - 0.97 * (10 * slip - da.atan(10 * slip))
    s.force(-4000 * da.sin(1.3 * da.atan(e)) * B.y, at=W)
found = da.agreement(s)
print(found.holds)
"""


@pytest.mark.slow
def test_a_car_with_pacejka_tyres_is_decided_or_left_undecided_in_ten_seconds():
    assert run_limited(CAR, seconds=10).strip() in ("True", "None")


def test_the_time_of_an_agreement_is_limited_as_a_whole(monkeypatch):
    from dalembert.mechanics.agreement import agreement_table

    clocks = []

    class Counted(agreement_table.TimeLimit):
        def __init__(self, *given):
            super().__init__(*given)
            clocks.append(self)

    monkeypatch.setattr(agreement_table, "TimeLimit", Counted)
    agreement(pendulum())
    assert len({id(clock) for clock in clocks}) <= 1


def test_an_agreement_shows_its_progress_and_obeys_ctrl_c():
    steps = []
    agreement(pendulum(), on_progress=lambda done, step: steps.append((done, step)))
    assert "kinematics" == steps[-1][1]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert any(step.startswith("comparing ") for _, step in steps)

    def interrupt(done, _):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agreement(pendulum(), on_progress=interrupt)


@pytest.mark.parametrize("wanted", [True, False])
def test_an_agreement_draws_its_bar_on_request(monkeypatch, wanted):
    api = importlib.import_module("dalembert.interface.api.agreement")
    seen = []

    @contextlib.contextmanager
    def bar(length, describe):
        yield lambda *now: seen.append((length, *describe(*now)))

    monkeypatch.setattr(api, "progress_bar", bar)
    da.agreement(pendulum(), compiled=False, progress=wanted)
    assert wanted == bool(seen)
    assert all(0 <= done < length for length, done, _ in seen)
