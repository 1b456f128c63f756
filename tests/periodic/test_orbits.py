"""What an orbit may be: symmetric, shifted, forced, constrained, with impacts; bad input."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ellipk

import dalembert as da
from dalembert.gallery import build
from periodic.systems import (
    EIGHT_START,
    compass_walker,
    duffing,
    equal_double_pendulum,
    kapitza,
    point_on_line,
    quaternion_pendulum,
    restricted_three_bodies,
    rimless_wheel,
    three_bodies,
    van_der_pol,
)


def _pendulum_in_x_and_y() -> da.System:
    s = da.System("Pendulum in x and y")
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.gravity(-1 * s.N.y)
    s.constrain(x**2 + y**2 - 1, name="length")
    return s


def test_constraints_restrict_the_multipliers_to_the_tangent_space() -> None:
    """T = 4 K(sin(θ₀/2)); with one constraint only the two ones of the energy are left."""
    from scipy.special import ellipk

    top = 1.0
    orbit = da.periodic(_pendulum_in_x_and_y(), {"x": math.sin(top), "y": -math.cos(top)}, 6.5)
    assert orbit.period == pytest.approx(4 * ellipk(math.sin(top / 2) ** 2), abs=1e-8)
    assert orbit.unit_multipliers == ("time shift", "energy")
    assert len(orbit.multipliers) == 0


def test_reversal_gives_the_orbit_from_half_a_period() -> None:
    """A motion that rests twice a period; the whole period gives the same."""
    s = equal_double_pendulum()
    start = {"theta1": 0.5, "theta2": 0.7}
    half = da.periodic(s, start, 8.4, reversal=True)
    whole = da.periodic(s, half.start, half.period)
    assert half.period == pytest.approx(whole.period, abs=1e-10)
    assert half.start["theta1.dot"] == pytest.approx(0.0, abs=1e-12)
    assert sorted(half.multipliers.real) == pytest.approx(sorted(whole.multipliers.real), abs=1e-8)


def test_lyapunov_orbit_of_the_restricted_problem() -> None:
    """Symmetric under (x, y, t) → (x, −y, −t), about L₁: half a period gives the whole one.

    The period tends to 2π/2.334386, the frequency of the linear motion about L₁.
    """
    s, start = restricted_three_bodies(), {"x": 0.8269, "y": 0.0, "x.dot": 0.0, "y.dot": 0.09}
    half = da.periodic(s, start, 2.7, reversal={"y": -1})
    whole = da.periodic(s, half.start, half.period)
    assert half.period == pytest.approx(whole.period, abs=1e-10)
    assert max(half.multipliers.real) == pytest.approx(max(whole.multipliers.real), rel=1e-7)
    assert float(np.prod(half.multipliers.real)) == pytest.approx(1.0, abs=1e-5)
    assert half.unit_multipliers == ("time shift", "energy")
    assert half.stability == "unstable"
    family = da.continuation(half, "energy", (-1.5942, half.energy or 0.0), step=0.2)
    assert min(family.periods) == pytest.approx(2 * math.pi / 2.334386, abs=2e-3)


def test_reversal_is_refused_where_the_equations_have_none() -> None:
    with pytest.raises(da.NotApplicable, match="not reversible"):
        da.periodic(van_der_pol(), {"x": 2.0}, 6.6, reversal=True)


def test_half_a_period_with_a_map() -> None:
    """x(T/2) = −x(0): the multiplier of half a period, squared, is that of the whole."""
    half = da.periodic(van_der_pol(), {"x": 2.0}, 3.3, closing={"x": "-x", "x'": "-x'"})
    assert 2 * half.period == pytest.approx(6.663286859, abs=1e-9)
    whole = da.periodic(van_der_pol(), {"x": 2.0}, 6.6)
    assert half.multipliers[0].real ** 2 == pytest.approx(whole.multipliers[0].real, rel=1e-8)


def test_a_wheel_that_rolls_on_is_periodic_up_to_shifts() -> None:
    """The nutation of a rolling disk: position, heading and rotation advance."""
    orbit = da.periodic(
        build("rolling-disk"), {"theta": 1.4, "psi.dot": 0.0, "phi.dot": 5.0, "theta.dot": 0.1}, 1.9
    )
    assert set(orbit.advance) == {"x", "y", "phi", "psi"}
    run = orbit.run()
    assert run["theta"][0] == pytest.approx(run["theta"][-1], abs=1e-8)
    assert orbit.unit_multipliers[:4] == (
        "shift of x",
        "shift of y",
        "shift of phi",
        "shift of psi",
    )
    assert {"time shift", "energy"} == set(orbit.unit_multipliers[4:])


def test_quaternion_swings_with_the_period_of_a_plane_pendulum() -> None:
    """T = 4 K(sin²(a/2))/ω; the norm of the quaternion is a constraint."""
    system, omega2 = quaternion_pendulum()
    start = {"e_0": math.cos(0.35), "e_1": math.sin(0.35), "e_2": 0.0, "e_3": 0.0}
    orbit = da.periodic(system, start, 2.0)
    expected = 4 * ellipk(math.sin(0.35) ** 2) / math.sqrt(omega2)
    assert orbit.period == pytest.approx(expected, abs=1e-10)
    assert "rotation about N.z" in orbit.unit_multipliers
    assert len(orbit.unit_multipliers) == 4
    assert len(orbit.multipliers) == 2


def test_quaternion_changes_its_sign_in_a_turn() -> None:
    """A body that goes over the top, T = 4 K(4ω²/θ̇²)/θ̇: e → −e after one turn."""
    system, omega2 = quaternion_pendulum()
    speed = 3 * math.sqrt(omega2)
    start = {"e_0": 1.0, "e_1": 0.0, "e_2": 0.0, "e_3": 0.0, "omega_F1x": speed}
    orbit = da.periodic(system, start, 0.8)
    assert orbit.period == pytest.approx(4 * ellipk(4 * omega2 / speed**2) / speed, abs=1e-10)
    run = orbit.run()
    assert run["e_0"][-1] == pytest.approx(-run["e_0"][0], abs=1e-9)


def test_spherical_pendulum_precesses() -> None:
    """φ advances by more than π in a period of θ; its momentum and its shift are named."""
    orbit = da.periodic(build("spherical-pendulum"), {"theta": 0.5, "phi.dot": 2.0}, 1.0)
    assert orbit.advance["phi"] > math.pi
    assert {"shift of phi", "time shift", "momentum of φ", "energy"} == set(orbit.unit_multipliers)
    assert len(orbit.multipliers) == 0


def test_forced_system_takes_the_period_of_its_drive() -> None:
    orbit = da.periodic(duffing(1.1), {"x": 0.5})
    assert orbit.period == pytest.approx(2 * math.pi / 1.1, rel=1e-14)
    text = da.periodic(duffing(1.1), {"x": 0.5}, "2*pi/Omega")
    assert text.x0 == pytest.approx(orbit.x0, abs=1e-9)


def test_two_frequencies_have_a_common_period() -> None:
    """cos 2t + cos 3t repeats after 2π."""
    s = point_on_line("Two drives", "-x'/2 - 2*x + cos(w*t) + cos(3*w*t/2)", w=2.0)
    assert da.periodic(s).period == pytest.approx(2 * math.pi)
    assert da.periodic(s, subharmonic=2).period == pytest.approx(4 * math.pi)


def test_linear_forced_response_is_that_of_the_formula() -> None:
    """ẍ + ẋ/2 + 2x = cos 1.3t: x = Re e^{iωt}/(2 − ω² + iω/2); multipliers exp(λT)."""
    w = 1.3
    orbit = da.periodic(point_on_line("Linear", "-x'/2 - 2*x + cos(w*t)", w=w))
    z = 1 / (2 - w**2 + 0.5j * w)
    assert [z.real, -w * z.imag] == pytest.approx(orbit.x0.tolist(), abs=1e-10)
    roots = np.exp(np.roots([1.0, 0.5, 2.0]) * 2 * math.pi / w)
    assert sorted(roots.imag) == pytest.approx(sorted(orbit.multipliers.imag), abs=1e-10)


def test_impacts_within_a_drive_period() -> None:
    """An oscillator that hits a wall: det M = e² exp(−c T) for one impact a period."""
    s = point_on_line("Impact oscillator", "-x'/5 - x + cos(w*t)", w=2.0)
    events = [da.impact("x + 0.1", 0.7, name="wall")]
    run = da.simulate(s, 60 * math.pi, start={"x": 1.0}, events=events)
    last = {"x": float(run["x"][-1]), "x.dot": float(run["x.dot"][-1])}
    orbit = da.periodic(s, last, events=events)
    assert orbit.run().events != ()
    hits = len(orbit.run().events)
    expected = 0.7 ** (2 * hits) * math.exp(-orbit.period / 5)
    assert float(np.prod(orbit.multipliers).real) == pytest.approx(expected, rel=1e-8)


def test_near_a_run() -> None:
    s = van_der_pol()
    assert da.periodic(s, da.simulate(s, 60.0, start={"x": 0.1})).period == pytest.approx(
        6.663286859, abs=1e-9
    )


def test_multiple_shooting_gives_what_one_segment_gives() -> None:
    one, many = (
        da.periodic(three_bodies(), EIGHT_START, 6.326, energy=-1.28714199, segments=n)
        for n in (1, 6)
    )
    assert one.period == pytest.approx(many.period, abs=1e-11)
    assert sorted(one.multipliers.real) == pytest.approx(sorted(many.multipliers.real), abs=1e-9)


# ---- bad input ---------------------------------------------------------------------------------


def test_no_orbit_near_reports_the_closest_approach() -> None:
    s = point_on_line("Damped", "-k*x' - x", k=0.5)
    with pytest.raises(da.NoPeriodicMotion, match=r"closest approach|equilibrium") as caught:
        da.periodic(s, {"x": 1.0}, 6.0)
    assert caught.value.closest >= 0.0


@pytest.mark.parametrize("period", [0.0, -1.0, math.nan])
def test_a_period_that_is_not_positive(period: float) -> None:
    with pytest.raises(da.BadValue, match="period"):
        da.periodic(van_der_pol(), {"x": 2.0}, period)


def test_an_equilibrium_is_no_periodic_motion() -> None:
    with pytest.raises(da.NoPeriodicMotion, match="equilibrium"):
        da.periodic(equal_double_pendulum(), {}, 5.0)


def test_a_mode_that_does_not_exist() -> None:
    with pytest.raises(da.BadValue, match="2 oscillations"):
        da.periodic(equal_double_pendulum(), {}, mode=3)


def test_no_period_is_given() -> None:
    with pytest.raises(da.NotApplicable, match="guess of the period"):
        da.periodic(van_der_pol(), {"x": 2.0})


def test_a_period_that_the_drive_does_not_have() -> None:
    with pytest.raises(da.NotApplicable, match="does not repeat"):
        da.periodic(duffing(1.0), {"x": 0.5}, 5.0)


def test_an_event_that_never_happens() -> None:
    system, _ = rimless_wheel()
    never = da.event("theta - 100", direction="up", reset={"theta": 0}, name="never")
    with pytest.raises(da.NoPeriodicMotion, match="did not happen"):
        da.periodic(
            system, {"theta": -0.3, "theta.dot": 0.01}, 1.0, events=[never], section="never"
        )


def test_grazing_is_named() -> None:
    """Where an event is touched with ġ = 0, its time has no derivative; the event is named."""
    from dalembert.analysis.periodic.return_map import refuse_lost

    crossing = SimpleNamespace(name="wall", t=1.0, slopes=np.array([0.5]))
    touching = SimpleNamespace(name="touch", t=2.0, slopes=np.array([math.nan]))
    refuse_lost(SimpleNamespace(lost=[], events=[crossing]))
    with pytest.raises(da.NoPeriodicMotion, match="grazes 'touch' at t = 2"):
        refuse_lost(SimpleNamespace(lost=[], events=[crossing, touching]))


def test_a_constant_that_only_switches_is_refused() -> None:
    """n is in a condition alone: there is no family along it."""
    s = da.System("Switched")
    x = s.coordinate("x")
    s.constants(n=1.0)
    s.particle("mass", 1, s.O.offset(x * s.N.x, "P"))
    s.potential(s.expression("x**2/2*Piecewise((1, n < 2), (4, True))"))
    orbit = da.periodic(s, {"x": 1.0}, 6.2)
    with pytest.raises(da.NotApplicable, match="only in conditions"):
        da.continuation(orbit, "n", (1.0, 3.0))


def test_an_energy_that_no_motion_has() -> None:
    """E ≥ −3: the closest approach is reported."""
    with pytest.raises(da.NoPeriodicMotion, match="closest approach"):
        da.periodic(equal_double_pendulum(), {"theta1": 0.5}, 8.0, energy=-100.0)


@pytest.mark.parametrize(
    "options", [{"segments": -1}, {"segments": 2.5}, {"returns": 0}, {"subharmonic": 0}]
)
def test_counts_that_are_none(options: dict[str, int]) -> None:
    with pytest.raises(da.BadValue, match="give 1, 2"):
        da.periodic(van_der_pol(), {"x": 2.0}, 6.6, **options)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(da.Unknown, match="shift"):
        da.periodic(kapitza(), {}, shift=["thta"])
    system, events = compass_walker()
    with pytest.raises(da.Unknown, match="no event"):
        da.periodic(system, {}, events=events, section="step")
    orbit = da.periodic(van_der_pol(), {"x": 2.0}, 6.6)
    with pytest.raises(da.Unknown, match="mu"):
        da.continuation(orbit, "my", (1.0, 2.0))
    with pytest.raises(da.Unknown, match="name what changes"):
        da.continuation(orbit)
    with pytest.raises(da.BadValue, match="points"):
        da.continuation(orbit, "mu", (1.0, 2.0), points=0)
    with pytest.raises(da.BadValue, match="first and the last"):
        da.continuation(orbit, "mu", 2.0)
    with pytest.raises(da.NotApplicable, match="outside"):
        da.continuation(orbit, "mu", (2.0, 3.0))
    with pytest.raises(da.NotApplicable, match="energy"):
        da.continuation(orbit, "energy", (2.0, 3.0))


def test_a_count_is_no_parameter() -> None:
    """What changes the structure of a system is no constant of it."""
    orbit = da.periodic(van_der_pol(), {"x": 2.0}, 6.6)
    with pytest.raises(da.Unknown, match="no constant 'n'"):
        da.continuation(orbit, "n", (1.0, 2.0))
