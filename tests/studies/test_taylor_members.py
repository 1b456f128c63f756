"""Members by Taylor's method: side by side, and with the bits of runs alone."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

KEEP = [
    "alpha",
    "alpha.dot*beta",
    "max(alpha)",
    "min(beta)",
    "mean(alpha)",
    "time(alpha - 0.1, up)",
    "beta.dot.dot",
]


def compared(s, duration, keep=None, **asked):
    """The study in one lane, the same in others, and every member as a run alone."""
    one, *others = (
        da.ensemble(s, duration, keep=keep, lanes=lanes, threads=threads, **asked)
        for lanes, threads in ((1, 1), (4, 2), (8, 1))
    )
    assert "vectorized" == one.data.attrs["members run"]
    for other in others:
        for name in one._flat.data_vars:
            a, b = one._flat[name].values, other._flat[name].values
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), name
    for member in range(len(one.plan.grid)):
        run, row = one.run(member), one._flat.isel(member=member)
        for kept in one.plan.outputs:
            if kept.functional is None:
                assert (
                    row[kept.name].values.ravel().tolist()
                    == run[kept.name][-row[kept.name].size :].tolist()
                ), kept.name
    return one


@pytest.fixture(scope="module")
def pendulum():
    return gallery.build("double-pendulum")


@pytest.mark.each_time(1)
@pytest.mark.parametrize("rtol", [1e-5, 1e-12])
def test_members_have_the_bits_of_runs_alone(pendulum, rtol):
    angles = np.random.default_rng(3).uniform(-2.5, 2.5, (11, 2))
    found = compared(
        pendulum,
        2,
        KEEP,
        over={("alpha", "beta"): angles},
        rtol=rtol,
        atol=rtol,
        integrator="taylor",
    )
    for member in range(11):
        o = found.plan.run_options(member)
        crossing = da.event("alpha - 0.1", direction="up")
        run = da.simulate(
            pendulum, 2, start=o.start, rtol=rtol, atol=rtol, integrator="taylor", events=[crossing]
        )
        row = found._flat.isel(member=member)
        assert run.solution.steps - len(run.events) <= row["steps"].item() <= run.solution.steps
        assert (run.events[0].t if run.events else np.nan) == pytest.approx(
            row["time(alpha - 0.1, up)"].item(), abs=0.0, nan_ok=True
        )
        fine = run.at(np.linspace(0, 2, 20001))
        assert fine["alpha"].max() == pytest.approx(row["max(alpha)"].item(), abs=1e-5)
        assert np.trapezoid(fine["alpha"], fine.t) / 2 == pytest.approx(
            row["mean(alpha)"].item(), abs=1e-5
        )
        assert found.run(member).integrals.relative_drift == pytest.approx(
            row["drift"].item(), rel=1e-3, abs=1e-14
        )


def test_states_at_given_times_and_from_rest(pendulum):
    """(π/2, 0) at rest, where the last coefficients happen to be small and the first unit of
    time is far from the step.
    """
    over = {"alpha": [np.pi / 2, 1e-3, 0.0, 3.0], "alpha.dot": [0.0, 1e3]}
    compared(
        pendulum, 3, over=over, at=[0.0, 0.7, 1.9, 3.0], integrator="taylor", rtol=1e-11, atol=1e-11
    )


@pytest.mark.each_time(1)
@pytest.mark.parametrize(
    "name",
    [
        "rolling-disk",
        "lagrange-top",
        "cart-and-bar",
        pytest.param("rattleback", marks=pytest.mark.slow),
    ],
)
def test_systems_with_works_rows_and_inputs(name):
    entry = gallery.entry(name)
    s = entry.build()
    constant = next(x for x in s.symbols.values() if x.kind == "constant" and x.value)
    over = {constant.name: float(constant.value) * np.linspace(0.95, 1.05, 5)}
    compared(s, 0.7, over=over, start=entry.start, inputs=entry.inputs, integrator="taylor")


def test_projected_members_stay_on_their_rows():
    s = da.System("pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("P", s.constant("m", 1), s.O.offset(x * s.N.x + y * s.N.y, "P"))
    s.constrain(x**2 + y**2 - 1)
    s.speeds(omega=x * y.dot - y * x.dot)
    compared(s, 3, over={"m": [1.0, 2.0, 3.0]}, start={"x": 1.0, "y": 0.0}, integrator="taylor")


@pytest.mark.each_time(1)
@pytest.mark.parametrize(("rtol", "chosen"), [(1e-3, "native"), (1e-12, "taylor")])
def test_auto_takes_the_method_that_a_run_alone_takes(pendulum, rtol, chosen):
    over = {"alpha": [0.5, 2.0, 3.0]}
    found = compared(pendulum, 2, over=over, integrator="auto", rtol=rtol, atol=rtol)
    same = da.ensemble(pendulum, 2, over=over, integrator=chosen, rtol=rtol, atol=rtol)
    assert same["alpha"].values.tolist() == found["alpha"].values.tolist()


def test_amplitudes_of_inputs_run_one_by_one():
    s = gallery.build("cart-and-bar")
    found = da.ensemble(
        s,
        0.5,
        over={"F": [0.5, 2.0]},
        inputs={"F": "sin(3*t)"},
        keep="x",
        audit=False,
        integrator="taylor",
    )
    assert "sequential (amplitudes)" == found.data.attrs["members run"]
    assert (
        da.simulate(s, 0.5, inputs={"F": "2*sin(3*t)"}, audit=False, integrator="taylor")["x"][-1]
        == found["x"].values[1]
    )


def test_what_has_no_series_is_refused_member_by_member_and_auto_takes_the_other():
    s = da.System("dry friction", gravity=9.81)
    x, mu = s.coordinate("x"), s.constant("mu", 1)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(-mu * da.sign(x.dot) * s.N.x, at=P)
    asked = {"over": {"mu": [1.0, 2.0]}, "start": {"x.dot": 5.0}, "audit": False}
    refused = da.ensemble(s, 1, integrator="taylor", **asked)
    assert {"refused": 2} == refused.outcomes
    assert "leave out integrator='taylor'" in refused.failures[0]
    taken = da.ensemble(s, 1, integrator="auto", **asked)
    assert "sequential (jumps in the state)" == taken.data.attrs["members run"]
    assert taken["x"].values == pytest.approx([4.5, 4.0])


def test_a_stop_is_told_as_for_a_run_alone():
    """x'' = x² runs away in finite time."""
    s = da.System("pole")
    x, k = s.coordinate("x"), s.constant("k", 1)
    s.particle("P", 1, s.O.offset(x * s.N.x, "P", s.N))
    s.force((x**2 + k / x) * s.N.x, s.bodies[0].G)
    asked = {
        "over": {"x": [1.0, 0.0, 5.0], "k": [0.0, 1.0]},
        "audit": False,
        "integrator": "taylor",
    }
    found, other = (da.ensemble(s, 3, lanes=lanes, **asked) for lanes in (8, 1))
    assert found.failures == other.failures
    assert len(found.failures) > 2
    for member, reason in found.failures.items():
        with pytest.raises(da.RunStopped) as alone:
            found.run(member)
        assert alone.value.reason.splitlines()[0] == reason


@pytest.mark.slow
def test_a_member_that_is_stiff_is_made_anew_by_auto():
    """A spring of 1e12 N/m with a damper: 10⁵ steps bring it nowhere."""
    s = da.System("stiff")
    x, k = s.coordinate("x"), s.constant("k", 1)
    s.particle("P", 1, s.O.offset(x * s.N.x, "P", s.N))
    s.force((-k * x - k * x.dot) * s.N.x, s.bodies[0].G)
    with pytest.warns(da.DalembertWarning, match="stiff"):
        found = da.ensemble(
            s, 10, over={"k": [1.0, 1e12]}, start={"x": 1.0}, integrator="auto", audit=False
        )
    assert {"finished": 2} == found.outcomes
    with pytest.warns(da.DalembertWarning, match="stiff"):
        assert found.run(1)["x"][-1] == found["x"].values[1]
