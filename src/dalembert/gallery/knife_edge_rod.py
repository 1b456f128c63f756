"""Two particles on a massless rod with a knife edge at the first one.

Source: Gre03 Ex. 4.1; printed results (4.31)–(4.33).
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(*, m: float | None = 1.0, l: float | None = 1.0) -> da.System:
    """u₁ = ẋ cos φ + ẏ sin φ, u₂ = φ̇, u₃ = −ẋ sin φ + ẏ cos φ = 0: all n speeds, the last one
    constrained.

    Source: Gre03 (4.20)–(4.22).
    """
    s = da.System("Two particles on a rod with a knife edge", source="Gre03 Ex. 4.1")
    x, y, phi = s.coordinates("x y phi")
    m_, l_ = s.constants(m=m, l=l)
    B = s.N.rotated(phi, s.N.z, "B")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P1")
    s.particle("particle 1", m_, P)
    s.particle("particle 2", m_, P.offset(l_ * B.x, "P2"))
    _, _, u3 = s.speeds(u1=P.v @ B.x, u2=phi.dot, u3=P.v @ B.y)
    s.constrain(u3, "knife edge")
    return s


ENTRY = Entry(
    name="knife-edge-rod",
    title="Two particles on a rod with a knife edge",
    source="Gre03 Ex. 4.1",
    description="Two equal particles on a massless rod; the first is on a knife edge that "
    "allows motion along the rod only.",
    build=build,
    printed=(
        Printed("(4.31)", "m*(2*x''*cos(phi) + 2*y''*sin(phi) - l*phi'**2)", ((1, "1"),)),
        Printed("(4.32)", "m*(l**2*phi'' - l*x''*sin(phi) + l*y''*cos(phi))", ((2, "1"),)),
        Printed("(4.33)", "x''*sin(phi) - y''*cos(phi) + x'*phi'*cos(phi) + y'*phi'*sin(phi)"),
    ),
    start={"u1": 1.0, "u2": 2.0},
)
