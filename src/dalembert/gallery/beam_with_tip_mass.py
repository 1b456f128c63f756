"""A uniform cantilever carries a mass at its free end.

Source: Ray94, a bar with a load, by the method of Rayleigh and Ritz with v = ξ² v₁ + (3ξ² − 2ξ³)
v₂, ξ = x/L; both functions are 1 at the end, so that the mass moves with v₁ + v₂.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    n: int = 2,
    *,
    EI: float | None = 200.0,
    mu: float | None = 1.5,
    L: float | None = 2.0,
    m: float | None = 3.0,
) -> da.System:
    """T = ½μ∫v̇² dx + ½m v̇(L)², V = ½EI∫v″² dx"""
    s = da.System("Beam with tip mass", source="Ray94")
    EI_, mu_, L_, m_ = s.constants(EI=EI, mu=mu, L=L, m=m)
    beam = s.beam("beam", s.O, s.N.x, s.N.y, L_, EI_, mu_, right=s.end("free", mass=m_))
    da.discretise(s, beam, n)
    return s


ENTRY = Entry(
    name="beam-with-tip-mass",
    title="Cantilever with a mass at its end",
    source="Ray94",
    description="A uniform beam clamped at one end carries a mass at the other.",
    build=build,
    printed=(
        DerivedByHand(
            "along v₁",
            "mu*L*(v_1''/5 + 4/15*v_2'') + m*(v_1'' + v_2'') + 4*EI/L**3*v_1",
            ((1, "1"),),
        ),
        DerivedByHand(
            "along v₂",
            "mu*L*(4/15*v_1'' + 13/35*v_2'') + m*(v_1'' + v_2'') + 12*EI/L**3*v_2",
            ((2, "1"),),
        ),
    ),
    start={"v_1": 0.1},
    duration=3.0,
)
