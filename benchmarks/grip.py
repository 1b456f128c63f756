"""A capsule of 45 g between two pads: how far it moves, and how fast it creeps in MuJoCo."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from results import Report

import dalembert as da

_MASS, _MU, _RADIUS, _PAD = 0.045, 0.7, 0.01, 0.3
_FORCES: Final = (12.0, 20.0, 40.0, 60.0)
_MOST: Final = 1e-12
# of the runs: the limit above is a position
_TOLERANCE: Final = 1e-12

_MUJOCO: Final = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <default><geom friction="{mu} 0.005 0.0001"/></default>
  <worldbody>
    <body pos="{left} 0 0"><joint type="slide" axis="1 0 0"/>
      <geom type="box" size="0.01 0.03 0.03" mass="{pad}"/></body>
    <body pos="{right} 0 0"><joint type="slide" axis="1 0 0"/>
      <geom type="box" size="0.01 0.03 0.03" mass="{pad}"/></body>
    <body><freejoint/><geom type="capsule" size="{r} 0.01" mass="{m}"/></body>
  </worldbody>
</mujoco>
"""


def gripped_capsule(force: float, points: int) -> da.System:
    """The capsule, free in space, touches each pad at one point or two of its side; the pads are
    pressed by a force.
    """
    s = da.System("Grip", gravity=9.81, up="z")
    at = s.free("x y z a b c")
    B = at.frame
    body = s.cylinder("capsule", at, B, _MASS, _RADIUS, 4 * _RADIUS, B.z)
    left, right = s.coordinates("left right")
    for sign, name, x in ((1, "left", left), (-1, "right", right)):
        pad = s.particle(f"{name} pad", _PAD, s.O.offset(x * s.N.x, name))
        s.force(sign * force * s.N.x, pad.G)
        for end in (1, -1) if points == 2 else (0,):
            side = at.offset(-sign * _RADIUS * B.x + end * _RADIUS * B.z, f"{name} {end}")
            s.contact(
                side, sign * s.N.x, through=pad.G, on=body, against=pad, friction=_MU,
                along=(s.N.y, s.N.z), name=f"{name} pad {end + 1}",
            )  # fmt: skip
    return s


def largest_motion(force: float, duration: float, points: int) -> float:
    """How far the capsule moves against the pads, which nothing holds along x."""
    start = {"left": -_RADIUS, "right": _RADIUS}
    system = gripped_capsule(force, points)
    run = da.simulate(system, duration, start=start, rtol=_TOLERANCE, atol=_TOLERANCE)
    moved = (run["y"], run["z"], run["x"] - (run["left"] + run["right"]) / 2)
    return max(float(np.abs(x - x[0]).max()) for x in moved)


def mujoco_creep(force: float) -> float:
    """The velocity in m/s with which the capsule creeps down in MuJoCo's default settings."""
    import mujoco

    text = _MUJOCO.format(
        mu=_MU, left=-_RADIUS - 0.01, right=_RADIUS + 0.01, pad=_PAD, r=_RADIUS, m=_MASS
    )
    model: Any = mujoco.MjModel.from_xml_string(text)
    data: Any = mujoco.MjData(model)
    data.qfrc_applied[:2] = force, -force
    heights = []
    for seconds in (2.0, 10.0):
        while data.time < seconds:
            mujoco.mj_step(model, data)
        heights.append((data.time, float(data.qpos[4])))
    (t0, z0), (t1, z1) = heights
    return (z0 - z1) / (t1 - t0)


def run(report: Report, *, quick: bool) -> None:
    """Motions and creep for each force."""
    report.progress("grip")
    duration = 10.0 if quick else 100.0
    rows = []
    for force in _FORCES:
        moved, by_four = (largest_motion(force, duration, points) for points in (1, 2))
        report.check(
            f"a capsule pressed by {force:g} N moves less than {_MOST:g} m in {duration:g} s",
            f"{moved:.1e} m",
            passed=moved < _MOST,
        )
        try:
            creep = f"{1e6 * mujoco_creep(force):.0f}"
        except ImportError:
            creep = "MuJoCo is not installed"
        rows.append((f"{force:g}", f"{moved:.1e}", f"{by_four:.1e}", creep))
    heads = f"moved in {duration:g} s, m", "with four points of contact", "MuJoCo creeps, µm/s"
    report.table(("force, N", *heads), rows)
