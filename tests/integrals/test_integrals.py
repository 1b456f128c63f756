"""The six energy integrals: computed, decided, and the condition under which each would be
constant.
"""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings

import dalembert as da
from agreement.random_systems import Shape, descriptions
from dalembert import gallery
from dalembert.analysis.integrals.energies import Energies
from dalembert.analysis.integrals.energy_integrals import identities
from dalembert.analysis.integrals.identity_test import MotionIdentityTest
from dalembert.errors import BadDescription, IllPosed, NotApplicable
from dalembert.gallery.bead_on_hoop import build as bead
from dalembert.mechanics.equations.equations_of_motion import check_regular
from dalembert.symbolic.algebra.printing.formula_layout import formula_text

ALL = ("E_Z", "E", "𝓗", "H", "K + 𝒰", "K + U")


def failing(system):
    """The identities of the chapter that do not hold."""
    kin = da.kinematics(system)
    E = Energies(kin)
    found = identities(E, MotionIdentityTest(E.t, da.kane(kin).equations, E.kin.nonlinear_rows))
    return [formula_text(identity) for identity, holds in found if not holds]


@pytest.mark.parametrize("name", gallery.names())
def test_the_identities_hold_on_every_system_of_the_gallery(name):
    assert [] == failing(gallery.build(name))


def test_a_row_of_one_degree_in_the_rates_has_a_reaction_without_power():
    """A u = 2 φ = 0 where ẋ² + ẏ² = k² ż² holds, and only there."""
    assert ALL == da.energy_integrals(gallery.build("appell-hamel")).constant


def test_a_row_whose_reaction_has_power_is_refused():
    s = da.System("At constant speed", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x.dot**2 + y.dot**2 - 4, "speed")
    with pytest.raises(
        NotApplicable,
        match=r"energy integrals: 'speed' is not linear in the velocities, and its reaction has "
        r"power",
    ):
        da.energy_integrals(s)


@pytest.mark.parametrize(
    "shape",
    [Shape(bodies=3, coordinates=5), Shape(bodies=2, coordinates=4, nonholonomic=1, holonomic=1)],
    ids=["speeds", "rows"],
)
@pytest.mark.filterwarnings("ignore:force .* moves relative to:dalembert.errors.DalembertWarning")
def test_the_identities_hold_on_random_systems(shape):
    @settings(
        deadline=None,
        database=None,
        max_examples=20,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(descriptions(shape))
    def check(description):
        try:
            system = description.system()
            check_regular(da.kane(da.kinematics(system)).equations)
        except (BadDescription, IllPosed):
            assume(False)
        assert [] == failing(system)

    check()


def test_a_wrong_equation_of_motion_breaks_the_identities():
    kin = da.kinematics(gallery.build("double-pendulum"))
    E, good = Energies(kin), da.kane(kin).equations
    tape = good.tape.fork()
    wrong = replace(
        good, tape=tape, residuals=(tape.add(good.residuals[0], good.u[0]), good.residuals[1])
    )
    assert ("K̇₂ + σ_R = 𝒫", False) in [
        (formula_text(f), holds) for f, holds in identities(E, MotionIdentityTest(E.t, wrong))
    ]


# ---- verdicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["double-pendulum", "rolling-disk", "lagrange-top", "knife-edge-rod"]
)
def test_all_six_are_constant_where_nothing_is_prescribed_or_lost(name):
    found = da.energy_integrals(gallery.build(name))
    assert ALL == found.constant
    assert all(v.sufficient and v.always for v in found.verdicts)


def test_bead_on_a_hoop_keeps_the_hamiltonian_in_its_rate():
    found = da.energy_integrals(bead())
    assert ("E_Z", "𝓗") == found.constant
    assert "ψ̈ = 0" == found["𝓗"].condition
    assert "not constant; would be constant if ψ̇ = 0" == found["E"].statement
    assert ("θ̇",) == found.speeds


