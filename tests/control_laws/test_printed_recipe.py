"""The LQR recipe of docs/howto/controllers.md, run as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import dalembert as da

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "controllers.md"


def test_the_regulator_of_a_quaternion_spacecraft_with_wheels():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (recipe,) = (b for b in blocks if "Spacecraft with wheels" in b)
    scope = {"da": da, "np": np}
    exec("from scipy.linalg import solve_continuous_are\n" + recipe, scope)
    run, A, B, K = (scope[n] for n in ("run", "A", "B", "K"))
    # Riccati's equation promises decay, and the nonlinear run keeps the promise
    assert np.linalg.eigvals(A - B @ K).real.max() < -0.1
    for name in ("e_1", "e_2", "e_3", "omega_Bx", "omega_By", "omega_Bz"):
        assert abs(run[name][-1]) < 1e-4
    # no torque from outside: the wheels took up the momentum, and the sum is zero as at the start
    for axis, k in zip("xyz", (1, 2, 3), strict=True):
        total = {"x": 4, "y": 5, "z": 6}[axis] + 3 * 0.05
        body, wheel = run[f"omega_B{axis}"], run[f"a{k}.dot"]
        # at the end the attitude is that of N, so momentum along the axes must vanish again
        assert abs(total * body[-1] + 0.05 * wheel[-1]) < 1e-4
