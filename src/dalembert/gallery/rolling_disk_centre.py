"""The rolling disk by the coordinates of its centre: three rows on velocities, one of which is on
positions in disguise.

Source: Gre03 Ex. 4.2; the equations of motion are the same, (4.57), (4.59), (4.60), and the third
row says that the contact keeps
its height.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery import rolling_disk
from dalembert.gallery.entry import DerivedByHand, Entry


def build(*, m: float | None = 1.0, r: float | None = 0.5, g: float | None = 9.81) -> da.System:
    """(x, y, z) is the centre; heading φ, lean θ, spin ψ. The contact lies r below the centre in
    the plane of the disk.

    The speeds are the rates φ̇, θ̇, ψ̇ that the rows leave independent.
    """
    s = da.System("Rolling disk by its centre", source="Gre03 Ex. 4.2")
    x, y, z, phi, theta, psi = s.coordinates("x y z phi theta psi")
    m_, r_, g_ = s.constants(m=m, r=r, g=g)
    N = s.N
    _, B, D = N.rotations("zxz", phi, theta, psi, names=("A", "B", "D"))
    G = s.O.offset(x * N.x + y * N.y + z * N.z, "G")
    disk = s.disk("disk", G, D, m_, r_, axis=B.z)
    s.roll(disk, G.offset(-r_ * B.y, "C"))
    s.gravity(-g_ * N.z)
    return s


ENTRY = Entry(
    name="rolling-disk-centre",
    title="Rolling disk by its centre",
    source="Gre03 Ex. 4.2",
    description="A thin disk that rolls without slipping, in six coordinates: one of the three "
    "rolling constraints keeps the contact's height.",
    build=build,
    printed=(
        DerivedByHand("height of the contact, differentiated", "z' - r*theta'*cos(theta)"),
        *(p for p in rolling_disk.ENTRY.printed if p.label in ("(4.57)", "(4.59)", "(4.60)")),
    ),
    # z = r sin θ: the contact on the plane z = 0
    start={"z": 0.4660195429836131, "theta": 1.2, "psi'": 6.0},
)
