"""g(q, t) ≥ 0, N ≥ 0, |T| ≤ μ N: contacts, stops and dry friction, as a system declares them.

Every contact is a load with two unknown numbers, the normal force N and the friction T: principles
see the load that it is, whatever the contact does. What it does (open, sticking, slipping one way
or the other) is decided by a run, state by state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.dry_friction import (
    contact_forces,
    contact_name,
    declare_contact,
    friction_coefficients,
    load_along_row,
    plane_friction_forces,
)
from dalembert.mechanics.model.dry_friction import friction as declare_friction
from dalembert.mechanics.model.elements import Body, ContactGeometry, Load
from dalembert.mechanics.model.force_reduction import check_body, material_velocity, reduce_loads
from dalembert.mechanics.model.registry import (
    Registry,
    constant_value,
    rate_coefficients,
    refuse_inputs,
    refuse_velocities,
    scalar,
    symbols_by_name,
)
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero
from dalembert.symbolic.algebra.expression_graph import Substitution, gradient, symbols_of
from dalembert.symbolic.algebra.functions import sqrt
from dalembert.symbolic.algebra.scalar import Scalar


def contact(
    s: Registry,
    at: Point,
    ground: Vector | None = None,
    *,
    through: Point | None = None,
    ball: Point | None = None,
    height: Callable[[Scalar], Any] | str | None = None,
    radius: Any = 0,
    on: Body | None = None,
    against: Body | None = None,
    friction: Any = 0,
    static: Any = None,
    stribeck: Any = None,
    along: Vector | tuple[Vector, Vector] | None = None,
    speed: Any = 0,
    spin: Any = 0,
    rolling: Any = 0,
    restitution: Any = 0,
    law: str = "newton",
    two_sided: bool = False,
    active: Any = None,
    name: str | None = None,
) -> None:
    """g ≥ 0, N ≥ 0, g N = 0 with |T| ≤ μ_s N at rest and T = −μ N sign(v_T) in slip: a point, or a
    ball about it, on a ground.

    ground            the unit normal of a plane through `through` (s.O unless given), N.y unless
                      given; it moves as that point does
    ball              the centre of another ball in place of a plane
    height            a curved ground in the plane of N.x and N.y instead: its height over x,
                      height=lambda x: a*sin(x) or height="a*sin(x)"
    radius            of a ball or disk about `at`, whose body `on` names; of two balls radius=(r,
                      R)
    against           the body that carries the ground, or is the other ball; the opposite force
                      acts on it
    friction          μ of slip; `static` is μ_s ≥ μ of rest, and `stribeck` the slip velocity v_s
                      of μ + (μ_s − μ) exp(−(v/v_s)²)
    along             the direction of slip, where it is not in the plane of N.x and N.y; a pair of
                      directions for slip in a plane; speed: of a belt, along it, or a pair
    spin, rolling     the lengths σ and ρ of resisting torques |M_n| ≤ σ N about the normal and
                      |M_t| ≤ ρ N along the ground: "name, spin" and "name, rolling"
    restitution, law  v⁺ = −e v⁻ (newton) or Λ = (1 + e) Λ_compression (poisson)
    two_sided         a guide: N may have either sign, and the contact never opens
    active            an expression that is positive while the contact is there, active="2 - t"; or
                      True or False at the start, where events add and drop it

    Friction in a plane has the round cone |T| ≤ μ N and acts along −v_T/|v_T|. It is the default
    where the normal is not in the plane of N.x and N.y.

    The forces are the inputs N_name and T_name, or T1_name and T2_name in a plane. Source: Pfeiffer
    and Glocker, Multibody Dynamics with Unilateral Contacts (1996).
    """
    label = contact_name(s, name, "contact")
    s.space.check_element(at, Point, label)
    n, gap, reach = _contact_geometry(
        s, label, at, (ground, through, ball, height), _check_radii(s, label, radius)
    )
    body = None if on is None else check_body(label, at, on)
    other = None if against is None else _check_ground_body(label, against, height)
    place = _contact_point(s, at, reach, n)
    v = _contact_velocity(label, at, place, body, other)
    mu = friction_coefficients(s, label, friction, static)
    directions = _slip_directions(s, label, n, along) if mu is not None else ()
    refuse_inputs(s, label, gap)
    # the normal of a plane may turn as well
    approach = v @ n if height is not None else gap.dot
    drift = _ground_drift(s, label, through if ball is None else ball, other) if directions else v
    speeds = _ground_speeds(s, label, speed, len(directions))
    slips = _slip_rates(v - drift, directions, speeds)
    axes = (n, *directions)
    _check_reaction(s, label, zip((approach, *slips), axes, strict=True), v, other)
    N, *T = _contact_force_symbols(s, label, len(slips), two_sided=two_sided)
    load = _contact_load(label, zip((N, *T), axes, strict=True), place, (body, other))
    declare_contact(
        s, label, load, (N, T[0] if T else None), gap=gap, approach=approach,
        slip=slips[0] if slips else None, across=(slips[1], T[1]) if len(T) == 2 else None, mu=mu,
        stribeck=stribeck, restitution=restitution, law=law, two_sided=two_sided,
        arrow=(place, n, directions[0] if directions else None), active=active,
        geometry=_drawn_geometry(s, (through, ball, height), directions, speeds),
    )  # fmt: skip
    _resisting_torques(s, label, n, directions, (body, other), spin=spin, rolling=rolling)


def _slip_rates(v: Vector, directions: Iterable[Vector], speeds: Iterable[Scalar]) -> list[Scalar]:
    """v·t − w along each direction of slip, w being the speed of the ground."""
    return [v @ t - w for t, w in zip(directions, speeds, strict=True)]


def _contact_point(s: Registry, at: Point, reach: Scalar, n: Vector) -> Point:
    """The point of the ball about `at` that touches; it is not listed among the system's points."""
    if reach == 0:
        return at
    place = at.offset(-reach * n, f"{at.name} on the ground")
    s.space.points.remove(place)
    return place


