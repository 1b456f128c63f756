"""A robot on two driven wheels that roll without slip.

Source: DH13, the model. Its balances along the heading and about the middle of the axle are
(m + 2 I_w/R²) v̇ − m_c d ω² = (τ_r + τ_l)/R, (I + 2 L² I_w/R²) ω̇ + m_c d ω v = (L/R)(τ_r − τ_l),
where m = m_c + 2 m_w and I = I_c + m_c d² + 2 m_w L² + 2 I_m.
"""

from __future__ import annotations

from typing import Final

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry

# body; each wheel: mass, moment of inertia about its axle and about its diameter; sizes
VALUES: Final = {
    "m_c": 6.0,
    "I_c": 0.1,
    "m_w": 0.5,
    "I_w": 0.0012,
    "I_m": 0.0006,
    "R": 0.07,
    "L": 0.15,
    "d": 0.05,
}


def build(**values: float | None) -> da.System:
    """(x, y) is the middle of the axle, φ the heading; the wheels are at ±L from it, the body's
    mass centre d ahead.

    Three rows: no slip of the axle sideways, no slip of either wheel forwards.
    """
    s = da.System("Two-wheeled robot", source="DH13")
    x, y, phi, theta_r, theta_l = s.coordinates("x y phi theta_r theta_l")
    p = {name: s.constant(name, value) for name, value in (VALUES | values).items()}
    tau_r, tau_l = s.inputs("tau_r tau_l")
    N = s.N
    B = N.rotated(phi, N.z, "B")
    A = s.O.offset(x * N.x + y * N.y + p["R"] * N.z, "A", N)
    body = s.body("body", p["m_c"], A.offset(p["d"] * B.x, "G"), B, da.inertia(B, 0, 0, p["I_c"]))
    s.constrain(A.v @ B.y, "no slip of the axle sideways")
    for name, side, theta, tau in (("right", -1, theta_r, tau_r), ("left", 1, theta_l, tau_l)):
        hub = A.offset(side * p["L"] * B.y, f"{name} hub")
        wheel = _add_wheel(s, p, name, hub, B, theta)
        s.torque(tau * B.y, on=wheel, reaction=body, name=f"{name} motor")
    s.speeds(v=A.v @ B.x, omega=phi.dot)
    return s


def _add_wheel(
    s: da.System,
    p: dict[str, da.Scalar],
    name: str,
    hub: da.Point,
    B: da.Frame,
    theta: da.Scalar,
) -> da.Body:
    """A wheel on the axle of the body's frame B, which does not slip forwards."""
    W = B.rotated(theta, B.y, f"{name} wheel")
    I, disk = da.inertia(B, p["I_m"], p["I_w"], p["I_m"]), da.Shape("disk", (p["R"],), B.y)
    wheel = s.body(f"{name} wheel", p["m_w"], hub, W, I, shape=disk)
    s.constrain((hub.v - W.w.cross(p["R"] * s.N.z)) @ B.x, f"rolling of the {name} wheel")
    return wheel


ENTRY = Entry(
    name="two-wheeled-robot",
    title="Two-wheeled robot",
    source="DH13",
    description="A robot with a differential drive: two wheels on one axle roll without slip, each "
    "with a motor of its own.",
    build=build,
    printed=(
        DerivedByHand("right wheel", "R*theta_r' - v - L*omega"),
        DerivedByHand("left wheel", "R*theta_l' - v + L*omega"),
        DerivedByHand(
            "forwards",
            "(m_c + 2*m_w + 2*I_w/R**2)*v' - m_c*d*omega**2 - (tau_r + tau_l)/R",
            ((1, "1"),),
        ),
        DerivedByHand(
            "about the axle's middle",
            "(I_c + m_c*d**2 + 2*m_w*L**2 + 2*I_m + 2*L**2*I_w/R**2)*omega' + m_c*d*omega*v - "
            "L/R*(tau_r - tau_l)",
            ((2, "1"),),
        ),
    ),
    start={"v": 0.3},
    inputs={"tau_r": "0.02 + 0.02*cos(t)", "tau_l": "0.02 - 0.02*cos(t)"},
)
