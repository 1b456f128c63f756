"""Random systems with one to four contacts whose motion is known in closed form: bouncing balls,
stops, a block on a belt, a box on its corners.
"""

from __future__ import annotations

import math

import numpy as np

import dalembert as da
from independent.comparison import TOLERANCE

G = 9.81
# of a run at 1e-11
_CLOSE = 1e-7
FINE = {"rtol": 1e-11, "atol": 1e-11}


def differences(draw) -> dict[str, float]:
    name, scene = draw.choice(list(SCENES.items()))
    found, expected = scene(draw)
    gap = np.abs(np.subtract(found, expected)).max() / max(1.0, np.abs(expected).max())
    return {name: float(gap) * TOLERANCE / _CLOSE}


def bouncing(draw):
    """1 to 4 balls, each with a floor: parabolas between impacts v ← −e v."""
    n, T = draw.randint(1, 4), 1.2
    s = da.System("balls", gravity=G)
    start, expected = {}, []
    names = [f"y{k}" for k in range(n)]
    for k, y in enumerate(s.coordinates(" ".join(names)) if n > 1 else [s.coordinate("y0")]):
        P = s.O.offset(2.0 * k * s.N.x + y * s.N.y, f"P{k}")
        s.particle(f"b{k}", round(draw.uniform(0.5, 3), 2), P)
        h, e = round(draw.uniform(0.3, 2.0), 3), round(draw.uniform(0.75, 1.0), 2)
        s.contact(P, s.N.y, restitution=e, name=f"floor{k}")
        start[names[k]] = h
        expected.append(_bounce(h, e, T))
    run = da.simulate(s, T, start=start, **FINE)
    return [run[name][-1] for name in names], expected


def _bounce(h, e, T):
    t, v = math.sqrt(2 * h / G), e * math.sqrt(2 * G * h)
    if t > T:
        return h - G * T**2 / 2
    while t + 2 * v / G <= T:
        t, v = t + 2 * v / G, e * v
    return v * (T - t) - G * (T - t) ** 2 / 2


def stops(draw):
    """A particle between two stops under a constant force."""
    s = da.System("stops")
    x = s.coordinate("x")
    m, F = round(draw.uniform(0.5, 3), 2), round(draw.uniform(-4, 4), 2)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", m, P)
    s.force(F * s.N.x, at=P)
    e = round(draw.uniform(0.8, 1.0), 2)
    s.contact(P, s.N.x, restitution=e, name="left")
    s.contact(P, -s.N.x, through=s.O.offset(1 * s.N.x, "W"), restitution=e, name="right")
    x0, v0, T = round(draw.uniform(0.2, 0.8), 2), draw.choice((-1, 1)) * 2.0, 1.5
    run = da.simulate(s, T, start={"x": x0, "x.dot": v0}, **FINE)
    return [run["x"][-1]], [_between(x0, v0, F / m, e, T)]


def _between(x, v, a, e, T):
    while T > 0:
        times = []
        for wall in (0.0, 1.0):
            roots = np.roots([a / 2, v, x - wall]) if a else np.array([(wall - x) / v])
            times += [
                (float(r.real), wall)
                for r in roots
                if abs(r.imag) < 1e-12 and r.real > 1e-9 and (v + a * r.real) * (wall - 0.5) > 0
            ]
        t, wall = min(times, default=(math.inf, 0.0))
        if t >= T:
            return x + v * T + a * T**2 / 2
        x, v, T = wall, -e * (v + a * t), T - t
    return x


def belt(draw):
    """A block on a belt: the time between two releases."""
    m, k, v = (round(draw.uniform(*r), 2) for r in ((1, 4), (20, 90), (0.1, 0.6)))
    mu, static = round(draw.uniform(0.05, 0.25), 2), round(draw.uniform(0.35, 0.6), 2)
    s = da.System("belt", gravity=G)
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("block", m, P)
    s.spring(k, P, s.O)
    s.friction(x.dot - v, mu, static=static, normal=m * G, name="belt")
    omega, D = math.sqrt(k / m), (static - mu) * m * G / k
    period = 2 * D / v + 2 / omega * (math.pi - math.atan(omega * D / v))
    run = da.simulate(s, 5 * period + static * m * G / k / v, start={"x.dot": v}, **FINE)
    free = [e.t for e in run.events if e.action.startswith("slips")]
    return np.diff(free)[:3], [period] * 3


def corners(draw):
    """A box on two corners, pushed at a height: it rests, slides or tips as F tells."""
    m, b, h = (round(draw.uniform(*r), 2) for r in ((1, 5), (0.2, 0.6), (0.3, 1.2)))
    mu = round(draw.uniform(0.1, 0.8), 2)
    slide, tip = mu * m * G, m * G * b / h
    first = min(slide, tip)
    if abs(slide - tip) < 0.05 * first:
        mu = round(mu * 0.8, 3)
        slide = mu * m * G
        first = min(slide, tip)
    F = first * (0.9 if draw.random() < 0.4 else 1.1)
    J = m * (b**2 + h**2) / 3
    s = da.System("box", gravity=G)
    x, y, a = s.coordinates("x y a")
    B = s.N.rotated(a, s.N.z, "B")
    C = s.O.offset(x * s.N.x + y * s.N.y, "C")
    s.body("box", m, C, B, da.inertia(B, J, J, J))
    s.force(F * s.N.x, at=C)
    for name, side in (("left", -b), ("right", b)):
        Q = C.offset(side * B.x - h * B.y, name, B)
        s.contact(Q, s.N.y, friction=mu, name=name)
    T = 0.02
    run = da.simulate(s, T, start={"y": h}, **FINE)
    moved, turned = run["x"][-1] * 2 / T**2, run["a"][-1] * 2 / T**2
    if first > F:
        return [moved, turned], [0.0, 0.0]
    if slide < tip:
        return [moved, turned], [F / m - mu * G, 0.0]
    # about the right corner; the angle grows by itself while it tips, in T by less than 1e-3 of it
    alpha = -(F * h - m * G * b) / (J + m * (h**2 + b**2))
    close = abs(turned - alpha) < 2e-3 * abs(alpha) + 1e-9
    return [float(close)], [1.0]


SCENES = {
    "contact bouncing": bouncing,
    "contact stops": stops,
    "contact belt": belt,
    "contact corners": corners,
}
