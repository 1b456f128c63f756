"""No run whose own audit is off ends without a warning, and NaN is never a verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from importlib import resources

import numpy as np
import pytest

import dalembert as da


def pole(angle):
    """cos(angle) ẏ = 0.2."""
    s = da.System("Pole")
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y, "P"))
    s.constrain(da.cos(x if angle == "x" else s.t) * y.dot - 0.2, "row")
    return s


def warned(make):
    """The warnings of a call, and its result or the error that it ended with."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result, stopped = make(), []
        except da.DalembertError as problem:
            result, stopped = None, [str(problem)]
    return [*(str(w.message) for w in seen), *stopped], result


@pytest.mark.parametrize("angle", ["x", "t"])
@pytest.mark.parametrize("options", [{}, {"stabilize": "none"}, {"rtol": 1e-6, "atol": 1e-6}])
def test_a_pole_of_a_row_is_not_crossed_in_silence(angle, options):
    said, _ = warned(lambda: da.simulate(pole(angle), 3.0, start={"x.dot": 1.0}, **options))
    assert said


@pytest.mark.parametrize("angle", ["x", "t"])
def test_the_rank_of_the_rows_is_checked_along_the_run(angle):
    for until in (1.5, 3.0):
        said, _ = warned(
            lambda until=until: da.simulate(pole(angle), until, start={"x.dot": 1.0}, audit=False)
        )
        assert (until > 1.6) == any("'row' is violated" in text for text in said)


def test_a_pole_stops_a_stiff_run():
    said, run = warned(
        lambda: da.simulate(pole("x"), 3.0, start={"x.dot": 1.0}, integrator="rosenbrock")
    )
    assert run is None
    assert "1.57079" in said[-1]


def fast_load(amplitude, damping, w):
    """Particle that glides along y while a fast load shakes it along x."""
    s = da.System("Shaken")
    x, y = s.coordinates("x y")
    A = s.constant("A", amplitude)
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("P", 1, P)
    s.force((A * da.sin(w * s.t) - damping * x.dot) * s.N.x, at=P)
    return s


def test_a_stiff_run_whose_audit_is_off_is_warned_about():
    said, run = warned(
        lambda: da.simulate(
            fast_load(1e3, 1e4, 100.0),
            2.0,
            start={"y.dot": 1.0},
            integrator="rosenbrock",
            rtol=1e-6,
            atol=1e-6,
        )
    )
    assert run.integrals.drift > 300e-6 * run.integrals.largest_energies
    assert any("energy error" in text for text in said)


def test_an_ensemble_names_the_runs_whose_audit_is_off():
    said, many = warned(
        lambda: da.ensemble(
            fast_load(1.0, 0.0, 3e3),
            3.0,
            over={"A": [0.0, 1.0, 3000.0]},
            start={"y.dot": 1.0},
            rtol=1e-4,
            atol=1e-4,
        )
    )
    assert 3 == len(many)
    assert any(text.startswith("1 of 3 runs") and "runs 2;" in text for text in said)


NODE = shutil.which("node")
PAGE = """
const fs = require("fs");
const J = new Function(fs.readFileSync(process.argv[1], "utf8") + "; return Judgement")();
const curve = (...v) => ({ v: Float64Array.from(v) });
const panel = (drift, tolerance) => ({
  data: { n_q: 1, n_u: 1, limits: { small: 1e-6, lost: 0.1, excessive: 300 } },
  result: { steps: { t: [0, 1], states: [1, 0, 0, 1] } },
  named: () => ({ now: tolerance }),
  values: (kind) => ({ drift: curve(0, drift), K2: curve(0, 1), V: curve(0, -1),
    Z: curve(0, 0) })[kind],
});
console.log(JSON.stringify([
  [5e-9, 1e-12], [5e-11, 1e-12], [5e-9, 1e-9], [2e-6, 1e-9], [NaN, 1e-9],
].map(([drift, tolerance]) => J.energy(panel(drift, tolerance)).length)));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_page_warns_about_the_same_energy_error():
    from dalembert.interface.page.simulator.slider_forms import limits

    assets = resources.files("dalembert.interface.page") / "assets" / "judgement.js"
    done = subprocess.run(
        [NODE, "-e", PAGE, str(assets)], capture_output=True, text=True, check=True
    )
    assert [1, 0, 0, 1, 1] == json.loads(done.stdout)
    assert 300 == limits((), ())["excessive"]


def test_a_pole_is_reported_on_the_command_line(tmp_path):
    file = tmp_path / "pole.toml"
    file.write_text(
        'name = "Pole"\ncoordinates = "x y"\npoint.P = { of = "O", offset = "x*N.x + y*N.y" }\n'
        'particle.P = { mass = 1, at = "P" }\n'
        'constrain.row = "cos(x)*y.dot - 0.2"\n[run]\nduration = 3\nstart = { "x.dot" = 1 }\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "dalembert", "simulate", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "t = 0 … 3" in done.stdout or done.returncode
    assert "warning: constraint row 'row' is violated from t = 1.5708 on" in done.stderr
    # no line of a user's program is to blame
    assert "click" not in done.stderr


def force_of_a_distance():
    """F = −1/(x − 1)², x < 1."""
    s = da.System("Pull")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(-1 / (x - 1) ** 2 * s.N.x, at=P)
    return s


def test_the_audit_of_an_inverse_square_is_a_number():
    run = da.simulate(force_of_a_distance(), 0.9)
    assert np.isfinite(run.integrals.E_Z).all()
    assert "not the system's equations" not in str(run)


def test_an_energy_tolerance_is_kept_or_warned_about():
    said, run = warned(
        lambda: da.simulate(
            force_of_a_distance(),
            5.0,
            start={"x.dot": 0.3},
            rtol=1e-4,
            atol=1e-4,
            energy_tolerance=1e-10,
        )
    )
    energy = run["x.dot**2/2"] + 1 / (1 - run["x"])
    assert said or np.abs(energy - energy[0]).max() <= 2e-10


# ---- nearby: other fields that have a potential on one side alone --------------------------------


@pytest.mark.parametrize("force", ["1/(x - 2)**3", "1/(x - 2)", "1/(cos(x) - 2)**2*sin(x)"])
def test_the_audit_is_a_number_below_a_pole(force):
    s = da.System("Field")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(s.expression(force) * s.N.x, at=P)
    run = da.simulate(s, 0.5, start={"x": 0.3})
    assert np.isfinite(run.integrals.E_Z).all()
    assert np.abs(run.integrals.E_Z - run.integrals.E_Z[0]).max() <= 1e-6
    assert "nan" not in str(run)


def test_the_audit_of_a_field_of_a_real_distance_stays_as_it_is():
    s = da.System("Kepler")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("P", 1, P)
    s.force(-(x * s.N.x + y * s.N.y) / (x**2 + y**2) ** 1.5, at=P)
    run = da.simulate(s, 3.0, start={"x": 1.0, "y.dot": 1.1})
    assert all(v.has_potential for v in da.conservative(s))
    assert np.abs(run.integrals.E_Z - run.integrals.E_Z[0]).max() < 1e-7
    assert json.dumps(float(run.integrals.E_Z[-1]))
