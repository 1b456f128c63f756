"""What a run cannot be made of, each refused in one sentence that names it."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import Unwritable
from dalembert.runtime.numerics.symbol_values import BadValue, MissingValue
from dalembert.runtime.ode.failures import (
    BadDuration,
    BadStart,
    BadTolerance,
    NotFinite,
    OutsideRun,
    StepCollapsed,
)

VALUES = {"m": 1, "k": 1, "g": 9.81}
INPUTS = {"F": 0, "wobble": 0}


@pytest.fixture(scope="module")
def cart():
    s = da.System("Cart")
    x, theta = s.coordinates("x theta")
    m, k, g = s.constants("m k g")
    F, wobble = s.input("F"), s.specified("wobble")
    C = s.O.offset((x + wobble) * s.N.x)
    B = s.N.rotated(theta, s.N.z)
    s.particle("cart", m, C)
    s.particle("bob", 1, C.offset(-B.y))
    s.potential(k * x**2 / 2)
    s.gravity(-g * s.N.y)
    s.force(F * s.N.x, at=C)
    return s


def refused(kind, sentence, system, duration=1.0, **given):
    """The run is refused with this error and a sentence that contains these words."""
    with pytest.raises(kind) as caught:
        da.simulate(system, duration, **({"values": VALUES, "inputs": INPUTS} | given))
    assert isinstance(caught.value, da.DalembertError)
    assert sentence in str(caught.value)
    return caught.value


# ---- values and inputs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"values": {"m": 1, "g": 9.81}}, "no value for the constant k (values={'k': …})"),
        ({"inputs": {"wobble": 0}}, "no value for the input F (inputs={'F': …})"),
        ({"inputs": {"F": 0}}, "no value for the prescribed motion wobble (inputs={'wobble': …})"),
        (
            {"values": {}, "inputs": {"wobble": 0}},
            "no value for the constants m, k, g (values={'m': …, 'k': …, 'g': …}) and the input F",
        ),
    ],
)
def test_what_has_no_value_is_named(cart, given, sentence):
    refused(MissingValue, sentence, cart, **given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"values": {"mm": 1}}, "'mm' is not a constant or an input of 'Cart': did you mean 'm'?"),
        ({"values": {"zeta": 1}}, "known are m, k, g, F"),
        ({"values": {"theta": 1}}, "but a coordinate: give it with start={'theta': …}"),
        (
            {"inputs": {"f": 1}},
            "'f' is not an input or a prescribed motion of 'Cart': did you mean 'F'?",
        ),
        ({"inputs": {"woble": 1}}, "did you mean 'wobble'?"),
        ({"inputs": {"m": 1}}, "but a constant: give it with values={'m': …}"),
        ({"start": {"tetha": 1}}, "did you mean 'theta'?"),
        ({"start": {"m": 1}}, "m is a constant; a start gives coordinates, rates and speeds"),
    ],
)
def test_unknown_names_bring_the_nearest_one(cart, given, sentence):
    refused(da.DalembertError, sentence, cart, **given)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan")])
@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("values", "m"),
        ("inputs", "F"),
        ("inputs", "wobble"),
        ("start", "theta"),
        ("start", "x.dot"),
        ("guess", "theta"),
    ],
)
def test_numbers_must_be_finite(cart, place, name, number):
    refused(
        da.DalembertError,
        f"{name} = {float(number)} is not finite",
        cart,
        **{place: {name: number}},
    )


@pytest.mark.parametrize("given", ["a", None, [1, 2], 1j])
@pytest.mark.parametrize(("place", "name"), [("values", "m"), ("start", "theta")])
def test_values_must_be_numbers(cart, place, name, given):
    read = place == "start" and isinstance(given, str)
    refused(
        da.DalembertError,
        f"{name} = {given!r} {'cannot be read' if read else 'is not a number'}",
        cart,
        **{place: {name: given}},
    )


@pytest.mark.parametrize("place", ["values", "inputs", "start", "guess"])
def test_names_come_with_values(cart, place):
    refused(BadValue, f"{place}: give names with their values", cart, **{place: [1, 2]})


@pytest.mark.parametrize(
    ("motion", "sentence"),
    [
        (lambda t: [2, t], "F: its function returned [2, 0.0] at t = 0; one number is expected"),
        (
            "2*sin(tt)",
            "F = '2*sin(tt)' cannot be read: unknown name 'tt' at column 7: did you mean 't'?",
        ),
        ("2*sin(", "F = '2*sin(' cannot be read"),
        ("1/t", "F = 1/t has no finite value at the start, t = 0"),
        ("log(t - 1)", "has no finite value at the start"),
        ("x.dot.dot", "F: it contains the acceleration x.dot.dot"),
    ],
)
def test_inputs_must_be_expressions_that_have_a_value(cart, motion, sentence):
    refused(BadValue, sentence, cart, inputs={"F": motion, "wobble": 0})


@pytest.mark.parametrize("mass", [0, -1])
def test_masses_stay_positive(cart, mass):
    refused(
        BadValue,
        f"m = {mass}: the mass of 'cart' is {mass}; a mass must be positive",
        cart,
        values={**VALUES, "m": mass},
    )


def test_inputs_by_name_are_not_confused_with_those_of_an_earlier_run(cart):
    def last(F):
        return da.simulate(cart, 1, values=VALUES, inputs={"F": F, "wobble": 0})["x"][-1]

    assert 3 == len({last("sqrt(2 - t)"), last("sign(2 - t)"), last("exp(2 - t)")})


# ---- times and tolerances --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("duration", "kind", "sentence"),
    [
        (0, BadDuration, "duration = 0: a run goes forward in time"),
        (-1, BadDuration, "duration = -1: a run goes forward in time"),
        (math.nan, BadValue, "duration = nan is not finite"),
        (math.inf, BadValue, "duration = inf is not finite"),
        (None, BadValue, "duration = None is not a number"),
    ],
)
def test_the_duration_is_positive_and_finite(cart, duration, kind, sentence):
    refused(kind, sentence, cart, duration)


@pytest.mark.parametrize(
    ("name", "number", "sentence"),
    [
        *(("rtol", x, "is out of range: it must lie between") for x in (0, -1e-9, 1, 2, 1e-17)),
        ("rtol", math.nan, "rtol = nan is not finite"),
        ("rtol", "fine", "rtol = 'fine' is not a number"),
        *(("atol", x, "atol must be positive and finite") for x in (0, -1, math.nan, math.inf)),
        ("atol", "fine", "atol = 'fine' is not a number"),
        ("atol", [1e-9, 1e-9], "give one number, or one for each of the 4 components"),
        *(("max_step", x, "must be positive") for x in (0, -1, math.nan, "small")),
        ("t0", math.nan, "t0 = nan is not finite"),
        ("t0", 1e300, "a run needs a positive duration"),
    ],
)
def test_tolerances_are_in_range(cart, name, number, sentence):
    refused(da.DalembertError, sentence, cart, **{name: number})


def test_a_tolerance_out_of_range_has_its_own_error(cart):
    refused(BadTolerance, "rtol = 2.0", cart, rtol=2)


@pytest.mark.parametrize("times", [[0, 2], [-1], math.nan, "now", [[0.1]]])
def test_times_lie_within_the_run(cart, times):
    refused(OutsideRun, "", cart, at=times)


def test_only_a_system_runs():
    with pytest.raises(TypeError, match="simulate: give a System, not str"):
        da.simulate("double-pendulum", 1)


# ---- starts that contradict a row ------------------------------------------------------------


@pytest.fixture(scope="module")
def pendulum():
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    return s


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ({"x": 1, "y": 0.5}, "x = 1, y = 0.5 contradict 'rod': residual 0.25"),
        ({"x": 2}, "no position found that satisfies 'rod' with x = 2: least-squares residual 3"),
        (
            {"x": 0.6, "y": -0.8, "x.dot": 1, "y.dot": 1},
            "contradict 'rod': least-squares residual -0.4",
        ),
        ({"x": 0.6, "y": -0.8, "x.dot.dot": 1}, "x.dot.dot is an acceleration"),
    ],
)
def test_a_start_that_contradicts_a_row_is_named_with_its_residual(pendulum, start, sentence):
    refused(BadStart, sentence, pendulum, start=start, values={}, inputs={})


# ---- runs that stop --------------------------------------------------------------------------


def stopped(kind, system, duration=3.0, **given):
    """The error and its sentence; the motion so far is kept."""
    with pytest.raises(kind) as caught:
        da.simulate(system, duration, **given)
    failure = caught.value
    assert failure.trajectory is not None
    assert not failure.trajectory.finished
    assert failure.time == failure.trajectory.t[-1]
    return failure, str(failure)


def on_a_line(load=None):
    s = da.System("Point on a line")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("P", 1, P)
    if load:
        s.force(s.expression(load) * s.N.x, P)
    return s


def test_a_singular_mass_matrix_stops_the_run_with_time_state_and_cause():
    # x = sin θ goes on evenly, so that θ comes where no rate of it moves the bead
    s = da.System("Bead on a line, by an angle")
    theta = s.coordinate("theta")
    s.particle("bead", 1, s.O.offset(da.sin(theta) * s.N.x))
    failure, sentence = stopped(StepCollapsed, s, start={theta.dot: 1})
    assert 1.0 == pytest.approx(failure.time, abs=1e-6)
    assert "state: theta = 1.5708, theta.dot = " in sentence
    assert (
        "likely cause: the mass matrix is singular there; nothing resists the speed theta.dot"
        in sentence
    )


def test_a_mass_matrix_that_is_singular_at_the_start():
    s = da.System("Polar coordinates")
    r, phi = s.coordinates("r phi")
    s.particle("P", 1, s.O.offset(r * s.N.rotated(phi, s.N.z).x))
    failure, sentence = stopped(NotFinite, s, start={r.dot: 1})
    assert 0.0 == failure.time
    assert "already at the start" in sentence
    assert "the mass matrix is singular there; nothing resists the speed phi.dot" in sentence


def test_masses_of_unlike_size_are_not_called_singular():
    s = on_a_line("sqrt(1 - t)")
    wheel = s.pin("phi", s.O)
    s.body("wheel", 1, wheel, wheel.frame, da.inertia(wheel.frame, 1e-14, 1e-14, 1e-14))
    _, sentence = stopped(NotFinite, s)
    assert (
        "likely cause: a load or a prescribed motion that is infinite, or not a number, there"
        in sentence
    )


def test_rates_that_the_speeds_do_not_determine():
    s = da.System("Body with angles")
    hand = s.ball("a b c", s.O)
    s.body("body", 1, hand, hand.frame, da.inertia(hand.frame, 1, 1, 1))
    s.speeds("w_1 w_2 w_3", hand.frame.w, hand.frame)
    refused(
        BadStart,
        "is not possible at this position",
        s,
        start={"b": math.pi / 2, "a.dot": 1, "c.dot": 0, "w_1": 3},
        values={},
        inputs={},
    )


def test_motion_without_bound_stops_the_run():
    failure, sentence = stopped(StepCollapsed, on_a_line("x**3"), start={"x": 1, "x.dot": 1})
    assert 1.311 == pytest.approx(failure.time, abs=1e-3)
    assert "the step has shrunk to" in sentence
    assert "x.dot is" in sentence
    assert "it grows without bound in finite time" in sentence
    assert "state: x = " in sentence


def test_a_load_that_ceases_to_be_a_number_stops_the_run():
    failure, sentence = stopped(NotFinite, on_a_line("sqrt(1 - t)"))
    assert 1.0 == pytest.approx(failure.time)
    assert "infinite or not a number just beyond" in sentence
    assert 2 / 3 == pytest.approx(failure.trajectory["x.dot"][-1])


# ---- output ----------------------------------------------------------------------------------


def test_an_unwritable_file_keeps_the_result(tmp_path):
    run = da.simulate(on_a_line(), 1, start={"x.dot": 1})
    with pytest.raises(Unwritable, match="missing"):
        run.to_csv(tmp_path / "missing" / "out.csv")
    with pytest.raises(Unwritable, match="missing"):
        run.plot(path=tmp_path / "missing" / "out.png")
    assert [] == list(tmp_path.iterdir())
    run.to_csv(tmp_path / "out.csv")
    assert 1.0 == pytest.approx(run["x"][-1])
