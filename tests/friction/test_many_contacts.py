"""More contacts than all modes of them can be solved: groups, and Lemke's method."""

from __future__ import annotations

import math

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


@pytest.mark.slow
def test_three_disks_with_friction_and_all_pairs_come_apart():
    """Two on the floor, one falls between them."""
    s, disks, start, r = da.System("Disks", gravity=9.81), [], {}, 0.1
    places = ((-1.05 * r, r), (1.05 * r, r), (0.03 * r, 4 * r))
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
    run = da.simulate(s, 2.0, start=start)
    assert run.finished
    heights = [float(run[f"y{i}"][-1]) for i in range(3)]
    assert [pytest.approx(r, abs=1e-9)] * 3 == heights
