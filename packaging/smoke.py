"""An installed wheel derives, proves, compiles, runs and writes a page; nothing of the source
tree is used.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import dalembert as da

s = da.System("Pendulum", gravity=9.81)
s.rod("rod", s.pin("theta", s.O), mass=1, length=2)
assert str(da.kane(s).equations) == "4/3 θ̈ = −9.81 sin θ", da.kane(s).equations
assert da.agreement(s).agree, da.agreement(s)
run = da.simulate(s, 1, start={"theta": "pi/4"})
assert run.energy_drift < 1e-8, run

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "disk.html"
    subprocess.run(
        [sys.executable, "-m", "dalembert", "report", "rolling-disk", "-o", str(page)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert page.stat().st_size > 100_000, page.stat().st_size

print(f"dalembert works with Python {sys.version.split()[0]}, from {Path(da.__file__).parent}")
