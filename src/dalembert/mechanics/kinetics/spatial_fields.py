"""v(P), ω(B), m(P), F(P): what has a value at points or on frames, and sums Σ over all places that have one.

A field is made at a place when it is first asked for there. Masses, inertias and loads exist at a few places only and so say how far
a sum reaches; velocities exist everywhere. A load on a velocity's slopes, Σ F·∂v/∂u_r, is gathered by one sweep backwards through the
velocities, from the tips of the mechanism to its root: no partial velocity is formed, and the work grows with the number of links.

Then the loads of a description, gathered: what acts on which point or frame, and what derives from a potential.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from dalembert.foundation.caching import on_demand
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, linear_parts
from dalembert.symbolic.algebra.expression_graph import Linear, gradient
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gathered, total
from dalembert.symbolic.algebra.tape import Tape

Place = Point | Frame


class PlaceField:
    """One value (a scalar, a vector, a dyadic) for each place; `places` are those that a sum runs over, None for everywhere."""

    def __init__(self, tape: Tape, at: Callable[[Any], Any], places: tuple[Place, ...] | None = None) -> None:
        self.tape, self._make, self.places = tape, at, places
        self.made: dict[Place, Any] = {}

    @classmethod
    def of(cls, tape: Tape, values: Iterable[tuple[Any, Any]]) -> PlaceField:
        """A field that exists at some places only; what belongs to one place is added up."""
        made: dict[Any, Any] = {}
        for X, value in values:
            made[X] = made[X] + value if X in made else value
        field = cls(tape, _nowhere_else, tuple(made))
        field.made = made
        return field

    def __call__(self, X: Place) -> Any:
        """The value at one place."""
        found = self.made.get(X)
        if found is None:
            found = self.made[X] = self._make(X)
        return found

    def map(self, rule: Callable[[Any], Any]) -> PlaceField:
        """The same rule at every place."""
        return PlaceField(self.tape, lambda X: rule(self(X)), self.places)

    def _with(self, rule: Callable[[Any, Any], Any], other: PlaceField) -> PlaceField:
        return PlaceField(self.tape, lambda X: rule(self(X), other(X)), self.places if self.places is not None else other.places)

    def __neg__(self) -> PlaceField:
        return self.map(operator.neg)

    def __mul__(self, other: PlaceField) -> PlaceField:
        return self._with(operator.mul, other)

    def scaled(self, k: Scalar) -> PlaceField:
        """k times the field."""
        return self.map(lambda a: k * a)

    def dot(self, other: PlaceField) -> PlaceField | Contraction:
        """a·b of vectors, I·ω of a dyadic and a vector; with slopes of velocities, what a sum gathers."""
        if isinstance(self, Slopes):
            return Contraction(other, self)
        return Contraction(self, other) if isinstance(other, Slopes) else self._with(operator.matmul, other)

    def cross(self, other: PlaceField) -> PlaceField:
        """a × b"""
        return self._with(lambda a, b: a.cross(b), other)

    def total(self) -> Scalar:
        """Σ over the places."""
        assert self.places is not None
        return reduce(operator.add, map(self, self.places), Scalar(self.tape, self.tape.zero))


def _nowhere_else(X: Place) -> Any:
    raise KeyError(X)


class DeclaredSum:
    """A sum of declared functions, known as a whole."""

    def __init__(self, value: Scalar) -> None:
        self.value = value

    def total(self) -> Scalar:
        """Σ"""
        return self.value


class Slopes(PlaceField):
    """∂v/∂x for every x of a column, at every place: {k: ∂v/∂x_k}, only those that do not vanish."""

    def __init__(self, of: PlaceField, by: Column) -> None:
        super().__init__(of.tape, _nowhere_else, of.places)
        self.of_field, self.by = of, by
        # where loads have met them
        self.reached: dict[Place, None] = {}

    @on_demand
    def _linear(self) -> Linear:
        return Linear(self.tape, self.by.nodes)

    def __call__(self, X: Place) -> dict[int, Vector]:
        """{k: ∂v/∂x_k} at one place."""
        if X not in self.made:
            self.made[X] = linear_parts(self._linear, self.of_field(X))[0]
        parts: dict[int, Vector] = self.made[X]
        return parts

    def seeds(self, X: Place, load: Vector) -> Iterator[tuple[int, int]]:
        """load·v = Σ of pairs (component of v, component of the load)."""
        zero = self.tape.zero
        for F, velocity in self.of_field(X).parts.items():
            yield from ((v, f) for v, f in zip(velocity, load.components(F), strict=True) if f != zero and v != zero)


class Contraction:
    """F·∂v/∂x_k at every place, not yet summed."""

    def __init__(self, load: PlaceField, slopes: Slopes) -> None:
        self.load, self.slopes = load, slopes

    def total(self) -> Column:
        """Σ F·∂v/∂x_k for all k at once: F held, v swept backwards."""
        t, load, slopes, places = self.load.tape, self.load, self.slopes, self.load.places
        assert places is not None
        slopes.reached |= dict.fromkeys(places)
        return SweptColumn(t, gathered(t, (pair for X in places for pair in slopes.seeds(X, load(X)))), slopes.by)


class SweptColumn(Column):
    """± Σ s ∂e/∂x of some pairs {e: s}. The sweep waits until its entries are read, so that a sum of such columns takes one."""

    __slots__ = ("by", "seeds", "sign")

    def __init__(self, tape: Tape, seeds: dict[int, int], by: Column, sign: int = 1) -> None:
        self.tape, self.seeds, self.by, self.sign = tape, seeds, by, sign

    def __getattr__(self, name: str) -> tuple[int, ...]:
        # asked once, for what `__init__` left unset
        assert name == "nodes"
        swept = gradient(self.tape, self.seeds, self.by.nodes) if self.seeds else [self.tape.zero] * len(self.by)
        self.nodes = tuple(swept if self.sign > 0 else map(self.tape.neg, swept))
        return self.nodes

    def __neg__(self) -> SweptColumn:
        return SweptColumn(self.tape, self.seeds, self.by, -self.sign)

    def __add__(self, other: Column) -> Column:
        if not (isinstance(other, SweptColumn) and other.by is self.by and other.sign == self.sign):
            return super().__add__(other)
        both = gathered(self.tape, (pair for seeds in (self.seeds, other.seeds) for pair in seeds.items()))
        return SweptColumn(self.tape, both, self.by, self.sign)

    def __sub__(self, other: Column) -> Column:
        return self + -other if isinstance(other, SweptColumn) and other.sign != self.sign else super().__sub__(other)


def applied_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) of every declared force, as described (in q̇ and u)."""
    for load in kin.system.loads:
        for F, P in load.forces:
            yield load.name, F, P


