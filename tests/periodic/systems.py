"""Systems of the tests of periodic motions, each as it is printed in its source."""

from __future__ import annotations

import math

import dalembert as da

# the start of the figure-eight, digits of Chenciner and Montgomery 2000
_X, _Y, _U, _V = 0.97000436, -0.24308753, -0.93240737, -0.86473146
EIGHT_START = {
    "x1": _X,
    "y1": _Y,
    "x2": -_X,
    "y2": -_Y,
    "x3": 0.0,
    "y3": 0.0,
    "x1.dot": -_U / 2,
    "y1.dot": -_V / 2,
    "x2.dot": -_U / 2,
    "y2.dot": -_V / 2,
    "x3.dot": _U,
    "y3.dot": _V,
}


def three_bodies() -> da.System:
    """V = −Σ 1/r_ij, unit masses, in the plane."""
    s = da.System("Three bodies")
    places = []
    for k in (1, 2, 3):
        x, y = s.coordinates(f"x{k} y{k}")
        s.particle(f"body {k}", 1, s.O.offset(x * s.N.x + y * s.N.y, f"P{k}"))
        places.append((x, y))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        (a, b), (c, d) = places[i], places[j]
        s.potential(-1 / da.sqrt((a - c) ** 2 + (b - d) ** 2))
    return s


def restricted_three_bodies(mu: float = 0.012150585609624) -> da.System:
    """Earth and Moon in a rotating frame, with the ratio of masses μ; V = −(1 − μ)/r₁ − μ/r₂."""
    s = da.System("Restricted three bodies")
    x, y = s.coordinates("x y")
    m = s.constant("mu", mu)
    R = s.N.rotated(s.t, "z", "R")
    s.particle("craft", 1, s.O.offset(x * R.x + y * R.y, "P"))
    first, second = da.sqrt((x + m) ** 2 + y**2), da.sqrt((x - 1 + m) ** 2 + y**2)
    s.potential(-(1 - m) / first - m / second)
    return s


def quaternion_pendulum() -> tuple[da.System, float]:
    """A body on a ball joint, its orientation a quaternion; and ω² = m g l/J about N.x."""
    s = da.System("Quaternion pendulum")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"))
    places = {"bob": (0, 0, -1, 1.0), "left": (0.3, 0, -0.4, 0.5), "right": (-0.3, 0, -0.4, 0.5)}
    places |= {"front": (0, 0.2, 0, 0.2), "back": (0, -0.2, 0, 0.2)}
    for name, (x, y, z, mass) in places.items():
        s.particle(name, mass, s.O.offset(x * B.x + y * B.y + z * B.z, f"P {name}"))
    s.gravity(-9.81 * s.N.z)
    J = sum(m * (y**2 + z**2) for _, y, z, m in places.values())
    return s, 9.81 * -sum(m * z for _, _, z, m in places.values()) / J


def point_on_line(name: str, force: str, **constants: float) -> da.System:
    """ẍ = force(x, ẋ, t) of a unit mass."""
    s = da.System(name)
    x = s.coordinate("x")
    s.constants(**constants)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("mass", 1, P)
    s.force(s.expression(force) * s.N.x, P)
    return s


def van_der_pol(mu: float = 1.0) -> da.System:
    """ẍ = μ (1 − x²) ẋ − x"""
    return point_on_line("Van der Pol", "mu*(1 - x**2)*x' - x", mu=mu)


def duffing(Omega: float = 1.0) -> da.System:
    """ẍ + 0.1 ẋ + x + x³ = 0.2 cos Ωt"""
    return point_on_line("Duffing", "-x'/10 - x - x**3 + cos(Omega*t)/5", Omega=Omega)


def rimless_wheel(n: int = 8, gamma: float = 0.08) -> tuple[da.System, list[da.Event]]:
    """A point mass on massless spokes, l = g = 1."""
    s = da.System("Rimless wheel")
    theta = s.coordinate("theta")
    slope = s.constant("gamma", gamma)
    # the angle is counted from the normal of the slope, which falls along N.x
    s.particle("hub", 1, s.O.offset(da.sin(theta) * s.N.x + da.cos(theta) * s.N.y, "hub"))
    s.gravity(da.sin(slope) * s.N.x - da.cos(slope) * s.N.y)
    step = da.event(
        f"theta - {math.pi / n!r}",
        direction="up",
        reset={
            "theta": f"theta - {2 * math.pi / n!r}",
            "theta'": f"{math.cos(2 * math.pi / n)!r}*theta'",
        },
        name="step",
    )
    return s, [step]


def equal_double_pendulum() -> da.System:
    """Two equal particles on two equal massless rods, m = l = g = 1, angles from the vertical."""
    s = da.System("equal double pendulum")
    theta1, theta2 = s.coordinates("theta1 theta2")
    m, l, g = s.constants(m=1.0, l=1.0, g=1.0)
    upper = s.O.offset(l * (da.sin(theta1) * s.N.x - da.cos(theta1) * s.N.y))
    s.particle("upper", m, upper)
    s.particle("lower", m, upper.offset(l * (da.sin(theta2) * s.N.x - da.cos(theta2) * s.N.y)))
    s.gravity(-g * s.N.y)
    return s


