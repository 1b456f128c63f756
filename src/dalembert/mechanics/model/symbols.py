"""Symbols of a system: coordinates, constants, inputs, prescribed motions, speeds, first-order
states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from dalembert.errors import BadDescription, NotLinear
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import DeclaredSymbol, Speed, SymbolKind
from dalembert.mechanics.model.name_rules import check_name, parse_display_name, split_names
from dalembert.mechanics.model.registry import (
    Registry,
    expression,
    rate_coefficients,
    refuse_accelerations,
    refuse_inputs,
    scalar,
)
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.functions import sqrt
from dalembert.symbolic.algebra.scalar import Scalar, exact, is_python_function
from dalembert.symbolic.algebra.tape import Number
from dalembert.symbolic.units.quantities import DIMENSIONLESS, Dimension, parse_quantity, parse_unit

# with longer denominators a value is as good as its double
_MAX_DENOMINATOR: Final = 10**12
# how often what moves is differentiated when it is declared
_ORDERS: Final = {"coordinate": 2, "specified": 2, "speed": 1}


def declare_symbol(
    s: Registry,
    name: str,
    kind: SymbolKind,
    display: str | None,
    *,
    value: Number | None = None,
    motion: Scalar | None = None,
    driver: Scalar | None = None,
    order: int = 0,
) -> Scalar:
    """A symbol of that kind, whose name is taken from now on; its rate of `order` is `driver`."""
    set_display_name(s, check_name(name, s.used_names), display)
    if s.space.tape.displays:
        _check_display(s, name)
    s.used_names[name] = "prescribed motion" if kind == "specified" else kind
    tape = s.space.tape
    orders = order - 1 if order else _ORDERS.get(kind, 0)
    i = rate = tape.moving_symbol(name) if orders or order else tape.symbol(name)
    # its first rates are made now, so that they are adjacent to it
    for _ in range(orders):
        rate = tape.rate(rate)  # type: ignore[assignment]
    if driver is not None:
        tape.set_rate(rate, driver.i, differentiable=order == 1)
    x = Scalar(tape, i)
    s.symbols[name] = DeclaredSymbol(name, kind, x, value, motion, driver)
    return x


def _check_display(s: Registry, name: str) -> None:
    """Refuse a symbol that would look like another that has a display name."""
    from dalembert.symbolic.algebra.printing.symbol_names import unicode_name

    displays = s.space.tape.displays
    shown = unicode_name(displays.get(name, name))
    like = next((n for n, d in displays.items() if n != name and unicode_name(d) == shown), None)
    if like is not None:
        msg = (
            f"{name!r} would be printed as {shown}, like the {s.used_names[like]} {like!r}; "
            f"give "
            f"it another display name"
        )
        raise BadDescription(msg)


def check_names(s: Registry, names: Iterable[str], kind: str) -> list[str]:
    """The names if every one of them can be used: of several, all are declared or none."""
    taken = dict(s.used_names)
    for name in names:
        taken[check_name(name, taken)] = kind
    return list(names)


def set_display_name(s: Registry, name: str, display: str | None) -> None:
    """Print the symbol under another name; two symbols that would look the same are refused."""
    if display is None:
        return
    from dalembert.symbolic.algebra.printing.symbol_names import unicode_name

    shown, displays = parse_display_name(display), s.space.tape.displays
    like = next(
        (
            n
            for n in s.used_names
            if n != name and unicode_name(displays.get(n, n)) == unicode_name(shown)
        ),
        None,
    )
    if like is not None:
        msg = (
            f"{name!r} cannot be displayed as {display!r}: the {s.used_names[like]} {like!r} is "
            f"printed like that"
        )
        raise BadDescription(msg)
    displays[name] = shown


def display(s: Registry, /, **names: str) -> None:
    """What is printed for symbols that are declared already: s.display(alpha="φ₁")."""
    for name, shown in names.items():
        if name not in s.symbols:
            msg = f"display: no symbol {name!r} in this system"
            raise BadDescription(msg)
        set_display_name(s, name, shown)


def coordinate(s: Registry, name: str, *, display: str | None = None) -> Scalar:
    """A generalized coordinate q; its rate is q.dot. `display` is what is printed for it, such
    as "θ₁".
    """
    return declare_symbol(s, name, "coordinate", display)


def coordinates(s: Registry, names: str | Sequence[str]) -> tuple[Scalar, ...]:
    """Several coordinates: s.coordinates("x y theta"), or a list of names."""
    return tuple(coordinate(s, n) for n in check_names(s, split_names(names), "coordinate"))


def constant(s: Registry, name: str, value: Any = None, *, display: str | None = None) -> Scalar:
    """A constant; `value` is its default in simulations: a number, or "2 kg", or "50 cm"."""
    return declare_symbol(s, name, "constant", display, value=parse_value(s, name, value))


def constants(
    s: Registry, /, names: str | Mapping[str, Any] | None = None, **values: Any
) -> tuple[Scalar, ...]:
    """Several constants: s.constants(m=2, g=9.81), s.constants(m="2 kg", g="9.81 m/s**2"), or
    s.constants("m g") without values.
    """
    if isinstance(names, Mapping):
        values = {**names, **values}
    plain = [] if names is None or isinstance(names, Mapping) else split_names(names)
    if not plain and not values:
        msg = 'constants: nothing declared; write s.constants(m=2, g=9.81) or s.constants("m g")'
        raise BadDescription(msg)
    check_names(s, [*plain, *values], "constant")
    numbers = {n: parse_value(s, n, v) for n, v in values.items()}
    return tuple(constant(s, n) for n in plain) + tuple(
        constant(s, n, v) for n, v in numbers.items()
    )


def length(s: Registry, name: str, P: Point, Q: Point, *, display: str | None = None) -> Scalar:
    """|P − Q| as an expression, which equations and derivations print as a symbol of its own; they
    say what it is.
    """
    if not (isinstance(P, Point) and isinstance(Q, Point)) or P is Q:
        msg = f"length {name!r}: give two points, s.length({name!r}, P, Q)"
        raise BadDescription(msg)
    way = Q - P
    square = way @ way
    tape = s.space.tape
    if tape.moving.isdisjoint(symbols_of(tape, (square.i,))):
        msg = f"length {name!r}: these points keep their distance; declare it as a constant"
        raise BadDescription(msg)
    set_display_name(s, check_name(name, s.used_names), display)
    s.used_names[name] = "length"
    back = P - Q
    # both ways round, so that springs and loads between the points contain it
    r, reverse = sqrt(square), sqrt(back @ back)
    tape.lengths |= {r.i: name, reverse.i: name}
    return r


def parse_value(s: Registry, name: str, value: Any) -> Number | None:
    """The number of a symbol; a text says its unit too, which gives the symbol its dimension."""
    if isinstance(value, Scalar) and value.value is None:
        msg = (
            f"{name}: its value is a number; {value} is an expression, which stands for itself: "
            f"{name} = {value}"
        )
        raise BadDescription(msg)
    if not isinstance(value, str):
        return None if value is None else exact(value)
    number, dimension = parse_quantity(value)
    _set_dimension(s, name, dimension)
    return (
        number
        if number.denominator == 1 or number.limit_denominator(_MAX_DENOMINATOR) == number
        else exact(float(number))
    )


def _set_dimension(s: Registry, name: str, dimension: Dimension) -> None:
    """The dimension of a symbol; with the first one every element is read for the dimensions of
    its parts.
    """
    from dalembert.mechanics.model.dimension_check import DimensionChecker

    s.dimensions[name] = dimension
    # numbers and angles as texts do not determine the units of the others
    if dimension == DIMENSIONLESS:
        return
    if s.space.journal.dimensions is None:
        s.space.journal.dimensions = DimensionChecker(s)


def units(s: Registry, /, **units: str) -> None:
    """The dimensions of symbols, by units: s.units(x="m", k="N/m"). Missing ones are inferred from
    how the symbol is used.
    """
    for name, text in units.items():
        if name not in s.symbols:
            msg = f"units: no symbol {name!r} in this system"
            raise BadDescription(msg)
        _set_dimension(s, name, parse_unit(text)[1])


# the verb s.input
_NUMBER_FIRST: Final = re.compile(r"\s*[-+]?[\d.]")


def input(  # noqa: A001
    s: Registry, name: str, value: Any = None, *, display: str | None = None
) -> Scalar:
    """A quantity known only at run time, such as a motor force; `value` is its default in a run."""
    try:
        number = parse_value(s, name, value)
    except BadDescription as problem:
        if not isinstance(value, str) or _NUMBER_FIRST.match(value):
            raise
        msg = (
            f"input {name!r}: its value is a number, not {value!r:.60}; an expression is given to "
            f"the run, da.simulate(s, 10, inputs={{{name!r}: {value!r:.60}}})"
        )
        raise BadDescription(msg) from problem
    w = declare_symbol(s, name, "input", display, value=number)
    s.space.tape.inputs.add(w.i)
    return w


def inputs(s: Registry, names: str | Sequence[str]) -> tuple[Scalar, ...]:
    """Several inputs."""
    return tuple(input(s, n) for n in check_names(s, split_names(names), "input"))


def specified(
    s: Registry,
    name: str,
    motion: Any = None,
    *,
    rate: Any = None,
    acceleration: Any = None,
    display: str | None = None,
) -> Scalar:
    """A motion that is prescribed: x, x.dot and x.dot.dot are known functions of time.

    Bound to an expression in s.t here or at run time; in the equations it stays x, ẋ, ẍ. With
    `rate=` or `acceleration=` an input: ẋ or ẍ is that input, which a controller may give, and x
    (and ẋ) are states of a run, zero at its start unless `start=` has them.
    """
    if rate is not None or acceleration is not None:
        driver, order = _driver(s, name, motion, rate, acceleration)
        return declare_symbol(s, name, "specified", display, driver=driver, order=order)
    bound = None if motion is None else _prescribed_motion(s, name, motion)
    return declare_symbol(s, name, "specified", display, motion=bound)


def _prescribed_motion(s: Registry, name: str, motion: Any) -> Scalar:
    """x(t) of a prescribed motion; only t and constants may enter."""
    tape = s.space.tape
    if is_python_function(motion) or isinstance(motion, list):
        msg = (
            f"specified {name!r}: give an expression in s.t, or a table to the run, "
            f"inputs={{{name!r}: da.table(times, values, 'cubic')}}"
        )
        raise BadDescription(msg)
    bound = scalar(s, motion)
    strange = [
        tape.nodes[i][1]
        for i in symbols_of(tape, (bound.i,))
        if i in tape.inputs or (i in tape.moving and i != s.t.i)
    ]
    if strange:
        msg = (
            f"specified {name!r}: its motion contains {', '.join(strange)}; only t and "
            f"constants may enter"
        )
        raise BadDescription(msg)
    return bound


def _driver(
    s: Registry, name: str, motion: Any, rate: Any, acceleration: Any
) -> tuple[Scalar, int]:
    """The input that is ẋ or ẍ of a prescribed motion, and 1 or 2."""
    given = {"rate": rate, "acceleration": acceleration, "a motion": motion}
    chosen = {called: x for called, x in given.items() if x is not None}
    if len(chosen) > 1:
        listed = " and ".join(chosen)
        msg = f"specified {name!r}: {listed} are given; one of them determines the others"
        raise BadDescription(msg)
    (called, value), *_ = chosen.items()
    key = getattr(value, "name", None) if isinstance(value, Scalar) else value
    symbol = s.symbols.get(key) if isinstance(key, str) else None
    forces = {x.i for c in s.contacts for x in c.forces}
    if symbol is None or symbol.kind != "input" or symbol.scalar.i in forces:
        msg = (
            f"specified {name!r}: {called}= is an input, declared by s.input(…), not "
            f"{value!s:.60}; its value (number, table, expression or control law) is given to "
            "the run"
        )
        raise BadDescription(msg)
    return symbol.scalar, 2 if called == "acceleration" else 1


def speed(s: Registry, name: str, definition: Any, *, display: str | None = None) -> Scalar:
    """u = definition, an expression linear in the rates q' (a quasi-velocity)."""
    (u,) = _declare_speeds(s, {name: scalar(s, definition)})
    set_display_name(s, name, display)
    return u


