"""Bar00 Fig. 2, (60)–(62) and the hybrid equations after them, with the ½ and the polar inertia
that the print lacks.
"""

import pytest

import dalembert as da
from dalembert.analysis.flexible.hybrid.galerkin import galerkin
from dalembert.gallery.beam_on_ball_joint import build
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution, copy_expressions
from dalembert.symbolic.algebra.scalar import Scalar
from jets import conditions, names, says

INTEGRALS = {
    "I_vv": "∫₀ᴸ v² dx",
    "I_xv": "∫₀ᴸ x v dx",
    "I_vvt": "∫₀ᴸ v v̇ dx",
    "I_xvt": "∫₀ᴸ x v̇ dx",
    "I_xvtt": "∫₀ᴸ x v̈ dx",
}
# h = ∂T/∂ω of (62) as corrected, and dh/dt
H = {
    "x": "(J*L*omega_x + mu*I_vv*omega_x - mu*I_xv*omega_y)",
    "y": "(mu*L**3/3*omega_y - mu*I_xv*omega_x)",
    "z": "(mu*L**3/3*omega_z + mu*I_vv*omega_z + mu*I_xvt)",
}
H_DOT = {
    "x": "J*L*omega_x_t + mu*I_vv*omega_x_t + 2*mu*I_vvt*omega_x - mu*I_xv*omega_y_t - "
    "mu*I_xvt*omega_y",
    "y": "mu*L**3/3*omega_y_t - mu*I_xv*omega_x_t - mu*I_xvt*omega_x",
    "z": "mu*L**3/3*omega_z_t + mu*I_vv*omega_z_t + 2*mu*I_vvt*omega_z + mu*I_xvtt",
}


@pytest.fixture(scope="module")
def beam():
    return da.extended_hamilton(build())


@pytest.fixture(scope="module")
def shortened():
    return da.extended_hamilton(build(shortening=True))


def step(h, title):
    return next(s for s in h.steps if s.title == title)


def components(h, title):
    (item,) = step(h, title).items
    frame = h.continua["beam"].member.frame
    return [Scalar(h.tape, c) for c in item.value.components(frame)]


def test_60_place_of_a_point(beam):
    n = names(beam)
    assert [n["x"], n["v"], 0] == components(beam, "A point of the member")


def test_61_velocity(beam):
    expected = ["-omega_z*v", "x*omega_z + v_t", "omega_x*v - x*omega_y"]
    found = components(beam, "Its velocity")
    assert all(says(beam, e.i, text) for e, text in zip(found, expected, strict=True))


def test_62_kinetic_energy_with_the_half_and_the_polar_inertia(beam):
    (density,) = step(beam, "Kinetic energy per length").items
    printed = (
        "v_t**2 + v**2*(omega_x**2 + omega_z**2) + x**2*(omega_y**2 + omega_z**2) + "
        "2*x*(omega_z*v_t - omega_x*omega_y*v)"
    )
    assert says(beam, density.value, f"mu*({printed})/2 + J*omega_x**2/2")
    # as printed, without the ½, it is not
    assert not says(beam, density.value, f"mu*({printed}) + J*omega_x**2/2")
    T = step(beam, "The energies").items[0].value
    more = INTEGRALS | {"I_vtvt": "∫₀ᴸ v̇² dx"}
    integrated = (
        "I_vtvt + I_vv*(omega_x**2 + omega_z**2) + L**3/3*(omega_y**2 + omega_z**2) + "
        "2*(omega_z*I_xvt - omega_x*omega_y*I_xv)"
    )
    assert says(beam, T, f"mu*({integrated})/2 + J*L*omega_x**2/2", more)


def test_three_equations_for_the_angular_velocities(beam):
    # ḣ + ω × h = 0: Lagrange's equations for quasi-coordinates
    expected = {
        "omega_x": f"{H_DOT['x']} + omega_y*{H['z']} - omega_z*{H['y']}",
        "omega_y": f"{H_DOT['y']} + omega_z*{H['x']} - omega_x*{H['z']}",
        "omega_z": f"{H_DOT['z']} + omega_x*{H['y']} - omega_y*{H['x']}",
    }
    assert list(expected) == [o.name for o in beam.ordinary]
    assert all(says(beam, o.residual, expected[o.name], INTEGRALS) for o in beam.ordinary)


