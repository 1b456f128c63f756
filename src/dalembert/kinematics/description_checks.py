"""What a description forgets: a symbol that stands nowhere is refused, a force that was meant for a body and turns nothing is mentioned.

Every symbol must matter to a mass, a load or a constraint; F·v_P at a point that no body carries along turns nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.algebra.folds import symbols_of
from dalembert.errors import IllPosed, warn
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.elements import Body
from dalembert.model.system import System


def check_everything_used(system: System) -> None:
    """Refuse a system without coordinates, without masses and loads, and a symbol that stands nowhere."""
    unexpanded = [m for name, m in system.members.items() if name not in system.expansions]
    if unexpanded:
        m = unexpanded[0]
        ways = f"expand it in functions, da.discretise(s, {m.name}, 4), or derive hybrid equations, da.extended_hamilton(s)"
        msg = f"{m.kind} {m.name!r} is a continuum, which this cannot treat as it is: {ways}"
        raise IllPosed(msg)
    if not system.q:
        msg = f"system {system.name!r} has no coordinates: declare them with s.coordinates(...)"
        raise IllPosed(msg)
    if not system.bodies and not system.kinetic and not system.loads and not system.potentials:
        msg = f"system {system.name!r} has no masses: declare a particle or a body"
        raise IllPosed(msg)
    without = [s.name for s in system.symbols.values() if s.kind == "state" and s.name not in system.state_rates]
    if without:
        msg = f"state {without[0]!r} has no rate: give it by s.rate({without[0]}, …)"
        raise IllPosed(msg)
    t = system.space.tape
    used = {str(t.nodes[i][1]).rstrip("'") for i in symbols_of(t, nodes_of(system))}
    speeds = {s.name for s in system.speed_list}
    # a state need not act on anything: it may only measure
    idle = [s for name, s in system.symbols.items() if name not in used and name not in speeds and s.kind != "state"]
    if idle:
        names = ", ".join(f"{s.kind} {s.name!r}" for s in idle)
        msg = f"{names}: declared but used nowhere; remove it or use it"
        raise IllPosed(msg)


def nodes_of(system: System) -> Iterator[int]:
    """Every node that a mass, a load or a constraint depends on."""
    seen: set[Frame | Point] = set()
    for b in system.bodies:
        yield b.mass.i
        yield from _of_point(b.G, seen)
        if b.frame is not None and b.inertia is not None:
            yield from _of_frame(b.frame, seen)
            yield from b.inertia.entries()
        if b.shape is not None:
            yield from (x.i for x in b.shape.sizes)
    for load in system.loads:
        for F, P in load.forces:
            yield from _of_vector(F, seen)
            yield from _of_point(P, seen)
        for T, B in load.torques:
            yield from _of_vector(T, seen)
            yield from _of_frame(B, seen)
    yield from (T.i for T in system.kinetic)
    yield from (p.V.i for p in system.potentials)
    yield from (d.D.i for d in system.dissipations)
    yield from (c.expression.i for c in system.constraints)
    for c in system.contacts:
        yield from (x.i for x in (c.gap, c.approach, c.slip, c.normal, c.friction, c.static, c.restitution) if x is not None)
    yield from (s.definition.i for s in system.speed_list)
    yield from (e.i for e in system.state_rates.values())
    yield from (s.motion.i for s in system.symbols.values() if s.motion is not None)
    if system.field is not None:
        yield from _of_vector(system.field.g, seen)


def _of_vector(v: Vector, seen: set[Frame | Point]) -> Iterator[int]:
    for F, c in v.parts.items():
        yield from c
        yield from _of_frame(F, seen)


def _of_point(P: Point, seen: set[Frame | Point]) -> Iterator[int]:
    """What P hangs on, up to where somebody has been before."""
    Q: Point | None = P
    while Q is not None and Q not in seen:
        seen.add(Q)
        yield from _of_vector(Q.r, seen)
        Q = Q.parent


def _of_frame(F: Frame, seen: set[Frame | Point]) -> Iterator[int]:
    """What F hangs on, up to where somebody has been before."""
    G: Frame | None = F
    while G is not None and G not in seen:
        seen.add(G)
        if G.rotation is not None:
            yield from G.rotation.variables()
        G = G.parent


def warn_of_moving_points(system: System) -> None:
    """A word on every force at a point that hangs on a rigid body and moves relative to it, where no body was named.

    The contact of a wheel is such a point: it follows the axle and does not turn. A force there without on= acts on nothing that
    turns, and every principle agrees on that.
    """
    materials = {b.G for b in system.bodies}
    for load in system.loads:
        if load.along:
            continue
        for (_, P), named in zip(load.forces, load.on(), strict=False):
            if named is not None or P in materials or P.parent is None:
                continue
            body = _carrier(system, P.parent)
            if body is not None and not any(_fixed(system, P, b) for b in system.bodies):
                warn(
                    f"{load.name}: {P.name} moves relative to {body.name!r}, on which it hangs, so that the force does not turn it; "
                    f"if it acts there, name the body: on={body.name}"
                )


def _carrier(system: System, Q: Point) -> Body | None:
    """The rigid body that a point belongs to: its mass centre, whatever that rides on, or a point fixed in its frame."""
    return next((b for b in system.bodies if b.is_rigid and (Q is b.G or (b.frame is Q.frame and _fixed(system, Q, b)))), None)


def _fixed(system: System, P: Point, body: Body) -> bool:
    """Whether a point keeps its place in a rigid body."""
    if body.frame is None:
        return P is body.G
    t = system.space.tape
    return not any(i in t.moving for i in symbols_of(t, (P - body.G).on(t).components(body.frame)))
