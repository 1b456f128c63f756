"""A flyball governor whose arms are held by stiff springs with dampers.

Source: MBS A05. The motion is compared in tests/truth.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    rho: float | None = 3000.0,
    m: float | None = 5.0,
    w: float | None = 0.01,
    a: float | None = 0.1,
    l: float | None = 1.0,
    K: float | None = 8e5,
    C: float | None = 4e4,
    l_0: float | None = 0.5,
    g: float | None = 9.81,
) -> da.System:
    """A shaft turns by ψ; a slider (cube of side a) is at height s on it; two arms hang by α below
    the horizontal.

    Shaft and arms are rods l × w × w of density ρ; the arms are hinged at ±a/2 from the axis at
    height l and carry a ball m each. Spring and damper join the slider at ±a/2 with the middle of
    each arm.
    """
    s = da.System("Flyball governor", source="MBS A05")
    psi, height, alpha = s.coordinates("psi s alpha")
    rho_, m_, w_, a_, l_, K_, C_, l0, g_ = s.constants(
        rho=rho, m=m, w=w, a=a, l=l, K=K, C=C, l_0=l_0, g=g
    )
    N = s.N
    A = N.rotated(psi, N.z, "A")
    m_r, m_s = rho_ * l_ * w_**2, rho_ * a_**3
    thin, wide = m_r * w_**2 / 6, m_r * (l_**2 + w_**2) / 12
    s.body(
        "shaft",
        m_r,
        s.O.offset(l_ / 2 * N.z, "middle of the shaft", A),
        A,
        da.inertia(A, wide, wide, thin),
    )
    slider = s.O.offset(height * N.z, "middle of the slider", A)
    s.box("slider", slider, A, m_s, a_, a_, a_)
    for side, sign in (("right", 1), ("left", -1)):
        arm = A.rotated(sign * alpha, A.y, f"{side} arm")
        hinge = s.O.offset(sign * a_ / 2 * A.x + l_ * A.z, f"{side} hinge", A)
        middle = hinge.offset(sign * l_ / 2 * arm.x, f"middle of the {side} arm", arm)
        s.body(f"{side} arm", m_r, middle, arm, da.inertia(arm, thin, wide, wide))
        s.particle(f"{side} ball", m_, hinge.offset(sign * l_ * arm.x, f"{side} ball", arm))
        foot = slider.offset(sign * a_ / 2 * A.x, f"{side} foot", A)
        s.spring(K_, middle, foot, rest=l0, name=f"{side} spring")
        s.damper(C_, middle, foot, name=f"{side} damper")
    s.gravity(-g_ * N.z)
    return s


_RODS = "rho*l*w**2"
_WIDE = f"({_RODS}*(l**2 + w**2)/12)"
_THIN = f"({_RODS}*w**2/6)"
_J = (
    f"({_THIN} + rho*a**5/6 + 2*({_RODS}*(a/2 + l/2*cos(alpha))**2 + m*(a/2 + l*cos(alpha))**2"
    f" + {_THIN}*sin(alpha)**2 + {_WIDE}*cos(alpha)**2))"
)
_HALF_DJ_DALPHA = (
    f"(-2*{_RODS}*(a/2 + l/2*cos(alpha))*l/2*sin(alpha) - 2*m*(a/2 + l*cos(alpha))*l*sin(alpha)"
    f" + 2*({_THIN} - {_WIDE})*sin(alpha)*cos(alpha))"
)

ENTRY = Entry(
    name="flyball-governor",
    title="Flyball governor",
    source="MBS A05",
    description="Two arms with balls swing out on a turning shaft and lift a slider through stiff "
    "springs with dampers.",
    build=build,
    printed=(
        DerivedByHand(
            "J ψ̇ is constant", f"{_J}*psi'' + 2*{_HALF_DJ_DALPHA}*alpha'*psi'", ((1, "1"),)
        ),
    ),
    start={"s": 0.5, "alpha": 0.5235987755982988, "psi'": 6.283185307179586},
    duration=1.0,
)