def bead_on_hoop() -> da.System:
    """θ̈ = (Ω² cos θ − g/R) sin θ, the hoop turned evenly with Ω."""
    s = da.System("Bead on a hoop")
    theta = s.coordinate("theta")
    Omega, R, g = s.constants(Omega=1.0, R=0.5, g=9.81)
    turned = s.N.rotated(Omega * s.t, s.N.z, "A")
    B = turned.rotated(-theta, turned.y, "B")
    s.particle("bead", 1, s.O.offset(-R * B.z, "P"))
    s.gravity(-g * s.N.z)
    return s


def ziegler(b: float = 0.0) -> da.System:
    """2m at the knee, m at the tip, bars l, springs c, dampers b, follower load P."""
    s = da.System("Ziegler's double pendulum")
    a1, a2 = s.coordinates("theta1 theta2")
    P, c, m, l = s.constants(P=1.0, c=1.0, m=1.0, l=1.0)
    damping = s.constant("b", b)
    e1, e2 = (da.cos(a) * s.N.x + da.sin(a) * s.N.y for a in (a1, a2))
    knee = s.O.offset(l * e1, "knee")
    tip = knee.offset(l * e2, "tip")
    s.particle("knee mass", 2 * m, knee)
    s.particle("tip mass", m, tip)
    s.potential(c * a1**2 / 2 + c * (a2 - a1) ** 2 / 2)
    s.dissipation(damping * a1.dot**2 / 2 + damping * (a2.dot - a1.dot) ** 2 / 2)
    s.force(-P * e2, tip)
    return s


def kapitza(omega: float = 80.0) -> da.System:
    """A pendulum whose pivot moves by A cos ωt up and down; θ from the upright position."""
    s = da.System("Kapitza's pendulum")
    theta = s.coordinate("theta")
    A, l, g, w = s.constants(A=0.05, l=0.5, g=9.81, omega=omega)
    pivot = s.O.offset(A * da.cos(w * s.t) * s.N.y, "pivot")
    s.particle("bob", 1, pivot.offset(l * (da.sin(theta) * s.N.x + da.cos(theta) * s.N.y), "bob"))
    s.gravity(-g * s.N.y)
    return s


def compass_walker(foot: float = 1e-3, gamma: float = 0.009) -> tuple[da.System, list[da.Event]]:
    """Two legs of length 1, a hip of mass 1, feet of mass `foot`, g = 1, on a slope.

    a and b are the angles of the stance and the swing leg from the normal of the slope, hip − foot
    = (sin, cos).
    At the strike the swing foot lands with the legs apart. The whole keeps its angular momentum
    about the new foot,
    the old stance leg its own about the hip; then the legs change their roles.
    """
    s = da.System("Compass walker")
    a, b = s.coordinates("a b")
    slope, m = s.constants(gamma=gamma, m=foot)
    hip = s.O.offset(da.sin(a) * s.N.x + da.cos(a) * s.N.y, "hip")
    s.particle("hip mass", 1, hip)
    s.particle("swing foot", m, hip.offset(-da.sin(b) * s.N.x - da.cos(b) * s.N.y, "foot"))
    s.gravity(da.sin(slope) * s.N.x - da.cos(slope) * s.N.y)
    spin = "(cos(a - b)*a'/(1 + m*sin(a - b)**2))"
    strike = da.event(
        # the height of the foot; legs that pass each other do not strike
        da.maximum(da.cos(a) - da.cos(b), 0.05 - (a - b)),
        direction="down",
        reset={"a": "b", "b": "a", "a'": spin, "b'": f"cos(a - b)*{spin}"},
        name="strike",
    )
    return s, [strike]


def free_walker(foot: float = 1e-3, gamma: float = 0.009) -> tuple[da.System, list[da.Event]]:
    """The same walker as a system that is free to move, its standing foot held by constraints."""
    s = da.System("Free walker")
    x, y, a, b = s.coordinates("x y a b")
    slope, m = s.constants(gamma=gamma, m=foot)
    standing = s.O.offset(x * s.N.x + y * s.N.y, "standing foot")
    hip = standing.offset(da.sin(a) * s.N.x + da.cos(a) * s.N.y, "hip")
    swinging = hip.offset(-da.sin(b) * s.N.x - da.cos(b) * s.N.y, "swinging foot")
    for name, mass, place in (
        ("foot 1", m, standing),
        ("hip mass", 1, hip),
        ("foot 2", m, swinging),
    ):
        s.particle(name, mass, place)
    s.gravity(da.sin(slope) * s.N.x - da.cos(slope) * s.N.y)
    s.constrain(x, name="x held")
    s.constrain(y, name="y held")
    strike = da.support_change(
        s, swinging, gap="cos(a) - cos(b)", relabel={"a": "b", "b": "a"}, when="a - b - 0.05"
    )
    return s, [strike]
