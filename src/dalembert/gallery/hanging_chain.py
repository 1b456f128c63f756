"""A chain hangs from one end and swings in a plane.

Source: Ray94, the chain of Daniel Bernoulli: nothing but its weight makes it stiff, through the
height it gains when bent, ½∫v′² dx. Its lowest frequency is ½ j₀ √(g/L) = 1.2024 √(g/L).
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry


def build(
    n: int = 2, *, mu: float | None = 0.8, L: float | None = 1.5, g: float | None = 9.81
) -> da.System:
    """v = Σ φ_i(x/L) v_i in n functions that satisfy v(0) = 0, x from the top down."""
    s = da.System("Hanging chain", source="Ray94")
    mu_, L_, g_ = s.constants(mu=mu, L=L, g=g)
    s.gravity(-g_ * s.N.y)
    chain = s.string("chain", s.O, -s.N.y, s.N.x, L_, mu_, right="free", shortening=True)
    da.discretise(s, chain, n)
    return s


ENTRY = Entry(
    name="hanging-chain",
    title="Hanging chain",
    source="Ray94",
    description="A chain hangs from one end and swings in a plane, stiffened by its weight alone.",
    build=build,
    start={"v_1": 0.2},
    duration=5.0,
)
