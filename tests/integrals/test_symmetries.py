"""p·ξ, H − p·ξ and Routh's reduction against what books print."""

import pytest

import dalembert as da
from dalembert import cos, gallery, sin
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.scalar import as_node


def first(name: str, **known) -> dict[str, str]:
    return {f.name: f.why for f in da.energy_integrals(gallery.build(name), **known).first}


def same(expected: da.Scalar, actual: da.Scalar) -> bool:
    tape = actual.tape
    return provably_zero(tape, [tape.sub(as_node(tape, expected), actual.i)])[0]


# ---- moving energy
# ---------------------------------------------------------------------------------


def test_the_ball_on_a_turntable_keeps_its_moving_energy():
    """E − Ω J_z is constant for constant Ω (the ball on a rotating plane); neither E + K₀ terms
    nor J_z is alone.
    """
    found = first("ball-on-turntable")
    name = "moving energy T₂ − T₀ + V − Ω (angular momentum about O along N.z)"
    assert "along a symmetry ξ with A ξ + b = 0" == found[name]


def test_it_does_not_where_the_table_changes_its_rate():
    assert not any(
        "moving energy" in name for name in first("ball-on-turntable", inputs={"Omega": "3 + t"})
    )


def test_along_a_run_the_moving_energy_stays():
    s = gallery.build("ball-on-turntable")
    I = next(f for f in da.energy_integrals(s).first if f.name.startswith("moving energy"))
    run = da.simulate(s, 5.0, start={"x": 0.3, "u2": 0.5}, rtol=1e-11, atol=1e-12)
    values = run[I.expression]
    assert abs(values - values[0]).max() <= 1e-9 * abs(run.kinetic_energy).max()
    assert abs(run.kinetic_energy - run.kinetic_energy[0]).max() > 1e-3 * run.kinetic_energy[0]


# ---- combinations
# ----------------------------------------------------------------------------------


def two_carts() -> da.System:
    s = da.System("Two carts and a spring")
    x, y = s.coordinates("x y")
    m, k = s.constants(m=2, k=5)
    s.particle("one", m, s.O.offset(x * s.N.x))
    s.particle("two", 3 * m, s.O.offset(y * s.N.x + s.N.y))
    s.potential(k * (x - y) ** 2 / 2)
    return s


def test_two_carts_keep_the_sum_of_their_momenta():
    found = {f.name: str(f.expression) for f in da.energy_integrals(two_carts()).first}
    assert {"linear momentum along N.x": "m ẋ + 3 m ẏ"}.items() <= found.items()


def test_a_sum_of_momenta_is_found_where_no_axis_names_it():
    """Two turns about parallel shafts geared by a spring: p_1 + p_2/2 is constant though neither
    is, nor is H_O·n.
    """
    s = da.System("Two flywheels")
    a, b = s.coordinates("a b")
    J, k = s.constants(J=2, k=5)
    one, two = s.N.rotated(a, s.N.z), s.N.rotated(b, s.N.x)
    s.body("one", 1, s.O, one, da.inertia(one, J, J, J))
    s.body("two", 1, s.O, two, da.inertia(two, J, J, J))
    s.potential(k * (a - 2 * b) ** 2 / 2)
    names = first_of(s)
    assert "sum of momenta (momentum of a) + 1/2 (momentum of b)" in names
    assert (
        "along a symmetry of T and V"
        == names["sum of momenta (momentum of a) + 1/2 (momentum of b)"]
    )


def first_of(s: da.System) -> dict[str, str]:
    return {f.name: f.why for f in da.energy_integrals(s).first}


# ---- a direction of the user's
# ---------------------------------------------------------------------


def test_a_rotation_of_the_plane_keeps_the_angular_momentum():
    s = da.System("Central force")
    x, y = s.coordinates("x y")
    m, k = s.constants(m=1, k=1)
    s.particle("p", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.potential(k * (x**2 + y**2) ** 2)
    found = da.symmetry(s, {x: -y, y: x})
    assert found.momentum_is_constant
    assert () == found.failed_conditions
    assert same(m * (x * y.dot - y * x.dot), found.momentum)
    shifted = da.symmetry(s, {"x": 1})
    assert not shifted.momentum_is_constant
    assert ("V does not change along ξ",) == shifted.failed_conditions


def test_a_cyclic_coordinate_whose_rate_a_row_holds_gives_nothing():
    found = da.symmetry(gallery.build("rolling-disk"), {"psi": 1})
    assert ("A ξ = 0",) == found.failed_conditions
    assert not found.momentum_is_constant
    assert "does not hold" in str(found)


def test_a_direction_along_something_else_is_refused_by_name():
    with pytest.raises(
        da.BadExpression,
        match=r"'m' is no coordinate of 'Two carts and a spring'; the coordinates are x, y",
    ):
        da.symmetry(two_carts(), {"m": 1})


# ---- Routh
# -----------------------------------------------------------------------------------------


def test_the_spherical_pendulum_has_the_amended_potential_of_the_books():
    """V + p²/(2 m l² sin² θ), and l θ̈ = −g sin θ + p² cos θ/(m² l³ sin³ θ) (LL76 §14)."""
    s = gallery.build("spherical-pendulum")
    found = da.routh(s)
    assert ("φ",) == found.ignorable
    m, l, g, theta = (s.expression(x) for x in ("m", "l", "g", "theta"))
    p = da.Scalar(found.routhian.tape, found.routhian.tape.private["p_phi"])
    expected = -m * g * l * cos(theta) + p**2 / (2 * m * l**2 * sin(theta) ** 2)
    assert same(expected, found.amended_potential)
    equation = (
        m * l**2 * theta.dot.dot
        + m * g * l * sin(theta)
        - p**2 * cos(theta) / (m * l**2 * sin(theta) ** 3)
    )
    assert same(equation, found.equations[0])
    assert not same(equation + theta, found.equations[0])


def test_the_lagrange_top_loses_both_turns():
    found = da.routh(gallery.build("lagrange-top"))
    assert ("φ", "ψ") == found.ignorable
    assert ("θ",) == found.remaining
    assert "p_ψ" in str(found)


def test_a_load_along_an_ignorable_coordinate_spoils_it():
    s = da.System("Pushed")
    x, y = s.coordinates("x y")
    s.particle("p", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.potential(y**2)
    s.force(s.input("F") * s.N.x, at=s.bodies[0].G)
    with pytest.raises(da.NotApplicable, match="a load acts along x"):
        da.routh(s)


def test_rows_are_named_in_the_refusal():
    with pytest.raises(da.NotApplicable, match="'rolling of disk along x'"):
        da.routh(gallery.build("rolling-disk"))


# ---- how sure
# --------------------------------------------------------------------------------------


def test_the_verdicts_state_their_error_probability():
    found = da.energy_integrals(gallery.build("positioning-device"))
    assert 0.0 < found.bound < 1e-30
    assert f"below {found.bound:.0e}" in str(found)
