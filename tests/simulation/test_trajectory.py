"""Motions with names: access, resampling, energies, residuals, files, plots, pickles."""

from __future__ import annotations

import csv
import math
import pickle
import subprocess
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from callback import integrate_function
from dalembert.errors import BadExpression, MissingPackage, Unwritable
from dalembert.foundation.atomic_write import slug
from dalembert.gallery import entry
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.failures import OutsideRun
from dalembert.runtime.ode.solution import Outcome
from dalembert.runtime.simulation.summary import format_duration
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import run_values

PNG = b"\x89PNG\r\n"


class Pendulum:
    """u̇ = −(g/L) sin θ, which can be pickled."""

    def __call__(self, y, t, /):
        return -9.81 / 2.0 * np.sin(y[:, :1])


def simple_pendulum() -> da.System:
    s = da.System("Simple pendulum")
    theta = s.coordinate("theta_1")
    m, g, L = s.constants(m=3, g=9.81, L=2)
    B = s.N.rotated(theta, s.N.z, "B")
    s.particle("bob", m, s.O.offset(-L * B.y, "P", B))
    s.gravity(-g * s.N.y)
    return s


def trajectory(
    system: da.System, rates, given, end: float, *, inputs=None, accelerations=None, **options
) -> Trajectory:
    chosen = run_values(da.kinematics(system), {}, inputs or {})
    start = solve_initial_conditions(chosen.kin, given, chosen.symbol_values_at(0.0))
    solution = integrate_function(
        rates, [*start.q, *start.u], 0.0, end, rtol=1e-10, atol=1e-10, **options
    )
    return Trajectory(
        chosen, start, solution, t_end=end, wall_time=0.00025, accelerations=accelerations
    )


@pytest.fixture(scope="module")
def system() -> da.System:
    return simple_pendulum()


@pytest.fixture(scope="module")
def run(system) -> Trajectory:
    return trajectory(
        system,
        lambda _t, y: [y[1], -9.81 / 2.0 * math.sin(y[0])],
        {"theta_1": 1.0},
        5.0,
        accelerations=Pendulum(),
    )


@pytest.fixture(scope="module")
def disk() -> Trajectory:
    """A run of the rolling disk by the compiled route."""
    e = entry("rolling-disk")
    return da.simulate(e.build(), 3.0, start=e.start)


# ---- access --------------------------------------------------------------------------------------


def test_states_by_name_and_by_symbol(system, run) -> None:
    (theta,) = system.q
    assert np.array_equal(run.solution.y[:, 0], run["theta_1"])
    assert np.array_equal(run["theta_1"], run[theta])
    assert np.array_equal(run.solution.y[:, 1], run["theta_1.dot"])
    assert np.array_equal(run["theta_1'"], run[theta.dot])
    assert np.array_equal(run.solution.t, run["t"])
    assert (len(run), 1) == run.q.shape == run.u.shape == run.qdot.shape
    assert len(run.t) == len(run)
    assert ("theta_1", "theta_1.dot") == run.names


def test_any_expression_along_the_motion(system, run) -> None:
    theta = run["theta_1"]
    assert 3 * 9.81 * 2 * np.cos(theta) == pytest.approx(run["m*g*L*cos(theta_1)"], rel=1e-14)
    (q,) = system.q
    assert np.cos(theta) * run["theta_1.dot"] == pytest.approx(run[da.sin(q).dot], rel=1e-14)
    assert np.full(len(run), 6.0) == pytest.approx(run["m*L"])
    assert np.full(len(run), 2.5) == pytest.approx(run["2.5"])


def test_expressions_made_after_the_run(system, run) -> None:
    (q,) = system.q
    late = system.N.rotated(2 * q + 1, system.N.z).x
    theta = run["theta_1"]
    assert np.column_stack(
        [np.cos(2 * theta + 1), np.sin(2 * theta + 1), 0 * theta]
    ) == pytest.approx(run[late], abs=1e-14)


def test_vectors_along_the_inertial_axes(system, run) -> None:
    P = next(b for b in system.bodies if b.name == "bob").G
    theta, rate = run["theta_1"], run["theta_1.dot"]
    assert 2 * np.column_stack([np.sin(theta), -np.cos(theta), 0 * theta]) == pytest.approx(
        run[P - system.O], abs=1e-14
    )
    v = 2 * np.column_stack([rate * np.cos(theta), rate * np.sin(theta), 0 * theta])
    assert v == pytest.approx(run[P.v], abs=1e-13)
    assert (len(run), 3) == run[P.v].shape


