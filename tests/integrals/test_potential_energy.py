"""U is a function of position, 𝒰 belongs to the coordinates and speeds: verdicts by hand.

Each row gives E_Z, E, 𝓗, H, K + 𝒰, K + U: c constant, n not constant, – does not exist.
"""

import pytest

import dalembert as da
from dalembert import gallery


def particle(place="x"):
    """A particle on a line, at a position given in its coordinate and t."""
    s = da.System("Particle on a line")
    x = s.coordinate("x")
    m, k, c = s.constant("m"), s.constant("k"), s.constant("c")
    P = s.O.offset(s.expression(place) * s.N.y, "P")
    # every declared constant must be used
    s.particle("particle", m + k + c, P)
    return s, P, x, k, c


def fall(place):
    s = da.System("Free fall")
    s.coordinate("y")
    s.gravity(-s.constant("g") * s.N.y)
    s.particle("stone", s.constant("m"), s.O.offset(s.expression(place) * s.N.y, "P"))
    return s


def line_spring(place, V):
    s, *_ = particle(place)
    s.potential(s.expression(V), "spring")
    return s


def pushed(place, F):
    s, P, *_ = particle(place)
    s.force(s.expression(F) * s.N.y, P, name="push")
    return s


def moving_anchor():
    s, _, x, k, _ = particle()
    s.potential(k * (x - s.specified("a")) ** 2 / 2, "spring")
    return s


def moving_speed():
    s, _, x, k, _ = particle()
    s.potential(k * x**2 / 2)
    s.speeds(u=x.dot - s.specified("a").dot)
    return s


def named_by_motion(V):
    """A particle at x + X(t): X is a name of the coordinate, nothing enforces it."""
    s = da.System("Moving coordinate")
    s.coordinate("x")
    s.specified("X")
    s.constant("k")
    s.particle("particle", s.constant("m"), s.O.offset(s.expression("x + X") * s.N.y, "P"))
    s.potential(s.expression(V))
    return s


def verdicts(system, **given):
    found = da.energy_integrals(system, **given)
    return " ".join("–" if not v.exists else "c" if v.constant else "n" for v in found.verdicts)


CASES = {
    "free fall": (lambda: fall("y"), "c c c c c c", ""),
    "free fall in y + 3t": (lambda: fall("y + 3*t"), "c c c – n c", ""),
    "free fall in y + t²": (lambda: fall("y + t**2"), "c n n – n c", ""),
    "spring to a fixed point in x + 3t": (
        lambda: line_spring("x + 3*t", "k*(x + 3*t)**2/2"),
        "c n n – c c",
        "",
    ),
    "spring to a moving wall in x + 3t": (
        lambda: line_spring("x + 3*t", "k*x**2/2"),
        "c c c – n –",
        "(i)",
    ),
    "spring to a fixed point by a force in x + 3t": (
        lambda: pushed("x + 3*t", "-k*(x + 3*t)"),
        "c n n – n c",
        "",
    ),
    "weight by a force in x + 3t": (lambda: pushed("x + 3*t", "-m*k"), "c c c – n c", ""),
    "force that moves along in x + 3t": (lambda: pushed("x + 3*t", "-k*x"), "c c c – n –", "(ii)"),
    "moving anchor": (moving_anchor, "c n n – n –", "(i)"),
    "½ k x² with u = ẋ − ȧ": (moving_speed, "c n n n c c", ""),
    "x + X(t), spring to a fixed point": (
        lambda: named_by_motion("k*(x + X)**2/2"),
        "c n n – c c",
        "",
    ),
    "x + X(t), spring to a moving wall": (
        lambda: named_by_motion("k*x**2/2"),
        "c n n – n –",
        "(iii)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts_in_moving_coordinates(name):
    build, expected, reason = CASES[name]
    system = build()
    assert expected == verdicts(system)
    why = da.energy_integrals(system).why_no_potential
    assert reason == why.partition(" ")[0]
    assert ";" not in why


def test_hoist_has_no_U_unless_its_speed_is_constant():
    s = gallery.build("hoist")
    assert "c c n – n –" == verdicts(s)
    assert da.energy_integrals(s).why_no_potential.startswith("(iii)")
    assert "c c c c c c" == verdicts(s, inputs={"x": 3 * s.t})


def test_potential_energy_keeps_the_function_of_time_that_the_generalized_one_drops():
    found = da.energy_integrals(fall("y + 3*t"))
    assert "g m y" == str(found.generalized_potential)
    assert "3 g m t + g m y" == str(found.potential)
    assert "U ≠ 𝒰" in found.why_no_hamiltonian
    assert "  U     = 3 g m t + g m y" in str(found)


def test_a_fixed_constraint_in_a_moving_coordinate_has_no_power():
    """x + 3t = 1 holds the particle still: its reaction is large and its power zero."""
    s = da.System("Held")
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset((x + 3 * s.t) * s.N.x + y * s.N.y, "P1"))
    s.potential((x + 3 * s.t) * 5 + y**2)
    s.constrain(x + 3 * s.t - 1, "stop")
    assert "c" == verdicts(s)[-1]


def test_a_load_is_split_by_terms():
    """−k x − c ẋ has 𝒰 = ½ k x², and c = 0 is enough for E; Mit22 (18)–(19)."""
    found = da.energy_integrals(pushed("x", "-k*x - c*x.dot"))
    assert "1/2 k x²" == str(found.generalized_potential)
    assert "−c ẋ²" == str(found.nonconservative_power)
    assert "c = 0" == found["E"].condition
    assert "push: the terms with k have V = 1/2 k x²" in str(found)


def plane_loads(*forces):
    s = da.System("Particle in a plane")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("particle", sum(s.constant(name) for name in "kcblm"), P)
    for n, (F_x, F_y) in enumerate(forces):
        s.force(s.expression(F_x) * s.N.x + s.expression(F_y) * s.N.y, P, name=f"F{n}")
    return s


@pytest.mark.parametrize(
    ("forces", "potential"),
    [
        # neither term of −k y ẋ − k x ẏ has a potential
        ([("-k*y - c*x.dot", "-k*x")], "k x y"),
        ([("-k*y", "0"), ("-c*x.dot", "-k*x")], "k x y"),
        # b (y, 0) has none and shares no constant with the rest
        ([("-k*x + b*y", "-k*y")], "1/2 k x² + 1/2 k y²"),
        # the terms with k have none as a whole
        ([("-k*x", "0"), ("k*y", "-c*y")], "1/2 c y²"),
        # l is inside a function: k and k l are not independent
        ([("-k*x/sqrt(x**2 + l**2) - c*x.dot", "0")], "k √(x² + l²)"),
        ([("-k*x*sin(t) - c*x", "0")], "1/2 c x²"),
    ],
)
def test_terms_are_grouped_by_products_of_constants(forces, potential):
    found = da.energy_integrals(plane_loads(*forces))
    assert potential == str(found.generalized_potential)
    assert found["E_Z"].constant
    assert all(holds for _, holds in found.identities)


def test_a_declared_potential_is_never_split():
    s = plane_loads()
    s.potential(s.expression("k*x**2/2 + c*x*sin(t)"))
    assert "1/2 k x² + c x sin t" == str(da.energy_integrals(s).generalized_potential)


def test_a_load_that_shares_its_constants_with_a_swirl_is_named():
    """−k x has a potential alone; with k (y, 0) of another load the terms of k have none."""
    found = da.energy_integrals(plane_loads(("-k*x", "0"), ("k*y", "0")))
    assert "0" == str(found.generalized_potential)
    assert "F0: conservative" in str(found)
    assert "so it counts in 𝒫_nc" in str(found)
