"""From SymPy and back: the same equations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from exports.sympy_systems import SYSTEMS, double_pendulum, pendulum


@pytest.mark.each_time(6)
@pytest.mark.parametrize("name", SYSTEMS)
def test_sympys_systems_are_rebuilt_and_agree_with_its_own_equations(name):
    method, bodies = SYSTEMS[name]()
    # a disagreement would be an error
    s = da.from_sympy(method, bodies, name=name)
    assert len(s.q) == len((method.eom_method if name == "pendulum_as_a_system" else method).q)
    assert da.kane(s).equations.M


OWN = {
    "test_kane": ["test_parallel_axis"],
    "test_kane4": ["test_replace_qdots_in_force"],
    "test_linearize": ["test_linearize_pendulum_kane_minimal"],
    "test_models": [
        "test_multi_mass_spring_damper_inputs",
        "test_multi_mass_spring_damper_higher_order",
        "test_n_link_pendulum_on_cart_inputs",
        "test_n_link_pendulum_on_cart_higher_order",
    ],
}
OWN_SLOW = {
    "test_jointsmethod": [
        "test_simple_pedulum",
        "test_chaos_pendulum",
        "test_jointsmethod",
        "test_rigid_body_particle_compatibility",
        "test_two_dof_joints",
        "test_complete_simple_double_pendulum",
    ],
    "test_linearize": ["test_linearize_pendulum_kane_nonminimal"],
}


def made_by(monkeypatch, module, name):
    """The methods that a test of SymPy's own makes, caught where it forms their equations."""
    from sympy.physics.mechanics import KanesMethod, LagrangesMethod

    tests = pytest.importorskip(
        f"sympy.physics.mechanics.tests.{module}", reason="SymPy was installed without its tests"
    )
    caught = []

    def watched(form):
        def forming(self, *arguments, **options):
            found = form(self, *arguments, **options)
            caught.append(self)
            return found

        return forming

    for kind, name_of_it in (
        (KanesMethod, "kanes_equations"),
        (LagrangesMethod, "form_lagranges_equations"),
    ):
        monkeypatch.setattr(kind, name_of_it, watched(getattr(kind, name_of_it)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(tests, name)()
    return caught


@pytest.mark.each_time(3)
@pytest.mark.parametrize(
    ("module", "name"),
    [(m, n) for m, names in OWN.items() for n in names]
    + [pytest.param(m, n, marks=pytest.mark.slow) for m, names in OWN_SLOW.items() for n in names],
)
def test_the_systems_of_sympys_own_tests_agree_with_its_equations(monkeypatch, module, name):
    methods = made_by(monkeypatch, module, name)
    assert methods
    for method in methods:
        s = da.from_sympy(method, name=name)
        assert len(s.q) == len(method.q)


def test_speeds_that_do_not_define_rates_are_refused(monkeypatch):
    with pytest.raises(
        da.DalembertError,
        match="leave out auxiliary speeds, and give as many speeds as coordinates",
    ):
        da.from_sympy(made_by(monkeypatch, "test_kane2", "test_sub_qdot")[0])


def test_a_rebuilt_system_is_certified_by_every_principle():
    assert da.agreement(da.from_sympy(double_pendulum()[0])).agree


def test_a_velocity_that_contradicts_the_position_is_reported():
    from sympy import symbols
    from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

    q, u, m, k = *dynamicsymbols("q u"), *symbols("m k")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", q * N.x)
    P.set_vel(N, 2 * u * N.x)
    KM = KanesMethod(N, [q], [u], [q.diff() - u])
    KM.kanes_equations([Particle("P", P, m)], [(P, -k * q * N.x)])
    with pytest.raises(
        da.Disagreement, match="velocities that were typed may contradict the positions"
    ):
        da.from_sympy(KM)
    assert da.from_sympy(KM, check=False).q


def test_a_point_with_only_a_velocity_is_refused():
    from sympy import symbols
    from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

    q, u, m = *dynamicsymbols("q u"), symbols("m")
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, u * N.x)
    KM = KanesMethod(N, [q], [u], [q.diff() - u])
    KM.kanes_equations([Particle("P", P, m)], [(P, -q * N.x)])
    with pytest.raises(da.DalembertError, match="only a velocity"):
        da.from_sympy(KM)


def test_something_else_is_refused():
    with pytest.raises(
        da.DalembertError, match=r"give a KanesMethod, a LagrangesMethod or a .*System, not int"
    ):
        da.from_sympy(3)


def test_a_derivation_gives_matrices_for_sympy():
    from sympy import lambdify
    from sympy.physics.mechanics import dynamicsymbols

    s = gallery.build("double-pendulum")
    found = da.kane(s).sympy()
    assert list(found.q) == [dynamicsymbols("alpha"), dynamicsymbols("beta")]
    constants = {c.name: float(c.value) for c in s.symbols.values() if c.kind == "constant"}
    free = sorted(found.mass_matrix.free_symbols | found.forcing.free_symbols, key=str)
    free = [c for c in free if str(c) != "t"]
    f = lambdify([list(found.q), list(found.u), free], [found.mass_matrix, found.forcing])
    q, u = [0.3, -0.4], [0.5, 0.6]
    M, forcing = f(q, u, [constants[str(c)] for c in free])
    assert np.allclose(np.linalg.solve(M, forcing).ravel(), da.compile(s)(q, u), rtol=1e-12)
    assert found.mass_matrix_full.shape == (4, 4)
    assert found.forcing_full.shape == (4, 1)


def test_functions_of_sympy_numpy_and_math_take_our_scalars():
    import math

    import sympy

    s = da.System("s")
    theta = s.coordinate("theta")
    assert sympy.sin(theta) == da.sin(theta) or sympy.sin(theta.sympy()) == da.sin(theta).sympy()
    assert np.sin(theta) == da.sin(theta)
    assert np.cos(theta) * 2 == da.cos(theta) * 2
    with pytest.raises(TypeError):
        math.sin(theta)


def test_the_method_is_left_as_it_was():
    method, _ = pendulum()
    before = method.mass_matrix
    da.from_sympy(method)
    assert method.mass_matrix == before


def test_slopes_are_those_of_sympys_own_linearizer():
    import sympy
    from sympy.physics import mechanics as me

    q, u, torque = me.dynamicsymbols("q u T")
    m, l, g, t = *sympy.symbols("m l g"), me.dynamicsymbols._t
    N, O = me.ReferenceFrame("N"), me.Point("O")
    A = N.orientnew("A", "Axis", (q, N.z))
    A.set_ang_vel(N, u * N.z)
    O.set_vel(N, 0)
    P = O.locatenew("P", l * A.x)
    P.v2pt_theory(O, N, A)
    rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2), P))
    theirs = me.KanesMethod(N, [q], [u], [q.diff(t) - u])
    theirs.kanes_equations([rod], [(P, m * g * N.x), (A, torque * N.z)])
    A_theirs, B_theirs, inputs = theirs.linearize(A_and_B=True)

    s = da.System("Pendulum")
    theta, (m_, l_, g_), T = s.coordinate("q"), s.constants("m l g"), s.input("T")
    s.speeds(u=theta.dot)
    B = s.N.rotated(theta, s.N.z)
    G = s.O.offset(l_ * B.x, frame=B)
    s.body("rod", m_, G, B, da.inertia(B, 0, 0, m_ * l_**2))
    s.gravity(g_ * s.N.x)
    s.torque(T * s.N.z, B)
    ours = da.kane(s).sympy()
    assert [torque] == list(ours.inputs) == list(inputs)
    assert sympy.zeros(2, 2) == sympy.simplify(ours.A - A_theirs)
    assert sympy.zeros(2, 1) == sympy.simplify(ours.B - B_theirs)
    assert sympy.Matrix([[0, 1], [-g / (2 * l), 0]]) == sympy.simplify(
        ours.linearize({"q": 0, torque: 0})[0]
    )


