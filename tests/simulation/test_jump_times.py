"""A pulse is never stepped over: steps end where loads in t jump or bend."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.simulation.discontinuity_times import discontinuity_times
from dalembert.symbolic.algebra.tape import Tape


def pushed(force):
    s = da.System("a mass that is pushed")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    F = s.input("F")
    s.force(F * s.N.x, at=P)
    return s, {"F": force}


def test_a_pulse_in_a_long_rest():
    """One unit of force from 5 to 6: then the speed is 1, and x = t − 5.5."""
    s, inputs = pushed("(sign(t - 5) - sign(t - 6))/2")
    run = da.simulate(s, 1000, inputs=inputs)
    assert 1.0 == pytest.approx(run["x.dot"][-1], rel=1e-12)
    assert 994.5 == pytest.approx(run["x"][-1], rel=1e-12)
    assert 0.125 == pytest.approx(run.at(5.5)["x"][0], rel=1e-9)
    assert run.solution.rejected < 10


def test_a_short_pulse_that_falls_between_the_steps():
    s, inputs = pushed("100*(sign(t - 5) - sign(t - 5.01))/2")
    assert 1.0 == pytest.approx(da.simulate(s, 10, inputs=inputs)["x.dot"][-1], rel=1e-11)


def test_with_events_too():
    s, inputs = pushed("(sign(t - 5) - sign(t - 6))/2")
    run = da.simulate(s, 20, inputs=inputs, events=["x - 1"])
    assert 6.5 == pytest.approx(run.events[0].t, rel=1e-12)
    assert 1.0 == pytest.approx(run["x.dot"][-1], rel=1e-12)


def test_a_bend():
    s, inputs = pushed("abs(t - 1)")
    run = da.simulate(s, 2, inputs=inputs)
    # ∫∫ |t − 1| = 1 over [0, 2]
    assert 1.0 == pytest.approx(run["x"][-1], rel=1e-13)
    assert run.solution.rejected == 0


def test_every_switch_of_a_square_wave():
    t = Tape()
    time, w = t.symbol("t"), t.symbol("w")
    wave = t.call("sign", t.call("sin", t.mul(w, time)))
    assert wave
    found = discontinuity_times(t, time, {w: math.pi}, 0.0, 100.5)
    assert np.allclose(np.arange(1, 101), found, rtol=0, atol=1e-12)


def test_what_depends_on_the_state_is_left_to_events():
    t = Tape()
    time, x = t.symbol("t"), t.symbol("x")
    t.call("sign", t.sub(x, time))
    assert () == discontinuity_times(t, time, {}, 0.0, 10.0)


def found_in(expression, t1, **values):
    t = Tape()
    time = t.symbol("t")
    t.call("sign", expression(t, time))
    return discontinuity_times(t, time, {}, 0.0, t1)


def test_pulses_a_millionth_of_the_run_long_are_found():
    s, inputs = pushed("250000*(sign(t - 500.0000001) - sign(t - 500.0000021))")
    run = da.simulate(s, 1000, inputs=inputs)
    assert 1.0 == pytest.approx(run["x.dot"][-1], rel=1e-6)


def test_roots_that_samples_would_miss():
    """t² − 2·10⁻³ t + 10⁻⁶ − 10⁻¹⁸ has two roots 2·10⁻⁹ apart; (t − 3)² touches zero."""
    near = found_in(
        lambda t, x: t.sub(
            t.power(t.sub(x, t.const(Fraction(7, 3))), 2), t.const(Fraction(1, 10**18))
        ),
        10.0,
    )
    assert np.allclose([7 / 3 - 1e-9, 7 / 3 + 1e-9], near, rtol=0, atol=1e-12)
    touched = found_in(lambda t, x: t.power(t.sub(x, t.const(Fraction(29, 10))), 2), 10.0)
    assert 2.9 == pytest.approx(touched[0], abs=1e-7)


def test_a_wave_too_fast_to_be_followed_is_said():
    with pytest.warns(da.DalembertWarning, match="too often in t to be followed for certain"):
        assert found_in(
            lambda t, x: t.add(
                t.call("sin", t.mul(t.const(10**6), x)), t.const(Fraction(999, 1000))
            ),
            100.0,
        )


@pytest.mark.parametrize("integrator", ["RK45", "Radau", "LSODA", "CVODE", "IDA"])
def test_other_integrators_end_their_steps_there_too(integrator):
    if integrator in ("CVODE", "IDA"):
        pytest.importorskip("sksundae")
    s, inputs = pushed("1000*(sign(t - 5) - sign(t - 5.001))/2")
    run = da.simulate(s, 20, inputs=inputs, integrator=integrator)
    assert 1.0 == pytest.approx(run["x.dot"][-1], rel=1e-6)
    assert np.all(np.diff(run.t) > 0)
