"""A rigid body slides on a smooth plane on a knife edge that cannot slip sideways.

Source: NF72 ch. III; printed result: v̇ = a ω², (I + m a²) ω̇ = −m a ω v, which is also Bar00 (50)
without its forces.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(*, m: float | None = 1.0, I: float | None = 0.5, a: float | None = 0.3) -> da.System:
    """v_P = v e₁: P(x, y) moves along the edge only; the mass centre lies a ahead of P, I is its
    central moment of inertia.
    """
    s = da.System("Chaplygin's sleigh", source="NF72 ch. III")
    x, y, phi = s.coordinates("x y phi")
    m_, I_, a_ = s.constants(m=m, I=I, a=a)
    N = s.N
    B = N.rotated(phi, N.z, "B")
    P = s.O.offset(x * N.x + y * N.y, "P")
    s.body("sleigh", m_, P.offset(a_ * B.x, "G"), B, da.inertia(B, 0, 0, I_))
    s.constrain(P.v @ B.y, "knife edge")
    s.speeds(v=P.v @ B.x, omega=phi.dot)
    return s


ENTRY = Entry(
    name="chaplygin-sleigh",
    title="Chaplygin's sleigh",
    source="NF72 ch. III",
    description="A rigid body slides on a smooth plane on a knife edge that cannot slip sideways.",
    build=build,
    printed=(
        DerivedByHand("along the edge", "v' - a*omega**2", ((1, "1/m"),)),
        DerivedByHand("about the edge", "(I + m*a**2)*omega' + m*a*omega*v", ((2, "1"),)),
    ),
    # the mass centre trails: the unstable direction, from which the sleigh turns round
    start={"v": -0.4, "omega": 1.5},
)