def _contact_velocity(
    label: str, at: Point, place: Point, body: Body | None, other: Body | None
) -> Vector:
    """The velocity of the body's point at the place of contact, relative to the other body's."""
    v = material_velocity(place, body) if place is at else _surface_velocity(label, at, place, body)
    return v if other is None else v - _ground_velocity(place, other)


def _contact_force_symbols(
    s: Registry, label: str, slips: int, *, two_sided: bool
) -> tuple[Scalar, ...]:
    """N and the components of friction, one for each direction of slip."""
    if slips == 2 and two_sided:
        msg = f"{label}: a guide, two_sided=True, has friction along one direction; give along=t"
        raise BadDescription(msg)
    forces = contact_forces(s, label, normal=True, slips=slips == 1)
    in_plane = plane_friction_forces(s, label) if slips == 2 else ()
    return (*(x for x in forces if x is not None), *in_plane)


def _contact_load(
    label: str,
    forces: Iterable[tuple[Scalar, Vector]],
    place: Point,
    bodies: tuple[Body | None, Body | None],
) -> Load:
    """Σ N n + T t at the place of contact, and the opposite on the other body."""
    body, other = bodies
    (N, n), *friction = forces
    F = N * n
    for force, t in friction:
        F = F + force * t
    # a particle that carries a ground has but one point to act on
    opposite = [] if other is None else [(-F, other.G if other.frame is None else place, other)]
    return Load(label, *reduce_loads((F, place, body), *opposite))


def stop(
    s: Registry,
    expression: Any,
    *,
    lower: Any = None,
    upper: Any = None,
    restitution: Any = 0,
    law: str = "newton",
    active: Any = None,
    name: str | None = None,
) -> None:
    """lower ≤ e(q, t) ≤ upper: the stops of a joint, or the play of a gear, as contacts without
    friction.

    The stops are called "name, lower" and "name, upper"; their forces N, along e and against it,
    are inputs. `active` is an expression that is positive while the stops are there, or True or
    False at the start, which events change.
    """
    e = scalar(s, expression)
    base = contact_name(s, name, "stop", ("lower", "upper"))
    if lower is None and upper is None:
        msg = f"{base}: give lower=…, upper=… or both"
        raise BadDescription(msg)
    refuse_velocities(s, base, (e.i,), "a stop bounds positions")
    low, high = (None if x is None else constant_value(s, scalar(s, x)) for x in (lower, upper))
    if low is not None and high is not None and low > high:
        msg = f"{base}: lower = {low:g} is above upper = {high:g}; exchange them"
        raise BadDescription(msg)
    impact = {"restitution": restitution, "law": law, "active": active}
    if lower is not None:
        _declare_frictionless(s, f"{base}, lower", e - scalar(s, lower), **impact)
    if upper is not None:
        _declare_frictionless(s, f"{base}, upper", -(e - scalar(s, upper)), **impact)


