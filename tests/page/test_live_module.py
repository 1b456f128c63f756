"""The run of a page, in a JavaScript engine, against the run of this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from live_runs import NODE, Live

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.simulator.outputs import reaction_offsets
from dalembert.runtime.numerics import wasm

SLOW = [
    pytest.param(name, marks=pytest.mark.slow) for name in ("whipple-bicycle", "andrews-squeezer")
]
pytestmark = pytest.mark.skipif(NODE is None, reason="no node here")


@pytest.mark.parametrize(
    "name",
    ["double-pendulum", "rolling-disk", "four-bar", *SLOW],
)
def test_the_page_moves_as_we_do(name):
    live = Live(name)
    times = np.linspace(0.0, live.entry.duration, 40)
    (found,) = live.by_node(live.setting(at=times.tolist()))
    run = live.run.at(times)
    assert "" == found["stopped"]
    assert len(live.run) == found["count"]
    ours, theirs = np.hstack([run.q, run.u]), np.array(found["states"])
    assert np.abs(ours - theirs).max() <= 1e-9 * max(1.0, np.abs(ours).max())
    assert np.array(found["E_Z"]) == pytest.approx(run.integrals.E_Z, rel=1e-9)
    assert np.abs(np.array(found["residuals"])).max(initial=0.0) <= 2 * run.worst_residual + 1e-9
    # the places that are drawn, at the start
    assert np.array(found["places"]) == pytest.approx(
        np.array([p.r[0] for p in live.drawn.points]), abs=1e-12
    )
    assert wasm.imported_names(live.module.code) <= {
        "sin",
        "cos",
        "__linear_memory",
        "__stack_pointer",
        "__indirect_function_table",
    }


# not the windows of n-four-bar: beside their singular positions rounding reaches the steps in half
# of all runs
@pytest.mark.each_time(2)
@pytest.mark.parametrize("name", ["double-pendulum", "rolling-disk", "four-bar", "slider-crank"])
def test_the_page_takes_the_very_steps_that_we_take(name):
    """Step sizes have eight binary digits, so that rounding does not reach them, with fused
    operations or without.
    """
    live = Live(name)
    (found,) = live.by_node(live.setting())
    assert live.run.t.tolist() == found["t"]


def test_many_rows_are_eliminated_in_the_page_as_they_are_here():
    entry = gallery.entry("n-four-bar")
    start = {
        **{f"phi_{k}": 0.0 for k in range(6)},
        **{f"psi_{k}": 0.0 for k in range(1, 6)},
        "phi_0'": 1.0,
    }
    live = Live(
        SimpleNamespace(
            build=lambda: entry.build(windows=5), start=start, duration=0.5, inputs={}, events=()
        )
    )
    assert (
        live.run.accelerations.rates.sparse_rates.n_out
        == live.module.data["parts"]["straight"]["out"]
    )
    found, other, again = live.by_node(
        live.setting(), live.setting(values={"g": 20.0}), live.setting()
    )
    assert other["t"] != found["t"]
    assert again == found
    assert live.run.t.tolist() == found["t"]
    assert np.array(found["states"]) == pytest.approx(
        np.hstack([live.run.q, live.run.u]), abs=1e-12
    )


def test_other_constants_and_starts():
    live = Live("four-bar")
    values, starts, times = {"rho": 2.5, "l_2": 0.72}, {"theta_1": 0.7}, np.linspace(0.0, 1.0, 20)
    (found,) = live.by_node(live.setting(values=values, starts=starts, at=times.tolist()))
    data = live.module.data["start"]
    guess = {name: x for name, (_, x) in data["guess"].items()}
    given = {
        f["name"]: starts.get(f["name"], f["value"])
        for f in live.module.data["starts"]
        if f["given"]
    }
    run = live.native(given, values=values, guess=guess).at(times)
    assert np.array(found["states"]) == pytest.approx(np.hstack([run.q, run.u]), rel=1e-7, abs=1e-9)


def test_nonsense_gets_a_sentence():
    live = Live("four-bar")
    no_mass, open_loop = live.by_node(
        live.setting(values={"rho": 0.0}), live.setting(values={"l_1": 100.0})
    )
    assert (
        "l_1 = 0.2, rho = 0: the mass of “crank” is 0; a mass must be positive" == no_mass["fault"]
    )
    assert "no position satisfies “closure along" in open_loop["fault"]


def slide():
    """Two rods whose tip is held on a line by a row, which the impact on a wall has to respect."""
    s = da.System("Two rods on a slide")
    m, l, g = s.constants(m=1.0, l=1.0, g=9.81)
    s.gravity(-g * s.N.y)
    upper = s.rod("upper rod", s.pin("a", s.O), m, l)
    lower = s.rod("lower rod", s.pin("b", upper.tip), 2 * m, l)
    s.constrain((lower.tip - s.O) @ s.N.x, name="slide")
    return s


def ball():
    s = da.System("Ball")
    x, (m, g) = s.coordinate("x"), s.constants(m=1.0, g=9.81)
    s.particle("ball", m, s.O.offset(x * s.N.z, "P"))
    s.gravity(-g * s.N.z)
    return s


EVENTFUL = {
    "impact beside a row": (slide, {"a": 1.0}, 1.0, (da.impact("a - 0.5", 0.5, name="wall"),)),
    "reset": (
        ball,
        {"x": 1.0},
        1.2,
        (da.event("x", direction="down", reset={"x.dot": "-0.6*x.dot"}, name="floor"),),
    ),
    "stop": (
        ball,
        {"x": 1.0},
        1.2,
        (da.event("x - 0.5", stop=True, name="half"), da.event("x - 0.8", name="seen")),
    ),
    # between two samples of a step
    "twice between two samples": (
        ball,
        {"x": 1.0, "x.dot": 4.0},
        0.8,
        (da.event("x - 1.815493", name="top"),),
    ),
    "ever more often": (ball, {"x": 1.0}, 9.0, (da.impact("x", 0.5, name="floor"),)),
}


@pytest.mark.each_time(2)
@pytest.mark.parametrize("what", EVENTFUL)
def test_events_happen_in_a_page_as_they_do_here(what):
    build, start, duration, events = EVENTFUL[what]
    live = Live(
        SimpleNamespace(build=build, start=start, duration=duration, inputs={}, events=events)
    )
    run = live.run
    times = np.linspace(0.0, run.t[-1], 37)
    found, even = live.by_node(live.setting(), live.setting(at=times.tolist()))
    assert len(run) == found["count"]
    assert [(e.name, e.action) for e in run.events] == [
        (e["name"], e["how"]) for e in found["events"]
    ]
    assert [e["t"] for e in found["events"]] == pytest.approx([e.t for e in run.events], rel=1e-9)
    ours = [e.impulse for e in run.events]
    assert ours == [
        e["impulse"] if e["impulse"] is None else pytest.approx(e["impulse"], rel=1e-7)
        for e in found["events"]
    ]
    assert np.array(even["states"])[:-1] == pytest.approx(
        np.hstack([run.at(times).q, run.at(times).u])[:-1], rel=1e-7, abs=1e-8
    )
    assert np.array(found["E_Z"]) == pytest.approx(run.integrals.E_Z, rel=1e-8)
    assert ("fires ever more often" in found["stopped"]) == (what == "ever more often")


@pytest.mark.each_time(2)
@pytest.mark.parametrize("name", ["four-bar", "rolling-disk", "bead-on-hoop", "moving-knife-edge"])
def test_reactions_of_a_page_are_those_of_the_run(name):
    live = Live(name)
    times = np.linspace(0.0, live.entry.duration, 9)
    (found,) = live.by_node(live.setting(at=times.tolist()))
    ours = live.run.at(times).reactions
    places = reaction_offsets(ours)
    assert places
    theirs, size = np.array(found["reactions"]), max(np.abs(found["reactions"]).max(), 1.0)
    for load in (*ours.joints.values(), *ours.rows.values()):
        for what, values in (("force", load.force), ("moment", load.moment)):
            if values is not None:
                k = places[load.name, what]
                assert theirs[:, k : k + 3] == pytest.approx(values, abs=1e-7 * size)
    for row in (row for row in ours.rows.values() if row.force is None):
        assert theirs[:, places[row.name, "lambda"]] == pytest.approx(
            row.multiplier, abs=1e-7 * size
        )
    for drive in ours.drives.values():
        assert theirs[:, places[drive.name, "load"]] == pytest.approx(drive.load, abs=1e-7 * size)


def motor_on_a_loop():
    """A direct-current motor on the crank of a four-bar: L di/dt = V − R i − k ω, torque k i."""
    s = gallery.build("four-bar")
    k = s.constant("k", 0.3)
    s.constants(R=0.5, L=0.05)
    i = s.state("i", rate="(2*cos(3*t) - R*i - k*omega)/L", value=0.2)
    s.torque(k * i * s.N.z, on=next(b for b in s.bodies if b.name == "crank"))
    return s


RESET = da.event("i - 0.1*t - 0.5", reset={"i": "i + 1"}, name="switch")


@pytest.mark.each_time(1)
@pytest.mark.parametrize("events", [(), (RESET,)])
def test_first_order_states_run_in_a_page(events):
    start = gallery.entry("four-bar").start
    live = Live(
        SimpleNamespace(build=motor_on_a_loop, start=start, duration=1.0, inputs={}, events=events)
    )
    times = np.linspace(0.0, 1.0, 9)
    assert {"name": "i", "value": 0.2, "given": False, "q": 3, "u": -1} in live.module.data[
        "starts"
    ]
    same, other = live.by_node(
        live.setting(at=times.tolist()),
        live.setting(at=times.tolist(), starts={"i": 0.7}, values={"R": 1.3}),
    )
    assert len(events) <= len(live.run.events) == len(same["events"] or ())
    for found, run in (
        (same, live.run),
        (other, live.native({**start, "i": 0.7}, values={"R": 1.3})),
    ):
        there = run.at(times)
        assert np.array(found["states"]) == pytest.approx(
            np.hstack([there.q, there.x, there.u]), rel=1e-7, abs=1e-8
        )
    ours, theirs = live.run.at(times).reactions, np.array(same["reactions"])
    for (name, what), k in reaction_offsets(ours).items():
        if what == "force" and name in ours.joints:
            assert theirs[:, k : k + 3] == pytest.approx(
                ours.joints[name].force, abs=1e-7 * np.abs(theirs).max()
            )
