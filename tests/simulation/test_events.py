"""Events: found where they are, in their order, once; what they do; what is refused."""

from __future__ import annotations

import math
import pickle
import signal

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import Unknown
from dalembert.runtime.simulation.events.event import BadEvent
from dalembert.runtime.simulation.events.event_loop import EndlessEvents

G = 9.81
FINE = {"rtol": 1e-12, "atol": 1e-12}


def oscillator(k=4.0):
    s = da.System("Oscillator")
    x = s.coordinate("x")
    s.particle("mass", 1, s.O.offset(x * s.N.x))
    s.potential(s.constant("k", k) * x**2 / 2)
    return s


def free():
    """A particle without forces: the integrator's steps grow without bound."""
    s = da.System("Free particle")
    x = s.coordinate("x")
    s.particle("mass", 1, s.O.offset(x * s.N.x))
    return s


def thrown():
    s = da.System("Thrown", gravity=G)
    y = s.coordinate("y")
    s.particle("stone", 1, s.O.offset(y * s.N.y))
    return s


def times(run, name=None):
    return [o.t for o in run.events if name in (None, o.name)]


# ---- where they are ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("any", (1, 3, 5, 7, 9, 11)), ("down", (1, 5, 9)), ("up", (3, 7, 11))],
)
def test_zeros_of_a_cosine(direction, expected):
    """x = cos 2t vanishes at t = (2k + 1) π/4."""
    run = da.simulate(
        oscillator(), 9.0, start={"x": 1.0}, events=[da.event("x", direction=direction)], **FINE
    )
    assert [k * math.pi / 4 for k in expected] == pytest.approx(times(run), abs=2e-11)
    assert [0.0] * len(expected) == pytest.approx([o.before["x"] for o in run.events], abs=1e-13)
    assert all(o.before == o.after for o in run.events)


def test_being_watched_changes_no_bit():
    alone = da.simulate(oscillator(), 5.0, start={"x": 1.0})
    watched = da.simulate(oscillator(), 5.0, start={"x": 1.0}, events=["x", "x - 2", "x.dot + x/3"])
    assert np.array_equal(alone.t, watched.t)
    assert np.array_equal(alone.q, watched.q)
    assert np.array_equal(alone.u, watched.u)


def test_several_in_one_step_come_in_the_order_of_time():
    run = da.simulate(
        free(),
        10.0,
        start={"x": 0.5, "x.dot": 1.0},
        events=["x - 3", "x - 1", "x - 3001/1000", "t - 2", "x - 9"],
    )
    assert ["x - 1", "t - 2", "x - 3", "x - 3001/1000", "x - 9"] == [o.name for o in run.events]
    assert [0.5, 2.0, 2.5, 2.501, 8.5] == pytest.approx(times(run), rel=1e-14)
    assert max(np.diff(run.t)) > 2.0


@pytest.mark.parametrize("over", [1.0, 1e-2, 1e-5, 1e-8])
def test_up_and_down_again_within_one_step(over):
    """A stone that rises little above a height: two crossings with no sample of the step between
    them.
    """
    top = 1 + 64 / (2 * G)
    run = da.simulate(thrown(), 3.0, start={"y": 1.0, "y.dot": 8.0}, events=[f"y - {top - over!r}"])
    half = math.sqrt(2 * over / G)
    assert [8 / G - half, 8 / G + half] == pytest.approx(times(run), abs=1e-9 / half**0.5)
    missed = da.simulate(
        thrown(), 3.0, start={"y": 1.0, "y.dot": 8.0}, events=[f"y - {top + over!r}"]
    )
    assert () == missed.events


def test_zero_at_the_start_does_not_count():
    run = da.simulate(
        oscillator(),
        3.0,
        start={"x": 0.0, "x.dot": 1.0},
        events=[da.event("x"), da.event("x", direction="up", name="up")],
    )
    assert [math.pi / 2] == pytest.approx(times(run, "x"), abs=1e-8)
    assert [] == times(run, "up")
    # nor what is zero but for rounding
    run = da.simulate(oscillator(), 1.0, start={"x": 0.1 + 0.2, "x.dot": -1.0}, events=["x - 3/10"])
    assert () == run.events


def test_velocities_and_time_can_be_watched():
    run = da.simulate(
        oscillator(), 2.0, start={"x": 1.0}, events=["x.dot + 1", "cos(3*t) - x", "x*x.dot"], **FINE
    )
    assert math.asin(0.5) / 2 == pytest.approx(times(run, "x.dot + 1")[0], abs=1e-11)
    assert 2 * math.pi / 5 == pytest.approx(times(run, "cos(3*t) - x")[0], abs=1e-11)


