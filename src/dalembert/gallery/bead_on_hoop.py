"""A bead slides without friction on a circular hoop that turns about its vertical diameter as
prescribed.

Source: MR99 §2.8; printed result, with Ω = ψ̇: θ̈ = (Ω² cos θ − g/R) sin θ. It holds for any Ω(t),
since the force due to Ω̇ is normal to the hoop.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *, m: float | None = 1.0, R: float | None = 0.5, g: float | None = 9.81, psi: str | None = "8*t"
) -> da.System:
    """r = R (sin θ a₁ − cos θ k): θ from the lowest point; the plane of the hoop is turned by
    ψ(t).
    """
    s = da.System("Bead on a rotating hoop", source="MR99 §2.8")
    theta = s.coordinate("theta")
    m_, R_, g_ = s.constants(m=m, R=R, g=g)
    psi_ = s.specified("psi", None if psi is None else s.expression(psi))
    A = s.N.rotated(psi_, s.N.z, "A")
    B = A.rotated(-theta, A.y, "B")
    s.particle("bead", m_, s.O.offset(-R_ * B.z, "P"))
    s.gravity(-g_ * s.N.z)
    return s


ENTRY = Entry(
    name="bead-on-hoop",
    title="Bead on a rotating hoop",
    source="MR99 §2.8",
    description="A bead slides without friction on a circular hoop that turns about its vertical "
    "diameter as prescribed.",
    build=build,
    printed=(
        Printed(
            "along the hoop",
            "theta'' - (psi'**2*cos(theta) - g/R)*sin(theta)",
            ((1, "1/(m*R**2)"),),
        ),
    ),
    start={"theta": 0.2},
)
