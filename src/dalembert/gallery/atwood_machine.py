"""Two masses hang from a rope over a pulley that has inertia.

Source: Gol80 ch. 1, whose pulley has no inertia: (m₁ + m₂) ẍ = (m₁ − m₂) g. The kinetic energy ½ I
(ẋ/r)² of the pulley adds I/r² to the masses.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    m_1: float | None = 1.1,
    m_2: float | None = 1.0,
    m: float | None = 0.4,
    I: float | None = 0.0005,
    r: float | None = 0.05,
    g: float | None = 9.81,
) -> da.System:
    """x = r θ: the rope does not slip. The first mass sinks by x, the second rises by x; m and I
    are those of the pulley.
    """
    s = da.System("Atwood machine", source="Gol80 ch. 1")
    x, theta = s.coordinates("x theta")
    m1, m2, m_, I_, r_, g_ = s.constants(m_1=m_1, m_2=m_2, m=m, I=I, r=r, g=g)
    N = s.N
    pulley = N.rotated(theta, N.z, "pulley")
    s.body(
        "pulley", m_, s.O, pulley, da.inertia(pulley, 0, 0, I_), shape=da.Shape("disk", (r_,), N.z)
    )
    s.particle("first", m1, s.O.offset(-r_ * N.x - x * N.y, "P1"))
    s.particle("second", m2, s.O.offset(r_ * N.x + x * N.y, "P2"))
    s.constrain(x - r_ * theta, "rope")
    s.gravity(-g_ * N.y)
    s.speeds(v=x.dot)
    return s


ENTRY = Entry(
    name="atwood-machine",
    title="Atwood machine",
    source="Gol80 ch. 1",
    description="Two masses hang from a rope over a pulley that has inertia.",
    build=build,
    printed=(
        DerivedByHand("along the rope", "(m_1 + m_2 + I/r**2)*x'' - (m_1 - m_2)*g", ((1, "1"),)),
    ),
    start={"x": 0.0},
    duration=2.0,
)
