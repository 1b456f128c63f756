"""run.gradient against sensitivities carried along, differences of costs, and through events,
tables and constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import NotApplicable, Unknown
from dalembert.gallery import double_pendulum, rolling_disk, spatial_chain
from derivatives.trees import cartesian_pendulum

_FINE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}


def _ball() -> da.System:
    s = da.System("Ball over a hill")
    z, x = s.coordinates("z x")
    g, m, k = s.constants(g=9.81, m=1.0, k=0.1)
    P = s.O.offset(z * s.N.z + x * s.N.x)
    s.particle("ball", m, P)
    s.gravity(-g * s.N.z)
    s.force(-k * P.v, at=P)
    return s


def _driven() -> da.System:
    s = da.System("Driven pendulum", gravity=9.81)
    a = s.pin("a", s.O)
    m, c = s.constants(m=1.0, c=0.1)
    s.rod("rod", a, mass=m, length=1)
    s.torque((s.input("F") - c * s["a"].dot) * s.N.z, on=a.frame)
    return s


def test_smooth_motion_against_sensitivities() -> None:
    s, start = double_pendulum.build(), {"alpha": 1.0, "beta": 0.5}
    names = ["m_1", "m_2", "l_1", "l_2", "g", "alpha", "beta", "alpha.dot"]
    found = da.simulate(s, 3, start=start, **_FINE).gradient(end="beta**2*alpha.dot")
    forward = da.simulate(s, 3, start=start, sensitivities=names, **_FINE)
    for name in names:
        expected = forward.sensitivity("beta**2*alpha.dot", name)[-1]
        assert expected == pytest.approx(found[name], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("integrator", ["taylor", "rosenbrock"])
def test_steps_of_other_methods_are_divided(integrator: str) -> None:
    s, start = double_pendulum.build(), {"alpha": 1.0, "beta": 0.5}
    expected = da.simulate(s, 2, start=start, **_FINE).gradient(end="beta")
    run = da.simulate(s, 2, start=start, rtol=1e-10, atol=1e-10, integrator=integrator)
    found = run.gradient(end="beta")
    for name, x in expected.constants.items():
        assert x == pytest.approx(found[name], rel=1e-7, abs=1e-7)


def _difference(cost: Any, x: float, h: float = 1e-4) -> float:
    """dJ/dx of order four."""
    return float((8 * (cost(x + h) - cost(x - h)) - cost(x + 2 * h) + cost(x - 2 * h)) / (12 * h))


def test_integral_costs_with_an_input_as_an_expression() -> None:
    s = _driven()

    def gradient(**values: float) -> Any:
        start = {"a": values.pop("a", 0.7)}
        run = da.simulate(s, 2, start=start, inputs={"F": "sin(t)"}, values=values, **_FINE)
        return run.gradient("a**2 + F**2 + m*t", end="a.dot")

    found = gradient()
    for name, value in (("m", 1.0), ("c", 0.1), ("a", 0.7)):
        expected = _difference(lambda x, name=name: gradient(**{name: x}).value, value)
        assert expected == pytest.approx(found[name], rel=1e-9)


@pytest.mark.parametrize("kind", ["held", "linear", "cubic"])
def test_samples_of_a_table(kind: str) -> None:
    s, times = _driven(), np.linspace(0, 2, 7)

    def gradient(samples: Any) -> Any:
        table = da.table(times, samples, kind)
        return da.simulate(s, 2, start={"a": 0.7}, inputs={"F": table}, **_FINE).gradient(
            "a**2 + F**2"
        )

    w = np.cos(times)
    found = gradient(w)["F"]
    for k in (0, 3, 6):
        unit = np.eye(7)[k]
        # the cost is nearly quadratic in the samples
        expected = (gradient(w + 1e-4 * unit).value - gradient(w - 1e-4 * unit).value) / 2e-4
        assert expected == pytest.approx(found[k], rel=1e-7, abs=1e-8)


def test_samples_of_a_program_are_those_it_returned() -> None:
    run = da.simulate(
        _driven(), 1, start={"a": 0.7}, inputs={"F": da.sampled(lambda t: 1 + t, 0.25)}, **_FINE
    )
    table = da.table([0, 0.25, 0.5, 0.75], [1, 1.25, 1.5, 1.75], "held")
    same = da.simulate(_driven(), 1, start={"a": 0.7}, inputs={"F": table}, **_FINE)
    np.testing.assert_allclose(run.gradient(end="a")["F"], same.gradient(end="a")["F"], rtol=1e-9)


def test_impacts_and_a_moving_end() -> None:
    s, start = _ball(), {"z": 1.0, "x.dot": 1.0}
    hill = da.impact("z - 0.1*sin(x)", "8*k")
    names = ["g", "k", "z", "x.dot"]
    run = da.simulate(s, 1.5, start=start, events=[hill], **_FINE)
    assert len(run.events) == 2
    forward = da.simulate(s, 1.5, start=start, events=[hill], sensitivities=names, **_FINE)
    found = run.gradient(end="z*x")
    for name in names:
        assert forward.sensitivity("z*x", name)[-1] == pytest.approx(found[name], rel=1e-9)

    def stopped(k: float) -> Any:
        end = da.event("z", stop=True)
        run = da.simulate(s, 1.5, start=start, values={"k": k}, events=[end], **_FINE)
        return run.gradient("z**2 + t", end="z.dot*x")

    assert _difference(lambda k: stopped(k).value, 0.1) == pytest.approx(
        stopped(0.1)["k"], rel=1e-8
    )

    def rebounding(k: float) -> Any:
        run = da.simulate(s, 1.5, start=start, values={"k": k}, events=[hill], **_FINE)
        return run.gradient("z.dot**2 + x")

    assert _difference(lambda k: rebounding(k).value, 0.1) == pytest.approx(
        rebounding(0.1)["k"], rel=1e-7
    )


def test_constraint_equations_in_saddle_point_form() -> None:
    s, start, guess = cartesian_pendulum(), {"x": 0.5}, {"y": -1}
    run = da.simulate(s, 2, start=start, guess=guess, **_FINE)
    assert run.kinematics.velocity_rows
    found = run.gradient(end="x*y.dot")
    for name in ("m", "g", "l", "c", "x"):
        forward = da.simulate(s, 2, start=start, guess=guess, sensitivities=[name], **_FINE)
        expected = forward.sensitivity("x*y.dot", name)[-1]
        # along the admissible change that belongs to the start value
        along = sum(found.start[x] * forward.sensitivity(x, name)[0] for x in run.names)
        assert expected == pytest.approx(along if name == "x" else found[name], rel=1e-9, abs=1e-9)
    # what the row forbids has no influence: x δx + y δy = 0
    assert 0.5 * found.start["x"] + run["y"][0] * found.start["y"] == pytest.approx(0.0, abs=1e-12)


def test_rolling_without_slipping() -> None:
    s, start = rolling_disk.build(), {"theta": 1.2, "psi.dot": 6.0}
    found = da.simulate(s, 1, start=start, **_FINE).gradient(end="x**2 + psi.dot")
    names = ["r", "g", "theta", "psi.dot"]
    forward = da.simulate(s, 1, start=start, sensitivities=names, **_FINE)
    for name in names[:2]:
        expected = forward.sensitivity("x**2 + psi.dot", name)[-1]
        assert expected == pytest.approx(found[name], rel=1e-9, abs=1e-9)


def test_many_constants_cost_one_sweep() -> None:
    s = spatial_chain.build(3, symbolic=True)
    start = {"q_1": 0.5, "q_2": 0.3}
    found = da.simulate(s, 1, start=start, **_FINE).gradient(end="q_3**2")
    names = ["m_1", "I_2xy", "l_3x", "g"]
    forward = da.simulate(s, 1, start=start, sensitivities=names, **_FINE)
    for name in names:
        assert forward.sensitivity("q_3**2", name)[-1] == pytest.approx(
            found[name], rel=1e-9, abs=1e-10
        )


def test_what_has_no_gradient_is_refused() -> None:
    s = _driven()
    run = da.simulate(s, 1, start={"a": 0.7}, inputs={"F": lambda t: t})
    with pytest.raises(NotApplicable, match="F is a Python function"):
        run.gradient("a")
    run = da.simulate(s, 1, start={"a": 0.7}, inputs={"F": 0})
    with pytest.raises(Unknown, match="give the integrand"):
        run.gradient()
    with pytest.raises(NotApplicable, match="acceleration"):
        run.gradient("a.dot.dot")
    with pytest.raises(Unknown, match="did you mean 'm'"):
        run.gradient("a")["mm"]
