"""A bicycle with a rigid rider: four bodies on two thin wheels that roll without slip.

Source: Mei07 Table 1 (the model of Whipple and Carvallo, 1899). Its linear equations in lean and
steer, M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = f, and their eigenvalues are compared in tests/truth.
"""

from __future__ import annotations

import math

import dalembert as da
from dalembert.gallery.entry import Entry

# wheels R and F: radius, mass, moments; frame with rider B and fork H: place in the upright
# position, mass, inertia
BENCHMARK = {
    "w": 1.02,
    "c": 0.08,
    "lam": math.pi / 10,
    "g": 9.81,
    "r_R": 0.3,
    "m_R": 2,
    "IR_xx": 0.0603,
    "IR_yy": 0.12,
    "x_B": 0.3,
    "z_B": -0.9,
    "m_B": 85,
    "IB_xx": 9.2,
    "IB_xz": 2.4,
    "IB_yy": 11,
    "IB_zz": 2.8,
    "x_H": 0.9,
    "z_H": -0.7,
    "m_H": 4,
    "IH_xx": 0.05892,
    "IH_xz": -0.00756,
    "IH_yy": 0.06,
    "IH_zz": 0.00708,
    "r_F": 0.35,
    "m_F": 3,
    "IF_xx": 0.1405,
    "IF_yy": 0.28,
}


def build(**values: float | None) -> da.System:
    """x forward, y to the right, z down; (x, y) is the rear contact, φ the lean, δ the steer, both
    to the right.

    Heading ψ, lean φ and pitch χ turn the rear frame; the steer axis is tilted by λ and meets the
    ground at w + c. The lowest point of the front wheel lies at its centre + r_F d, where d = (k −
    (k·n) n)/|…| is the steepest direction in its plane. The speeds are φ̇, δ̇ and the forward speed
    v = −r_R θ̇_R.
    """
    s = da.System("Whipple bicycle", source="Mei07 Table 1")
    x, y, psi, phi, chi, delta, theta_R, theta_F = s.coordinates(
        "x y psi phi chi delta theta_R theta_F"
    )
    p = {name: s.constant(name, values.get(name, x)) for name, x in BENCHMARK.items()}
    N = s.N
    _, E, B = N.rotations("zxy", psi, phi, chi, names=("A", "E", "B"))
    ground = s.O.offset(x * N.x + y * N.y, "rear contact")
    hub = ground.offset(-p["r_R"] * E.z, "rear hub")
    # both parts of the frame hold the point where the steer axis meets the ground
    axis = hub.offset((p["w"] + p["c"]) * B.x + p["r_R"] * B.z, "foot of the steer axis")
    H = _steered_frame(B, p["lam"], delta)
    front_hub = axis.offset(-p["c"] * H.x - p["r_F"] * H.z, "front hub")
    _add_bodies(
        s,
        p,
        (B, H, B.rotated(theta_R, B.y, "R"), H.rotated(theta_F, H.y, "F")),
        (hub, axis, front_hub),
    )
    s.gravity(p["g"] * N.z)
    s.roll(s.bodies[0], ground)
    _constrain_front_wheel(s, p["r_F"], H)
    s.speeds(u_phi=phi.dot, u_delta=delta.dot, v=-p["r_R"] * theta_R.dot)
    return s


def _steered_frame(B: da.Frame, lam: da.Scalar, delta: da.Scalar) -> da.Frame:
    """The fork H, turned by δ about an axis that is tilted by λ."""
    tilted = B.rotated(lam, B.y, "tilted")
    turned = tilted.rotated(delta, tilted.z, "turned")
    return turned.rotated(-lam, turned.y, "H")


def _add_bodies(
    s: da.System,
    p: dict[str, da.Scalar],
    frames: tuple[da.Frame, da.Frame, da.Frame, da.Frame],
    points: tuple[da.Point, da.Point, da.Point],
) -> None:
    """The four bodies; places are measured from the rear contact in the upright position."""
    (B, H, R, F), (hub, axis, front_hub) = frames, points
    G_B = hub.offset(p["x_B"] * B.x + (p["z_B"] + p["r_R"]) * B.z, "G_B")
    G_H = axis.offset((p["x_H"] - p["w"] - p["c"]) * H.x + p["z_H"] * H.z, "G_H")
    _add_wheel(s, p, "rear", hub, (B, R))
    s.body(
        "frame and rider",
        p["m_B"],
        G_B,
        B,
        da.inertia(B, p["IB_xx"], p["IB_yy"], p["IB_zz"], xz=p["IB_xz"]),
    )
    s.body(
        "fork", p["m_H"], G_H, H, da.inertia(H, p["IH_xx"], p["IH_yy"], p["IH_zz"], xz=p["IH_xz"])
    )
    _add_wheel(s, p, "front", front_hub, (H, F))


def _add_wheel(
    s: da.System,
    p: dict[str, da.Scalar],
    place: str,
    hub: da.Point,
    frames: tuple[da.Frame, da.Frame],
) -> None:
    """A disk on the y axis of what carries it, frames[0]."""
    (carrier, wheel), k = frames, "R" if place == "rear" else "F"
    I_xx, I_yy = p[f"I{k}_xx"], p[f"I{k}_yy"]
    I, disk = da.inertia(carrier, I_xx, I_yy, I_xx), da.Shape("disk", (p[f"r_{k}"],), carrier.y)
    s.body(f"{place} wheel", p[f"m_{k}"], hub, wheel, I, shape=disk)


def _constrain_front_wheel(s: da.System, r_F: da.Scalar, H: da.Frame) -> None:
    """The lowest point of the front wheel is on the ground and does not slip, sideways along n
    and forwards along n × k.
    """
    wheel, k, n = s.bodies[-1], s.N.z, H.y
    assert wheel.frame is not None
    steep = da.sqrt(1 - (k @ n) ** 2)
    contact = wheel.G.offset(r_F / steep * (k - (k @ n) * n), "front contact")
    s.constrain(
        (wheel.G - s.O) @ k + r_F * steep, "front wheel on the ground", on=wheel, at=contact
    )
    slip = wheel.G.v + wheel.frame.w.cross(contact - wheel.G)
    s.constrain(slip @ n, "no slip of the front wheel sideways", on=wheel, at=contact)
    s.constrain(slip @ n.cross(k), "no slip of the front wheel forwards", on=wheel, at=contact)


ENTRY = Entry(
    name="whipple-bicycle",
    title="Whipple bicycle",
    source="Mei07 Table 1",
    description="A bicycle with a rigid rider on two thin wheels that roll without slip, with the "
    "values of the benchmark.",
    build=build,
    start={"v": 4.6, "u_phi": 0.5},
    duration=5.0,
    mode_names=("capsize", "weave", "castering"),
)