def test_an_event_far_from_zero_never_fires_and_it_is_said():
    run = da.simulate(
        oscillator(), 2.0, start={"x": 1.0}, events=[da.event("x - 5", name="escape"), "x"]
    )
    assert "event escape: never fired" in str(run)
    assert "event x (recorded): at t = 0.785" in str(run)


def test_the_root_is_exact_to_the_last_bit():
    s = oscillator()
    zeros = (0.3, 1e-3, 7.77)
    events = [da.event((s.t - z) ** 3, name=str(z)) for z in zeros]
    # a value of the wrong sign where it begins is rounding: the next crossing is meant
    events.append(da.event(s.t * (2 - s.t) - 1e-17, name="late"))
    run = da.simulate(s, 8.0, start={"x": 1.0}, events=events)
    found = {e.name: e.t for e in run.events}
    for z in zeros:
        assert found[str(z)] == pytest.approx(z, rel=1e-15, abs=1e-16)
    assert 2.0 == pytest.approx(found["late"], rel=1e-14)
    assert len(run.events) == 4


def test_a_dip_between_two_samples_of_a_step_is_two_crossings():
    """The expression is negative for 2e-4 of time units."""
    s = oscillator()
    depth = 1e-8
    dip = (s.t - 1.2345) ** 2 - depth
    run = da.simulate(s, 2.0, start={"x": 0.0}, events=[da.event(dip, name="dip")])
    assert [e.t for e in run.events] == [
        pytest.approx(1.2345 - 1e-4, abs=1e-13),
        pytest.approx(1.2345 + 1e-4, abs=1e-13),
    ]


# ---- stop and reset ------------------------------------------------------------------------------


def test_stop():
    run = da.simulate(
        oscillator(),
        9.0,
        start={"x": 1.0},
        events=[da.event("x + 1/2", stop=True, name="half"), "x"],
        **FINE,
    )
    assert math.pi / 3 == pytest.approx(run.t[-1], abs=1e-11)
    assert abs(run["x"][-1] + 0.5) < 1e-15
    assert run.finished
    assert "of 9, ended by 'half'" in str(run)
    assert ["x", "half"] == [o.name for o in run.events]
    assert len(run.at(np.linspace(0.0, run.t[-1], 50))) == 50


def test_reset_of_a_speed():
    """A push at every passage upwards: the speed grows by 1/10 each time, the period stays π."""
    run = da.simulate(
        oscillator(),
        10.0,
        start={"x": 0.0, "x.dot": 1.0},
        events=[da.event("x", direction="up", reset={"x.dot": "x.dot + 1/10"})],
        **FINE,
    )
    assert [math.pi, 2 * math.pi, 3 * math.pi] == pytest.approx(times(run), abs=1e-10)
    assert [1.1, 1.2, 1.3] == pytest.approx([o.after["x.dot"] for o in run.events], abs=1e-10)
    assert 1.3**2 / 2 == pytest.approx(run.energy[-1], abs=1e-10)
    assert run.energy_drift < 1e-10
    assert (1.3**2 - 1.0) / 2 == pytest.approx(-run.integrals.taken_by_events[-1], abs=1e-9)
    assert run.integrals.drift < 1e-10


def test_reset_of_a_coordinate():
    """An angle kept within half a turn of zero."""
    s = da.System("Turning")
    theta = s.coordinate("theta")
    B = s.N.rotated(theta, s.N.z)
    s.body("disk", 1, s.O, B, da.inertia(B, 1, 1, 2))
    wrap = da.event(theta - math.pi, direction="up", reset={theta: theta - 2 * math.pi})
    run = da.simulate(s, 10.0, start={theta.dot: 3.0}, events=[wrap])
    assert [math.pi * (2 * k + 1) / 3 for k in range(5)] == pytest.approx(times(run), rel=1e-13)
    assert np.abs(run["theta"]).max() <= math.pi + 1e-12
    assert 30 - 10 * math.pi == pytest.approx(run["theta"][-1], abs=1e-12)


def test_a_reset_must_respect_the_constraints():
    s = da.System("Pendulum in x, y", gravity=G)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, name="rod")
    with pytest.raises(BadEvent, match=r"breaks a constraint.*rod"):
        da.simulate(s, 2.0, start={x: 0.6, y: -0.8}, events=[da.event(x, reset={x: "x + 1/10"})])
    turned = da.simulate(s, 2.0, start={x: 0.6, y: -0.8}, events=[da.event("y + 9/10", name="n")])
    assert 2 <= len(turned.events)
    assert turned.worst_residual < 1e-10


