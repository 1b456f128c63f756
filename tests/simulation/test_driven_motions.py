"""ẋ or ẍ of a prescribed motion is an input: x is a state, and a control law gives the input."""

import inspect
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_are

import dalembert as da
from dalembert.gallery import whipple_bicycle

G, L = 9.81, 0.7


def pendulum(**driver):
    """A pendulum on a pivot that moves along x: l θ̈ = −g sin θ − ẍ cos θ."""
    s = da.System("Pendulum on a driven pivot", gravity=G)
    w = s.input("w")
    x = s.specified("x", **dict.fromkeys(driver or ["acceleration"], w))
    m, l = s.constants(m=1.3, l=L)
    P = s.pin("theta", s.O.offset(x * s.N.x))
    s.particle("bob", m, P.offset(-l * P.frame.y))
    s.particle("pivot", 0.4, P)
    return s


def reference(acceleration, duration, y0):
    """(θ, θ̇, x, ẋ) of the closed equation at the end."""

    def rates(t, y):
        a = acceleration(t, y)
        return y[1], -(G * math.sin(y[0]) + a * math.cos(y[0])) / L, y[3], a

    run = solve_ivp(rates, (0, duration), y0, "DOP853", rtol=1e-12, atol=1e-13)
    return run.y[:, -1]


LAWS = {
    "expression": ("-3*x - 2*x.dot + theta", lambda t, y: -3 * y[2] - 2 * y[3] + y[0]),
    "of time": ("0.8*sin(3*t)", lambda t, y: 0.8 * math.sin(3 * t)),
    "function": (
        lambda t, now: -3 * now["x"] - 2 * now["x.dot"] + now["theta"],
        lambda t, y: -3 * y[2] - 2 * y[3] + y[0],
    ),
    "linear table": (da.table([0, 1, 2], [0, 1, -1]), lambda t, y: t if t < 1 else 3 - 2 * t),
    "number": (0.7, lambda t, y: 0.7),
}


@pytest.mark.parametrize("kind", LAWS)
def test_an_acceleration_by_any_law_against_the_closed_equation(kind):
    law, acceleration = LAWS[kind]
    start = {"theta": 0.4, "x": 0.1, "x.dot": -0.2}
    run = da.simulate(pendulum(), 2, start=start, inputs={"w": law}, rtol=1e-11)
    expected = reference(acceleration, 2, (0.4, 0, 0.1, -0.2))
    for name, x in zip(("theta", "theta.dot", "x", "x.dot"), expected, strict=True):
        assert run[name][-1] == pytest.approx(x, abs=2e-7 if kind == "linear table" else 1e-9)
    # the work of the pivot is part of the audit
    scale = np.abs(run.energy).max()
    assert np.ptp(run.energy) > 1e-3 * scale
    assert run.integrals.drift < 1e-9 * scale


def test_a_rate_is_its_acceleration_integrated():
    start = {"theta": 0.4, "x": 0.1}
    by_rate = da.simulate(
        pendulum(rate=1), 2, start=start, inputs={"w": "-0.2 + 0.8/3*(1 - cos(3*t))"}, rtol=1e-11
    )
    expected = reference(LAWS["of time"][1], 2, (0.4, 0, 0.1, -0.2))
    got = [by_rate[name][-1] for name in ("theta", "theta.dot", "x", "x.dot")]
    assert got == pytest.approx(list(expected), abs=1e-9)
    # a law of positions: its rate contains ẋ and θ̇
    fed = da.simulate(pendulum(rate=1), 2, start=start, inputs={"w": "theta - 2*x"}, rtol=1e-11)
    expected = reference(lambda t, y: y[1] - 2 * y[3], 2, (0.4, 0, 0.1, 0.2))
    assert [fed[n][-1] for n in ("theta", "x")] == pytest.approx(expected[[0, 2]], abs=1e-9)