def test_accelerations(system, run) -> None:
    expected = -9.81 / 2 * np.sin(run["theta_1"])
    assert expected == pytest.approx(run["theta_1.dot.dot"], rel=1e-14)
    assert 2 * expected == pytest.approx(run[2 * system.q[0].dot.dot], rel=1e-14)


def test_accelerations_must_be_known(run) -> None:
    without = Trajectory(run.values, run.start, run.solution)
    with pytest.raises(BadExpression, match="made without the equations of motion"):
        without["theta_1''"]


def test_rates_and_accelerations_that_follow_from_the_speeds(disk) -> None:
    phi, psidot, phidot = disk["phi"], disk["psi.dot"], disk["phi.dot"]
    assert -0.5 * np.cos(phi) * psidot == pytest.approx(disk["x.dot"], rel=1e-14)
    xddot = 0.5 * (np.sin(phi) * phidot * psidot - np.cos(phi) * disk["psi.dot.dot"])
    assert xddot == pytest.approx(disk["x.dot.dot"], abs=1e-12)
    assert np.array_equal(disk.qdot[:, 0], disk["x.dot"])


def test_dependent_and_declared_speeds() -> None:
    e = entry("moving-knife-edge")
    run = da.simulate(e.build(), 2.0, start=e.start)
    t, theta, X = run.t, run["theta"], run["X"]
    assert np.sin(2 * t) / 5 == pytest.approx(run["w"], abs=1e-15)
    assert np.cos(2 * t) * 2 / 5 == pytest.approx(run["w.dot"], abs=1e-15)
    assert run.u[:, 1] == pytest.approx((1 + t / 10) * run["theta.dot"] + X / 10, abs=1e-13)
    assert run["u2.dot"] == pytest.approx(
        run["(1 + t/10)*theta.dot.dot + theta.dot/10 + X.dot/10"], abs=1e-12
    )
    assert run["-X.dot*sin(theta) + Y.dot*cos(theta) - L*theta.dot - w - X/4"] == pytest.approx(
        0 * theta, abs=1e-13
    )


def test_what_is_returned_does_not_lead_back(run) -> None:
    before = run["theta_1"]
    run["theta_1"][:] = 0.0
    assert np.array_equal(before, run["theta_1"])
    for kept in (run.t, run.q, run.u, run.qdot, run.kinetic_energy):
        with pytest.raises(ValueError, match="read-only"):
            kept[:] = 0.0


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("theta", "'theta' cannot be read.*did you mean 'theta_1'"),
        (3, "expected a name"),
        ("theta_1 +", "cannot be read from this run"),
    ],
)
def test_an_unknown_key_is_refused(run, key, message) -> None:
    with pytest.raises(BadExpression, match=message):
        run[key]


def test_a_symbol_of_another_system_is_refused_with_a_way_out(run) -> None:
    with pytest.raises(BadExpression, match=r"different systems.*run\['theta_1.dot'\]"):
        run[simple_pendulum().q[0].dot]


def test_a_symbol_without_value_is_named(run) -> None:
    system = simple_pendulum()
    other = trajectory(system, lambda _t, y: [y[1], 0 * y[0]], {}, 0.1)
    c = system.constant("c")
    with pytest.raises(MissingValue, match="no value for c"):
        other[c * system.q[0]]


# ---- other times ---------------------------------------------------------------------------------


def test_the_same_motion_at_other_times(run) -> None:
    times = np.linspace(0.0, 5.0, 23)
    other = run.at(times)
    assert isinstance(other, Trajectory)
    assert 23 == len(other)
    assert np.array_equal(times, other.t)
    assert np.array_equal(run.solution.at(times)[:, 0], other["theta_1"])
    assert np.full(23, run.energy[0]) == pytest.approx(other.energy, rel=1e-8)
    assert 1 == len(run.at(2.0))
    assert np.array_equal(run.at(2.0).q, other.at(2.0).q)
    assert "shown at 23 times" in str(other)


@pytest.mark.parametrize("times", [[-0.1], [5.1], [math.nan], [[1.0, 2.0]]])
def test_times_without_motion_are_refused(run, times) -> None:
    with pytest.raises(OutsideRun):
        run.at(times)


def test_no_times_at_all(run) -> None:
    empty = run.at([])
    assert 0 == len(empty)
    assert 0.0 == empty.energy_drift == empty.worst_residual
    assert str(empty)


