"""More contacts than all modes of them can be solved: groups, and Lemke's method."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da


def test_twenty_balls_that_never_touch_one_another_bounce_like_one():
    s, start = da.System("Balls", gravity=9.81), {}
    for i in range(20):
        y = s.coordinate(f"y{i}")
        P = s.O.offset(i * s.N.x + y * s.N.y, f"P{i}")
        s.particle(f"P{i}", 1, P)
        s.contact(P, restitution=0.5, name=f"b{i}")
        start[f"y{i}"] = 0.5 + 0.05 * i
    run = da.simulate(s, 3.0, start=start)
    for i in range(20):
        fall = math.sqrt(2 * start[f"y{i}"] / 9.81)
        hits = [e.t for e in run.events if e.name == f"b{i}" and e.action == "impact"]
        assert fall == pytest.approx(hits[0], abs=1e-9)
        assert 2 * fall == pytest.approx(hits[1], abs=1e-9)
        # t₀ + 2 t₀ Σ eⁱ
        rest = [e.t for e in run.events if e.name == f"b{i}" and e.action.startswith("rests")]
        assert [pytest.approx(3 * fall, abs=1e-6)] == rest


def test_a_column_of_twenty_falls_and_stands():
    s, start, below = da.System("Column", gravity=9.81), {}, None
    for i in range(20):
        y = s.coordinate(f"y{i}")
        P = s.O.offset(y * s.N.y, f"P{i}")
        body = s.particle(f"P{i}", 1, P)
        on = {} if below is None else {"through": below[0], "against": below[1]}
        s.contact(P, name=f"c{i}", **on)
        start[f"y{i}"] = 0.01 * (i + 1)
        below = (P, body)
    run = da.simulate(s, 1.0, start=start)
    assert {"closed"} == {modes[-1] for modes in run.modes.values()}
    for i in range(20):
        assert (20 - i) * 9.81 == pytest.approx(run[f"N_c{i}"][-1], rel=1e-9)


def disks(places, r):
    """Disks on a floor with friction, each of which may touch every other."""
    s, disks, start = da.System("Disks", gravity=9.81), [], {}
    for i, (x0, y0) in enumerate(places):
        x, y, a = s.coordinates(f"x{i} y{i} a{i}")
        B = s.N.rotated(a, s.N.z, f"B{i}")
        G = s.O.offset(x * s.N.x + y * s.N.y, f"G{i}")
        body = s.body(f"d{i}", 1, G, B, da.inertia(B, *[r * r / 2] * 3))
        s.contact(G, radius=r, on=body, friction=0.3, name=f"floor {i}")
        for j, (other, carrier) in enumerate(disks):
            ball = {"ball": other, "radius": (r, r), "against": carrier}
            s.contact(G, on=body, friction=0.3, name=f"pair {j}{i}", **ball)
        disks.append((G, body))
        start |= {f"x{i}": x0, f"y{i}": y0}
    return s, start


@pytest.mark.slow
def test_three_disks_with_friction_and_all_pairs_come_apart():
    """Two on the floor, one falls between them."""
    r = 0.1
    s, start = disks(((-1.05 * r, r), (1.05 * r, r), (0.03 * r, 4 * r)), r)
    run = da.simulate(s, 2.0, start=start)
    assert run.finished
    heights = [float(run[f"y{i}"][-1]) for i in range(3)]
    assert [pytest.approx(r, abs=1e-9)] * 3 == heights


@pytest.mark.slow
@pytest.mark.parametrize(
    "places",
    [
        ((-0.1356, 0.8562), (0.2007, 0.1245), (-0.2373, 0.5331), (0.2196, 0.405)),
        ((-0.105, 0.1), (0.105, 0.1), (0.003, 0.4), (0.05, 0.7)),
    ],
)
def test_four_disks_that_roll_side_by_side_without_force_keep_their_steps(places):
    """A gap that stays zero but for rounding is no reason for shorter steps."""
    s, start = disks(places, 0.1)
    run = da.simulate(s, 3.0, start=start)
    assert run.finished
    assert run.solution.steps < 1000
    for i in range(4):
        assert float(run[f"y{i}"].min()) > 0.1 - 1e-9
        assert float(run[f"y{i}"][-1]) == pytest.approx(0.1, abs=1e-9)
        for j in range(i):
            apart = np.hypot(run[f"x{i}"] - run[f"x{j}"], run[f"y{i}"] - run[f"y{j}"])
            assert float(apart.min()) > 0.2 - 1e-9


def test_a_chain_that_bounces_comes_to_lie_on_the_ground():
    """Links that lie in line make tangents depend on one another, but for a node that still
    bounces.
    """
    rng, links = np.random.default_rng(9), 4
    s = da.System("Chain", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P0")
    start = {"y": 0.6, "x.dot": float(rng.normal())}
    angles = np.cumsum(rng.normal(0, 0.3, links))
    for k in range(links + 1):
        if k:
            angle = s.coordinate(f"a{k - 1}")
            P = P.offset(0.2 * s.N.rotated(angle, s.N.z).x, f"P{k}")
            start[f"a{k - 1}"] = float(angles[k - 1])
        s.particle(f"p{k}", 0.1, P)
        s.contact(P, friction=0.3, restitution=0.6, name=f"c{k}")
    run = da.simulate(s, 1.5, start=start)
    assert run.finished
    assert float(np.diff(run.energy).max()) < 1e-10
    assert min(float(run[f"N_c{k}"].min()) for k in range(links + 1)) > -1e-9
    heights = run["y"] + 0.2 * np.cumsum([np.sin(run[f"a{k}"]) for k in range(links)], axis=0)
    assert float(heights.min()) > -1e-9
