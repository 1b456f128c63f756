"""A point mass on a massless rod in a vertical plane.

Source: LL76 §5; printed result: the motion of l φ̈ = −g sin φ.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(*, m: float | None = 1.0, l: float | None = 1.0, g: float | None = 9.81) -> da.System:
    """m l² φ̈ + m g l sin φ = 0"""
    s = da.System("Simple pendulum", source="LL76 §5")
    phi = s.coordinate("phi")
    m_, l_, g_ = s.constants(m=m, l=l, g=g)
    B = s.N.rotated(phi, s.N.z, "B")
    s.particle("bob", m_, s.O.offset(-l_ * B.y, "P"))
    s.gravity(-g_ * s.N.y)
    return s


ENTRY = Entry(
    name="simple-pendulum",
    title="Simple pendulum",
    source="LL76 §5",
    description="A point mass on a massless rod swings in a vertical plane.",
    build=build,
    printed=(DerivedByHand("§5", "m*l**2*phi'' + m*g*l*sin(phi)", ((1, "1"),)),),
    start={"phi": 1.0},
)
