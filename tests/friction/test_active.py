"""Contacts and constraints that are switched on and off: active=, and events that add and drop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dalembert as da
from periodic.systems import compass_walker

START = {"a": -0.2, "b": 0.2, "a'": 0.2, "b'": 0.2 * math.cos(0.4)}


def _disks(active: Any) -> da.System:
    s = da.System("Clutch")
    a, b = s.coordinates("a b")
    J1, J2 = s.constants(J1=2.0, J2=3.0)
    for name, angle, J in (("A", a, J1), ("B", b, J2)):
        frame = s.N.rotated(angle, s.N.z)
        s.body(name, 1, s.O, frame, da.inertia(frame, J, J, J))
    s.constrain(a.dot - b.dot, "clutch", active=active)
    return s


def _ball(**contact: Any) -> da.System:
    s = da.System("Ball")
    y = s.coordinate("y")
    P = s.O.offset(y * s.N.y)
    s.particle("ball", 2, P)
    s.gravity(-10 * s.N.y)
    s.contact(P, name="floor", **contact)
    return s


def _bob() -> da.System:
    s = da.System("Bob")
    x, y = s.coordinates("x y")
    s.particle("bob", 1.5, s.O.offset(x * s.N.x + y * s.N.y))
    s.gravity(-9.81 * s.N.y)
    s.constrain(x**2 + y**2 - 1, "string", active=True)
    return s


def walker(*, swap: bool) -> tuple[da.System, list[da.Event]]:
    """A compass walker: legs that change roles, or two feet that are held in turn."""
    s = da.System("Walker")
    x, y, a, b = s.coordinates("x y a b")
    foot = s.O.offset(x * s.N.x + y * s.N.y, "foot")
    hip = foot.offset(da.sin(a) * s.N.x + da.cos(a) * s.N.y, "hip")
    swing = hip.offset(-da.sin(b) * s.N.x - da.cos(b) * s.N.y, "swing foot")
    for name, mass, P in (("m1", 1e-3, foot), ("m2", 1, hip), ("m3", 1e-3, swing)):
        s.particle(name, mass, P)
    gamma = s.constant("gamma", 0.009)
    s.gravity(da.sin(gamma) * s.N.x - da.cos(gamma) * s.N.y)
    v, r = swing.v, swing - s.O
    for axis in "xy":
        along = getattr(s.N, axis)
        s.constrain(foot.v @ along, f"foot, {axis}", active=True)
        if not swap:
            s.constrain(v @ along, f"swing foot, {axis}", active=False)
    down = da.maximum(r @ s.N.y, 0.05 - (a - b))
    if swap:
        new = {x: r @ s.N.x, y: r @ s.N.y, a: b, b: a}
        rates = {x.dot: v @ s.N.x, y.dot: v @ s.N.y, a.dot: b.dot, b.dot: a.dot}
        return s, [da.event(down, direction="down", reset=new | rates, name="strike")]
    other = da.maximum(y, 0.05 - (b - a))
    return s, [
        da.event(down, direction="down", add="swing foot", drop="foot", name="strike 2"),
        da.event(other, direction="down", add="foot", drop="swing foot", name="strike 1"),
    ]


@pytest.mark.parametrize("active", ["t - 1", False])
def test_clutch_gives_the_common_speed_and_its_derivatives(active: Any) -> None:
    """ω = (J₁ ω₁ + J₂ ω₂)/(J₁ + J₂), Λ and ΔT by the reduced inertia J₁ J₂/(J₁ + J₂)."""
    events = [] if active else [da.event("t - 1", add="clutch", name="engage")]
    start = {"a'": 5.0, "b'": 1.0}
    run = da.simulate(_disks(active), 3, start=start, events=events, sensitivities=["J1", "a'"])
    assert run["a'"][-1] == pytest.approx(13 / 5, abs=1e-14)
    assert run["b'"][-1] == pytest.approx(13 / 5, abs=1e-14)
    (hit,) = [e for e in run.events if e.action == "impact"]
    assert hit.impulse == pytest.approx(-6 / 5 * 4, abs=1e-14)
    assert hit.energy == pytest.approx(-0.5 * 6 / 5 * 16, abs=1e-13)
    S = run.sensitivities
    assert S["a'", "J1"][-1] == pytest.approx(3 * 4 / 25, abs=1e-13)
    assert S["b'", "a'"][-1] == pytest.approx(2 / 5, abs=1e-13)
    assert S["a", "J1"][-1] == pytest.approx(2 * 3 * 4 / 25, abs=1e-12)
    assert run.modes["clutch"][0] == "off"
    assert run.modes["clutch"][-1] == "closed"


def test_released_pendulum_flies_on_a_parabola() -> None:
    """Until it is released it moves as the pendulum of one coordinate does."""
    cut = da.event("t - 0.7", drop="string", name="cut")
    run = da.simulate(_bob(), 2, start={"x": 1.0, "y": 0.0}, events=[cut], rtol=1e-11)
    o = next(e for e in run.events if e.name == "cut")
    t = run.t[-1] - o.t
    assert run["x"][-1] == pytest.approx(o.after["x"] + o.after["x.dot"] * t, abs=1e-9)
    fall = o.after["y"] + o.after["y.dot"] * t - 9.81 / 2 * t**2
    assert run["y"][-1] == pytest.approx(fall, abs=1e-9)
    assert run["N_string"][-1] == 0.0
    s = da.System("Pendulum", gravity=9.81)
    s.particle("bob", 1.5, s.O.offset(-1 * s.pin("q", s.O).frame.y))
    swing = da.simulate(s, 0.7, start={"q": math.pi / 2}, rtol=1e-11)
    assert o.before["x"] == pytest.approx(math.sin(swing["q"][-1]), abs=1e-9)
    assert o.before["y"] == pytest.approx(-math.cos(swing["q"][-1]), abs=1e-9)


def test_a_floor_that_is_taken_away_lets_the_ball_fall() -> None:
    run = da.simulate(_ball(active="1 - t"), 2, start={"y": 0.2})
    assert run["y"][-1] == pytest.approx(-5, abs=1e-12)
    assert run.modes["floor"][-1] == "off"
    assert [(e.t, e.action) for e in run.events if e.action == "off"] == [(1.0, "off")]
    later = da.simulate(_ball(active="t - 1/5", restitution=0.5), 1, start={"y": 1.0})
    plain = da.simulate(_ball(restitution=0.5), 1, start={"y": 1.0})
    assert later["y"][-1] == pytest.approx(plain["y"][-1], abs=1e-12)


def test_a_brake_that_is_on_for_a_while() -> None:
    """v = v₀ − μ n/m (t₂ − t₁), and the derivative along the time it is applied."""
    s = da.System("Brake")
    x = s.coordinate("x")
    s.particle("cart", 2, s.O.offset(x * s.N.x))
    on = s.constant("on", 0.5)
    s.friction(x.dot, 0.4, normal=5, active=(s.t - on) * (1.5 - s.t), name="brake")
    run = da.simulate(s, 3, start={"x'": 4.0}, sensitivities=["on"])
    assert run["x'"][-1] == pytest.approx(4 - 0.4 * 5 / 2 * 1.0, abs=1e-12)
    assert run.sensitivities["x'", "on"][-1] == pytest.approx(0.4 * 5 / 2, abs=1e-10)


def test_momenta_balance_in_the_impact_of_a_walker() -> None:
    """Σ m Δv = Λ of the new foot, no moment about it, and the energy is audited."""
    system, events = walker(swap=False)
    run = da.simulate(system, 5, start=START, events=events, rtol=1e-11)
    hits = [e for e in run.events if e.action == "impact"]
    assert [e.name for e in hits] == ["swing foot, x", "swing foot, y"]
    b, a = hits[0].before, hits[0].after
    change = np.zeros(3)
    for mass, P in ((1e-3, (0, 0)), (1.0, (1, 0)), (1e-3, (1, 1))):
        r = np.zeros(2)
        dv = np.array([a["x.dot"] - b["x.dot"], a["y.dot"] - b["y.dot"]])
        for sign, angle, on in ((1, "a", P[0]), (-1, "b", P[1])):
            turn = sign * on * np.array([math.cos(b[angle]), -math.sin(b[angle])])
            r = r + sign * on * np.array([math.sin(b[angle]), math.cos(b[angle])])
            dv = dv + turn * (a[f"{angle}.dot"] - b[f"{angle}.dot"])
        foot = np.array([math.sin(b["a"]) - math.sin(b["b"]), math.cos(b["a"]) - math.cos(b["b"])])
        change += mass * np.array([*dv, (r - foot)[0] * dv[1] - (r - foot)[1] * dv[0]])
    assert change == pytest.approx([hits[0].impulse, hits[1].impulse, 0.0], abs=1e-12)
    assert run.integrals.relative_drift < 1e-9
    lost = -sum(e.energy for e in run.events)
    assert run.integrals.taken_by_events[-1] == pytest.approx(lost, abs=1e-12)


def test_walkers_with_swapped_legs_with_two_feet_and_by_hand_take_the_same_steps() -> None:
    """The impact from the mass matrix against angular momenta written by hand."""
    by_hand, strikes = compass_walker()
    expected = da.simulate(by_hand, 17, start=START, events=strikes, rtol=1e-11)
    times = [e.t for e in expected.events]
    assert len(times) == 4
    for swap in (True, False):
        system, events = walker(swap=swap)
        run = da.simulate(system, 17, start=START, events=events, rtol=1e-11)
        own = [e.t for e in run.events if e.name.startswith("strike")]
        assert own == pytest.approx(times, abs=1e-8)
        assert run["a'"][-1] == pytest.approx(expected["a'"][-1], abs=1e-8)
        assert run["b"][-1] == pytest.approx(expected["b"][-1], abs=1e-8)


def test_derivatives_through_added_and_dropped_feet() -> None:
    """Against differences of runs, through two changes of the foot."""
    system, events = walker(swap=False)
    own = {"events": events, "rtol": 1e-12, "atol": 1e-13}
    run = da.simulate(system, 9, start=START, sensitivities=["gamma", "a'"], **own)
    assert sum(e.name.startswith("strike") for e in run.events) == 2

    def end(name: str, step: float) -> float:
        start, values = dict(START), {"gamma": 0.009}
        given = values if name == "gamma" else start
        given[name] += step
        return float(da.simulate(system, 9, start=start, values=values, **own)["b'"][-1])

    for name in ("gamma", "a'"):
        slopes = [(end(name, h) - end(name, -h)) / (2 * h) for h in (1e-5, 2e-5)]
        expected = (4 * slopes[0] - slopes[1]) / 3
        assert run.sensitivities["b'", name][-1] == pytest.approx(expected, rel=1e-6)


def test_ensembles_are_the_single_runs() -> None:
    study = da.ensemble(_disks("t - 1"), 2, start={"a'": 5.0}, over={"J1": [1.0, 2.0]})
    for k, J in enumerate((1.0, 2.0)):
        alone = da.simulate(_disks("t - 1"), 2, start={"a'": 5.0}, values={"J1": J})
        assert alone["a"][-1] == float(np.asarray(study["a"])[k].flat[-1])


def test_files_keep_what_is_switched(tmp_path: Any) -> None:
    s = _disks(False)
    s.friction(s["a"].dot, 0.1, normal=1, active="3 - t", name="brake")
    s.save(tmp_path / "clutch.toml")
    again = da.load(tmp_path / "clutch.toml")
    assert [str(c.active) for c in again.contacts] == ["False", "−t + 3"]
    events = [da.event("t - 1", add="clutch")]
    runs = [da.simulate(x, 2, start={"a'": 5.0}, events=events)["b"][-1] for x in (s, again)]
    assert runs[0] == runs[1]


BAD_EVENTS = [
    ({"add": "clutsh"}, "'clutsh' is no contact or constraint .*there are 'clutch'"),
    ({"add": "clutch", "drop": "clutch"}, "in add= and in drop="),
    ({"add": "clutch", "stop": True}, "needs no add= or drop="),
    ({"add": 3}, "name contacts or constraints"),
]


@pytest.mark.parametrize(("options", "message"), BAD_EVENTS)
def test_events_that_name_nothing_are_refused(options: Any, message: str) -> None:
    with pytest.raises(da.DalembertError, match=message):
        da.simulate(_disks(True), 1, events=[da.event("t - 1/2", **options)])


def test_supports_need_a_declaration_with_active() -> None:
    s = da.System("Free")
    s.particle("m", 1, s.O.offset(s.coordinate("x") * s.N.x))
    with pytest.raises(da.DalembertError, match="declared with active="):
        da.simulate(s, 1, events=[da.event("t - 1/2", drop="floor")])
    drop = [da.event("x", drop="floor")]
    with pytest.raises(da.DalembertError, match="declared with active="):
        da.periodic(s, {"x'": 1.0}, 1.0, events=drop)
    study = da.ensemble(s, 1, start={"x": -0.5}, over={"x'": [1.0, 2.0]}, events=drop)
    assert "2 ×  refused: event 'x': 'floor' is no contact" in str(study)
    with pytest.raises(da.NotApplicable, match="'clutch' is switched by active="):
        da.rests(_disks(True))
    with pytest.raises(da.BadDescription, match="never changes"):
        s.constrain("x", "pin", active=1)
    with pytest.raises(da.BadDescription, match="neither redundant="):
        s.constrain(s["x"], "pin", active=True, redundant=True)


def test_what_becomes_active_apart_stops_the_run_by_name() -> None:
    with pytest.raises(da.DalembertError, match="'floor' becomes active where its gap is -4"):
        da.simulate(_ball(active="t - 1"), 2, start={"y": 1.0})
    events = [da.event("t - 1/2", drop="string"), da.event("t - 1", add="string")]
    with pytest.raises(da.DalembertError, match="'string' becomes active where its gap"):
        da.simulate(_bob(), 2, start={"x": 1.0, "y": 0.0}, events=events)
