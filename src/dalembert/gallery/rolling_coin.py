"""A coin rolls on an inclined plane.

Source: Gre03 Ex. 4.2, the disk on a horizontal plane, with gravity turned by the incline: V = m g
(z_G cos β − x_G sin β), x_G = x − r sin φ cos θ, z_G = r sin θ. The rows (4.35), (4.36) are those
of the disk.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry, Printed


def build(
    *,
    m: float | None = 0.0075,
    r: float | None = 0.01163,
    beta: float | None = 0.1,
    g: float | None = 9.81,
) -> da.System:
    """x points down the incline β, y across it, z along its normal; heading φ, lean θ, spin ψ,
    and (x, y) the contact.
    """
    s = da.System("Rolling coin on an incline", source="Gre03 Ex. 4.2")
    x, y, phi, theta, psi = s.coordinates("x y phi theta psi")
    m_, r_, beta_, g_ = s.constants(m=m, r=r, beta=beta, g=g)
    N = s.N
    _, B, D = N.rotations("zxz", phi, theta, psi, names=("A", "B", "D"))
    C = s.O.offset(x * N.x + y * N.y, "C")
    coin = s.disk("coin", C.offset(r_ * B.y, "G"), D, m_, r_, axis=B.z)
    s.roll(coin, C)
    s.gravity(g_ * (da.sin(beta_) * N.x - da.cos(beta_) * N.z))
    return s


ENTRY = Entry(
    name="rolling-coin",
    title="Rolling coin on an incline",
    source="Gre03 Ex. 4.2",
    description="A coin rolls without slipping on an inclined plane.",
    build=build,
    printed=(
        Printed("(4.35)", "x' + r*psi'*cos(phi)"),
        Printed("(4.36)", "y' + r*psi'*sin(phi)"),
        DerivedByHand(
            "(4.57) with the slope",
            "1/4*m*r**2*phi''*(1 + 5*cos(theta)**2) + 3/2*m*r**2*psi''*cos(theta) - "
            "5/2*m*r**2*phi'*theta'*sin(theta)*cos(theta)"
            " - 1/2*m*r**2*theta'*psi'*sin(theta) + m*g*r*sin(beta)*cos(phi)*cos(theta)",
            ((1, "1"),),
        ),
        DerivedByHand(
            "(4.59) with the slope",
            "5/4*m*r**2*theta'' + 5/4*m*r**2*phi'**2*sin(theta)*cos(theta) + "
            "3/2*m*r**2*phi'*psi'*sin(theta)"
            " + m*g*r*cos(beta)*cos(theta) - m*g*r*sin(beta)*sin(phi)*sin(theta)",
            ((2, "1"),),
        ),
        DerivedByHand(
            "(4.60) with the slope",
            "3/2*m*r**2*psi'' + 3/2*m*r**2*phi''*cos(theta) - 5/2*m*r**2*phi'*theta'*sin(theta) + "
            "m*g*r*sin(beta)*cos(phi)",
            ((3, "1"),),
        ),
    ),
    start={"theta": 1.3, "phi": 0.3, "psi'": -60.0},
    duration=2.0,
)
