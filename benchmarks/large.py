"""Large systems: what a person waits for, and the memory that it takes.

Every task is a process of its own with an empty cache, imports included.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy
from constrained import Loop, Mechanism
from measure import Timing, least, race
from peers import Unavailable, peer
from results import Report, Slower, Within
from runs import Outcome

import dalembert as da

NOTE = (
    "CPU time and largest resident memory of a whole process with an empty cache, measured once. "
    "The windows are four-bar linkages that share sides; the beam's functions are integrated "
    "numerically. Prepare: a run of 1 ms, so that nearly all of the time is spent before it. The "
    "steps of the ring: our loop at tolerance 1e-8 with projections, and Exudyn's trapezoidal rule "
    "for index 2 in redundant coordinates, over half a second, divided by the number of steps."
)
_BEFORE = """
import sys, warnings
warnings.simplefilter("ignore")
import dalembert as da
from dalembert.gallery import n_four_bar, spatial_chain, spin_up_beam
n = int(sys.argv[1])
"""
_RING = """
sys.path.insert(0, sys.argv[3])
import large
s, start = large.ring(n)
"""
_TALOS = """
sys.path.insert(0, sys.argv[3])
import robots
talos = [f for f, _ in robots.files() if f.endswith("talos_reduced.urdf")]
assert talos, "example-robot-data is not installed"
da.write_report(da.load(talos[0], base="free"), sys.argv[2] + "/page.html")
"""
# the peak of this process: ru_maxrss would also hold that of the process that started it
_AFTER = """
with open("/proc/self/status", encoding="utf-8") as status:
    print(next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM:")))
"""
_HERE = str(Path(__file__).parent)
# wall time after which a process is ended
_MOST_SECONDS = 120
_TASKS = {
    "report, chain of {n}": (
        "da.write_report(spatial_chain.build(n), sys.argv[2] + '/page.html')",
        50,
        12.0,
    ),
    "agree, chain of {n}": ("assert da.agreement(spatial_chain.build(n)).agree", 50, 6.0),
    "report, Talos with a free root": (
        _TALOS,
        0,
        5.0,
    ),
    "ring of {n} links, prepare": (_RING + "da.simulate(s, 1e-3, start=start)", 100, 5.0),
    "{n} four-bar windows, prepare": ("da.simulate(n_four_bar.build(windows=n), 1e-3)", 100, 5.0),
    "beam with {n} functions, prepare": (
        "da.simulate(spin_up_beam.build(n, exact=False), 1e-3)",
        20,
        2.0,
    ),
}


# steps of Exudyn in the half second, with which its last state differs from ours by less than 1e-3
_EXUDYN_STEPS = 500


def ring(n: int) -> tuple[da.System, dict[str, float]]:
    """Rods in a closed loop with absolute angles, and a regular polygon as its start."""
    s = da.System("Ring", gravity=9.81)
    tip, start = s.O, {}
    for k in range(n):
        rod = s.N.rotated(s.coordinate(f"q_{k}"), s.N.z, f"link {k}")
        s.body(f"link {k}", 1, tip.offset(rod.x / 2, frame=rod), rod, da.rod_inertia(rod.x, 1, 1))
        tip, start[f"q_{k}"] = tip.offset(rod.x, f"tip {k}", rod), 2 * math.pi * k / n
    s.coincide(tip, s.O, "closure")
    return s, start


def _ring_steps(report: Report, n: int) -> None:
    """A step of the ring against Exudyn's, and their last states."""
    name, duration = f"ring of {n} links, a step", 0.5
    report.progress(name)
    loop = Loop(Mechanism(name, *ring(n), {}, duration))
    last, steps, _ = loop.run(1e-8)
    timings: dict[str, Timing | str] = {}
    ours = race({"dalembert": partial(loop.run, 1e-8)}, rounds=3)["dalembert"]
    timings["dalembert"] = ours.per(steps)
    outcomes: list[Outcome] = []
    try:
        work = peer("exudyn").ring(n).run(duration, _EXUDYN_STEPS)
        theirs = race({"Exudyn": lambda: outcomes.append(work())}, rounds=1, long=0.0)["Exudyn"]
        timings["Exudyn"] = theirs.per(_EXUDYN_STEPS)
    except Unavailable as reason:
        timings["Exudyn"] = str(reason)
    report.compare(name, timings, {"Exudyn": Slower(2)})
    for state, _, _ in outcomes:
        off = float(numpy.abs(loop.motion(duration, last) - state).max())
        report.check(f"{name}: last state", f"{off:.1e} ≤ 1e-2", passed=off <= 1e-2)


def run(report: Report, *, quick: bool) -> None:
    """A row for each task; its memory is in the text below."""
    report.section("Large systems", NOTE)
    memory = []
    for name, (code, size, goal) in _TASKS.items():
        n = size // 5 if quick else size
        what = name.format(n=n)
        report.progress(what)
        timing, megabytes = _process(code, n)
        memory.append(f"{what}: {megabytes}")
        report.compare(what, {"dalembert": timing}, None if quick else {"dalembert": Within(goal)})
    report.text(f"Largest resident memory: {'; '.join(memory)}.")
    _ring_steps(report, 20 if quick else 100)


def _process(code: str, n: int) -> tuple[Timing | str, str]:
    """The CPU and wall time of one process, and its memory."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DALEMBERT_CACHE": f"{folder}/cache"}
        before = os.times()
        try:
            done = subprocess.run(
                [sys.executable, "-c", _BEFORE + code + _AFTER, str(n), folder, _HERE],
                env=environment,
                check=True,
                capture_output=True,
                timeout=_MOST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"not within {_MOST_SECONDS} s", "unknown"
        except subprocess.CalledProcessError as problem:
            return problem.stderr.decode().splitlines()[-1], "unknown"
        after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return least([(cpu, after.elapsed - before.elapsed)]), f"{int(done.stdout)} MB"
