"""Two uniform rods, the second hinged to the end of the first, in a vertical plane.

Source: Wik; printed results: ṗ₁ and ṗ₂ in absolute angles θ₁, θ₂. With relative angles θ₁ = α, θ₂ =
α + β the equation along α is the sum of the two, the equation along β the second.
"""

from __future__ import annotations

from typing import Literal

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    m_1: float | None = 1.0,
    m_2: float | None = 1.0,
    l_1: float | None = 1.0,
    l_2: float | None = 1.0,
    g: float | None = 9.81,
    angles: Literal["relative", "absolute"] = "relative",
) -> da.System:
    """The lower rod's angle β is measured from the upper rod ("relative") or from the vertical
    ("absolute").
    """
    s = da.System("Double pendulum", source="Wik")
    m1, m2, l1, l2, g_ = s.constants(m_1=m_1, m_2=m_2, l_1=l_1, l_2=l_2, g=g)
    s.gravity(-g_ * s.N.y)
    upper = s.rod("upper rod", s.pin("alpha", s.O), m1, l1)
    s.rod("lower rod", _lower_pin(s, upper, angles), m2, l2)
    return s


def _lower_pin(s: da.System, upper: da.Body, angles: str) -> da.Point:
    if angles == "relative":
        return s.pin("beta", upper.tip)
    # the same place carried without turning, so that the hinge counts from the vertical
    return s.pin("beta", upper.tip.offset(0 * s.N.x, frame=s.N))


_FIRST = (
    "(m_1/3 + m_2)*l_1**2*alpha'' + m_2*l_1*l_2/2*((alpha'' + beta'')*cos(beta) - (alpha' + "
    "beta')**2*sin(beta))"
    " + (m_1/2 + m_2)*g*l_1*sin(alpha)"
)
_SECOND = (
    "m_2*l_2**2/3*(alpha'' + beta'') + m_2*l_1*l_2/2*(alpha''*cos(beta) + "
    "alpha'**2*sin(beta)) + m_2/2*g*l_2*sin(alpha + beta)"
)

ENTRY = Entry(
    name="double-pendulum",
    title="Double pendulum of two rods",
    source="Wik",
    description="Two uniform rods hinged end to end swing in a vertical plane; the second angle is "
    "relative to the first rod.",
    build=build,
    printed=(
        Printed("ṗ₁", _FIRST, ((1, "1"), (2, "-1"))),
        Printed("ṗ₂", _SECOND, ((2, "1"),)),
    ),
    start={"alpha": 1.0, "beta": 0.5},
)
