"""Many runs: every member has the bits of a run alone, whoever its neighbours are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import dalembert as da
from dalembert import gallery
from dalembert.analysis.studies.initial_states import InitialStates

KEEP = [
    "alpha",
    "alpha.dot*beta",
    "max(alpha)",
    "min(beta)",
    "mean(alpha)",
    "time(alpha - 0.1, up)",
    "beta.dot.dot",
]


@pytest.fixture(scope="module")
def pendulum():
    return gallery.build("double-pendulum")


def same(one, other):
    a, b = one._flat, other._flat
    assert list(a.data_vars) == list(b.data_vars)
    for name in a.data_vars:
        assert np.array_equal(
            a[name].values, b[name].values, equal_nan=a[name].dtype.kind == "f"
        ), name


@pytest.fixture(scope="module")
def study(pendulum):
    over = {"alpha": stats.uniform(-3, 6), "beta": stats.norm(0, 1), "m_1": [0.5, 2.0, -1.0]}
    return da.ensemble(pendulum, 2, over=over, n=11, keep=KEEP)


@pytest.mark.parametrize(
    ("lanes", "threads", "chunk"),
    [pytest.param(1, 1, None, marks=pytest.mark.slow), (4, 2, None), (4, 3, 5), (8, 1, 7)],
)
def test_not_a_bit_depends_on_lanes_threads_or_chunks(pendulum, study, lanes, threads, chunk):
    over = {"alpha": stats.uniform(-3, 6), "beta": stats.norm(0, 1), "m_1": [0.5, 2.0, -1.0]}
    same(
        study,
        da.ensemble(
            pendulum, 2, over=over, n=11, keep=KEEP, lanes=lanes, threads=threads, chunk=chunk
        ),
    )


def test_a_member_has_the_bits_of_a_run_alone(pendulum, study):
    for member in (0, 5, 13, 21):
        run, row = study.run(member), study._flat.isel(member=member)
        for name in ("alpha", "alpha.dot*beta", "beta.dot.dot"):
            assert run[name][-1] == row[name].item()
        assert run.solution.steps == row["steps"].item()
        events = da.simulate(
            pendulum,
            2,
            start=study.plan.run_options(member).start,
            values=study.plan.run_options(member).values,
            events=[da.event("alpha - 0.1", direction="up")],
        ).events
        assert (events[0].t if events else np.nan) == pytest.approx(
            row["time(alpha - 0.1, up)"].item(), abs=0.0, nan_ok=True
        )
        fine = run.at(np.linspace(0, 2, 20001))
        assert fine["alpha"].max() == pytest.approx(row["max(alpha)"].item(), abs=1e-7)
        assert fine["beta"].min() == pytest.approx(row["min(beta)"].item(), abs=1e-7)
        assert np.trapezoid(fine["alpha"], fine.t) / 2 == pytest.approx(
            row["mean(alpha)"].item(), abs=1e-7
        )
        assert run.integrals.relative_drift == pytest.approx(row["drift"].item(), abs=1e-14)


def test_a_member_that_cannot_exist_is_a_row_with_its_reason(study):
    assert {"finished": 22, "refused": 11} == study.outcomes
    assert np.isnan(study["max(alpha)"].sel(m_1=-1.0)).all()
    assert "the mass of 'upper rod' is -1" in study.failures[22]
    assert "a mass must be positive" in str(study["reason"].sel(m_1=-1.0).values[0])
    assert "11 refused" in str(study)


def test_the_period_of_a_pendulum_is_the_complete_elliptic_integral():
    # T = 4 √(l/g) K(sin² (θ₀/2)): the downward passage through the vertical comes after a quarter
    # of it
    s = gallery.build("simple-pendulum")
    l, g = (float(s.symbols[name].value) for name in ("l", "g"))
    amplitudes = np.linspace(0.1, 3.0, 12)
    found = da.ensemble(
        s, 4, over={"phi": amplitudes}, keep="time(phi, down)", rtol=1e-11, atol=1e-12, audit=False
    )
    quarter = np.sqrt(l / g) * special.ellipk(np.sin(amplitudes / 2) ** 2)
    assert found["time(phi, down)"].values == pytest.approx(quarter, abs=1e-9)


def test_states_at_given_times_are_those_of_a_run(pendulum):
    found = da.ensemble(pendulum, 3, over={"alpha": [0.5, 2.0, 3.0]}, at=[2.5, 0.0, 3.0, 2.5])
    assert ("alpha_0", "t") == found["beta"].dims
    for member in range(3):
        run = found.run(member)
        assert found["beta"].values[member].tolist() == run["beta"].tolist()


def test_blow_ups_and_singular_starts_stop_alone():
    # x'' = x² has a pole where ẋ² = 2 (x³ − x₀³)/3 runs away; 1/x starts at a singular position
    s = da.System("pole")
    x, k = s.coordinate("x"), s.constant("k", 1)
    s.particle("P", 1, s.O.offset(x * s.N.x, "P", s.N))
    s.force((x**2 + k / x) * s.N.x, s.bodies[0].G)
    over = {"x": [1.0, 0.0, 5.0, 0.5], "k": [0.0, 1.0]}
    found = da.ensemble(s, 3, over=over, audit=False)
    assert "it grows without bound in finite time" in found["reason"].sel(x_0=5.0, k=0.0).item()
    assert "already at the start" in found["reason"].sel(x_0=0.0, k=1.0).item()
    assert "x" in found["reason"].sel(x_0=5.0, k=0.0).item()
    same(found, da.ensemble(s, 3, over=over, audit=False, lanes=1))
    for member, reason in found.failures.items():
        with pytest.raises(da.RunStopped) as alone:
            found.run(member)
        assert alone.value.reason.splitlines()[0] == reason


def test_inputs_are_held_or_scaled():
    s = gallery.build("cart-and-bar")
    held = da.ensemble(s, 1, over={"F": [0.0, 2.0]}, keep="x", audit=False)
    assert da.simulate(s, 1, inputs={"F": 2.0}, audit=False)["x"][-1] == held["x"].values[1]
    scaled = da.ensemble(
        s, 1, over={"F": [0.0, 2.0]}, inputs={"F": "sin(3*t)"}, keep="x", audit=False
    )
    assert (
        da.simulate(s, 1, inputs={"F": "2*sin(3*t)"}, audit=False)["x"][-1] == scaled["x"].values[1]
    )
    assert "amplitude F" in scaled.data.attrs["study over"]


def test_first_order_states_vary_and_are_kept():
    """i' = 1 − i with a rotor that is held by nothing it feels: i = 1 − (1 − i₀) e^(−t)"""
    s = da.System("motor")
    theta, i = s.coordinate("theta"), s.state("i", rate="1 - i")
    B = s.N.rotated(theta, s.N.z, "B")
    s.body("rotor", 1, s.O, B, da.inertia(B, 1, 1, 1))
    s.torque(i * s.N.z, B)
    found = da.ensemble(
        s,
        1,
        over={"i": [0.0, 0.5], "theta": [0.0, 0.3]},
        keep=["i", "theta", "theta.dot.dot"],
        audit=False,
    )
    assert found["i"].values[:, 0] == pytest.approx(1 - np.array([1.0, 0.5]) * np.exp(-1), rel=1e-9)
    run = found.run(3)
    assert [run[name][-1] for name in ("i", "theta", "theta.dot.dot")] == [
        found[name].values[1, 1] for name in ("i", "theta", "theta.dot.dot")
    ]


