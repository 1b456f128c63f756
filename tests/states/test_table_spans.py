"""A table that refuses extrapolation is not read outside of its times, whoever asks."""

import pytest

import dalembert as da

TABLE = da.table([0, 1, 2], [0, 0.1, 0], "linear")


def pendulum():
    s = da.System("pendulum", gravity=9.81)
    phi = s.coordinate("phi")
    F = s.N.rotated(phi, s.N.z)
    s.particle("bob", 1, s.O.offset(-F.y))
    s.generalized_force(phi, s.input("tau") - s.constant("c", 0.1) * phi.dot)
    return s


ASKED = {
    "simulate": lambda s, i: da.simulate(s, 5, inputs=i),
    "lyapunov": lambda s, i: da.lyapunov(s, 50, start={"phi": 1.0}, inputs=i),
    "map": lambda s, i: da.poincare_map(s, "phi", inputs=i, returns=3)({"phi": 1.0}),
    "linearize": lambda s, i: da.linearize(s, {"phi": 0.0}, inputs=i, t=9.0, equilibrium=False),
    "state values": lambda s, i: da.state_values(s, {"phi": 1.0}, inputs=i, t=9.0),
    "equilibrium": lambda s, i: da.equilibrium(s, inputs=i, t=9.0),
    "root locus": lambda s, i: da.root_locus(s, "c", [0.1, 0.2], inputs=i, t=9.0),
}


@pytest.mark.parametrize("verb", ASKED)
def test_times_that_a_table_does_not_cover_are_refused(verb):
    with pytest.raises(da.BadValue, match="tau: its table goes from t = 0 to 2"):
        ASKED[verb](pendulum(), {"tau": TABLE})


def test_inside_its_times_it_is_read():
    assert da.state_values(pendulum(), {"phi": 0.0}, inputs={"tau": TABLE}, t=1.0).udot == (
        pytest.approx([0.1])
    )


def test_an_optimum_longer_than_its_table_is_refused():
    pytest.importorskip("pounce")
    with pytest.raises(da.BadValue, match="tau: its table goes from t = 0 to 2"):
        da.optimize(pendulum(), 5, minimize="phi**2", start={"phi": 0.1}, inputs={"tau": TABLE})
