"""F·v_P: a force at a point that no body carries along turns nothing; where it was meant for a body, that is said."""

from __future__ import annotations

from dalembert.algebra.folds import symbols_of
from dalembert.errors import warn
from dalembert.geometry.point import Point
from dalembert.model.elements import Body
from dalembert.model.system import System


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
