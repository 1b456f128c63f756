"""A flexible beam turns about a ball joint, in 3-2-1 angles and body rates, and bends in one plane.

Source: Bar00 Fig. 2, (60)–(62), with the ½ of the kinetic energy and with the polar inertia J per
length, without which the straight beam has no inertia about itself. With v = ξ² v₁ + (3ξ² − 2ξ³)
v₂, ξ = x/L, the kinetic energy (62) becomes T = ½μL (q̇·M q̇ + S (ω_x² + ω_z²) + L²/3 (ω_y² + ω_z²)
+ 2L (ω_z β̇ − ω_x ω_y β)) + ½JL ω_x² with S = q·M q and β = b·q, and the results are its Lagrange
equations for quasi-coordinates, ḣ + ω × h = 0 with h = ∂T/∂ω, and those of the amplitudes.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    n: int = 2,
    *,
    EI: float | None = 20.0,
    mu: float | None = 0.5,
    L: float | None = 1.0,
    J: float | None = 0.01,
    polar: bool = True,
    shortening: bool = False,
) -> da.System:
    """r = x b₁ + v b₂ in a frame that turns by ψ, θ, φ about the axes 3, 2, 1; the speeds are
    ω·b_i and the rates of the amplitudes.
    """
    s = da.System("Beam on a ball joint", source="Bar00 (60)–(62)")
    psi, theta, phi = s.coordinates("psi theta phi")
    EI_, mu_, L_ = s.constants(EI=EI, mu=mu, L=L)
    B = s.N.rotations("zyx", psi, theta, phi, names=("A", "C", "B"))[-1]
    inertia = s.constant("J", J) if polar else None
    beam = s.beam("beam", s.O, B.x, B.y, L_, EI_, mu_, polar=inertia, shortening=shortening)
    s.speeds("omega_x omega_y omega_z", B.w, B)
    da.discretise(s, beam, n)
    return s


# q·M q, b·q and their rates
_S = "(v_1**2/5 + 8/15*v_1*v_2 + 13/35*v_2**2)"
_S_DOT = "(2/5*v_1*v_1' + 8/15*(v_1'*v_2 + v_1*v_2') + 26/35*v_2*v_2')"
_BETA, _BETA_DOT, _BETA_DDOT = (
    "(v_1/4 + 7/20*v_2)",
    "(v_1'/4 + 7/20*v_2')",
    "(v_1''/4 + 7/20*v_2'')",
)
_H_X = f"(mu*L*{_S}*omega_x - mu*L**2*{_BETA}*omega_y + J*L*omega_x)"
_H_Y = f"(mu*L**3/3*omega_y - mu*L**2*{_BETA}*omega_x)"
_H_Z = f"(mu*L*{_S}*omega_z + mu*L**3/3*omega_z + mu*L**2*{_BETA_DOT})"
_H_X_DOT = (
    f"mu*L*({_S}*omega_x' + {_S_DOT}*omega_x) - mu*L**2*({_BETA}*omega_y' + "
    f"{_BETA_DOT}*omega_y) + J*L*omega_x'"
)
_H_Y_DOT = f"mu*L**3/3*omega_y' - mu*L**2*({_BETA}*omega_x' + {_BETA_DOT}*omega_x)"
_H_Z_DOT = f"mu*L*({_S}*omega_z' + {_S_DOT}*omega_z) + mu*L**3/3*omega_z' + mu*L**2*{_BETA_DDOT}"


def _amplitude_equation(M: str, M_q: str, b: str, k: str) -> str:
    """μL (M q̈ + L b ω̇_z − (ω_x² + ω_z²) M q + L b ω_x ω_y) + k"""
    return (
        f"mu*L*({M} + L*{b}*omega_z' - (omega_x**2 + omega_z**2)*{M_q} + "
        f"L*{b}*omega_x*omega_y) "
        f"+ {k}"
    )


ENTRY = Entry(
    name="beam-on-ball-joint",
    title="Flexible beam on a ball joint",
    source="Bar00 (60)–(62)",
    description="A flexible beam turns about a ball joint and bends in one plane, in body rates "
    "and two amplitudes.",
    build=build,
    printed=(
        DerivedByHand("along ω_x", f"{_H_X_DOT} + omega_y*{_H_Z} - omega_z*{_H_Y}", ((1, "1"),)),
        DerivedByHand("along ω_y", f"{_H_Y_DOT} + omega_z*{_H_X} - omega_x*{_H_Z}", ((2, "1"),)),
        DerivedByHand("along ω_z", f"{_H_Z_DOT} + omega_x*{_H_Y} - omega_y*{_H_X}", ((3, "1"),)),
        DerivedByHand(
            "along v₁",
            _amplitude_equation(
                "(v_1''/5 + 4/15*v_2'')", "(v_1/5 + 4/15*v_2)", "1/4", "4*EI/L**3*v_1"
            ),
            ((4, "1"),),
        ),
        DerivedByHand(
            "along v₂",
            _amplitude_equation(
                "(4/15*v_1'' + 13/35*v_2'')", "(4/15*v_1 + 13/35*v_2)", "7/20", "12*EI/L**3*v_2"
            ),
            ((5, "1"),),
        ),
    ),
    start={"omega_x": 1.0, "omega_z": 2.0, "v_1": 0.02},
    duration=1.0,
)
