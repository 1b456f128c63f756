"""One warning about a run that takes very many steps because it is stiff."""

import warnings

import pytest

import dalembert as da


def damped(c):
    s = da.System("damped")
    x = s.coordinate("x")
    s.particle("mass", 1.0, s.O.offset(x * s.N.x))
    s.potential(50 * x**2)
    s.dissipation(c * x.dot**2 / 2)
    return s


def test_a_stiff_run_is_named_once():
    s = damped(1e6)
    with pytest.warns(da.DalembertWarning, match=r"stiff.*integrator='rosenbrock' or 'auto'"):
        da.simulate(s, 1.0, start={"x": 1.0}, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.simulate(s, 1.0, start={"x": 1.0}, progress=False)


def test_the_warning_can_be_switched_off():
    s = damped(1e6)
    s.accept("stiff run")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.simulate(s, 1.0, start={"x": 1.0}, progress=False)


def test_many_steps_of_an_oscillation_are_not_stiff():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = da.simulate(damped(1e-3), 1.0, start={"x": 1.0}, max_step=8e-6, progress=False)
    assert run.solution.steps > 100_000
    assert not run.solution.stiff
