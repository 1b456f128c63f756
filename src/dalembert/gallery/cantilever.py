"""A uniform beam clamped at one end vibrates in a plane.

Source: Ray94, the lateral vibrations of bars, by the method of Rayleigh and Ritz with v = ξ² v₁ +
(3ξ² − 2ξ³) v₂, ξ = x/L. The results are Lagrange's equations of T = ½μ∫v̇² dx and V = ½EI∫v″² dx.
The lowest frequency comes out as 3.533 √(EI/μL⁴), the beam's is 3.516.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    n: int = 2, *, EI: float | None = 200.0, mu: float | None = 1.5, L: float | None = 2.0
) -> da.System:
    """v = Σ φ_i(x/L) v_i in n functions that satisfy v(0) = v′(0) = 0; μ is the mass per length."""
    s = da.System("Cantilever", source="Ray94")
    EI_, mu_, L_ = s.constants(EI=EI, mu=mu, L=L)
    beam = s.beam("beam", at=s.O, along=s.N.x, bending=s.N.y, length=L_, stiffness=EI_, density=mu_)
    da.discretise(s, beam, n)
    return s


ENTRY = Entry(
    name="cantilever",
    title="Cantilever",
    source="Ray94",
    description="A uniform beam clamped at one end vibrates in a plane, expanded in two "
    "polynomials.",
    build=build,
    printed=(
        DerivedByHand("along v₁", "mu*L*(v_1''/5 + 4/15*v_2'') + 4*EI/L**3*v_1", ((1, "1"),)),
        DerivedByHand("along v₂", "mu*L*(4/15*v_1'' + 13/35*v_2'') + 12*EI/L**3*v_2", ((2, "1"),)),
    ),
    start={"v_1": 0.1},
    duration=2.0,
)
