"""Memory: of a process after the import and after a first run, and of every step that a run
keeps.
"""

from __future__ import annotations

import subprocess
import sys

from results import Report

NOTE = (
    "Resident memory of a process of its own, once: after the import of dalembert and numpy, and "
    "after a first run of a chain of two links. A step: what a run keeps beyond its states, from "
    "the growth of a process between a short and a long run with dense output."
)
_IMPORT = "import numpy, dalembert as da"
_SYSTEM = """
s = da.System("New", gravity=9.81)
upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
"""
_FIRST = f'{_SYSTEM}da.simulate(s, 1.0, start={{"alpha": 1.0}})'
_STEPS = f"""{_SYSTEM}
first = da.simulate(s, 10.0, start={{"alpha": 1.0}}, audit=False, progress=False)
before = resident()
run = da.simulate(s, 2000.0, start={{"alpha": 1.0}}, audit=False, progress=False)
print((resident() - before) / len(run.t) - 8 * (1 + len(run.names)))
"""
_RESIDENT = """
import os
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
"""


def run(report: Report, *, quick: bool) -> None:
    """Megabytes of two processes, and bytes of a step."""
    del quick
    report.section("Memory", NOTE)
    rows = []
    for what, code, unit, size in (
        ("import", "print(resident())", "MB", 1e6),
        ("first run, two links", f"{_FIRST}\nprint(resident())", "MB", 1e6),
        ("a step that is kept, beyond its state", _STEPS, "bytes", 1.0),
    ):
        report.progress(what)
        rows.append((what, _number(code, unit, size)))
    report.table(("what", "memory"), rows)


def _number(code: str, unit: str, size: float) -> str:
    """What a process prints, in the unit; the last line of its error where it fails."""
    command = [sys.executable, "-W", "ignore", "-c", f"{_IMPORT}\n{_RESIDENT}\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        return done.stderr.splitlines()[-1]
    return f"{float(done.stdout.splitlines()[-1]) / size:.0f} {unit}"