def speeds(
    s: Registry,
    /,
    names: str | None = None,
    vector: Vector | None = None,
    along: Frame | None = None,
    **definitions: Any,
) -> tuple[Scalar, ...]:
    """Speeds u1=…, u2=…; or s.speeds("u1 u2 u3", B.w, B): the three components of a vector along
    a frame.
    """
    if names is None:
        if not definitions:
            msg = (
                'speeds: nothing declared; write s.speeds(u1=theta.dot) or s.speeds("u1 u2 u3", '
                "B.w, B)"
            )
            raise BadDescription(msg)
        return _declare_speeds(s, {n: scalar(s, e) for n, e in definitions.items()})
    if vector is None or along is None or definitions:
        msg = (
            'speeds of a vector: write s.speeds("u1 u2 u3", B.w, B); of expressions: '
            "s.speeds(u1=theta.dot, u2=…)"
        )
        raise BadDescription(msg)
    return _vector_speeds(s, split_names(names), vector, along)


def _vector_speeds(
    s: Registry, names: list[str], vector: Vector, along: Frame
) -> tuple[Scalar, ...]:
    if len(names) != 3:
        msg = (
            f"speeds of a vector: three names are needed, got {len(names)}; of expressions: "
            f"s.speeds(u1=theta.dot, u2=…)"
        )
        raise BadDescription(msg)
    s.space.check_vector(vector, "speeds")
    s.space.check_same_system(along.space)
    check_names(s, names, "speed")
    return _declare_speeds(
        s, dict(zip(names, vector.to(along), strict=True)), _find_owner(s, vector), along
    )


