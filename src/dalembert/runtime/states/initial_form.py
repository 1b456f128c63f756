"""The structure of the initial conditions: the rows, the given conditions, and which coordinate or
speed each of them is.

Everything here follows from the system and from which names are given; it is cached for them, and
compiled.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import NotLinear
from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System, units_by_name
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.states.evaluator import Evaluator, Key, Level, label
from dalembert.runtime.states.initial_values import (
    GivenQuantity,
    GivenQuaternion,
    InitialCondition,
    PositionRow,
    default_coordinates,
    given_quaternions,
    read_quantity,
    read_value,
    row_jacobian,
    sparsity,
)
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CompiledArrays:
    """Named arrays of expressions, each with its shape: constants are known once, the rest is
    one compiled function.
    """

    def __init__(
        self,
        tape: Tape,
        arrays: Mapping[str, tuple[tuple[int, ...], Sequence[int]]],
        state: Sequence[int],
    ) -> None:
        nodes = [i for _, own in arrays.values() for i in own]
        known = [tape.value(i) for i in nodes]
        self.template = np.array([0.0 if x is None else float(x) for x in known])
        self.places = np.array([k for k, x in enumerate(known) if x is None], dtype=np.int64)
        outs = [nodes[k] for k in self.places.tolist()]
        self.parameters = tuple(i for i in symbols_of(tape, outs) if i not in state)
        self._names = tuple(label(str(tape.nodes[i][1])) for i in self.parameters)
        self.function = (
            CompiledFunction(tape, outs, state, self.parameters, rarely=True) if outs else None
        )
        # where each array begins and ends
        self.shapes: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        end = 0
        for name, (shape, _) in arrays.items():
            begin, end = end, end + math.prod(shape)
            self.shapes[name] = begin, end, shape

    def parameters_of(self, values: Mapping[int, float]) -> FloatArray:
        """The numbers of the parameters; what has none is named."""
        try:
            return np.array([values[i] for i in self.parameters], dtype=np.float64)
        except KeyError:
            missing = next(
                name
                for i, name in zip(self.parameters, self._names, strict=True)
                if i not in values
            )
            msg = f"no value for {missing}"
            raise MissingValue(msg) from None

    def evaluate_flat(self, x: FloatArray, p: FloatArray) -> FloatArray:
        """All entries; NaN where one is not defined."""
        entries = self.template.copy()
        if self.function is not None:
            y = self.function.call(x, p)
            entries[self.places] = np.where(np.isfinite(y), y, np.nan)
        return entries

    def at(self, x: FloatArray, p: FloatArray, *names: str) -> dict[str, FloatArray]:
        """The arrays at one state, or those with these names."""
        entries, shapes = self.evaluate_flat(x, p), self.shapes
        return {
            name: entries[begin:end].reshape(shape)
            for name in names or shapes
            for begin, end, shape in [shapes[name]]
        }


_FORMS: Final = PerOwnerCache["InitialForm"]()


@dataclass(frozen=True)
class InitialNames:
    """What the values of a start are called, which of them were given, and their defaults."""

    # coordinates, speeds, the rates that are not speeds
    names: tuple[str, ...]
    is_given: tuple[bool, ...]
    at_rest: tuple[float, ...]
    # the places of those rates
    rates: tuple[int, ...]
    expressions: tuple[str, ...]
    # first-order states
    states: tuple[str, ...]
    system: System = field(repr=False)

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The units of those values whose dimension is known."""
        return units_by_name(self.system, (*self.names, *self.expressions, *self.states))


