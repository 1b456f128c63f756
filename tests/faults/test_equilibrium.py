"""A returned equilibrium is one: every equation holds to 1e-9 of its own terms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from cli.running import run as command
from dalembert import gallery


def accelerations(s, e):
    """u̇ at the equilibrium."""
    return np.asarray(da.state_values(s, e.point).udot)


def four_bar(lengths, scale):
    """Three links between two pivots, and a state of the size `scale` that drives the first."""
    a, b, c, d = lengths
    s = da.System("Four-bar", gravity=9.81)
    angles = s.coordinates("t1 t2 t3")
    A, B, C = (s.N.rotated(t, s.N.z, n) for t, n in zip(angles, "ABC", strict=True))
    D = s.O.offset(d * s.N.x, "D")
    P = s.O.offset(a * A.x, "P")
    Q, R = P.offset(b * B.x, "Q"), D.offset(c * C.x, "R")
    for name, F, foot, l in (("a", A, s.O, a), ("b", B, P, b), ("c", C, D, c)):
        s.body(
            name,
            1.0,
            foot.offset(l / 2 * F.x, f"G{name}"),
            F,
            da.inertia(F, 0, l * l / 12, l * l / 12),
        )
    s.constrain((Q - R) @ s.N.x, "loop x")
    s.constrain((Q - R) @ s.N.y, "loop y")
    p = s.state("p", value=scale)
    s.rate(p, scale * (1 + da.sin(angles[0])) - p)
    s.torque(3 * p / scale * s.N.z, on=A)
    return s


def draws():
    rng = np.random.default_rng(33)
    for _ in range(60):
        lengths = tuple(
            round(float(x), 3) for x in (rng.uniform(0.3, 0.6), *rng.uniform(1.0, 1.5, 3))
        )
        yield (
            lengths,
            {
                n: round(float(x), 3)
                for n, x in zip(("t1", "t2", "t3"), rng.uniform(-2, 2, 3), strict=True)
            },
        )


def wrong(scale, pairs):
    """The draws of which the result is no equilibrium."""
    found = []
    for lengths, guess in pairs:
        s = four_bar(lengths, scale)
        try:
            e = da.equilibrium(s, guess={**guess, "p": scale})
        except da.NoEquilibrium:
            continue
        a, b, c, d = lengths
        t1, t2, t3 = (e[n] for n in ("t1", "t2", "t3"))
        gap = max(
            abs(a * math.cos(t1) + b * math.cos(t2) - c * math.cos(t3) - d),
            abs(a * math.sin(t1) + b * math.sin(t2) - c * math.sin(t3)),
        )
        target = scale * (1 + math.sin(t1))
        unbalanced = abs(target - e["p"]) > 1e-9 * (scale + abs(scale * math.sin(t1)) + abs(e["p"]))
        if gap > 1e-9 or unbalanced or abs(accelerations(s, e)).max() > 1e-5:
            found.append((lengths, guess, gap))
    return found


def test_four_bars_with_states_of_size_one_are_closed():
    assert [] == wrong(1.0, list(draws())[:10])


@pytest.mark.parametrize("scale", [3.8e6, 1e8])
def test_a_four_bar_with_a_large_pressure_is_closed_or_refused(scale):
    assert [] == wrong(scale, list(draws())[:3])


@pytest.mark.slow
def test_four_bars_with_a_state_of_1e8_are_closed_or_refused():
    assert [] == wrong(1e8, draws())


def test_coordinates_that_are_free_come_back_as_given():
    e = da.equilibrium(gallery.build("rolling-disk"))
    assert (0.0, 0.0, 0.0, 0.0) == tuple(e[n] for n in ("x", "y", "phi", "psi"))


def test_coordinates_that_are_free_are_printed_as_any():
    text = str(da.equilibrium(gallery.build("rolling-disk"), guess={"x": 0.5}))
    assert "any" in next(line for line in text.splitlines() if line.strip().startswith("x "))


def test_the_command_answers_with_the_free_coordinates_as_any():
    done = command("equilibrium", "rolling-disk")
    assert 0 == done.exit_code
    free = {line.split()[0] for line in done.stdout.splitlines() if "any" in line.split()}
    assert {"x", "y", "phi", "psi"} <= free
