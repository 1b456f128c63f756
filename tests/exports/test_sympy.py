"""From SymPy and back: the same equations."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from exports.sympy_systems import SYSTEMS, double_pendulum, pendulum


@pytest.mark.parametrize("name", SYSTEMS)
def test_sympys_systems_are_rebuilt_and_agree_with_its_own_equations(name):
    method, bodies = SYSTEMS[name]()
    # a disagreement would be an error
    s = da.from_sympy(method, bodies, name=name)
    assert len(s.q) == len((method.eom_method if name == "pendulum_as_a_system" else method).q)
    assert da.kane(s).equations.M


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
    with pytest.raises(da.Disagreement, match="velocities that were typed may contradict the positions"):
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
    with pytest.raises(da.DalembertError, match=r"give a KanesMethod, a LagrangesMethod or a .*System, not int"):
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
