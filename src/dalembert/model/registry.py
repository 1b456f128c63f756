"""What has been declared about a system: its elements in order, and the questions that every declaration asks of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Self

from dalembert.algebra.folds import Linear, Rewrite, symbols_of
from dalembert.algebra.parser import parse
from dalembert.algebra.scalar import Scalar, on
from dalembert.errors import BadDescription
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point, Space
from dalembert.geometry.vector import Vector
from dalembert.model.elements import Body, Constraint, DeclaredSymbol, Dissipation, FrictionalContact, Gravity, Load, Potential, Speed
from dalembert.model.member import Member, MemberExpansion
from dalembert.units.quantity import Dimension

# what a description grows by
_GROWING: Final = (list, dict)


class Registry:
    """The declared elements of a system. It only grows, and knows no verb: those are functions that take it."""

    def __init__(self) -> None:
        self.space = Space()
        self.symbols: dict[str, DeclaredSymbol] = {}
        # ẋ of every first-order state that has one so far
        self.state_rates: dict[str, Scalar] = {}
        self.speed_list: list[Speed] = []
        self.constraints: list[Constraint] = []
        # rows that turned out to say nothing, by name
        self.dropped: list[str] = []
        self.bodies: list[Body] = []
        self.loads: list[Load] = []
        self.potentials: list[Potential] = []
        self.dissipations: list[Dissipation] = []
        self.contacts: list[FrictionalContact] = []
        self.field: Gravity | None = None
        # T of a system that is given by its energies; nothing where there are bodies
        self.kinetic: list[Scalar] = []
        self.members: dict[str, Member] = {}
        self.expansions: dict[str, MemberExpansion] = {}
        self.expanded: dict[str, tuple[Body | Load | Potential | Dissipation, ...]] = {}
        # the dimensions that were given, by units of values or in so many words
        self.dimensions: dict[str, Dimension] = {}
        # what was computed from this description, with the signature it was computed for
        self.cached: tuple[object, object] | None = None
        # every name in use, and what for
        self.taken: dict[str, str] = {}
        tape = self.space.tape
        time = tape.symbol("t")
        tape.moving.add(time)
        tape.rates[time] = tape.one
        self.t = Scalar(tape, time)

    @property
    def q(self) -> tuple[Scalar, ...]:
        """The coordinates, in order of declaration."""
        return tuple(s.scalar for s in self.symbols.values() if s.kind == "coordinate")

    @property
    def N(self) -> Frame:
        """The inertial frame."""
        return self.space.N

    @property
    def O(self) -> Point:  # noqa: E743 - the book's name of the fixed point
        """A point fixed in the inertial frame."""
        return self.space.O

    def signature(self) -> tuple[object, ...]:
        """Changes whenever something is declared."""
        # asked before every run, and `list | dict` would be made anew for each of them
        grown = [len(value) for value in vars(self).values() if isinstance(value, _GROWING)]
        return tuple(grown), self.field is not None, tuple(self.space.tape.displays.items()), len(self.space.frames)

    def frozen(self) -> Self:
        """The description as it is now: a copy that does not grow with this one."""
        new = object.__new__(type(self))
        for name, value in vars(self).items():
            setattr(new, name, value.copy() if isinstance(value, _GROWING) else value)
        new.cached = None
        return new

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "cached": None}


def scalar(s: Registry, e: Any) -> Scalar:
    """A number, a text of a number or an expression, as an expression of this system."""
    tape = s.space.tape
    return Scalar(tape, on(tape, e))


def symbols_by_name(s: Registry) -> dict[str, Scalar]:
    """What names in a text stand for."""
    return {name: x.scalar for name, x in s.symbols.items()} | {"t": s.t}


def expression(s: Registry, e: Any) -> Scalar:
    """An expression of this system, or a text of one; parsed, never executed."""
    return parse(e, symbols_by_name(s), s.space.tape) if isinstance(e, str) else scalar(s, e)


def number(s: Registry, e: Scalar) -> float | None:
    """What an expression of constants is for the values that they were declared with; None where one has no value."""
    from dalembert.algebra.arithmetic import Floats
    from dalembert.algebra.folds import evaluate

    tape, values = e.tape, {}
    for i in symbols_of(tape, (e.i,)):
        symbol = s.symbols.get(tape.nodes[i][1])
        if symbol is None or symbol.value is None:
            return None
        values[i] = Floats().const(symbol.value)
    try:
        return float(evaluate(tape, [e.i], values.__getitem__, Floats())[0])
    except (ArithmeticError, ValueError) as problem:
        msg = f"{e} has no value for the constants as declared: {problem}"
        raise BadDescription(msg) from None


def movers(s: Registry, *nodes: int, inputs: bool = False) -> list[str]:
    """The names inside that change with time: moving symbols, and on request those known only at run time."""
    tape = s.space.tape
    return [str(tape.nodes[i][1]) for i in symbols_of(tape, nodes) if i in tape.moving or (inputs and i in tape.inputs)]


def in_rates(s: Registry, i: int) -> int:
    """A node with the speeds declared so far replaced by their definitions."""
    replace = {x.scalar.i: x.definition.i for x in s.speed_list}
    for _ in range(len(replace) + 1):
        rewritten = Rewrite(s.space.tape, replace)(i)
        if rewritten == i:
            break
        i = rewritten
    return i


def slopes(s: Registry, e: Scalar) -> dict[int, int]:
    """{k: ∂e/∂q̇_k} of an expression that is linear in the rates."""
    return Linear(s.space.tape, [q.dot.i for q in s.q])(in_rates(s, e.i))[1]


def nodes_of(s: Registry, v: Vector) -> list[int]:
    """The components of a vector."""
    return [i for components in v.on(s.space.tape).parts.values() for i in components]


def refuse_inputs(s: Registry, what: str, e: Scalar) -> None:
    """Where a derivative will be needed, something known only at run time cannot stand."""
    tape = s.space.tape
    inside = [i for i in symbols_of(tape, (e.i,)) if i in tape.inputs]
    known_late = [str(tape.nodes[i][1]) for i in inside if i not in tape.states]
    if inside and not known_late:
        msg = f"{what}: it contains the state {tape.nodes[inside[0]][1]}, on which loads may depend, but no position, row or V"
        raise BadDescription(msg)
    if known_late:
        msg = f"{what}: it contains the input {known_late[0]}, whose rate is unknown; declare it with s.specified(...) instead"
        raise BadDescription(msg)


def refuse_velocities(s: Registry, what: str, nodes: Iterable[int], why: str = "V depends on positions and time only") -> None:
    """V(q, t): no q', q'', u, u'."""
    _refuse(s, what, nodes, {i for pair in _velocities(s) for i in pair}, why)


def refuse_accelerations(s: Registry, what: str, nodes: Iterable[int]) -> None:
    """A load at (q, q', t): no q'', u'."""
    kind = "rates" if what.startswith("rate of") else "loads"
    _refuse(s, what, nodes, {pair[1] for pair in _velocities(s)}, f"{kind} depend on positions, velocities and time")


def refuse_no_rate(s: Registry, D: Scalar) -> None:
    """D(q, q'): without a rate it dissipates nothing."""
    rates = {v for v, _ in _velocities(s)}
    if not rates.intersection(symbols_of(s.space.tape, (D.i,))):
        msg = f"dissipation: D = {D} contains no rate, so it dissipates nothing; a damper is ½ c x'², written c*x.dot**2/2"
        raise BadDescription(msg)


def _velocities(s: Registry) -> list[tuple[int, int]]:
    """The nodes q', q'' of every coordinate; u, u' of every speed."""
    rate = s.space.tape.rate
    moving = [rate(x.scalar.i) if x.kind == "coordinate" else x.scalar.i for x in s.symbols.values() if x.kind in ("coordinate", "speed")]
    return [(v, a) for v in moving if v is not None and (a := rate(v)) is not None]


def _refuse(s: Registry, what: str, nodes: Iterable[int], unwanted: set[int], why: str) -> None:
    tape = s.space.tape
    inside = [str(tape.nodes[i][1]) for i in symbols_of(tape, nodes) if i in unwanted]
    if inside:
        msg = f"{what}: it contains {', '.join(inside)}; {why}"
        raise BadDescription(msg)
