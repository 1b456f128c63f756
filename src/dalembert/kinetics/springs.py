"""Springs as forces at their two points, and what is left of V without them."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics


def spring_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) for both ends of every spring."""
    for spring in kin.system.potentials:
        yield from ((spring.name, F.on(kin.tape), P) for F, P in spring.forces)


def potential_without_place(kin: Kinematics) -> int | None:
    """V of the other potentials, whose loads are known along the coordinates only; None where there are none."""
    t = kin.tape
    rest = [kin.in_rates(p.V.i) for p in kin.system.potentials if not p.forces]
    total = t.zero
    for V in rest:
        total = t.add(total, V)
    return total if rest else None
