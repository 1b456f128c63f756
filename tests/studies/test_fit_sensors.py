"""Sensors with offset and delay, outliers, priors, and fits to a recorded input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import Unknown

TRUE = {"l": 0.47, "c": 0.03}


def _pendulum() -> da.System:
    s = da.System("pendulum", gravity=9.81)
    s.constants(l=0.5, c=0.02)
    theta = s.coordinate("theta")
    s.particle("bob", 1, s.O.offset(-s["l"] * s.N.rotated(theta, s.N.z, "B").y))
    s.dissipation(s["c"] * theta.dot**2 / 2)
    s.force(s.input("F") * s.N.x, at=s.bodies[0].G)
    return s


def test_offset_delay_and_outliers_are_found() -> None:
    rng, s = np.random.default_rng(0), _pendulum()
    t = np.sort(np.linspace(0.2, 6, 200) + rng.uniform(-0.01, 0.01, 200))
    truth = da.simulate(s, 7, start={"theta": 1.0}, values=TRUE, inputs={"F": 0})
    y = truth.at(t - 0.05)["theta"] + 0.1 + 0.01 * rng.normal(size=len(t))
    y[rng.random(200) < 0.05] += 2
    fit = da.fit(
        s,
        {"t": t, "theta": y},
        ["l", "c", "theta"],
        start={"theta": 0.9},
        inputs={"F": 0},
        offsets=["theta"],
        delays=["theta"],
        t0=0,
        loss="huber",
    )
    known = {**TRUE, "theta": 1.0, "offset of theta": 0.1, "delay of theta": 0.05}
    for name, value in known.items():
        assert abs(fit.values[name] - value) <= 3 * fit.standard_errors[name]
    assert fit.contains(known, 0.99)


def test_a_prior_counts_as_a_measurement() -> None:
    s, t = _pendulum(), np.linspace(0, 3, 60)
    truth = da.simulate(s, 3, start={"theta": 1.0}, values=TRUE, inputs={"F": 0}, at=t)
    data = {"t": t, "theta": truth["theta"] + 0.01 * np.random.default_rng(2).normal(size=60)}
    given = {"start": {"theta": 1.0}, "inputs": {"F": 0}, "noise": 0.01}
    free = da.fit(s, data, ["l", "c"], **given)
    tight = da.fit(s, data, ["l", "c"], priors={"c": (0.05, 1e-6)}, **given)
    assert 0.05 == pytest.approx(tight.values["c"], abs=1e-5)
    assert tight.standard_errors["c"] < 1.1e-6 < free.standard_errors["c"]


def test_a_recorded_input_is_fitted() -> None:
    rng, s, clock = np.random.default_rng(4), _pendulum(), np.linspace(0, 8, 401)
    drive = da.table(clock, np.cumsum(rng.normal(size=401)) / 5)
    t = np.linspace(0, 8, 161)
    truth = da.simulate(s, 8, values=TRUE, inputs={"F": drive}, at=t)
    data = {"t": t, "theta": truth["theta"] + 0.005 * rng.normal(size=161)}
    fit = da.fit(s, data, ["l", "c"], inputs={"F": drive})
    assert fit.distance(TRUE) < 9.21


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"offsets": ["phi"]}, "offsets: 'phi' is no list of columns; columns are theta"),
        ({"priors": {"m": (1, 1)}}, "priors: 'm' is not among the unknowns"),
        ({"priors": {"l": (1, 0)}}, "give a mean and a positive standard deviation"),
        ({"loss": "cauchy"}, "give 'squares' or 'huber'"),
    ],
)
def test_what_is_no_option_is_refused(options: dict, sentence: str) -> None:
    data = {"t": [0.0, 1.0, 2.0], "theta": [1.0, 0.5, 0.2]}
    with pytest.raises(Unknown, match=sentence):
        da.fit(_pendulum(), data, ["l"], inputs={"F": 0}, **options)


FILES = {
    "t,x\n0,1\n2,2\n1,3\n": "line 4, column 1: times go back from 2 to 1",
    "t,x\n0,1\nq,2\n": "line 3, column 1: 'q' is no number",
    "t,x\n0,1\n1,nan\n": "line 3, column 2: nan; leave the cell empty",
    "t,x [kg]\n0,1\n1,2\n": r"line 1, column 2: x is in 'kg' \(\[kg\]\), but \[m\] is needed",
    "t [ms],x\n0,1\n1,2\n": "line 1, column 1: the times are in 'ms'",
    "t,x,x\n0,1,1\n1,2,2\n": "line 1, column 3: a second column is called 'x'",
}


def _cart() -> da.System:
    s = da.System("cart")
    m, x, F = s.constant("m", "2 kg"), s.coordinate("x"), s.input("F", "1 N")
    s.units(x="m")
    body = s.particle("cart", m, s.O.offset(x * s.N.x))
    s.force(F * s.N.x, at=body.G)
    return s


@pytest.mark.parametrize("text", FILES)
def test_a_fault_of_a_file_is_reported_with_its_place(text: str, tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text(text)
    with pytest.raises(da.DalembertError, match=FILES[text]):
        da.fit(_cart(), file, ["m"])


def test_units_in_the_head_of_a_file_are_converted(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("t,x [mm]\n" + "".join(f"{t},{250 * t * t}\n" for t in range(5)))
    assert np.isclose(2.0, da.fit(_cart(), file, {"m": 1.5}).values["m"])
