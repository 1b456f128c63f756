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


@pytest.mark.xfail(
    strict=True,
    raises=KeyError,
    reason="fault 10: an entry of M is zero without being the zero node",
)
@pytest.mark.parametrize("options", [{}, {"integrator": "taylor"}, {"stabilize": "none"}])
def test_a_bicycle_with_a_raked_steering_axis_runs(options):
    run = da.simulate(raked_bicycle(), 0.01, **options)
    assert run.finished
    assert run.worst_residual < 1e-9


@pytest.mark.xfail(
    strict=True, raises=KeyError, reason="fault 10: the same elimination is behind ensembles"
)
def test_an_ensemble_with_a_raked_steering_axis_runs():
    assert np.isfinite(da.ensemble(raked_bicycle(), 0.01, over={"steer": [0.0, 0.1]})["x"]).all()


@pytest.mark.slow
@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="fault 14: heyoka does not return on a large system"
)
def test_heyoka_on_the_bicycle_returns_or_says_why():
    pytest.importorskip("heyoka")
    code = (
        "import dalembert as da\nfrom dalembert import gallery\ntry:\n"
        "    da.simulate(gallery.build('whipple-bicycle'), 0.1, "
        "start=dict(gallery.entry('whipple-bicycle').start), integrator='heyoka')\n"
        "except da.DalembertError as problem:\n    print(problem)\n"
    )
    run_limited(code, seconds=60)


@pytest.mark.xfail(
    strict=True,
    raises=AttributeError,
    reason="fault 14: a size that is a plain number breaks the page",
)
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


@pytest.mark.xfail(
    strict=True,
    raises=AttributeError,
    reason="fault 14: a wrong second argument of galerkin is an error of Python",
)
@pytest.mark.parametrize("second", [3, "abc", None])
def test_galerkin_refuses_what_is_no_derivation(second):
    hybrid = da.extended_hamilton(gallery.build("cantilever"))
    with pytest.raises(da.DalembertError, match="galerkin"):
        da.galerkin(hybrid, second)


@pytest.mark.xfail(
    strict=True, raises=AttributeError, reason="near fault 14: a wrong first argument of galerkin"
)
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
@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="fault 14: data are read for ever from an endless file",
)
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


@pytest.mark.xfail(
    strict=True,
    raises=IndexError,
    reason="fault 13: a page with a table, function or sampled input dies",
)
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
@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="near fault 21: a wrong option of da.rests is an error of Python",
)
def test_rests_answers_a_wrong_option(option):
    s = da.System("Brake")
    x = s.coordinate("x")
    s.particle("P", 1, s.O.offset(x * s.N.x, "P"))
    s.friction(x.dot, 0.1, normal=10)
    with pytest.raises(da.DalembertError):
        da.rests(s, **option)
