"""Where the audit cannot be had, the run says so and goes on."""

import pytest

import dalembert as da


def test_a_potential_with_an_input_is_told_and_the_motion_is_given():
    s = da.System("Spring of unknown stiffness")
    x = s.coordinate("x")
    k = s.input("k")
    s.particle("p", 1, s.O.offset(x * s.N.x))
    s.potential(k * x**2 / 2)
    with pytest.warns(da.DalembertWarning, match="this run has no energy audit: .*input k"):
        run = da.simulate(s, 1.0, start={x: 1.0}, inputs={k: 4})
    assert -0.4161468365471424 == pytest.approx(run["x"][-1], abs=1e-8)
