"""Sensitivities through impacts, sticking and slipping, against closed forms and differences."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-11, "atol": 1e-12}
FINEST = {"rtol": 1e-13, "atol": 1e-14}


def bouncing_ball():
    s = da.System("Ball")
    y = s.coordinate("y")
    e, g = s.constants("e g")
    P = s.O.offset(y * s.N.y, "P")
    s.particle("ball", 1, P)
    s.gravity(-g * s.N.y)
    s.contact(P, restitution=e, name="floor")
    return s


def height_after_impacts(t, impacts, y, e, g):
    """Falls from y, then `impacts` bounces; numbers may be complex."""
    fall = np.sqrt(2 * y / g)
    last = fall + 2 * fall * sum(e**i for i in range(1, impacts))
    v = e**impacts * g * fall
    return v * (t - last) - g * (t - last) ** 2 / 2, v - g * (t - last), last


def test_twenty_impacts_of_a_ball_agree_with_the_closed_form():
    given, t = {"y": 1.0, "e": 0.97, "g": 9.81}, 13.6
    run = da.simulate(
        bouncing_ball(),
        t,
        values={"e": 0.97, "g": 9.81},
        start={"y": 1.0},
        sensitivities=list(given),
        **FINE,
    )
    impacts = sum(e.action == "impact" for e in run.events)
    assert impacts >= 20
    for name in given:
        moved = {k: complex(v, 1e-30 if k == name else 0.0) for k, v in given.items()}
        y, v, last = (x.imag / 1e-30 for x in height_after_impacts(t, impacts, **moved))
        assert y == pytest.approx(run.sensitivity("y", name)[-1], rel=1e-8)
        assert v == pytest.approx(run.sensitivity("y.dot", name)[-1], rel=1e-8)
        assert last == pytest.approx(run.sensitivities.event_times("floor", name)[-1], rel=1e-8)


def block_on_belt():
    s = da.System("Belt")
    x = s.coordinate("x")
    k, mu, mu_s, v = s.constants("k mu mu_s v")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("block", 1, P)
    s.force(-k * x * s.N.x, at=P)
    s.friction(x.dot - v, mu, normal=9.81, static=mu_s, name="belt")
    return s, {"k": 4.0, "mu": 0.2, "mu_s": 0.35, "v": 0.3}, {"x": 0.1}, 48.5


def bouncing_disk(law, friction=0.3):
    s = da.System("Disk")
    x, y, a = s.coordinates("x y a")
    e, mu, g = s.constants("e mu g")
    B = s.N.rotated(a, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G")
    body = s.body("disk", 1, G, B, da.inertia(B, *[0.005] * 3))
    s.gravity(-g * s.N.y)
    s.contact(G, radius=0.1, on=body, friction=mu, restitution=e, law=law, name="floor")
    return s, {"e": 0.7, "mu": friction, "g": 9.81}, {"y": 0.5, "x.dot": 1.0, "a.dot": 30.0}, 1.2


def pushed_box():
    """Two corners give way together: the guard is the sum of theirs."""
    s = da.System("Box")
    x, y, a = s.coordinates("x y a")
    mu, g, F = s.constants("mu g F")
    B = s.N.rotated(a, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G")
    body = s.body("box", 2, G, B, da.inertia(B, *[2 * 1.25 / 12] * 3))
    s.gravity(-g * s.N.y)
    for name, side in (("left", -1), ("right", 1)):
        corner = G.offset(side * B.x / 2 - B.y / 4, name, B)
        s.contact(corner, friction=mu, static=1.2 * mu, on=body, name=name)
    s.force(F * da.sin(3 * s.t) * s.N.x, at=G)
    return s, {"mu": 0.4, "g": 9.81, "F": 12.0}, {"y": 0.25}, 2.0


CASES = {
    "belt": (block_on_belt, "x", ("mu", "mu_s", "x"), 20),
    "Newton": (lambda: bouncing_disk("newton"), "x", ("y", "a.dot"), 4),
    "Poisson": (lambda: bouncing_disk("poisson", 0.1), "x", ("e", "mu", "y"), 4),
    "box": (pushed_box, "x", ("mu", "F"), 6),
}


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c == "Newton" else c for c in CASES]
)
def test_sensitivities_agree_with_differences(case):
    build, what, names, changes = CASES[case]
    s, values, start, t = build()
    given = {"values": values, "start": start}
    run = da.simulate(s, t, sensitivities=list(names), **given, **FINE)
    assert len(run.events) >= changes

    def end(name, step):
        moved = {k: {n: x + step * (n == name) for n, x in v.items()} for k, v in given.items()}
        r = da.simulate(s, t, **moved, **FINEST)
        return np.array([r[what][-1], r[f"{what}.dot"][-1]])

    h = 1e-4
    for name in names:
        coarse = (end(name, h) - end(name, -h)) / (2 * h)
        difference = (4 * (end(name, h / 2) - end(name, -h / 2)) / h - coarse) / 3
        found = [run.sensitivity(x, name)[-1] for x in (what, f"{what}.dot")]
        assert difference == pytest.approx(found, rel=1e-6, abs=1e-6 * abs(difference).max())


def test_the_limit_of_bounces_moves_as_its_closed_form():
    given = {"y": 1.0, "e": 0.5, "g": 9.81}
    run = da.simulate(
        bouncing_ball(), 3.0, values={"e": 0.5, "g": 9.81}, start={"y": 1.0},
        sensitivities=list(given), **FINE,
    )  # fmt: skip
    for name in given:
        y, e, g = (complex(v, 1e-30 * (k == name)) for k, v in given.items())
        limit = np.sqrt(2 * y / g) * (1 + 2 * e / (1 - e))
        moves = run.sensitivities.event_times("floor", name)[-1]
        assert limit.imag / 1e-30 == pytest.approx(moves, rel=5e-6)
        rests = [run.sensitivity(x, name)[-1] for x in ("y", "y.dot")]
        np.testing.assert_allclose(rests, 0, atol=2e-5)


def test_a_block_that_bounces_and_slides_on_has_the_derivatives_of_its_momentum():
    # all impulses together: m Δv = −μ (m √(2 g h) + m g t), whatever the bounces do
    s = da.System("block", gravity=9.81)
    x, y = s.coordinates("x y")
    mu, e = s.constants("mu e")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.contact(P, friction=mu, restitution=e, name="floor")
    given = {"mu": 0.2, "e": 0.5, "y": 0.1, "x.dot": 3.0}
    run = da.simulate(
        s, 1.0, values={"mu": 0.2, "e": 0.5}, start={"y": 0.1, "x.dot": 3.0},
        sensitivities=list(given), **FINE,
    )  # fmt: skip
    # N has the impulse m g t in all, from the first contact on with that of the fall
    expected = {"mu": -9.81, "e": 0.0, "y": 0.0, "x.dot": 1.0}
    for name, slope in expected.items():
        assert slope == pytest.approx(run.sensitivity("x.dot", name)[-1], abs=5e-6)


def test_no_derivative_at_the_limit_of_bounces_of_several_contacts():
    s = da.System("rocking box", gravity=9.81)
    x, y, a = s.coordinates("x y a")
    B = s.N.rotated(a, s.N.z, "B")
    C = s.O.offset(x * s.N.x + y * s.N.y)
    body = s.body("box", 2, C, B, da.inertia(B, *[0.2] * 3))
    for name, side in (("left", -1), ("right", 1)):
        corner = C.offset(side * B.x / 2 - B.y / 4, name, B)
        s.contact(corner, on=body, friction=0.6, restitution=0.3, name=name)
    with pytest.warns(da.DalembertWarning, match="there is no derivative"):
        run = da.simulate(s, 3.0, start={"y": 0.4, "a": 0.1}, sensitivities=["a"])
    S = run.sensitivity("a", "a")
    assert np.isnan(S[-1])
    assert np.isfinite(S[0])


def test_an_ensemble_of_bouncing_balls_has_the_bits_of_single_runs():
    s, heights = bouncing_ball(), [0.5, 0.8, 1.3]
    values = {"e": 0.7, "g": 9.81}
    study = da.ensemble(s, 1.5, over={"y": heights}, values=values, keep=["y", "max(y)"])
    for k, y in enumerate(heights):
        run = da.simulate(s, 1.5, values=values, start={"y": y})
        assert float(run["y"][-1]) == float(study["y"][k])


@pytest.mark.parametrize(
    ("start", "number", "known"),
    [
        ({"x.dot": 1.0}, "y", False),
        ({"x.dot": 1.0}, "y.dot", False),
        ({"x.dot": 1.0}, "x.dot", True),
        ({"x.dot": 1.0}, "mu", True),
        ({}, "x.dot", False),
        ({}, "x", True),
    ],
)
def test_start_values_that_open_or_move_a_closed_contact_have_no_derivative(start, number, known):
    s = da.System("Block", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("block", 1, P)
    s.contact(P, friction=s.constant("mu", 0.2), name="floor")
    given = {"start": start, "sensitivities": [number], **FINE}
    if known:
        slope = da.simulate(s, 0.2, **given).sensitivity("x", number)[-1]
        law = {"x.dot": 0.2, "mu": -9.81 * 0.2**2 / 2, "x": 1.0}
        assert law[number] == pytest.approx(slope, rel=1e-9)
        return
    with pytest.warns(da.DalembertWarning, match="'floor' at t = 0: a start value opens or moves"):
        run = da.simulate(s, 0.2, **given)
    assert np.isnan(run.sensitivity("x", number)[-1])


def test_twenty_impacts_and_twenty_cycles_of_stick_and_slip_in_one_run():
    s = da.System("belt and wall")
    x = s.coordinate("x")
    k, mu, mu_s, v, w, e = s.constants("k mu mu_s v w e")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("block", 1, P)
    s.force(-k * x * s.N.x, at=P)
    s.friction(x.dot - v, mu, normal=9.81, static=mu_s, name="belt")
    s.contact(P, s.N.x, through=s.O.offset(w * s.N.x), restitution=e, name="wall")
    values = {"k": 4.0, "mu": 0.2, "mu_s": 0.35, "v": 0.3, "w": 0.2, "e": 0.6}
    given = {"start": {"x": 0.3, "x.dot": 0.5}}
    run = da.simulate(s, 76.0, values=values, sensitivities=list(values), **given, **FINE)
    actions = [each.action for each in run.events]
    assert min(actions.count(a) for a in ("impact", "sticks", "slips −", "slips +")) >= 20

    def end(name, step):
        moved = {n: y + step * (n == name) for n, y in values.items()}
        r = da.simulate(s, 76.0, values=moved, **given, **FINEST)
        return np.array([r["x"][-1], r["x.dot"][-1]])

    for name in values:
        # rounding of the differences of x over e is 1e-7 of its small derivative
        h = 1e-4 if name == "e" else 1e-5
        coarse = (end(name, h) - end(name, -h)) / (2 * h)
        difference = (4 * (end(name, h / 2) - end(name, -h / 2)) / h - coarse) / 3
        actual = [run.sensitivity(y, name)[-1] for y in ("x", "x.dot")]
        np.testing.assert_allclose(actual, difference, rtol=0, atol=1e-6 * abs(difference).max())