def _declare_frictionless(s: Registry, label: str, gap: Scalar, **options: Any) -> None:
    """gap ≥ 0, N ≥ 0, gap N = 0 without friction; N acts along the rate of the gap."""
    v = gap.dot
    N, _ = contact_forces(s, label, normal=True, slips=False)
    load = load_along_row(s, label, v, N)
    declare_contact(s, label, load, (N, None), gap=gap, approach=v, **options)


def rope(
    s: Registry,
    P: Point,
    Q: Point,
    length: Any,
    *,
    through: Point | None = None,
    restitution: Any = 0,
    law: str = "newton",
    active: Any = None,
    name: str | None = None,
) -> None:
    """|P − Q| ≤ L, N ≥ 0: a rope without mass that goes slack and taut; its tension is the input
    N_name.

    `through` is a point over which it runs without friction (a small pulley): the sum of the two
    straight parts is bounded then. Where it becomes taut with a velocity there is an impact
    with `restitution`, 0 for a rope that does not bounce. `active` is an expression that is
    positive while the rope is there, or True or False at the start, which events change.
    """
    label = contact_name(s, name, "rope")
    points = [P, Q] if through is None else [P, through, Q]
    for point in points:
        s.space.check_element(point, Point, label)
    parts = list(pairwise(points))
    if any(a is b for a, b in parts):
        msg = f"{label}: a part of it joins a point to itself; give two different points"
        raise BadDescription(msg)
    longest = scalar(s, length)
    refuse_velocities(s, label, (longest.i,), "the length of a rope depends on positions and time")
    refuse_inputs(s, label, longest)
    if (value := constant_value(s, longest)) is not None and value <= 0:
        msg = f"{label}: length = {value:g}; give a positive length"
        raise BadDescription(msg)
    gap = longest
    for a, b in parts:
        gap = gap - sqrt((b - a) @ (b - a))
    drawn = ContactGeometry("rope", tuple(points), length=longest)
    impact = {"restitution": restitution, "law": law, "active": active}
    _declare_frictionless(s, label, gap, geometry=drawn, **impact)


# ---- the ground ----------------------------------------------------------------------------------


def _contact_geometry(
    s: Registry,
    label: str,
    P: Point,
    given: tuple[Any, Point | None, Point | None, Any],
    radii: tuple[Scalar, Scalar],
) -> tuple[Vector, Scalar, Scalar]:
    """The normal towards P, the gap, and how far from P the contact is."""
    N, O, (r, other), (ground, through, ball, height) = s.space.N, s.space.O, radii, given
    if height is not None:
        if any(x is not None for x in (ground, through, ball)) or r != 0:
            msg = (
                f"{label}: a curved ground, height=…, goes with a point: leave out the plane "
                f"and radius=…"
            )
            raise BadDescription(msg)
        return _curved_ground(s, label, P, height)
    if ball is not None:
        s.space.check_element(ball, Point, f"{label}, ball=")
        distance, touching = sqrt((P - ball) @ (P - ball)), r + other
        if (radius_sum := constant_value(s, touching)) is not None and radius_sum <= 0:
            msg = (
                f"{label}: two points never meet; give the radii of the balls about them, "
                f"radius=(r, R)"
            )
            raise BadDescription(msg)
        return (P - ball) / distance, distance - touching, r
    n = N.y if ground is None else ground
    _check_normal(s, label, n)
    Q = O if through is None else through
    s.space.check_element(Q, Point, f"{label}, through=")
    return n, (P - Q) @ n - r, r


def _check_normal(s: Registry, label: str, n: Any) -> None:
    """Refuse a normal that is no unit vector, where its length is known now."""
    if not isinstance(n, Vector):
        msg = f"{label}: the ground is {n!r:.60}; give the normal of a plane, such as s.N.y"
        raise BadDescription(msg)
    s.space.check_vector(n, label)
    square = (n @ n).i
    if symbols_of(s.space.tape, (square,)):
        return
    length = constant_value(s, Scalar(s.space.tape, square))
    if length is not None and abs(length - 1) > 1e-12:
        msg = f"{label}: the normal {n} has the length {length**0.5:.6g}; give a unit vector"
        raise BadDescription(msg)


