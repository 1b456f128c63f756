"""A speed that nothing resists is found before anything is divided by it."""

import pytest

import dalembert as da


def test_a_massless_coordinate_is_named():
    s = da.System("Massless")
    x, y = s.coordinates("x y")
    s.particle("p", 1, s.O.offset(x * s.N.x))
    s.potential(y**2)
    with pytest.raises(da.IllPosed, match="no inertia resists the speed y'"):
        da.compile(s)


def test_a_thin_rod_that_turns_about_itself_is_named():
    s = da.System("Rod about its axis")
    q = s.coordinate("q")
    B = s.N.rotated(q, s.N.x)
    s.body("rod", 1, s.O, B, da.rod_inertia(B.x, 1, 2))
    with pytest.raises(
        da.IllPosed, match="the equation of 'q' is 0 = 0: nothing that it moves has inertia"
    ):
        da.simulate(s, 1.0)


def test_a_regular_system_is_not_refused():
    s = da.System("Pendulum in x, y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("p", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1)
    assert 1 == len(da.forward_dynamics(s).udot)


@pytest.mark.parametrize(
    "inertia", [lambda x: 1 - da.sign(x), lambda x: 1 + da.sign(x), lambda x: abs(x) - x]
)
def test_a_matrix_that_is_regular_on_one_side_of_a_branch_is_not_refused(inertia):
    s = da.System("Branch")
    x, y = s.coordinates("x y")
    s.kinetic_energy(x.dot**2 + inertia(x) * y.dot**2)
    s.potential(x**2 + y**2)
    assert 2 == len(da.forward_dynamics(s).udot)
