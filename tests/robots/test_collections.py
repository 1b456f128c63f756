"""Robots of others: every URDF of example-robot-data and every model of dm_control, where these
packages are installed.
"""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

pytestmark = pytest.mark.slow

PREFIX = next(
    (Path(p) / "cmeel.prefix" for p in sys.path if (Path(p) / "cmeel.prefix").is_dir()),
    Path("nowhere"),
)
URDF = PREFIX / "share" / "example-robot-data" / "robots"
SPEC = find_spec("dm_control")
SUITE = Path(str(SPEC.origin)).parent if SPEC is not None else Path("nowhere")
# it has no links
EMPTY = ("ur3.urdf",)
WITHOUT_JOINTS = ("quadrotor_base.urdf", "iris_simple.urdf", "bluevolta.urdf")
# a joint in it names a link that it does not have
BROKEN = ("falcon.urdf",)
# without joints, or with meshes that are not in the package
UNREADABLE = ("lqr.xml", "drosophila.xml", "build_fruitfly/fruitfly.xml")


def models():
    found = (
        sorted([*(SUITE / "suite").glob("*.xml"), *(SUITE / "locomotion").rglob("*.xml")])
        if SPEC is not None
        else []
    )
    return [
        f
        for f in found
        if not any(part in f.name for part in ("scene", "defaults", "floor", "_base"))
    ]


def quiet(file, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return da.load(file, **options)


@pytest.mark.skipif(not URDF.is_dir(), reason="example-robot-data is not installed")
def test_every_urdf_agrees_with_the_engines_that_take_it():
    differing, count = {}, 0
    for file in sorted(URDF.rglob("*.urdf")):
        if file.name in EMPTY:
            continue
        if file.name in BROKEN:
            with pytest.raises(
                da.BadDescription, match="names a parent or child link that is not in the file"
            ):
                quiet(file)
            continue
        s = quiet(file, base="free" if file.name in WITHOUT_JOINTS else None)
        check = da.crosscheck(s, states=3)
        count += 1
        if not check.agrees:
            differing[file.name] = str(check)
    assert {} == differing
    # later versions of the package have more
    assert 68 <= count


@pytest.mark.skipif(SPEC is None, reason="dm_control is not installed")
def test_every_model_of_dm_control_agrees_with_mujoco():
    differing = {}
    for file in models():
        if str(file).endswith(UNREADABLE):
            with pytest.raises(da.BadDescription):
                quiet(file, root=SUITE)
            continue
        check = da.crosscheck(quiet(file, root=SUITE), states=3)
        if not check.agrees:
            differing[file.name] = str(check)
    assert {} == differing


@pytest.mark.skipif(not URDF.is_dir(), reason="example-robot-data is not installed")
def test_the_arm_of_the_panda_has_43_base_parameters():
    s = quiet(
        URDF / "panda_description" / "urdf" / "panda.urdf",
        locked=["panda_finger_joint1", "panda_finger_joint2"],
    )
    Y, tau = da.regressor(s), da.inverse_dynamics(s)
    assert 43 == Y.base.count
    q, u, a = np.random.default_rng(1).uniform(-1, 1, (3, 20, 7))
    assert tau(q, u, a) == pytest.approx(Y(q, u, a) @ Y.pi + Y.known_loads(q, u, a), abs=1e-11)