@pytest.mark.parametrize("driver", ["rate", "acceleration"])
def test_principles_agree_and_files_and_exports_keep_it(driver, tmp_path):
    s = pendulum(**{driver: 1})
    assert da.agreement(s).agree
    s.save(tmp_path / "p.toml")
    again = da.load(tmp_path / "p.toml")
    start, inputs = {"theta": 0.3, "x": 0.2}, {"w": "sin(2*t)"}
    runs = [da.simulate(each, 1, start=start, inputs=inputs) for each in (s, again)]
    assert runs[0]["theta"][-1] == runs[1]["theta"][-1]
    exported = {}
    exec(str(da.export(s, "numpy")), exported)
    x = [0.3, 0.2, 0.5, -0.1][: 3 if driver == "rate" else 4]
    dx = exported["rates"](0.0, np.array(x), np.array([0.7, 0.4][: 2 if driver == "rate" else 1]))
    a = 0.4 if driver == "rate" else 0.7
    assert dx[-1] == pytest.approx(-(G * math.sin(0.3) + a * math.cos(0.3)) / L)
    assert dx[1] == pytest.approx(0.7 if driver == "rate" else 0.5)


def test_lqr_of_a_driven_pivot():
    s = pendulum()
    hold = da.lqr(s, Q={"theta": 10}, R=1, about={"theta": math.pi})
    run = da.simulate(s, 12, start={"theta": 3.2, "x": 0.2}, inputs=hold.law)
    assert (run["theta"][-1], run["x"][-1]) == pytest.approx((math.pi, 0), abs=1e-3)


@pytest.mark.slow
def test_an_ensemble_of_a_driven_pivot():
    s = pendulum()
    hold = da.lqr(s, Q={"theta": 10}, R=1, about={"theta": math.pi})
    study = da.ensemble(
        s, 12, over={"theta": [3.1, 3.2], "x": [0.0, 0.2]}, inputs=hold.law, rtol=1e-9
    )
    run = da.simulate(s, 12, start={"theta": 3.2, "x": 0.2}, inputs=hold.law, rtol=1e-9)
    assert run["theta"][-1] == pytest.approx(float(study["theta"][1, 1]), abs=1e-9)


def test_equilibrium_leaves_a_driven_position_free():
    point = da.equilibrium(pendulum(), given={"x": 0.3}, guess={"theta": 0.2})
    assert (point["theta"], point["x"], point["x.dot"]) == (0.0, 0.3, 0.0)


def bicycle(driver="acceleration"):
    """The bicycle of the gallery with its steer given by an input."""
    text = inspect.getsource(whipple_bicycle.build)
    for old, new in (
        ("phi chi delta theta_R", "phi chi theta_R"),
        ("phi, chi, delta, theta_R", "phi, chi, theta_R"),
        ("    p = {", f"    delta = s.specified('delta', {driver}=s.input('steer'))\n    p = {{"),
        (", u_delta=delta.dot", ""),
    ):
        assert old in text
        text = text.replace(old, new)
    names = dict(vars(whipple_bicycle))
    exec(text, names)
    return names["build"]()


@pytest.mark.parametrize("driver", ["rate", "acceleration"])
def test_a_steered_bicycle_against_the_published_equation_of_lean(driver):
    """80.81722 φ̈ + 2.3194 δ̈ + 33.8664 v δ̇ − 80.95 g φ + (76.5973 v² − 2.5995 g) δ = 0 (Mei07)"""
    model = da.linearize(bicycle(driver), {"v": 4.0})
    row = model.states.index("u_phi")
    slopes = dict(zip(model.states, model.A[row], strict=True))
    slopes |= dict(zip(model.inputs, model.B[row], strict=True))
    rate, acceleration = ("steer", "steer.dot") if driver == "rate" else ("delta.dot", "steer")
    expected = {
        "phi": 80.95 * G,
        "delta": 2.599516852498720 * G - 76.59734589573222 * 16,
        rate: -33.86641391492494 * 4,
        acceleration: -2.319413322087090,
    }
    for name, x in expected.items():
        assert slopes[name] == pytest.approx(x / 80.81722, rel=1e-12)


