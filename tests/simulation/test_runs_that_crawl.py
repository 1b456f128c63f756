"""Runs that do not get on end with a reason; Ctrl-C raises with the run so far; small motions
are told about.
"""

import os
import pickle
import signal
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import DalembertWarning
from dalembert.runtime.ode import failure_diagnosis
from dalembert.runtime.ode.failures import Cause, NoProgress, RunInterrupted
from dalembert.runtime.simulation.diagnosis import explain_failure


def mass(force, **start):
    s = da.System("a mass")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(force(x, s.t) * s.N.x, at=P)
    return s, start


@pytest.fixture(autouse=True)
def _fewer_steps(monkeypatch):
    """What is recognised in 10⁵ steps is recognised in 10⁴."""
    monkeypatch.setattr(failure_diagnosis, "STALL_STEPS", 10_000)
    monkeypatch.setattr(failure_diagnosis, "MIN_PROGRESS", 1e-4)


def test_chattering():
    s, start = mass(lambda x, _: -x - da.sign(x.dot) / 2, x=2.0)
    with pytest.raises(
        NoProgress, match=r"chattering: the rate of x\.dot jumps between -0\.5 and 0\.5.*smooth it"
    ) as stopped:
        da.simulate(s, 20, start=start)
    run = stopped.value.trajectory
    assert 2 * np.pi == pytest.approx(run.t[-1], abs=1e-2)
    # how often it is looked at follows the speed of the machine; to the end it would be millions
    assert len(run) < 400_000


def test_stiffness_and_its_cure():
    s, start = mass(lambda x, t: -(10**9) * x.dot - 10**9 * (x - da.cos(t)), x=1.0)
    with pytest.raises(
        NoProgress,
        match=r"stiffness: something around x\.dot settles 1e\+09 times.*integrator='rosenbrock', "
        r"'Radau'",
    ):
        da.simulate(s, 20, start=start)
    assert (
        20
        == da.simulate(s, 20, start=start, integrator="Radau", audit=False, rtol=1e-4, atol=1e-6).t[
            -1
        ]
    )


def test_a_singular_attitude_is_told_from_the_rest():
    """A body that is turned and slowed until two of its angles turn about one axis."""
    s = da.System("a body that settles")
    P = s.ball("a b c", s.O, "zxz")
    B = P.frame
    s.body("B", 2, P, B, da.inertia(B, 1, 2, 3))
    s.torque(5 * B.z.cross(s.N.z) - 3 * B.w, B)
    with pytest.raises(
        NoProgress,
        match=r"approach to a singular attitude: a and c rotate 'B' about the same axis.*by a "
        r"quaternion",
    ):
        da.simulate(s, 400, start={"b": 1, "a.dot": 0.5, "c.dot": 0.1})


def test_a_run_too_long_for_the_memory(monkeypatch):
    monkeypatch.setattr(failure_diagnosis, "_MOST_BYTES", 10**6)
    s, start = mass(lambda x, _: -x, x=1.0)
    with pytest.raises(
        NoProgress,
        match=r"at this pace the run takes \de\+\d\d steps, more than fit into memory",
    ) as stopped:
        da.simulate(s, 1e7, start=start)
    assert stopped.value.trajectory.t[-1] < 1e7


def test_with_events_too():
    s, start = mass(lambda x, _: -x - da.sign(x.dot) / 2, x=2.0)
    with pytest.raises(NoProgress, match="chattering"):
        da.simulate(s, 20, start=start, events=["x - 100"])


@contextmanager
def ctrl_c_at_the_first_sign_of_life(*_):
    pressed = []

    def show(_t, _steps):
        if not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    yield show


def test_ctrl_c_raises_with_the_run_so_far(monkeypatch):
    monkeypatch.setattr(
        import_module("dalembert.runtime.simulation.progress"),
        "progress_bar",
        ctrl_c_at_the_first_sign_of_life,
    )
    s = gallery.build("double-pendulum")
    with pytest.raises(RunInterrupted, match="interrupted at t = ") as ended:
        da.simulate(s, 1e6, start={"alpha": 2.0}, progress=True)
    run = ended.value.trajectory
    assert not run.finished
    assert 0 < run.t[-1] < 1e6
    assert isinstance(ended.value, KeyboardInterrupt)
    assert run.t[-1] == pickle.loads(pickle.dumps(ended.value)).trajectory.t[-1]


@pytest.mark.parametrize(
    ("drift", "right", "told"), [(0.5, True, True), (0.01, True, False), (0.5, False, False)]
)
def test_an_explosion_that_the_energies_deny_is_the_integrators_error(
    drift, right, told, monkeypatch
):
    run = da.simulate(gallery.build("double-pendulum"), 1, start={"alpha": 2.0})
    failure = da.RunStopped(Cause.NO_PROGRESS, run.solution)
    failure.trajectory = run
    monkeypatch.setitem(
        run.__dict__, "integrals", SimpleNamespace(relative_loss=drift, is_model_consistent=right)
    )
    explain_failure(failure, da.kane(run.system).equations)
    assert told == (
        "this is the integrator's error, not the system's motion: K₂ + 𝒰 + Z has changed by 50%"
        in failure.reason
    )


def two_bodies():
    s = da.System("Two bodies")
    x1, y1, x2, y2 = s.coordinates("x1 y1 x2 y2")
    A, B = s.O.offset(x1 * s.N.x + y1 * s.N.y), s.O.offset(x2 * s.N.x + y2 * s.N.y)
    s.particle("A", 1, A)
    s.particle("B", 1, B)
    s.potential(-1 / da.sqrt((A - B) @ (A - B)))
    return s, {"x1": 1, "x2": -1, "y1.dot": 0.01, "y2.dot": -0.01}


def test_bodies_that_fly_apart_by_the_integrators_error_alone():
    """E = −0.5 keeps them within 2 of one another; the loss is 10⁻⁴ of the scale of the
    encounter, and all that is left of the motion.
    """
    s, start = two_bodies()
    with pytest.warns(
        DalembertWarning,
        match=r"the integrator's error, not.*changed by 100% .*smaller rtol than 0\.001",
    ):
        run = da.simulate(s, 200, start=start, rtol=1e-3, atol=1e-3)
    assert run.integrals.relative_drift < 1e-3
    assert np.abs(run.q).max() > 50
    close = da.simulate(s, 20, start=start, rtol=1e-12, atol=1e-12)
    assert np.abs(close.q).max() < 1.001
    assert close.integrals.relative_loss < 1e-5


def test_an_explosion_of_the_system_itself_is_not_blamed_on_the_integrator():
    s = da.System("Over the barrier")
    x = s.coordinate("x")
    s.particle("m", 1, s.O.offset(x * s.N.x))
    s.potential(-(x**6))
    with pytest.raises(da.RunStopped) as stopped:
        da.simulate(s, 10, start={"x": 4.0}, rtol=1e-3, atol=1e-3)
    assert "integrator" not in stopped.value.reason


def test_a_motion_below_the_absolute_tolerance_is_told_about():
    s, _ = mass(lambda x, _: -x)
    with pytest.warns(
        DalembertWarning,
        match=r"stay below 1\.0e-12, where the absolute tolerance atol = 1e-09 decides.*give "
        r"atol=1e-21",
    ):
        da.simulate(s, 10, start={"x": 1e-12})
    run = da.simulate(s, 10, start={"x": 1e-12}, atol=1e-21)
    assert 1e-12 * np.cos(10) == pytest.approx(run["x"][-1], rel=1e-7)


def test_rest_is_no_small_motion():
    s, _ = mass(lambda x, _: -x)
    assert 0.0 == da.simulate(s, 1).q.max()
