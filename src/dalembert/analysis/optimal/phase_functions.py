"""One phase as functions of its unknowns: motion, cost, conditions and bounds, differentiated
once for all meshes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.analysis.optimal.phase import FREE, BadOptimization, Phase, Range, range_of
from dalembert.analysis.optimal.point_equations import PointEquations, point_equations
from dalembert.analysis.optimal.point_function import PointFunction, point_function
from dalembert.errors import BadExpression, DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.symbol_values import symbol_name
from dalembert.runtime.states.run_values import parameter_vector
from dalembert.runtime.states.tables import check_spans
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import (
    COMMON_DEGREES,
    TIME,
    has_unit,
    parse_number,
    warn_if_degrees,
)


@dataclass(frozen=True, eq=False)
class NodeCondition:
    """low ≤ expression ≤ high at a node; `place` is that of a state which the expression is."""

    text: str
    node: int
    range: Range
    place: int | None = None


@dataclass(frozen=True, eq=False)
class WayPoint:
    """Conditions at a fraction of the duration."""

    fraction: float
    conditions: tuple[NodeCondition, ...]


class PhaseFunctions:
    """What does not depend on the mesh."""

    def __init__(
        self, phase: Phase, parameters: Sequence[str], begin: float | None, *, explicit: bool | None
    ) -> None:
        self.phase, system = phase, phase.system
        rated = _rate_bounded_inputs(phase)
        self.equations: PointEquations = point_equations(
            system, phase.values, phase.inputs, rated, explicit=explicit
        )
        eq = self.equations
        self.tape = eq.tape
        self.names = tuple(map(eq.name, eq.unknowns))
        self.theta = tuple(system.symbols[n].scalar.i for n in parameters if n in system.symbols)
        self.theta_names = tuple(n for n in parameters if n in system.symbols)
        self.duration = self.tape.private_symbol("duration")
        self.fraction = self.tape.private_symbol("fraction")
        self.span = duration_range(phase.duration)
        # of a free duration the shortest must be covered; the replay checks the one that was found
        check_spans(eq.values.table_inputs, begin or 0.0, (begin or 0.0) + self.span.low)
        self._read_cost()
        self.lower, self.upper, self.path = self._bounds()
        self.integrals = self._conditions("integrals", phase.integrals)
        self.start = self._at_node("start", phase.start)
        self.end = self._at_node("end", phase.end)
        self.way_points = self._way_points()
        self.periodic = self._periodic()
        self.held = self._held()
        self._check_time(begin)
        self.begin = 0.0 if begin is None else begin

    # ---- reading ------------------------------------------------------------------------------

    def _read(self, what: str, key: Any) -> int:
        try:
            return self.equations.read(key)
        except BadExpression as problem:
            msg = f"{what}: {problem}"
            raise BadOptimization(msg) from problem

    def _number_or_node(self, what: str, given: Any) -> int:
        if isinstance(given, str) and given == "duration":
            return self.tape.one
        if isinstance(given, int | float) and not isinstance(given, bool):
            if not math.isfinite(given):
                msg = f"{what}: {given} is not finite"
                raise BadOptimization(msg)
            return self.tape.const(Fraction(given))
        if not isinstance(given, str | Scalar):
            msg = (
                f"{what}: {given!r:.60} is not an expression; give a text such as 'F**2' or an "
                f"expression of the system"
            )
            raise BadOptimization(msg)
        return self._read(what, given)

    def _read_cost(self) -> None:
        phase, zero = self.phase, self.tape.zero
        self.cost = (
            zero if phase.minimize is None else self._number_or_node("minimize", phase.minimize)
        )
        self.end_cost = (
            zero
            if phase.minimize_at_end is None
            else self._number_or_node("minimize_at_end", phase.minimize_at_end)
        )
        self._refuse_unknowns("minimize_at_end", str(phase.minimize_at_end), self.end_cost)

    def _conditions(
        self, what: str, given: Mapping[Any, Any], *, symmetric: bool = False
    ) -> tuple[NodeCondition, ...]:
        place = {x: k for k, x in enumerate(self.equations.unknowns)}
        system, conditions = self.phase.system, list[NodeCondition]()
        for key, value in given.items():
            node = self._rate_of_input(key)
            node = self._read(what, key) if node is None else node
            text = str(key.name or key) if isinstance(key, Scalar) else str(key)
            limits = range_of(system, what, key, value, symmetric=symmetric)
            conditions.append(NodeCondition(text, node, limits, place.get(node)))
        return tuple(conditions)

    def _rate_of_input(self, key: Any) -> int | None:
        """F.dot of an input whose rate is bounded."""
        index = {self.equations.name(i): i for i in self.equations.inputs}
        return index.get(key) if isinstance(key, str) else None

    def _bounds(self) -> tuple[FloatArray, FloatArray, tuple[NodeCondition, ...]]:
        n, others = len(self.equations.unknowns), list[NodeCondition]()
        lower, upper = np.full(n, -math.inf), np.full(n, math.inf)
        for c in self._conditions("bounds", self.phase.bounds, symmetric=True):
            if c.place is None:
                others.append(c)
            else:
                lower[c.place], upper[c.place] = (
                    max(lower[c.place], c.range.low),
                    min(upper[c.place], c.range.high),
                )
        return lower, upper, (*others, *self._conditions("path", self.phase.path))

    def _at_node(self, what: str, given: Mapping[Any, Any]) -> tuple[NodeCondition, ...]:
        conditions = self._conditions(what, given)
        for c in conditions:
            self._refuse_unknowns(what, c.text, c.node)
            self._check_inside(what, c)
            if c.node in self.equations.evaluator.angles and abs(c.range.low) in COMMON_DEGREES:
                warn_if_degrees(f"{what}: {c.text}", c.range.low)
        return conditions

    def _check_inside(self, what: str, c: NodeCondition) -> None:
        """Refuse a value that the bounds exclude."""
        if c.place is None:
            return
        low, high = self.lower[c.place], self.upper[c.place]
        if c.range.low > high or c.range.high < low:
            bounds = Range(float(low), float(high))
            msg = (
                f"{what}: {c.text} {c.range} lies outside its bounds, {c.text} {bounds}; change "
                f"one of them"
            )
            raise BadOptimization(msg)

    def _refuse_unknowns(self, what: str, text: str, node: int) -> None:
        """At a node only states are known: an input may jump there."""
        eq = self.equations
        inside = [i for i in symbols_of(self.tape, (node,)) if i in eq.inputs or i in eq.algebraic]
        if inside:
            name = eq.name(inside[0])
            cure = (
                f"bound its rate, bounds={{'{name}.dot': …}}, which makes it a state"
                if inside[0] in eq.inputs
                else "give it in path=…"
            )
            msg = f"{what}: {text} contains {name}, which may jump at a node; {cure}"
            raise BadOptimization(msg)

    def _way_points(self) -> tuple[WayPoint, ...]:
        points = []
        for key, conditions in _pairs("way_points", self.phase.way_points):
            fraction = self._fraction_of(key)
            points.append(WayPoint(fraction, self._at_node(f"way_points at {key}", conditions)))
        return tuple(sorted(points, key=lambda w: w.fraction))

    def _fraction_of(self, key: Any) -> float:
        """A time of a fixed duration, or "40 %" of any."""
        if isinstance(key, str) and key.strip().endswith("%"):
            fraction = float(key.strip()[:-1]) / 100.0
        elif self.span.is_point:
            fraction = _time("way_points", key) / self.span.low
        else:
            msg = f"way_points: the duration is free; give {key!r} as a fraction, such as '40 %'"
            raise BadOptimization(msg)
        if not 0.0 < fraction < 1.0:
            msg = f"way_points: {key!r} is not inside the duration"
            raise BadOptimization(msg)
        return fraction

    def _periodic(self) -> tuple[tuple[int, float], ...]:
        """(place of a state, end − start)"""
        given, eq = self.phase.periodic, self.equations
        if given is True:
            given = [eq.name(i) for i in eq.states]
        shifts = (
            dict(given)
            if isinstance(given, Mapping)
            else dict.fromkeys([given] if isinstance(given, str) else given, 0.0)
        )
        pairs, place = list[tuple[int, float]](), {x: k for k, x in enumerate(eq.states)}
        for key, shift in shifts.items():
            node = self._read("periodic", key)
            if node not in place:
                msg = (
                    f"periodic: {key} is not a state; the states are "
                    f"{', '.join(map(eq.name, eq.states))}"
                )
                raise BadOptimization(msg)
            pairs.append((place[node], float(shift)))
        return tuple(pairs)

    def _held(self) -> dict[int, FloatArray]:
        """{place of an input: fractions of the duration at which it may change}"""
        eq, first = self.equations, len(self.equations.states) + len(self.equations.algebraic)
        samples = dict[int, FloatArray]()
        for key, given in self.phase.held.items():
            name = symbol_name(self.phase.system, key, ("input",))
            names = [eq.name(i) for i in eq.inputs]
            if name not in names:
                msg = (
                    f"held: {name} is given or has a bounded rate, so it cannot be held over "
                    f"samples"
                )
                raise BadOptimization(msg)
            samples[first + names.index(name)] = self._sample_times(name, given)
        return samples

    def _sample_times(self, name: str, given: Any) -> FloatArray:
        if isinstance(given, int) and not isinstance(given, bool) and given > 0:
            return np.linspace(0.0, 1.0, given + 1)
        if not self.span.is_point:
            msg = (
                f"held: the duration is free; give the number of samples of {name}, "
                f"held={{'{name}': 20}}"
            )
            raise BadOptimization(msg)
        every = _time("held", given)
        count = self.span.low / every if every > 0.0 else 0.0
        if not 1.0 - 1e-9 <= count <= 1e5:
            msg = (
                f"held: {name} every {every:g} in a duration of {self.span.low:g}; give a "
                f"shorter interval or a number of samples"
            )
            raise BadOptimization(msg)
        times = np.arange(math.ceil(count - 1e-9)) * every / self.span.low
        return np.append(times, 1.0)

    def _check_time(self, begin: float | None) -> None:
        """A phase behind one of free duration begins at an unknown time."""
        eq = self.equations
        nodes = (
            *eq.rates,
            *eq.equations,
            self.cost,
            self.end_cost,
            *(c.node for c in (*self.path, *self.integrals, *self.start, *self.end)),
        )
        self.autonomous = eq.evaluator.time not in symbols_of(self.tape, nodes)
        if begin is None and not self.autonomous:
            msg = (
                f"optimize: {self.phase.system.name!r} depends on the time t and begins at an "
                f"unknown time; fix the durations before it"
            )
            raise BadOptimization(msg)

    # ---- functions ------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.equations.states)

    @property
    def common(self) -> tuple[int, ...]:
        """Unknowns that all points share: parameters, and the duration if it is free."""
        return (*self.theta, *(() if self.span.is_point else (self.duration,)))

    def _insert_time(self, nodes: Iterable[int], fraction: int | None = None) -> list[int]:
        """t = t₀ + T τ put in."""
        t = self.tape
        tau = self.fraction if fraction is None else fraction
        moment = t.add(t.const(Fraction(self.begin)), t.mul(self.duration, tau))
        insert = Substitution(t, {self.equations.evaluator.time: moment})
        return [insert(i) for i in nodes]

    @cached_property
    def point(self) -> PointFunction:
        """(T f, motion, constraints, path, T c, T L) at a collocation point."""
        t, eq, T = self.tape, self.equations, self.duration
        rates = [t.mul(T, e) for e in eq.rates]
        integrands = [t.mul(T, c.node) for c in self.integrals]
        cost = () if self.cost == t.zero else (t.mul(T, self.cost),)
        outs = self._insert_time(
            [*rates, *eq.equations, *(c.node for c in self.path), *integrands, *cost]
        )
        return point_function(t, outs, (*eq.unknowns, *self.common), (self.fraction,))

    def at_node(self, nodes: Sequence[int], fraction: float) -> PointFunction:
        """Expressions of the states at a node."""
        outs = self._insert_time(nodes, self.tape.const(Fraction(fraction)))
        return point_function(self.tape, outs, (*self.equations.states, *self.common))

    @cached_property
    def _constraints(self) -> PointFunction:
        outs = self._insert_time(self.equations.constraints)
        return point_function(
            self.tape, outs, (*self.equations.unknowns, *self.common), (self.fraction,)
        )

    def constraint_values(
        self, z: FloatArray, common: FloatArray, fractions: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(φ, A u + b) and their slopes by the states, at points in rows."""
        if not self.equations.constraints:
            return np.zeros((len(z), 0)), np.zeros((len(z), 0, self.n_states))
        at = np.column_stack([z, np.tile(common, (len(z), 1)), fractions])
        p = self.parameters_for(self._constraints)
        return self._constraints.values(at, p), self._constraints.jacobian(at, p)[
            :, :, : self.n_states
        ]

    def parameters_for(self, function: PointFunction) -> FloatArray:
        """The numbers that a function is called with."""
        own = {self.duration: self.span.low}
        others = tuple(i for i in function.parameters if i not in own)
        try:
            values = dict(
                zip(others, parameter_vector(self.equations.values, others).tolist(), strict=True)
            )
        except DalembertError as problem:
            msg = f"optimize: {problem}"
            raise BadOptimization(msg) from problem
        return np.array([own.get(i, values.get(i, 0.0)) for i in function.parameters])


