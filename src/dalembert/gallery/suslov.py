"""A rigid body turns about a fixed point with no angular velocity about one of its own axes.

Source: Koz15; the result follows from I ω̇ = I ω × ω + λ e₃ with ω₃ = 0 and e₁, e₂ chosen such that
I₁₂ = 0: I₁ ω̇₁ = −(I₁₃ ω₁ + I₂₃ ω₂) ω₂, I₂ ω̇₂ = (I₁₃ ω₁ + I₂₃ ω₂) ω₁.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    m: float | None = 1.0,
    I_1: float | None = 0.2,
    I_2: float | None = 0.3,
    I_3: float | None = 0.25,
    I_13: float | None = 0.05,
    I_23: float | None = 0.03,
) -> da.System:
    """ω·e₃ = 0; the attitude by a quaternion, the speeds are ω₁ and ω₂.

    The body is fixed at its mass centre; I₁₃ and I₂₃ are entries of the inertia tensor. ω₃ = 0
    makes I₃ immaterial.
    """
    s = da.System("Suslov's problem", source="Koz15")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"), name="B")
    m_, I1, I2, I3, I13, I23 = s.constants(m=m, I_1=I_1, I_2=I_2, I_3=I_3, I_13=I_13, I_23=I_23)
    s.body("body", m_, s.O, B, da.inertia(B, I1, I2, I3, xz=I13, yz=I23))
    s.constrain(B.w @ B.z, "no turn about the third axis")
    s.speeds(omega_1=B.w @ B.x, omega_2=B.w @ B.y)
    return s


ENTRY = Entry(
    name="suslov",
    title="Suslov's problem",
    source="Koz15",
    description="A rigid body turns about a fixed point with no angular velocity about one of its "
    "own axes.",
    build=build,
    printed=(
        DerivedByHand(
            "along e₁", "I_1*omega_1' + (I_13*omega_1 + I_23*omega_2)*omega_2", ((1, "1"),)
        ),
        DerivedByHand(
            "along e₂", "I_2*omega_2' - (I_13*omega_1 + I_23*omega_2)*omega_1", ((2, "1"),)
        ),
    ),
    start={"e_0": 1.0, "omega_1": -3.0, "omega_2": -0.5},
)
