"""Changes of mode in native code against the general transition in Python, event by event."""

import math
import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.contact import contact_run
from dalembert.runtime.contact.mode_transition import ModeTransition
from dalembert.runtime.simulation import simulate
from dalembert.runtime.simulation.events.event import EventLog
from friction.test_random_contacts import random_system

# times and numbers of the two may differ by the order of sums
CLOSE = 1e-11


def both_runs(monkeypatch, system, duration, start, **options):
    """The run in native code with the number of changes left to Python, and the run without."""
    calls, general = [], ModeTransition.switch

    def count(self, t, *args, **keywords):
        calls.append(t)
        return general(self, t, *args, **keywords)

    monkeypatch.setattr(ModeTransition, "switch", count)
    native = da.simulate(system, duration, start=start, **options)
    left = len(calls)
    monkeypatch.setattr(contact_run, "has_native_transition", lambda _: False)
    return native, left, da.simulate(system, duration, start=start, **options)


def assert_same(native, python):
    assert [(e.name, e.action) for e in native.events] == [
        (e.name, e.action) for e in python.events
    ]
    for a, b in zip(native.events, python.events, strict=True):
        assert math.isclose(a.t, b.t, rel_tol=CLOSE, abs_tol=CLOSE)
        assert math.isclose(a.energy, b.energy, rel_tol=1e-9, abs_tol=CLOSE)
        assert (a.impulse is None) == (b.impulse is None)
        assert a.impulse is None or math.isclose(a.impulse, b.impulse, rel_tol=1e-9)
    assert native.modes == python.modes
    np.testing.assert_allclose(native.solution.y[-1], python.solution.y[-1], rtol=1e-9, atol=1e-9)


def balls(n, e):
    s = da.System("balls", gravity=9.81)
    for k in range(n):
        x, y = s.coordinates(f"x{k} y{k}")
        P = s.O.offset((k + x) * s.N.x + y * s.N.y, f"P{k}")
        s.particle(f"b{k}", 1, P)
        s.contact(P, friction=0.2, static=0.3, restitution=e, name=f"c{k}")
    start = {f"y{k}": 0.3 + 0.01 * k for k in range(n)}
    return s, start | {f"x{k}.dot": 1.0 + 0.1 * k for k in range(n)}


@pytest.mark.parametrize("seed", range(8))
def test_random_systems_change_their_modes_alike(monkeypatch, seed):
    s, start = random_system(seed)
    native, _, python = both_runs(monkeypatch, s, 2.0, start)
    assert_same(native, python)


def test_balls_that_bounce_and_slide_are_decided_in_native_code(monkeypatch):
    s, start = balls(4, 0.8)
    native, left, python = both_runs(monkeypatch, s, 1.5, start)
    assert_same(native, python)
    assert len(native.events) >= 20
    # the start, and nothing of these
    assert 1 == left


def test_the_limit_of_bounces_is_decided_in_native_code(monkeypatch):
    s, start = balls(2, 0.2)
    native, left, python = both_runs(monkeypatch, s, 2.0, start)
    assert_same(native, python)
    assert sum("limit" in e.action for e in native.events) == 2
    assert 1 == left


def test_two_links_that_fall_have_the_same_impacts(monkeypatch):
    s = da.System("two links", gravity=9.81)
    x, y, a, b = s.coordinates("x y a b")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    for k, angle in enumerate((a, b)):
        Q = P.offset(0.5 * s.N.rotated(angle, s.N.z).x, f"Q{k}")
        s.particle(f"m{k}", 1, Q)
        s.contact(Q, friction=0.3, restitution=0.3, name=f"end{k}")
        P = Q
    s.particle("m", 1, s.O.offset(x * s.N.x + y * s.N.y, "R"))
    start = {"y": 1.0, "a": 0.4, "b": -0.2, "x.dot": 0.5}
    native, left, python = both_runs(monkeypatch, s, 0.6, start)
    assert_same(native, python)
    assert left < len(native.events)


def chain(links, law="newton", e=0.3):
    """Particles joined by rods that fall on the ground, with friction at each."""
    s = da.System("chain", gravity=9.81)
    x, y = s.coordinates("x y")
    P, start = s.O.offset(x * s.N.x + y * s.N.y, "P"), {"y": 0.3, "x.dot": 0.5}
    for k in range(links + 1):
        if k:
            angle = s.coordinate(f"a{k}")
            P = P.offset(0.2 * s.N.rotated(angle, s.N.z).x, f"P{k}")
            start[f"a{k}"] = 0.4 * (-1) ** k + 0.05 * k
        s.particle(f"m{k}", 1 + 0.1 * k, P)
        s.contact(P, friction=0.3 + 0.05 * k, restitution=e, law=law, name=f"c{k}")
    return s, start


