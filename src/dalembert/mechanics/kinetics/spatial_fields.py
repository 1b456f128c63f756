"""v(P), ω(B), m(P), F(P): what has a value at points or on frames, and sums Σ over all places that
have one.

A field is made at a place when it is first asked for there. Masses, inertias and loads exist at a
few places only and so say how far a sum reaches; velocities exist everywhere. A load on a
velocity's slopes, Σ F·∂v/∂u_r, is gathered by one sweep backwards through the velocities, from the
tips of the mechanism to its root: no partial velocity is formed, and the work grows with the number
of links.

Then the loads of a description, gathered: what acts on which point or frame, and what derives from
a potential.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from dalembert.foundation.caching import lazy_property
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, split_linear
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, sum_by_key, sum_scalars
from dalembert.symbolic.algebra.tape import Tape

Location = Point | Frame


class SpatialField:
    """One value (a scalar, a vector, a dyadic) for each place; `places` are those that a sum
    runs over, None for everywhere.
    """

    def __init__(
        self, tape: Tape, at: Callable[[Any], Any], places: tuple[Location, ...] | None = None
    ) -> None:
        self.tape, self._make, self.support = tape, at, places
        self.values: dict[Location, Any] = {}

    @classmethod
    def from_values(cls, tape: Tape, values: Iterable[tuple[Any, Any]]) -> SpatialField:
        """A field that exists at some places only; what belongs to one place is added up."""
        made: dict[Any, Any] = {}
        for X, value in values:
            made[X] = made[X] + value if X in made else value
        field = cls(tape, _raise_undefined, tuple(made))
        field.values = made
        return field

    def __call__(self, X: Location) -> Any:
        """The value at one place."""
        value = self.values.get(X)
        if value is None:
            value = self.values[X] = self._make(X)
        return value

    def map(self, rule: Callable[[Any], Any]) -> SpatialField:
        """The same rule at every place."""
        return SpatialField(self.tape, lambda X: rule(self(X)), self.support)

    def _combine(self, rule: Callable[[Any, Any], Any], other: SpatialField) -> SpatialField:
        return SpatialField(
            self.tape,
            lambda X: rule(self(X), other(X)),
            self.support if self.support is not None else other.support,
        )

    def __neg__(self) -> SpatialField:
        return self.map(operator.neg)

    def __mul__(self, other: SpatialField) -> SpatialField:
        return self._combine(operator.mul, other)

    def scale(self, k: Scalar) -> SpatialField:
        """k times the field."""
        return self.map(lambda a: k * a)

    def dot(self, other: SpatialField) -> SpatialField | Contraction:
        """a·b of vectors, I·ω of a dyadic and a vector; with slopes of velocities, what a sum
        gathers.
        """
        if isinstance(self, VelocityPartials):
            return Contraction(other, self)
        return (
            Contraction(self, other)
            if isinstance(other, VelocityPartials)
            else self._combine(operator.matmul, other)
        )

    def cross(self, other: SpatialField) -> SpatialField:
        """a × b"""
        return self._combine(lambda a, b: a.cross(b), other)

    def total(self) -> Scalar:
        """Σ over the places."""
        assert self.support is not None
        return reduce(operator.add, map(self, self.support), Scalar(self.tape, self.tape.zero))


def _raise_undefined(X: Location) -> Any:
    raise KeyError(X)


class DeclaredTotal:
    """A sum of declared functions, known as a whole."""

    def __init__(self, value: Scalar) -> None:
        self.value = value

    def total(self) -> Scalar:
        """Σ"""
        return self.value


class VelocityPartials(SpatialField):
    """∂v/∂x for every x of a column, at every place: {k: ∂v/∂x_k}, only those that do not
    vanish.
    """

    def __init__(self, of: SpatialField, by: Column) -> None:
        super().__init__(of.tape, _raise_undefined, of.support)
        self.of_field, self.by = of, by
        # where loads have met them
        self.loaded_locations: dict[Location, None] = {}

    @lazy_property
    def _linear(self) -> LinearCoefficients:
        return LinearCoefficients(self.tape, self.by.nodes)

    def __call__(self, X: Location) -> dict[int, Vector]:
        """{k: ∂v/∂x_k} at one place."""
        if X not in self.values:
            self.values[X] = split_linear(self._linear, self.of_field(X))[0]
        parts: dict[int, Vector] = self.values[X]
        return parts

    def seeds(self, X: Location, load: Vector) -> Iterator[tuple[int, int]]:
        """load·v = Σ of pairs (component of v, component of the load)."""
        zero = self.tape.zero
        for F, velocity in self.of_field(X).parts.items():
            yield from (
                (v, f)
                for v, f in zip(velocity, load.components(F), strict=True)
                if f != zero and v != zero
            )


class Contraction:
    """F·∂v/∂x_k at every place, not yet summed."""

    def __init__(self, load: SpatialField, slopes: VelocityPartials) -> None:
        self.load, self.slopes = load, slopes

    def total(self) -> Column:
        """Σ F·∂v/∂x_k for all k at once: F held, v swept backwards."""
        t, load, slopes, places = self.load.tape, self.load, self.slopes, self.load.support
        assert places is not None
        slopes.loaded_locations |= dict.fromkeys(places)
        return LazyGradient(
            t, sum_by_key(t, (pair for X in places for pair in slopes.seeds(X, load(X)))), slopes.by
        )


class LazyGradient(Column):
    """± Σ s ∂e/∂x of some pairs {e: s}. The sweep waits until its entries are read, so that a
    sum of such columns takes one.
    """

    __slots__ = ("by", "seeds", "sign")

    def __init__(self, tape: Tape, seeds: dict[int, int], by: Column, sign: int = 1) -> None:
        self.tape, self.seeds, self.by, self.sign = tape, seeds, by, sign

    def __getattr__(self, name: str) -> tuple[int, ...]:
        # asked once, for what `__init__` left unset
        assert name == "nodes"
        swept = (
            gradient(self.tape, self.seeds, self.by.nodes)
            if self.seeds
            else [self.tape.zero] * len(self.by)
        )
        self.nodes = tuple(swept if self.sign > 0 else map(self.tape.neg, swept))
        return self.nodes

    def __neg__(self) -> LazyGradient:
        return LazyGradient(self.tape, self.seeds, self.by, -self.sign)

    def __add__(self, other: Column) -> Column:
        if not (
            isinstance(other, LazyGradient) and other.by is self.by and other.sign == self.sign
        ):
            return super().__add__(other)
        both = sum_by_key(
            self.tape, (pair for seeds in (self.seeds, other.seeds) for pair in seeds.items())
        )
        return LazyGradient(self.tape, both, self.by, self.sign)

    def __sub__(self, other: Column) -> Column:
        return (
            self + -other
            if isinstance(other, LazyGradient) and other.sign != self.sign
            else super().__sub__(other)
        )


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


def applied_loads(kin: Kinematics) -> list[tuple[str, Vector, Point | Frame]]:
    """(name, load, where it acts) of every declared force and torque."""
    return [*applied_forces(kin), *applied_torques(kin)]


def weights(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, m g, G) of every mass in the gravity field."""
    field = kin.system.gravity_field
    if field is not None:
        g = field.g.on(kin.tape)
        for body in kin.system.bodies:
            yield f"weight of {body.name}", g.scale(body.mass.i), body.G


