"""Random systems with one to three contacts in space against Moreau–Jean time stepping.

v⁺ = v + M⁻¹(h F + Jᵀ P), 0 ≤ v_N⁺ + e v_N⁻ ⊥ P_N ≥ 0, P_T in the disk μ P_N and against v_T⁺: the
reference knows no modes, no events and no library code. Its error is of first order in h. The
table of the campaign is written by `python tests/friction/moreau_jean.py FIRST COUNT`.

Source: J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988).
"""

import csv
import itertools
import sys
from pathlib import Path

import numpy as np

import dalembert as da

G = 9.81
DURATION = 0.6
STEPS = (200, 600, 1800)
FINER = 16200
TABLE = Path(__file__).with_name("moreau_jean.csv")
KINDS = ("particles 1", "particles 2", "particles 3", "ball 1", "ball 2")


class Draw:
    """The numbers of one system: masses, planes, springs, a drive and a start."""

    def __init__(self, seed):
        draw = np.random.default_rng(seed)
        self.seed, self.kind = seed, KINDS[seed % len(KINDS)]
        count = int(self.kind[-1])
        self.ball = self.kind.startswith("ball")
        self.r = 0.1 if self.ball else 0.0
        bodies = 1 if self.ball else count
        self.m = draw.uniform(0.5, 2.0, bodies)
        # angles of each plane; the two sides of a groove face each other
        self.angles = draw.uniform(-0.35, 0.35, (count, 2))
        if self.ball and count == 2:
            self.angles = np.array([[0.6, 0.0], [-0.6, 0.0]]) + draw.uniform(-0.1, 0.1, (2, 2))
        self.mu, self.e = draw.uniform(0.05, 0.8, count), draw.choice([0.0, 0.0, 0.8], count)
        self.k, self.rest = draw.uniform(5, 40), draw.uniform(0.5, 1.0)
        self.drive, self.rate = draw.uniform(-6, 6, 3), draw.uniform(2, 8)
        self.v = draw.uniform(-1.5, 1.5, (bodies, 3))
        self.w = draw.uniform(-10, 10, 3) if self.ball else np.zeros(3)
        self.x = np.zeros((bodies, 3))
        for i, n in enumerate(self.normals[:bodies]):
            aside = np.array([1.0, 0.0, 0.0]) - n[0] * n
            gap = draw.choice([0.0, draw.uniform(0.03, 0.1)])
            self.x[i] = n * (self.r + gap) + i * aside
            if not gap:
                self.v[i] -= (self.v[i] @ n) * n
        if self.ball and count == 2:
            # in the bisector of the groove
            middle = self.normals.sum(axis=0)
            self.x[0] = middle * (self.r / (self.normals @ middle).min()) * 1.02

    @property
    def normals(self):
        a, b = self.angles.T
        return np.column_stack([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)])

    @property
    def owners(self):
        """The body of each contact."""
        return [0 if self.ball else i for i in range(len(self.mu))]

    def values(self):
        named = {"k": self.k, "rest": self.rest, "rate": self.rate}
        named |= {f"d{j}": x for j, x in enumerate(self.drive)}
        for i, mass in enumerate(self.m):
            named[f"m{i}"] = mass
        for i in range(len(self.mu)):
            named |= {f"mu{i}": self.mu[i], f"e{i}": self.e[i]}
            named |= {f"a{i}": self.angles[i, 0], f"b{i}": self.angles[i, 1]}
        return named

    def start(self):
        given = {}
        for i in range(len(self.m)):
            for j, axis in enumerate("xyz"):
                given |= {f"{axis}{i}": self.x[i, j], f"{axis}{i}.dot": self.v[i, j]}
        if self.ball:
            # the frame starts along N
            given |= {f"omega_p0{axis}": self.w[j] for j, axis in enumerate("xyz")}
        return given


def system(kind):
    """The system of a kind, with constants for all numbers of a draw."""
    count, is_ball = int(kind[-1]), kind.startswith("ball")
    s = da.System(kind, gravity=G, up="z")
    k, rest, rate, *d = s.constants("k rest rate d0 d1 d2")
    anchor = s.O.offset(s.N.z, "anchor")
    points, bodies = [], []
    for i in range(1 if is_ball else count):
        m = s.constant(f"m{i}")
        if is_ball:
            P = s.free("x0 y0 z0 p0 p1 p2 p3")
            bodies.append(s.sphere("ball", P, P.frame, m, 0.1))
        else:
            x, y, z = s.coordinates(f"x{i} y{i} z{i}")
            P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, f"P{i}")
            bodies.append(s.particle(f"body {i}", m, P))
        s.spring(k, P, points[-1] if points else anchor, rest=rest)
        points.append(P)
    wave = da.sin(rate * s.t)
    s.force(d[0] * wave * s.N.x + d[1] * wave * s.N.y + d[2] * wave * s.N.z, points[0])
    for i in range(count):
        mu, e, a, b = s.constants(f"mu{i} e{i} a{i} b{i}")
        plane = s.N.rotated(a, s.N.x).rotated(b, "y")
        round_body = {"radius": 0.1, "on": bodies[0]} if is_ball else {}
        s.contact(
            points[0 if is_ball else i], plane.z, friction=mu, restitution=e, name=f"plane {i}",
            **round_body,
        )  # fmt: skip
    return s