def test_a_long_motion_is_evaluated_piece_by_piece(run, monkeypatch) -> None:
    many = run.at(np.linspace(0.0, 5.0, 1001))
    whole = many.energy
    monkeypatch.setattr("dalembert.runtime.states.evaluator._MOST_NUMBERS", 1)
    assert np.array_equal(whole, run.at(np.linspace(0.0, 5.0, 1001)).energy)


# ---- energies and residuals ----------------------------------------------------------------------


def test_energies(run) -> None:
    theta, rate = run["theta_1"], run["theta_1.dot"]
    assert 0.5 * 3 * 4 * rate**2 == pytest.approx(run.kinetic_energy, rel=1e-13)
    assert -3 * 9.81 * 2 * np.cos(theta) == pytest.approx(run.potential_energy, rel=1e-13)
    assert run.conserves_energy
    assert run.energy_drift < 1e-8
    assert (
        np.max(np.abs(run.energy - run.energy[0])) / np.max(run.kinetic_energy) == run.energy_drift
    )


def test_energy_that_need_not_be_conserved() -> None:
    e = entry("moving-knife-edge")
    run = da.simulate(e.build(), 1.0, start=e.start)
    assert not run.conserves_energy
    assert "loads or moving constraints do work" in str(run)


def test_loads_that_are_zero_conserve_energy() -> None:
    s = da.System("fall", gravity=9.81)
    y, F, c = s.coordinate("y"), s.input("F"), s.constant("c", 0)
    P = s.O.offset(y * s.N.y)
    s.particle("p", 1, P)
    s.force(F * s.N.y, at=P)
    s.dissipation(c * y.dot**2 / 2)
    runs = [
        da.simulate(s, 0.1, inputs={F: force}, values={c: damping})
        for force, damping in ((0, 0), ("0", 0), (1, 0), (0, 1))
    ]
    assert [run.conserves_energy for run in runs] == [True, True, False, False]
    assert "energy: drift" in str(runs[0])


def test_a_system_at_rest_has_no_drift(system) -> None:
    rest = trajectory(system, lambda _t, y: 0 * y, {}, 1.0)
    assert 0.0 == rest.energy_drift


def test_residuals_at_every_level(disk) -> None:
    assert {"rolling of disk along x", "rolling of disk along y"} == set(disk.residuals)
    assert disk.worst_residual <= 1e-14
    assert disk.conserves_energy
    assert disk.energy_drift < 1e-7


