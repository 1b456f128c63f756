"""Code in a process of its own, ended after a number of CPU-seconds."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"


def run_limited(code, seconds):
    """What the code prints; AssertionError if it is not done after so much CPU or fails."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SRC)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1)),
    )
    assert done.returncode >= 0, f"not done after {seconds} s of CPU"
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
