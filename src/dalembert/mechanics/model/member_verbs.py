"""How members are declared: s.beam, s.string, s.bar, s.shaft, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.bodies import check_body_name
from dalembert.mechanics.model.elements import Body, Dissipation, Load, Potential
from dalembert.mechanics.model.flexible_member import (
    End,
    Kind,
    Member,
    MemberExpansion,
    check_ends,
    support_of,
)
from dalembert.mechanics.model.loads import check_load_name
from dalembert.mechanics.model.registry import (
    Registry,
    component_nodes,
    constant_value,
    refuse_accelerations,
    scalar,
    time_varying_names,
)
from dalembert.mechanics.model.symbols import check_names, speed
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar, is_python_function

# where along a member its functions of x are tried, as shares of its length
_SAMPLE_POSITIONS: Final = tuple(Fraction(k, 16) for k in range(17))
# what a member of each kind cannot do without, and what it is called there
_REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "beam": ("stiffness", "density"),
    "string": ("density",),
    "bar": ("axial", "density"),
    "shaft": ("torsion", "polar"),
}
_WORDS: Final = {("bar", "axial"): "stiffness", ("shaft", "torsion"): "stiffness"}


def beam(
    s: Registry,
    name: str,
    at: Point,
    along: Vector,
    bending: Vector | Sequence[Vector],
    length: Any,
    stiffness: Any,
    density: Any,
    *,
    axial: Any = None,
    torsion: Any = None,
    shear: Any = None,
    rotary: Any = None,
    polar: Any = None,
    tension: Any = None,
    shortening: bool = False,
    left: str | End = "clamped",
    right: str | End = "free",
    load: Any = None,
    loose: bool = False,
) -> Member:
    """A beam: V = ½∫ EI v″² dx, T = ½∫ ρA v·v dx, in one plane or, with two `bending` directions,
    in two.

    stiffness EI, density ρA (mass per length); axial EA adds the stretch u, torsion GJ the twist φ,
    shear kGA makes it Timoshenko's beam with sections that turn by ψ. rotary ρI and polar ρI_p are
    moments of inertia per length. Each is a number, an expression, or a function of the position x:
    stiffness=lambda x: EI*(1 - x/L). `tension` is an axial force that is there from the start;
    `shortening` draws the bent beam in along its axis, which is what stiffens it when it turns or
    is pulled.
    """
    properties = {"stiffness": stiffness, "density": density, "axial": axial}
    properties |= {"torsion": torsion, "shear": shear, "rotary": rotary}
    properties |= {"polar": polar, "tension": tension}
    axis, ends = (at, along, length), (left, right)
    return _declare(
        s, name, "beam", axis, bending, properties, ends, load, shortening=shortening, loose=loose
    )


def string(
    s: Registry,
    name: str,
    at: Point,
    along: Vector,
    bending: Vector | Sequence[Vector],
    length: Any,
    density: Any,
    *,
    tension: Any = None,
    shortening: bool = False,
    left: str | End = "pinned",
    right: str | End = "pinned",
    load: Any = None,
    loose: bool = False,
) -> Member:
    """A string: V = ½∫ N v′² dx with the tension N, or with `shortening` the tension that its
    loads put into it.
    """
    if tension is None and not shortening:
        msg = (
            f"string {name!r}: it has no stiffness; give its tension, or shortening=True if "
            f"its loads stretch it (a hanging chain)"
        )
        raise BadDescription(msg)
    properties = {"density": density, "tension": tension}
    axis, ends = (at, along, length), (left, right)
    return _declare(
        s, name, "string", axis, bending, properties, ends, load, shortening=shortening, loose=loose
    )


def bar(
    s: Registry,
    name: str,
    at: Point,
    along: Vector,
    length: Any,
    stiffness: Any,
    density: Any,
    *,
    left: str | End = "clamped",
    right: str | End = "free",
    load: Any = None,
    loose: bool = False,
) -> Member:
    """A bar that stretches along its axis: V = ½∫ EA u′² dx, T = ½∫ ρA u̇² dx."""
    properties = {"axial": stiffness, "density": density}
    axis, ends = (at, along, length), (left, right)
    return _declare(s, name, "bar", axis, (), properties, ends, load, loose=loose)


def shaft(
    s: Registry,
    name: str,
    at: Point,
    along: Vector,
    length: Any,
    stiffness: Any,
    polar: Any,
    *,
    density: Any = None,
    left: str | End = "clamped",
    right: str | End = "free",
    loose: bool = False,
) -> Member:
    """A shaft that twists: V = ½∫ GJ φ′² dx, T = ½∫ ρI_p φ̇² dx; its density matters only where
    its point moves.
    """
    properties = {"torsion": stiffness, "polar": polar, "density": density}
    return _declare(
        s, name, "shaft", (at, along, length), (), properties, (left, right), loose=loose
    )


def end(
    s: Registry,
    support: str = "free",
    *,
    mass: Any = None,
    inertia: Any = None,
    spring: Any = None,
    turning_spring: Any = None,
    axial_spring: Any = None,
    twisting_spring: Any = None,
    damper: Any = None,
    force: Vector | None = None,
    moment: Vector | None = None,
    axial: bool | None = None,
    twist: bool | None = None,
) -> End:
    """An end that carries something: right=s.end("free", mass=m), right=s.end("free", spring=k)."""
    sizes = {"mass": mass, "inertia": inertia, "spring": spring, "turning_spring": turning_spring}
    sizes |= {"axial_spring": axial_spring, "twisting_spring": twisting_spring, "damper": damper}
    given = {what: scalar(s, e) for what, e in sizes.items() if e is not None}
    _check_end_sizes(s, given)
    for what, vector in (("force", force), ("moment", moment)):
        if vector is not None:
            s.space.check_vector(vector, f"{what} at an end")
    return End(support_of(support), **given, force=force, moment=moment, axial=axial, twist=twist)


def _check_end_sizes(s: Registry, sizes: dict[str, Scalar]) -> None:
    """Masses, springs and dampers of an end are constant and positive."""
    if "inertia" in sizes and "mass" not in sizes:
        msg = "end: a body with a moment of inertia has a mass too; give mass="
        raise BadDescription(msg)
    for what, e in sizes.items():
        _check_constant(s, f"end: {what}", e)
        value = constant_value(s, e)
        if value is not None and value <= 0:
            msg = (
                f"end: its {what.replace('_', ' ')} is {value:g}; it must be positive (leave it "
                f"out if there is none)"
            )
            raise BadDescription(msg)


def expand(
    s: Registry,
    expansion: MemberExpansion,
    *,
    bodies: Sequence[Body],
    loads: Sequence[Load],
    potentials: Sequence[Potential],
    dissipations: Sequence[Dissipation],
) -> None:
    """Put in a member's place the masses, loads and energies in its amplitudes; those that
    vanish are left out.
    """
    kept = [p for p in potentials if p.V.value != 0]
    damping = [d for d in dissipations if d.D.value != 0]
    for body in bodies:
        check_body_name(s, body.name)
    for name in [x.name for x in loads] + [x.name for x in kept] + [x.name for x in damping]:
        check_load_name(s, name, "load")
    s.bodies += bodies
    s.loads += loads
    s.potentials += kept
    s.dissipations += damping
    s.expansions[expansion.member.name] = expansion
    # what was declared with it, so that the continuum can be restored
    s.discretised_elements[expansion.member.name] = (*bodies, *loads, *kept, *damping)


def _declare(
    s: Registry,
    name: str,
    kind: Kind,
    axis: tuple[Point, Vector, Any],
    bending: Vector | Sequence[Vector],
    properties: dict[str, Any],
    ends: tuple[str | End, str | End],
    load: Any = None,
    *,
    shortening: bool = False,
    loose: bool,
) -> Member:
    """The member on the axis (point, direction, length), checked and listed."""
    at, along, length = axis
    what = f"{kind} {name!r}"
    place = f"x_{name}"
    check_names(s, [name, place], "member")
    s.space.check_element(at, Point, what)
    directions = tuple(bending) if isinstance(bending, tuple | list) else (bending,)
    frame = _member_frame(s, what, kind, along, directions)
    l = scalar(s, length)
    _check_constant(s, f"{what}: its length", l)
    x = Scalar(s.space.tape, s.space.tape.symbol(place))
    _check_positive(s, what, "length", l, x, l)
    _check_required(what, kind, properties)
    properties_of_x = _properties_of_x(s, what, properties, (x, l), len(directions))
    left, right = (e if isinstance(e, End) else End(support_of(e)) for e in ends)
    force = None if load is None else _distributed_load(s, what, load, x)
    member = Member(
        name, kind, at, frame, along, directions, x, l, **properties_of_x,
        shortening=bool(shortening), left=left, right=right, load=force, loose=bool(loose),
    )  # fmt: skip
    check_ends(member)
    for taken in (name, place):
        s.used_names[taken] = "member" if taken == name else f"place along {what}"
    s.members[name] = member
    return member


def _check_required(what: str, kind: Kind, properties: dict[str, Any]) -> None:
    """Refuse a member without a property that its kind needs."""
    for key in _REQUIRED[kind]:
        if properties.get(key) is None:
            msg = (
                f"{what}: its {_WORDS.get((kind, key), key)} is missing; give a number, an "
                f"expression or a function of the position x"
            )
            raise BadDescription(msg)


def _properties_of_x(
    s: Registry,
    what: str,
    properties: dict[str, Any],
    axis: tuple[Scalar, Scalar],
    planes: int,
) -> dict[str, Any]:
    """{property: its expression of the place x, or one for each plane of bending}, all positive."""
    x, length = axis
    properties_of_x: dict[str, Any] = {"density": None}
    for key, given in properties.items():
        if given is not None:
            values = _as_functions_of_x(s, what, key, given, x, planes)
            for e in values:
                _check_positive(s, what, key, e, x, length)
            properties_of_x[key] = values if key in ("stiffness", "shear", "rotary") else values[0]
    if "shear" in properties_of_x and "rotary" not in properties_of_x:
        msg = (
            f"{what}: with shear its sections rotate independently and need their own inertia; "
            "give rotary=, ρI per length"
        )
        raise BadDescription(msg)
    return properties_of_x


def _member_frame(
    s: Registry, what: str, kind: Kind, along: Vector, bending: Iterable[Vector]
) -> Frame:
    """The frame in which the directions are fixed unit vectors, at right angles to one another."""
    vectors = (along, *bending)
    for v in vectors:
        s.space.check_vector(v, what)
    if kind in ("beam", "string") and len(vectors) not in (2, 3):
        msg = f"{what}: give one direction of bending or two, bending=B.y or bending=(B.y, B.z)"
        raise BadDescription(msg)
    frame = max(
        (F for v in vectors for F in v.parts), key=lambda F: (F.depth, F.number), default=s.space.N
    )
    for v in vectors:
        frame.unit_axis(v)
    pairs = [(a, b) for i, a in enumerate(vectors) for b in vectors[:i]]
    if not decide_all_zero(
        s.space.tape,
        [(a @ b).i for a, b in pairs],
        f"{what}: whether its directions are at right angles",
    ):
        msg = (
            f"{what}: its directions are not at right angles; along and bending must be, such "
            f"as "
            f"along=B.x, bending=B.y"
        )
        raise BadDescription(msg)
    return frame


def _as_functions_of_x(
    s: Registry, what: str, key: str, given: Any, x: Scalar, planes: int
) -> tuple[Scalar, ...]:
    """A property as functions of x: one, or one for each direction of bending."""
    each = list(given) if isinstance(given, tuple | list) else [given]
    wanted = planes if key in ("stiffness", "shear", "rotary") else 1
    if len(each) == 1:
        each *= wanted
    if len(each) != wanted:
        msg = (
            f"{what}: {key} has {len(each)} entries; give one, or one for each of the {wanted} "
            f"directions of bending"
        )
        raise BadDescription(msg)
    functions = tuple(scalar(s, _evaluate_property(what, key, e, x)) for e in each)
    for e in functions:
        _check_constant(s, f"{what}: its {key}", e)
    return functions


def _check_constant(s: Registry, what: str, e: Scalar) -> None:
    moving = time_varying_names(s, e.i, inputs=True)
    if moving:
        msg = f"{what} depends on {', '.join(moving)}; it must not change with time"
        raise BadDescription(msg)


def _check_positive(s: Registry, what: str, key: str, e: Scalar, x: Scalar, length: Scalar) -> None:
    """Refuse a property that is known to be negative somewhere, or zero other than at an end."""
    # a beam may be pressed together, a string may not
    if key == "tension" and not what.startswith("string"):
        return
    tape = s.space.tape
    for share in _SAMPLE_POSITIONS:
        here = Substitution(tape, {x.i: (length * share).i})(e.i)
        value = constant_value(s, Scalar(tape, here))
        if value is not None and (
            value < 0 or (value == 0 and (here == e.i or share not in (0, 1)))
        ):
            where = "" if here == e.i else f" at x = {float(share):g} of its length"
            msg = f"{what}: its {key} is {value:g}{where}; it must be positive"
            raise BadDescription(msg)


def _distributed_load(
    s: Registry, what: str, load: Vector | Callable[[Scalar], Vector], x: Scalar
) -> Vector:
    force: Vector = _evaluate_property(what, "load", load, x)
    s.space.check_vector(force, f"{what}: its load per length")
    refuse_accelerations(s, what, component_nodes(s, force))
    return force


def _evaluate_property(what: str, key: str, given: Any, x: Scalar) -> Any:
    """A property as it is, or what a function of the position x gives for it."""
    if not is_python_function(given):
        return given
    try:
        return given(x)
    except (TypeError, AttributeError) as problem:
        msg = (
            f"{what}: its {key} is not a function of the position x alone ({problem}); write it as "
            f"lambda x: 1 - x/2"
        )
        raise BadDescription(msg) from problem


def declare_amplitude_speeds(s: Registry) -> None:
    """Where speeds are declared, the rates of the amplitudes are speeds too, dv_1 = v_1.dot: the
    order of both does not matter.
    """
    if not s.speed_list or not s.expansions:
        return
    used = set(symbols_of(s.space.tape, [u.definition.i for u in s.speed_list]))
    for expansion in s.expansions.values():
        for q in (q for each in expansion.amplitudes.values() for q in each):
            if q.dot.i not in used:
                speed(s, f"d{q.name}", q.dot)