@pytest.mark.parametrize("links", [0, 1, 2])
def test_poissons_law_is_decided_in_native_code(monkeypatch, links):
    s, start = chain(links, "poisson", 0.6)
    native, left, python = both_runs(monkeypatch, s, 0.35 if links else 1.0, start)
    assert_same(native, python)
    assert sum(e.action == "impact" for e in native.events) >= 2
    assert 1 == left


def test_many_contacts_are_decided_by_lemkes_method_in_native_code(monkeypatch):
    """Six contacts of one chain have 4096 modes."""
    s, start = chain(5, e=0.0)
    native, left, python = both_runs(monkeypatch, s, 0.4, start)
    assert_same(native, python)
    assert len(native.events) > 20
    assert 1 == left


def test_an_ensemble_prepares_one_run_and_has_the_bits_of_single_runs(monkeypatch):
    s, start = balls(1, 0.6)
    prepared, general = [], simulate._prepare

    def count(*args, **keywords):
        prepared.append(args)
        return general(*args, **keywords)

    monkeypatch.setattr(simulate, "_prepare", count)
    heights = np.linspace(0.1, 0.8, 6)
    fixed = {"x0.dot": start["x0.dot"]}
    study = da.ensemble(s, 1.0, start=fixed, over={"y0": heights}, keep=["x0", "max(y0)"])
    assert 1 == len(prepared)
    for k, y in enumerate(heights):
        run = da.simulate(s, 1.0, start={"y0": y, **fixed})
        assert float(run["x0"][-1]) == float(study["x0"][k])
        assert run.solution.steps == int(study["steps"][k])


def test_an_ensemble_over_a_constant_has_the_bits_of_single_runs():
    s = da.System("block", gravity=9.81)
    x, y = s.coordinates("x y")
    (mu,) = s.constants("mu")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("b", 1, P)
    s.contact(P, friction=mu, name="floor")
    start = {"x.dot": 1.0}
    study = da.ensemble(s, 0.5, start=start, over={"mu": [0.1, 0.3, 0.6]}, keep=["x"])
    for k, value in enumerate((0.1, 0.3, 0.6)):
        run = da.simulate(s, 0.5, start=start, values={"mu": value})
        assert float(run["x"][-1]) == float(study["x"][k])


def test_a_block_that_stops_close_to_its_static_limit_sticks_in_native_code(monkeypatch):
    """|T| = 0.95 μ_s N at rest, more than μ N."""
    s = da.System("incline", gravity=9.81)
    slope = s.N.rotated(math.atan(0.95 * 0.5), s.N.z)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * slope.x + y * slope.y, "P")
    s.particle("b", 1, P)
    s.contact(P, slope.y, friction=0.3, static=0.5, name="floor")
    native, left, python = both_runs(monkeypatch, s, 1.0, {"x.dot": 2.0})
    assert_same(native, python)
    assert 1 == left
    assert "sticks" == native.modes["floor"][-1]


def test_records_of_native_changes_become_events_when_they_are_read():
    s = da.System("Ball", gravity=9.81)
    y = s.coordinate("y")
    P = s.O.offset(y * s.N.y)
    s.particle("ball", 1, P)
    s.contact(P, restitution=0.5, name="floor")
    run = da.simulate(s, 2.0, start={"y": 0.5})
    log = run.solution.occurrences
    assert isinstance(log, EventLog)
    assert log._whole is None
    again = pickle.loads(pickle.dumps(log))
    assert log._whole is None
    assert len(run.events) > 3
    assert [(e.t, e.action, e.after) for e in again] == [
        (e.t, e.action, e.after) for e in run.events
    ]
    assert run.events is run.events


@pytest.mark.parametrize(("mu", "tilt", "most"), [(0.8, 0.2, 1), (0.5, 0.1, 1), (0.1, 0.3, 4)])
def test_a_box_that_rocks_on_two_corners_is_decided_in_native_code(monkeypatch, mu, tilt, most):
    """Four rows of rank three. Only the start, and impacts that may be as good as over, are left to
    Python.
    """
    s, a, b = da.System("box", gravity=9.81), 0.5, 1.0
    x, y, q = s.coordinates("x y q")
    B = s.N.rotated(q, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G")
    body = s.body("box", 1, G, B, da.inertia(B, *[(a * a + b * b) / 3] * 3))
    for name, side in (("left", -1), ("right", 1)):
        P = G.offset(side * a * B.x - b * B.y, name)
        s.contact(P, on=body, friction=mu, name=name)
    start = {"y": a * math.sin(tilt) + b * math.cos(tilt), "q": tilt}
    native, left, python = both_runs(monkeypatch, s, 1.2, start)
    assert_same(native, python)
    assert sum(event.action == "impact" for event in native.events) >= 2
    assert left <= most
