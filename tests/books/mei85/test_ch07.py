"""Results printed in Mei85 ch. 7; T of Ex. 7.4 is taken in its corrected form."""

import pytest

import dalembert as da
from comparisons import PRINCIPLES, components, differences, equal, other_terms
from dalembert import gallery
from dalembert.gallery import Printed
from dalembert.mechanics.kinetics.generalized_forces import generalized_forces
from dalembert.mechanics.kinetics.spatial_fields import declared_potential_energy, gravity_potential
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.expression_graph import Derivative, gradient
from dalembert.symbolic.algebra.scalar import as_node

# ---- the dumbbell of 7.2 and 7.3 ---------------------------------------------------------------


@pytest.fixture
def dumbbell():
    s = da.System("Dumbbell", source="Mei85 (7.7)")
    x1, y1, z1, x2, y2, z2 = s.coordinates("x1 y1 z1 x2 y2 z2")
    m1, m2, L = s.constants(m_1=1, m_2=2, L=1)
    N = s.N
    s.particle("first", m1, s.O.offset(x1 * N.x + y1 * N.y + z1 * N.z))
    s.particle("second", m2, s.O.offset(x2 * N.x + y2 * N.y + z2 * N.z))
    s.constrain((x2 - x1) ** 2 + (y2 - y1) ** 2 + (z2 - z1) ** 2 - L**2, "rod")
    return da.kinematics(s)


def test_7_8_number_of_degrees_of_freedom(dumbbell):
    (row,) = dumbbell.rows
    assert row.holonomic
    assert 5 == dumbbell.n_u == dumbbell.n_q - len(dumbbell.rows)


def test_7_13_virtual_displacements_of_the_dumbbell(dumbbell):
    # the row is twice (7.13): the derivative of (7.7)
    (row,) = dumbbell.rows
    differences_ = ["x2 - x1", "y2 - y1", "z2 - z1"]
    printed = [f"-2*({d})" for d in differences_] + [f"2*({d})" for d in differences_]
    assert equal(dumbbell, [row.A[k] for k in range(6)], printed)
    assert dumbbell.tape.zero == row.b


def test_7_13_holds_for_every_virtual_velocity(dumbbell):
    t, (row,) = dumbbell.tape, dumbbell.rows
    for r in range(dumbbell.n_u):
        total = t.zero
        for k, (_, W) in enumerate(dumbbell.WX):
            total = t.add(total, t.mul(row.A[k], W.get(r, t.zero)))
        assert equal(dumbbell, [total], ["0"])


# ---- Examples 7.3 and 7.4 ----------------------------------------------------------------------


@pytest.fixture
def cart():
    return da.kinematics(gallery.build("cart-and-bar"))


def test_ex_7_3_d_position_of_the_bar(cart):
    # Mei85 counts x from the unstretched length L of the spring, which drops out
    G = cart.system.bodies[1].G
    assert equal(
        cart,
        components(cart, G - cart.system.O, cart.system.N),
        ["x + a*sin(theta)", "-a*cos(theta)", "0"],
    )


def test_ex_7_3_b_c_inertia_and_moment(cart):
    s = cart.system
    _, bar = s.bodies
    assert equal(cart, [bar.inertia.entries()[2]], ["1/3*m*a**2"])
    (load,) = s.loads
    F, B = load.forces[0][:2]
    assert equal(cart, components(cart, (B - bar.G).cross(F), s.N), ["0", "0", "F*a*cos(theta)"])


def test_ex_7_3_e_virtual_displacements(cart):
    G = cart.system.bodies[1].G
    along_x, along_theta = (cart.partial_velocities(G)[0][k] for k in range(2))
    assert equal(cart, components(cart, along_x, cart.system.N), ["1", "0", "0"])
    assert equal(
        cart, components(cart, along_theta, cart.system.N), ["a*cos(theta)", "a*sin(theta)", "0"]
    )


def test_ex_7_3_f_accelerations(cart):
    C, G = (b.G for b in cart.system.bodies)
    printed = [
        "x'' + a*(theta''*cos(theta) - theta'**2*sin(theta))",
        "a*(theta''*sin(theta) + theta'**2*cos(theta))",
        "0",
    ]
    assert equal(cart, components(cart, cart.a(C), cart.system.N), ["x''", "0", "0"])
    assert equal(cart, components(cart, cart.a(G), cart.system.N), printed)