@pytest.mark.slow
def test_rows_beside_the_equations_run_one_by_one_and_it_is_said():
    entry = gallery.entry("slider-crank")
    s = entry.build()
    name = next(x.name for x in s.symbols.values() if x.kind == "constant")
    value = float(s.symbols[name].value)
    found = da.ensemble(
        s, 0.2, over={name: [value, 1.01 * value]}, start=entry.start, inputs=entry.inputs
    )
    assert found.data.attrs["members run"].startswith(("sequential", "vectorized"))
    run = found.run(1)
    assert [run[kept.name][-1] for kept in found.plan.outputs] == [
        found[kept.name].values[1] for kept in found.plan.outputs
    ]


@pytest.mark.slow
def test_members_on_a_closed_loop_start_in_native_code_with_the_bits_of_runs_alone(monkeypatch):
    """The slider-crank closed by Gauss–Newton; a crank longer than its rod cannot be closed
    where it stands upright.
    """
    asked = []

    def counted(self, *given):
        asked.append(given)
        return find(self, *given)

    find = InitialStates._solve_one
    monkeypatch.setattr(InitialStates, "_solve_one", counted)
    s, over = (
        gallery.build("slider-crank"),
        {"theta": [0.3, 1.0, np.pi / 2], "omega": [3.0, -20.0], "l_1": [0.1, 0.15, 0.9]},
    )
    found = da.ensemble(
        s, 0.05, over=over, inputs={"M": 0}, keep=["phi", "phi.dot", "theta"], at=[0.0, 0.05]
    )
    assert found.data.attrs["members run"].startswith("vectorized")
    failures = found.failures
    # only what native code refuses is asked for again, to be told why
    assert len(asked) == len(failures) > 0
    l_2 = float(s.symbols["l_2"].value)
    for member in range(len(found.plan.grid)):
        o = found.plan.run_options(member)
        if member in failures:
            with pytest.raises(da.DalembertError) as alone:
                found.run(member)
            assert failures[member] == str(alone.value)
            continue
        run = found.run(member)
        row = found._flat.isel(member=member)
        for name in ("phi", "phi.dot", "theta"):
            assert row[name].values.tolist() == run[name].tolist()
        # l₂ sin φ = l₁ sin θ closes the loop
        assert l_2 * np.sin(row["phi"].values[0]) == pytest.approx(
            o.values["l_1"] * np.sin(o.start["theta"]), abs=1e-15
        )


