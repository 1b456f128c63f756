"""Friction that the force of a constraint row presses: against closed forms, and against guides
whose force is a contact's.
"""

import math

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-12, "atol": 1e-12}
G = 9.81


def bead(gravity=None, scale=1):
    s = da.System("bead in a bowl", gravity=gravity)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("bead", 2, P)
    # λ is a force where scale = 1 only; the force of the row does not depend on how it is written
    s.constrain(scale * (da.sqrt(x**2 + y**2) - 0.5), "bowl")
    v = (x * y.dot - y * x.dot) / 0.5
    s.speeds(v=v)
    s.friction(v, 0.3, normal="bowl", name="wall")
    return s


@pytest.mark.parametrize("scale", [1, 7])
def test_a_bead_in_a_ring_loses_its_speed_by_the_angle(scale):
    s = bead(scale=scale)
    run = da.simulate(s, 1, start={"x": 0, "y": -0.5, "x.dot": 2.0}, **FINE)
    # N = m v²/R, v̇ = −μ v²/R
    v = 2.0 / (1 + 0.3 * 2.0 * run.t / 0.5)
    np.testing.assert_allclose(np.hypot(run["x.dot"], run["y.dot"]), v, rtol=1e-10)
    np.testing.assert_allclose(run["T_wall"], -0.3 * 2 * v**2 / 0.5, rtol=1e-9)
    assert run.integrals.relative_drift < 1e-10


def test_a_bead_in_a_bowl_stops_where_the_closed_form_says():
    mu, R = 0.3, 0.5
    s = bead(G)
    start = {"x": R * math.sin(1.2), "y": -R * math.cos(1.2)}
    run = da.simulate(
        s, 3, start=start, events=[da.event("x", direction="down", stop=True)], **FINE
    )
    # with w = v²/(2 g R) over the way φ = 1.2 − θ: w′ = sin θ − μ (cos θ + 2 w), solved from rest
    # at θ = 1.2 down to θ = 0
    theta = np.linspace(1.2, 0.0, 20_001)
    f = np.exp(-2 * mu * theta) * (np.sin(theta) - mu * np.cos(theta))
    w = float(((f[1:] + f[:-1]) / 2 * -np.diff(theta)).sum())
    c, k = 2 * mu, 1 + 4 * mu**2
    exact = [
        math.exp(-c * a)
        * ((-c * math.sin(a) - math.cos(a)) / k - mu * (math.sin(a) - c * math.cos(a)) / k)
        for a in (0.0, 1.2)
    ]
    assert exact[1] - exact[0] == pytest.approx(w, abs=1e-8)
    assert float(run["x.dot"][-1]) ** 2 / (2 * G * R) == pytest.approx(
        exact[1] - exact[0], abs=1e-10
    )
    # N = m (g + v²/R) at the bottom
    assert abs(run["T_wall"][-1]) == pytest.approx(
        mu * 2 * (G + run["x.dot"][-1] ** 2 / R), rel=1e-11
    )


def slider(*, guided):
    """A rod whose end slides along a guide, where friction changes the force of the guide."""
    s = da.System("slider", gravity=G)
    x, y, theta = s.coordinates("x y theta")
    B = s.N.rotated(theta, s.N.z)
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    rod = s.rod("rod", P.offset(0 * B.x, "end", frame=B), 1.5, 0.8)
    s.force(3 * da.sin(4 * s.t) * s.N.x + 25 * da.cos(3 * s.t) * s.N.y, at=P, on=rod)
    if guided:
        s.contact(P, on=rod, two_sided=True, friction=0.2, static=0.35, name="guide")
    else:
        s.constrain(y, "rail")
        s.friction(x.dot, 0.2, static=0.35, normal="rail", name="guide")
    return s


