"""Jumps and bends in the state are found: runs against closed forms, where they switch, and
where they cannot.
"""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.runtime.ode import failure_diagnosis
from dalembert.runtime.ode.failures import NoProgress
from dalembert.runtime.simulation.events.root_finding import RootFinder


def mass(force):
    s = da.System("a mass")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(force(x, s.t) * s.N.x, at=P)
    return s


def by_text(force):
    s = da.System("a mass")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(s.input("F") * s.N.x, at=P)
    return s, {"F": force}


RELAY = 4 * math.sqrt(2)


@pytest.mark.parametrize("integrator", ["native", "auto", "rosenbrock"])
def test_a_block_pushed_until_it_has_come_a_metre(integrator):
    """x = t² until t = 1, then 1 + 2 (t − 1)."""
    s, inputs = by_text("2*Heaviside(1 - x)")
    run = da.simulate(s, 3, inputs=inputs, integrator=integrator)
    assert 5.0 == pytest.approx(run["x"][-1], rel=1e-13)
    assert 2.0 == pytest.approx(run["x.dot"][-1], rel=1e-13)
    # a step ends there, and none was tried in vain
    assert np.abs(run.t - 1.0).min() < 1e-14
    assert 0 == run.solution.rejected
    assert run.integrals.relative_loss < 1e-14
    assert np.all(np.diff(run.t) > 0)


@pytest.mark.parametrize("integrator", ["native", "rosenbrock"])
def test_a_relay(integrator):
    """x'' = −sign x from 1 at rest: parabolas of period 4 √2."""
    run = da.simulate(
        mass(lambda x, _: -da.sign(x)), 5 * RELAY, start={"x": 1.0}, integrator=integrator
    )
    assert 1.0 == pytest.approx(run["x"][-1], abs=1e-11)
    assert 0.0 == pytest.approx(run["x.dot"][-1], abs=1e-11)
    for k in range(10):
        assert np.abs(run.t - (2 * k + 1) * math.sqrt(2)).min() < 1e-11
    assert run.integrals.relative_loss < 1e-12


def test_a_ball_on_the_spring_of_a_stop():
    """Flight 2 v/g, contact 2 (π − atan(ω v/g))/ω."""
    g, k, h = 9.81, 1e4, 1.0
    v, omega = math.sqrt(2 * g * h), math.sqrt(k)
    period = 2 * v / g + 2 * (math.pi - math.atan(omega * v / g)) / omega
    s, inputs = by_text(f"-{g} + {k}*Max(0, -x)")
    for rtol, error in ((1e-9, 2e-9), (1e-12, 2e-12)):
        run = da.simulate(s, 3 * period, start={"x": h}, inputs=inputs, rtol=rtol, atol=rtol)
        assert h == pytest.approx(run["x"][-1], abs=error)
        assert 0.0 == pytest.approx(run["x.dot"][-1], abs=error)
        assert run.integrals.relative_loss < error


def test_dry_friction_that_does_not_stick():
    """x'' = −x − sign(x')/2: every half period the amplitude is one less."""
    s = mass(lambda x, _: -x - da.sign(x.dot) / 2)
    run = da.simulate(s, 5 * math.pi, start={"x": 10.25}, rtol=1e-12, atol=1e-12)
    assert -5.25 == pytest.approx(run["x"][-1], abs=1e-11)
    assert len(run) < 200


def test_pieces():
    """Half a period in a field, half a period on a spring."""
    s, inputs = by_text("Piecewise((-1, x > 0), (-4*x, True))")
    run = da.simulate(
        s, 4 * (2 + math.pi / 2), start={"x": 0.5}, inputs=inputs, rtol=1e-12, atol=1e-12
    )
    assert 0.5 == pytest.approx(run["x"][-1], abs=1e-11)


def test_one_inside_another_and_beside_jumps_in_time():
    """The threshold of x rises when the speed does: x'' = 1, 2, 1, 2."""
    run = da.simulate(mass(lambda x, _: 1 + da.step(x - 0.5 - da.step(x.dot - 2))), 3)
    tau = -2 + math.sqrt(4.5)
    v, rest = 2 + tau, 1.5 - tau
    assert 1.5 + v * rest + rest**2 == pytest.approx(run["x"][-1], abs=1e-11)
    run = da.simulate(mass(lambda x, t: 2 * da.step(1 - x) * da.step(t - 0.5)), 3)
    assert 4.0 == pytest.approx(run["x"][-1], abs=1e-12)
    # here the time takes the condition over its jump
    run = da.simulate(mass(lambda x, t: 2 * da.step(1 - x - 10 * da.step(t - 0.5))), 3)
    assert 2.75 == pytest.approx(run["x"][-1], abs=1e-12)


def test_at_rest_where_it_switches():
    """g = ġ = 0 at the start: the rate a moment later decides."""
    run = da.simulate(mass(lambda x, _: 1 + da.step(x)), 2)
    assert 4.0 == pytest.approx(run["x"][-1], abs=1e-12)
    assert 0 == run.solution.rejected


