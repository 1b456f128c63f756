"""What is measured: the gallery's systems, and the same numbers for tools that are not given a
description.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy
from numpy.typing import NDArray

from dalembert.analysis.flexible.assumed_modes.admissible_functions import orthogonal_polynomials
from dalembert.gallery import (
    pendulum_absolute,
    pendulum_relative,
    rolling_disk,
    spatial_chain,
    spin_up_beam,
)

GRAVITY = 9.81
AXES = "xyz"

chain = spatial_chain.build
pendulum = pendulum_relative.build
pendulum_from_vertical = pendulum_absolute.build
disk = rolling_disk.build
spin_up = spin_up_beam.build


@dataclass(frozen=True)
class Link:
    """A body of the spatial chain: where its joint sits in the body before, its axis (0, 1, 2 for
    x, y, z), its mass, its mass centre from the joint and its inertia about that, in its own frame.
    """

    offset: NDArray[Any]
    axis: int
    mass: float
    centre: NDArray[Any]
    inertia: NDArray[Any]


def links(n: int) -> list[Link]:
    """The numbers of the gallery's chain, read from its constants."""
    symbols = chain(n, symbolic=True).symbols

    def value(name: str) -> float:
        given = symbols[name].value
        assert given is not None
        return float(given)

    def vector(name: str) -> NDArray[Any]:
        return numpy.array([value(f"{name}{axis}") for axis in AXES])

    def inertia(i: int) -> NDArray[Any]:
        return numpy.array([[value(f"I_{i}{min(a, b)}{max(a, b)}") for b in AXES] for a in AXES])

    return [
        Link(vector(f"l_{i}"), (i - 1) % 3, value(f"m_{i}"), vector(f"c_{i}"), inertia(i))
        for i in range(1, n + 1)
    ]


def beam_functions(n: int) -> list[tuple[Fraction, ...]]:
    """The coefficients of the polynomials in which the clamped beam is expanded."""
    return [p.coefficients for p in orthogonal_polynomials(((0, 0), (0, 1)), 2, n)]


def states(n: int, count: int, seed: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
    """Angles in all positions and moderate speeds."""
    draw = numpy.random.default_rng(seed)
    return draw.uniform(-numpy.pi, numpy.pi, (count, n)), draw.uniform(-1.0, 1.0, (count, n))
