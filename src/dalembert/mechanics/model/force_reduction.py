"""F at P on a body: the force acts on that point of the body which is at P now, whether P is fixed
to the body or not.

Where P is fixed to the body, the force stays at P. Elsewhere it is reduced to the mass centre: F at
G and the couple (r_P − r_G) × F, for the point of the body that is at P now has the velocity v_G +
ω × (r_P − r_G), which is not that of P.
"""

from __future__ import annotations

from typing import NamedTuple

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero
from dalembert.symbolic.algebra.expression_graph import Derivative


class ReducedLoads(NamedTuple):
    """Forces at points and torques on frames, each with the body it was declared to act on."""

    forces: tuple[tuple[Vector, Point], ...]
    torques: tuple[tuple[Vector, Frame], ...]
    bodies: tuple[Body | None, ...]


def is_fixed_in(P: Point, body: Body) -> bool:
    """Whether r_P − r_G is constant in the body, decided exactly; a particle has no other point
    than its own.
    """
    t = P.space.tape
    r = P - body.G
    question = f"whether {P.name} is fixed in {body.name}"
    if body.frame is None:
        return decide_all_zero(t, r.components(P.space.N), question)
    rate = Derivative(t, t.rate)
    return decide_all_zero(t, [rate(c) for c in r.components(body.frame)], question)


def check_body(what: str, P: Point, body: object) -> Body:
    """The body named by on=, if it has a point at P."""
    if not isinstance(body, Body):
        msg = (
            f"{what}: on={body!r:.60}; name the body it acts on, such as on=rod (of two ends: "
            f"on=(rod, cart), None for the point's own)"
        )
        raise BadDescription(msg)
    P.space.check_same_system(body.G.space)
    if body.frame is None and not is_fixed_in(P, body):
        msg = (
            f"{what}: {body.name!r} is a particle, and {P.name} is not where it is; give its "
            f"own "
            f"point {body.G.name}, or another body"
        )
        raise BadDescription(msg)
    return body


def bodies_at_ends(
    what: str, P: Point, Q: Point | None, on: object
) -> tuple[Body | None, Body | None]:
    """The bodies that on= names for the first point and, of a pair, for the second."""
    given = on if isinstance(on, tuple) else (on, None)
    if len(given) != 2 or (Q is None and given[1] is not None):
        msg = f"{what}: on={on!r:.60}; it takes one body for each end"
        raise BadDescription(msg)
    first = None if given[0] is None else check_body(what, P, given[0])
    return first, None if given[1] is None or Q is None else check_body(what, Q, given[1])


def material_velocity(P: Point, body: Body | None) -> Vector:
    """v_G + ω × (r_P − r_G) of the body's point at P, or v_P itself."""
    if body is None or body.frame is None or is_fixed_in(P, body):
        return P.v
    return body.G.v + body.frame.w.cross(P - body.G)


def reduce_loads(*loads: tuple[Vector, Point, Body | None]) -> ReducedLoads:
    """Forces as they act on the bodies named; each at its own point where none is."""
    forces, torques, on_forces, on_torques = [], [], [], []
    for F, P, body in loads:
        on_forces.append(body)
        if body is None or body.frame is None or is_fixed_in(P, body):
            forces.append((F, P))
            continue
        forces.append((F, body.G))
        torques.append(((P - body.G).cross(F), body.frame))
        on_torques.append(body)
    return ReducedLoads(tuple(forces), tuple(torques), (*on_forces, *on_torques))
