"""A symmetric rotor spins in two gimbals that have inertia themselves.

Source: Mag71, the gyroscope in gimbals. With the inertia J of the outer gimbal, A₁, A₂, C₂ of the
inner one, and A, C of the
rotor, the results are Lagrange's equations of
T = ½ (J + (A + A₂) sin²θ + C₂ cos²θ) φ̇² + ½ (A + A₁) θ̇² + ½ C (ψ̇ + φ̇ cos θ)².
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    m: float | None = 0.5,
    J: float | None = 0.0009,
    A_1: float | None = 0.0003,
    A_2: float | None = 0.0002,
    C_2: float | None = 0.0002,
    A: float | None = 0.0004,
    C: float | None = 0.0007,
) -> da.System:
    """The outer gimbal turns by φ about the vertical, the inner one by θ about the outer's axis,
    the rotor by ψ.

    All three are balanced about the fixed centre, so no mass enters; the axis of the rotor is
    vertical at θ = 0.
    """
    s = da.System("Gyroscope in gimbals", source="Mag71")
    phi, theta, psi = s.coordinates("phi theta psi")
    m_, J_, A1, A2, C2, A_, C_ = s.constants(m=m, J=J, A_1=A_1, A_2=A_2, C_2=C_2, A=A, C=C)
    outer, inner, rotor = s.N.rotations("zxz", phi, theta, psi, names=("outer", "inner", "rotor"))
    s.body("outer gimbal", m_, s.O, outer, da.inertia(outer, 0, 0, J_))
    s.body("inner gimbal", m_, s.O, inner, da.inertia(inner, A1, A2, C2))
    # the rotor is symmetric, so its inertia is constant in the inner gimbal too
    s.body("rotor", m_, s.O, rotor, da.inertia(inner, A_, A_, C_))
    return s


ENTRY = Entry(
    name="gyroscope",
    title="Gyroscope in gimbals",
    source="Mag71",
    description="A symmetric rotor spins in an inner and an outer gimbal, both with inertia of "
    "their own.",
    build=build,
    printed=(
        DerivedByHand(
            "along φ",
            "(J + (A + A_2)*sin(theta)**2 + C_2*cos(theta)**2)*phi'' + 2*(A + A_2 - "
            "C_2)*phi'*theta'*sin(theta)*cos(theta)"
            " + C*(psi'' + phi''*cos(theta) - phi'*theta'*sin(theta))*cos(theta) - C*(psi' + "
            "phi'*cos(theta))*theta'*sin(theta)",
            ((1, "1"),),
        ),
        DerivedByHand(
            "along θ",
            "(A + A_1)*theta'' - (A + A_2 - C_2)*phi'**2*sin(theta)*cos(theta) + C*(psi' + "
            "phi'*cos(theta))*phi'*sin(theta)",
            ((2, "1"),),
        ),
        DerivedByHand(
            "along ψ", "C*(psi'' + phi''*cos(theta) - phi'*theta'*sin(theta))", ((3, "1"),)
        ),
    ),
    # a nutation about a tilted axis, which makes the outer gimbal drift
    start={"theta": 1.0, "theta'": 5.0, "psi'": 300.0},
    duration=0.5,
)