def test_ex_7_4_b_kinetic_energy(cart):
    T = Quantities(cart).rates.T.value.i
    assert equal(cart, [T], ["1/2*(M + m)*x'**2 + m*a*x'*theta'*cos(theta) + 2/3*m*a**2*theta'**2"])


def test_ex_7_4_c_potential_energy(cart):
    # Mei85 counts V from the bar hanging straight down
    t = cart.tape
    V = t.add(declared_potential_energy(cart).i, gravity_potential(cart).i)
    assert equal(cart, [V], ["1/2*k*x**2 + m*g*a*(1 - cos(theta)) - m*g*a"])


def test_ex_7_4_i_generalized_forces(cart):
    assert equal(cart, generalized_forces(cart), ["F", "2*F*a*cos(theta)"])


def test_ex_7_4_d_j_the_lagrangian_gives_the_same_equations(cart):
    # (d), (j) and (k) lack an a in m ẋ θ̇ cos θ; with it they are (h) of Ex. 7.3
    t, s = cart.tape, cart.system
    L = as_node(
        t,
        s.expression(
            "1/2*(M + m)*x'**2 + m*a*x'*theta'*cos(theta) + 2/3*m*a**2*theta'**2 - 1/2*k*x**2 - "
            "m*g*a*(1 - cos(theta))"
        ),
    )
    rate = Derivative(t, t.rate)
    momenta, slopes = gradient(t, {L: t.one}, cart.qdot), gradient(t, {L: t.one}, cart.q)
    left = [t.sub(rate(p), L_q) for p, L_q in zip(momenta, slopes, strict=True)]
    assert equal(
        cart,
        momenta,
        ["(M + m)*x' + m*a*theta'*cos(theta)", "m*a*x'*cos(theta) + 4/3*m*a**2*theta'"],
    )
    assert equal(cart, slopes, ["-k*x", "-m*a*x'*theta'*sin(theta) - m*g*a*sin(theta)"])
    assert equal(
        cart,
        left,
        [
            f"{printed.residual} + {Q}"
            for printed, Q in zip(EX_7_3_h, ("F", "2*F*a*cos(theta)"), strict=True)
        ],
    )


EX_7_3_h = (
    Printed(
        "(h), first",
        "(M + m)*x'' + m*a*(theta''*cos(theta) - theta'**2*sin(theta)) + k*x - F",
        ((1, "1"),),
    ),
    Printed(
        "(h), second",
        "m*a*x''*cos(theta) + 4/3*m*a**2*theta'' + m*g*a*sin(theta) - 2*F*a*cos(theta)",
        ((2, "1"),),
    ),
)


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_ex_7_3_h_equations_of_motion(principle):
    d = principle(gallery.build("cart-and-bar"))
    assert [] == differences(d, EX_7_3_h)
    assert [] == other_terms(d, EX_7_3_h)


def test_ex_7_1_with_forces_has_the_verdicts_of_ex_7_2_with_potentials():
    """−k r and −m g declared as forces: their work is found to be a function of the
    configuration.
    """

    def incline(*, forces: bool) -> da.System:
        s = da.System("Mass on a smooth incline")
        (r,) = s.coordinates("r")
        m, k, g, theta = (s.constant(name) for name in ("m", "k", "g", "theta"))
        B = s.N.rotated(-theta, s.N.z, "B")
        P = s.O.offset(r * B.x, "P")
        s.particle("mass", m, P)
        if forces:
            s.force(-k * r * B.x, P, name="spring")
            s.force(-m * g * s.N.y, P, name="weight")
        else:
            s.potential(k * r**2 / 2 - m * g * r * da.sin(theta))
        return s

    by_forces, by_potentials = (
        da.energy_integrals(incline(forces=forces)) for forces in (True, False)
    )
    assert by_potentials.constant == by_forces.constant
    assert str(by_potentials.generalized_potential) == str(by_forces.generalized_potential)
    assert by_potentials.potential_exists is by_forces.potential_exists is True
