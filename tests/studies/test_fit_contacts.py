"""Fits through contacts: friction of a block that bounces, slides and stops."""

import numpy as np
import pytest

import dalembert as da


def block():
    s = da.System("block", gravity=9.81)
    x, y = s.coordinates("x y")
    mu, e = s.constants(mu=0.3, e=0.4)
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.contact(P, friction=mu, restitution=e, name="floor")
    return s


@pytest.mark.parametrize("start", [{"x.dot": 0.8}, {"x.dot": 1.5, "y": 0.05}])
def test_friction_is_fitted_through_bounces_slip_and_rest(start):
    t = np.linspace(0, 0.6, 60)
    truth = da.simulate(block(), 0.6, start=start, values={"mu": 0.25}, at=t)
    noise = 1e-4 * np.random.default_rng(3).standard_normal(60)
    fit = da.fit(block(), {"t": t, "x": truth["x"] + noise}, {"mu": 0.35}, start=start)
    assert fit.converged
    assert abs(fit.values["mu"] - 0.25) < 4 * fit.standard_errors["mu"]
    assert fit.standard_errors["mu"] < 1e-3


def test_a_fit_without_a_derivative_is_refused_by_name():
    s = da.System("box", gravity=9.81)
    x, y, a = s.coordinates("x y a")
    mu = s.constant("mu", 0.6)
    B = s.N.rotated(a, s.N.z, "B")
    C = s.O.offset(x * s.N.x + y * s.N.y)
    body = s.body("box", 2, C, B, da.inertia(B, *[0.2] * 3))
    for name, side in (("left", -1), ("right", 1)):
        corner = C.offset(side * B.x / 2 - B.y / 4, name, B)
        s.contact(corner, on=body, friction=mu, restitution=0.3, name=name)
    t = np.linspace(0, 0.5, 20)
    with (
        pytest.warns(da.DalembertWarning, match="its bounces accumulate"),
        pytest.raises(da.DalembertError, match="no derivative after a change of its contacts"),
    ):
        da.fit(s, {"t": t, "x": 0.1 * t}, {"mu": 0.6}, start={"y": 0.4, "a": 0.1})
