"""Contacts in a page: the native loop as WebAssembly against a run in Python, in a JavaScript
engine and in Chromium; bands and the table of events of a run in the page.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from live_runs import NODE, Live
from test_trial import SIZE, Tried

import dalembert as da

# of each coordinate and speed, by its largest value
CLOSE = 2e-8
in_node = pytest.mark.skipif(NODE is None, reason="needs node")


def belt():
    s = da.System("Block on a belt", gravity=9.81)
    m, k, v, mu, mu_s, a = s.constants(m=2, k=50, v=0.3, mu=0.2, mu_s=0.5, a=0.1)
    x, y = s.coordinates("x y")
    block = s.box("block", s.O.offset(x * s.N.x + y * s.N.y, "G"), s.N, m, 2 * a, a, a)
    foot = block.G.offset(-a / 2 * s.N.y, "foot")
    s.spring(k, block.G, s.O.offset(-1 * s.N.x + a / 2 * s.N.y, "wall"), rest=1)
    s.contact(foot, friction=mu, static=mu_s, speed=v, name="belt")
    return s


def disk():
    s = da.System("Disk that slides, then rolls", gravity=9.81)
    m, r, mu = s.constants(m=1, r=0.3, mu=0.2)
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(-phi, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G", B)
    s.contact(G, radius=r, on=s.disk("disk", G, B, m, r, B.z), friction=mu, name="floor")
    return s


def ball():
    s = da.System("Ball", gravity=9.81)
    m, e, mu = s.constants(m=1, e=0.8, mu=0.1)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("ball", m, P)
    s.contact(P, friction=mu, restitution=e, name="floor")
    return s


def block():
    s = da.System("Rocking block", gravity=9.81)
    m, w, h, mu = s.constants(m=1, w=0.2, h=0.8, mu=0.8)
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(phi, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G", B)
    box = s.box("block", G, B, m, w, h, w)
    for name, side in (("left", -1), ("right", 1)):
        corner = G.offset(side * w / 2 * B.x - h / 2 * B.y, name)
        s.contact(corner, on=box, friction=mu, name=name)
    return s


TILTED = {"phi": 0.1, "y": 0.1 * math.sin(0.1) + 0.4 * math.cos(0.1)}
SYSTEMS = {
    "belt": (belt, {"x.dot": 0.3, "y": 0.05}, 8.0),
    "sliding disk": (disk, {"x.dot": 2.0, "phi.dot": -20.0, "y": 0.3}, 3.0),
    # to its rest
    "bouncing ball": (ball, {"y": 1.0, "x.dot": 1.0}, 6.0),
    # eleven impacts of its corners
    "rocking block": (block, TILTED, 3.0),
}
# another constant of each
CHANGED = {
    "belt": {"mu_s": 0.7},
    "sliding disk": {"mu": 0.3},
    "bouncing ball": {"e": 0.6},
    "rocking block": {"m": 2.0},
}


def live(name):
    build, start, duration = SYSTEMS[name]
    return Live(SimpleNamespace(build=build, start=start, duration=duration, inputs={}, events=()))


def off(run, times, states):
    ours = np.hstack([run.at(times).q, run.at(times).u])
    size = np.maximum(np.abs(ours).max(axis=0), 1e-2)
    # at an impact two states have one time
    apart = [min(abs(t - e.t) for e in run.events) > 1e-9 for t in times]
    return (np.abs(ours - np.array(states)) / size)[apart].max()


@in_node
@pytest.mark.parametrize("name", SYSTEMS)
def test_contacts_change_their_modes_in_a_page_as_they_do_here(name):
    one = live(name)
    run, times = one.run, np.linspace(0.0, one.entry.duration, 101)
    found, even = one.by_node(one.setting(), one.setting(at=times.tolist()))
    assert "" == found["stopped"]
    assert len(run) == found["count"]
    assert [(e.name, e.action) for e in run.events] == [
        (e["name"], e["how"]) for e in found["events"]
    ]
    assert [e["t"] for e in found["events"]] == pytest.approx([e.t for e in run.events], rel=1e-11)
    assert off(run, times, even["states"]) < CLOSE
    assert np.array(found["E_Z"]) == pytest.approx(run.integrals.E_Z, rel=1e-9)


@in_node
def test_other_numbers_and_starts_of_contacts():
    one = live("bouncing ball")
    bounced, inside, slippery = one.by_node(
        one.setting(values={"e": 0.5}, starts={"y": 0.4}, at=[0.9]),
        one.setting(starts={"y": -0.1}),
        one.setting(values={"mu": -0.1}),
    )
    run = one.native({"y": 0.4, "x.dot": 1.0}, values={"e": 0.5})
    at = run.at(0.9)
    assert [*at.q.ravel(), *at.u.ravel()] == pytest.approx(bounced["states"][0], abs=CLOSE)
    assert "inside it; start where the gap is positive" in inside["fault"]
    assert "not negative" in slippery["fault"]


@pytest.fixture
def tried(browser, tmp_path):
    context = browser.new_context(viewport=SIZE, offline=True, reduced_motion="reduce")
    yield lambda run: Tried(context, run.view().save(tmp_path / "run.html"))
    context.close()


@pytest.mark.parametrize("name", SYSTEMS)
def test_contacts_in_chromium_are_those_of_a_native_run(tried, name):
    build, start, duration = SYSTEMS[name]
    s, values = build(), CHANGED[name]
    visit = tried(da.simulate(s, duration, start=start, progress=False))
    for field, value in values.items():
        visit.give(field, str(value))
    visit.settled()
    run = da.simulate(s, duration, start=start, values=values, rtol=1e-9, atol=1e-9, progress=False)
    for k, coordinate in enumerate(run.names[: run.q.shape[1]]):
        t, x = visit.do(
            f"(f => [Array.from(f.t), Array.from(f.v)])(trial.values('q:{k}'))",
        )
        assert np.abs(run.at(np.array(t))[coordinate] - np.array(x)).max() < CLOSE
    # the forces of contacts are solved for, not given
    assert "inputs" not in visit.do("trial.python()")
    happened = visit.do("trial.result.events.map(e => [e.name, e.how])")
    assert [[e.name, e.action] for e in run.events] == happened
    assert [] == visit.said


def test_another_belt_in_chromium_has_its_bands_and_its_table(tried):
    build, start, duration = SYSTEMS["belt"]
    s = build()
    visit = tried(da.simulate(s, duration, start=start, progress=False))
    recorded = visit.do("document.querySelector('#mode-bands').innerHTML")
    visit.give("mu_s", "0.7")
    visit.settled()
    run = da.simulate(
        s, duration, start=start, values={"mu_s": 0.7}, rtol=1e-9, atol=1e-9, progress=False
    )
    t, x = visit.do(
        "(() => { const f = trial.values('q:0'); return [Array.from(f.t), Array.from(f.v)]; })()"
    )
    assert np.abs(run.at(np.array(t))["x"] - np.array(x)).max() < CLOSE
    cells = visit.do("[...document.querySelectorAll('.events td')].map(c => c.textContent)")
    slips = [e.t for e in run.events if e.action == "slips −"]
    assert ["belt", "slips −", str(len(slips))] == cells[:3]
    assert slips[0] == pytest.approx(float(cells[3].replace("−", "-")), rel=1e-8)
    lets_go = 0.7 * 2 * 9.81 / (50 * 0.3)
    assert lets_go == pytest.approx(visit.do("trial.all.modes[0].t[1]"), abs=1e-9)
    assert recorded != visit.do("document.querySelector('#mode-bands').innerHTML")
    assert math.isclose(duration, visit.do("clock.last"))
    visit.page.locator(".reset").click()
    visit.settled()
    assert recorded == visit.do("document.querySelector('#mode-bands').innerHTML")
    assert [] == visit.said


def test_what_a_page_cannot_simulate_is_named():
    s = da.System("Puck", gravity=9.81)
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("puck", 1, P)
    s.contact(P, s.N.z, friction=0.2, name="ice")
    run = da.simulate(s, 0.1, start={"x.dot": 1.0, "y.dot": 0.5}, progress=False)
    assert "friction in a plane (ice)" in run.view().html
