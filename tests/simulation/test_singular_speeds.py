"""A run past a position where the speeds fail is not passed off as good."""

import warnings

import pytest

import dalembert as da


def pendulum():
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    return s, x, y


def test_crossing_the_singular_position_is_told():
    s, x, _ = pendulum()
    s.speeds(u=x.dot)
    with pytest.warns(
        da.DalembertWarning,
        match="the rate of y is .* times a speed.*declare speeds that stay regular",
    ):
        da.simulate(s, 5.0, start={x: 0.6})


def test_without_a_choice_of_speeds_there_is_no_such_position():
    s, x, _ = pendulum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert da.simulate(s, 5.0, start={x: 0.6}, rtol=1e-11, atol=1e-11).energy_drift < 1e-10


def test_with_a_regular_speed_there_is_nothing_to_tell():
    s, x, y = pendulum()
    s.speeds(omega=x * y.dot - y * x.dot)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = da.simulate(s, 5.0, start={x: 0.6}, rtol=1e-11, atol=1e-11)
    assert run.energy_drift < 1e-9
