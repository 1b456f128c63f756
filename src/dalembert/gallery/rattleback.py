"""A rattleback: half an ellipsoid that rolls on a plane and reverses its spin, because its axes of
inertia are askew.

Source: KL82. Its relations of the rates are printed below; the motion is compared in tests/truth.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    a: float | None = 0.2,
    b: float | None = 0.03,
    c: float | None = 0.02,
    h: float | None = 0.01,
    m: float | None = 1.0,
    A: float | None = 2e-4,
    B: float | None = 1.6e-3,
    C: float | None = 1.7e-3,
    D: float | None = -2e-5,
    g: float | None = 9.81,
) -> da.System:
    """z points down; γ turns about it, α about the long axis, β about the short one; (x, y) is the
    point of contact.

    The mass centre lies h below the centre of the ellipsoid with the semi-axes a, b, c. A, B, C are
    the central moments of inertia, D is the entry I₁₂ of the inertia tensor. The speeds are the
    components of ω along the body.
    """
    s = da.System("Rattleback", source="KL82")
    x, y, gamma, alpha, beta = s.coordinates("x y gamma alpha beta")
    axes = s.constants(a=a, b=b, c=c)
    h_, m_ = s.constants(h=h, m=m)
    A_, B_, C_, D_ = s.constants(A=A, B=B, C=C, D=D)
    N = s.N
    stone = N.rotations("zxy", gamma, alpha, beta)[-1]
    contact = s.O.offset(x * N.x + y * N.y, "contact")
    centre = contact.offset(-da.ellipsoid_contact(N.z, stone, *axes), "centre", stone)
    G = centre.offset(h_ * stone.z, "G", stone)
    body = s.body("stone", m_, G, stone, da.inertia(stone, A_, B_, C_, xy=D_))
    s.roll(body, contact)
    s.gravity(s.constant("g", g) * N.z)
    s.speeds("w_1 w_2 w_3", stone.w, stone)
    return s


ENTRY = Entry(
    name="rattleback",
    title="Rattleback",
    source="KL82",
    description="Half an ellipsoid with askew axes of inertia rolls without slip on a plane and "
    "reverses its spin.",
    build=build,
    printed=(
        DerivedByHand("rate of α", "alpha' - w_3*sin(beta) - w_1*cos(beta)"),
        DerivedByHand(
            "rate of β",
            "cos(alpha)*beta' - (w_1*sin(beta) - w_3*cos(beta))*sin(alpha) - w_2*cos(alpha)",
        ),
        DerivedByHand("rate of γ", "cos(alpha)*gamma' - w_3*cos(beta) + w_1*sin(beta)"),
    ),
    start={"alpha": 0.008726646259971647884618, "beta": 0.008726646259971647884618, "w_3": -5.0},
    duration=20.0,
)
