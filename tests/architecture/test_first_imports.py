"""What a first simulation, ensemble or derivation of a process may import."""

from __future__ import annotations

import subprocess
import sys

SYSTEM = """
import sys
import dalembert as da
s = da.System("pendulum", gravity=9.81)
s.rod("rod", s.pin("theta", s.O), mass=1, length=1)
"""
# modules of the package after a first simulation; a new one needs a reason
MOST_MODULES = 150
HEAVY = {"xarray", "pandas", "scipy", "sympy", "matplotlib", "dask"}


def imported_by(call: str) -> set[str]:
    code = f"{SYSTEM}\n{call}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_a_first_simulation_imports_few_of_our_modules() -> None:
    modules = imported_by('da.simulate(s, 0.1, start={"theta": 1.0})')
    assert len({m for m in modules if m.split(".")[0] == "dalembert"}) <= MOST_MODULES
    assert set() == modules & HEAVY


def test_an_ensemble_needs_no_data_frames_until_it_is_read() -> None:
    assert set() == imported_by('da.ensemble(s, 0.1, over={"theta": [0.1, 0.2]})') & HEAVY
