"""A flexible rod swings about a hinge under its weight.

Source: Gol80, the compound pendulum (3/2) g/L that the stiff rod tends to. The frame of the rod is
tangent to it at the hinge; bending shortens it, so that its weight pulls it straight.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry


def build(
    n: int = 2,
    *,
    EI: float | None = 5.0,
    mu: float | None = 1.0,
    L: float | None = 1.0,
    g: float | None = 9.81,
    fixed_angle: float | None = None,
) -> da.System:
    """The rod hangs along −y of a frame that turns by θ, or is held there; v is its deflection
    across that line.
    """
    s = da.System("Flexible pendulum", source="Gol80")
    EI_, mu_, L_, g_ = s.constants(EI=EI, mu=mu, L=L, g=g)
    s.gravity(-g_ * s.N.y)
    theta = s.coordinate("theta") if fixed_angle is None else s.specified("theta", fixed_angle)
    B = s.N.rotated(theta, s.N.z, "B")
    rod = s.beam("rod", s.O, -B.y, B.x, L_, EI_, mu_, shortening=True)
    da.discretise(s, rod, n)
    return s


ENTRY = Entry(
    name="flexible-pendulum",
    title="Flexible pendulum",
    source="Gol80",
    description="A flexible rod swings about a hinge under its weight.",
    build=build,
    start={"theta": 0.5},
    duration=3.0,
)
