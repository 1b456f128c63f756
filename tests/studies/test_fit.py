"""da.fit: what was put in comes out, with errors that are right, and what cannot be told apart
is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.studies.identifiability import practical_identifiability
from dalembert.gallery import build

if TYPE_CHECKING:
    from pathlib import Path

TIMES = np.linspace(0.0, 3.0, 61)


def pendulum(**values: float) -> da.System:
    """m l² θ̈ + c θ̇ + m g l sin θ = 0"""
    s = da.System("pendulum")
    m, g, l, c = s.constants(**({"m": 1.0, "g": 9.81, "l": 0.5, "c": 0.02} | values))
    theta = s.coordinate("theta")
    s.particle("bob", m, s.O.offset(-l * s.N.rotated(theta, s.N.z, "B").y))
    s.gravity(-g * s.N.y)
    s.dissipation(c * theta.dot**2 / 2)
    return s


def measured(
    s: da.System, *columns: str, noise: float = 0.0, seed: int = 0, **run: Any
) -> dict[str, Any]:
    made = da.simulate(s, 3.0, at=TIMES, rtol=1e-11, atol=1e-11, audit=False, **run)
    rng = np.random.default_rng(seed)
    return {"t": TIMES, **{c: made[c] + noise * rng.normal(size=len(TIMES)) for c in columns}}


def test_exact_data_give_the_values_back() -> None:
    data = measured(pendulum(), "theta", "l*sin(theta)", start={"theta": 1.0, "theta.dot": 0.3})
    found = da.fit(
        pendulum(),
        data,
        {"g": 9.0, "c": 0.05, "theta": 0.8, "theta.dot": 0.0},
        noise=1e-3,
        rtol=1e-11,
        atol=1e-11,
    )
    assert {"g": 9.81, "c": 0.02, "theta": 1.0, "theta.dot": 0.3} == pytest.approx(
        found.values, rel=1e-7
    )
    assert found.converged
    assert found.chi_square < 1e-9
    assert found.structure.decided
    assert found.structure.groups == found.inseparable.groups == ()
    assert "all are identifiable" in str(found)


def test_standard_errors_are_those_of_a_line() -> None:
    """x = v t with σ: var v = σ²/Σ t²"""
    s = da.System("free")
    (x,) = s.coordinates("x")
    s.particle("P", 1, s.O.offset(x * s.N.x))
    rng = np.random.default_rng(1)
    found = da.fit(
        s, {"t": TIMES, "x": 2 * TIMES + 0.1 * rng.normal(size=len(TIMES))}, ["x.dot"], noise=0.1
    )
    assert found.standard_errors["x.dot"] == pytest.approx(
        0.1 / np.sqrt(np.sum(TIMES**2)), rel=1e-6
    )
    assert [[1.0]] == found.correlations.tolist()


def test_a_value_that_is_nearly_zero_has_an_error_as_others_have() -> None:
    """x = a + v t with a = 10⁻¹³: the covariance is that of a line, whatever a is."""
    s = da.System("free")
    (x,) = s.coordinates("x")
    s.particle("P", 1, s.O.offset(x * s.N.x))
    found = da.fit(s, {"t": TIMES, "x": 2 * TIMES + 1e-13}, {"x": 0.5, "x.dot": 1.0}, noise=0.1)
    design = np.column_stack([np.ones(len(TIMES)), TIMES])
    assert found.covariance == pytest.approx(0.01 * np.linalg.inv(design.T @ design), rel=1e-6)


def test_several_tables_share_constants_and_have_starts_of_their_own() -> None:
    """x_k = a_k + v t: one slope and two intercepts, whose covariance is that of the normal
    equations.
    """
    s = da.System("belt")
    (x,), v = s.coordinates("x"), s.constant("v", 1.5)
    s.particle("P", 1, s.O.offset((x + v * s.t) * s.N.x))
    tables = [{"t": t, "x + v*t": 2 * t + a} for t, a in ((TIMES, 0.3), (TIMES[::4], -1.0))]
    found = da.fit(s, tables, ["v", "x"], start=[{}, {"x": -0.5}], noise=0.1, threads=2)
    assert {"v": 2.0, "x[1]": 0.3, "x[2]": -1.0} == pytest.approx(found.values, abs=1e-9)
    design = np.vstack([[[t, 1.0, 0.0] for t in TIMES], [[t, 0.0, 1.0] for t in TIMES[::4]]])
    assert found.covariance == pytest.approx(0.01 * np.linalg.inv(design.T @ design), rel=1e-6)
    assert 2 == len(found.runs)
    assert -1.0 == pytest.approx(found.runs[1]["x"][0], abs=1e-9)
    assert "77 values in 2 tables, 3 unknowns" in str(found)
    # one start for all tables is another model, which these data do not fit
    shared = da.fit(s, tables, ["v", "x"], noise=0.1)
    assert ("v", "x") == shared.names
    assert shared.chi_square > 10


def test_not_a_bit_depends_on_threads(tmp_path: Path) -> None:
    starts = [{"theta": 1.0}, {"theta": 0.4, "theta.dot": 1.0}, {"theta": 2.5}]
    tables = [
        measured(pendulum(), "theta", noise=0.01, seed=k, start=start)
        for k, start in enumerate(starts)
    ]
    one, two, three = (
        da.fit(pendulum(), tables, ["g", "c", "theta"], start=starts, threads=n) for n in (1, 2, 3)
    )
    assert one.theta.tobytes() == two.theta.tobytes() == three.theta.tobytes()
    assert one.covariance.tobytes() == three.covariance.tobytes()
    alone = da.fit(pendulum(), tables[0], ["g", "c", "theta"], start=starts[0])
    assert one.standard_errors["c"] < alone.standard_errors["c"]
    # the same sensor has one σ in all tables
    assert 1 == len(set(one.noise.values()))
    one.plot(path=tmp_path / "fit.svg")
    assert "theta[3]" in (tmp_path / "fit.svg").read_text()


def test_tables_that_cannot_tell_alone_may_together() -> None:
    """Without damping an angle knows g/l only; a height knows l."""
    s = pendulum(c=0.0)
    tables = [
        measured(s, "theta", start={"theta": 1.0}),
        measured(s, "l*sin(theta)", start={"theta": 1.0}),
    ]
    found = da.fit(s, tables, {"g": 9.5, "l": 0.52}, start={"theta": 1.0}, noise=0.01)
    assert {"g": 9.81, "l": 0.5} == pytest.approx(found.values, rel=1e-6)
    assert () == found.inseparable.groups
    assert not found.structure.decided
    assert "one table alone does not separate g, l" in found.structure.why


def test_columns_have_times_of_their_own_and_gaps(tmp_path: Path) -> None:
    s, start = pendulum(), {"theta": 1.0}
    slow, fast = np.linspace(0.0, 3.0, 7), np.linspace(0.5, 2.0, 40)
    run = da.simulate(s, 3.0, start=start)
    data = {"theta": (slow, run.at(slow)["theta"]), "theta.dot": (fast, run.at(fast)["theta.dot"])}
    assert da.fit(s, data, {"g": 9.0}, start=start, noise=0.01).values["g"] == pytest.approx(
        9.81, rel=1e-6
    )
    with_gaps = [None if k % 3 else x for k, x in enumerate(run.at(slow)["theta"])]
    assert da.fit(s, {"t": slow, "theta": with_gaps}, {"g": 9.0}, start=start).values[
        "g"
    ] == pytest.approx(9.81, rel=1e-6)
    lines = [
        f"{t},{x},{'' if k % 2 else v}"
        for k, (t, x, v) in enumerate(
            zip(slow, *(run.at(slow)[n] for n in s_names(run)), strict=True)
        )
    ]
    (tmp_path / "data.csv").write_text("t,theta [rad],theta.dot\n" + "\n".join(lines))
    assert da.fit(s, tmp_path / "data.csv", {"g": 9.0}, start=start).values["g"] == pytest.approx(
        9.81, rel=1e-6
    )


def s_names(run: Any) -> tuple[str, ...]:
    return tuple(run.names)


def test_what_cannot_be_told_apart_is_named_exactly() -> None:
    """θ̈ = −(g/l) sin θ − c/(m l²) θ̇: of m and c only c/m, of g alone everything; with l
    nothing but θ and its rate.
    """
    data = measured(pendulum(), "theta", noise=0.01, start={"theta": 1.0})
    with pytest.warns(da.DalembertWarning, match="m, c are not separately identifiable"):
        found = da.fit(pendulum(), data, ["m", "g", "c", "theta"])
    assert (("m", "c"),) == found.structure.groups == found.inseparable.groups
    assert np.isinf(found.standard_errors["m"])
    assert found.standard_errors["g"] < 0.02
    with pytest.warns(da.DalembertWarning, match="m, g, l, c are not separately identifiable"):
        found = da.fit(pendulum(), data, ["m", "g", "l", "c", "theta"])
    assert (("m", "g", "l", "c"),) == found.structure.groups == found.inseparable.groups
    # what is measured in metres knows l
    data = measured(pendulum(), "l*sin(theta)", noise=0.001, start={"theta": 1.0})
    with pytest.warns(da.DalembertWarning, match="m, c are not separately identifiable"):
        found = da.fit(pendulum(), data, ["m", "g", "l", "c"], start={"theta": 1.0})
    assert (("m", "c"),) == found.structure.groups == found.inseparable.groups


def test_structure_sees_more_than_data_and_start() -> None:
    """From rest at θ = 0 nothing ever moves: then no data can tell, and the first guess says so."""
    data = {"t": TIMES, "theta": 0 * TIMES}
    with pytest.raises(da.BadFit, match=r"nothing that was measured \(theta\) depends on g"):
        da.fit(pendulum(), data, ["g"])


def test_noise_is_estimated_for_each_column() -> None:
    s = build("double-pendulum")
    made = da.simulate(s, 3.0, start={"alpha": 1.0}, at=TIMES)
    rng = np.random.default_rng(3)
    data = {
        "t": TIMES,
        "alpha": made["alpha"] + 0.01 * rng.normal(size=61),
        "beta.dot": made["beta.dot"] + 0.3 * rng.normal(size=61),
    }
    found = da.fit(s, data, {"m_1": 1.3, "l_2": 0.9}, start={"alpha": 1.0})
    assert found.noise == pytest.approx({"alpha": 0.01, "beta.dot": 0.3}, rel=0.3)
    assert abs(found.values["l_2"] - 1.0) < 4 * found.standard_errors["l_2"]
    assert "noise, estimated" in str(found)


def test_the_plot_shows_residuals(tmp_path: Path) -> None:
    data = measured(pendulum(), "theta", noise=0.01, start={"theta": 1.0})
    da.fit(pendulum(), data, ["g"], start={"theta": 1.0}).plot(path=tmp_path / "fit.svg")
    assert "residuals in units of σ" in (tmp_path / "fit.svg").read_text()


GOOD = {"t": [0.0, 0.1, 0.2], "theta": [1.0, 0.9, 0.7]}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown name": (
        {"unknown": ["gg"]},
        "'gg' is no constant and no start value of 'pendulum'; did you mean 'g'",
    ),
    "no list": ({"unknown": "g"}, "name the unknowns in a list"),
    "no column": ({"data": {"t": [0, 1]}}, "no column besides t"),
    "no expression": (
        {"data": {"t": [0, 1], "thetta": [0, 1]}},
        "column 'thetta' is no expression",
    ),
    "no key": ({"data": {"t": [0, 1], 3: [0, 1]}}, "3 is no expression"),
    "no times": ({"data": {"theta": [0, 1]}}, "no times for theta"),
    "NaN": (
        {"data": {**GOOD, "theta": [1.0, float("nan"), 0.7]}},
        "the value in row 2 of theta is nan",
    ),
    "back": ({"data": {**GOOD, "t": [0.0, 0.2, 0.1]}}, "go back from 0.2 to 0.1 in row 3"),
    "lengths": ({"data": {**GOOD, "t": [0.0, 0.2]}}, "3 values at 2 times"),
    "one time": ({"data": {"t": [0.0], "theta": [1.0]}}, "all values are at t = 0"),
    "too few": (
        {"data": {"t": [0.0, 1.0], "theta": [1.0, None]}, "unknown": ["g", "theta"]},
        "all values are at|unknowns and 1 measured",
    ),
    "before t0": ({"t0": 0.05}, "t = 0 is before the run begins"),
    "noise": ({"noise": {"x": 1.0}}, "no σ for column 'theta'"),
    "negative noise": ({"noise": -1.0}, "must be positive"),
    "bounds": ({"bounds": {"m": (0, 1)}}, "'m' is not among the unknowns"),
    "empty bounds": ({"bounds": {"g": (1, 1)}}, "1 is not below 1"),
    "idle": ({"unknown": ["m"], "values": {"c": 0.0}}, "depends on m at the first guess"),
    "no tables": ({"data": []}, "the list of tables is empty"),
    "one of two tables": (
        {"data": [GOOD, {"t": [0, 1]}]},
        "table 2 of 2: data: there is no column besides t",
    ),
    "starts": (
        {"data": [GOOD, GOOD], "start": [{"theta": 1.0}]},
        "start: 1 in the list for 2 tables",
    ),
    "threads": ({"threads": 0}, "threads = 0: give a whole number, at least 1"),
    "file": ({"data": "/nowhere/data.csv"}, "cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case: str) -> None:
    more, message = BAD[case]
    with pytest.raises(da.DalembertError, match=message):
        da.fit(pendulum(), **({"data": GOOD, "unknown": ["g"], "start": {"theta": 1.0}} | more))


def test_the_null_space_of_many_samples_needs_no_square_matrix() -> None:
    # all of U would take 2·10¹¹ bytes
    samples = np.linspace(0.0, 1.0, 150_000)
    J = np.column_stack((samples, 2.0 * samples, samples**2))
    assert (("a", "b"),) == practical_identifiability(J, ["a", "b", "c"]).groups
    assert (("a", "b", "c"),) == practical_identifiability(np.ones((1, 3)), ["a", "b", "c"]).groups
