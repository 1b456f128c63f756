"""A homogeneous ball rolls on a horizontal table that turns at a prescribed rate.

Source: Mor03; printed result dv/dt = (2/7) Ω k × v for constant Ω. With Ω(t) the derivative of its
rolling condition has one more term, so that dv/dt = (2/7)(Ω k × v + Ω̇ k × r).
"""

from __future__ import annotations

from typing import Literal

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    m: float | None = 1.0,
    r: float | None = 0.05,
    Omega: str | None = "3",
    attitude: Literal["zyx", "zxz", "quaternion"] = "zyx",
) -> da.System:
    """v = Ω k × r + ω × r k: two rows with time-dependent terms; speeds ẋ, ẏ and ω·k.

    The ball turns over again and again and comes near the singular position of any three angles; a
    quaternion has none.
    """
    s = da.System("Ball on a turntable", source="Mor03")
    x, y = s.coordinates("x y")
    turned = s.coordinates("e_0 e_1 e_2 e_3" if attitude == "quaternion" else "alpha beta gamma")
    m_, r_ = s.constants(m=m, r=r)
    Omega_ = s.specified("Omega", None if Omega is None else s.expression(Omega))
    N = s.N
    B = N.quaternion(*turned) if attitude == "quaternion" else N.rotations(attitude, *turned)[-1]
    C = s.O.offset(x * N.x + y * N.y, "C")
    ball = s.sphere("ball", C.offset(r_ * N.z, "G"), B, m_, r_)
    slip = ball.G.v + B.w.cross(C - ball.G) - (Omega_ * N.z).cross(C - s.O)
    s.constrain(slip @ N.x, "rolling along x")
    s.constrain(slip @ N.y, "rolling along y")
    s.speeds(u1=x.dot, u2=y.dot, u3=B.w @ N.z)
    return s


ENTRY = Entry(
    name="ball-on-turntable",
    title="Ball on a turntable",
    source="Mor03",
    description="A homogeneous ball rolls without slipping on a horizontal table that turns at a "
    "prescribed rate.",
    build=build,
    printed=(
        Printed("along x", "x'' + 2/7*(Omega*y' + Omega'*y)", ((1, "5/(7*m)"),)),
        Printed("along y", "y'' - 2/7*(Omega*x' + Omega'*x)", ((2, "5/(7*m)"),)),
        Printed("along z", "u3'", ((3, "5/(2*m*r**2)"),)),
    ),
    start={"x": 0.3, "u2": 0.5},
)
