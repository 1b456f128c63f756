"""A point mass on a massless rod swings about a fixed point in space.

Source: LL76 §14 Problem 1; printed result: the motion with m l² sin²θ φ̇ = const and
½ m l² (θ̇² + sin²θ φ̇²) − m g l cos θ = const, here by their rates.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(*, m: float | None = 1.0, l: float | None = 1.0, g: float | None = 9.81) -> da.System:
    """Azimuth φ about the vertical, θ from the lowest point."""
    s = da.System("Spherical pendulum", source="LL76 §14 Problem 1")
    theta, phi = s.coordinates("theta phi")
    m_, l_, g_ = s.constants(m=m, l=l, g=g)
    _, B = s.N.rotations("zx", phi, theta, names=("A", "B"))
    s.particle("bob", m_, s.O.offset(-l_ * B.z, "P"))
    s.gravity(-g_ * s.N.z)
    return s


ENTRY = Entry(
    name="spherical-pendulum",
    title="Spherical pendulum",
    source="LL76 §14 Problem 1",
    description="A point mass on a massless rod swings about a fixed point in space.",
    build=build,
    printed=(
        DerivedByHand(
            "rate of M_z",
            "m*l**2*(sin(theta)**2*phi'' + 2*sin(theta)*cos(theta)*theta'*phi')",
            ((2, "1"),),
        ),
        DerivedByHand(
            "rate of E",
            "m*l**2*(theta'*theta'' + sin(theta)**2*phi'*phi'' + "
            "sin(theta)*cos(theta)*theta'*phi'**2) + m*g*l*sin(theta)*theta'",
            ((1, "theta'"), (2, "phi'")),
        ),
    ),
    start={"theta": 1.0, "phi'": 2.0},
)
