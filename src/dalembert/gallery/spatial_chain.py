"""A chain of n rigid bodies of generic inertia on revolute joints about changing axes.

Source: LL76 §5 Problem 1 for parallel axes (`axes="z"`) and concentrated masses; for crossed axes
nothing is printed, and the agreement of the principles and the kinematic audit are the check.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import dalembert as da
from dalembert.gallery.entry import Entry

Number = Fraction | da.Scalar


class _RandomParameters:
    """Drawn numbers, each in a unit or as a constant of the system with that default."""

    def __init__(
        self, s: da.System, *, symbolic: bool, unit_mass: Number, unit_length: Number, seed: int
    ) -> None:
        # lengths, not secrets
        self.s, self.symbolic, self.random = s, symbolic, Random(seed)  # noqa: S311
        self.mass, self.length = unit_mass, unit_length

    def uniform(self, low: float, high: float, name: str, unit: Number) -> Number:
        """A number with three decimals between two bounds."""
        value = Fraction(self.random.randrange(round(1000 * low), round(1000 * high)), 1000)
        return self.s.constant(name, value) if self.symbolic else value * unit

    def vector(self, size: float, name: str, F: da.Frame) -> da.Vector:
        """A vector fixed in a frame."""
        x, y, z = (self.uniform(-size, size, f"{name}{axis}", self.length) for axis in "xyz")
        return x * F.x + y * F.y + z * F.z

    def dyadic(self, i: int, F: da.Frame) -> da.Dyadic:
        """An inertia with all six components that a real body may have."""
        unit = self.mass * self.length**2
        xx, yy, zz = (self.uniform(0.1, 0.15, f"I_{i}{axes}", unit) for axes in ("xx", "yy", "zz"))
        xy, yz, xz = (
            self.uniform(-0.01, 0.01, f"I_{i}{axes}", unit) for axes in ("xy", "yz", "xz")
        )
        return da.inertia(F, xx, yy, zz, xy, yz, xz)


def build(
    n: int = 3,
    *,
    axes: str = "xyz",
    symbolic: bool = False,
    scaled: bool = False,
    g: float | None = 9.81,
    seed: int = 1,
) -> da.System:
    """Joint i sits at l_i in body i − 1 and turns about the next letter of `axes`; body i has its
    mass centre at c_i.

    Lengths, masses and inertias are drawn once from `seed`; `symbolic` makes each a constant with
    that default, `scaled` a multiple of a mass m and a length l, which are 1.
    """
    s = da.System(f"Spatial chain of {n} joints", source="LL76 §5 Problem 1")
    m, l = s.constants(m=1, l=1) if scaled else (Fraction(1), Fraction(1))
    draw = _RandomParameters(s, symbolic=symbolic, unit_mass=m, unit_length=l, seed=seed)
    s.gravity(-s.constant("g", g) * s.N.z)
    P, B = s.O, s.N
    for i in range(1, n + 1):
        joint = P.offset(draw.vector(0.5, f"l_{i}", B), f"P{i}")
        B = B.rotated(s.coordinate(f"q_{i}"), getattr(B, axes[(i - 1) % len(axes)]), f"B{i}")
        G = joint.offset(draw.vector(0.3, f"c_{i}", B), f"G{i}")
        s.body(f"body {i}", draw.uniform(1, 2, f"m_{i}", m), G, B, draw.dyadic(i, B))
        P = joint
    return s


def with_units(
    n: int = 3, *, axes: str = "xyz", g: float | None = 9.81, seed: int = 1
) -> da.System:
    """The same with m and l, so that every number has its dimension."""
    return build(n, axes=axes, scaled=True, g=g, seed=seed)


ENTRY = Entry(
    name="spatial-chain",
    title="Spatial chain of three revolute joints",
    source="LL76 §5 Problem 1",
    description="Rigid bodies with all six components of inertia hang in a chain on hinges about "
    "x, y, z in turn.",
    build=with_units,
    start={"q_1": 0.5, "q_2": 0.5, "q_3": 0.5},
)
