"""A cart on a spring carries a hinged bar that a horizontal force pulls at its end.

Source: Mei85 Ex. 7.3, 7.4; printed result (h).
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    M: float | None = 2.0,
    m: float | None = 1.0,
    a: float | None = 0.5,
    k: float | None = 10.0,
    g: float | None = 9.81,
) -> da.System:
    """r_C = x i, r_G = x i + a (sin θ i − cos θ j); the bar has length 2a, the force F acts at its
    lower end.

    Mei85 measures x from the unstretched spring, so the length L of the spring drops out of every
    equation.
    """
    s = da.System("Cart and bar", source="Mei85 Ex. 7.3")
    x, theta = s.coordinates("x theta")
    M_, m_, a_, k_, g_ = s.constants(M=M, m=m, a=a, k=k, g=g)
    F = s.input("F")
    N = s.N
    C = s.O.offset(x * N.x, "C")
    B = N.rotated(theta, N.z, "B")
    G = C.offset(-a_ * B.y, "G")
    s.particle("cart", M_, C)
    s.body("bar", m_, G, B, da.rod_inertia(B.y, m_, 2 * a_))
    s.potential(k_ * x**2 / 2, "spring")
    s.gravity(-g_ * N.y)
    s.force(F * N.x, at=C.offset(-2 * a_ * B.y, "end"), name="F")
    return s


ENTRY = Entry(
    name="cart-and-bar",
    title="Cart on a spring with a hinged bar",
    source="Mei85 Ex. 7.3",
    description="A mass on a spring carries a hinged uniform bar that a horizontal force pulls at "
    "its free end.",
    build=build,
    printed=(
        Printed(
            "(h), first",
            "(M + m)*x'' + m*a*(theta''*cos(theta) - theta'**2*sin(theta)) + k*x - F",
            ((1, "1"),),
        ),
        Printed(
            "(h), second",
            "m*a*x''*cos(theta) + 4/3*m*a**2*theta'' + m*g*a*sin(theta) - 2*F*a*cos(theta)",
            ((2, "1"),),
        ),
    ),
    start={"theta": 0.5},
    inputs={"F": "2*sin(t)"},
)
