"""Drives and grounds that change faster than the motion: steps know the motion alone, and must
not pass over the end of a mode.
"""

import numpy as np
import pytest

import dalembert as da

G = 9.81
FINE = {"rtol": 1e-12, "atol": 1e-12}


def first_root(f, until):
    """The first sign change of f, by bisection."""
    t = np.linspace(0, until, 400_001)
    k = int(np.argmax(f(t) < 0))
    a, b = t[k - 1], t[k]
    for _ in range(60):
        middle = (a + b) / 2
        a, b = (a, middle) if f(middle) < 0 else (middle, b)
    return b


@pytest.mark.parametrize("events", [False, True])
def test_a_block_at_rest_is_let_go_by_the_first_peak_of_its_drive_that_is_high_enough(events):
    s = da.System("pushed block", gravity=G)
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("block", 2, P)
    s.force(0.5 * s.t * da.sin(10 * s.t) * s.N.x, at=P)
    s.friction(x.dot, 0.2, static=0.5, normal=2 * G, name="ground")
    # at rest nothing moves, and a step would be as long as the run
    run = da.simulate(s, 30, events=[da.event(s.t - 1, name="a second")] if events else [], **FINE)
    lets_go = next(e.t for e in run.events if e.name == "ground")
    assert lets_go == pytest.approx(
        first_root(lambda t: 0.5 * 2 * G - np.abs(0.5 * t * np.sin(10 * t)), 30), abs=1e-12
    )
    assert [e.t for e in run.events if e.name == "a second"] == pytest.approx(
        [1.0] * events, abs=1e-12
    )


def test_a_ball_lands_on_a_table_that_shakes_and_bounces_off_with_its_velocity():
    s = da.System("shaken table", gravity=G)
    y = s.coordinate("y")
    P = s.O.offset(y * s.N.y)
    s.particle("ball", 1, P)
    s.contact(
        P, s.N.y, through=s.O.offset(0.01 * da.sin(40 * s.t) * s.N.y), restitution=0.5, name="table"
    )
    run = da.simulate(s, 2, start={"y": 1.0}, **FINE)
    t = first_root(lambda t: 1 - G * t**2 / 2 - 0.01 * np.sin(40 * t), 1)
    hit = run.events[0]
    assert hit.t == pytest.approx(t, abs=1e-12)
    table = 0.4 * np.cos(40 * t)
    assert hit.after["y.dot"] - table == pytest.approx(-0.5 * (-G * t - table), abs=1e-11)
    times = np.linspace(0, 2, 5001)
    assert (run.at(times)["y"] - 0.01 * np.sin(40 * times)).min() > -1e-12


def test_a_block_on_a_tray_that_shakes_is_carried_along():
    s = da.System("shaken tray", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.contact(
        P, s.N.y, through=s.O.offset(0.02 * da.sin(5 * s.t) * s.N.x), friction=0.3, name="tray"
    )
    run = da.simulate(s, 4, start={"x.dot": 0.1}, **FINE)
    # 25 · 0.02 = 0.5 m/s² is less than μ g
    assert set(run.modes["tray"]) == {"sticks"}
    np.testing.assert_allclose(run["x"], 0.02 * np.sin(5 * run.t), rtol=0, atol=1e-11)


def test_a_stone_thrown_over_waves_meets_the_first_crest_in_its_way():
    s = da.System("stone over waves", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("stone", 1, P)
    s.contact(P, height=lambda x: 0.2 * da.sin(12 * x), restitution=0.3, name="waves")
    run = da.simulate(s, 1.2, start={"y": 1.2, "x.dot": 6, "y.dot": 3}, **FINE)
    t = first_root(lambda t: 1.2 + 3 * t - G * t**2 / 2 - 0.2 * np.sin(72 * t), 1.2)
    assert run.events[0].t == pytest.approx(t, abs=1e-11)


def pushed_block(force=None):
    s = da.System("pushed block")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("block", 1, P)
    s.force((s.input("F") if force is None else force(s.t)) * s.N.x, P)
    s.friction(x.dot, 0.3, normal=G, name="floor")
    return s


@pytest.mark.parametrize("held", [True, False])
def test_a_force_that_jumps_lets_a_block_go_at_once(held):
    inputs = {"F": da.sampled(lambda t, _: 5.0 * (t > 0.0999), every=0.01)} if held else {}
    s = pushed_block(None if held else lambda t: 5 * (1 + da.sign(t - 0.1)) / 2)
    run = da.simulate(s, 0.3, inputs=inputs, **FINE)
    assert [("floor", "slips +")] == [(e.name, e.action) for e in run.events]
    assert run.events[0].t == pytest.approx(0.1, abs=1e-15)
    assert run["x"][-1] == pytest.approx((5 - 0.3 * G) * 0.2**2 / 2, abs=1e-14)


def test_a_sampled_force_on_a_block_at_rest_takes_few_steps():
    held = da.sampled(lambda t, _: np.sin(9 * t), every=0.01)
    run = da.simulate(pushed_block(), 1.2, start={"x.dot": 2.0}, inputs={"F": held})
    times = np.arange(0, 1.3, 0.01)
    table = da.table(times, np.sin(9 * times), kind="held")
    other = da.simulate(pushed_block(), 1.2, start={"x.dot": 2.0}, inputs={"F": table})
    assert ["sticks"] == [e.action for e in run.events]
    assert run.solution.steps < 1500
    assert run["x"][-1] == pytest.approx(float(other["x"][-1]), rel=1e-9)