def _declare_speeds(
    s: Registry,
    definitions: dict[str, Scalar],
    of: Frame | Point | None = None,
    along: Frame | None = None,
) -> tuple[Scalar, ...]:
    """All of the speeds or, if one is refused, none."""
    check_names(s, definitions, "speed")
    for name, e in definitions.items():
        _check_speed(s, name, e)
    speeds = []
    for axis, (name, e) in enumerate(definitions.items()):
        u = declare_symbol(s, name, "speed", None)
        s.speed_list.append(Speed(name, u, e, of, along, 0 if along is None else axis))
        speeds.append(u)
    return tuple(speeds)


def _find_owner(s: Registry, vector: Vector) -> Frame | Point | None:
    """The frame whose ω, or the point whose v, this vector is."""
    motion = s.space.motion
    for F in s.space.frames:
        if F.parent is not None and motion.w(F) is vector:
            return F
    for P in s.space.points:
        if P.parent is not None and motion.v(P) is vector:
            return P
    return None


def _check_speed(s: Registry, name: str, e: Scalar) -> None:
    try:
        moved = rate_coefficients(s, e)
    except NotLinear as problem:
        msg = f"speed {name!r}: its definition is {problem}; a speed must be linear in the rates"
        raise BadDescription(msg) from problem
    if not moved:
        msg = f"speed {name!r}: its definition contains no rate such as theta.dot"
        raise BadDescription(msg)
    refuse_inputs(s, f"speed {name!r}", e)


