"""A sphere rolls on a plane at the end of a flexible arm that a motor turns at a prescribed rate.

Source: Mit22 34.3; printed results: the two rolling rows and Kane's equations for ω_y and ṡ.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    m: float | None = 1.0,
    r: float | None = 0.1,
    L: float | None = 1.0,
    k: float | None = 200.0,
    b: float | None = 2.0,
    Omega: str | None = "t/2",
    rigid: bool = False,
) -> da.System:
    """ω_A = Ω a_y with Ω(t) prescribed; C rolls at (L + s) a_x; torque −b(ω_C − ω_B) on C, its
    opposite on B.

    Ω is the prescribed quantity, so the arm's angle φ is a coordinate with the row φ̇ = Ω. The
    attitude of the sphere in A is given by three angles that no equation of motion contains. A
    rigid arm is the row s = 0. The table prints b in N s/m; the equations follow from a torque, so
    b is in N m s.
    """
    s = da.System("Rolling-sphere positioning device", source="Mit22 34.3")
    stretch, phi, alpha, beta, gamma = s.coordinates("s phi alpha beta gamma")
    m_, r_, L_, b_ = s.constants(m=m, r=r, L=L, b=b)
    Omega_ = s.specified("Omega", None if Omega is None else s.expression(Omega))
    N = s.N
    A = N.rotated(phi, N.y, "A")
    C = A.rotations("yxz", alpha, beta, gamma)[-1]
    P = s.O.offset((L_ + stretch) * A.x, "P")
    sphere = s.sphere("sphere", P.offset(r_ * N.y, "Ccm"), C, m_, r_)
    s.torque(-b_ * (C.w - A.w), on=sphere, reaction=A, name="damper")
    s.constrain(phi.dot - Omega_, "rate of the arm")
    v = sphere.G.v + C.w.cross(P - sphere.G)
    s.constrain(v @ A.x, "rolling along the arm")
    s.constrain(v @ A.z, "rolling across the arm")
    if rigid:
        s.constrain(stretch, "rigid arm")
        s.speeds(omega_y=C.w @ A.y)
    else:
        s.potential(s.constant("k", k) * stretch**2 / 2, "flexible tube")
        s.speeds(omega_y=C.w @ A.y, v=stretch.dot)
    return s


ENTRY = Entry(
    name="positioning-device",
    title="Rolling-sphere positioning device",
    source="Mit22 34.3",
    description="A sphere rolls at the end of an elastic arm turned at a prescribed rate, with "
    "viscous fluid in its housing.",
    build=build,
    printed=(
        Printed("34.3, for ω_y", "0.4*m*r**2*omega_y' + b*omega_y - b*Omega", ((1, "1"),)),
        Printed(
            "34.3, for ṡ",
            "1.4*m*r**2*s'' + b*s' + (k - 1.4*m*Omega**2)*r**2*s - 1.4*m*r**2*L*Omega**2",
            ((2, "r**2"),),
        ),
    ),
    duration=4.0,
)
