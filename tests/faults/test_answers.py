"""Rounding in initial conditions, forces of typed rows, identifiability, and messages."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from cli.running import run as command
from dalembert import gallery

TINY = [1e-19, -1e-19, 1e-81, 1e-320]


@pytest.mark.parametrize("x", TINY)
@pytest.mark.parametrize("verb", ["simulate", "linearize"])
def test_rounding_in_a_rate_is_no_contradiction(verb, x):
    s = gallery.build("rolling-disk")
    given = {"theta": 1.2, "x.dot": x, "psi.dot": 0.0}
    if verb == "simulate":
        assert da.simulate(s, 0.01, start=given).finished
    else:
        assert da.linearize(s, given).A.size


@pytest.mark.parametrize("x", TINY)
def test_rounding_in_a_coordinate_is_no_contradiction(x):
    s = da.System("Slider", gravity=9.81)
    a, b = s.coordinates("a b")
    s.particle("P", 1, s.O.offset(a * s.N.x + b * s.N.y, "P"))
    s.constrain(a - b, "guide")
    assert da.simulate(s, 0.01, start={"a": x, "b": 0.0}).finished


def test_what_is_no_rounding_is_refused():
    with pytest.raises(da.DalembertError, match="contradicts"):
        da.simulate(
            gallery.build("rolling-disk"), 0.01, start={"theta": 1.2, "x.dot": 1e-6, "psi.dot": 0.0}
        )


@pytest.mark.parametrize(
    "name",
    [
        "rolling-disk",
        "whipple-bicycle",
        "four-bar",
        "slider-crank",
        "lagrange-top",
        "free-body-quaternion",
    ],
)
def test_linearize_takes_the_point_that_it_gives(name):
    s, start = gallery.build(name), dict(gallery.entry(name).start)
    model = da.linearize(s, start)
    again = da.linearize(s, model.point)
    assert np.array_equal(model.A, again.A)


def on_the_ground(kind):
    """A body, or two, whose point C stays at the height of the ground by a typed row."""
    s = da.System("Slide", gravity=9.81, up="z")
    x, y, z = s.coordinates("x y z")
    C = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "C")
    if kind == "particle":
        s.particle("b", 2, C)
        point = C
    else:
        B = s.N.rotated(s.coordinate("a"), s.N.x if kind == "arm" else s.N.z, "B")
        s.body("b", 2, C, B, da.inertia(B, 0.1, 0.1, 0.1))
        point = C
        if kind == "arm":
            point = C.offset(0.3 * B.y, "Q", B)
            E = B.rotated(s.coordinate("b"), B.z, "E")
            s.body("c", 1, point, E, da.inertia(E, 0.1, 0.1, 0.1))
    s.constrain((point - s.O) @ s.N.z, "ground")
    return s


@pytest.mark.parametrize("kind", ["particle", "body", "arm"])
def test_a_typed_ground_row_has_its_force(kind):
    run = da.simulate(on_the_ground(kind), 0.2, start={"x.dot": 1.0})
    load = run.reaction("ground")
    assert load.force is not None
    assert np.allclose(load.force[:, 2], load.multiplier)
    assert np.allclose(load.force[:, :2], 0)
    assert "the ground" == load.against
    # the weight, and the acceleration of the centre of mass, which an arm moves
    if kind != "arm":
        assert np.allclose(load.force[:, 2], 2 * 9.81)


def measured(s, start, column):
    times = np.linspace(0, 2, 41)
    values = da.simulate(s, 2.0, start=start).at(times)[column]
    return {"t": times, column: values + 1e-3 * np.random.default_rng(1).normal(size=41)}


@pytest.mark.parametrize("links", [1, 2])
def test_an_unknown_that_no_column_depends_on_is_refused(links):
    s = da.System("Pendulum")
    m, l, g = s.constants(m=1.3, l=0.7, g=9.81)
    P = s.O
    for k, q in enumerate(s.coordinates(" ".join("ab"[:links]))):
        P = P.offset(l * s.N.rotated(q, s.N.z, f"F{k}").x, f"P{k}")
        s.particle(f"P{k}", (k + 1) * m, P)
    s.gravity(-g * s.N.y)
    start = {"a": -1.0}
    with pytest.raises(da.DalembertError, match="depends on m"):
        da.fit(s, measured(s, start, "a"), ["m"], start=start)


def test_an_unknown_with_little_influence_is_fitted():
    s = da.System("Oscillator")
    x = s.coordinate("x")
    k, c = s.constants(k=3.0, c=1e-3)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(-(k * x + c * x.dot) * s.N.x, at=P)
    found = da.fit(s, measured(s, {"x": 1.0}, "x"), ["c"], start={"x": 1.0})
    assert abs(found.values["c"] - 1e-3) < 5 * found.standard_errors["c"]


# ---- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("double-pendulum", "--start", "alpha=1,beta=2"),
        ("double-pendulum", "--set", "l_1=1,l_2=2"),
        ("cart-and-bar", "--input", "F=1,G=2"),
    ],
)
def test_several_values_in_one_option_are_answered_with_the_cure(arguments):
    done = command("simulate", *arguments)
    assert 2 == done.exit_code
    assert "unit" not in done.stderr
    option, text = arguments[1], arguments[2].split(",")[1]
    assert f"{option} {text}" in done.stderr


def test_an_input_with_a_formula_is_answered_with_the_cure():
    s = da.System("Pendulum")
    with pytest.raises(da.DalembertError) as problem:
        s.input("T", "sin(t)")
    assert "inputs=" in str(problem.value)


@pytest.mark.parametrize("kind", ["expression", "function"])
def test_a_specified_motion_with_feedback_is_answered_with_the_cure(kind):
    s = da.System("Shaker")
    x, z = s.coordinate("x"), s.specified("z")
    P = s.O.offset((x + z) * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(-x * s.N.x, at=P)
    given = -2 * x if kind == "expression" else lambda t, now: -2 * now["x"]
    with pytest.raises(da.DalembertError) as problem:
        da.simulate(s, 1.0, inputs={"z": given})
    assert "s.specified('z', acceleration=s.input(…))" in str(problem.value)
