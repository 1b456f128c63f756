"""Calls that ended in an error of Python, or did not end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from faults.limited import run_limited


def raked_bicycle():
    """Two wheels on a frame whose steering axis is raked, each centre at a given height."""
    s = da.System("w")
    N = s.N
    x, y, z = s.coordinates("x y z")
    B = N.rotations("zxy", *s.coordinates("yaw roll pitch"))[-1]
    steer, br, bf = s.coordinates("steer br bf")
    R = B.rotated(br, B.y)
    H = B.rotated(steer, da.sin(0.3) * B.x + da.cos(0.3) * B.z)
    F = H.rotated(bf, H.y)
    P = s.O.offset(x * N.x + y * N.y + z * N.z)
    Q = P.offset(1.1 * B.x + 0.3 * B.z).offset(-0.08 * H.x - 0.35 * H.z)
    s.body("rear", 2, P, R, da.inertia(B, 0.06, 0.12, 0.06))
    s.body("front", 3, Q, F, da.inertia(H, 0.14, 0.28, 0.14))
    s.constrain(z, "rear")
    s.constrain((Q - s.O) @ N.z, "front")
    return s


@pytest.mark.parametrize("options", [{}, {"stabilize": "none"}, {"stabilize": "baumgarte"}])
def test_a_bicycle_with_a_raked_steering_axis_runs(options):
    run = da.simulate(raked_bicycle(), 0.01, **options)
    assert run.finished
    assert run.worst_residual < 1e-9


def test_an_ensemble_with_a_raked_steering_axis_runs():
    assert np.isfinite(da.ensemble(raked_bicycle(), 0.01, over={"steer": [0.0, 0.1]})["x"]).all()


@pytest.mark.slow
def test_heyoka_on_the_bicycle_returns_or_says_why():
    pytest.importorskip("heyoka")
    code = """
import dalembert as da
from dalembert import gallery
start = dict(gallery.entry("whipple-bicycle").start)
try:
    da.simulate(gallery.build("whipple-bicycle"), 0.1, start=start, integrator="heyoka")
except da.DalembertError as problem:
    print(problem)
"""
    run_limited(code, seconds=60)


def test_heyoka_refuses_more_operations_than_it_compiles_in_a_minute(monkeypatch):
    pytest.importorskip("heyoka")
    from dalembert.runtime.simulation import external_integrators

    monkeypatch.setattr(external_integrators, "_MOST_OPERATIONS", 10)
    with pytest.raises(da.DalembertError, match="at most 10 are accepted"):
        da.simulate(gallery.build("double-pendulum"), 0.1, integrator="heyoka")


@pytest.mark.each_time(2)
@pytest.mark.parametrize(
    ("kind", "sizes"), [("rod", (2,)), ("sphere", (0.2,)), ("disk", (0.3,)), ("cylinder", (0.1, 1))]
)
def test_a_shape_with_plain_numbers_is_drawn(tmp_path, kind, sizes):
    s = da.System("Shape", gravity=9.81)
    pin = s.pin("theta", s.O)
    axis = None if kind == "sphere" else pin.frame.x
    shape = da.Shape(kind, sizes, axis)
    s.body(
        "b",
        1,
        pin.offset(1 * pin.frame.x, "G"),
        pin.frame,
        da.inertia(pin.frame, 0.1, 0.1, 0.1),
        shape=shape,
    )
    assert da.write_report(s, tmp_path / "page.html", duration=0.1).exists()


@pytest.mark.parametrize(
    ("kind", "sizes", "message"),
    [
        ("banana", (1,), "no shape 'banana'; there are rod, disk, sphere, box, cylinder"),
        ("rod", (2, 3), r"the sizes of a rod are \(length,\), got \(2, 3\)"),
        ("rod", 2, r"the sizes of a rod are \(length,\), got 2"),
        ("cylinder", (1,), r"the sizes of a cylinder are \(radius, length\)"),
        ("disk", (-2,), "its radius is -2; a radius must be positive"),
    ],
)
def test_a_wrong_shape_is_refused(kind, sizes, message):
    s = da.System("Shape")
    pin = s.pin("theta", s.O)
    with pytest.raises(da.BadDescription, match=message):
        s.body(
            "b",
            1,
            pin,
            pin.frame,
            da.inertia(pin.frame, 0.1, 0.1, 0.1),
            shape=da.Shape(kind, sizes, pin.frame.x),
        )


@pytest.mark.parametrize("second", [3, "abc", None])
def test_galerkin_refuses_what_is_no_derivation(second):
    hybrid = da.extended_hamilton(gallery.build("cantilever"))
    with pytest.raises(da.DalembertError, match="galerkin"):
        da.galerkin(hybrid, second)


def test_galerkin_refuses_what_is_no_hybrid_system():
    d = da.kane(gallery.build("cantilever"))
    with pytest.raises(da.DalembertError, match="galerkin"):
        da.galerkin(d, d)


ENDLESS = """
import sys
from dalembert.__main__ import main
sys.argv = ["dalembert", "fit", "double-pendulum", "/dev/zero", "--unknown", "l_1"]
try:
    main()
except SystemExit as end:
    print("exit", end.code)
"""


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_data_without_an_end_are_refused():
    code = ENDLESS.replace(
        "import sys\n",
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n",
        1,
    )
    assert "exit 2" in run_limited(code, seconds=3)


def inputs():
    times = np.linspace(0, 1, 5)
    yield "table", da.table(times, np.sin(times))
    yield "function", lambda t: float(np.sin(t))
    yield "function of the state", lambda t, now: -now["theta"] * t
    yield "sampled", da.sampled(lambda t: float(np.sin(t)), every=0.1)


@pytest.mark.each_time(2)
@pytest.mark.parametrize("kind", [k for k, _ in inputs()])
def test_a_page_with_an_input_that_is_no_formula_is_written_or_refused(tmp_path, kind):
    file, message = tmp_path / "page.html", ""
    try:
        da.write_report(
            gallery.build("cart-and-bar"), file, inputs={"F": dict(inputs())[kind]}, duration=1.0
        )
    except da.DalembertError as problem:
        message = str(problem)
    assert file.exists() or "F" in message


@pytest.mark.parametrize("option", [{"start": {"x": 1.0}}, {"guess": {}}])
def test_rests_answers_a_wrong_option(option):
    s = da.System("Brake")
    x = s.coordinate("x")
    s.particle("P", 1, s.O.offset(x * s.N.x, "P"))
    s.friction(x.dot, 0.1, normal=10)
    with pytest.raises(da.DalembertError):
        da.rests(s, **option)


@pytest.mark.parametrize("kind", [k for k, _ in inputs()])
def test_the_columns_of_a_run_with_a_live_input_have_their_names(tmp_path, kind):
    run = da.simulate(gallery.build("cart-and-bar"), 0.5, inputs={"F": dict(inputs())[kind]})
    assert (len(run), len(run.names)) == run.y.shape
    assert np.array_equal(run.y[:, list(run.names).index("theta")], run["theta"])
    run.to_csv(tmp_path / "run.csv")
    head, first = (tmp_path / "run.csv").read_text().splitlines()[:2]
    assert head.count(",") == first.count(",")
