"""A crank drives a slider through a connecting rod, the loop closed by one constraint.

The result is our own, by d'Alembert's principle as in Bar00 (16)–(17): the inertia forces along the
virtual displacements that the closed loop allows, δφ = l₁ cos θ/(l₂ cos φ) δθ.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    I: float | None = 0.02,
    m_1: float | None = 2.0,
    m_2: float | None = 0.6,
    m_3: float | None = 0.5,
    l_1: float | None = 0.05,
    l_2: float | None = 0.15,
) -> da.System:
    """l₁ sin θ = l₂ sin φ: the slider at l₁ cos θ + l₂ cos φ stays on the line through the crank's
    axis.

    The crank with its flywheel has the moment of inertia I about its axis; the rod is uniform; M is
    the torque on the crank.
    """
    s = da.System("Slider-crank", source="our own")
    theta, phi = s.coordinates("theta phi")
    I_, m1, m2, m3, l1, l2 = s.constants(I=I, m_1=m_1, m_2=m_2, m_3=m_3, l_1=l_1, l_2=l_2)
    M = s.input("M")
    N = s.N
    crank, rod = N.rotated(theta, N.z, "crank"), N.rotated(-phi, N.z, "rod")
    pin = s.O.offset(l1 * crank.x, "crank pin", crank)
    end = pin.offset(l2 * rod.x, "slider", rod)
    s.body(
        "crank",
        m1,
        s.O,
        crank,
        da.inertia(crank, 0, 0, I_),
        shape=da.Shape("disk", (1.4 * l1,), N.z),
    )
    s.body("rod", m2, pin.offset(l2 / 2 * rod.x, "G", rod), rod, da.rod_inertia(rod.x, m2, l2))
    s.particle("slider", m3, end)
    s.constrain((end - s.O) @ N.y, "slider on its line")
    s.torque(M * N.z, on=crank, name="M")
    s.speeds(omega=theta.dot)
    return s


_G_X = (
    "(l_1*(theta''*sin(theta) + theta'**2*cos(theta)) + l_2/2*(phi''*sin(phi) + phi'**2*cos(phi)))"
)
_G_Y = (
    "(l_1*(theta''*cos(theta) - theta'**2*sin(theta)) - l_2/2*(phi''*cos(phi) - phi'**2*sin(phi)))"
)
_S_X = "(l_1*(theta''*sin(theta) + theta'**2*cos(theta)) + l_2*(phi''*sin(phi) + phi'**2*cos(phi)))"

ENTRY = Entry(
    name="slider-crank",
    title="Slider-crank",
    source="our own",
    description="A crank with a flywheel drives a slider through a connecting rod; one constraint "
    "closes the loop.",
    build=build,
    printed=(
        DerivedByHand("closure", "l_2*phi'*cos(phi) - l_1*theta'*cos(theta)"),
        DerivedByHand(
            "along θ, by virtual work",
            f"I*theta''*cos(phi) + m_2*l_1*{_G_X}*(sin(theta)*cos(phi) + cos(theta)*sin(phi)/2) + "
            f"m_2*l_1/2*{_G_Y}*cos(theta)*cos(phi)"
            f" + m_2*l_1*l_2/12*phi''*cos(theta) + m_3*l_1*{_S_X}*(sin(theta)*cos(phi) + "
            f"cos(theta)*sin(phi)) - M*cos(phi)",
            ((1, "cos(phi)"),),
        ),
    ),
    start={"theta": 0.0, "phi": 0.0, "omega": 30.0},
    inputs={"M": "2*sin(10*t)"},
    duration=2.0,
)
