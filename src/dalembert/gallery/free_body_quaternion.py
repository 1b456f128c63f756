"""A rigid body free in space, its attitude by a quaternion, so that no attitude is singular.

Source: Bar00 (21), with Ḣ_G for the misprinted H_G: Euler's equations, the same as with three
angles.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry
from dalembert.gallery.free_body import PRINTED, add_free_body


def build(
    *,
    m: float | None = 1.0,
    I_1: float | None = 0.1,
    I_2: float | None = 0.2,
    I_3: float | None = 0.25,
    g: float | None = 9.81,
) -> da.System:
    """Seven coordinates with the row e·ė = 0; speeds ω·e_k and the velocity of the mass centre."""
    s = da.System("Free rigid body with a quaternion", source="Bar00 (21)")
    x, y, z = s.coordinates("x y z")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"), name="B")
    add_free_body(s, B, (x, y, z), m, (I_1, I_2, I_3), g)
    s.speeds("omega_1 omega_2 omega_3", B.w, B)
    s.speeds(v_x=x.dot, v_y=y.dot, v_z=z.dot)
    return s


ENTRY = Entry(
    name="free-body-quaternion",
    title="Free rigid body with a quaternion",
    source="Bar00 (21)",
    description="A rigid body in free flight whose attitude is given by a quaternion, with no "
    "singular attitude.",
    build=build,
    printed=PRINTED,
    start={"e_0": 1.0, "omega_1": 0.1, "omega_2": 3.0, "omega_3": 0.1, "v_z": 10.0},
    inputs={"M_1": "0", "M_2": "0", "M_3": "0"},
    duration=2.0,
)
