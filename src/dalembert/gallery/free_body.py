"""A rigid body free in space, its attitude in 3-2-1 angles, its speeds the body components of ω.

Source: Bar00 (18)–(21); printed results: Euler's equations (21), with Ḣ_G for the misprinted H_G,
written out in principal axes.
"""

from __future__ import annotations

from typing import Literal

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    m: float | None = 1.0,
    I_1: float | None = 0.1,
    I_2: float | None = 0.2,
    I_3: float | None = 0.25,
    g: float | None = 9.81,
    speeds: Literal["body", "rates"] = "body",
) -> da.System:
    """Angles ψ, θ, φ about z, y, x in turn; torque M₁ e₁ + M₂ e₂ + M₃ e₃; speeds ω·e_k ("body")
    or the rates q̇.
    """
    s = da.System("Free rigid body in 3-2-1 angles", source="Bar00 (18)–(21)")
    x, y, z, psi, theta, phi = s.coordinates("x y z psi theta phi")
    B = s.N.rotations("zyx", psi, theta, phi, names=("A1", "A2", "B"))[-1]
    add_free_body(s, B, (x, y, z), m, (I_1, I_2, I_3), g)
    if speeds == "body":
        s.speeds("omega_1 omega_2 omega_3", B.w, B)
        s.speeds(v_x=x.dot, v_y=y.dot, v_z=z.dot)
    return s


def add_free_body(
    s: da.System,
    B: da.Frame,
    position: tuple[da.Scalar, ...],
    m: float | None,
    I: tuple[float | None, ...],
    g: float | None,
) -> None:
    """The body itself, its weight and the torque on it, whatever describes its attitude."""
    x, y, z = position
    m_, I1, I2, I3, g_ = s.constants(m=m, I_1=I[0], I_2=I[1], I_3=I[2], g=g)
    M1, M2, M3 = s.inputs("M_1 M_2 M_3")
    s.body(
        "body", m_, s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "G"), B, da.inertia(B, I1, I2, I3)
    )
    s.torque(M1 * B.x + M2 * B.y + M3 * B.z, on=B, name="M")
    s.gravity(-g_ * s.N.z)


PRINTED = (
    Printed("(21), k = 1", "I_1*omega_1' + (I_3 - I_2)*omega_2*omega_3 - M_1", ((1, "1"),)),
    Printed("(21), k = 2", "I_2*omega_2' + (I_1 - I_3)*omega_3*omega_1 - M_2", ((2, "1"),)),
    Printed("(21), k = 3", "I_3*omega_3' + (I_2 - I_1)*omega_1*omega_2 - M_3", ((3, "1"),)),
    Printed("(14), along x", "m*x''", ((4, "1"),)),
    Printed("(14), along y", "m*y''", ((5, "1"),)),
    Printed("(14), along z", "m*z'' + m*g", ((6, "1"),)),
)

ENTRY = Entry(
    name="free-body",
    title="Free rigid body in 3-2-1 angles",
    source="Bar00 (18)–(21)",
    description="A rigid body in free flight, its attitude in 3-2-1 angles and its speeds the body "
    "components of ω.",
    build=build,
    printed=PRINTED,
    start={"omega_1": 0.1, "omega_2": 3.0, "omega_3": 0.1, "v_z": 10.0},
    inputs={"M_1": "0", "M_2": "0", "M_3": "0"},
    duration=2.0,
)