def test_an_event_that_ends_a_run_is_an_outcome(pendulum):
    found = da.ensemble(
        pendulum,
        1,
        over={"alpha": [0.5, -0.5]},
        events=[da.event("alpha - 0.1", direction="down", stop=True)],
        audit=False,
    )
    assert {"finished": 1, "ended": 1} == found.outcomes
    assert found["reason"].values[0].startswith("alpha - 0.1 at t = ")
    assert "sequential (events)" == found.data.attrs["members run"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"over": {}}, "say what varies"),
        ({"over": {"alpah": [1]}}, "did you mean 'alpha'"),
        ({"over": {"alpha": [1]}, "start": {"alpha": 2}}, "also given in start"),
        ({"over": {"alpha": [1]}, "keep": "gamma"}, "gamma"),
        ({"over": {"alpha": [1]}, "keep": ["alpha", "alpha"]}, "twice"),
        ({"over": {"alpha": [1]}, "keep": "max(alpha.dot.dot)"}, "acceleration"),
        ({"over": {"alpha": [1]}, "keep": "time(alpha, sideways)"}, "'up', 'down' or nothing"),
        ({"over": {"alpha": [1]}, "at": [0.5, 9.0]}, "outside the run"),
        ({"over": {"alpha": [1]}, "threads": 0}, "at least 1"),
        ({"over": {"alpha": [1]}, "chunk": 0}, "at least 1"),
        ({"over": {"alpha": [1]}, "lanes": 3}, "choose one of 1, 2, 4, 8"),
    ],
)
def test_what_makes_no_study_is_refused_in_a_sentence(pendulum, arguments, told):
    with pytest.raises(da.DalembertError, match=told):
        da.ensemble(pendulum, 1, **arguments)


def test_what_was_not_kept_is_named(study):
    with pytest.raises(da.BadStudy, match=r"did you mean 'max\(alpha\)'"):
        study["max(alpah)"]
    with pytest.raises(da.BadStudy, match="numbered from 0"):
        study.run(99)


def test_a_picture_without_a_name_overwrites_none(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert study.plot("max(alpha)").path != study.plot("max(alpha)").path
    assert 2 == len(list(tmp_path.iterdir()))


@pytest.mark.slow
def test_pictures(study, tmp_path):
    for name in ("alpha", "max(alpha)"):
        assert study.plot(name, path=str(tmp_path / "a.png")).path
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_trajectories_that_no_memory_holds_are_refused_with_what_to_keep(pendulum, monkeypatch):
    monkeypatch.setattr("dalembert.interface.api.ensemble._free_memory", lambda: 2.0**20)
    with pytest.raises(
        da.BadStudy, match=r"GiB are free: keep max\(…\), mean\(…\) or end\(…\) instead"
    ):
        da.ensemble(pendulum, 1, over={"alpha": np.linspace(0, 1, 1000)}, at=np.linspace(0, 1, 200))
