"""S = Σ ½ m a·a + ½ α·I·α + α·(ω × I·ω): the Gibbs function."""

from __future__ import annotations

from collections.abc import Callable

from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics


def gibbs_function(kin: Kinematics, a: Callable[[Point], Vector], w: Callable[[Frame], Vector], alpha: Callable[[Frame], Vector]) -> int:
    """S up to terms free of accelerations, in whatever variables a, ω and α are written.

    Source: Bar00 (31), for rigid bodies with the whole α.
    """
    t = kin.tape
    half = t.div(t.one, t.const(2))
    S = t.zero
    for body in kin.system.bodies:
        acceleration = a(body.G)
        S = t.add(S, t.mul(t.mul(half, body.mass.i), acceleration.dot_index(acceleration)))
        if body.frame is not None and body.inertia is not None:
            F = body.inertia.frame
            omega = Vector(t, {F: w(body.frame).components(F)})
            turning = Vector(t, {F: alpha(body.frame).components(F)})
            I = body.inertia.on(t)
            S = t.add(S, t.mul(half, turning.dot_index(I @ turning)))
            S = t.add(S, turning.dot_index(omega.cross(I @ omega)))
    return S