def duration_range(given: Any) -> Range:
    """A number, a pair of limits, or "free"."""
    if given is None or (isinstance(given, str) and given == FREE):
        return Range(0.0, math.inf)
    if isinstance(given, tuple | list):
        if len(given) != 2:
            msg = f"duration = {given!r:.60}: give a number, a pair (shortest, longest), or 'free'"
            raise BadOptimization(msg)
        low = 0.0 if given[0] is None else _time("duration", given[0])
        high = math.inf if given[1] is None else _time("duration", given[1])
        if not 0.0 <= low <= high or high == 0.0:
            msg = (
                f"duration from {low:g} to {high:g}: give a pair (shortest, longest) of "
                f"positive "
                f"times"
            )
            raise BadOptimization(msg)
        return Range(low, high)
    length = _time("duration", given)
    if length <= 0.0:
        msg = f"duration = {length:g}: give a positive number"
        raise BadOptimization(msg)
    return Range(length, length)


def _rate_bounded_inputs(phase: Phase) -> tuple[str, ...]:
    """The inputs whose rates are bounded: "F.dot" among the bounds."""
    inputs = [s.name for s in phase.system.symbols.values() if s.kind == "input"]
    return tuple(n for n in inputs if f"{n}.dot" in phase.bounds)


def _time(what: str, given: Any) -> float:
    try:
        value = (
            parse_number(given, TIME, what) if isinstance(given, str) and has_unit(given) else given
        )
        length = float(value)
    except (TypeError, ValueError) as problem:
        msg = f"{what} = {given!r:.60} is not a time"
        raise BadOptimization(msg) from problem
    if not math.isfinite(length):
        msg = f"{what} = {length} is not finite"
        raise BadOptimization(msg)
    return length


def _pairs(what: str, given: Any) -> list[tuple[Any, Mapping[Any, Any]]]:
    if not isinstance(given, Mapping) or not all(isinstance(c, Mapping) for c in given.values()):
        msg = f"{what}: give times with their conditions, as in {what}={{1.0: {{'x': 0.5}}}}"
        raise BadOptimization(msg)
    return list(given.items())
