"""What acts on a system, with the places where it acts: weights, declared loads, reactions; springs and dampers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from dalembert.errors import DalembertError
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

ArrowKind = Literal["weight", "load", "normal", "friction", "reaction", "torque"]
Loaded = tuple[str, ArrowKind, Point | Frame, Vector]


def loads(run: Trajectory) -> Iterator[Loaded]:
    """Weights and declared loads, but those of contacts that have a place."""
    system = run.system
    if system.field is not None:
        for b in system.bodies:
            yield f"weight of {b.name}", "weight", b.G, b.mass * system.field.g
    shown = {c.name for c in system.contacts if c.arrow is not None}
    for load in (x for x in system.loads if not x.along and x.name not in shown):
        yield from ((load.name, "load", P, F) for F, P in load.forces)
        yield from ((load.name, "torque", frame, T) for T, frame in load.torques)


def contact_forces(run: Trajectory) -> Iterator[Loaded]:
    """N n and T t at the point of every contact that has one, as a run found them."""
    for c in run.system.contacts if run.contact_modes is not None else ():
        if c.arrow is None:
            continue
        P, n, t = c.arrow
        if c.N is not None and n is not None:
            yield c.name, "normal", P, c.N * n
        if c.T is not None and t is not None:
            yield f"friction of {c.name}", "friction", P, c.T * t


def springs(run: Trajectory) -> Iterator[tuple[Literal["spring", "damper"], tuple[Point, Point]]]:
    """Pairs of points that a spring or a damper joins."""
    for potential in run.system.potentials:
        if potential.between is not None:
            yield "spring", potential.between
    for load in run.system.loads:
        if len(load.forces) == 2 and load.name.startswith("damper"):
            yield "damper", (load.forces[0][1], load.forces[1][1])


def reaction_forces(run: Trajectory) -> Iterator[tuple[str, Numbers, Numbers]]:
    """Name, place and force of every joint, and of the rows that hold one point together."""
    try:
        found = run.reactions
    except DalembertError:
        return  # a drawing without reactions is still a drawing
    sums: list[tuple[str, Numbers, Numbers]] = []
    for joint in found.joints.values():
        # joints of massless parts at one place pass the same force on
        if not any(np.array_equal(at, joint.at) and np.allclose(force, joint.force) for _, at, force in sums):
            sums.append((joint.name, joint.at, joint.force))
    contacts: dict[bytes, tuple[str, Numbers, Numbers]] = {}
    for row in found.rows.values():
        if row.force is not None and row.at is not None:
            name, at, force = contacts.get(row.at.tobytes(), (row.name, row.at, np.zeros_like(row.force)))
            contacts[row.at.tobytes()] = (name, at, force + row.force)
    yield from (*sums, *contacts.values())