def test_events_where_rows_stand_beside_the_equations():
    """The same passages of a pendulum in x and y with its rod as a row, and in its angle."""
    s = da.System("Pendulum in x, y", gravity=G)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, name="rod")
    p = da.System("Pendulum", gravity=G)
    theta = p.coordinate("theta")
    B = p.N.rotated(theta, p.N.z)
    p.particle("bob", 1, p.O.offset(-1 * B.y))
    one = da.simulate(s, 3.0, start={x: 0.6, y: -0.8}, events=["x - 1/4", "x.dot + 1"], **FINE)
    other = da.simulate(
        p,
        3.0,
        start={theta: math.asin(0.6)},
        events=["sin(theta) - 1/4", "theta.dot*cos(theta) + 1"],
        **FINE,
    )
    assert 6 <= len(one.events)
    assert times(other) == pytest.approx(times(one), abs=1e-9)


# ---- the run -------------------------------------------------------------------------------------


def test_a_run_with_events_can_be_kept_and_shown(tmp_path):
    run = da.simulate(thrown(), 1.0, start={"y": 1.0}, events=[da.impact("y", 0.5, name="floor")])
    again = pickle.loads(pickle.dumps(run))
    assert run.events == again.events
    assert str(run) == str(again)
    run.to_csv(tmp_path / "run.csv")
    run.plot(path=tmp_path / "run.svg")
    assert "floor (impact): y.dot -4.42945 → 2.21472" in str(run.events[0])
    assert len(run) == len(run.t) == len(run.energy)


def test_ctrl_c_between_events():
    pressed = []

    def progress(_t, _steps):
        if not pressed:
            pressed.append(1)
            signal.raise_signal(signal.SIGINT)

    from dalembert.runtime.simulation import progress as bars

    original = bars.progress_bar

    class Bar:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return progress

        def __exit__(self, *_):
            pass

    bars.progress_bar = Bar
    try:
        with pytest.raises(da.RunInterrupted) as interrupted:
            da.simulate(
                oscillator(1e6), 500.0, start={"x": 1.0}, events=[da.event("x - 2")], progress=True
            )
    finally:
        bars.progress_bar = original
    run = interrupted.value.trajectory
    assert not run.finished
    assert 0.0 < run.t[-1] < 500.0


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("x - z", "unknown name 'z'"),
        ("3", "does not change"),
        ("x - x", "does not change"),
        ("k - 3", "does not change"),
        ("x.dot.dot", "acceleration"),
        ("log(x - 2)", "no finite value at the start"),
        (da.event("x", reset={"w": 1}), "unknown name 'w'"),
        (da.event("x", reset={"x": "1/(x - x)"}), "vanishes identically"),
        (da.event("x", reset={"x": float("inf")}), "not a finite number"),
        (da.event("x", reset={"k": 1}), "cannot be reset"),
        (da.event("x", reset={"x": "log(x.dot)"}), "not finite"),
        (3, "is no event"),
    ],
)
def test_events_that_cannot_be(event, message):
    with pytest.raises(BadEvent, match=message):
        da.simulate(oscillator(), 3.0, start={"x": 1.0}, events=[event])


def test_bad_lists_and_options():
    s = oscillator()
    with pytest.raises(BadEvent, match="give a list"):
        da.simulate(s, 1.0, start={"x": 1.0}, events="x")
    with pytest.raises(BadEvent, match="two are called 'x'"):
        da.simulate(s, 1.0, start={"x": 1.0}, events=["x", da.event("x")])
    with pytest.raises(BadEvent, match="native, taylor, rosenbrock, auto alone"):
        da.simulate(s, 1.0, start={"x": 1.0}, events=["x"], integrator="RK45")
    with pytest.raises(Unknown, match="'sideways' is unknown"):
        da.event("x", direction="sideways")
    with pytest.raises(BadEvent, match="stop=True or reset"):
        da.event("x", stop=True, reset={"x": 1})
    with pytest.raises(BadEvent, match="changes nothing"):
        da.event("x", reset={})


def test_a_reset_onto_the_event_is_endless():
    """Put back by so little that it fires again at once."""
    with pytest.raises(EndlessEvents, match=r"'x' fires again and again at t = 0\.78") as stopped:
        da.simulate(oscillator(), 3.0, start={"x": 1.0}, events=[da.event("x", reset={"x": 1e-8})])
    assert stopped.value.trajectory is not None


def test_too_many_are_refused(monkeypatch):
    from dalembert.runtime.simulation.events import event_loop

    monkeypatch.setattr(event_loop, "_MOST", 20)
    with pytest.raises(EndlessEvents, match="fires too often: 20 events"):
        da.simulate(oscillator(), 100.0, start={"x": 1.0}, events=["x"])
