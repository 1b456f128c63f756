"""theta.dot, "x - y", P.v @ B.x → numbers: what a user names, read in q, u, u̇ and t.

Rates and dependent speeds are replaced by q̇ = W u + X, prescribed motions and inputs by what they
are bound to; what remains is evaluated at one state or along a whole motion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.errors import BadExpression
from dalembert.foundation.array_types import FloatArray
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.registry import quaternion_speeds, symbols_by_name
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic, FloatArithmetic
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    Substitution,
    copy_expressions,
    dependencies,
    evaluate,
    evaluate_in_sections,
    operations,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar, as_node, is_sympy
from dalembert.symbolic.algebra.tape import DATA, Tape, base_name

Key = Scalar | str

# numbers held at once while a motion is evaluated piece by piece
_MOST_NUMBERS: Final = 4_000_000
_MIN_BLOCK: Final = 1024


class Level(IntEnum):
    """The highest derivative that an expression contains."""

    CONSTANT = 0
    POSITION = 1
    VELOCITY = 2
    ACCELERATION = 3


@lru_cache(maxsize=1024)
def label(name: str) -> str:
    """theta'' → theta.dot.dot: a symbol as it is written in a program."""
    plain = base_name(name)
    return plain + ".dot" * (len(name) - len(plain))


class ReducedNodes(NamedTuple):
    """Nodes of a tape in q, u, u̇, t and numbers, and the symbols that they contain."""

    tape: Tape
    outs: tuple[int, ...]
    symbols: frozenset[int]

    def along(
        self, numbers: Mapping[int, float], state: Mapping[int, FloatArray], length: int
    ) -> FloatArray:
        """The values along a motion: a row for each node, a column for each time."""
        result = np.empty((len(self.outs), length))
        known = {i: np.float64(numbers[i]) for i in self.symbols if i in numbers}
        size = len(dependencies(self.tape, self.outs))
        piece = max(_MIN_BLOCK, _MOST_NUMBERS // (1 + size))
        for begin in range(0, length, piece):
            part = slice(begin, begin + piece)
            lookup: dict[int, Any] = known | {
                i: x[part] for i, x in state.items() if i in self.symbols
            }
            with np.errstate(all="ignore"):
                values = evaluate_in_sections(
                    self.tape, self.outs, lookup.__getitem__, ArrayArithmetic()
                )
            for row, x in zip(result, values, strict=True):
                row[part] = x
        return result


class Evaluator:
    """Expressions of a system on a tape of their own.

    `numbers` gives the value of symbols other than q, u and t; `bindings` the node of `kin` that a
    symbol stands for.
    """

    def __init__(
        self,
        kin: Kinematics,
        numbers: Mapping[int, float],
        bindings: Mapping[int, int] | None = None,
    ) -> None:
        self.kin = kin.fork()
        self.tape = self.kin.tape
        self.time = self.kin.system.t.i
        self.numbers = {i: np.float64(v) for i, v in numbers.items()}
        self._bindings = (
            dict(
                zip(
                    bindings,
                    copy_expressions(kin.tape, self.tape, list(bindings.values())),
                    strict=True,
                )
            )
            if bindings
            else {}
        )
        self._insert = Substitution(self.tape, self._bindings)
        speeds = [s.scalar.i for s in self.kin.system.speed_list]
        self.velocities = tuple(dict.fromkeys((*self.kin.qdot, *self.kin.u, *speeds)))

    @cached_property
    def slices(self) -> tuple[slice, slice, slice]:
        """Where q, x and u are in the state; input functions read them thousands of times."""
        layout = self.kin.layout
        return layout.q, layout.x, layout.u

    @property
    def q(self) -> tuple[int, ...]:
        """The coordinates."""
        return self.kin.q

    @cached_property
    def angles(self) -> frozenset[int]:
        """The coordinates that are angles of frames."""
        rotations = (F.rotation for F in self.kin.system.space.frames)
        inside = {
            i
            for r in rotations
            if r is not None and not isinstance(r, Quaternion)
            for i in r.variables()
        }
        return frozenset(inside.intersection(self.kin.q))

    # ---- from keys to nodes ------------------------------------------------------------------

    @cached_property
    def names(self) -> dict[str, Scalar]:
        """Every name that may be used: the declared ones, t, and the speeds that were chosen for
        the user.
        """
        chosen = {
            self.kin.name(u): Scalar(self.tape, u)
            for u in self.kin.u
            if not self.kin.name(u).endswith("'")
        }
        for name, e in self.kin.speed_aliases.items():
            chosen[name] = Scalar(self.tape, copy_expressions(e.tape, self.tape, [e.i])[0])
        return chosen | symbols_by_name(self.kin.system)

    @cached_property
    def _parsed(self) -> dict[str, int]:
        """What was read before; the state, which is named most, need not be parsed at all."""
        kin = self.kin
        return {
            text: i
            for i in (*kin.q, *kin.qdot, *kin.x, *kin.u)
            for text in (kin.name(i), label(kin.name(i)))
        }

    def _names_for(self, text: str) -> Mapping[str, Scalar]:
        """With speeds of quaternion frames that the rows solve for, omega_By."""
        if "omega_" not in text:
            return self.names
        return {
            name: Scalar(self.tape, copy_expressions(e.tape, self.tape, [e.i])[0])
            for name, e in quaternion_speeds(self.kin.system, text).items()
        } | self.names

    def node(self, key: object) -> int:
        """The node that a name, a text or an expression stands for."""
        if isinstance(key, str):
            i = self._parsed.get(key)
            if i is None:
                from dalembert.symbolic.algebra.parser import parse

                i = self._parsed[key] = parse(key, self._names_for(key), self.tape).i
            return i
        if isinstance(key, Scalar):
            return as_node(self.tape, key)
        if isinstance(key, Point):
            msg = (
                f"{key.name} is a point; give a vector, such as {key.name} - s.O or its "
                "velocity, or one of its components"
            )
            raise BadExpression(msg)
        if isinstance(key, Vector):
            msg = f"{key} is a vector; give one of its components, such as v @ s.N.x"
            raise BadExpression(msg)
        if is_sympy(key):
            return as_node(self.tape, key)
        msg = (
            f"expected a name such as 'theta.dot' or an expression of {self.kin.system.name!r}, "
            f"got {key!r}"
        )
        raise BadExpression(msg)

    def display_name(self, key: Key) -> str:
        """The key as a user would write it."""
        name = self.symbol(self.node(key))
        return str(key) if name is None else label(name)

    def symbol(self, i: int) -> str | None:
        """The name of a symbol, or None for what is not a symbol."""
        op, name, _ = self.tape.nodes[i]
        return str(name) if op == "symbol" else None

    def level(self, i: int) -> Level:
        """Whether a node is about positions, velocities or accelerations."""
        inside = (i,) if self.tape.nodes[i][0] == "symbol" else symbols_of(self.tape, (i,))
        return max((self._levels.get(x, Level.CONSTANT) for x in inside), default=Level.CONSTANT)

    @cached_property
    def _levels(self) -> dict[int, Level]:
        """Of every symbol of the motion."""
        positions, velocities = (
            dict.fromkeys((*self.kin.q, *self.kin.x), Level.POSITION),
            dict.fromkeys(self.velocities, Level.VELOCITY),
        )
        return positions | velocities | dict.fromkeys(self._accelerations, Level.ACCELERATION)

    # ---- in q, u, u̇ and t --------------------------------------------------------------------

    @cached_property
    def _accelerations(self) -> dict[int, int]:
        """{ẍ: ẋ} for every rate and every speed."""
        rates = ((x, self.tape.rate(x)) for x in self.velocities)
        return {rate: x for x, rate in rates if rate is not None}

    @cached_property
    def _rates(self) -> dict[int, int]:
        """q̇ = W u + X and the dependent speeds, in u."""
        return {x: self._insert(self.kin.in_speeds(x)) for x in self.velocities}

    @cached_property
    def _in_u(self) -> Substitution:
        return Substitution(self.tape, self._bindings | self._rates)

    @cached_property
    def _in_udot(self) -> Substitution:
        """The same with q̈ = W u̇ + c."""
        kin = self.kin
        second = {
            a: self._insert(kin.rate(kin.in_speeds(x))) for a, x in self._accelerations.items()
        }
        return Substitution(self.tape, self._bindings | self._rates | second)

    def in_state(self, i: int) -> int:
        """A node in q, u, u̇, t and numbers alone."""
        if i in self._state:
            return i
        node = self.in_speeds(i)
        self._check(node)
        return node

    def in_speeds(self, i: int) -> int:
        """A node in q, u, u̇, t and whatever stands for a number."""
        return self._in_udot(i) if self.level(i) is Level.ACCELERATION else self._in_u(i)

    def _check(self, node: int) -> None:
        """Refuse a symbol that neither the state nor the values explain."""
        for i in symbols_of(self.tape, (node,)):
            if i not in self.numbers and i not in self._known_symbols:
                msg = f"no value for {label(self.kin.name(i))}"
                raise MissingValue(msg)

    @cached_property
    def _state(self) -> frozenset[int]:
        """q, x, u and t."""
        return frozenset((*self.kin.state, self.time))

    @cached_property
    def _known_symbols(self) -> frozenset[int]:
        """What is known along a run: the state, u̇, λ, and symbols bound to themselves: forces of
        contacts that loops solve for.
        """
        found = (i for i, x in self._bindings.items() if i == x)
        return self._state.union(self.kin.udot, self.kin.multipliers, found)

    # ---- numbers -----------------------------------------------------------------------------

    def values_at(self, outs: Sequence[int], state: Mapping[int, float]) -> FloatArray:
        """The values of reduced nodes at one state; all NaN where one of them is not defined."""
        if not outs:
            return np.zeros(0)
        lookup = {**self.numbers, **state}
        try:
            values = evaluate(self.tape, outs, lambda i: float(lookup[i]), FloatArithmetic())
        except (ArithmeticError, ValueError):
            values = [np.nan] * len(outs)
        return np.array(values, dtype=np.float64)

    def reduce(self, nodes: Iterable[int]) -> ReducedNodes:
        """The nodes in q, u, u̇, t and numbers alone, to be evaluated along a motion."""
        return self._collect(map(self.in_state, nodes))

    def _collect(self, reduced: Iterable[int]) -> ReducedNodes:
        outs = tuple(reduced)
        return ReducedNodes(self.tape, outs, frozenset(symbols_of(self.tape, outs)))

    def values_along(
        self, outs: Sequence[int], state: Mapping[int, FloatArray], length: int
    ) -> FloatArray:
        """The values of reduced nodes along a motion: a row for each node, a column for each
        time.
        """
        return self._collect(outs).along(self.numbers, state, length)

    def depends_on_time(self, outs: Sequence[int]) -> bool:
        """∂/∂t ≢ 0 of reduced nodes, the state held: whether one moment is unlike another."""
        timely = [i for i in outs if self.time in symbols_of(self.tape, (i,))]
        if not DATA.isdisjoint(operations(self.tape, timely)):
            # a recorded signal
            return True
        slope = Derivative(self.tape, lambda x: self.tape.one if x == self.time else None)
        return bool(timely) and not all(provably_zero(self.tape, [slope(i) for i in timely]))

    def contains(self, outs: Iterable[int], wanted: Iterable[int]) -> bool:
        """Whether one of the symbols `wanted` occurs in the nodes."""
        return not set(wanted).isdisjoint(symbols_of(self.tape, outs))
