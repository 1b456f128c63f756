"""A chain of n point masses on massless rods in a vertical plane, every angle measured from the
vertical.

Source: LL76 §5 Problem 1 (n = 2). For n masses, with μ_k = m_k + … + m_n, the equation along θ_i is
Σ_j μ_max(i,j) l_i l_j (θ̈_j cos(θ_i − θ_j) + θ̇_j² sin(θ_i − θ_j)) + μ_i g l_i sin θ_i = 0.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    n: int = 3, *, m: float | None = 1.0, l: float | None = 1.0, g: float | None = 9.81
) -> da.System:
    """r_i = r_{i−1} + l_i (sin θ_i i − cos θ_i j)      (i = 1, …, n)"""
    s = da.System(f"Pendulum of {n} links, absolute angles", source="LL76 §5 Problem 1")
    s.gravity(-s.constant("g", g) * s.N.y)
    P = s.O
    for i in range(1, n + 1):
        B = s.N.rotated(s.coordinate(f"theta_{i}"), s.N.z, f"B{i}")
        P = P.offset(-s.constant(f"l_{i}", l) * B.y, f"P{i}", B)
        s.particle(f"bob {i}", s.constant(f"m_{i}", m), P)
    return s


def published_equation(i: int, n: int) -> str:
    """The printed equation along θ_i, as text."""
    terms = [
        f"({_sum('m', max(i, j), n)})*l_{i}*l_{j}*(theta_{j}''*cos(theta_{i} - theta_{j}) + "
        f"theta_{j}'**2*sin(theta_{i} - theta_{j}))"
        for j in range(1, n + 1)
    ]
    return " + ".join([*terms, f"({_sum('m', i, n)})*g*l_{i}*sin(theta_{i})"])


def _sum(name: str, first: int, last: int) -> str:
    return " + ".join(f"{name}_{k}" for k in range(first, last + 1))


ENTRY = Entry(
    name="pendulum-absolute",
    title="Pendulum of three links in absolute angles",
    source="LL76 §5 Problem 1",
    description="A chain of point masses on massless rods swings in a vertical plane; every angle "
    "is measured from the vertical.",
    build=build,
    printed=tuple(
        DerivedByHand(f"Problem 1, along θ{'₁₂₃'[i - 1]}", published_equation(i, 3), ((i, "1"),))
        for i in (1, 2, 3)
    ),
    start={"theta_1": 1.0, "theta_2": 1.0, "theta_3": 1.0},
)