def test_bead_on_a_hoop_keeps_neither_in_another_speed():
    s = bead()
    theta, psi = s["theta"], s["psi"]
    s.speeds(u=theta.dot + psi.dot * da.sin(theta))
    found = da.energy_integrals(s)
    assert ("E_Z",) == found.constant
    assert ("u",) == found.speeds


def test_ball_on_a_turntable_keeps_the_generalized_energy_but_not_the_hamiltonian():
    found = da.energy_integrals(gallery.build("ball-on-turntable"))
    assert ("E_Z", "E") == found.constant
    assert "Ω̇ = 0" == found["E"].condition
    assert "Ω = 0" == found["𝓗"].condition


def test_inputs_and_constants_that_would_have_to_vanish_are_named():
    found = da.energy_integrals(gallery.build("vehicle"))
    assert "F_C = 0 and F_D = 0" == found["𝓗"].condition
    assert "(ii) loads without a potential have power" == found.why_no_potential


def test_a_constant_set_to_zero_counts_as_zero_and_any_other_as_arbitrary():
    s = da.System("Damped pendulum", gravity=9.81)
    theta = s.coordinate("theta")
    c = s.constant("c")
    B = s.N.rotated(theta, s.N.z, "B")
    s.particle("bob", 1, s.O.offset(-B.y, "P"))
    s.torque(-c * theta.dot * s.N.z, on=B, name="damper")
    assert (
        ("E_Z",)
        == da.energy_integrals(s).constant
        == da.energy_integrals(s, values={"c": 2}).constant
    )
    assert ALL == da.energy_integrals(s, values={"c": 0}).constant
    assert "constant, because c = 0" == da.energy_integrals(s, values={"c": 0})["E"].statement


def lift(x):
    s = da.System("Pendulum in a lift", gravity=9.81)
    theta = s.coordinate("theta")
    h = s.specified("h", None if x is None else s.expression(x))
    B = s.N.rotated(theta, s.N.z, "B")
    pivot = s.O.offset(h * s.N.y, "pivot")
    s.particle("bob", 1, pivot.offset(-B.y, "P"))
    return s


def test_a_function_of_time_alone_is_taken_out_of_the_potential():
    found = da.energy_integrals(lift(None))
    assert "−9.81 cos θ" == str(found.generalized_potential)
    assert "0" == str(found.nonconservative_power)
    # at constant speed the weight is lifted all the same, so there is no classical potential energy
    steady = da.energy_integrals(lift("2*t"))
    assert "𝓗" in steady.constant
    assert "K + U" not in steady.constant
    assert (
        "(iii) the forces that enforce prescribed motions or moving constraints have power"
        == steady.why_no_potential
    )


def test_the_table_names_the_speeds_and_every_integral():
    written = str(da.energy_integrals(bead()))
    assert written.startswith("Bead on a rotating hoop: energy integrals in the speeds θ̇")
    assert all(f"\n  {symbol}" in written for symbol in ALL)


# ---- first integrals ---------------------------------------------------------------------------


def names(system):
    return {f.name: str(f.expression) for f in da.energy_integrals(system).first}


def test_ignorable_coordinates_give_their_momenta():
    found = names(gallery.build("lagrange-top"))
    assert "I₃ φ̇ cos θ + I₃ ψ̇" == found["momentum of ψ"]
    assert "momentum of φ" in found
    assert "momentum of θ" not in found


def test_an_ignorable_coordinate_in_a_row_gives_nothing():
    # T and V of the rolling disk contain neither x, y, φ nor ψ, but the rows hold all their rates
    assert not any(name.startswith("momentum") for name in names(gallery.build("rolling-disk")))


def test_momentum_along_symmetry_directions():
    assert {"momentum of x", "momentum of y"} <= set(names(gallery.build("free-body")))
    on_table = names(gallery.build("ball-on-turntable"))
    assert "2/5 m r x Ω − 7/5 m r u₂" == on_table["angular momentum about O along N.x"]


def test_jacobi_integral_is_the_hamiltonian_where_the_speeds_are_rates():
    first = {f.name: f for f in da.energy_integrals(bead()).first}
    assert first["Jacobi integral T₂ − T₀ + V"].is_H
