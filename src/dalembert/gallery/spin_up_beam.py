"""A beam clamped to a hub is spun up from rest to 6 rad/s and bends in the plane of rotation.

Source: KRB87, the spin-up manoeuvre Ω = ²⁄₅ (t − (7.5/π) sin(πt/7.5)) up to 15 s: a beam that
shortens lags behind by half a metre and comes back; one whose shortening is left out bends without
bound once Ω exceeds its lowest frequency, 3.798 rad/s.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry


def build(
    n: int = 2,
    *,
    EI: float | None = 14000.0,
    mu: float | None = 1.2,
    L: float | None = 10.0,
    EA: float | None = None,
    shortening: bool = True,
    exact: bool = True,
) -> da.System:
    """θ(t) of the hub is given; with EA the beam stretches as well."""
    s = da.System("Spin-up of a beam", source="KRB87")
    EI_, mu_, L_ = s.constants(EI=EI, mu=mu, L=L)
    hub = s.N.rotated(s.specified("theta", hub_angle(s)), s.N.z, "hub")
    axial = None if EA is None else s.constant("EA", EA)
    beam = s.beam("beam", s.O, hub.x, hub.y, L_, EI_, mu_, axial=axial, shortening=shortening)
    da.discretise(s, beam, n, exact=exact)
    return s


def hub_angle(s: da.System, end: int = 15) -> da.Scalar:
    """θ = ∫Ω dt with τ = min(t, 15): ²⁄₅ (τ²/2 + (7.5/π)² (cos(πτ/7.5) − 1)) + 6 (t − τ)"""
    tau = (s.t + end - abs(s.t - end)) / 2
    c = s.expression("15/(2*pi)")
    return (tau**2 / 2 + c**2 * (da.cos(tau / c) - 1)) * 2 / 5 + 6 * (s.t - tau)


ENTRY = Entry(
    name="spin-up-beam",
    title="Spin-up of a beam",
    source="KRB87",
    description="A beam clamped to a hub is spun up from rest, lags behind in the plane of "
    "rotation and comes back.",
    build=build,
    duration=20.0,
)
