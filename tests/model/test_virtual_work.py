"""Q_k and δW as the books give them, and systems given by their energies."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

BAR = {
    "T": "(M + m)*x.dot**2/2 + m*a*x.dot*theta.dot*cos(theta) + 2*m*a**2*theta.dot**2/3",
    "V": "k*x**2/2 + m*g*a*(1 - cos(theta))",
    "q": "x theta",
    "inputs": "F",
}


def pendulum() -> tuple[da.System, da.Scalar]:
    s = da.System("Pendulum")
    (theta,) = s.coordinates("theta")
    B = s.N.rotated(theta, s.N.z, "B")
    s.particle("bob", s.constant("m", 2), s.O.offset(-s.constant("l", 1) * B.y, "P"))
    s.constant("M", 3)
    return s, theta


@pytest.mark.parametrize(
    "declare",
    [lambda s, q: s.generalized_force(q, s["M"]), lambda s, _: s.virtual_work("M*delta(theta)")],
)
def test_a_bare_generalized_force_in_every_principle_but_free_bodies(declare):
    s, theta = pendulum()
    declare(s, theta)
    found = da.agreement(s)
    assert found.agree
    assert ["Newton–Euler equations"] == [r.principle.title for r in found.rows if not r.applicable]
    assert "10 of 11 principles agree exactly" in str(found)
    assert "m l² θ̈ = M" == str(da.lagrange(s).equations).strip()


def test_a_bare_generalized_force_has_no_place_and_so_no_reactions():
    s, theta = pendulum()
    s.generalized_force(theta, "M")
    with pytest.raises(da.NotApplicable, match="has no point of application"):
        da.newton_euler(s)
    assert not da.reactions(s).joints
    assert "has no point of application" in str(da.reactions(s))


def test_a_constant_generalized_force_on_an_angle_is_many_valued():
    s, theta = pendulum()
    s.generalized_force(theta, "M")
    (found,) = da.conservative(s)
    assert (True, False, True) == (found.closed, found.conservative, found.many_valued)


@pytest.mark.parametrize(
    ("work", "why"),
    [
        ("M*theta", "not linear in virtual displacements"),
        ("M*delta(theta)**2", "not linear in virtual displacements"),
        ("M*delta(theta) + 1", "not linear in virtual displacements"),
        ("M*delta(theta.dot)", "is not varied"),
        ("M*delta(M)", "contains no coordinate"),
        ("M*delta(phi)", "unknown name 'phi'"),
        ("__import__(1)*delta(theta)", "unknown function '__import__'"),
    ],
)
def test_virtual_work_that_is_none_is_refused(work, why):
    s, _ = pendulum()
    with pytest.raises(da.DalembertError, match=why):
        s.virtual_work(work)


def test_part_of_a_quaternion_has_no_generalized_force():
    s = da.System("Body")
    B = s.N.quaternion(*s.coordinates("e0 e1 e2 e3"), name="B")
    s.body("body", 1, s.O, B, da.inertia(B, 1, 2, 3))
    with pytest.raises(da.BadDescription, match="part of a quaternion"):
        s.generalized_force(s.q[0], 1)


def test_ex_7_4_from_its_energies_is_ex_7_3_h():
    """Mei85 Ex. 7.4: T, V and δW = F (δx + 2 a δθ cos θ) alone give the equations (h) of Ex.
    7.3.
    """
    s = da.System.from_energies("Cart and bar", **BAR)
    s.virtual_work("F*delta(x) + 2*F*a*cos(theta)*delta(theta)")
    found = da.agreement(s)
    assert found.agree
    assert "4 of 11 principles agree exactly" in str(found)
    assert {"lagrange", "maggi", "boltzmann-hamel", "hamilton"} == {
        r.principle.name for r in found.rows if r.applicable
    }
    first, second = str(da.lagrange(s).equations).splitlines()
    assert "(M + m) ẍ + m a θ̈ cos θ − m a θ̇² sin θ = −k x + F" == first.strip()
    assert "4/3 m a² θ̈ + m a ẍ cos θ = −m a g sin θ + 2 F a cos θ" == second.strip()
    with pytest.raises(da.NotApplicable, match="Lagrange's equations in disguise"):
        da.kane(s)


def test_energies_run_like_bodies():
    values = {"M": 1, "m": 2, "a": 0.4, "k": 30, "g": 9.81}
    s = da.System.from_energies(**BAR, constants=values)
    s.virtual_work("F*delta(x + 2*a*sin(theta))")
    start = {"x": 0.1, "theta": 0.7}
    run = da.simulate(s, 1, start=start, inputs={"F": 3})
    bodies = da.simulate(
        gallery.build("cart-and-bar"), 1, start=start, values=values, inputs={"F": 3}
    )
    assert np.allclose(
        [run["x"][-1], run["theta"][-1]], [bodies["x"][-1], bodies["theta"][-1]], atol=1e-8
    )
    assert run.integrals.is_model_consistent


def test_energies_have_statics_and_the_jacobi_integral():
    """A bead on a hoop that turns: T₂ − T₀ + V is constant, T + V is not."""
    s = da.System.from_energies(
        T="m*R**2*(theta.dot**2 + phi.dot**2*sin(theta)**2)/2",
        V="-m*g*R*cos(theta)",
        q="theta",
        specified="phi",
    )
    found = da.energy_integrals(s, inputs={"phi": 2 * s.t})
    by_bodies = da.energy_integrals(gallery.build("bead-on-hoop"))
    assert ("E_Z", "𝓗") == found.constant
    assert {"𝓗"} <= set(by_bodies.constant)
    assert "m R² φ̇² sin θ cos θ − m R g sin θ" == str(da.virtual_work(s).equations[0])


@pytest.mark.parametrize(
    ("T", "why"),
    [
        ("m*x.dot**3", "not of degree two"),
        ("m*x.dot**2/(1 + x.dot**2)", "not of degree two"),
        ("m*x", "contains no rate"),
        ("m*x.dot.dot**2", "loads depend on"),
        ("F*x.dot**2", "contains the input F"),
        (3, "give T as text"),
    ],
)
def test_kinetic_energies_that_are_none_are_refused(T, why):
    with pytest.raises(da.BadDescription, match=why):
        da.System.from_energies(T=T, q="x", inputs="F")


def test_a_file_keeps_energies_and_virtual_work(tmp_path):
    s = da.System.from_energies("Cart and bar", **BAR)
    s.virtual_work("F*delta(x)")
    s.generalized_force("theta", "2*F*a*cos(theta)")
    s.save(tmp_path / "bar.toml")
    again = da.load(tmp_path / "bar.toml")
    assert [len(s.loads), "(M + m) ẍ + m a θ̈ cos θ − m a θ̇² sin θ = −k x + F"] == [
        len(again.loads),
        str(da.lagrange(again).equations).splitlines()[0].strip(),
    ]
