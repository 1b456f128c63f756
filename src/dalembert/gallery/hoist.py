"""A body hangs by a hinge from a hoist that a motor moves as prescribed.

Source: Mit22 34.2; printed result: θ̈ + m_B g L sin θ/(I + m_B L²) = 0.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry, Printed


def build(
    *,
    m_Q: float | None = 1.0,
    m_B: float | None = 2.0,
    L: float | None = 0.5,
    I: float | None = 0.125 / 3,
    g: float | None = 9.8,
    x: str | None = "3*cos(t)",
) -> da.System:
    """The track is along n_x, which is also the hinge axis, so x(t) does not enter the equation of
    motion.

    Only the moment of inertia I about b_x matters; the other two are left zero.
    """
    s = da.System("Body hanging from a hoist", source="Mit22 34.2")
    theta = s.coordinate("theta")
    mQ, mB, L_, I_, g_ = s.constants(m_Q=m_Q, m_B=m_B, L=L, I=I, g=g)
    x_ = s.specified("x", None if x is None else s.expression(x))
    N = s.N
    B = N.rotated(theta, N.x, "B")
    Q = s.O.offset(x_ * N.x, "Q")
    s.particle("hoist", mQ, Q)
    s.body("body", mB, Q.offset(-L_ * B.y, "Bcm"), B, da.inertia(B, I_, 0, 0))
    s.gravity(-g_ * N.y)
    return s


ENTRY = Entry(
    name="hoist",
    title="Body hanging from a hoist with specified x(t)",
    source="Mit22 34.2",
    description="A rigid body hangs by a hinge from a hoist that a motor drives along the hinge "
    "axis as prescribed.",
    build=build,
    printed=(
        Printed("34.2", "theta'' + m_B*g*L/(I + m_B*L**2)*sin(theta)", ((1, "1/(I + m_B*L**2)"),)),
    ),
    start={"theta": 0.5235987755982988},
)
