"""Two particles joined by a rigid massless rod, in six coordinates with the rod as a constraint.

Source: Mei85 (7.7)–(7.13); printed result (7.13), which the rates obey as the virtual displacements
do. The sum of Newton's equations (7.24) over both particles is free of the force in the rod.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry, Printed


def build(
    *,
    m_1: float | None = 1.0,
    m_2: float | None = 2.0,
    L: float | None = 1.0,
    g: float | None = 9.81,
) -> da.System:
    """(x₂ − x₁)² + (y₂ − y₁)² + (z₂ − z₁)² = L²

    Six coordinates and one row: five of the rates are independent, ż₂ follows from them unless the
    rod lies level.
    """
    s = da.System("Dumbbell", source="Mei85 (7.7)")
    x1, y1, z1 = s.coordinates("x_1 y_1 z_1")
    x2, y2, z2 = s.coordinates("x_2 y_2 z_2")
    m1, m2, L_, g_ = s.constants(m_1=m_1, m_2=m_2, L=L, g=g)
    N = s.N
    P1 = s.O.offset(x1 * N.x + y1 * N.y + z1 * N.z, "P1")
    P2 = s.O.offset(x2 * N.x + y2 * N.y + z2 * N.z, "P2")
    s.particle("first", m1, P1)
    s.particle("second", m2, P2)
    s.gravity(-g_ * N.z)
    s.constrain((P2 - P1) @ (P2 - P1) - L_**2, "rod")
    s.speeds(u1=x1.dot, u2=y1.dot, u3=z1.dot, u4=x2.dot, u5=y2.dot)
    return s


ENTRY = Entry(
    name="dumbbell",
    title="Dumbbell of two particles",
    source="Mei85 (7.7)",
    description="Two particles joined by a rigid massless rod fly freely; six coordinates with the "
    "rod as a constraint.",
    build=build,
    printed=(
        Printed(
            "(7.13) of the rates",
            "(x_2 - x_1)*(x_2' - x_1') + (y_2 - y_1)*(y_2' - y_1') + (z_2 - z_1)*(z_2' - z_1')",
        ),
        DerivedByHand("(7.24), sum along x", "m_1*x_1'' + m_2*x_2''", ((1, "1"), (4, "1"))),
        DerivedByHand("(7.24), sum along y", "m_1*y_1'' + m_2*y_2''", ((2, "1"), (5, "1"))),
        DerivedByHand("(7.24), sum along z", "m_1*z_1'' + m_2*z_2'' + (m_1 + m_2)*g", ((3, "1"),)),
    ),
    # the rod stands upright halfway, so that it is never level
    start={
        "x_1": 0.0,
        "x_2": 0.8,
        "y_2": 0.0,
        "z_1": 0.0,
        "z_2": 0.6,
        "u1": 2.0,
        "u2": 0.5,
        "u3": 4.0,
        "u4": 0.8,
        "u5": 0.5,
    },
    duration=0.9,
)
