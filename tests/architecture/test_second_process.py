"""Compiled code and derivations of one process serve the next."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUNS = """
from dalembert.runtime.numerics import jit

count, compile_object = [], jit._compile_object
jit._compile_object = lambda *a: count.append(1) or compile_object(*a)

import dalembert as da

s = da.System("pendulum", gravity=9.81)
s.rod("rod", s.pin("theta", s.O), mass=1, length=1)
for integrator in ("native", "taylor"):
    da.simulate(s, 0.1, start={"theta": 1.0}, integrator=integrator)
da.ensemble(s, 0.1, over={"theta": [0.1, 0.2]})
print(len(count))
"""


def test_a_second_process_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    first, second = (
        int(subprocess.check_output([sys.executable, "-c", RUNS], text=True)) for _ in range(2)
    )
    assert first > 0
    assert second == 0
