"""Appell's example in Hamel's limit: a particle whose path has a prescribed slope, ẋ² + ẏ² = k² ż².

Source: NF72, on constraints that are not linear in the velocities. With Chetaev's rule z̈ = −g/(1 +
k²), the path is straight seen from above, and the energy is constant; compared in tests/principles.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry


def build(*, m: float | None = 1.0, k: float | None = 2.0, g: float | None = 9.81) -> da.System:
    """ẋ² + ẏ² − k² ż² = 0: a weight sinks by a fixed part of the way that a small wheel rolls,
    in whatever direction.
    """
    s = da.System("Appell–Hamel particle", source="NF72")
    x, y, z = s.coordinates("x y z")
    m_, k_, g_ = s.constants(m=m, k=k, g=g)
    N = s.N
    s.particle("P", m_, s.O.offset(x * N.x + y * N.y + z * N.z, "P"))
    s.constrain(x.dot**2 + y.dot**2 - k_**2 * z.dot**2, "slope of the path")
    s.gravity(-g_ * N.z)
    return s


ENTRY = Entry(
    name="appell-hamel",
    title="Appell–Hamel particle",
    source="NF72",
    description="A particle moves so that its vertical speed is a fixed fraction of its horizontal "
    "speed: a constraint nonlinear in the velocities.",
    build=build,
    start={"x'": 0.6, "y'": 0.8, "z'": -0.5},
    duration=2.0,
)
