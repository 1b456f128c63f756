"""A vehicle driven by two forces, whose point A moves along the vehicle's own axis only.

Source: Bar00 Fig. 1, (44)–(55); printed result (50).
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    m: float | None = 1200.0,
    I_G: float | None = 1500.0,
    L: float | None = 1.2,
    h: float | None = 0.8,
) -> da.System:
    """u₁ = v_A · i, u₂ = θ̇, with v_A · j = 0; A lies L behind the mass centre G, C and D at ±h
    from A.

    Bar00 prints u₁ = v_A · j before (47); from (47) on it is v_A · i.
    """
    s = da.System("Vehicle", source="Bar00 Fig. 1")
    X, Y, theta = s.coordinates("X Y theta")
    m_, I_, L_, h_ = s.constants(m=m, I_G=I_G, L=L, h=h)
    F_C, F_D = s.inputs("F_C F_D")
    N = s.N
    B = N.rotated(theta, N.z, "B")
    G = s.O.offset(X * N.x + Y * N.y, "G")
    A = G.offset(-L_ * B.x, "A")
    s.body("vehicle", m_, G, B, da.inertia(B, 0, 0, I_))
    s.force(F_C * B.x, at=A.offset(h_ * B.y, "C"), name="F_C")
    s.force(F_D * B.x, at=A.offset(-h_ * B.y, "D"), name="F_D")
    s.constrain(A.v @ B.y, "no side slip at A")
    s.speeds(u1=A.v @ B.x, u2=theta.dot)
    return s


ENTRY = Entry(
    name="vehicle",
    title="Three-degree vehicle with a nonholonomic constraint",
    source="Bar00 Fig. 1",
    description="A rigid vehicle driven by forces at C and D, whose rear point A cannot slip "
    "sideways.",
    build=build,
    printed=(
        Printed("(50), first", "m*(u1' - L*u2**2) - (F_C + F_D)", ((1, "1"),)),
        Printed("(50), second", "(I_G + m*L**2)*u2' + m*L*u1*u2 - h*(F_D - F_C)", ((2, "1"),)),
        Printed("(55), first", "m*X''*cos(theta) + m*Y''*sin(theta) - (F_C + F_D)", ((1, "1"),)),
        # the second row of (55) is misprinted; this is the contraction with the second column of
        # the corrected (54)
        Printed(
            "(55), second",
            "-m*L*X''*sin(theta) + m*L*Y''*cos(theta) + I_G*theta'' - h*(F_D - F_C)",
            ((2, "1"),),
        ),
    ),
    start={"u1": 5.0, "u2": 0.2},
    inputs={"F_C": "300", "F_D": "400*cos(t)"},
)