def spring_forces(kin: Kinematics) -> Iterator[tuple[str, Vector, Point]]:
    """(name, F, P) for both ends of every spring."""
    for spring in kin.system.potentials:
        yield from ((spring.name, F.on(kin.tape), P) for F, P in spring.forces)


def declared_kinetic_energy(kin: Kinematics) -> int | None:
    """T(q, q̇, t) of a system that is given by its energies; None where it follows from bodies."""
    if not kin.system.given_kinetic_energies:
        return None
    return sum_scalars(
        kin.tape, (kin.scalar(kin.in_rates(T.i)) for T in kin.system.given_kinetic_energies)
    ).i


def declared_potential_energy(kin: Kinematics) -> Scalar:
    """V(q, t) = Σ of the declared potentials, without gravity."""
    return sum_scalars(kin.tape, (kin.scalar(kin.in_rates(p.V.i)) for p in kin.system.potentials))


def unlocated_potential(kin: Kinematics) -> Scalar | None:
    """V of the potentials that are no springs, whose loads are known along the coordinates only;
    None where there are none.
    """
    rest = [kin.scalar(kin.in_rates(p.V.i)) for p in kin.system.potentials if not p.forces]
    return sum_scalars(kin.tape, rest) if rest else None


def potential_energy(kin: Kinematics) -> Scalar:
    """V = Σ V_i − Σ m g·r"""
    return declared_potential_energy(kin) + gravity_potential(kin)


def gravity_potential(kin: Kinematics) -> Scalar:
    """V_g = −Σ m g·r, by recursion along the points."""
    projections = gravity_projections(kin)
    return -sum_scalars(
        kin.tape, (projections[body.G] * body.mass for body in kin.system.bodies if projections)
    )


def gravity_projections(kin: Kinematics) -> dict[Point, Scalar]:
    """g·r of every mass centre and of the points on the way to it; none without a field."""
    field = kin.system.gravity_field
    projections: dict[Point, Scalar] = {}
    if field is None:
        return projections
    g = field.g.on(kin.tape)
    for body in kin.system.bodies:
        chain: list[Point] = []
        P: Point | None = body.G
        while P is not None and P not in projections:
            chain.append(P)
            P = P.parent
        for Q in reversed(chain):
            above = g @ Q.r
            projections[Q] = above if Q.parent is None else projections[Q.parent] + above
    return projections


def dissipation(kin: Kinematics) -> Scalar:
    """D(q, q̇, t): the sum of the declared dissipation functions, in q̇."""
    return sum_scalars(kin.tape, (kin.scalar(kin.in_rates(d.D.i)) for d in kin.system.dissipations))