# ---- ẋ = f(q, q̇, x, w, t): a motor's current, a controller's integral, with a rate of their own
# ------


def state(
    s: Registry, name: str, rate: Any = None, *, value: Any = None, display: str | None = None
) -> Scalar:
    """A state x with ẋ = rate: s.state("i", rate="(V - R*i - k*theta.dot)/L").

    The rate is a text, in which the state itself is known, or a function of the state, `rate=lambda
    i: (V - R*i)/L`, or is given afterwards by `s.rate(i, …)`. Loads may contain the state, as they
    may contain an input. `value` is its initial value in a run, by default zero.
    """
    x, tape = (
        declare_symbol(s, name, "state", display, value=parse_value(s, name, value)),
        s.space.tape,
    )
    # for positions, rows and potentials a state is like an input: what it does to them is not known
    # from q and t
    tape.inputs.add(x.i)
    tape.states.add(x.i)
    if rate is not None:
        try:
            _set_rate(s, name, _call_rate(name, rate, x) if is_python_function(rate) else rate)
        except BaseException:
            # refused whole: the name is free again
            del s.symbols[name], s.used_names[name]
            tape.displays.pop(name, None)
            tape.inputs.discard(x.i)
            tape.states.discard(x.i)
            raise
    return x


def _call_rate(name: str, rate: Callable[..., Any], x: Scalar) -> Any:
    """rate(x) of a function of the state itself."""
    if (code := getattr(rate, "__code__", None)) is not None and code.co_argcount != 1:
        msg = (
            f"rate of {name}: its function takes {code.co_argcount or 'no'} arguments; it is "
            f"called with the state, lambda {name}: …"
        )
        raise BadDescription(msg)
    return rate(x)


def rate(s: Registry, x: Any, rate: Any) -> None:
    """ẋ = rate of a state that was declared without one: s.rate(i, (V - R*i)/L)."""
    name = str(x.name if isinstance(x, Scalar) else x)
    symbol = s.symbols.get(name)
    if symbol is None or symbol.kind != "state":
        what = "no symbol of this system" if symbol is None else f"a {symbol.kind}"
        msg = (
            f"rate: {name} is {what}; only a state has a rate of its own, declared by "
            f"s.state({name!r})"
        )
        raise BadDescription(msg)
    if name in s.state_rates:
        msg = f"rate: {name} has a rate already, {s.state_rates[name]}"
        raise BadDescription(msg)
    _set_rate(s, name, rate)


def _set_rate(s: Registry, name: str, rate: Any) -> None:
    e = expression(s, rate)
    refuse_accelerations(s, f"rate of {name}", (e.i,))
    s.state_rates[name] = e