def applied_torques(kin: Kinematics) -> Iterator[tuple[str, Vector, Frame]]:
    """(name, T, B) of every declared torque."""
    for load in kin.system.loads:
        for T, B in load.torques:
            yield load.name, T, B


def loads_without_potential(kin: Kinematics) -> list[tuple[str, Vector, Point | Frame]]:
    """(name, load, where it acts) of every declared force and torque."""
    return [*applied_forces(kin), *applied_torques(kin)]


def weights(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, m g, G) of every mass in the gravity field."""
    field = kin.system.field
    if field is not None:
        g = field.g.on(kin.tape)
        for body in kin.system.bodies:
            yield f"weight of {body.name}", g.scaled(body.mass.i), body.G


def spring_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) for both ends of every spring."""
    for spring in kin.system.potentials:
        yield from ((spring.name, F.on(kin.tape), P) for F, P in spring.forces)


def kinetic(kin: Kinematics) -> int | None:
    """T(q, q̇, t) of a system that is given by its energies; None where it follows from bodies."""
    if not kin.system.kinetic:
        return None
    return total(kin.tape, (kin.scalar(kin.in_rates(T.i)) for T in kin.system.kinetic)).i


def potential(kin: Kinematics) -> Scalar:
    """V(q, t) = Σ of the declared potentials, without gravity."""
    return total(kin.tape, (kin.scalar(kin.in_rates(p.V.i)) for p in kin.system.potentials))


def potential_without_place(kin: Kinematics) -> Scalar | None:
    """V of the potentials that are no springs, whose loads are known along the coordinates only; None where there are none."""
    rest = [kin.scalar(kin.in_rates(p.V.i)) for p in kin.system.potentials if not p.forces]
    return total(kin.tape, rest) if rest else None


def potential_energy(kin: Kinematics) -> Scalar:
    """V = Σ V_i − Σ m g·r"""
    return potential(kin) + gravity_potential(kin)


def gravity_potential(kin: Kinematics) -> Scalar:
    """V_g = −Σ m g·r, by recursion along the points."""
    above = heights(kin)
    return -total(kin.tape, (above[body.G] * body.mass for body in kin.system.bodies if above))


def heights(kin: Kinematics) -> dict[Point, Scalar]:
    """g·r of every mass centre and of the points on the way to it; none without a field."""
    field = kin.system.field
    found: dict[Point, Scalar] = {}
    if field is None:
        return found
    g = field.g.on(kin.tape)
    for body in kin.system.bodies:
        chain: list[Point] = []
        P: Point | None = body.G
        while P is not None and P not in found:
            chain.append(P)
            P = P.parent
        for Q in reversed(chain):
            above = g @ Q.r
            found[Q] = above if Q.parent is None else found[Q.parent] + above
    return found


def dissipation(kin: Kinematics) -> Scalar:
    """D(q, q̇, t): the sum of the declared dissipation functions, in q̇."""
    return total(kin.tape, (kin.scalar(kin.in_rates(d.D.i)) for d in kin.system.dissipations))
