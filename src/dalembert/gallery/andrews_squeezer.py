"""Andrews' squeezing mechanism: seven plane bodies, three loops through one common joint, one
freedom.

Source: HW96 §VII.7 with the data of the IVP test set. Start accelerations, multipliers and the
state after 0.03 s are compared
in tests/truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import dalembert as da
from dalembert.gallery.entry import Entry

DATA = {
    "m_1": 0.04325,
    "m_2": 0.00365,
    "m_3": 0.02373,
    "m_4": 0.00706,
    "m_5": 0.0705,
    "m_6": 0.00706,
    "m_7": 0.05498,
    "I_1": 2.194e-6,
    "I_2": 4.41e-7,
    "I_3": 5.255e-6,
    "I_4": 5.667e-7,
    "I_5": 1.169e-5,
    "I_6": 5.667e-7,
    "I_7": 1.912e-5,
    # pivots A and B on the ground, and the point C there that holds the spring
    "x_a": -0.06934,
    "y_a": -0.00227,
    "x_b": -0.03635,
    "y_b": 0.03273,
    "x_c": 0.014,
    "y_c": 0.072,
    "d": 0.028,
    "d_a": 0.0115,
    "e": 0.02,
    "e_a": 0.01421,
    "rr": 0.007,
    "r_a": 0.00092,
    "f_a": 0.01421,
    "ss": 0.035,
    "s_a": 0.01874,
    "s_b": 0.01043,
    "s_c": 0.018,
    "s_d": 0.02,
    "t_a": 0.02308,
    "t_b": 0.00916,
    "u": 0.04,
    "u_a": 0.01228,
    "u_b": 0.00449,
    "z_f": 0.02,
    "z_t": 0.04,
    "c_0": 4530,
    "l_0": 0.07785,
    "mom": 0.033,
}


class _Links(NamedTuple):
    """The frames K1 to K7 of the bodies, and the points that they are attached to."""

    frames: tuple[da.Frame, ...]
    A: da.Point
    B: da.Point
    C: da.Point
    crank_pin: da.Point
    pin_5: da.Point
    pin_7: da.Point


def build(**values: float | None) -> da.System:
    """Bodies 2, 3, 4 and 6 meet in one joint: three loops, closed by coincident points.

    Angles as printed: θ is measured from β, φ from δ, ω from ε. A torque drives the crank, a spring
    pulls body 3; no gravity.
    """
    s = da.System("Andrews' squeezing mechanism", source="HW96 §VII.7")
    angles = s.coordinates("beta theta gamma phi delta omega epsilon")
    p = {name: s.constant(name, values.get(name, x)) for name, x in DATA.items()}
    links = _links(s, p, angles)
    _add_bodies(s, p, links)
    _close_loops(s, p, links)
    K1, _, K3, *_ = links.frames
    D = links.B.offset(p["s_d"] * K3.x - p["s_c"] * K3.y, "D", K3)
    s.spring(p["c_0"], D, links.C, rest=p["l_0"])
    s.torque(p["mom"] * s.N.z, on=K1, name="drive")
    s.speeds(u_1=angles[0].dot)
    return s


def _links(s: da.System, p: Mapping[str, da.Scalar], angles: tuple[da.Scalar, ...]) -> _Links:
    """The crank K1 turns about O, K3 about B, K5 and K7 about A; K2, K4, K6 about pins of these."""
    beta, theta, gamma, phi, delta, omega, epsilon = angles
    N, O = s.N, s.O
    A, B, C = (O.offset(p[f"x_{k}"] * N.x + p[f"y_{k}"] * N.y, k.upper(), N) for k in "abc")
    K1 = N.rotated(beta, N.z, "K1")
    K2 = K1.rotated(theta, N.z, "K2")
    K3 = N.rotated(gamma, N.z, "K3")
    K5, K7 = N.rotated(delta, N.z, "K5"), N.rotated(epsilon, N.z, "K7")
    K4, K6 = K5.rotated(phi, N.z, "K4"), K7.rotated(omega, N.z, "K6")
    return _Links(
        (K1, K2, K3, K4, K5, K6, K7),
        A,
        B,
        C,
        O.offset(p["rr"] * K1.x, "crank pin", K1),
        A.offset(p["z_t"] * K5.x, "pin of K5", K5),
        A.offset(-p["u"] * K7.y, "pin of K7", K7),
    )


def _add_bodies(s: da.System, p: Mapping[str, da.Scalar], links: _Links) -> None:
    """Seven plane bodies with their mass centres."""
    K1, K2, K3, K4, K5, K6, K7 = links.frames
    centres = (
        s.O.offset(p["r_a"] * K1.x),
        links.crank_pin.offset(-p["d_a"] * K2.x),
        links.B.offset(p["s_b"] * K3.x - p["s_a"] * K3.y),
        links.pin_5.offset((p["e_a"] - p["e"]) * K4.y),
        links.A.offset(p["t_a"] * K5.x - p["t_b"] * K5.y),
        links.pin_7.offset((p["z_f"] - p["f_a"]) * K6.x),
        links.A.offset(-p["u_b"] * K7.x - p["u_a"] * K7.y),
    )
    for k, (K, G) in enumerate(zip(links.frames, centres, strict=True), 1):
        s.body(K.name, p[f"m_{k}"], G, K, da.inertia(K, 0, 0, p[f"I_{k}"]))


def _close_loops(s: da.System, p: Mapping[str, da.Scalar], links: _Links) -> None:
    """K3, K4 and K6 meet K2 in one joint."""
    _, K2, K3, K4, _, K6, _ = links.frames
    joint = links.crank_pin.offset(-p["d"] * K2.x, "joint", K2)
    s.coincide(joint, links.B.offset(-p["ss"] * K3.y, frame=K3), "joint of K2 and K3")
    s.coincide(joint, links.pin_5.offset(-p["e"] * K4.y, frame=K4), "joint of K2 and K4")
    s.coincide(joint, links.pin_7.offset(p["z_f"] * K6.x, frame=K6), "joint of K2 and K6")


ENTRY = Entry(
    name="andrews-squeezer",
    title="Andrews' squeezing mechanism",
    source="HW96 §VII.7",
    description="Seven bodies in a plane, joined in three loops, are driven by a torque against a "
    "spring.",
    build=build,
    start={
        "beta": -0.0617138900142764496358948458001,
        "theta": 0.0,
        "gamma": 0.455279819163070380255912382449,
        "phi": 0.222668390165885884674473185609,
        "delta": 0.487364979543842550225598953530,
        "omega": -0.222668390165885884674473185609,
        "epsilon": 1.23054744454982119249735015568,
    },
    duration=0.03,
)
