"""A coordinate whose equation is 0 = 0 is refused by every verb, with the reason."""

import pytest

import dalembert as da
from dalembert.errors import IllPosed


def spinning_rod(*, torque=False, bob=False):
    """A rod along B.y, rotated about its own axis."""
    s = da.System("Rod about its own axis", gravity=9.81)
    theta = s.coordinate("theta")
    B = s.N.rotated(theta, s.N.y, "B")
    s.rod("rod", s.O.offset(-B.y, "P"), 1, 1)
    if torque:
        s.torque(s.input("M") * s.N.y, on=B)
    if bob:
        s.particle("bob", 1, s.O.offset(B.x, "Q"))
    return s


VERBS = {
    "kane": da.kane,
    "lagrange": da.lagrange,
    "newton_euler": da.newton_euler,
    "agreement": da.agreement,
    "energy_integrals": da.energy_integrals,
    "simulate": lambda s: da.simulate(s, 1),
    "linearize": da.linearize,
    "equilibrium": da.equilibrium,
    "compile": da.compile,
    "inverse_dynamics": da.inverse_dynamics,
    "reactions": da.reactions,
    "regressor": da.regressor,
    "export": lambda s: da.export(s, "numpy"),
    "conservative": da.conservative,
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_refuses_an_equation_without_content(verb):
    with pytest.raises(IllPosed, match="the equation of 'theta' is 0 = 0: nothing that it moves"):
        VERBS[verb](spinning_rod())


def test_inertia_or_a_load_gives_the_coordinate_an_equation():
    assert "θ̈ = 0" == str(da.kane(spinning_rod(bob=True)).equations)
    # no inertia resists the torque, which is another fault
    with pytest.raises(IllPosed, match="no inertia resists"):
        da.simulate(spinning_rod(torque=True), 1, inputs={"M": 1})


@pytest.mark.parametrize("V", [0, 0.0, "0", None])
def test_from_energies_without_a_potential(V):
    s = da.System.from_energies(T="m*x.dot**2/2", V=V, D=0, q="x")
    assert "m ẍ = 0" == str(da.lagrange(s).equations)


def test_from_energies_refuses_a_potential_that_is_no_text():
    with pytest.raises(da.BadDescription, match="give V as text"):
        da.System.from_energies(T="m*x.dot**2/2", V=3, q="x")
