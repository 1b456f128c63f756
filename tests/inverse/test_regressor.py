"""τ = Y π, and how many combinations of π a motion can tell apart."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import four_bar

RNG = np.random.default_rng(5)


def heavy(s, name, at):
    """A link with ten parameters that have no relation."""
    F = at.frame
    x, y, z, a, b, c = (round(float(v), 3) for v in RNG.uniform(0.05, 0.3, 6))
    s.body(
        name,
        1 + x,
        at.offset(x * F.x - y * F.y + z * F.z, frame=F),
        F,
        da.inertia(F, 1, 1.1, 1.2, a, b, c),
    )


def planar(n, *, vertical):
    s = da.System("Planar arm", gravity=9.81, up="y" if vertical else "z")
    P = s.O
    for k in range(n):
        at = s.pin(f"q_{k}", P)
        heavy(s, f"link {k}", at)
        P = at.offset(Fraction(1, 2) * at.frame.x, frame=at.frame)
    return s


# the Puma 560 in modified Denavit–Hartenberg parameters: quarter turns about x, a, d
PUMA = ((0, 0, 0), (-1, 0, 0), (0, 0.4318, 0.15005), (-1, 0.0203, 0.4318), (1, 0, 0), (-1, 0, 0))


def puma():
    s = da.System("Puma 560", gravity=9.81, up="z")
    at = s.O
    for k, (quarters, a, d) in enumerate(PUMA):
        F = at.frame
        C = F.oriented(
            [[1, 0, 0], [0, 1 - abs(quarters), -quarters], [0, quarters, 1 - abs(quarters)]]
        )
        at = s.pin(f"q_{k}", at.offset(a * F.x + d * C.z, frame=C))
        heavy(s, f"link {k}", at)
    return s


@pytest.mark.each_time(2)
@pytest.mark.parametrize(
    ("build", "count"),
    [
        (lambda: planar(2, vertical=True), 6),
        (lambda: planar(2, vertical=False), 4),
        (lambda: planar(7, vertical=True), 21),
        (puma, 36),
    ],
    ids=["2R vertical", "2R horizontal", "7R", "Puma 560"],
)
def test_base_parameters_are_counted_and_give_the_same_loads(build, count):
    s = build()
    Y, tau = da.regressor(s), da.inverse_dynamics(s)
    base = Y.base
    assert count == base.count
    q, u, a = RNG.uniform(-2, 2, (3, 20, len(s.q)))
    y, expected = Y(q, u, a), tau(q, u, a)
    scale = np.abs(expected).max()
    assert expected == pytest.approx(y @ Y.pi + Y.known_loads(q, u, a), abs=1e-12 * scale)
    shortened = y[:, :, list(base.leading)] @ (base.matrix @ Y.pi)
    assert expected == pytest.approx(shortened + Y.known_loads(q, u, a), abs=1e-12 * scale)
    assert count == np.linalg.matrix_rank(y.reshape(-1, len(Y.parameters)), tol=1e-8 * scale)


def test_the_combinations_of_two_links_are_those_of_the_books():
    base = da.regressor(planar(2, vertical=True)).base
    assert "Izz of link 0 + 1/4 m of link 1" in str(base)
    assert "hx of link 0 + 1/2 m of link 1" in str(base)


def test_constant_angles_are_the_same_at_every_point():
    s = da.System("Inclined", gravity=9.81)
    C = s.N.rotated(Fraction(3, 10), s.N.x)
    at = s.pin("q", s.O.offset(0 * C.x, frame=C))
    heavy(s, "link", at)
    # one axis, inclined to gravity: its inertia and two static moments
    assert 3 == da.regressor(s).base.count


def test_springs_dampers_and_loops_are_known_or_projected():
    s = planar(2, vertical=True)
    q = s.q
    s.potential(3 * q[0] ** 2)
    s.dissipation(q[1].dot ** 2)
    Y, tau = da.regressor(s, ["link 1"]), da.inverse_dynamics(s)
    x = ([0.3, 0.4], [1.0, -2.0], [0.5, 0.7])
    assert 10 == len(Y.parameters)
    assert tau(*x) == pytest.approx(Y(*x) @ Y.pi + Y.known_loads(*x), rel=1e-12)
    with pytest.raises(da.BadDescription, match="no body 'link 9'"):
        da.regressor(s, ["link 9"])


def test_a_loop_along_its_independent_speed():
    s = four_bar.build()
    Y, tau = da.regressor(s), da.inverse_dynamics(s)
    state = da.state_values(s, {s.q[0].name: 0.7, f"{s.q[0].name}.dot": 1.0})
    x = (state.q, state.u, [0.4])
    assert tau(*x) == pytest.approx(Y(*x) @ Y.pi + Y.known_loads(*x), rel=1e-10)