@pytest.mark.parametrize(
    ("name", "about", "coordinates"),
    [
        ("cart-and-bar", {"theta": 0.3, "theta.dot": 0.4, "x.dot": -0.2}, None),
        ("slider-crank", {"theta": 0.7, "theta.dot": 2.0}, ["theta"]),
        ("rolling-disk", gallery.entry("rolling-disk").start, None),
    ],
)
def test_slopes_in_symbols_are_those_of_the_linear_model(name, about, coordinates):
    s = gallery.build(name)
    expected = da.linearize(s, about, coordinates=coordinates)
    constants = {c.name: float(c.value) for c in s.symbols.values() if c.kind == "constant"}
    found = da.kane(s).sympy()
    inside = {
        str(x)
        for x in found.mass_matrix.free_symbols
        | found.forcing.free_symbols
        | found.rows.free_symbols
    }
    here = {
        **expected.point,
        **{n: x for n, x in constants.items() if n in inside},
        **dict.fromkeys(expected.inputs, 0.0),
    }
    A, B = (np.array(x, dtype=float).reshape(x.shape) for x in found.linearize(here, coordinates))
    assert np.abs(A - expected.A).max() < 1e-11 * np.abs(expected.A).max()
    assert np.abs(B - expected.B).max(initial=0.0) < 1e-11


def test_a_point_that_will_not_do_is_said():
    crank = da.kane(gallery.build("slider-crank")).sympy()
    with pytest.raises(
        da.DalembertError, match=r"name 1 of theta, phi as independent: coordinates="
    ):
        _ = crank.A
    with pytest.raises(
        da.Unknown, match="nowhere does not occur in the equations; known are theta, phi"
    ):
        crank.linearize({"nowhere": 1})
    top = da.kane(gallery.build("rolling-disk")).sympy()
    with pytest.raises(da.DalembertError, match=r"singular at this point|no finite slope"):
        top.linearize(dict.fromkeys([*top.q, *top.u], 0))
