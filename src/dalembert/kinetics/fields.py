"""v(P), ω(B), m(P), F(P): what has a value at points or on frames, and sums Σ over all places that have one.

A field is made at a place when it is first asked for there. Masses, inertias and loads exist at a few places only and so say how far
a sum reaches; velocities exist everywhere. A load on a velocity's slopes, Σ F·∂v/∂u_r, is gathered by one sweep backwards through the
velocities, from the tips of the mechanism to its root: no partial velocity is formed, and the work grows with the number of links.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

from dalembert.algebra.columns import Column, gathered
from dalembert.algebra.folds import Linear, gradient
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import linear_parts

Place = Point | Frame


class PlaceField:
    """One value (a scalar, a vector, a dyadic) for each place; `places` are those that a sum runs over, None for everywhere."""

    def __init__(self, tape: Tape, at: Callable[[Any], Any], places: tuple[Place, ...] | None = None) -> None:
        self.tape, self._make, self.places = tape, at, places
        self.made: dict[Place, Any] = {}

    @classmethod
    def of(cls, tape: Tape, values: Mapping[Any, Any]) -> PlaceField:
        """A field that exists at some places only."""
        return cls(tape, values.__getitem__, tuple(values))

    def __call__(self, X: Place) -> Any:
        """The value at one place."""
        if X not in self.made:
            self.made[X] = self._make(X)
        return self.made[X]

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
        linear = Linear(of.tape, by.nodes)
        super().__init__(of.tape, lambda X: linear_parts(linear, of(X))[0], of.places)
        self.of_field, self.by = of, by
        # where loads have met them
        self.reached: dict[Place, None] = {}

    def seeds(self, X: Place, load: Vector) -> Iterator[tuple[int, int]]:
        """load·v = Σ of pairs (component of v, component of the load)."""
        for F, velocity in self.of_field(X).parts.items():
            yield from zip(velocity, load.components(F), strict=True)


class Contraction:
    """F·∂v/∂x_k at every place, not yet summed."""

    def __init__(self, load: PlaceField, slopes: Slopes) -> None:
        self.load, self.slopes = load, slopes

    def total(self) -> Column:
        """Σ F·∂v/∂x_k for all k at once: F held, v swept backwards."""
        t, load, places = self.load.tape, self.load, self.load.places
        assert places is not None
        self.slopes.reached |= dict.fromkeys(places)
        seeds = gathered(t, (pair for X in places for pair in self.slopes.seeds(X, load(X))))
        return Column(t, gradient(t, seeds, self.slopes.by.nodes))
