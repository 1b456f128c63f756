"""Bricard's mechanism: a loop of six hinges that should be rigid by count, and yet moves.

Source: MBS A04, after Bricard (1897). The motion is compared in tests/truth.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry


def build(
    *, m: float | None = 1.0, l: float | None = 1.0, w: float | None = 0.1, g: float | None = 9.81
) -> da.System:
    """Five rods along the edges of a cube, hinged about y, z, x, y, z, x; the sixth hinge closes
    the loop on the ground.

    Five angles and five rows of the closing pin would leave nothing to move. Wherever four of them
    hold the fifth does: it is declared redundant. The rods have the square section w × w.
    """
    s = da.System("Bricard's mechanism", source="MBS A04")
    m_, l_, w_, g_ = s.constants(m=m, l=l, w=w, g=g)
    N, P, F = s.N, s.O, s.N
    # the axis of each hinge, and the direction of the rod behind it, both in the rod's own frame
    for k, (axis, along, sign) in enumerate(
        (("y", "x", 1), ("z", "y", -1), ("x", "z", 1), ("y", "x", -1), ("z", "y", 1)), 1
    ):
        F = F.rotated(s.coordinate(f"theta_{k}"), getattr(F, axis), f"rod {k}")
        e = sign * getattr(F, along)
        thick, long = m_ * w_**2 / 6, m_ * (l_**2 + w_**2) / 12
        I = da.inertia(F, *(thick if i == along else long for i in "xyz"))
        s.body(F.name, m_, P.offset(l_ / 2 * e, frame=F), F, I)
        P = P.offset(l_ * e, f"P{k}", F)
    s.close(
        P, s.O.offset(l_ * N.z, "foot", N), "pin", F.x, N.x, "sixth hinge", redundant=("axis 2",)
    )
    s.gravity(-g_ * N.y)
    s.speeds(u_1=s["theta_1"].dot)
    return s


ENTRY = Entry(
    name="bricard",
    title="Bricard's mechanism",
    source="MBS A04",
    description="Five rods along the edges of a cube, hinged in a loop that moves although the "
    "count of degrees of freedom says it cannot.",
    build=build,
)
