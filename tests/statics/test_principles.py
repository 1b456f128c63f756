"""Virtual work and stationary potential, as expressions."""

import math

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.statics.equilibrium import equilibrium
from dalembert.analysis.statics.equilibrium_equations import NoEquilibrium
from dalembert.analysis.statics.virtual_work import stationary_potential, virtual_work
from dalembert.errors import NotApplicable
from dalembert.gallery import bead_on_hoop, cart_and_bar, four_bar, mass_on_incline, simple_pendulum

ROUTES = [virtual_work, stationary_potential]


@pytest.mark.parametrize("route", ROUTES)
def test_mass_on_an_incline(route):
    # Mei85 Ex. 7.1 (e), (f) and Ex. 7.2 (b)
    s = mass_on_incline.build()
    found = route(s)
    assert "−k r + m g sin θ" == str(found.equations[0])
    (r,) = found.solve("r")
    assert s.expression("m*g*sin(theta)/k").sympy() == r.sympy()


def test_both_routes_agree_exactly():
    for build in (mass_on_incline.build, simple_pendulum.build, bead_on_hoop.build):
        assert virtual_work(build()).agrees(stationary_potential(build()))
    assert not virtual_work(mass_on_incline.build()).agrees(virtual_work(doubled()))


def doubled():
    s = mass_on_incline.build()
    s.potential(s["k"] * s["r"] ** 2 / 2)
    return s


@pytest.mark.parametrize("name", gallery.names())
def test_routes_agree_wherever_both_apply(name):
    try:
        work, potential = (
            virtual_work(gallery.build(name)),
            stationary_potential(gallery.build(name)),
        )
    except NotApplicable as reason:
        reasons = (
            "has no potential",
            "not declared as a potential",
            "cannot rest",
            "not linear in the velocities",
        )
        assert any(r in str(reason) for r in reasons)  # noqa: PT017 - any of them will do
        return
    assert work.agrees(potential)


def test_rows_that_move_leave_no_rest():
    with pytest.raises(
        NotApplicable,
        match="'closure along x' moves with time, so that the coordinates cannot rest",
    ):
        virtual_work(four_bar.build())
    with pytest.raises(NoEquilibrium, match=r"'closure along x' moves at the rate -0\.12"):
        equilibrium(four_bar.build(), guess=NEAR)
    held = equilibrium(four_bar.build(), guess=NEAR, inputs={"w": 0.0})
    assert max(held.residual, held.potential_residual) <= 1e-12


NEAR = {"theta_1": -1.2, "theta_2": 0.6, "theta_3": -1.4}


def test_a_load_without_potential_is_named():
    with pytest.raises(
        NotApplicable,
        match="stationary potential: F acts at rest and has no potential; virtual work applies",
    ):
        stationary_potential(cart_and_bar.build())
    assert "−k x + F" == str(virtual_work(cart_and_bar.build()).equations[0])


def test_a_damper_does_not_act_at_rest():
    s = da.System("Damped")
    (x,) = s.coordinates("x")
    P = s.O.offset(x * s.N.x)
    s.particle("mass", s.constant("m"), P)
    s.force(-s.constant("c") * P.v, at=P)
    s.potential(s.constant("k") * (x - s.constant("a")) ** 2 / 2)
    assert virtual_work(s).agrees(stationary_potential(s))
    assert "a" == str(stationary_potential(s).solve(x)[0])


def test_angles_by_sympy():
    found = virtual_work(simple_pendulum.build())
    assert {"0", "π"} == {str(x) for x in found.solve("phi")}


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(NotApplicable, match="g is not a coordinate; these are phi"):
        virtual_work(simple_pendulum.build()).solve("g")
    s = da.System("Two springs in a row")
    x, y = s.coordinates("x y")
    s.particle("a", 1, s.O.offset(x * s.N.x))
    s.particle("b", 1, s.O.offset(y * s.N.x))
    s.potential(x**2 + (y - x) ** 2 + (1 - y) ** 2)
    with pytest.raises(NotApplicable, match="no equation contains x alone"):
        virtual_work(s).solve("x")


def lever(*, forces: bool) -> da.System:
    """A lever without mass, held by a spiral spring and pulled at its end."""
    s = da.System("Lever")
    (alpha,) = s.coordinates("alpha")
    L, k, F = s.constants(L=1, k=10, F=2)
    A = s.N.rotated(alpha, s.N.z, "A")
    P = s.O.offset(L * A.x, "P")
    if forces:
        s.force(F * s.N.y, P, name="pull")
        s.torque(-k * alpha * s.N.z, A, name="spring")
    else:
        s.potential(k * alpha**2 / 2 - F * L * da.sin(alpha))
    return s


def test_a_linkage_without_mass_has_its_equilibrium_by_numbers_too():
    """k α = F L cos α; loads given as forces are as good as their potential, for the place and
    for its stability.
    """
    by_forces, by_potential = (da.equilibrium(lever(forces=forces)) for forces in (True, False))
    assert abs(by_forces["alpha"] - by_potential["alpha"]) < 1e-12
    assert abs(10 * by_forces["alpha"] - 2 * math.cos(by_forces["alpha"])) < 1e-12
    assert "stable" == by_forces.stability.verdict == by_potential.stability.verdict
    assert (
        da.stationary_potential(lever(forces=True))
        .agrees(da.stationary_potential(lever(forces=False)))
        .holds
    )


def test_the_way_to_the_equations_is_told():
    """Mei85 (7.12)–(7.13): the displacements of the dumbbell, then the work, then the
    coefficients.
    """
    text = da.virtual_work(gallery.build("dumbbell")).explain()
    assert "(−2 x₁ + 2 x₂) δx₂ + (2 x₁ − 2 x₂) δx₁" in text
    assert "weight of second: δW = −m₂ g δz₂" in text
    told = da.stationary_potential(gallery.build("mass-on-incline")).explain()
    assert "V = 1/2 k r² − m g sin θ r" in told
    assert "δV = (k r − m g sin θ) δr" in told
