"""A thin uniform disk rolls on a horizontal plane.

Source: Gre03 Ex. 4.2; printed results (4.51)–(4.55) and their reduction (4.57), (4.59), (4.60).
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(*, m: float | None = 1.0, r: float | None = 0.5, g: float | None = 9.81) -> da.System:
    """Heading φ, lean θ, spin ψ; (x, y) is the point of contact; the rows are (4.35), (4.36).

    The speeds are the rates φ̇, θ̇, ψ̇ that the rows leave independent, as in (4.34).
    """
    s = da.System("Rolling disk", source="Gre03 Ex. 4.2")
    x, y, phi, theta, psi = s.coordinates("x y phi theta psi")
    m_, r_, g_ = s.constants(m=m, r=r, g=g)
    N = s.N
    _, B, D = N.rotations("zxz", phi, theta, psi, names=("A", "B", "D"))
    C = s.O.offset(x * N.x + y * N.y, "C")
    disk = s.disk("disk", C.offset(r_ * B.y, "G"), D, m_, r_, axis=B.z)
    s.roll(disk, C)
    s.gravity(-g_ * N.z)
    return s


ENTRY = Entry(
    name="rolling-disk",
    title="Rolling disk",
    source="Gre03 Ex. 4.2",
    description="A thin uniform disk rolls without slipping on a horizontal plane.",
    build=build,
    printed=(
        Printed("(4.54)", "x'' + r*psi''*cos(phi) - r*phi'*psi'*sin(phi)"),
        Printed("(4.55)", "y'' + r*psi''*sin(phi) + r*phi'*psi'*cos(phi)"),
        Printed(
            "(4.57)",
            "1/4*m*r**2*phi''*(1 + 5*cos(theta)**2) + 3/2*m*r**2*psi''*cos(theta)"
            " - 5/2*m*r**2*phi'*theta'*sin(theta)*cos(theta) - 1/2*m*r**2*theta'*psi'*sin(theta)",
            ((1, "1"),),
        ),
        Printed(
            "(4.59)",
            "5/4*m*r**2*theta'' + 5/4*m*r**2*phi'**2*sin(theta)*cos(theta) + "
            "3/2*m*r**2*phi'*psi'*sin(theta) + m*g*r*cos(theta)",
            ((2, "1"),),
        ),
        Printed(
            "(4.60)",
            "3/2*m*r**2*psi'' + 3/2*m*r**2*phi''*cos(theta) - 5/2*m*r**2*phi'*theta'*sin(theta)",
            ((3, "1"),),
        ),
    ),
    start={"theta": 1.2, "psi'": 6.0},
)
