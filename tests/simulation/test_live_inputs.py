"""F = f(t, state), held or not, and tables: against expressions, exact sampling and the integral
by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.numerics.symbol_values import BadValue
from dalembert.runtime.ode import integration

T = np.linspace(0, 5, 51)


def cart() -> da.System:
    s = da.System("cart")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("cart", 2, P)
    s.force(s.input("F") * s.N.x, at=P)
    return s


def feedback(_, now):
    return -8 * now["x"] - 0.5 * now["x.dot"]


@pytest.mark.parametrize("integrator", ["native", "DOP853"])
def test_a_function_is_the_expression_it_computes(integrator):
    by_hand = da.simulate(cart(), 5, start={"x": 1}, inputs={"F": feedback}, integrator=integrator)
    written = da.simulate(cart(), 5, start={"x": 1}, inputs={"F": "-8*x - 0.5*x.dot"})
    assert by_hand["x"][-1] == pytest.approx(written["x"][-1], abs=1e-8)
    assert by_hand["F"] == pytest.approx(-8 * by_hand["x"] - 0.5 * by_hand["x.dot"], abs=1e-14)
    assert by_hand.at([1.23])["F"] == pytest.approx(written.at([1.23])["F"], abs=1e-6)
    assert by_hand.names == ("x", "x.dot")
    assert by_hand.integrals.relative_drift < 1e-8


def test_a_held_function_is_exact_sampling():
    h, y = 0.01, np.array([1.0, 0.0])
    run = da.simulate(cart(), 5, start={"x": 1}, inputs={"F": da.sampled(feedback, every=h)})
    for _ in range(500):
        F = -8 * y[0] - 0.5 * y[1]
        y = np.array([y[0] + h * y[1] + h * h / 4 * F, y[1] + h / 2 * F])
    assert (run["x"][-1], run["x.dot"][-1]) == pytest.approx(y, abs=1e-11)
    assert run.at([0.0151])["F"][0] == run.at([0.0199])["F"][0] != run.at([0.0201])["F"][0]


@pytest.mark.parametrize("integrator", ["native", "auto"])
def test_pauses_between_samples_change_no_bit(integrator, monkeypatch):
    """The loop of thousands of samples, one that returns after each, and one step at a time."""

    def run():
        law = da.sampled(feedback, every=0.03)
        return da.simulate(cart(), 1.0, start={"x": 1.0}, inputs={"F": law}, integrator=integrator)

    original, whole = integration._attempts_per_slice, run()
    monkeypatch.setattr(integration, "SLICE_SECONDS", 0.0)
    paused = run()
    monkeypatch.setattr(integration, "_attempts_per_slice", lambda *_: 1)
    assert original is not integration._attempts_per_slice
    for other in (paused, run()):
        assert whole.t.tolist() == other.t.tolist()
        assert whole.solution.y.tolist() == other.solution.y.tolist()
        assert whole.solution.calls == other.solution.calls


def test_a_sampled_law_steps_like_a_held_table():
    law = da.sampled(lambda t: 1 + 0.5 * round(t / 0.03), every=0.03)
    times = [0.0, *(0.03 * np.arange(1.0, 34.0)).tolist()]
    table = da.table(times, [1 + 0.5 * k for k in range(len(times))], "held")
    runs = [
        da.simulate(cart(), 1.0, start={"x": 1.0}, inputs={"F": source}) for source in (law, table)
    ]
    np.testing.assert_allclose(runs[0].t, runs[1].t, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(runs[0]["x"], runs[1]["x"], rtol=1e-12)


def test_held_inputs_and_events_meet():
    """x falls from 1 under F = −8 until t = ½, whether or not an event begins in the first step
    behind a break.
    """
    hold = da.sampled(lambda t, now: -8 * now["x"], every=0.5)
    free = da.simulate(cart(), 1, start={"x": 1}, inputs={"F": hold})
    seen = da.simulate(
        cart(),
        1,
        start={"x": 1},
        inputs={"F": hold},
        events=[da.event("x"), da.event("x - 0.45", reset={"x": "x"})],
    )
    assert seen["x"][-1] == pytest.approx(free["x"][-1], abs=1e-9)
    # x = ½ and x′ = −2 at t = ½, and F = −4 from there on
    assert free["x"][-1] == pytest.approx(0.5 - 2 * 0.5 - 0.25, abs=1e-12)


# LSODA steps over the kinks of a table, and its energy error shows it
@pytest.mark.filterwarnings("ignore:the energy error")
@pytest.mark.parametrize(("kind", "error"), [("held", 3e-2), ("linear", 3e-3), ("cubic", 1e-6)])
@pytest.mark.parametrize("integrator", ["native", "LSODA"])
def test_tables(kind, error, integrator):
    """2 x″ = sin t from rest: x = (t − sin t)/2."""
    run = da.simulate(cart(), 5, inputs={"F": da.table(T, np.sin(T), kind)}, integrator=integrator)
    assert abs(run["x"][-1] - (5 - np.sin(5)) / 2) < error
    assert run.at(T[:-1] + 1e-9)["F"] == pytest.approx(np.sin(T[:-1]), abs=1e-8)


def test_a_linear_table_is_integrated_to_the_last_digits():
    run = da.simulate(cart(), 3, inputs={"F": ([0, 1, 3], [0, 2, 0])})
    # x″ = t on (0, 1), then (3 − t)/2 on (1, 3)
    assert run["x"][-1] == pytest.approx(1 / 6 + 2 * 0.5 + (4 / 3), abs=1e-12)


def test_a_road_from_a_file(tmp_path):
    s = da.System("mass on a road")
    z, y = s.specified("z"), s.coordinate("y")
    k, c = s.constants(k=40, c=2)
    P = s.O.offset(y * s.N.y)
    s.particle("mass", 1, P)
    s.force(-(k * (y - z) + c * (y.dot - z.dot)) * s.N.y, at=P)
    times = np.linspace(0, 3, 301)
    np.savetxt(
        tmp_path / "road.csv",
        np.column_stack([times, np.sin(2 * times)]),
        delimiter=",",
        header="t,z",
        comments="",
    )
    road = da.table(tmp_path / "road.csv", kind="cubic")
    measured, written = (
        da.simulate(s, 3, inputs={z: road}),
        da.simulate(s, 3, inputs={z: da.sin(2 * s.t)}),
    )
    assert measured["y"][-1] == pytest.approx(written["y"][-1], abs=1e-7)
    # and as a transfer function: a, ȧ enter the linear model
    model = da.linearize(s)
    assert model.inputs == ("z", "z.dot")
    assert model.frequency_response([6.0], "z", "y")[0] == pytest.approx(
        (40 + 12j) / (40 - 36 + 12j)
    )


def test_an_acceleration_enters_the_linear_model():
    """(l/3) θ″ + (g/2) θ = −½ z″ of a rod on a shaken pivot."""
    s = da.System("rod on a sledge", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O.offset(s.specified("z") * s.N.x)), 1, 1)
    model = da.linearize(s)
    assert model.inputs == ("z.dot.dot",)
    assert model.frequency_response([2.0], "z", "theta")[0] == pytest.approx(
        1.5 * 4 / (1.5 * 9.81 - 4)
    )


def test_compiled_functions_and_runs_speak_one_language():
    f = da.compile(cart())
    assert f([0.1], [0.2], F=3) == f([0.1], [0.2], inputs={"F": 3}) == [1.5]


class Missing(Exception):
    pass


def fails(t):
    if t > 1:
        raise Missing
    return 0.0


REFUSED = {
    "text": ({"F": lambda t: "a"}, "its function returned 'a' at t = 0; one number is expected"),
    "nothing": ({"F": lambda t, now: None}, "its function returned None at t = 0"),
    "infinite": ({"F": lambda t: np.inf}, "its function returned inf"),
    "short table": ({"F": ([0, 1], [0, 1])}, "its table goes from t = 0 to 1, the run from 0 to 2"),
    "times back": ({"F": ([0, 2, 1], [0, 1, 2])}, "the times must grow, but 1 follows 2"),
    "one time": ({"F": ([0, 1, 2], [0, 1])}, "3 times and 2 values"),
    "no file": ({"F": "nowhere.csv"}, "nowhere.csv cannot be read"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    inputs, message = REFUSED[case]
    with pytest.raises(BadValue, match=message):
        da.simulate(cart(), 2, inputs=inputs)


def test_what_a_function_raises_is_raised():
    with pytest.raises(BadValue, match="F: its function raised Missing at t = ") as raised:
        da.simulate(cart(), 2, inputs={"F": fails})
    assert isinstance(raised.value.__cause__, Missing)


def test_where_no_run_is_made_functions_are_refused():
    with pytest.raises(BadValue, match=r"a Python function is possible only in da\.simulate"):
        da.linearize(cart(), inputs={"F": np.sin})
    s = da.System("shaken", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O.offset(s.specified("z") * s.N.x)), 1, 1)
    with pytest.raises(BadValue, match="a Python function has no rates"):
        da.simulate(s, 1, inputs={"z": np.sin})
    with pytest.raises(
        BadValue,
        match=r"the velocity of a linear table jumps; a prescribed motion needs da\.table\(…, "
        r"kind='cubic'\)",
    ):
        da.simulate(s, 1, inputs={"z": da.table(T, T)})
    with pytest.raises(BadValue, match="every=0; give a positive interval"):
        da.sampled(np.sin, every=0)


def two_carts() -> da.System:
    s = da.System("carts")
    for name in ("1", "2"):
        x = s.coordinate(f"x_{name}")
        P = s.O.offset(x * s.N.x)
        s.particle(f"cart {name}", 2, P)
        s.force(s.input(f"F_{name}") * s.N.x, at=P)
    return s


NAMES = ("F_1", "F_2")


@pytest.mark.parametrize("hold", [lambda f: f, lambda f: da.sampled(f, every=0.01)])
def test_one_function_gives_several_inputs(hold):
    start = {"x_1": 1, "x_2": 2}
    alone = {
        "F_1": hold(lambda t, now: -8 * now["x_1"] + now["x_2"]),
        "F_2": hold(lambda t, now: -3 * now["x_2"]),
    }
    expected = da.simulate(two_carts(), 2, start=start, inputs=alone)
    ordered = hold(lambda t, now: np.array([-8 * now.q[0] + now.q[1], -3 * now.q[1]]))
    named = hold(lambda t, now: {"F_2": -3 * now["x_2"], "F_1": -8 * now["x_1"] + now["x_2"]})
    for law in (ordered, named):
        run = da.simulate(two_carts(), 2, start=start, inputs={NAMES: law})
        assert expected.y[-1].tolist() == run.y[-1].tolist()
        assert expected["F_1"].tolist() == run["F_1"].tolist()


JOINT_MISTAKES = {
    "too few": ({NAMES: lambda t: [1.0]}, "2 numbers are expected, in this order or by name"),
    "a name": ({NAMES: lambda t: {"F_1": 1.0, "F": 2.0}}, "2 numbers are expected"),
    "not finite": ({NAMES: lambda t: [1.0, float("nan")]}, "their function returned"),
    "no function": ({NAMES: 2.0}, "given together by one function"),
    "twice": ({NAMES: lambda t: [1.0, 2.0], "F_1": 3.0}, "F_1 is given twice"),
    "unknown": ({("F_1", "G"): lambda t: [1.0, 2.0]}, "G"),
}


@pytest.mark.parametrize("case", JOINT_MISTAKES)
def test_a_function_for_several_inputs_is_checked(case):
    inputs, message = JOINT_MISTAKES[case]
    with pytest.raises(da.DalembertError, match=message):
        da.simulate(two_carts(), 1, inputs=inputs)


def test_runs_with_the_same_sampled_inputs_share_compiled_code():
    s = da.System("cart")
    m, x = s.constant("m", 2), s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("cart", m, P)
    s.force((s.input("F") + s.input("G")) * s.N.x, at=P)
    law = {("F", "G"): da.sampled(lambda t, now: (-8 * now["x"], -now["x.dot"]), every=0.01)}
    first = da.simulate(s, 1, start={"x": 1}, inputs=law)
    other = da.simulate(s, 1, start={"x": 1}, inputs=law, values={"m": 4})
    again = da.simulate(s, 1, start={"x": 1}, inputs=law)
    # other inputs of the same system, given in other ways
    mixed = {"F": "-8*x", "G": "-x.dot"}
    expression = da.simulate(s, 1, start={"x": 1}, inputs=mixed)
    assert first.y[-1].tolist() == again.y[-1].tolist()
    assert first["x"][-1] != other["x"][-1]
    assert first["x"][-1] == pytest.approx(expression["x"][-1], abs=0.05)
    assert first.values.kin.cached_results is again.values.kin.cached_results
