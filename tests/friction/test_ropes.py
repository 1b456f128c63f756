"""A rope that goes slack and taut, against closed forms."""

import math

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-12, "atol": 1e-13}
G = 9.81


def ball_on_rope(**rope):
    s = da.System("ball on a rope", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("ball", 1, P)
    s.rope(s.O, P, 1, name="rope", **rope)
    return s


def test_a_ball_leaves_its_circle_where_the_tension_vanishes():
    # v₀² = 3.5 g L: cos = (v₀² − 2 g L)/(3 g L)
    start = {"y": -1, "x.dot": math.sqrt(3.5 * G)}
    run = da.simulate(ball_on_rope(), 1, start=start, **FINE)
    first = run.events[0]
    assert "lifts off" == first.action
    assert first.before["y"] == pytest.approx(0.5, abs=1e-12)
    assert run["N_rope"][0] == pytest.approx(4.5 * G, rel=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.4])
def test_a_rope_that_becomes_taut_takes_the_velocity_along_it(e):
    run = da.simulate(ball_on_rope(restitution=e), 0.42, start={"x": 0.6}, **FINE)
    hit, v = run.events[0], math.sqrt(2 * G * 0.8)
    assert hit.t == pytest.approx(math.sqrt(1.6 / G), abs=1e-12)
    along = np.array([0.6, -0.8])
    expected = np.array([0, -v]) - (1 + e) * 0.8 * v * along
    np.testing.assert_allclose([hit.after["x.dot"], hit.after["y.dot"]], expected, atol=1e-12)
    assert hit.impulse == pytest.approx((1 + e) * 0.8 * v, rel=1e-12)


def test_two_weights_on_a_rope_over_a_point_move_as_atwoods_machine():
    s = da.System("Atwood", gravity=G)
    a, b = s.coordinates("a b")
    A, B = s.O.offset(-a * s.N.y, "A"), s.O.offset(-b * s.N.y, "B")
    s.particle("A", 2, A)
    s.particle("B", 1, B)
    s.rope(A, B, 3, through=s.O, name="rope")
    run = da.simulate(s, 0.4, start={a: 1, b: 2})
    assert run["a"][-1] == pytest.approx(1 + G / 3 * 0.08, abs=1e-9)
    assert run["N_rope"][-1] == pytest.approx(4 / 3 * G, rel=1e-9)


def test_ropes_that_cannot_be_are_refused():
    s = ball_on_rope()
    P = s.bodies[0].G
    with pytest.raises(da.BadDescription, match="length = -1; give a positive length"):
        s.rope(s.O, P, -1)
    with pytest.raises(da.BadDescription, match="joins a point to itself"):
        s.rope(P, P, 1)
    with pytest.raises(da.BadStart, match="inside 'rope'"):
        da.simulate(s, 1, start={"x": 2})
