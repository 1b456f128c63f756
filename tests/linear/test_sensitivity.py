import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.linear.linearize import linearize
from dalembert.analysis.linear.sensitivity import model_sensitivity, sensitivity
from dalembert.errors import NotApplicable
from dalembert.gallery import (
    bead_on_hoop,
    double_pendulum,
    rolling_disk,
    simple_pendulum,
    whipple_bicycle,
)

TIGHT = {"rtol": 1e-13, "atol": 1e-13}


def differences(build, name, value, h, duration, start, key):
    ends = [
        da.simulate(build(**{name: value + k * h}), duration, start=start, **TIGHT)[key][-1]
        for k in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2 * h)


def test_double_pendulum():
    start = {"alpha": 1.0, "beta": 0.4}
    s = double_pendulum.build()
    name = next(n for n, x in s.symbols.items() if x.kind == "constant" and n != "g")
    value = float(s.symbols[name].value)
    run = da.simulate(s, 2, start=start, **TIGHT)
    found = sensitivity(run, name, "g")
    assert len(run.t) == len(found["alpha", name])
    assert 0 == found["alpha", name][0]
    for parameter, x in ((name, value), ("g", 9.81)):
        expected = differences(double_pendulum.build, parameter, x, 1e-5, 2, start, "beta")
        assert pytest.approx(expected, rel=1e-6, abs=1e-7) == found["beta", parameter][-1]


def test_nonholonomic_rows():
    start = {"theta": 1.2, "psi.dot": -4.0, "phi.dot": 0.6}
    run = da.simulate(rolling_disk.build(), 2, start=start, **TIGHT)
    found = sensitivity(run, "r")
    for key in ("x", "theta", "psi.dot"):
        assert (
            pytest.approx(differences(rolling_disk.build, "r", 0.5, 1e-5, 2, start, key), rel=1e-6)
            == found[key, "r"][-1]
        )


def length_pendulum(l=0.7):
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain((x**2 + y**2 - s.constant("l", l) ** 2) / 2, "rod")
    return s


def test_a_start_that_the_rows_complete():
    start = {"x": 0.3}
    run = da.simulate(length_pendulum(), 1.5, start=start, guess={"y": -0.6}, **TIGHT)
    found = sensitivity(run, "l")
    # y = −√(l² − x²) to begin with
    assert pytest.approx(0.7 / run["y"][0]) == found["y", "l"][0]
    ends = [
        da.simulate(length_pendulum(0.7 + h), 1.5, start=start, guess={"y": -0.6}, **TIGHT)["x"][-1]
        for h in (1e-5, -1e-5)
    ]
    assert pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6) == found["x", "l"][-1]


def test_given_rates_are_refused():
    run = da.simulate(rolling_disk.build(), 0.1, start={"theta": 1.2, "x.dot": 2})
    with pytest.raises(
        NotApplicable, match=r"psi\.dot follows from given rates, which the constants may change"
    ):
        sensitivity(run, "r")


def checked(s, parameter, points, h=1e-5):
    """∂A/∂p and ∂λ/∂p against two-sided differences; the points are those at p, p + h and p − h."""
    value = float(s.symbols[parameter].value)
    found = model_sensitivity(s, parameter, points[0])
    up, down = (
        linearize(s, point, values={parameter: value + k * h})
        for k, point in zip((1, -1), points[1:], strict=True)
    )
    expected = (up.A - down.A) / (2 * h)
    assert np.abs(found.A - expected).max() <= 1e-6 * max(1.0, np.abs(expected).max())
    simple = [k for k, m in enumerate(found.model.modes().modes) if not m.structural]
    slopes = (up.eigenvalues - down.eigenvalues)[simple] / (2 * h)
    assert np.abs(found.eigenvalues[simple] - slopes).max() <= 1e-6 * max(1.0, np.abs(slopes).max())


@pytest.mark.each_time(2)
@pytest.mark.parametrize(
    ("build", "parameter", "about"),
    [
        (simple_pendulum.build, "g", {}),
        (whipple_bicycle.build, "c", {"v": 5.0}),
        (whipple_bicycle.build, "m_B", {"v": 5.0}),
        (bead_on_hoop.build, "R", {"theta": 1.2}),
    ],
)
def test_linear_models(build, parameter, about):
    checked(build(), parameter, [about] * 3)


def test_a_dependent_coordinate_follows_the_constant():
    # y = −√(l² − x²)
    checked(
        length_pendulum(),
        "l",
        [{"x": 0.3, "y": -np.sqrt((0.7 + h) ** 2 - 0.09), "x.dot": 0.2} for h in (0, 1e-5, -1e-5)],
    )
