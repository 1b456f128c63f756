"""F = −2 (dV/dρ) r, ρ = r·r: the force of a spring that was declared by its potential between two points, at those points."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.algebra.folds import Rewrite, gradient, symbols_of
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics


def spring_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) for both ends of every potential that depends on the distance of its two points alone."""
    t = kin.tape
    for spring in kin.system.potentials:
        if spring.between is None:
            continue
        P, Q = spring.between
        r = (P - Q).on(t)
        square, rho = r.dot_index(r), t.private_symbol("squared_length")
        V = Rewrite(t, {square: rho})(kin.in_rates(spring.V.i))
        if set(kin.q).intersection(symbols_of(t, (V,))):
            continue
        (slope,) = gradient(t, {V: t.one}, [rho])
        F = r.scaled(t.mul(t.const(-2), Rewrite(t, {rho: square})(slope)))
        yield spring.name, F, P
        yield spring.name, -F, Q
