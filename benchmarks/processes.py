"""Whole processes, from the interpreter's start to the first trajectory: what a person waits for.

The CPU time is that of the process and of everything it starts. Cold: the cache is empty. New: the
cache has the generic code, but never saw this system. Warm: it has seen this system.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Timing, least, program, timed
from results import Report, Slower, Within

NOTE = (
    "CPU time of a Python process and its children, imports included, from its start to the first "
    "trajectory; the least of several. Cold: empty cache. New: generic code cached, system never "
    "seen. Warm: seen before."
)
_CHAIN = """
import sys
import dalembert as da
s = da.System("New", gravity=9.81)
upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1 + float(sys.argv[1]))
s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
da.simulate(s, 1.0, start={"alpha": 1.0})
"""
_LONG_CHAIN = """
import sys
import dalembert as da
from dalembert.gallery import spatial_chain
s = spatial_chain.build(50)
s.generalized_force(s.symbols["q_1"].scalar, -float(sys.argv[1]) * s.symbols["q_1"].scalar.dot)
da.simulate(s, 0.1, start={"q_1": 1.0})
"""
_TALOS = """
import os, sys
import dalembert as da
place = "cmeel.prefix/share/example-robot-data/robots/talos_data/robots/talos_reduced.urdf"
found = [f for f in (os.path.join(p, place) for p in sys.path) if os.path.exists(f)]
assert found, "example-robot-data is not installed"
s = da.load(found[0], base="free")
knee = s.symbols["leg_right_4_joint"].scalar
s.generalized_force(knee, -float(sys.argv[1]) * knee.dot)
da.simulate(s, 0.01)
"""
_CLOSED = """
import sys
import dalembert as da
from dalembert.gallery import four_bar
da.simulate(four_bar.build(), 1.0)
"""
_MUJOCO = """
import mujoco, numpy
m = mujoco.MjModel.from_xml_string('<mujoco><worldbody><body><joint axis="0 1 0"/>'
 '<geom type="capsule" fromto="0 0 0 0 0 -1" size=".02"/><body pos="0 0 -1"><joint axis="0 1 0"/>'
 '<geom type="capsule" fromto="0 0 0 0 0 -1" size=".02"/></body></body></worldbody></mujoco>')
d = mujoco.MjData(m)
d.qpos[0] = 1.0
for _ in range(1000):
    mujoco.mj_step(m, d)
"""
_PINOCCHIO = """
import numpy, pinocchio
from scipy.integrate import solve_ivp
m = pinocchio.Model()
I = pinocchio.Inertia(1.0, numpy.array([0, 0, -0.5]), numpy.eye(3) / 12)
a = m.addJoint(0, pinocchio.JointModelRY(), pinocchio.SE3.Identity(), "a")
m.appendBodyToJoint(a, I, pinocchio.SE3.Identity())
b = m.addJoint(a, pinocchio.JointModelRY(), pinocchio.SE3(numpy.eye(3), numpy.array([0, 0, -1.0])),
               "b")
m.appendBodyToJoint(b, I, pinocchio.SE3.Identity())
d = m.createData()
f = lambda t, y: numpy.concatenate([y[2:], pinocchio.aba(m, d, y[:2], y[2:], numpy.zeros(2))])
solve_ivp(f, (0, 1), [1.0, 0, 0, 0], method="DOP853", rtol=1e-9, atol=1e-9)
"""
_ENSEMBLE = """
import time
import numpy as np
import dalembert as da
s = da.System("New", gravity=9.81)
upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
cpu, wall = time.process_time(), time.perf_counter()
da.ensemble(s, 1.0, over={"alpha": np.linspace(0.1, 1.0, 16)})
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
_DERIVE = """
import sys
from dalembert.cli import main
sys.argv = ["dalembert", "derive", "spatial-chain", "--set", "n=50"]
main()
"""
_EMPTY = "import numpy, llvmlite.binding"


def process(code: str, number: float, cache: str) -> Timing:
    """One process with a cache of its own."""
    environment = {**os.environ, "DALEMBERT_CACHE": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def work() -> None:
        subprocess.run(
            [sys.executable, "-c", code, repr(number)],
            env=environment,
            check=True,
            capture_output=True,
        )

    return least([timed(work)])


def _three(code: str, rounds: int) -> dict[str, Timing]:
    """Cold, new and warm; every round in caches of its own."""
    samples: dict[str, list[tuple[float, float]]] = {"cold": [], "new": [], "warm": []}
    for k in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for name, number in (("cold", 0.0), ("new", 0.01 * (k + 1)), ("warm", 0.0)):
                t = process(code, number, folder)
                samples[name].append((t.cpu, t.wall))
    return {name: least(each) for name, each in samples.items()}


def run(report: Report, *, quick: bool) -> None:
    """Two links, fifty joints, a robot, a closed loop, and other tools with two links."""
    report.section("Whole processes", NOTE)
    rounds = 2 if quick else 5
    # bytecode is written once
    process(_CHAIN, 0.0, str(Path(tempfile.gettempdir()) / "dalembert-processes"))
    two = _three(_CHAIN, rounds)
    others = {
        "MuJoCo": _MUJOCO,
        "Pinocchio (wheel, SSE2) and SciPy": _PINOCCHIO,
        "numpy and llvmlite imported": _EMPTY,
    }
    theirs: dict[str, Timing | str] = {}
    for name, code in others.items():
        try:
            theirs[name] = min((process(code, 0.0, "off") for _ in range(rounds)), key=_cpu)
        except subprocess.CalledProcessError as problem:
            theirs[name] = problem.stderr.decode().splitlines()[-1]
    for state, goal in (("cold", 0.45), ("new", 0.20), ("warm", 0.15)):
        report.compare(
            f"chain of 2, {state}, whole process",
            {"dalembert": two[state], **theirs},
            {"dalembert": Within(goal)} | ({"MuJoCo": Slower(1.0)} if state == "new" else {}),
        )
    fifty = _three(_LONG_CHAIN, 2 if quick else 3)
    report.compare("chain of 50, new", {"dalembert": fifty["new"]}, {"dalembert": Within(0.7)})
    report.compare("chain of 50, warm", {"dalembert": fifty["warm"]})
    try:
        talos = _three(_TALOS, 2 if quick else 3)
        for state, goal in (("new", 0.9), ("warm", 0.3)):
            what = f"Talos with a free root, {state}"
            report.compare(what, {"dalembert": talos[state]}, {"dalembert": Within(goal)})
    except subprocess.CalledProcessError as problem:
        report.text(f"Talos: {problem.stderr.decode().splitlines()[-1]}")
    closed = _three(_CLOSED, 2 if quick else 3)
    report.compare("four-bar, cold", {"dalembert": closed["cold"]}, {"dalembert": Within(0.8)})
    report.compare("four-bar, warm", {"dalembert": closed["warm"]})
    first = {"dalembert": program(_ENSEMBLE, rounds=rounds)}
    report.compare("first da.ensemble of a process", first, {"dalembert": Within(0.25)})
    derived = {"dalembert": min((process(_DERIVE, 0.0, "off") for _ in range(rounds)), key=_cpu)}
    report.compare("derive, chain of 50, default output", derived, {"dalembert": Within(0.6)})


def _cpu(timing: Timing) -> float:
    return timing.cpu