def _drawn_geometry(
    s: Registry,
    given: tuple[Point | None, Point | None, Any],
    directions: tuple[Vector, ...],
    speeds: list[Scalar],
) -> ContactGeometry:
    """A plane with its point and the velocity of a belt, a ball, or a curve."""
    through, ball, height = given
    if ball is not None or height is not None:
        return ContactGeometry("curve" if ball is None else "ball")
    belt = [w * t for w, t in zip(speeds, directions, strict=True) if w != 0]
    velocity = sum(belt[1:], belt[0]) if belt else None
    return ContactGeometry("plane", (s.space.O if through is None else through,), velocity)


def _check_radii(s: Registry, label: str, radius: Any) -> tuple[Scalar, Scalar]:
    """Of the ball about the point, and of the ball that is the ground."""
    r, R = radius if isinstance(radius, tuple | list) and len(radius) == 2 else (radius, 0)
    for x in (r, R):
        if (value := constant_value(s, scalar(s, x))) is not None and value < 0:
            msg = f"{label}: radius = {value:g}; a radius is not negative"
            raise BadDescription(msg)
    return scalar(s, r), scalar(s, R)


def _curved_ground(s: Registry, label: str, P: Point, height: Any) -> tuple[Vector, Scalar, Scalar]:
    """y = h(x): n = (−h′, 1)/√(1 + h′²), g = (y − h)/√(1 + h′²)"""
    from dalembert.symbolic.algebra.parser import parse

    tape, N = s.space.tape, s.space.N
    r = P - s.space.O
    x = Scalar(tape, tape.private_symbol("x of a curved ground"))
    try:
        h = (
            parse(height, symbols_by_name(s) | {"x": x}, tape)
            if isinstance(height, str)
            else scalar(s, height(x))
        )
    except TypeError as problem:
        msg = (
            f"{label}: height={height!r:.60} is not a function of x; write height=lambda x: "
            f"a*sin(x)"
        )
        raise BadDescription(msg) from problem
    here = Substitution(tape, {x.i: (r @ N.x).i})
    slope = Scalar(tape, here(gradient(tape, {h.i: tape.one}, [x.i])[0]))
    length = sqrt(1 + slope**2)
    return (
        (N.y - slope * N.x) / length,
        ((r @ N.y) - Scalar(tape, here(h.i))) / length,
        scalar(s, 0),
    )


def _surface_velocity(label: str, P: Point, place: Point, body: Body | None) -> Vector:
    """The velocity of the body's point at the place of contact."""
    if body is None:
        msg = f"{label}: a ball with a radius rotates; name the body whose surface it is, on=…"
        raise BadDescription(msg)
    return material_velocity(place, body) if body.frame is not None else P.v


def _check_ground_body(label: str, against: Body, height: Any) -> Body:
    """The body on which the opposite force acts."""
    if not isinstance(against, Body):
        msg = (
            f"{label}: against={against!r:.60}; name the body that carries the ground, such as "
            f"against=cart"
        )
        raise BadDescription(msg)
    if height is not None:
        msg = f"{label}: a curved ground, height=…, is fixed; leave out against=…"
        raise BadDescription(msg)
    return against


def _ground_velocity(place: Point, other: Body) -> Vector:
    """Of the point of the ground that is touched; a particle carries its ground without turning
    it.
    """
    place.space.check_same_system(other.G.space)
    return other.G.v if other.frame is None else material_velocity(place, other)


def _ground_drift(s: Registry, label: str, Q: Point | None, other: Body | None) -> Vector:
    """The velocity that a point of the ground has in what carries it: of a table that shakes, or
    a tray on a cart.
    """
    if Q is None:
        return Vector(s.space.tape, {})
    v = Q.v if other is None else Q.v - _ground_velocity(Q, other)
    # where the motion of other coordinates is in it, it is only a point of the plane, which does
    # not say how the ground moves along it
    return (
        v
        if other is None
        or not any(
            _moving_coordinates(s, v @ e, label) for e in (s.space.N.x, s.space.N.y, s.space.N.z)
        )
        else 0 * v
    )


def _check_reaction(
    s: Registry,
    label: str,
    rows: Iterable[tuple[Scalar, Vector]],
    v: Vector,
    other: Body | None,
) -> None:
    """Each row is v along its axis, on which its force does work: otherwise something moves with
    the ground on which no force acts.
    """
    left = [name for row, axis in rows for name in _moving_coordinates(s, row - v @ axis, label)]
    if not left:
        return
    if other is None:
        way = "name the body that carries it, against=cart, so that the opposite force acts on it"
        msg = f"{label}: the ground moves with {', '.join(dict.fromkeys(left))}; {way}"
    else:
        way = "give a point and a normal that are fixed in it, or the body that carries them"
        msg = (
            f"{label}: the ground moves with {', '.join(dict.fromkeys(left))} in another way "
            f"than {other.name!r} does; {way}"
        )
    raise BadDescription(msg)