def test_residuals_of_holonomic_rows_and_norms() -> None:
    s = da.System("Bob and top", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    B = s.N.quaternion(*s.coordinates("e0 e1 e2 e3"), name="B")
    s.body("top", 1, s.O, B, da.inertia(B, 1, 2, 3))
    kin = da.kinematics(s)
    rates = Rates(kin)
    run = trajectory(s, rates, {"x": 0.6, "y": -0.8, "omega_Bx": 1.0}, 0.5)
    # every coordinate moved with constant speeds u, so that the rows hold as exactly as the
    # integrator is
    assert {
        "rod",
        "rod, rate",
        "norm of the quaternion of B",
        "norm of the quaternion of B, rate",
    } == set(run.residuals)
    assert run["x**2 + y**2 - 1"] == pytest.approx(run.residuals["rod"], abs=1e-16)
    assert run.worst_residual <= 1e-9
    assert "largest violation" in str(run)


class Rates:
    """q̇ = W u + X with u̇ = 0."""

    def __init__(self, kin) -> None:
        from dalembert.runtime.states.evaluator import Evaluator

        self.evaluator, self.kin = Evaluator(kin, {}), kin
        self.nodes = [self.evaluator.in_state(x) for x in kin.qdot]

    def __call__(self, _t, y):
        state = dict(zip((*self.kin.q, *self.kin.u), y, strict=True))
        return [*self.evaluator.values_at(self.nodes, state), *np.zeros(self.kin.n_u)]


# ---- what it says --------------------------------------------------------------------------------


def test_the_summary_tells_the_run(run) -> None:
    text = str(run)
    assert "Simple pendulum: t = 0 … 5" == text.splitlines()[0]
    assert (
        f"{run.solution.steps} steps, {run.solution.rejected} rejected, {run.solution.calls} "
        f"evaluations, 250 µs" in text
    )
    assert "  theta_1      1  given" in text
    assert "energy: drift" in text
    assert repr(run) == text


def test_a_run_that_did_not_finish_says_so(run) -> None:
    part = replace(run.solution, outcome=Outcome.INTERRUPTED, message="interrupted at t = 5")
    broken = Trajectory(run.values, run.start, part, t_end=9.0)
    assert (
        "Simple pendulum: t = 0 … 5 of 9, NOT FINISHED: interrupted (interrupted at t = 5)"
        == str(broken).splitlines()[0]
    )
    assert not broken.finished
    assert run.finished
    assert 5.0 == broken.at(5.0).t[0]


def test_a_long_start_is_counted_in_the_summary() -> None:
    from dalembert.gallery.spatial_chain import build

    run = da.simulate(build(13), 0.01, start={"q_1": 0.5})
    assert "start at t = 0: 1 given, 25 zero; print(run.start) lists them" in str(run)


@pytest.mark.parametrize(
    ("seconds", "text"), [(12.345, "12.3 s"), (0.0123, "12.3 ms"), (0.00024, "240 µs")]
)
def test_durations(seconds, text) -> None:
    assert text == format_duration(seconds)


# ---- files and other libraries -------------------------------------------------------------------


def test_csv_gives_the_same_numbers_back(run, tmp_path) -> None:
    path = tmp_path / "out.csv"
    run.to_csv(path)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert ["t", "theta_1", "theta_1.dot"] == header
    assert np.array_equal(np.column_stack([run.t, run.q, run.u]), np.array(rows, dtype=float))
    assert ["out.csv"] == [p.name for p in tmp_path.iterdir()]
    run.at([1.0]).to_csv(str(path))
    assert 2 == len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("name", ["missing/out.csv", ".", "file/out.csv"])
def test_a_path_that_cannot_be_written_is_an_error_and_the_run_is_kept(run, tmp_path, name) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(Unwritable, match=r"cannot write .*; the run is kept"):
        run.to_csv(tmp_path / name)
    assert "kept" == (tmp_path / "file").read_text()
    assert len(run)


def test_a_failure_in_the_middle_leaves_the_old_file(run, tmp_path, monkeypatch) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savetxt", full)
    with pytest.raises(Unwritable, match="No space left"):
        run.to_csv(path)
    assert "old" == path.read_text()
    assert ["out.csv"] == [p.name for p in tmp_path.iterdir()]


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("xarray", "to_xarray")])
def test_a_missing_package_is_named(run, monkeypatch, package, method) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"pip install {package}"):
        getattr(run, method)()


def test_pandas_and_xarray_get_the_columns(run, monkeypatch) -> None:
    pandas, xarray = ModuleType("pandas"), ModuleType("xarray")
    pandas.Index = lambda values, name: (name, list(values))
    pandas.DataFrame = lambda columns, index: SimpleNamespace(columns=columns, index=index)
    xarray.Dataset = lambda variables, coords, attrs: SimpleNamespace(
        variables=variables, coords=coords, attrs=attrs
    )
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    monkeypatch.setitem(sys.modules, "xarray", xarray)
    frame, dataset = run.to_pandas(), run.to_xarray()
    assert ("t", run.t.tolist()) == frame.index
    assert np.array_equal(run["theta_1.dot"], frame.columns["theta_1.dot"])
    assert "t" == dataset.variables["theta_1"][0]
    assert np.array_equal(run["theta_1"], dataset.variables["theta_1"][1])
    assert {"system": "Simple pendulum"} == dataset.attrs


def test_pandas_itself(run) -> None:
    pandas = pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert np.array_equal(run["theta_1"], frame["theta_1"].to_numpy())


def test_xarray_itself(run) -> None:
    pytest.importorskip("xarray")
    assert np.array_equal(run["theta_1"], run.to_xarray()["theta_1"].to_numpy())


# ---- pickles -------------------------------------------------------------------------------------


def test_pickled_and_restored(run, disk) -> None:
    for first in (run, disk):
        assert first.energy_drift >= 0
        again = pickle.loads(pickle.dumps(first))
        assert str(first) == str(again)
        assert np.array_equal(first.q, again.q)
        assert np.array_equal(first.energy, again.energy)
        u = again.names[-1]
        assert np.array_equal(first[f"{u}.dot"], again[f"{u}.dot"])
        assert np.array_equal(first.at([1.0]).u, again.at([1.0]).u)
        assert np.array_equal(again.q[:, 0], again[again.system.q[0]])


# ---- plots ---------------------------------------------------------------------------------------


