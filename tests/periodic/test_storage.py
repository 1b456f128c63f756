"""Orbits and families as files: the same numbers come back, and a family goes on from its file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from periodic.systems import duffing, equal_double_pendulum, rimless_wheel, van_der_pol


def _family() -> da.Family:
    orbit = da.periodic(van_der_pol(0.5), {"x": 2.0}, 6.4)
    return da.continuation(orbit, "mu", (0.5, 0.8), step=0.3)


@pytest.mark.parametrize("ending", ["csv", "json", "zarr"])
def test_a_family_comes_back_and_goes_on(tmp_path: Path, ending: str) -> None:
    family, path = _family(), tmp_path / f"family.{ending}"
    family.save(path)
    again = da.open_family(path, van_der_pol(0.5))
    assert np.array_equal(family.values, again.values)
    assert family.periods == pytest.approx(again.periods, abs=1e-11)
    longer = da.continuation(again, over=(0.5, 1.0), step=0.3)
    (orbit,) = longer.at(1.0)
    assert orbit.period == pytest.approx(6.663286859, abs=1e-8)


def test_a_table_has_a_row_for_each_orbit(tmp_path: Path) -> None:
    family, path = _family(), tmp_path / "family.csv"
    family.save(path)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert len(family) == len(rows)
    assert [float(row["period"]) for row in rows] == family.periods.tolist()
    assert [float(row["constant mu"]) for row in rows] == family.values.tolist()
    assert {"mu"} == {row["parameter"] for row in rows}


@pytest.mark.parametrize("ending", ["csv", "json", "zarr"])
def test_an_orbit_comes_back(tmp_path: Path, ending: str) -> None:
    orbit, path = da.periodic(van_der_pol(), {"x": 2.0}, 6.6), tmp_path / f"orbit.{ending}"
    orbit.save(path)
    again = da.open_orbit(path, van_der_pol())
    assert orbit.period == pytest.approx(again.period, abs=1e-12)
    assert orbit.multipliers.real == pytest.approx(again.multipliers.real, abs=1e-10)
    da.continuation(again, "mu", (1.0, 1.1), step=0.5)


@pytest.mark.parametrize("ending", ["csv", "json", "zarr"])
def test_a_gait_comes_back_with_its_events(tmp_path: Path, ending: str) -> None:
    """Names and numbers are in the file; the events are given again, or asked for."""
    system, events = rimless_wheel()
    start = {"theta": -np.pi / 8, "theta.dot": 0.4}
    orbit = da.periodic(system, start, events=events, returns=2)
    orbit.save(tmp_path / f"gait.{ending}")
    again = da.open_orbit(tmp_path / f"gait.{ending}", system, events=events)
    assert orbit.period == pytest.approx(again.period, abs=1e-11)
    with pytest.raises(da.BadValue, match="give events= again"):
        da.open_orbit(tmp_path / f"gait.{ending}", system)


def test_a_reversible_and_a_subharmonic_motion_come_back(tmp_path: Path) -> None:
    """Half a period with a reversal, and two periods of the drive, without options."""
    s = equal_double_pendulum()
    half = da.periodic(s, {}, mode=1, amplitude=0.3)
    half = da.periodic(s, half.start, half.period, reversal=True)
    half.save(tmp_path / "half.csv")
    assert half.period == pytest.approx(da.open_orbit(tmp_path / "half.csv", s).period, abs=1e-10)
    two = da.periodic(duffing(1.0), {"x": 0.5}, subharmonic=2)
    two.save(tmp_path / "two.json")
    again = da.open_orbit(tmp_path / "two.json", duffing(1.0))
    assert two.period == pytest.approx(again.period, rel=1e-14)
    odd = {"x": "-x", "x'": "-x'"}
    whole = da.periodic(van_der_pol(), {"x": 2.0}, 3.3, closing=odd)
    whole.save(tmp_path / "map.json")
    with pytest.raises(da.BadValue, match="give closing= again"):
        da.open_orbit(tmp_path / "map.json", van_der_pol())
    back = da.open_orbit(tmp_path / "map.json", van_der_pol(), closing=odd)
    assert whole.period == pytest.approx(back.period, abs=1e-11)


def test_special_points_come_back_from_a_table(tmp_path: Path) -> None:
    family = da.continuation(da.periodic(duffing(0.8), {"x": 1.0}), "Omega", (0.8, 1.7), step=0.1)
    family.save(tmp_path / "response.csv")
    again = da.open_family(tmp_path / "response.csv", duffing(0.8))
    assert [m.kind for m in family.marks] == [m.kind for m in again.marks]
    assert [m.value for m in family.marks] == [m.value for m in again.marks]
    assert family.stable == again.stable


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "family.json"
    path.write_text(json.dumps({"format": "something"}), encoding="utf-8")
    with pytest.raises(da.BadValue, match="no file of a family"):
        da.open_family(path, van_der_pol())
    path.write_text("{", encoding="utf-8")
    with pytest.raises(da.BadValue, match="cannot be read"):
        da.open_family(path, van_der_pol())
    with pytest.raises(da.BadValue, match="cannot be read"):
        da.open_family(tmp_path / "missing.json", van_der_pol())
    _family().save(path)
    with pytest.raises(da.BadValue, match="not of"):
        da.open_family(path, equal_double_pendulum())
    with pytest.raises(da.BadValue, match="no file of an orbit"):
        da.open_orbit(path, van_der_pol())
    table = tmp_path / "family.csv"
    _family().save(table)
    with pytest.raises(da.BadValue, match=r"use da\.open_family"):
        da.open_orbit(table, van_der_pol())
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(da.BadValue, match="the column 'energy' is missing"):
        da.open_family(table, van_der_pol())


@pytest.mark.slow
def test_pictures(tmp_path: Path) -> None:
    """Each picture is written, and is no empty file."""
    orbit = da.periodic(van_der_pol(), {"x": 2.0}, 6.6)
    run = da.simulate(van_der_pol(), 20.0, start={"x": 1.0})
    pictures = {
        "orbit.png": lambda path: orbit.plot("x", "x.dot", path=path),
        "time.png": lambda path: orbit.plot(path=path),
        "circle.png": lambda path: orbit.plot_multipliers(path=path),
        "family.png": lambda path: _family().plot(path=path),
        "section.png": lambda path: run.section("x").plot("x", "x.dot", path=path),
    }
    for name, draw in pictures.items():
        draw(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000


def test_a_forced_family_goes_on_with_the_period_of_its_drive(tmp_path: Path) -> None:
    """The file has numbers only; the period follows Ω again after it was read."""
    first = da.continuation(da.periodic(duffing(0.8), {"x": 1.0}), "Omega", (0.8, 0.85), step=0.5)
    first.save(tmp_path / "response.json")
    again = da.open_family(tmp_path / "response.json", duffing(0.8))
    longer = da.continuation(again, over=(0.8, 0.9), step=0.5)
    assert longer.periods[-1] == pytest.approx(2 * np.pi / 0.9, rel=1e-12)