@pytest.mark.parametrize("ulps", [-70, -30, -1, 0, 1, 30, 70])
def test_a_run_that_ends_where_it_switches(ulps):
    end = math.sqrt(2) + ulps * math.ulp(1.0)
    run = da.simulate(mass(lambda x, _: -da.sign(x)), end, start={"x": 1.0})
    assert end == run.t[-1]
    assert -math.sqrt(2) == pytest.approx(run["x.dot"][-1], abs=1e-13)


def test_events_of_the_user_stand_beside_them():
    s = mass(lambda x, _: -da.sign(x))
    events = [da.event("x", name="through"), da.impact("x + 0.5", restitution=1)]
    run = da.simulate(s, 5, start={"x": 1.0}, events=events)
    assert ["through", "x + 0.5", "through"] == [e.name for e in run.events][:3]
    assert math.sqrt(2) == pytest.approx(run.events[0].t, abs=1e-12)
    # back up with the speed it came down with
    assert run.events[2].t - run.events[1].t == pytest.approx(
        run.events[1].t - run.events[0].t, abs=1e-11
    )


def test_with_functions_of_the_user():
    s, relay = mass(lambda x, _: -da.sign(x)), {"x": 1.0}
    alone = da.simulate(s, 3 * RELAY, start=relay)["x"][-1]
    pushed = da.System("a mass")
    x, F = pushed.coordinate("x"), pushed.input("F")
    P = pushed.O.offset(x * pushed.N.x, "P")
    pushed.particle("P", 1, P)
    pushed.force(-da.sign(x - F) * pushed.N.x, at=P)
    held = da.simulate(
        pushed, 3 * RELAY, start=relay, inputs={"F": da.sampled(lambda t: 0.0, every=0.1)}
    )
    assert alone == pytest.approx(held["x"][-1], abs=1e-11)
    # nobody asks it between evaluations: the error control meets the jump
    asked = da.simulate(pushed, 3 * RELAY, start=relay, inputs={"F": lambda t: 0.0})
    assert alone == pytest.approx(asked["x"][-1], abs=1e-5)


@pytest.mark.parametrize(
    "force", [lambda x, _: -x - da.sign(x.dot) / 2, lambda x, _: -2 * da.sign(x) - da.sign(x.dot)]
)
def test_what_slides_is_left_to_the_error_control(monkeypatch, force):
    """Dry friction that sticks, and crossings that accumulate: neither hangs, both are told as
    chattering.
    """
    monkeypatch.setattr(failure_diagnosis, "STALL_STEPS", 10_000)
    monkeypatch.setattr(failure_diagnosis, "MIN_PROGRESS", 1e-4)
    with pytest.raises(NoProgress, match="chattering"):
        da.simulate(mass(force), 20, start={"x": 1.0})


def test_a_missed_side_would_show(monkeypatch):
    """Without the change of side the block is pushed for ever."""
    monkeypatch.setattr(RootFinder, "crossings", lambda *_: [])
    s, inputs = by_text("2*Heaviside(1 - x)")
    assert 9.0 == pytest.approx(da.simulate(s, 3, inputs=inputs)["x"][-1])


def test_members_have_the_bits_of_runs_alone():
    s = da.System("a mass")
    x, k = s.coordinate("x"), s.constant("k", 1)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force((-k * da.sign(x) - da.maximum(0, x)) * s.N.x, at=P)
    found = da.ensemble(s, 7, over={"k": [0.5, 1.0, 3.0]}, start={"x": 1.0}, keep=["x", "x.dot"])
    assert "sequential (jumps in the state)" == found.data.attrs["members run"]
    for member, value in enumerate([0.5, 1.0, 3.0]):
        alone = da.simulate(s, 7, start={"x": 1.0}, values={"k": value})
        assert alone["x"][-1] == found["x"].values[member]
        assert alone["x.dot"][-1] == found["x.dot"].values[member]


def test_being_watched_changes_no_bit():
    s = mass(lambda x, _: -da.sign(x) - abs(x.dot) / 4)
    watched, alone = (da.simulate(s, 9, start={"x": 1.0}, audit=audit) for audit in (True, False))
    assert watched.t.tolist() == alone.t.tolist()
    assert watched.y.tolist() == alone.y.tolist()


def test_systems_without_such_branches_run_as_they_did(monkeypatch):
    monkeypatch.setattr(
        "dalembert.runtime.simulation.piecewise.piecewise_model",
        lambda *_: pytest.fail("no branch in the state"),
    )
    s = mass(lambda x, t: -x + da.step(t - 1) * abs(da.sin(t)))
    assert da.simulate(s, 2, start={"x": 1.0}).finished
    assert da.simulate(gallery.build("double-pendulum"), 0.1).finished