def stepped(draw, steps):
    """(x, v, ω) at the end by time stepping."""
    h, n, r = DURATION / steps, draw.normals, draw.r
    x, v, w = draw.x.copy(), draw.v.copy(), draw.w.copy()
    I = 0.4 * draw.m[0] * r * r if draw.ball else 1.0
    anchor = np.array([0.0, 0.0, 1.0])
    for step in range(steps):
        middle = x + h / 2 * v
        F = forces(draw, middle, anchor, (step + 0.5) * h)
        before_v, before_w = v.copy(), w.copy()
        v = v + h * F / draw.m[:, np.newaxis]
        active = [i for i, k in enumerate(draw.owners) if middle[k] @ n[i] - r <= 0.0]
        if active:
            v, w = collide(draw, (v, w), (before_v, before_w), active, I)
        x = middle + h / 2 * v
    return np.concatenate([x.ravel(), v.ravel()])


def forces(draw, x, anchor, t):
    F = np.zeros_like(x)
    F[:, 2] -= draw.m * G
    F[0] += draw.drive * np.sin(draw.rate * t)
    for i in range(len(x)):
        other = x[i - 1] if i else anchor
        way = x[i] - other
        length = np.sqrt(way @ way)
        pull = draw.k * (length - draw.rest) * way / length
        F[i] -= pull
        if i:
            F[i - 1] += pull
    return F


def collide(draw, after, before, active, I):
    """Velocities after the impulses of active contacts, by projected Gauss–Seidel sweeps."""
    (v, w), (v0, w0) = after, before
    v, w, r, n = v.copy(), w.copy(), draw.r, draw.normals
    P = {i: np.zeros(3) for i in active}
    for _ in range(500):
        change = 0.0
        for i in active:
            k, mass = draw.owners[i], draw.m[draw.owners[i]]
            stiff = 1.0 / (1.0 / mass + (r * r / I if draw.ball else 0.0))
            normal = n[i]
            u = v[k] + (np.cross(w, -r * normal) if draw.ball else 0.0)
            u0 = v0[k] + (np.cross(w0, -r * normal) if draw.ball else 0.0)
            bounce = draw.e[i] * min(u0 @ normal, 0.0)
            P_n = max(P[i] @ normal - mass * (u @ normal + bounce), 0.0)
            P_t = P[i] - (P[i] @ normal) * normal - stiff * (u - (u @ normal) * normal)
            size, most = np.sqrt(P_t @ P_t), draw.mu[i] * P_n
            if size > most:
                P_t = P_t * (most / size)
            new = P_n * normal + P_t
            step = new - P[i]
            P[i] = new
            v[k] += step / mass
            if draw.ball:
                w += np.cross(-r * normal, step) / I
            change = max(change, np.abs(step).max())
        if change < 1e-13:
            break
    return v, w


def compare(draw, s):
    """A row of the table, or why the draw is drawn again."""
    run = da.simulate(s, DURATION, values=draw.values(), start=draw.start(), rtol=1e-10, atol=1e-11)
    coarse = DURATION / STEPS[0]
    moments = [e.t for e in run.events]
    if any(DURATION - t < 5 * coarse for t in moments):
        return "a change at the end"
    hits = [e.t for e in run.events if e.action == "impact"]
    if any(b - a < 10 * coarse for a, b in itertools.pairwise(hits) if b > a):
        return "two impacts closer than ten steps"
    count = len(draw.m)
    names = [f"{axis}{i}" for i in range(count) for axis in "xyz"]
    exact = np.array([run[name][-1] for name in (*names, *(f"{name}.dot" for name in names))])
    errors = [float(np.abs(stepped(draw, steps) - exact).max()) for steps in STEPS]
    shown = [f"{e:.3e}" for e in errors]
    agrees = errors[-1] <= 3 * errors[0] * STEPS[0] / STEPS[-1]
    if not agrees:
        # the error is C h, where C depends on where in a step an impact lies: a coarse error may be
        # small by chance
        largest = max(e * steps for e, steps in zip(errors, STEPS, strict=True))
        errors.append(float(np.abs(stepped(draw, FINER) - exact).max()))
        agrees = errors[-1] * FINER <= 3 * largest
    ratio = f"{errors[0] / errors[-1]:.2f}"
    verdict = "agrees" if agrees else "differs"
    return [draw.seed, draw.kind, len(run.events), len(hits), *shown, ratio, verdict]


HEADER = (
    "seed",
    "kind",
    "changes",
    "impacts",
    "error h",
    "error h/3",
    "error h/9",
    "ratio",
    "verdict",
)


def main(first, count):
    """Rows of the campaign, added to the table."""
    systems = {kind: system(kind) for kind in KINDS}
    new = not TABLE.exists()
    with TABLE.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(HEADER)
        for seed in range(first, first + count):
            draw = Draw(seed)
            try:
                row = compare(draw, systems[draw.kind])
            except da.RunStopped as problem:
                row = f"stopped: {problem.cause.name}"
            writer.writerow([seed, draw.kind, row] if isinstance(row, str) else row)
            file.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