def test_steering_by_feedback_holds_the_bicycle_up():
    s = bicycle()
    model = da.linearize(s, {"v": 4.0})
    own = [model.states.index(n) for n in ("phi", "u_phi", "delta", "delta.dot")]
    A, B = model.A[np.ix_(own, own)], model.B[own]
    assert max(np.linalg.eigvals(A).real) > 1
    K = B.T @ solve_continuous_are(A, B, np.eye(4), np.eye(1))
    law = "-({}*phi + {}*u_phi + {}*delta + {}*delta.dot)".format(*K[0])
    run = da.simulate(s, 6, start={"v": 4, "phi": 0.1}, inputs={"steer": law}, rtol=1e-10)
    assert abs(run["phi"][-1]) < 1e-3
    assert run.integrals.drift < 1e-9 * np.abs(run.energy).max()
    # the torque that the steer needs, given to the bicycle that is steered by a torque
    drive = run.reactions.drives["delta"].load
    assert 0.01 < np.abs(drive).max() < 10


@pytest.mark.parametrize("eliminated", [True, False])
def test_a_cylinder_of_given_acceleration_in_a_loop(eliminated):
    """A rod of length 1 from O, its tip at the distance c of (1, 0): c = 2 sin(θ/2)."""
    s = da.System("Boom", gravity=G)
    c = s.specified("c", acceleration=s.input("a"))
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("tip", 2, P)
    A = s.O.offset(s.N.x)
    s.constrain((P - s.O) @ (P - s.O) - 1, "rod")
    s.constrain((P - A) @ (P - A) - c**2, "cylinder")
    if not eliminated:
        s.particle("free", 1, s.O.offset(s.coordinate("z") * s.N.z))
    start, law = {"c": 1.0, "c.dot": 0.1}, "0.2 - 0.5*c.dot"
    guess = {"x": 0.5, "y": 0.8}
    run = da.simulate(s, 1, start=start, guess=guess, inputs={"a": law}, rtol=1e-11)
    theta = 2 * np.arcsin(run["c"] / 2)
    np.testing.assert_allclose(run["x"], np.cos(theta), atol=1e-10)
    np.testing.assert_allclose(run["y"], np.sin(theta), atol=1e-10)
    c_end = 1 + 0.4 - 2 * (0.1 - 0.4) * math.expm1(-0.5)
    assert run["c"][-1] == pytest.approx(c_end, abs=1e-10)
    # the work of the cylinder raises the tip
    work = run.reactions.work_in[-1]
    assert work == pytest.approx(run.energy[-1] - run.energy[0], rel=1e-6)


def cases_of_bad_input():
    s, r = da.System("s"), pendulum(rate=1)
    w, b, F = s.input("w"), s.coordinate("b"), da.table([0, 2], [0, 1], "held")

    def run(**inputs):
        return lambda: da.simulate(r, 1, inputs=inputs)

    return {
        "rate and acceleration are given": lambda: s.specified("d", rate=w, acceleration=w),
        "rate and a motion are given": lambda: s.specified("d", 3, rate=w),
        "rate= is an input, declared by s.input(…), not 3": lambda: s.specified("d", rate=3),
        "not b;": lambda: s.specified("d", acceleration=b),
        "not 2 w;": lambda: s.specified("d", acceleration=2 * w),
        "not v;": lambda: s.specified("d", rate="v"),
        "a held table jump": run(w=F),
        "a Python function is unknown": run(w=lambda t: t),
        "function is unknown. Give": run(w=da.sampled(lambda t: t, 0.1)),
        "that of θ̇ contains accelerations": run(w="theta.dot"),
        "x: its rate is the input w; give inputs={'w': …}": run(x="sin(t)"),
        "the rate of the input w' is unknown": lambda: da.kane(position_of_an_input()),
        "declare it with acceleration=w": lambda: da.lqr(r),
        "w is an input; a start gives": lambda: da.simulate(r, 1, inputs={"w": 0}, start={"w": 1}),
    }


def position_of_an_input():
    s = da.System("s")
    w, q = s.input("w"), s.coordinate("q")
    d = s.specified("d", rate=w)
    s.particle("p", 1, s.O.offset((q + w) * s.N.x + d * s.N.y))
    return s


@pytest.mark.parametrize("message", cases_of_bad_input())
def test_bad_input_is_refused_with_a_cure(message):
    with pytest.raises(da.errors.DalembertError) as problem:
        cases_of_bad_input()[message]()
    assert message in str(problem.value)


def test_units_of_the_input_are_checked():
    s = da.System("s")
    w = s.input("w", "2 m/s")
    d = s.specified("d", acceleration=w)
    with pytest.raises(da.errors.DalembertError, match="d"):
        s.units(d="m")
    del d