def test_the_partial_differential_equation_and_the_boundary_conditions(beam):
    (equation,) = beam.partial
    assert says(
        beam,
        equation.residual,
        "mu*(v_tt + x*omega_z_t - (omega_x**2 + omega_z**2)*v + x*omega_x*omega_y) + EI*v_xxxx",
    )
    found = conditions(beam)
    assert {
        (0, "v", 0): "geometric",
        (0, "v", 1): "geometric",
        (1, "v", 0): "natural",
        (1, "v", 1): "natural",
    } == {key: kind for key, (kind, _) in found.items()}
    assert says(beam, found[0, "v", 0][1], "v_0")
    assert says(beam, found[0, "v", 1][1], "v_x_0")
    assert says(beam, found[1, "v", 0][1], "EI*v_xxx_L")
    assert says(beam, found[1, "v", 1][1], "-EI*v_xx_L")


def test_with_shortening(shortened):
    h = shortened
    by_field = {p.field: p.residual for p in h.partial}
    inertia = (
        "v_tt + (x - s)*omega_z_t - 2*omega_z*s_t - (omega_x**2 + omega_z**2)*v + (x - "
        "s)*omega_x*omega_y"
    )
    assert says(h, by_field["v"], f"mu*({inertia}) - N_x*v_x - N*v_xx + EI*v_xxxx")
    # N′ = ρA a_x: the axial force is what draws every slice along
    along = (
        "-s_tt - 2*omega_z*v_t - v*omega_z_t - (x - s)*(omega_y**2 + omega_z**2) + "
        "v*omega_x*omega_y"
    )
    assert says(h, by_field["s"], f"N_x - mu*({along})")
    assert says(h, by_field["N"], "v_x**2/2 - s_x")
    found = conditions(h)
    assert ("geometric", "natural", "natural") == (
        found[0, "s", 0][0],
        found[1, "s", 0][0],
        found[1, "v", 0][0],
    )
    assert says(h, found[1, "s", 0][1], "N_L")
    assert says(h, found[1, "v", 0][1], "EI*v_xxx_L - N_L*v_x_L")


def test_without_shortening_the_centrifugal_stiffening_is_lost(beam, shortened):
    bare, full = (next(p.residual for p in h.partial if p.field == "v") for h in (beam, shortened))
    assert not any(i == "N" for i in map(str, names(beam)))
    text = "mu*(v_tt + x*omega_z_t - (omega_x**2 + omega_z**2)*v + x*omega_x*omega_y) + EI*v_xxxx"
    assert says(beam, bare, text)
    assert says(
        shortened,
        full,
        text + " - N_x*v_x - N*v_xx - mu*s*omega_z_t - 2*mu*omega_z*s_t - mu*s*omega_x*omega_y",
    )


@pytest.mark.parametrize("shortening", [False, True])
def test_galerkin_is_kane_on_the_discretised_beam(shortening):
    s = build(shortening=shortening)
    d = da.kane(s)
    assert [] == galerkin(da.extended_hamilton(s), d).differences(d)


@pytest.mark.parametrize("shortening", [False, True])
def test_in_coordinates_and_in_speeds_alike(shortening):
    # Σ_k R_k W_kr of the equations in angles is the equation along ω_r, under the integral sign
    s = build(shortening=shortening)
    angles, rates = da.extended_hamilton(s, speeds=False), da.extended_hamilton(s, speeds=True)
    assert ["psi", "theta", "phi"] == [o.name for o in angles.ordinary]
    t, kin = rates.tape, rates.kinematics
    in_u = Substitution(
        t,
        dict(zip(kin.qddot, kin.qddot_of_u, strict=True))
        | dict(zip(kin.qdot, kin.qdot_of_u, strict=True)),
    )
    densities = [
        in_u(copy_expressions(angles.tape, t, [o.integrands["beam"]])[0]) for o in angles.ordinary
    ]
    for r, o in enumerate(rates.ordinary):
        total = t.neg(o.integrands["beam"])
        for density, (_, W_k) in zip(densities, kin.WX, strict=True):
            total = t.add(total, t.mul(density, W_k.get(r, t.zero)))
        assert provably_zero(t, [total])[0]


def test_without_polar_inertia_the_straight_beam_is_refused_with_that_reason():
    h = da.extended_hamilton(build(polar=False))
    (remark,) = h.notes
    assert "nothing resists a change of ωₓ" in remark
    assert "polar" in remark
    assert () == da.extended_hamilton(build()).notes


@pytest.mark.parametrize("shortening", [False, True])
def test_it_stays_readable(shortening):
    assert 20_000 > len(str(da.extended_hamilton(build(shortening=shortening))))
