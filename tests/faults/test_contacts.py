"""A box on two corners rests, slides and tips by the laws of Coulomb, and rocking ends."""

from __future__ import annotations

import pytest

import dalembert as da
from faults.limited import run_limited

MASS, GRAVITY, WIDTH, HEIGHT = 2.0, 10.0, 1.0, 0.5


def box(mu, mu_s, width=WIDTH, height=HEIGHT):
    """A box pushed at its centre."""
    s = da.System("Box")
    x, y, a = s.coordinates("x y a")
    B = s.N.rotated(a, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G")
    I = MASS * (width**2 + height**2) / 12
    body = s.body("box", MASS, G, B, da.inertia(B, I, I, I))
    s.gravity(-GRAVITY * s.N.y)
    for name, side in (("left", -1), ("right", 1)):
        corner = G.offset(side * width / 2 * B.x - height / 2 * B.y, name, B)
        s.contact(corner, friction=mu, static=mu_s, on=body, name=name)
    s.force(s.input("F") * s.N.x, at=G)
    return s, {"y": height / 2}


@pytest.mark.parametrize("mu", [0.3, 0.5])
@pytest.mark.parametrize("push", [2.0, 5.0, 9.0, 9.9])
def test_what_rests_does_not_slide(mu, push):
    """F < μ_s m g = 10."""
    s, start = box(mu, 0.5)
    assert da.rests(s, at=start, inputs={"F": push})
    run = da.simulate(s, 0.2, start=start, inputs={"F": push})
    assert {"sticks"} == {mode for modes in run.modes.values() for mode in modes}
    assert abs(run["x"][-1]) < 1e-12


def test_a_push_that_grows_starts_the_slide_at_the_static_friction():
    s, start = box(0.3, 0.5)
    run = da.simulate(s, 3.0, start=start, inputs={"F": "4*t"})
    first = min(e.t for e in run.events if "slips" in e.action)
    assert pytest.approx(2.5, abs=1e-6) == first


def test_a_push_that_grows_starts_the_slide_where_the_frictions_are_equal():
    s, start = box(0.5, 0.5)
    run = da.simulate(s, 3.0, start=start, inputs={"F": "4*t"})
    # ẍ = 2 t − 5 from t = 2.5
    assert pytest.approx(0.5**3 / 3, abs=1e-6) == run["x"][-1]


def test_a_narrow_box_tips_before_it_slides():
    """F h = m g b: F = 20 · 0.2/0.5 = 8 < μ_s m g = 10."""
    s, start = box(0.3, 0.5, width=0.4, height=1.0)
    run = da.simulate(s, 2.1, start=start, inputs={"F": "4*t"})
    opened = [t for t, mode in zip(run.t, run.modes["left"], strict=True) if mode == "open"]
    assert opened
    assert pytest.approx(2.0, abs=1e-6) == opened[0]
    before = {
        mode
        for modes in run.modes.values()
        for t, mode in zip(run.t, modes, strict=True)
        if t < 1.9
    }
    assert {"sticks"} == before


@pytest.mark.parametrize("speed", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("push", [0.5, 1.0])
def test_two_frictions_on_one_coordinate_hold_as_their_sum(push, speed):
    s = da.System("Two brakes")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(s.input("F") * s.N.x, at=P)
    s.friction(x.dot, 0.1, normal=10, name="first")
    s.friction(x.dot, 0.2, normal=10, name="second")
    run = da.simulate(s, 5.0, start={"x.dot": speed}, inputs={"F": push})
    assert abs(run["x.dot"][-1]) < 1e-12


# mass, width, height, μ, e, tilt: boxes set down on one corner
ROCKING = (
    (1.521, 0.245, 0.344, 0.6, 0.0, 0.388),
    (2.5, 0.707, 0.756, 0.9, 0.0, -0.231),
    (1.66, 0.422, 0.877, 0.9, 0.2, -0.29),
    (1.451, 0.913, 0.851, 0.9, 0.0, 0.653),
    (1.883, 0.679, 1.163, 0.6, 0.5, -0.265),
    (0.502, 0.62, 0.868, 0.6, 0.5, 0.473),
    (2.972, 0.388, 1.041, 0.3, 0.0, -0.179),
    (0.684, 1.058, 1.046, 0.6, 0.0, 0.446),
)
ROCK = """
import math
import dalembert as da
m, w, h, mu, e, tilt = {}
s = da.System("Box", gravity=9.81)
x, y, a = s.coordinates("x y a")
B = s.N.rotated(a, s.N.z, "B")
G = s.O.offset(x * s.N.x + y * s.N.y, "G")
I = m * (w * w + h * h) / 12
body = s.body("box", m, G, B, da.inertia(B, I, I, I))
for k, side in enumerate((-1, 1)):
    P = G.offset(side * w / 2 * B.x - h / 2 * B.y, f"c{{k}}", B)
    s.contact(P, friction=mu, restitution=e, on=body, name=f"c{{k}}")
start = {{"y": abs(w / 2 * math.sin(tilt)) + h / 2 * math.cos(tilt), "a": tilt}}
run = da.simulate(s, 8.0, start=start, progress=False)
print(run.finished, len(run.events), *sorted({{modes[-1] for modes in run.modes.values()}}))
"""


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if k else c for k, c in enumerate(ROCKING)]
)
def test_a_box_that_rocks_comes_to_rest(case):
    finished, changes, *modes = run_limited(ROCK.format(case), seconds=4).split()
    assert "True" == finished
    assert int(changes) <= 100_000
    assert "open" not in modes


def test_a_run_stops_after_too_many_changes_of_mode(monkeypatch):
    from dalembert.runtime.contact import contact_run

    assert 100_000 == contact_run._MOST
    monkeypatch.setattr(contact_run, "_MOST", 20)
    s = da.System("Ball", gravity=9.81)
    P = s.O.offset(s.coordinate("y") * s.N.y)
    s.particle("ball", 1, P)
    s.contact(P, restitution=1, name="floor")
    with pytest.raises(da.ContactStopped, match=r"'floor' changes its mode without end.*20 times"):
        da.simulate(s, 100.0, start={"y": 1.0}, progress=False)
    assert da.simulate(s, 5.0, start={"y": 1.0}, progress=False).finished
