"""A crank drives a slider through a connecting rod that bends.

The result is our own, the loop l₁ sin θ = (l₂ − Δ) sin φ with the rod's shortening Δ = ½∫v′² dx; a
rod of infinite stiffness is the
rigid slider-crank.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    n: int = 1,
    *,
    I: float | None = 0.02,
    m_c: float | None = 1.0,
    m: float | None = 0.5,
    l_1: float | None = 0.05,
    l_2: float | None = 0.3,
    EI: float | None = 40.0,
    mu: float | None = 2.0,
) -> da.System:
    """The rod is pinned at both ends, and its frame goes through them; the slider's mass m sits
    on its far end.
    """
    s = da.System("Flexible slider-crank", source="our own")
    theta, phi = s.coordinates("theta phi")
    I_, m_c_, m_, l1, l2, EI_, mu_ = s.constants(I=I, m_c=m_c, m=m, l_1=l_1, l_2=l_2, EI=EI, mu=mu)
    N = s.N
    crank, line = N.rotated(theta, N.z, "crank"), N.rotated(-phi, N.z, "line")
    pin = s.O.offset(l1 * crank.x, "crank pin", crank)
    # the crank is balanced about its axis, so that its mass does not matter
    s.body("crank", m_c_, s.O, crank, da.inertia(crank, 0, 0, I_))
    rod = s.beam(
        "rod",
        pin,
        line.x,
        line.y,
        l2,
        EI_,
        mu_,
        left="pinned",
        right=s.end("pinned", mass=m_),
        shortening=True,
    )
    bent = da.discretise(s, rod, n)
    s.constrain((bent.tip - s.O) @ N.y, "slider on its line")
    return s


ENTRY = Entry(
    name="flexible-slider-crank",
    title="Flexible slider-crank",
    source="our own",
    description="A crank with a flywheel drives a slider through a connecting rod that bends; one "
    "constraint closes the loop.",
    build=build,
    # Δ = ½ ∫₀¹ (4 − 8ξ)² dξ v₁²/l₂ = 8/3 v₁²/l₂
    printed=(
        DerivedByHand(
            "closure",
            "l_1*theta'*cos(theta) - (l_2 - 8/3*v_1**2/l_2)*phi'*cos(phi) + "
            "16/3*v_1*v_1'/l_2*sin(phi)",
        ),
    ),
    start={"theta": 0.0, "phi": 0.0, "theta'": 30.0},
    duration=0.3,
)
