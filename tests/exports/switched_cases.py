"""Systems with modes for exports: contacts, dry friction, branches and events."""

from __future__ import annotations

import dalembert as da


def bouncing_ball(restitution=0.8):
    """A ball on a floor; its height is the coordinate."""
    s = da.System("bouncing ball", gravity=9.81)
    y = s.coordinate("y")
    m, e = s.constants(m=1, e=restitution)
    P = s.O.offset(y * s.N.y)
    s.particle("ball", m, P)
    s.contact(P, restitution=e, name="floor")
    return s, {"y": 1.0}


def belt():
    """Stick and slip on a moving belt, μ_s > μ."""
    s = da.System("block on a belt", gravity=9.81)
    x = s.coordinate("x")
    m, k, v = s.constants(m=2, k=50, v=0.3)
    P = s.O.offset(x * s.N.x)
    s.particle("block", m, P)
    s.spring(k, P, s.O)
    s.friction(x.dot - v, 0.2, static=0.5, normal=m * 9.81, name="belt")
    return s, {"x.dot": 0.3}


def thrown_disk():
    """A disk with Poisson's law of impact and friction, thrown onto the floor."""
    s = da.System("thrown disk", gravity=9.81)
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(-phi, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G", B)
    disk = s.disk("disk", G, B, 1, 0.3, B.z)
    s.contact(G, radius=0.3, on=disk, friction=0.2, restitution=0.6, law="poisson", name="floor")
    return s, {"x.dot": 1, "y": 0.8}


def sliding_disk():
    """A disk with backspin bounces, slides and rolls: a contact with friction, μ_s > μ."""
    s = da.System("sliding disk", gravity=9.81)
    m, r, mu = s.constants(m=1, r=0.3, mu=0.2)
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(-phi, s.N.z, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G", B)
    disk = s.disk("disk", G, B, m, r, B.z)
    s.contact(G, radius=r, on=disk, friction=mu, static=0.3, restitution=0.5, name="floor")
    return s, {"x.dot": 2, "phi.dot": -20, "y": 0.5}


def two_balls():
    """Two balls that fall on the floor at once and do not touch one another."""
    s = da.System("two balls", gravity=9.81)
    a, b = s.coordinates("a b")
    P, Q = s.O.offset(a * s.N.y), s.O.offset(1.0 * s.N.x + b * s.N.y)
    s.particle("one", 1, P)
    s.particle("other", 2, Q)
    s.contact(P, restitution=0.7, name="left")
    s.contact(Q, restitution=0.4, name="right")
    return s, {"a": 0.5, "b": 0.5}


def tower():
    """One ball falls on another, which falls on the floor: contacts that interact."""
    s = da.System("tower", gravity=9.81)
    a, b = s.coordinates("a b")
    P, Q = s.O.offset(a * s.N.y), s.O.offset(b * s.N.y)
    s.particle("low", 2, P)
    s.particle("high", 1, Q)
    s.contact(P, restitution=0.5, name="floor")
    s.stop(b - a, lower=0, restitution=0.5, name="between")
    return s, {"a": 0.3, "b": 0.9}


def box():
    """A box lands flat on two corners at once, without friction."""
    s = da.System("box", gravity=9.81)
    y, phi = s.coordinates("y phi")
    m, a, b = s.constants(m=1, a=0.4, b=0.2)
    B = s.N.rotated(phi, s.N.z, "B")
    G = s.O.offset(y * s.N.y, "G", B)
    s.box("box", G, B, m, a, b, 0.1)
    for name, side in (("left", -1), ("right", 1)):
        s.contact(G.offset(side * a / 2 * B.x - b / 2 * B.y), restitution=0.5, name=name)
    return s, {"y": 0.5}


def piecewise_spring():
    """A spring that is stiffer under compression, and a jump in time."""
    s = da.System("piecewise spring")
    x = s.coordinate("x")
    m, k = s.constants(m=1, k=40)
    P = s.O.offset(x * s.N.x)
    s.particle("mass", m, P)
    stretch = x - 0.1
    s.force((-k * x + k * (abs(stretch) - stretch)) * s.N.x, at=P)
    return s, {"x": 0.5}


def ramp_with_events():
    """A particle that is kicked back at x = 1 and recorded at x = ½."""
    s = da.System("kicked particle")
    x = s.coordinate("x")
    s.particle("mass", 1, s.O.offset(x * s.N.x))
    s.potential(2 * x**2)
    events = [
        da.event("x - 1", direction="up", reset={"x.dot": "-0.5*x.dot"}, name="kick"),
        da.event("x - 0.5", name="half"),
        da.event("t - 3.5", direction="up", stop=True, name="end"),
    ]
    return s, {"x": 0.0, "x.dot": 3.0}, events


# the system and for how long it moves
CASES = {
    "bouncing ball": (bouncing_ball, 3.0),
    "block on a belt": (belt, 5.0),
    "sliding disk": (sliding_disk, 2.0),
    "thrown disk": (thrown_disk, 1.5),
    "two balls": (two_balls, 1.0),
    "tower": (tower, 0.7),
    "box": (box, 0.6),
    "piecewise spring": (piecewise_spring, 3.0),
    "events": (ramp_with_events, 5.0),
}
