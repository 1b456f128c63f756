"""The systems whose optima are known."""

from __future__ import annotations

import math

import dalembert as da

G = 9.81


def cart_pole(*, cartesian: bool = False) -> da.System:
    """Kelly (2017), section 6: a cart of 1 kg, a point mass of 0.3 kg on a massless bar of 0.5
    m.
    """
    s = da.System("cart-pole")
    N, F, x = s.N, s.input("F"), s.coordinate("x")
    C = s.O.offset(x * N.x, "C")
    if cartesian:
        X, Y = s.coordinates("X Y")
        s.constrain((X - x) ** 2 + Y**2 - 0.25, name="bar")
        P = s.O.offset(X * N.x + Y * N.y, "P")
    else:
        P = C.offset(-0.5 * N.rotated(s.coordinate("theta"), N.z, "B").y, "P")
    s.particle("cart", 1.0, C)
    s.particle("bob", 0.3, P)
    s.gravity(-G * N.y)
    s.force(F * N.x, at=C, name="F")
    return s


REST = {"x": 0.0, "theta": 0.0, "x.dot": 0.0, "theta.dot": 0.0}
UPRIGHT = {**REST, "x": 1.0, "theta": math.pi}


def pendulum() -> da.System:
    """θ̈ + 9.81 sin θ = T: opty's first example without damping."""
    s = da.System("pendulum")
    T, B = s.input("T"), s.N.rotated(s.coordinate("theta"), s.N.z, "B")
    s.particle("bob", 1.0, s.O.offset(-1.0 * B.y, "P"))
    s.gravity(-G * s.N.y)
    s.torque(T * s.N.z, on=B, name="T")
    return s


def block() -> da.System:
    """m ẍ = F"""
    s = da.System("block")
    x, F = s.coordinate("x"), s.input("F")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("block", s.constant("m", 1.0), P)
    s.force(F * s.N.x, at=P, name="F")
    return s


def sliding_particle() -> da.System:
    """A particle that slides along a direction of its own choice: ẋ cos α + ẏ sin α = 0."""
    s = da.System("brachistochrone")
    alpha = s.specified("alpha")
    x, y = s.coordinates("x y")
    s.particle("bead", 1.0, s.O.offset(x * s.N.x + y * s.N.y, "P"))
    s.gravity(-9.80665 * s.N.y)
    s.constrain(x.dot * da.cos(alpha) + y.dot * da.sin(alpha), name="wire")
    return s


def brachistochrone_states() -> da.System:
    """The same as first-order states."""
    s = da.System("brachistochrone")
    alpha = s.input("alpha")
    v, x, y = (s.state(name) for name in ("v", "x", "y"))
    s.rate(x, v * da.sin(alpha))
    s.rate(y, -v * da.cos(alpha))
    s.rate(v, 9.80665 * da.cos(alpha))
    return s


def walker() -> tuple[da.System, dict[str, da.Scalar], da.Point]:
    """The compass walker of Goswami, Thuilot and Espiau (1998): hip 10 kg, legs of 1 m with 5 kg
    in their middle; with the place of its swing foot on a slope of 3°.
    """
    s = da.System("compass walker")
    hx, hy, stance, swing = s.coordinates("hx hy stance swing")
    l, d, m, m_hip = s.constants(l=1.0, d=0.5, m=5.0, m_hip=10.0)
    tau = s.input("tau")
    H = s.O.offset(hx * s.N.x + hy * s.N.y, "H")
    A, B = s.N.rotated(stance, s.N.z, "A"), s.N.rotated(swing, s.N.z, "B")
    s.particle("hip", m_hip, H)
    s.particle("stance leg", m, H.offset(-d * A.y, "P"))
    s.particle("swing leg", m, H.offset(-d * B.y, "Q"))
    s.gravity(-G * s.N.y)
    s.torque(tau * s.N.z, on=B, reaction=A, name="tau")
    s.constrain(hx + l * da.sin(stance), name="foot x")
    s.constrain(hy - l * da.cos(stance), name="foot y")
    fx, fy, slope = hx + l * da.sin(swing), hy - l * da.cos(swing), math.radians(3.0)
    c, sine = math.cos(slope), math.sin(slope)
    foot = {"along": fx * c - fy * sine, "height": fy * c + fx * sine, "foot": fx}
    return s, foot, H.offset(-l * B.y, "swing foot")
