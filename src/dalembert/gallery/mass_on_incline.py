"""A mass on a smooth inclined plane is held by a spring.

Source: Mei85 Ex. 7.1, 7.2; printed result: in equilibrium −k r + m g sin θ = 0, so r = m g sin θ/k.
In motion the inertia force −m r̈ of d'Alembert's principle is added, Mei85 (7.28).
"""

from __future__ import annotations

import math

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    m: float | None = 2.0,
    k: float | None = 50.0,
    theta: float | None = math.pi / 6,
    g: float | None = 9.81,
) -> da.System:
    """r = r u_r, measured down the slope from the unstretched spring; V = ½ k r² − m g r sin θ."""
    s = da.System("Mass on a smooth incline", source="Mei85 Ex. 7.1")
    r = s.coordinate("r")
    m_, k_, theta_, g_ = s.constants(m=m, k=k, theta=theta, g=g)
    slope = s.N.rotated(-theta_, s.N.z, "slope")
    s.particle("mass", m_, s.O.offset(r * slope.x, "P"))
    s.potential(k_ * r**2 / 2, "spring")
    s.gravity(-g_ * s.N.y)
    return s


ENTRY = Entry(
    name="mass-on-incline",
    title="Mass on a smooth incline with a spring",
    source="Mei85 Ex. 7.1",
    description="A mass slides on a smooth inclined plane, held by a spring along the slope.",
    build=build,
    printed=(
        DerivedByHand(
            "(e) with the inertia force −m r̈", "-k*r + m*g*sin(theta) - m*r''", ((1, "-1"),)
        ),
    ),
    start={"r": 0.5},
)
