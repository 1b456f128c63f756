"""One thing has one name: what linear models and runs call a speed, `s[...]` and texts know."""

from __future__ import annotations

import numpy as np

import dalembert as da


def _craft() -> da.System:
    s = da.System("craft")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"), name="B")
    s.body("bus", 50, s.O, B, da.inertia(B, 4, 5, 6))
    s.torque(s.input("M") * B.x, on=B)
    return s


def test_the_speeds_of_a_quaternion_are_known_by_name() -> None:
    s = _craft()
    model = da.linearize(s)
    for name in model.states:
        assert s[name] is not None
    start = {"e_1": 0.2, "omega_Bx": 0.3}
    by_text = da.simulate(s, 3, start=start, inputs={"M": "-4*omega_Bx - e_1"})
    by_expression = da.simulate(s, 3, start=start, inputs={"M": -4 * s["omega_Bx"] - s["e_1"]})
    assert "omega_Bx" in by_text.names
    np.testing.assert_allclose(by_text["e_1"], by_expression["e_1"], atol=1e-8)
