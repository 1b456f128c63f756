"""Recorded tables: exact motions, knots, derivatives, data of every kind, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.numerics.symbol_values import BadValue

T = np.linspace(0.0, 4.0, 41)
W = np.cumsum(np.random.default_rng(3).normal(size=41))


def _cart(mass: float | str = 2) -> da.System:
    s = da.System("cart")
    x = s.coordinate("x")
    s.particle("cart", s.constant("m", mass), s.O.offset(x * s.N.x))
    s.force(s.input("F") * s.N.x, at=s.bodies[0].G)
    if isinstance(mass, str):
        s.constants(k="1 N/m")
        s.potential(s["k"] * x**2 / 2)
    return s


def _double_integral(table: da.Table, t: float) -> float:
    """∫∫ w/2 dt² from rest, interval by interval, by the polynomials."""
    x = v = 0.0
    edges = np.append(table.t[table.t < t], t)
    for a, b, c in zip(edges[:-1], edges[1:], table.coefficients, strict=False):
        h = b - a
        x += v * h + sum(ck * h ** (k + 2) / ((k + 1) * (k + 2)) for k, ck in enumerate(c)) / 2
        v += sum(ck * h ** (k + 1) / (k + 1) for k, ck in enumerate(c)) / 2
    return x


@pytest.mark.parametrize("kind", ["held", "linear", "cubic"])
@pytest.mark.parametrize("integrator", ["native", "taylor", "rosenbrock", "DOP853"])
def test_a_run_integrates_the_table(kind: str, integrator: str) -> None:
    table = da.table(T, W, kind)
    run = da.simulate(_cart(), 3.95, inputs={"F": table}, integrator=integrator)
    assert _double_integral(table, 3.95) == pytest.approx(run["x"][-1], rel=1e-8, abs=1e-8)


def test_steps_end_at_the_knots() -> None:
    run = da.simulate(_cart(), 4, inputs={"F": da.table(T, W, "held")})
    off = np.abs(run.solution.t[:, None] - T[1:-1]).min(axis=0)
    assert off.max() < 1e-12


def test_sensitivities_are_those_of_differences() -> None:
    s = da.System("damped")
    x = s.coordinate("x")
    s.constants(c=0.4)
    s.particle("p", 1, s.O.offset(x * s.N.x))
    s.force((s.input("F") - s["c"] * x.dot) * s.N.x, at=s.bodies[0].G)
    table, h = da.table(T, W), 1e-5
    run = da.simulate(s, 4, inputs={"F": table}, sensitivities=["c"])
    ends = [da.simulate(s, 4, values={"c": 0.4 + d}, inputs={"F": table}) for d in (h, -h)]
    slope = (ends[0]["x"][-1] - ends[1]["x"][-1]) / (2 * h)
    assert slope == pytest.approx(run.sensitivity("x", "c")[-1], rel=1e-6)


def test_an_ensemble_has_the_bits_of_single_runs() -> None:
    s = da.System("damped")
    x = s.coordinate("x")
    s.constants(c=0.4)
    s.particle("p", 1, s.O.offset(x * s.N.x))
    s.force((s.input("F") - s["c"] * x.dot) * s.N.x, at=s.bodies[0].G)
    table, values = da.table(T, W), [0.1, 0.4, 0.9]
    study = da.ensemble(s, 4, over={"c": values}, keep=["x"], inputs={"F": table}, progress=False)
    for c, end in zip(values, np.ravel(study["x"]), strict=True):
        alone = da.simulate(s, 4, values={"c": c}, inputs={"F": table})
        assert alone["x"][-1] == end


def test_a_prescribed_motion_has_the_rates_of_its_spline() -> None:
    s = da.System("shaken")
    z, y = s.specified("z"), s.coordinate("y")
    s.particle("p", 1, s.O.offset(z * s.N.x + y * s.N.y))
    table = da.table(T, np.sin(T), "cubic")
    run = da.simulate(s, 3, start={"y.dot": 1}, inputs={"z": table})
    at = run.at(np.linspace(0.11, 2.9, 20))
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(T, np.sin(T))
    for order, name in enumerate(("z", "z.dot", "z.dot.dot")):
        np.testing.assert_allclose(at[name], spline(at.t, order), atol=1e-11)


def test_a_pickled_run_reads_its_table() -> None:
    run = da.simulate(_cart(), 3, inputs={"F": da.table(T, W)})
    again = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(run["F"], again["F"])


def test_a_million_samples_take_at_most_50_megabytes() -> None:
    t = np.arange(1e6)
    table = da.table(t, np.sin(t), "cubic")
    assert table.t.nbytes + table.values.nbytes + table.segments.nbytes <= 50e6


@pytest.mark.parametrize(
    ("extrapolation", "outside"), [("hold", (2.0, 7.0)), ("continue", (1.0, 9.0)), ("zero", (0, 0))]
)
def test_extrapolation_is_as_stated(extrapolation: str, outside: tuple[float, float]) -> None:
    table = da.table([1, 2, 3], [2, 3, 7], extrapolation=extrapolation)
    assert outside == (table(0.0), table(3.5))
    s = _cart()
    run = da.simulate(s, 3, t0=0.5, inputs={"F": table})
    assert table(3.4) == pytest.approx(run.at([3.4])["F"][0])


def test_sources_of_every_kind(tmp_path: Path) -> None:
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    path = tmp_path / "drive.csv"
    np.savetxt(
        path, np.column_stack([T, W, -W]), delimiter=",", header="t [s],F [N],G [N]", comments=""
    )
    frame = pandas.DataFrame({"t": T, "F": W, "G": -W})
    array = xarray.DataArray(
        np.column_stack([W, -W]), coords={"time": T, "c": ["F", "G"]}, dims=("time", "c")
    )
    for source in (path, frame, {"t": T, "F": W, "G": -W}, array):
        channels = da.tables(source)
        assert ["F", "G"] == list(channels)
        np.testing.assert_allclose(channels["G"](T), -W, rtol=1e-14)
        np.testing.assert_allclose(da.table(source, column="F")(T), W, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("t,F\n0,1\n1,x\n", r"d\.csv, line 3, column 2: 'x' is no number"),
        ("t,F\n0,1\n1,\n2,3\n", r"d\.csv, line 3, column 2: the cell is empty"),
        ("t,F\n0,1\n2,1\n1,3\n", r"d\.csv, line 4, column 1: the times must grow, but 1 follows 2"),
        ("t,F\n0,1\n1,nan\n2,3\n", r"d\.csv, line 3, column 2: nan; leave the line out"),
        ("t,F\n0,1\n1,2,3\n", r"d\.csv, line 3: 3 cells .*; 2 cells are expected"),
        ("t [ms],F\n0,1\n1,2\n", r"d\.csv, line 1, column 1: the times are in 'ms'; give seconds"),
        ("t,F,F\n0,1,2\n1,2,3\n", r"d\.csv, line 1, column 3: a second column is called 'F'"),
        ("t,F\n", r"d\.csv has 0 lines of numbers"),
    ],
)
def test_bad_files_are_refused_with_line_and_column(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text)
    with pytest.raises(BadValue, match=sentence):
        da.table(path)


def test_units_that_contradict_are_refused_and_others_converted(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("t,F [m]\n0,1\n9,2\n")
    with pytest.raises(BadValue, match=r"line 1, column 2: F is in 'm' .*, but .* is needed"):
        da.simulate(_cart("2 kg"), 1, inputs={"F": path.as_posix()})
    path.write_text("t,F [kN]\n0,1\n9,1\n")
    run = da.simulate(_cart("2 kg"), 1, inputs={"F": path.as_posix()})
    assert 1000 * (1 - np.cos(np.sqrt(0.5))) == pytest.approx(run["x"][-1])


def test_a_table_that_does_not_cover_the_run_is_refused() -> None:
    with pytest.raises(BadValue, match=r"F: its table goes from t = 0 to 4, the run from 0 to 5"):
        da.simulate(_cart(), 5, inputs={"F": da.table(T, W)})
    with pytest.raises(BadValue, match="there is no column 'H'; columns are F"):
        da.table({"t": T, "F": W}, column="H")
