"""A chain of n point masses on massless rods in a vertical plane, every angle measured from the rod
before.

Source: LL76 §5 Problem 1, whose angles are θ_i = q_1 + … + q_i. Virtual work along q_k turns all
rods from the k-th on, so the equation along q_k is the sum of those along θ_k, …, θ_n; the one
along θ_i is the k-th minus the next.
"""

from __future__ import annotations

import re

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry
from dalembert.gallery.pendulum_absolute import published_equation


def build(
    n: int = 3, *, m: float | None = 1.0, l: float | None = 1.0, g: float | None = 9.81
) -> da.System:
    """r_i = r_{i−1} + l_i (sin θ_i i − cos θ_i j), θ_i = q_1 + … + q_i      (i = 1, …, n)"""
    s = da.System(f"Pendulum of {n} links, relative angles", source="LL76 §5 Problem 1")
    s.gravity(-s.constant("g", g) * s.N.y)
    P, B = s.O, s.N
    for i in range(1, n + 1):
        B = B.rotated(s.coordinate(f"q_{i}"), B.z, f"B{i}")
        P = P.offset(-s.constant(f"l_{i}", l) * B.y, f"P{i}", B)
        s.particle(f"bob {i}", s.constant(f"m_{i}", m), P)
    return s


def to_relative_angles(text: str) -> str:
    """A formula in the absolute angles θ_i with θ_i = q_1 + … + q_i put in."""

    def sum_of_angles(match: re.Match[str]) -> str:
        index, primes = int(match[1]), match[2]
        return "(" + " + ".join(f"q_{k}{primes}" for k in range(1, index + 1)) + ")"

    return re.sub(r"theta_(\d+)('*)", sum_of_angles, text)


def _published_equations(n: int) -> tuple[DerivedByHand, ...]:
    pairs = [((i, "1"), (i + 1, "-1")) if i < n else ((i, "1"),) for i in range(1, n + 1)]
    return tuple(
        DerivedByHand(
            f"Problem 1, along θ{'₁₂₃'[i - 1]}",
            to_relative_angles(published_equation(i, n)),
            pairs[i - 1],
        )
        for i in range(1, n + 1)
    )


ENTRY = Entry(
    name="pendulum-relative",
    title="Pendulum of three links in relative angles",
    source="LL76 §5 Problem 1",
    description="A chain of point masses on massless rods swings in a vertical plane; every angle "
    "is measured from the previous rod.",
    build=build,
    printed=_published_equations(3),
    start={"q_1": 1.0},
)
