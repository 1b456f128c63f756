"""A beam clamped to a hub that turns uniformly flaps out of the plane of rotation.

Source: Wri82, vibration modes of centrifugally stiffened beams: the pull of the turning beam enters
through its shortening ½∫v′² dx, and raises its frequencies from 3.516 to 11.202 √(EI/μL⁴) at the
speed Ω = 10 √(EI/μL⁴).
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry


def build(
    n: int = 2,
    *,
    EI: float | None = 1.0,
    mu: float | None = 1.0,
    L: float | None = 1.0,
    Omega: float | None = 10.0,
    bending: str = "flapwise",
    shortening: bool = True,
) -> da.System:
    """θ = Ω t about the axis through the clamped end; bending out of the plane of rotation, or
    in it ("lagwise").
    """
    s = da.System("Rotating beam", source="Wri82")
    EI_, mu_, L_, Omega_ = s.constants(EI=EI, mu=mu, L=L, Omega=Omega)
    theta = s.specified("theta", Omega_ * s.t)
    hub = s.N.rotated(theta, s.N.z, "hub")
    direction = hub.z if bending == "flapwise" else hub.y
    beam = s.beam("beam", s.O, hub.x, direction, L_, EI_, mu_, shortening=shortening)
    da.discretise(s, beam, n)
    return s


ENTRY = Entry(
    name="rotating-beam",
    title="Rotating beam",
    source="Wri82",
    description="A beam clamped to a uniformly turning hub flaps out of the plane of rotation, "
    "stiffened by its own pull.",
    build=build,
    start={"v_1": 0.05},
    duration=2.0,
)
