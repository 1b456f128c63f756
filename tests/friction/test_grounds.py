"""Guides, curved grounds, balls, stops and Stribeck's friction, each against a closed form."""

import math
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-12, "atol": 1e-12}
G = 9.81


def particle(gravity=None):
    s = da.System("particle", gravity=gravity)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("P", 1, P)
    return s, P


def test_a_guide_presses_from_either_side():
    s, P = particle()
    s.force(-5 * da.cos(s.t) * s.N.y, at=P)
    s.contact(P, friction=0.2, two_sided=True, name="guide")
    run = da.simulate(s, math.pi, start={"x.dot": 3.0}, **FINE)
    # ∫ μ |5 cos t| dt over half a turn is 10 μ
    assert run["x.dot"][-1] == pytest.approx(3.0 - 10 * 0.2, abs=1e-10)
    np.testing.assert_allclose(run["N_guide"], 5 * np.cos(run.t), atol=1e-12)
    assert run.integrals.relative_drift < 1e-11


@pytest.mark.parametrize("height", [lambda x: x**2 / 2, "x**2/2"])
def test_a_bead_on_a_parabola_carries_its_curvature(height):
    s, P = particle(G)
    s.contact(P, height=height, name="bowl")
    run = da.simulate(
        s,
        2,
        start={"x": 0.5, "y": 0.125},
        events=[da.event("x", direction="down", stop=True)],
        **FINE,
    )
    # N = m (g + v² κ), v² = 2 g h, κ = 1 at the bottom
    assert run["N_bowl"][-1] == pytest.approx(G + 2 * G * 0.125, abs=1e-9)
    assert np.abs(run["y - x**2/2"]).max() < 1e-12


def test_two_balls_exchange_their_velocities():
    s = da.System("balls")
    x, X = s.coordinates("x X")
    P, Q = s.O.offset(x * s.N.x, "P"), s.O.offset(X * s.N.x, "Q")
    F = s.N.rotated(0, s.N.z)
    one, other = s.sphere("one", P, F, 2, 0.1), s.sphere("other", Q, F, 2, 0.3)
    s.contact(P, ball=Q, radius=(0.1, 0.3), on=one, against=other, restitution=1, name="balls")
    run = da.simulate(s, 2, start={"X": 1.4, "x.dot": 1.0}, **FINE)
    assert run.events[0].t == pytest.approx(1.0, abs=1e-12)
    assert [run["x.dot"][-1], run["X.dot"][-1]] == pytest.approx([0.0, 1.0], abs=1e-12)


def test_particles_that_meet_keep_their_momentum():
    s = da.System("two particles")
    x, y, X, Y = s.coordinates("x y X Y")
    P, Q = s.O.offset(x * s.N.x + y * s.N.y, "P"), s.O.offset(X * s.N.x + Y * s.N.y, "Q")
    one, other = s.particle("one", 1, P), s.particle("other", 3, Q)
    s.contact(
        P,
        ball=Q,
        radius=(0.1, 0.2),
        on=one,
        against=other,
        restitution=0.5,
        friction=0.2,
        name="balls",
    )
    run = da.simulate(s, 3, start={"x": -1.0, "x.dot": 1.0, "y": 0.05, "X": 0.5}, **FINE)
    np.testing.assert_allclose(run[da.momentum(s)], [[1, 0, 0]] * len(run.t), atol=1e-13)
    hit, n = run.events[0], np.array([-math.sqrt(0.3**2 - 0.05**2), 0.05]) / 0.3
    after = np.array(
        [hit.after["x.dot"] - hit.after["X.dot"], hit.after["y.dot"] - hit.after["Y.dot"]]
    )
    assert after @ n == pytest.approx(-0.5 * n[0], abs=1e-12)


@pytest.mark.parametrize("shaking", [0, 0.02])
def test_a_block_slides_on_a_cart_that_is_a_particle_until_both_go_together(shaking):
    s = da.System("block on a cart", gravity=G)
    x, y, X = s.coordinates("x y X")
    P, Q = s.O.offset(x * s.N.x + y * s.N.y, "P"), s.O.offset(X * s.N.x, "Q")
    s.particle("block", 1, P)
    cart = s.particle("cart", 3, Q)
    tray = Q.offset(shaking * da.sin(5 * s.t) * s.N.x, "tray")
    s.contact(P, through=tray, friction=0.3, against=cart, name="tray")
    run = da.simulate(s, 1, start={"x.dot": 1.0}, **FINE)
    np.testing.assert_allclose(run[da.momentum(s)], [[1, 0, 0]] * len(run.t), atol=1e-12)
    # both accelerations are μ g and μ g/3 until the slip velocity is gone
    if not shaking:
        assert [e.t for e in run.events] == pytest.approx([1 / (0.3 * G * 4 / 3)], abs=1e-12)
    assert run["x.dot - X.dot"][-1] == pytest.approx(5 * shaking * math.cos(5), abs=1e-11)


def test_play_between_stops():
    s, _ = particle()
    s.stop(s["x"], lower=-1, upper=1, restitution=0.5, name="play")
    run = da.simulate(s, 10, start={"x.dot": 1.0}, **FINE)
    # 1, then 2/v for each way with half the velocity
    assert [(e.name, round(e.t, 9)) for e in run.events] == [
        ("play, upper", 1.0),
        ("play, lower", 5.0),
    ]
    assert run["x.dot"][-1] == pytest.approx(0.25, abs=1e-12)


def test_stribecks_friction_falls_with_the_velocity():
    s, _ = particle()
    s.friction(s["x"].dot, 0.2, static=0.5, stribeck=0.3, viscous=0.1, normal=10, name="slide")
    run = da.simulate(s, 0.2, start={"x.dot": 2.0}, **FINE)
    v = run["x.dot"]
    np.testing.assert_allclose(
        run["T_slide"], -10 * (0.2 + 0.3 * np.exp(-((v / 0.3) ** 2))), atol=1e-11
    )
    np.testing.assert_allclose(run["x.dot.dot"], run["T_slide"] - 0.1 * v, atol=1e-11)


def test_a_plot_names_the_contacts_beside_their_modes(tmp_path: Path) -> None:
    s = da.System("two balls", gravity=9.81)
    for name, height in (("a floor", s.coordinate("y")), ("a very long name", s.coordinate("z"))):
        ball = s.O.offset(height * s.N.y, f"ball on {name}")
        s.particle(f"P {name}", 1, ball)
        s.contact(ball, restitution=0.5, name=name)
    run = da.simulate(s, 1.0, start={"y": 1.0, "z": 0.2})
    run.plot("y", path=tmp_path / "balls.svg")
    drawn = (tmp_path / "balls.svg").read_text(encoding="utf-8")
    assert ">modes</text>" in drawn
    assert ">a floor</text>" in drawn
    assert ">a very l…</text>" in drawn
    assert ">1.25</text>" not in drawn
