"""A symmetric top spins about a fixed point of its axis under gravity.

Source: Kut, appendix C.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    M: float | None = 0.5,
    l: float | None = 0.1,
    I_1: float | None = 0.006,
    I_3: float | None = 0.001,
    g: float | None = 9.81,
) -> da.System:
    """Precession φ, nutation θ, spin ψ; I₁, I₃ are moments about the fixed point, as in Kut."""
    s = da.System("Lagrange top", source="Kut, appendix C")
    phi, theta, psi = s.coordinates("phi theta psi")
    M_, l_, I1, I3, g_ = s.constants(M=M, l=l, I_1=I_1, I_3=I_3, g=g)
    _, B, D = s.N.rotations("zxz", phi, theta, psi, names=("A", "B", "D"))
    # the top is symmetric, so its inertia is constant in the frame B that does not spin with it
    s.body("top", M_, s.O.offset(l_ * B.z, "G"), D, da.inertia(B, I1, I1, I3), about=s.O)
    s.gravity(-g_ * s.N.z)
    return s


ENTRY = Entry(
    name="lagrange-top",
    title="Lagrange top",
    source="Kut, appendix C",
    description="A heavy symmetric top spins about a fixed point of its axis.",
    build=build,
    printed=(
        Printed(
            "along φ",
            "I_1*sin(theta)**2*phi'' + 2*I_1*sin(theta)*cos(theta)*theta'*phi'"
            " + I_3*cos(theta)**2*phi'' - 2*I_3*sin(theta)*cos(theta)*theta'*phi' + "
            "I_3*cos(theta)*psi'' - I_3*sin(theta)*theta'*psi'",
            ((1, "1"),),
        ),
        Printed(
            "along ψ", "I_3*cos(theta)*phi'' - I_3*sin(theta)*theta'*phi' + I_3*psi''", ((3, "1"),)
        ),
        Printed(
            "along θ",
            "I_1*theta'' + phi'**2*cos(theta)*sin(theta)*(I_3 - I_1) + I_3*sin(theta)*phi'*psi' - "
            "M*g*l*sin(theta)",
            ((2, "1"),),
        ),
    ),
    start={"theta": 0.5235987755982988, "psi'": 150.0},
    duration=2.0,
)