@dataclass(frozen=True, eq=False)
class InitialForm:
    """The rows and conditions of a start, whatever their values."""

    kin: Kinematics
    # key by key, and each once
    parsed: tuple[GivenQuantity, ...]
    conditions: tuple[GivenQuantity, ...]
    guess: tuple[GivenQuantity, ...]
    quaternions: tuple[GivenQuaternion, ...]
    names: InitialNames
    # φ(q, t) = 0 of every holonomic row, |e|² = 1 of every quaternion, g(q, t) = value of every
    # given expression
    rows: tuple[PositionRow, ...]
    # which of the given conditions is a coordinate, a position row, a speed, a velocity or a
    # first-order state, and its index
    coordinates: tuple[tuple[int, int], ...]
    expressions: tuple[int, ...]
    given_speeds: tuple[tuple[int, int], ...]
    velocities: tuple[int, ...]
    first_order: tuple[tuple[int, int], ...]
    # velocity rows in augmented form
    constraint_rows: tuple[InitialCondition, ...]
    # {velocity: why it is not linear} and the places of rows in augmented form that are not
    nonlinear_conditions: Mapping[int, str]
    nonlinear_rows: tuple[int, ...]
    # the speeds that these depend on
    nonlinear_speeds: frozenset[int]
    # which coordinates each position row depends on; which speeds each velocity depends on
    structure: BoolArray
    affected: BoolArray
    # W has an entry in this row and column
    W: tuple[NDArray[np.int64], ...]
    # r, J; A, b; c, C and their sizes; X, W: functions of (q, t)
    at_position: CompiledArrays
    # e and its slopes in u of the curved rows, slopes in q̇ of those that are not linear: functions
    # of (q, u, t)
    at_state: CompiledArrays
    default_q: FloatArray = field(repr=False)
    # native searches that are through, for those to come: threads do not meet there
    solver_pool: list[Any] = field(default_factory=list, repr=False)

    @property
    def is_linear(self) -> bool:
        """Whether all rows and conditions are linear in the rates."""
        return not (self.nonlinear_conditions or self.nonlinear_rows or self.kin.nonlinear)

    @property
    def is_direct(self) -> bool:
        """Whether nothing has to be solved: no constraint, only coordinates and speeds given."""
        return not (self.rows or self.kin.rows or self.velocities or self.constraint_rows)


def initial_form(
    kin: Kinematics,
    given: Mapping[Key, Any],
    guess: Mapping[Key, Any],
    values: Mapping[int, float],
    t: float,
) -> InitialForm:
    """The form of a start with these keys; refused, in the order in which they were given, where
    a key or its value cannot be.
    """
    key = (_cache_key(kin, given), _cache_key(kin, guess))

    def build() -> InitialForm:
        evaluator = Evaluator(kin, values)
        return build_form(
            evaluator,
            _parse_keys(evaluator, given, t, "start"),
            _parse_keys(evaluator, guess, t, "guess"),
        )

    return build() if None in key else _FORMS(kin, key, build)


def _cache_key(kin: Kinematics, given: Mapping[Key, Any]) -> tuple[Hashable, ...] | None:
    """What determines the keys: texts, and expressions on the system's own tape, which only
    grows; None where there is another one.
    """
    tape = kin.system.space.tape
    key_parts: list[Hashable] = []
    for key in given:
        if key.__class__ is str:
            key_parts.append(key)
        elif isinstance(key, Scalar) and key.tape is tape:
            key_parts.append(key.i)
        else:
            return None
    return tuple(key_parts)


def _parse_keys(
    evaluator: Evaluator, given: Mapping[Key, Any], t: float, what: str
) -> tuple[GivenQuantity, ...]:
    quantities = []
    for key, value in given.items():
        quantities.append(read_quantity(evaluator, key, what))
        read_value(quantities[-1], key, value, lambda: evaluator, t, what)
    return tuple(quantities)


def build_form(
    evaluator: Evaluator, read: tuple[GivenQuantity, ...], guess: tuple[GivenQuantity, ...]
) -> InitialForm:
    """The rows and conditions of these quantities, compiled."""
    kin, tape = evaluator.kin, evaluator.tape
    asked = tuple({x.written: x for x in read}.values())
    kinds = _ConditionKinds.of(kin, asked)
    rows = _position_rows(evaluator, asked, kinds)
    velocity_rows = _velocity_row_conditions(evaluator)
    slopes = row_jacobian(tape, rows, kin.q)
    nodes = [asked[k].node for k in kinds.velocities] + [c.node for c in velocity_rows]
    in_speeds = _VelocityConditions(evaluator, nodes, len(kinds.velocities))
    arrays, W = _position_arrays(evaluator, rows, slopes, in_speeds)
    return InitialForm(
        kin=kin,
        parsed=read,
        conditions=asked,
        guess=guess,
        quaternions=given_quaternions(kin.system, tape, {x.symbol for x in asked}),
        names=_initial_names(kin, asked),
        rows=rows,
        coordinates=kinds.coordinates,
        expressions=kinds.expressions,
        given_speeds=kinds.speeds,
        velocities=kinds.velocities,
        first_order=kinds.first_order,
        constraint_rows=velocity_rows,
        nonlinear_conditions=in_speeds.not_linear,
        nonlinear_rows=tuple(in_speeds.curved),
        nonlinear_speeds=in_speeds.nonlinear_speeds(),
        structure=sparsity(tape, slopes, kin.n_q),
        affected=in_speeds.affected_speeds(),
        W=W,
        at_position=CompiledArrays(tape, arrays, (*kin.q, evaluator.time)),
        at_state=in_speeds.compiled_nonlinear_arrays(),
        default_q=default_coordinates(kin.system),
    )