def _moving_coordinates(s: Registry, v: Scalar, label: str) -> list[str]:
    """The coordinates whose rates are in v, decided exactly."""
    tape, q = s.space.tape, s.q
    return [
        str(q[k])
        for k, a in rate_coefficients(s, v).items()
        if not decide_all_zero(tape, [a], f"{label}: whether the ground moves with {q[k]}")
    ]


def _slip_directions(
    s: Registry, label: str, n: Vector, along: Vector | tuple[Vector, Vector] | None
) -> tuple[Vector, ...]:
    """The direction of slip, or two of a plane: those that were given, n × N.z where the normal
    is in the plane of N.x and N.y, and otherwise two axes of the frame whose axis the normal is.
    """
    if isinstance(along, tuple | list):
        return _check_pair(s, label, n, tuple(along))
    if along is not None:
        s.space.check_vector(along, label)
        return (along,)
    if n @ s.space.N.z == 0:
        return (n.cross(s.space.N.z),)
    for frame in n.parts:
        axes = (frame.x, frame.y, frame.z)
        for i, axis in enumerate(axes):
            if n @ axis == 1:
                return axes[(i + 1) % 3], axes[(i + 2) % 3]
    way = "along=(t1, t2) for slip in the plane, or along=t for slip along one direction"
    msg = f"{label}: the normal {n} is no axis of a frame; give {way}"
    raise BadDescription(msg)


def _check_pair(
    s: Registry, label: str, n: Vector, pair: tuple[Vector, ...]
) -> tuple[Vector, Vector]:
    """Two unit vectors of the plane at right angles to each other."""
    if len(pair) != 2:
        msg = f"{label}: along= has {len(pair)} vectors; give one direction, or two of a plane"
        raise BadDescription(msg)
    for t in pair:
        s.space.check_vector(t, label)
    a, b = pair
    tape = s.space.tape
    parts = (a @ a - 1, b @ b - 1, a @ b, a @ n, b @ n)
    if not decide_all_zero(tape, [x.i for x in parts], f"{label}: the directions along="):
        msg = (
            f"{label}: along=({a}, {b}): give two unit vectors at right angles to each other and "
            f"to the normal {n} exactly (decimals are so only to rounding); take the axes of a "
            f"frame, F = s.N.rotated(angle, s.N.y), with F.z as normal and along=(F.x, F.y)"
        )
        raise BadDescription(msg)
    return a, b


def _ground_speeds(s: Registry, label: str, speed: Any, count: int) -> list[Scalar]:
    """The speed of the ground along each direction of slip."""
    given = tuple(speed) if isinstance(speed, tuple | list) else (speed, 0)[: max(count, 1)]
    if len(given) != max(count, 1):
        msg = (
            f"{label}: speed= has {len(given)} components, and slip {count}; give a speed for "
            f"each direction of slip"
        )
        raise BadDescription(msg)
    return [scalar(s, w) for w in given[:count]]


def _resisting_torques(
    s: Registry,
    label: str,
    n: Vector,
    directions: tuple[Vector, ...],
    bodies: tuple[Body | None, Body | None],
    *,
    spin: Any,
    rolling: Any,
) -> None:
    """|M_n| ≤ σ N about the normal and |M_t| ≤ ρ N along the ground, against the relative angular
    velocity.
    """
    sigma, rho = scalar(s, spin), scalar(s, rolling)
    if sigma == 0 and rho == 0:
        return
    body, other = bodies
    if body is None or body.frame is None:
        msg = f"{label}: spin= and rolling= act on a rigid body; name it, on=…"
        raise BadDescription(msg)
    w = body.frame.w
    if other is not None and other.frame is not None:
        w = w - other.frame.w
    if sigma != 0:
        declare_friction(s, w @ n, sigma, normal=label, name=f"{label}, spin")
    if rho == 0:
        return
    if len(directions) == 0:
        msg = f"{label}: rolling= without friction=; rolling resistance needs friction"
        raise BadDescription(msg)
    about = [n.cross(t) for t in directions]
    slip = w @ about[0] if len(about) == 1 else (w @ about[0], w @ about[1])
    declare_friction(s, slip, rho, normal=label, name=f"{label}, rolling")