def test_the_force_of_a_row_is_that_of_a_guide():
    runs = [
        da.simulate(slider(guided=g), 2, start={"theta": -0.4, "x.dot": 0.6}, **FINE)
        for g in (True, False)
    ]
    assert len(runs[0].events) == 4
    assert [e.action for e in runs[0].events] == [e.action for e in runs[1].events]
    np.testing.assert_allclose(
        [e.t for e in runs[1].events], [e.t for e in runs[0].events], atol=1e-9
    )
    for what in ("x", "x.dot", "theta"):
        assert runs[1][what][-1] == pytest.approx(runs[0][what][-1], abs=1e-9)
    assert runs[1].integrals.relative_drift < 1e-10


def test_a_row_that_is_not_there_is_named():
    s = bead()
    with pytest.raises(
        da.BadDescription,
        match=r"normal='bowls' names no constraint row or contact \(there are 'bowl'\)",
    ):
        s.friction(s["x"].dot, 0.2, normal="bowls")


def test_a_file_names_the_row(tmp_path):
    s = bead(G)
    s.save(tmp_path / "bead.toml")
    again = da.load(tmp_path / "bead.toml")
    assert [c.row for c in again.contacts] == ["bowl"]
    start = {"x": 0.3, "y": -0.4}
    assert np.array_equal(
        da.simulate(s, 0.5, start=start)["x"], da.simulate(again, 0.5, start=start)["x"]
    )


def sled(mu, law, *, guided):
    """A sled on a rail that runs against a wall which leans over it."""
    s = da.System("sled", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("sled", 2, P)
    if guided:
        s.contact(P, two_sided=True, friction=mu, law=law, name="rail")
    else:
        s.constrain(y, "height")
        s.friction(x.dot, mu, normal="height", name="rail")
    s.contact(
        P,
        -0.8 * s.N.x + 0.6 * s.N.y,
        through=s.O.offset(s.N.x),
        restitution=0.5,
        law=law,
        name="wall",
    )
    return s


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_an_impact_is_felt_by_friction_through_the_row_that_presses_it(mu, law):
    row, guide = (
        da.simulate(sled(mu, law, guided=g), 1, start={"x.dot": 3.0}, **FINE) for g in (False, True)
    )
    hit, same = (next(e for e in run.events if e.action == "impact") for run in (row, guide))
    assert hit.t == pytest.approx(same.t, abs=1e-12)
    assert hit.impulse == pytest.approx(same.impulse, rel=1e-12)
    # along the rail m Δv = −0.8 Λ + Λ_T; across it the rail takes 0.6 Λ. By Newton's law the sled
    # slips back as it does afterwards; by Poisson's it slips on while Λ/(1 + e) compresses, and
    # back while e Λ/(1 + e) expands
    change = 2 * (hit.after["x.dot"] - hit.before["x.dot"])
    assert hit.after["x.dot"] < 0 < hit.before["x.dot"]
    part = 1.0 if law == "newton" else -(1 - 0.5) / (1 + 0.5)
    assert change + 0.8 * hit.impulse == pytest.approx(part * mu * 0.6 * hit.impulse, rel=1e-11)
    if law == "newton":
        assert hit.after["x.dot"] == pytest.approx(-0.5 * hit.before["x.dot"], rel=1e-12)
    assert row.integrals.relative_drift < 1e-12


def test_multipliers_of_friction_and_of_eliminated_rows_are_said_to_be_elsewhere():
    run = da.simulate(bead(G), 0.1, start={"x": 0.3, "y": -0.4})
    for name, where in (
        ("wall", r"run\['T_wall'\]"),
        ("bowl", r"run\.reactions"),
        ("ring", "no row is called 'ring'"),
    ):
        with pytest.raises(da.DalembertError, match=where):
            run.multipliers[name]


def test_sensitivities_end_where_a_row_presses_friction_in_an_expansion():
    with pytest.warns(da.DalembertWarning, match=r"'wall' at t = .*expansion \(Poisson's law\)"):
        run = da.simulate(
            sled(0.3, "poisson", guided=False), 1, start={"x.dot": 3.0}, sensitivities=["x.dot"]
        )
    slope = run.sensitivity("x", "x.dot")
    assert np.isfinite(slope[0])
    assert np.isnan(slope[-1])
