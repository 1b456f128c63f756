"""The vehicle of Bar00 with a knife edge that slides sideways at a speed depending on time and place.

Source: Bar00 Fig. 1, (54)–(55). The row has a time-dependent term but the same coefficients A, so the corrected (55) holds
with the added loads: the equations of motion contracted with (cos θ, sin θ, 0) and (−L sin θ, L cos θ, 1).
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import ByHand, Entry


def build(
    *,
    m: float | None = 2.0,
    I_G: float | None = 0.5,
    L: float | None = 0.4,
    c: float | None = 0.3,
    k: float | None = 5.0,
    w: str | None = "sin(2*t)/5",
) -> da.System:
    """v_A · j = w(t) + X/4, speeds u₁ = v_A · i − Y cos t/10 and u₂ = (1 + t/10) θ̇ + X/10.

    A spring whose anchor moves along x as sin t has the potential V = ½ k ((X − sin t)² + Y²); the ground damps the motion of G.
    """
    s = da.System("Vehicle with a moving knife edge", source="Bar00 Fig. 1")
    X, Y, theta = s.coordinates("X Y theta")
    m_, I_, L_, c_, k_ = s.constants(m=m, I_G=I_G, L=L, c=c, k=k)
    w_ = s.specified("w", None if w is None else s.expression(w))
    N = s.N
    B = N.rotated(theta, N.z, "B")
    G = s.O.offset(X * N.x + Y * N.y, "G")
    A = G.offset(-L_ * B.x, "A")
    s.body("vehicle", m_, G, B, da.inertia(B, 0, 0, I_))
    s.potential(k_ * ((X - da.sin(s.t)) ** 2 + Y**2) / 2, "spring")
    s.force(-c_ * G.v, at=G, name="damping")
    s.constrain(A.v @ B.y - w_ - X / 4, "sliding knife edge")
    s.speeds(u1=A.v @ B.x - Y * da.cos(s.t) / 10, u2=(1 + s.t / 10) * theta.dot + X / 10)
    return s


_F_X, _F_Y = "(m*X'' + c*X' + k*(X - sin(t)))", "(m*Y'' + c*Y' + k*Y)"

ENTRY = Entry(
    name="moving-knife-edge",
    title="Vehicle with a moving knife edge",
    source="Bar00 Fig. 1",
    description="A vehicle on a knife edge that slides sideways as prescribed, on a spring with a moving anchor, with damping.",
    build=build,
    printed=(
        ByHand("(55), first", f"{_F_X}*cos(theta) + {_F_Y}*sin(theta)", ((1, "1"),)),
        ByHand("(55), second", f"-L*{_F_X}*sin(theta) + L*{_F_Y}*cos(theta) + I_G*theta''", ((2, "1 + t/10"),)),
    ),
    start={"u1": 0.5},
)