def _velocity_row_conditions(evaluator: Evaluator) -> tuple[InitialCondition, ...]:
    """e = 0 of every constraint row at velocity level."""
    return tuple(
        InitialCondition(r.row.name, evaluator.in_state(r.e), 0.0, Level.VELOCITY, None)
        for r in evaluator.kin.velocity_rows
    )


@dataclass(frozen=True)
class _ConditionKinds:
    """Which of the given conditions is what: its number, and the place of its symbol where it is
    one.
    """

    coordinates: tuple[tuple[int, int], ...]
    first_order: tuple[tuple[int, int], ...]
    speeds: tuple[tuple[int, int], ...]
    expressions: tuple[int, ...]
    velocities: tuple[int, ...]

    @classmethod
    def of(cls, kin: Kinematics, asked: Sequence[GivenQuantity]) -> _ConditionKinds:
        """The kinds of these conditions."""

        def places(symbols: Sequence[int]) -> tuple[tuple[int, int], ...]:
            place = {i: k for k, i in enumerate(symbols)}
            return tuple((k, place[x.symbol]) for k, x in enumerate(asked) if x.symbol in place)

        return cls(
            places(kin.q),
            places(kin.x),
            places(kin.u),
            tuple(k for k, x in enumerate(asked) if x.level is Level.POSITION and x.symbol is None),
            tuple(
                k
                for k, x in enumerate(asked)
                if x.level is Level.VELOCITY and x.symbol not in kin.u
            ),
        )


def _position_rows(
    evaluator: Evaluator, asked: Sequence[GivenQuantity], kinds: _ConditionKinds
) -> tuple[PositionRow, ...]:
    """φ(q, t) = 0 of every holonomic row and |e|² = 1 of every quaternion, then g(q, t) = value of
    every given expression.
    """
    holonomic = (
        PositionRow(r.name, evaluator.in_state(r.phi), float(r.is_norm), r.is_norm)
        for r in evaluator.kin.linear_rows
        if r.phi is not None
    )
    given = (asked[k] for k in kinds.expressions)
    return (*holonomic, *(PositionRow(x.name, x.node, is_given=True) for x in given))


def _position_arrays(
    evaluator: Evaluator,
    rows: Sequence[PositionRow],
    slopes: Sequence[Sequence[int]],
    in_speeds: _VelocityConditions,
) -> tuple[dict[str, tuple[tuple[int, ...], list[int]]], tuple[NDArray[np.int64], ...]]:
    """All functions of (q, t), and in which row and column W has its entries."""
    kin, here = evaluator.kin, evaluator.in_state
    W = [(k, r, here(w)) for k, (_, row) in enumerate(kin.WX) for r, w in row.items()]
    A = [{k: here(a) for k, a in r.A.items()} for r in kin.rows]
    arrays = {
        "r": ((len(rows),), [row.node for row in rows]),
        "J": ((len(rows), kin.n_q), [i for row in slopes for i in row]),
        "A": ((len(kin.rows), kin.n_q), _dense(evaluator.tape.zero, A, kin.n_q)),
        "b": ((len(kin.rows),), [here(row.b) for row in kin.rows]),
        **in_speeds.arrays(),
        "X": ((kin.n_q,), [here(X) for X, _ in kin.WX]),
        "W": ((len(W),), [w for _, _, w in W]),
    }
    return arrays, tuple(np.array([entry[j] for entry in W], dtype=np.int64) for j in (0, 1))


