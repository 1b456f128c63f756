"""What has been declared about a system: its elements in order, and the checks that every
declaration makes on them.

And what a description forgets, asked before anything is derived from it: every symbol must matter
to a mass, a load or a constraint; a force F at a point that no body carries along turns nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Self

from dalembert.errors import BadDescription, IllPosed, warn
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point, Space
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import (
    Body,
    Constraint,
    DeclaredSymbol,
    Dissipation,
    Gravity,
    Load,
    Potential,
    Speed,
    UnilateralContact,
)
from dalembert.mechanics.model.flexible_member import Member, MemberExpansion
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    evaluate,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.units.quantities import Dimension

# what a description grows by
_GROWING: Final = (list, dict)


class Registry:
    """The declared elements of a system. It only grows, and has no verbs: those are functions that
    take it.
    """

    name: str

    def __init__(self) -> None:
        self.space = Space()
        self.symbols: dict[str, DeclaredSymbol] = {}
        # ẋ of every first-order state that has one so far
        self.state_rates: dict[str, Scalar] = {}
        self.speed_list: list[Speed] = []
        self.constraints: list[Constraint] = []
        # rows that always hold, by name
        self.trivial_constraints: list[str] = []
        self.bodies: list[Body] = []
        self.loads: list[Load] = []
        self.potentials: list[Potential] = []
        self.dissipations: list[Dissipation] = []
        self.contacts: list[UnilateralContact] = []
        self.gravity_field: Gravity | None = None
        # T of a system that is given by its energies; nothing where there are bodies
        self.given_kinetic_energies: list[Scalar] = []
        self.members: dict[str, Member] = {}
        self.expansions: dict[str, MemberExpansion] = {}
        self.discretised_elements: dict[str, tuple[Body | Load | Potential | Dissipation, ...]] = {}
        # the dimensions that were given, by units of values or explicitly
        self.dimensions: dict[str, Dimension] = {}
        # what was computed from this description, with the signature it was computed for
        self.cached: tuple[object, object] | None = None
        # checks for likely modelling errors that were switched off
        self.accepted: list[str] = []
        # every name in use, and what for
        self.used_names: dict[str, str] = {}
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

    def cache_key(self) -> tuple[object, ...]:
        """Changes whenever something is declared."""
        # evaluated before every run; `list | dict` would be built again each time
        grown = [len(value) for value in vars(self).values() if isinstance(value, _GROWING)]
        return (
            tuple(grown),
            self.gravity_field is not None,
            tuple(self.space.tape.displays.items()),
            len(self.space.frames),
        )

    def snapshot(self) -> Self:
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
    return Scalar(tape, as_node(tape, e))


def symbols_by_name(s: Registry, text: str = "") -> dict[str, Scalar]:
    """What names in a text stand for; the speeds of quaternion frames where the text has them."""
    tape = s.space.tape
    lengths = {name: Scalar(tape, i) for i, name in tape.lengths.items()}
    names = {**lengths, **{name: x.scalar for name, x in s.symbols.items()}, "t": s.t}
    if "omega_" in text:
        return quaternion_speeds(s, text) | names
    return names


def quaternion_speeds(s: Registry, text: str) -> dict[str, Scalar]:
    """{omega_Bx: ω·b_x, …}: the speeds along the own axes of quaternion frames that a text names.

    They have the names that the equations of motion, linear models and runs give them.
    """
    t, speeds = s.space.tape, dict[str, Scalar]()
    labels: set[str] = set()
    for F in s.space.frames:
        if isinstance(F.rotation, Quaternion):
            label = F.name if F.name not in labels else f"{F.name}{F.number}"
            labels.add(label)
            if f"omega_{label}" in text:
                w = F.rotation.angular_velocity(t, Derivative(t, t.rate))
                speeds |= {
                    f"omega_{label}{axis}": Scalar(t, i) for axis, i in zip("xyz", w, strict=True)
                }
    return speeds


def expression(s: Registry, e: Any) -> Scalar:
    """An expression of this system, or a text of one; parsed, never executed."""
    from dalembert.symbolic.algebra.parser import parse

    return parse(e, symbols_by_name(s, e), s.space.tape) if isinstance(e, str) else scalar(s, e)


def constant_value(s: Registry, e: Scalar) -> float | None:
    """What an expression of constants is for the values that they were declared with; None where
    one has no value.
    """
    from dalembert.symbolic.algebra.arithmetic import FloatArithmetic

    tape, values = e.tape, {}
    for i in symbols_of(tape, (e.i,)):
        symbol = s.symbols.get(tape.nodes[i][1])
        if symbol is None or symbol.value is None:
            return None
        values[i] = FloatArithmetic().const(symbol.value)
    try:
        return float(evaluate(tape, [e.i], values.__getitem__, FloatArithmetic())[0])
    except (ArithmeticError, ValueError) as problem:
        msg = f"{e} has no value for the constants as declared: {problem}"
        raise BadDescription(msg) from None


def time_varying_names(s: Registry, *nodes: int, inputs: bool = False) -> list[str]:
    """The names inside that change with time: moving symbols, and on request those known only at
    run time.
    """
    tape = s.space.tape
    return [
        str(tape.nodes[i][1])
        for i in symbols_of(tape, nodes)
        if i in tape.moving or (inputs and i in tape.inputs)
    ]


def substitute_speeds(s: Registry, i: int) -> int:
    """A node with the speeds declared so far replaced by their definitions."""
    replace = {x.scalar.i: x.definition.i for x in s.speed_list}
    for _ in range(len(replace) + 1):
        rewritten = Substitution(s.space.tape, replace)(i)
        if rewritten == i:
            break
        i = rewritten
    return i


def rate_coefficients(s: Registry, e: Scalar) -> dict[int, int]:
    """{k: ∂e/∂q̇_k} of an expression that is linear in the rates."""
    tape = s.space.tape
    rates = [x for q in s.q if (x := tape.rate(q.i)) is not None]
    return LinearCoefficients(tape, rates)(substitute_speeds(s, e.i))[1]


def component_nodes(s: Registry, v: Vector) -> list[int]:
    """The components of a vector."""
    return [i for components in v.on(s.space.tape).parts.values() for i in components]


def refuse_inputs(s: Registry, what: str, e: Scalar) -> None:
    """Where a derivative will be needed, something known only at run time cannot stand."""
    tape = s.space.tape
    symbols = symbols_of(tape, (e.i,))
    # next to velocities an input may be the rate of a prescribed motion, whose own rate is known
    velocities = not {v for v, _ in _velocities(s)}.isdisjoint(symbols)
    inside = [i for i in symbols if i in tape.inputs and not (velocities and i in tape.rates)]
    known_late = [str(tape.nodes[i][1]) for i in inside if i not in tape.states]
    if inside and not known_late:
        msg = (
            f"{what}: it contains the state {tape.nodes[inside[0]][1]}, on which loads may "
            f"depend, but no position, row or V"
        )
        raise BadDescription(msg)
    if known_late:
        msg = (
            f"{what}: it contains the input {known_late[0]}, whose rate is unknown; declare it "
            f"with s.specified(...) instead"
        )
        raise BadDescription(msg)


def refuse_velocities(
    s: Registry, what: str, nodes: Iterable[int], why: str = "V depends on positions and time only"
) -> None:
    """V(q, t): no q', q'', u, u'."""
    _refuse(s, what, nodes, {i for pair in _velocities(s) for i in pair}, why)


def refuse_accelerations(s: Registry, what: str, nodes: Iterable[int]) -> None:
    """A load at (q, q', t): no q'', u'."""
    kind = "rates" if what.startswith("rate of") else "loads"
    _refuse(
        s,
        what,
        nodes,
        {pair[1] for pair in _velocities(s)},
        f"{kind} depend on positions, velocities and time",
    )


def require_rate(s: Registry, D: Scalar) -> None:
    """D(q, q'): without a rate it dissipates nothing."""
    rates = {v for v, _ in _velocities(s)}
    if not rates.intersection(symbols_of(s.space.tape, (D.i,))):
        msg = (
            f"dissipation: D = {D} contains no rate, so it dissipates nothing; a damper is ½ c "
            f"x'², written c*x.dot**2/2"
        )
        raise BadDescription(msg)


def _velocities(s: Registry) -> list[tuple[int, int]]:
    """The nodes q', q'' of every coordinate; u, u' of every speed."""
    rate = s.space.tape.rate
    moving = [
        rate(x.scalar.i) if x.kind == "coordinate" else x.scalar.i
        for x in s.symbols.values()
        if x.kind in ("coordinate", "speed")
    ]
    return [(v, a) for v in moving if v is not None and (a := rate(v)) is not None]


def _refuse(s: Registry, what: str, nodes: Iterable[int], unwanted: set[int], why: str) -> None:
    tape = s.space.tape
    inside = [str(tape.nodes[i][1]) for i in symbols_of(tape, nodes) if i in unwanted]
    if inside:
        msg = f"{what}: it contains {', '.join(inside)}; {why}"
        raise BadDescription(msg)


# ---- what a description forgets ------------------------------------------------------------------


def check_complete(s: Registry) -> None:
    """Refuse a system without coordinates, without masses and loads, and a symbol that stands
    nowhere.
    """
    unexpanded = [m for name, m in s.members.items() if name not in s.expansions]
    if unexpanded:
        m = unexpanded[0]
        msg = (
            f"{m.kind} {m.name!r} is a continuum and has no ordinary equations yet: expand it in "
            f"functions, da.discretise(s, {m.name}, 4), or derive hybrid equations, "
            f"da.extended_hamilton(s)"
        )
        raise IllPosed(msg, [m.name])
    if not s.q:
        msg = f"system {s.name!r} has no coordinates: declare them with s.coordinates(...)"
        raise IllPosed(msg)
    if not s.bodies and not s.given_kinetic_energies and not s.loads and not s.potentials:
        msg = f"system {s.name!r} has no masses: declare a particle or a body"
        raise IllPosed(msg)
    without = [
        x.name for x in s.symbols.values() if x.kind == "state" and x.name not in s.state_rates
    ]
    if without:
        msg = f"state {without[0]!r} has no rate: give it by s.rate({without[0]}, …)"
        raise IllPosed(msg, without[:1])
    if idle := _unused_symbols(s):
        names = ", ".join(f"{x.kind} {x.name!r}" for x in idle)
        msg = f"{names}: declared but used nowhere; remove it or use it"
        raise IllPosed(msg, [x.name for x in idle])


def _unused_symbols(s: Registry) -> list[DeclaredSymbol]:
    """Symbols that nothing depends on; a state may only measure, so it need not act."""
    t = s.space.tape
    used = {str(t.nodes[i][1]).rstrip("'") for i in symbols_of(t, used_nodes(s))}
    used |= {x.name for x in s.speed_list}
    return [x for name, x in s.symbols.items() if name not in used and x.kind != "state"]


def _body_and_load_nodes(s: Registry, seen: set[Frame | Point]) -> Iterator[int]:
    for b in s.bodies:
        yield b.mass.i
        yield from _point_nodes(b.G, seen)
        if b.frame is not None and b.inertia is not None:
            yield from _frame_nodes(b.frame, seen)
            yield from b.inertia.entries()
        if b.shape is not None:
            yield from (x.i for x in b.shape.sizes)
    for load in s.loads:
        for F, P in load.forces:
            yield from _vector_nodes(F, seen)
            yield from _point_nodes(P, seen)
        for T, B in load.torques:
            yield from _vector_nodes(T, seen)
            yield from _frame_nodes(B, seen)


def used_nodes(s: Registry) -> Iterator[int]:
    """Every node that a mass, a load or a constraint depends on."""
    seen: set[Frame | Point] = set()
    yield from _body_and_load_nodes(s, seen)
    yield from (T.i for T in s.given_kinetic_energies)
    yield from (p.V.i for p in s.potentials)
    yield from (d.D.i for d in s.dissipations)
    yield from (c.expression.i for c in s.constraints)
    for c in s.contacts:
        yield from (
            x.i
            for x in (c.gap, c.approach, c.slip, c.normal, c.friction, c.static, c.restitution)
            if x is not None
        )
        if isinstance(c.active, Scalar):
            yield c.active.i
    yield from (x.definition.i for x in s.speed_list)
    yield from (e.i for e in s.state_rates.values())
    yield from (
        x.i for each in s.symbols.values() for x in (each.motion, each.driver) if x is not None
    )
    if s.gravity_field is not None:
        yield from _vector_nodes(s.gravity_field.g, seen)


def _vector_nodes(v: Vector, seen: set[Frame | Point]) -> Iterator[int]:
    for F, c in v.parts.items():
        yield from c
        yield from _frame_nodes(F, seen)


def _point_nodes(P: Point, seen: set[Frame | Point]) -> Iterator[int]:
    """The ancestors of P that were not visited before."""
    Q: Point | None = P
    while Q is not None and Q not in seen:
        seen.add(Q)
        yield from _vector_nodes(Q.r, seen)
        Q = Q.parent


def _frame_nodes(F: Frame, seen: set[Frame | Point]) -> Iterator[int]:
    """The ancestors of F that were not visited before."""
    G: Frame | None = F
    while G is not None and G not in seen:
        seen.add(G)
        if G.rotation is not None:
            yield from G.rotation.variables()
        G = G.parent


def warn_about_moving_points(s: Registry) -> None:
    """Warn about every force without a named body at a point that is defined relative to a rigid
    body and moves relative to it.

    The contact of a wheel is such a point: it follows the axle and does not turn. A force there
    without on= acts on nothing that turns, and every principle agrees on that.
    """
    materials = {b.G for b in s.bodies}
    for load in s.loads:
        if load.coordinates:
            continue
        for (_, P), named in zip(load.forces, load.on(), strict=False):
            if named is not None or P in materials or P.parent is None:
                continue
            body = _body_of_point(s, P.parent)
            if body is not None and not any(_is_fixed_structurally(s, P, b) for b in s.bodies):
                warn(
                    f"{load.name}: {P.name} moves relative to {body.name!r}, which carries it, so "
                    f"the force has no moment about that body; "
                    f"if it acts on the body, say so: on={body.name}"
                )


def _body_of_point(s: Registry, Q: Point) -> Body | None:
    """The rigid body that a point belongs to: its mass centre, whatever its frame, or a point fixed
    in its frame.
    """
    return next(
        (
            b
            for b in s.bodies
            if b.is_rigid and (Q is b.G or (b.frame is Q.frame and _is_fixed_structurally(s, Q, b)))
        ),
        None,
    )


def _is_fixed_structurally(s: Registry, P: Point, body: Body) -> bool:
    """Whether a point keeps its place in a rigid body."""
    if body.frame is None:
        return P is body.G
    t = s.space.tape
    return not any(i in t.moving for i in symbols_of(t, (P - body.G).on(t).components(body.frame)))
