"""Starts of mechanisms from whatever is known: branches, moving rows, redundant rows, and what
cannot be had.
"""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.runtime.ode.failures import BadStart


def start_of(s, start=None, **more):
    return da.simulate(s, 0.01, start=start or {}, progress=False, **more).start


def values(found):
    return {m.name: (m.value, m.origin) for m in found.values}


def chain_of_six():
    """Five equal bars and the ground."""
    s = da.System("Closed chain of six", gravity=9.81)
    P = s.O
    for i in range(1, 6):
        B = s.N.rotated(s.coordinate(f"a{i}"), s.N.z, f"B{i}")
        s.particle(f"m{i}", 1, P.offset(0.5 * B.x))
        P = P.offset(B.x, f"E{i}", B)
    s.coincide(P, s.O.offset(1.7 * s.N.x), "closure")
    return s


@pytest.mark.parametrize(
    "start",
    [
        {},
        {"a1": 1.2},
        {"a1": 1.2, "a5": -1.0},
        {"a3": 3.0, "a2.dot": 1.0},
        {"cos(a1) + cos(a2)": 0.8, "a1.dot": 1},
    ],
)
def test_a_closed_chain_closes_from_any_subset(start):
    found = start_of(chain_of_six(), start)
    tip = np.sum(np.exp(1j * found.q))
    assert abs(tip - 1.7) < 1e-12
    assert abs(np.sum(1j * np.exp(1j * found.q) * found.qdot)) < 1e-12
    assert (2, 2) == (found.rank, found.n_rows)
    for name, x in start.items():
        assert (pytest.approx(x), "given") == values(found)[name]


@pytest.mark.parametrize(("guess", "sign"), [({"phi": 0.3}, 1), ({"phi": 2.8}, -1)])
def test_slider_crank_on_either_side_of_its_crank(guess, sign):
    found = start_of(
        gallery.build("slider-crank"), {"theta": 1.0, "omega": 3}, guess=guess, inputs={"M": 0}
    )
    theta, phi = found.q
    # l₁ sin θ = l₂ sin φ with l₁ = 0.05, l₂ = 0.15
    assert math.sin(phi) == pytest.approx(math.sin(1.0) / 3)
    assert sign == np.sign(math.cos(phi))
    assert found.qdot[1] == pytest.approx(0.05 * math.cos(theta) * 3 / (0.15 * math.cos(phi)))


@pytest.mark.parametrize("t0", [0.0, 0.7, -2.0])
def test_rows_that_move_are_taken_at_the_time_of_the_start(t0):
    s = da.System("Rope that is let out", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("p", 1, s.O.offset(x * s.N.x + y * s.N.y))
    l = s.specified("l", 1 + da.sin(s.t) / 4)
    s.constrain(x**2 + y**2 - l**2, "rope")
    found = start_of(s, {"x": 0.6}, guess={"y": -1}, t0=t0)
    length, rate = 1 + math.sin(t0) / 4, math.cos(t0) / 4
    assert np.hypot(*found.q) == pytest.approx(length)
    assert found.q @ found.qdot == pytest.approx(length * rate)
    assert f"start at t = {t0:g}" in str(found)


def test_a_value_may_depend_on_time_and_is_taken_at_the_start():
    s = chain_of_six()
    assert start_of(s, {"a1": 0.2 + s.t / 2}, t0=1.0).q[0] == pytest.approx(0.7)


def test_redundant_rows_are_counted_and_named():
    s = da.System("Two rods in one", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("p", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    s.constrain((x**2 + y**2) ** 2 - 1, "again", redundant=True)
    found = start_of(s, {"x": 0.6})
    assert found.q == pytest.approx([0.6, 0.8])
    text = str(found)
    assert "rank 1 of 2" in text
    assert "'rod' and 'again'" in text


def test_rows_that_are_not_linear_in_the_rates_are_counted_with_their_rank():
    found = start_of(gallery.build("appell-hamel"), {"z.dot": -1.0, "y.dot": 0.0})
    k = 2.0
    assert abs(values(found)["x.dot"][0]) == pytest.approx(k)
    assert "rank 1 of 1" in str(found)


@pytest.mark.parametrize(
    ("start", "more", "message"),
    [
        (
            {"theta_1": 1, "theta_2": 0.5, "theta_3": 1.5},
            {},
            r"contradict 'closure along y': residual -0\.04",
        ),
        (
            {"theta_3": 0.0, "theta_1": 2.0},
            {},
            (
                r"no position found that satisfies 'closure along x' with theta_3 = 0, "
                r"theta_1 = 2: "
                r"least-squares"
            ),
        ),
        (
            {},
            {"values": {"l_1": 5}},
            (
                r"no position found that satisfies 'closure along .': least-squares residual .* "
                r"iterations"
            ),
        ),
        (
            {"theta_1": 1, "theta_3.dot": 2, "omega": 5},
            {},
            r"contradicts 'closure along x' \(residual .*least-squares residual",
        ),
        ({"theta_1": math.inf}, {}, "theta_1 = inf is not finite"),
        (
            {"theta_1": 1},
            {"guess": {"omega": 1}},
            "guess: omega is not a coordinate that the constraints determine",
        ),
        ({"theta_1.dot.dot": 1}, {}, r"is an acceleration"),
    ],
)
def test_what_cannot_be_had_is_said_with_the_worst_row(start, more, message):
    with pytest.raises(BadStart, match=message):
        start_of(gallery.build("four-bar"), start, **more)


def test_too_much_is_welcome_if_it_fits():
    s = gallery.build("four-bar")
    first = start_of(s, {"theta_1": 1, "omega": 2})
    again = {m.name: m.value for m in first.values}
    assert start_of(s, again).q == pytest.approx(first.q)
