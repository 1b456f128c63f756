"""A uniform beam on two hinges vibrates in a plane.

Source: Ray94, the lateral vibrations of bars, by the method of Rayleigh and Ritz with v = 4ξ(1 − ξ)
v₁ + 10ξ(1 − ξ)(1 − 2ξ) v₂, ξ = x/L. The results are Lagrange's equations of T = ½μ∫v̇² dx and V =
½EI∫v″² dx; the two shapes, one even and one odd, do not couple.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    n: int = 2, *, EI: float | None = 200.0, mu: float | None = 1.5, L: float | None = 2.0
) -> da.System:
    """v = Σ φ_i(x/L) v_i in n functions that satisfy v(0) = v(L) = 0; μ is the mass per length."""
    s = da.System("Pinned beam", source="Ray94")
    EI_, mu_, L_ = s.constants(EI=EI, mu=mu, L=L)
    beam = s.beam("beam", s.O, s.N.x, s.N.y, L_, EI_, mu_, left="pinned", right="pinned")
    da.discretise(s, beam, n)
    return s


ENTRY = Entry(
    name="pinned-beam",
    title="Beam on two hinges",
    source="Ray94",
    description="A uniform beam pinned at both ends vibrates in a plane, expanded in two "
    "polynomials.",
    build=build,
    printed=(
        DerivedByHand("along v₁", "mu*L*8/15*v_1'' + 64*EI/L**3*v_1", ((1, "1"),)),
        DerivedByHand("along v₂", "mu*L*10/21*v_2'' + 1200*EI/L**3*v_2", ((2, "1"),)),
    ),
    start={"v_1": 0.05, "v_2": 0.01},
    duration=1.0,
)
