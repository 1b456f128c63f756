"""F = −2 (dV/dρ) r, ρ = r·r: the force of a spring that was declared by its potential between two points, at those points."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.algebra.folds import Rewrite, gradient, symbols_of
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.model.elements import Potential


def spring_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) for both ends of every potential that depends on the distance of its two points alone."""
    for spring in kin.system.potentials:
        force = _force(kin, spring)
        if force is not None and spring.between is not None:
            P, Q = spring.between
            yield spring.name, force, P
            yield spring.name, -force, Q


def potential_without_place(kin: Kinematics) -> int | None:
    """V of the other potentials, whose loads are known along the coordinates only; None where there are none."""
    t = kin.tape
    rest = [kin.in_rates(p.V.i) for p in kin.system.potentials if _force(kin, p) is None]
    total = t.zero
    for V in rest:
        total = t.add(total, V)
    return total if rest else None


def _force(kin: Kinematics, spring: Potential) -> Vector | None:
    """The force at the first of the two points."""
    if spring.between is None:
        return None
    t = kin.tape
    P, Q = spring.between
    r = (P - Q).on(t)
    square, rho = r.dot_index(r), t.private_symbol("squared_length")
    V = Rewrite(t, {square: rho})(kin.in_rates(spring.V.i))
    if set(kin.q).intersection(symbols_of(t, (V,))):
        return None
    (slope,) = gradient(t, {V: t.one}, [rho])
    return r.scaled(t.mul(t.const(-2), Rewrite(t, {rho: square})(slope)))
