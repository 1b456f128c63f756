"""T = Σ ½ m v·v + ½ ω·I·ω   (Koenig)"""

from __future__ import annotations

from collections.abc import Callable

from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics


def kinetic_energy(kin: Kinematics, v: Callable[[Point], Vector], w: Callable[[Frame], Vector]) -> int:
    """T = Σ ½ m v·v + ½ ω·I·ω

    In whatever velocity variables v and w are written: q̇ for Lagrange, u for the energy integrals.

    Source: Gre03 (4.43).
    """
    t = kin.tape
    total = t.zero
    for body in kin.system.bodies:
        velocity = v(body.G)
        total = t.add(total, t.mul(body.mass.i, velocity.dot_index(velocity)))
        if body.frame is not None and body.inertia is not None:
            omega = w(body.frame)
            # ω written once in the frame of the inertia, so that ω·I·ω is a plain quadratic form
            components = omega.components(body.inertia.frame)
            in_body = Vector(t, {body.inertia.frame: components})
            total = t.add(total, in_body.dot_index(body.inertia.on(t) @ in_body))
    return t.mul(t.div(t.one, t.const(2)), total)
