"""g(q, t) = value, c(q, t)·u + d(q, t) = value: the given initial conditions, read and checked
separately.
Keywords: initial conditions.

A quaternion of any length is an attitude, and a start takes the one of length one, e/|e|: e and k e
are the same rotation, R = R_h(e)/(e·e), so four given numbers are divided by their length, and
given rates of theirs with them, which leaves ω = 2 E ė/(e·e) as it was meant. Changes are reported.
Four zeros are no attitude.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.errors import BadExpression
from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import require_mapping, strip_unit
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.evaluator import Evaluator, Key, Level, label
from dalembert.symbolic.algebra.expression_graph import gradient
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape
from dalembert.symbolic.units.quantities import COMMON_DEGREES, warn_if_degrees

# a number in text that says no unit
_PLAIN: Final = re.compile(r"[+-]?[0-9.]+")
# a union would be built for each value
_REAL: Final = (int, float)
# typed with so few digits e·ė is zero, relative to |ė|
_TYPING_TOLERANCE: Final = 1e-4
# a length that differs from one by less is meant to be one, and is left alone
_ROUNDING: Final = 1e-12
# that a message lists
_MOST_NAMES: Final = 8


class InitialCondition(NamedTuple):
    """expression = value; `symbol` is the coordinate, rate or speed itself where the expression
    is just that.
    """

    name: str
    node: int
    value: float
    level: Level
    symbol: int | None

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.12g}"


class GivenQuantity(NamedTuple):
    """What a key stands for, before it has a value: its node as it was written and in q, u and
    t.
    """

    name: str
    written: int
    node: int
    level: Level
    symbol: int | None
    is_angle: bool


@dataclass(frozen=True)
class PositionRow:
    """node(q, t) = target, and the name of the constraint or the given value that says so."""

    name: str
    node: int
    target: float = 0.0
    is_norm: bool = False
    is_given: bool = False


def row_jacobian(tape: Tape, rows: Sequence[PositionRow], q: Sequence[int]) -> list[list[int]]:
    """∂node/∂q of every row."""
    return [gradient(tape, {row.node: tape.one}, q) for row in rows]


def sparsity(tape: Tape, slopes: Sequence[Sequence[int]], n: int) -> BoolArray:
    """Which coordinates each row depends on."""
    return np.array([[i != tape.zero for i in row] for row in slopes], dtype=bool).reshape(
        len(slopes), n
    )


def read_conditions(
    evaluator: Evaluator, given: Mapping[Key, Any], t: float, what: str = "start"
) -> list[InitialCondition]:
    """Every given value as a condition; a quantity that is named twice must have one value."""
    given = require_mapping(what, given)
    return bind_values(
        (read_quantity(evaluator, key, what) for key in given), given, lambda: evaluator, t, what
    )


def bind_values(
    quantities: Iterable[GivenQuantity],
    given: Mapping[Key, Any],
    evaluator: Callable[[], Evaluator],
    t: float,
    what: str,
) -> list[InitialCondition]:
    """The quantities with the values that they were given; `evaluator` is created only where these
    are expressions.
    """
    conditions_by_node: dict[int, InitialCondition] = {}
    for x, (key, value) in zip(quantities, given.items(), strict=True):
        number = read_value(x, key, value, evaluator, t, what)
        earlier = conditions_by_node.get(x.written)
        if earlier is not None and earlier.value != number:
            msg = f"{x.name} is given twice, as {earlier.value:.12g} and as {number:.12g}"
            raise BadStart(msg, what)
        plain = isinstance(value, _REAL) or (
            isinstance(value, str) and _PLAIN.fullmatch(value.strip())
        )
        if abs(number) in COMMON_DEGREES and x.is_angle and plain:
            warn_if_degrees(f"{what}: {x.name}", number)
        conditions_by_node[x.written] = InitialCondition(x.name, x.node, number, x.level, x.symbol)
    return list(conditions_by_node.values())


def _known_names(evaluator: Evaluator) -> str:
    """The coordinates that there are, as far as a line holds them."""
    kin = evaluator.kin
    names = [label(kin.name(i)) for i in kin.q]
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"the coordinates are {', '.join(names[:_MOST_NAMES])}{more}"


def read_quantity(evaluator: Evaluator, key: Key, what: str) -> GivenQuantity:
    """A coordinate, rate, speed or expression in them; anything else is refused."""
    try:
        i = evaluator.node(key)
        name = evaluator.display_name(key)
    except BadExpression as problem:
        msg = str(problem) if not isinstance(key, str) else f"{key!r} cannot be read: {problem}"
        if isinstance(key, str) and key.isidentifier():
            hint = problem.remedy or _known_names(evaluator)
            msg = f"no coordinate, rate or speed {key!r}; {hint}"
        raise BadStart(msg, what) from problem
    level = evaluator.level(i)
    _check_level(evaluator, name, level, what)
    symbol = i if i in (*evaluator.kin.q, *evaluator.kin.x) or i in evaluator.velocities else None
    if symbol is None and evaluator.contains((i,), evaluator.kin.x):
        msg = f"{name} contains a first-order state; give the state by itself, such as {{'i': 0.5}}"
        raise BadStart(msg, what)
    return GivenQuantity(name, i, evaluator.in_state(i), level, symbol, symbol in evaluator.angles)


def _check_level(evaluator: Evaluator, name: str, level: Level, what: str) -> None:
    """A start has neither accelerations nor what contains no coordinate and no speed."""
    if level is Level.ACCELERATION:
        msg = (
            f"{name} is an acceleration; the equations of motion determine it, a start has "
            f"positions and velocities"
        )
        raise BadStart(msg, what)
    if level is not Level.CONSTANT:
        return
    kind = evaluator.kin.system.symbols.get(name)
    called = "" if kind is None else "prescribed motion" if kind.kind == "specified" else kind.kind
    remedy = (
        f"{name} is {'an' if called == 'input' else 'a'} {called}"
        if called
        else f"{name} contains no coordinate and no speed"
    )
    msg = f"{remedy}; a start gives coordinates, rates and speeds"
    raise BadStart(msg, what)


def read_value(
    x: GivenQuantity, key: Key, value: Any, evaluator: Callable[[], Evaluator], t: float, what: str
) -> float:
    """A finite number; an expression in constants, such as l/2, will do."""
    if value.__class__ is float and math.isfinite(value):
        return float(value)
    is_expression = isinstance(value, str | Scalar)
    number = (
        _constant(x.name, key, value, evaluator(), t, what)
        if is_expression
        else _to_float(x.name, value, what)
    )
    if not math.isfinite(number):
        msg = f"{x.name} = {number} is not finite"
        raise BadStart(msg, what)
    return number


def _constant(
    name: str, key: Key, value: str | Scalar, evaluator: Evaluator, t: float, what: str
) -> float:
    """What an expression in constants is worth."""
    value = strip_unit(evaluator.kin.system, key, value)
    if isinstance(value, str):
        value = _parse_constant(evaluator, name, value, what)
    if not isinstance(value, Scalar):
        return _to_float(name, value, what)
    i = evaluator.node(value)
    if evaluator.level(i) is not Level.CONSTANT:
        msg = (
            f"{name} = {value} is not a number; to relate two quantities give their difference, "
            f"as in {{a - b: 0}}"
        )
        raise BadStart(msg, what)
    return float(evaluator.values_at([evaluator.in_state(i)], {evaluator.time: t})[0])


def _parse_constant(evaluator: Evaluator, name: str, text: str, what: str) -> Scalar:
    """pi/2, l/2: an expression in constants."""
    try:
        return evaluator.kin.system.expression(text.removesuffix(" rad"))
    except BadExpression as problem:
        msg = f"{name} = {text!r:.60} cannot be read: {problem}"
        raise BadStart(msg, what) from None


def _to_float(name: str, value: Any, what: str) -> float:
    # numpy's and SymPy's numbers are not all registered as real ones
    unlike = isinstance(value, str | bytes | bool) or getattr(value, "shape", ()) != ()
    try:
        return float("x" if unlike else value)
    except (TypeError, ValueError, OverflowError):
        msg = f"{name} = {value!r:.60} is not a number"
        raise BadStart(msg, what) from None


# ---- quaternions -------------------------------------------------------------------------------


def default_coordinates(system: System) -> FloatArray:
    """q = 0, and e = (1, 0, 0, 0) for every quaternion."""
    q, place = np.zeros(len(system.q)), {x.i: k for k, x in enumerate(system.q)}
    for F in system.space.frames:
        if isinstance(F.rotation, Quaternion) and F.rotation.e[0] in place:
            q[place[F.rotation.e[0]]] = 1.0
    return q


class GivenQuaternion(NamedTuple):
    """A quaternion that a start gives whole: its frame, the four coordinates and their rates."""

    frame: str
    e: tuple[int, ...]
    rates: tuple[int | None, ...]


def given_quaternions(
    system: System, tape: Tape, given: Collection[int | None]
) -> tuple[GivenQuaternion, ...]:
    """The quaternions of which all four coordinates are among the given symbols."""
    rotations = [
        (F.name, F.rotation.e) for F in system.space.frames if isinstance(F.rotation, Quaternion)
    ]
    return tuple(
        GivenQuaternion(name, e, tuple(tape.rate(x) for x in e))
        for name, e in rotations
        if all(x in given for x in e)
    )


def normalize_quaternions(
    whole: Sequence[GivenQuaternion], asked: Sequence[InitialCondition]
) -> tuple[list[InitialCondition], tuple[str, ...]]:
    """The conditions with every quaternion that is given whole brought to length one, and what
    was done.
    """
    normalized, notes = list(asked), []
    for each in whole:
        normalized, note = _normalize(normalized, each)
        notes += [note] if note else []
    return normalized, tuple(notes)


def _normalize(
    asked: list[InitialCondition], whole: GivenQuaternion
) -> tuple[list[InitialCondition], str]:
    frame, e, rates = whole
    given = {c.symbol: c.value for c in asked}
    length = math.hypot(*(given[x] for x in e))
    if length == 0.0:
        msg = (
            f"four zeros are no orientation: give the quaternion of {frame} a length, such as (1, "
            f"0, 0, 0) for no rotation"
        )
        raise BadStart(msg, "start")
    if abs(length - 1.0) <= _ROUNDING:
        return _tangential_rates(asked, [given[x] for x in e], rates), ""
    own = {*e, *rates}
    scaled = [c._replace(value=c.value / length) if c.symbol in own else c for c in asked]
    scaled = _tangential_rates(scaled, [given[x] / length for x in e], rates)
    listed = ", ".join(f"{given[x]:.6g}" for x in e)
    return (
        scaled,
        (
            f"the quaternion of {frame} was given as ({listed}), of length {length:.6g}; it was "
            f"divided by its length"
        ),
    )


def _tangential_rates(
    asked: list[InitialCondition], e: list[float], rates: Sequence[int | None]
) -> list[InitialCondition]:
    """ė − (e·ė) e, where four given rates miss e·ė = 0 by the digits that were typed: no ω
    depends on the difference.
    """
    given = {c.symbol: c.value for c in asked if c.symbol is not None}
    if any(x not in given for x in rates):
        return asked
    along = math.fsum(a * given[x] for a, x in zip(e, rates, strict=True) if x is not None)
    if abs(along) > _TYPING_TOLERANCE * math.hypot(*(given[x] for x in rates if x is not None)):
        return asked
    off = {x: along * a for a, x in zip(e, rates, strict=True)}
    return [c._replace(value=c.value - off[c.symbol]) if c.symbol in off else c for c in asked]
