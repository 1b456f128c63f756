"""A hundred random systems with one to three frictional rows: the laws of contact hold in every
state, and runs repeat bit for bit.
"""

import numpy as np
import pytest

import dalembert as da

SMALL = 1e-9


def random_system(seed):
    """A body or two with springs and loads, on a ground that may slope, in contact at points,
    rows and stops.
    """
    r = np.random.default_rng(seed)
    s = da.System(f"random {seed}", gravity=9.81)
    n, start = int(r.integers(1, 4)), {}
    slope = round(float(r.uniform(-0.3, 0.3)), 3)
    plane = s.N.rotated(slope, s.N.z) if r.random() < 0.5 else s.N
    for k in range(n):
        mu = round(float(r.uniform(0.05, 0.8)), 3)
        static = round(mu * float(r.choice([1.0, 1.3])), 4)
        force = float(r.uniform(-8, 8)) * da.sin(float(r.uniform(0.5, 4)) * s.t)
        kind = r.choice(["block", "disk", "row"])
        if kind == "row":
            x = s.coordinate(f"x{k}")
            P = s.O.offset(x * plane.x, f"P{k}")
            s.particle(f"m{k}", round(float(r.uniform(0.5, 3)), 3), P)
            speed = round(float(r.choice([0.0, 0.4])), 2)
            s.friction(
                x.dot - speed,
                mu,
                static=static,
                normal=round(float(r.uniform(1, 20)), 3),
                name=f"c{k}",
            )
            start[f"x{k}.dot"] = float(r.choice([0.0, 1.0, -0.5]))
        else:
            x, y = s.coordinates(f"x{k} y{k}")
            P = s.O.offset(x * plane.x + y * plane.y, f"P{k}")
            m = round(float(r.uniform(0.5, 3)), 3)
            e = round(float(r.choice([0.0, 0.4])), 2)
            if kind == "block":
                s.particle(f"m{k}", m, P)
                s.contact(P, plane.y, friction=mu, static=static, restitution=e, name=f"c{k}")
                start[f"y{k}"] = float(r.choice([0.0, 0.05]))
            else:
                theta = s.coordinate(f"theta{k}")
                B = plane.rotated(theta, plane.z)
                disk = s.disk(f"m{k}", P, B, m, 0.2, B.z)
                s.contact(
                    P,
                    plane.y,
                    radius=0.2,
                    on=disk,
                    friction=mu,
                    static=static,
                    restitution=e,
                    name=f"c{k}",
                )
                start[f"y{k}"] = 0.2 + float(r.choice([0.0, 0.05]))
                start[f"theta{k}.dot"] = float(r.uniform(-8, 8))
            start[f"x{k}.dot"] = float(r.uniform(-1, 1))
        s.force(force * plane.x, at=P)
        s.spring(
            round(float(r.uniform(5, 40)), 3), P, s.O.offset((0.3 * k + 0.1) * plane.x), rest=0
        )
    return s, start


def holds(s, run):
    """How far the laws of contact are from being satisfied at the points of the run."""
    worst = 0.0
    for c in s.contacts:
        modes = np.array(run.modes[c.name])
        v, T = run[c.slip], run[c.T]
        n = run[c.N] if c.N is not None else np.abs(run[c.normal])
        size = max(1.0, np.abs(n).max())
        if c.gap is not None:
            gap = run[c.gap]
            worst = max(worst, -gap.min(), -n.min() / size, np.abs(gap * n).max() / size)
        mu, static = float(run[c.friction][0]), float(run[c.static][0])
        worst = max(worst, (np.abs(T) - static * n).max() / size)
        if (stuck := modes == "sticks").any():
            worst = max(worst, np.abs(v[stuck]).max())
        for text, sign in (("slips +", 1.0), ("slips −", -1.0)):
            if (slips := modes == text).any():
                worst = max(
                    worst,
                    np.abs(T[slips] + sign * mu * n[slips]).max() / size,
                    (-sign * v[slips]).max(),
                )
    return worst


def bits(run):
    return b"".join(x.tobytes() for x in (run.t, run.q, run.u))


def check(seeds):
    switches = 0
    for seed in seeds:
        s, start = random_system(seed)
        run = da.simulate(s, 2.0, start=start)
        assert holds(s, run) < SMALL, seed
        assert run.integrals.relative_drift < 1e-7, seed
        switches += len(run.events)
        again = da.simulate(random_system(seed)[0], 2.0, start=start)
        assert bits(run) == bits(again), seed
    return switches


def test_the_laws_of_contact_hold_in_every_state_of_some_random_systems():
    assert check(range(6)) > 10


@pytest.mark.slow
def test_the_laws_of_contact_hold_in_every_state_of_a_hundred_random_systems():
    assert check(range(100)) > 500
