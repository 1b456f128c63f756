"""A prescribed motion acts on a linear model through a, ȧ and ä: against closed forms and against
differences.
"""

import numpy as np
import pytest

import dalembert as da

FREQUENCIES = np.array([0.3, 2.0, 8.5, 60.0])


def quarter_car():
    s = da.System("Quarter car")
    z = s.specified("z")
    y, w = s.coordinates("y w")
    M, m, k, d, K, D = s.constants(M=300, m=40, k=2e4, d=1500, K=2e5, D=90)
    body, wheel = s.O.offset((y + 1) * s.N.y), s.O.offset(w * s.N.y)
    s.particle("body", M, body)
    s.particle("wheel", m, wheel)
    s.force(-(k * (y - w) + d * (y.dot - w.dot)) * s.N.y, at=body, reaction=wheel)
    s.force(-(K * (w - z) + D * (w.dot - z.dot)) * s.N.y, at=wheel)
    return s


def test_road_to_wheel_and_to_its_acceleration():
    """(M s² + d s + k) y = (d s + k) w and m s² w + M s² y = (D s + K)(z − w)"""
    s = 1j * FREQUENCIES
    lift = (1500 * s + 2e4) / (300 * s**2 + 1500 * s + 2e4)
    w = (90 * s + 2e5) / (40 * s**2 + 300 * s**2 * lift + 90 * s + 2e5)
    outputs = {
        "w": w,
        "y": w * lift,
        "w.dot.dot": s**2 * w,
        "y.dot.dot - z.dot.dot": s**2 * (w * lift - 1),
        "w - z": w - 1,
    }
    model = da.linearize(quarter_car(), outputs=list(outputs))
    assert ("z", "z.dot", "z.dot.dot") == model.inputs
    for name, expected in outputs.items():
        np.testing.assert_allclose(
            model.frequency_response(FREQUENCIES, "z", name), expected, rtol=1e-10, atol=1e-12
        )


def shaken_pendulum():
    s = da.System("Shaken pendulum", gravity=9.81)
    a = s.specified("a")
    m, l, c = s.constants(m=1.3, l=0.7, c=0.2)
    P = s.pin("theta", s.O.offset(a * s.N.x))
    s.particle("bob", m, P.offset(-l * P.frame.y))
    s.dissipation(c * s["theta"].dot ** 2 / 2)
    return s


def test_a_base_that_accelerates():
    """m l² θ̈ + c θ̇ + m g l θ = −m l ä"""
    s = 1j * FREQUENCIES
    theta = -1.3 * 0.7 * s**2 / (1.3 * 0.49 * s**2 + 0.2 * s + 1.3 * 9.81 * 0.7)
    model = da.linearize(
        shaken_pendulum(), outputs=["theta", "theta.dot.dot", "a.dot.dot + l*theta.dot.dot"]
    )
    assert ("a.dot.dot",) == model.inputs
    for name, expected in zip(
        model.outputs, (theta, s**2 * theta, s**2 * (1 + 0.7 * theta)), strict=True
    ):
        np.testing.assert_allclose(
            model.frequency_response(FREQUENCIES, "a", name), expected, rtol=1e-10, atol=1e-12
        )


def shaken_linkage():
    """A rod on a slide that is shaken, whose end runs on a circle: one freedom, one closed loop."""
    s = da.System("Shaken linkage", gravity=9.81)
    a = s.specified("a")
    P = s.pin("theta", s.O.offset(a * s.N.x + s.coordinate("y") * s.N.y))
    rod = s.rod("rod", P, 2, 1)
    s.distance(rod.tip, s.O.offset(2 * s.N.x), 2)
    s.damper(3, s.O, rod.G)
    return s


@pytest.mark.parametrize("build", [shaken_pendulum, shaken_linkage])
def test_columns_of_a_motion_are_differences_of_runs(build):
    """∂θ̈/∂a, ∂θ̈/∂ȧ, ∂θ̈/∂ä at a point that is not at rest, by motions a(t) that differ in one
    of them at t = 0
    """
    s = build()
    h = 1e-4
    model = da.linearize(s, {"theta": 0.6, "theta.dot": 0.8}, outputs=["theta.dot.dot"])
    # what is independent is held, the rest follows from the rows
    held = {name: model.point[name] for name in model.states}

    def acceleration(*motion):
        run = da.simulate(
            s, 1e-3, start=held, inputs={"a": "{} + {}*t + {}*t**2/2".format(*motion)}
        )
        assert run["theta"][0] == pytest.approx(0.6, abs=0.01)
        return run["theta.dot.dot"][0]

    assert "a.dot.dot" in model.inputs
    for k, name in enumerate(("a", "a.dot", "a.dot.dot")):
        up, down = ([sign * h * (j == k) for j in range(3)] for sign in (1, -1))
        column = model.D[0, model.inputs.index(name)] if name in model.inputs else 0.0
        assert (acceleration(*up) - acceleration(*down)) / (2 * h) == pytest.approx(
            column, abs=1e-6
        ), name