class _VelocityConditions:
    """c(q, t) + C(q, t)·u of velocities; the first `own` are the user's."""

    def __init__(self, evaluator: Evaluator, nodes: Sequence[int], own: int) -> None:
        self._evaluator, self._n = evaluator, evaluator.kin.n_u
        self.not_linear: dict[int, str] = {}
        # {velocity: (e, ∂e/∂u)}
        self.curved: dict[int, tuple[int, list[int]]] = {}
        self._linear: list[tuple[int, dict[int, int]]] = []
        tape, linear = evaluator.tape, LinearCoefficients(evaluator.tape, evaluator.kin.u)
        for k, node in enumerate(nodes):
            try:
                self._linear.append(linear(node))
            except NotLinear as problem:
                self._linear.append((tape.zero, {}))
                if k < own:
                    self.not_linear[k] = str(problem)
                else:
                    self.curved[k] = node, gradient(tape, {node: tape.one}, evaluator.kin.u)

    def nonlinear_speeds(self) -> frozenset[int]:
        """The speeds that conditions depend on which are not linear in them."""
        zero = self._evaluator.tape.zero
        return frozenset(
            r for _, row in self.curved.values() for r, i in enumerate(row) if i != zero
        )

    def affected_speeds(self) -> BoolArray:
        """The speeds that some condition may move."""
        affected = np.zeros(self._n, dtype=bool)
        for _, coefficients in self._linear:
            affected[list(coefficients)] = True
        for _, slopes in self.curved.values():
            affected |= np.array([i != self._evaluator.tape.zero for i in slopes])
        return affected

    def arrays(self) -> dict[str, tuple[tuple[int, ...], list[int]]]:
        """c and C, and how large they could be if nothing cancelled in them."""
        tape, m, n = self._evaluator.tape, len(self._linear), self._n
        constants, coefficients = (
            [c for c, _ in self._linear],
            _dense(tape.zero, [row for _, row in self._linear], n),
        )
        sized = _magnitudes(tape, [*constants, *coefficients]) if m else []
        return {
            "c": ((m,), constants),
            "C": ((m, n), coefficients),
            "terms": ((m,), sized[:m]),
            "entries": ((m, n), sized[m:]),
        }

    def compiled_nonlinear_arrays(self) -> CompiledArrays:
        """`nonlinear_arrays` as a function of positions, speeds and the time."""
        kin = self._evaluator.kin
        inputs = (*kin.q, *kin.u, self._evaluator.time)
        return CompiledArrays(self._evaluator.tape, self.nonlinear_arrays(), inputs)

    def nonlinear_arrays(self) -> dict[str, tuple[tuple[int, ...], list[int]]]:
        """e and ∂e/∂u of what is not linear, and ∂φ/∂q̇ of the rows that are not."""
        evaluator, kin = self._evaluator, self._evaluator.kin
        rows = [{k: evaluator.in_state(a) for k, a in row.A.items()} for row in kin.nonlinear]
        return {
            "e": ((len(self.curved),), [e for e, _ in self.curved.values()]),
            "slopes": (
                (len(self.curved), self._n),
                [i for _, row in self.curved.values() for i in row],
            ),
            "A": ((len(rows), kin.n_q), _dense(evaluator.tape.zero, rows, kin.n_q)),
        }


def _dense(zero: int, rows: Sequence[Mapping[int, int]], n: int) -> list[int]:
    return [row.get(k, zero) for row in rows for k in range(n)]


def _initial_names(kin: Kinematics, asked: Sequence[GivenQuantity]) -> InitialNames:
    """Coordinates, speeds, the rates that are not speeds, and the expressions that were given."""
    given, speeds = {x.symbol for x in asked}, set(kin.u)
    rates = tuple(k for k, i in enumerate(kin.qdot) if i not in speeds)
    symbols = (*kin.q, *kin.u, *(kin.qdot[k] for k in rates))
    names = tuple(label(kin.name(i)) for i in symbols)
    expressions = tuple(x.name for x in asked if x.symbol is None)
    states = tuple(label(kin.name(i)) for i in kin.x)
    return InitialNames(
        names,
        tuple(i in given for i in symbols),
        (*default_coordinates(kin.system).tolist(), *[0.0] * (len(symbols) - kin.n_q)),
        rates,
        expressions,
        states,
        kin.system,
    )


def _magnitudes(tape: Tape, nodes: list[int]) -> list[int]:
    """How large expressions could be if nothing cancelled in them."""
    from dalembert.runtime.states.magnitude_bounds import magnitude_bounds

    return magnitude_bounds(tape, nodes)