def test_a_plot_is_saved_and_its_name_printed(run, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    made = run.plot()
    assert "saved simple-pendulum.svg\n" == capsys.readouterr().out
    assert "simple-pendulum.svg" == made.path
    assert "Plot(simple-pendulum.svg)" == repr(made)
    assert made._repr_svg_() == (tmp_path / "simple-pendulum.svg").read_text(encoding="utf-8")
    assert made._repr_svg_().startswith("<svg")
    assert made._repr_png_() is None


def test_a_plot_of_what_was_asked_for_at_a_given_path(disk, tmp_path, capsys) -> None:
    G = disk.system.bodies[0].G
    what = ("theta", ("x", "y"), disk.system.q[3].dot, "phi.dot*sin(theta)", G.v)
    figure = disk.plot(*what, path=tmp_path / "disk.png").figure
    assert "" == capsys.readouterr().out
    assert (tmp_path / "disk.png").read_bytes().startswith(PNG)
    energy, *panels = figure.axes
    assert ["θ", "", "θ̇", "phi.dot*sin(theta)", ""] == [a.get_title(loc="left") for a in panels]
    assert [1, 2, 1, 1, 3] == [len(a.lines) for a in panels]
    assert ["x", "y"] == [t.get_text() for t in panels[1].get_legend().get_texts()]
    assert energy.get_title(loc="left").startswith("energy drift")
    assert len(panels[0].lines[0].get_xdata()) >= 1000


def test_the_energies_are_drawn_where_they_change(tmp_path) -> None:
    e = entry("moving-knife-edge")
    figure = da.simulate(e.build(), 1.0, start=e.start).plot(path=tmp_path / "edge.svg").figure
    assert ["T", "V", "T + V"] == [t.get_text() for t in figure.axes[0].get_legend().get_texts()]


def test_a_plot_says_that_the_run_did_not_finish(run, tmp_path) -> None:
    broken = Trajectory(
        run.values, run.start, replace(run.solution, outcome=Outcome.STOPPED), t_end=9.0
    )
    texts = [t.get_text() for t in broken.plot(path=tmp_path / "x.png").figure.texts]
    assert any("STOPPED at t = 5" in t for t in texts)


def test_in_a_notebook_the_plot_is_returned(run, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = ModuleType("IPython")
    notebook.get_ipython = lambda: SimpleNamespace(kernel=object())
    notebook.version_info = (9, 0, 0)  # matplotlib asks
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    assert run.plot().path is None
    assert "" == capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_plot_that_cannot_be_written(run, tmp_path) -> None:
    with pytest.raises(Unwritable, match="the run is kept"):
        run.plot(path=tmp_path / "missing" / "plot.png")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Double pendulum", "double-pendulum"),
        ("Pendulum of 3 links, absolute angles", "pendulum-of-3-links-absolute-angles"),
    ],
)
def test_files_are_named_after_the_system(title, name) -> None:
    assert name == slug(title)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    program = (
        "import sys, dalembert.runtime.simulation.trajectory; print([m for m in "
        "('matplotlib', 'pandas', 'xarray', 'scipy') if m in sys.modules])"
    )
    assert (
        "[]"
        == subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, text=True
        ).stdout.strip()
    )


def test_a_long_run_at_few_times_stores_few_states() -> None:
    s, times = simple_pendulum(), [0.0, 1.25, 7000.0, 15000.0]
    run = da.simulate(s, 15000.0, start={"theta_1": 1.0}, at=times, rtol=1e-10)
    whole = da.simulate(s, 15000.0, start={"theta_1": 1.0}, rtol=1e-10)
    assert np.array_equal(run.q, whole.at(times).q)
    assert np.array_equal(run.u, whole.at(times).u)
    assert np.array_equal(run.integrals.E_Z, whole.at(times).integrals.E_Z)
    assert run.solution.steps == whole.solution.steps > 100_000
    assert len(run.solution.t) < 20
    assert "shown at 4 times" in str(run)


def test_events_and_few_times_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dalembert.runtime.ode.solution.MAX_STORED_BYTES", 2**17)
    s, kick = (
        simple_pendulum(),
        [
            da.event("theta_1 - 0.5", reset={"theta_1.dot": "0.999*theta_1.dot"}, name="kick"),
            da.event("theta_1"),
        ],
    )
    whole = da.simulate(s, 300.0, start={"theta_1": 1.0}, events=kick)
    times = [0.5, whole.events[40].t, 250.0]
    run = da.simulate(s, 300.0, start={"theta_1": 1.0}, events=kick, at=times)
    assert np.array_equal(run.q, whole.at(times).q)
    assert np.array_equal(run.u, whole.at(times).u)
    assert run.events == whole.events
    assert len(run.solution.t) < run.solution.steps == whole.solution.steps
