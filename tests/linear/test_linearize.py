import math
from importlib.util import find_spec

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.linear import tree_jacobian
from dalembert.analysis.linear.equation_jacobians import BadLinearPoint
from dalembert.analysis.linear.linearize import linearize, linearize_along
from dalembert.errors import MissingPackage, NotApplicable
from dalembert.gallery import cart_and_bar, lagrange_top, rolling_disk
from dalembert.runtime.ode.failures import BadStart
from derivatives.trees import gimbal
from linear.fields import Projected, T


def pendulum():
    """A bob in x and y, held by a rod: one holonomic row."""
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", s.constant("m", 2), s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain((x**2 + y**2 - s.constant("l", 0.5) ** 2) / 2, "rod")
    return s


def cart_pole():
    s = da.System("Cart and pole", gravity=9.81)
    x, theta = s.coordinates("x theta")
    F = s.input("F")
    C = s.O.offset(x * s.N.x)
    B = s.N.rotated(theta, s.N.z)
    s.particle("cart", 1.0, C)
    s.particle("bob", 0.1, C.offset(0.5 * B.y))
    s.force(F * s.N.x, at=C)
    return s


def free_of(model, names):
    return [names.index(z) for z in model.states[: model.n_z]]


def test_pendulum_in_x_and_y_at_rest():
    s = pendulum()
    m = linearize(s, {"y": -0.5}, equilibrium=True)
    assert ("x", "x.dot") == m.states
    assert pytest.approx(np.array([[0, 1], [-9.81 / 0.5, 0]]), abs=1e-13) == m.A
    _, A = Projected(s).differences([0.0, -0.5], [0.0], [0])
    assert np.abs(m.A - A).max() <= 1e-7
    assert pytest.approx(
        [-1j * math.sqrt(9.81 / 0.5), 1j * math.sqrt(9.81 / 0.5)], abs=1e-13
    ) == list(m.eigenvalues)


def test_cart_and_pole_away_from_equilibrium():
    s = cart_pole()
    m = linearize(
        s, {"theta": 0.1, "theta.dot": 0.7}, inputs={"F": 2.0}, outputs=("theta", "x.dot.dot", "F")
    )
    f0, A = Projected(s, inputs={"F": 2.0}).differences([0, 0.1], [0, 0.7], [0, 1])
    assert np.abs(m.offset - f0).max() <= 1e-12
    assert abs(f0[3]) > 1
    assert np.abs(m.A - A).max() <= 1e-7
    # the output ẍ has the slopes of its own state equation
    assert pytest.approx(m.A[2], abs=1e-14) == m.C[1]
    assert pytest.approx([0.1, m.offset[2], 2.0]) == m.y
    assert pytest.approx([0, m.B[2, 0], 1]) == m.D[:, 0]
    up, down = (
        Projected(s, inputs={"F": 2.0 + h}).differences([0, 0.1], [0, 0.7], [0, 1])[0]
        for h in (1e-5, -1e-5)
    )
    assert np.abs(m.B[:, 0] - (up - down) / 2e-5).max() <= 1e-7


def test_accelerations_are_refused_only_when_asked():
    with pytest.raises(
        BadLinearPoint,
        match=r"not an equilibrium: x\.dot\.dot = 0\.\d+, theta\.dot\.dot = 2\.\d+; change the "
        r"point",
    ):
        linearize(cart_pole(), {"theta": 0.1}, equilibrium=True)


def test_a_point_off_the_rows_is_refused_with_numbers():
    with pytest.raises(BadStart, match=r"x = 0\.3, y = -0\.5 contradict 'rod': residual 0\.045"):
        linearize(pendulum(), {"x": 0.3, "y": -0.5})
    with pytest.raises(BadStart, match=r"y\.dot = 1.* contradicts 'rod'"):
        linearize(pendulum(), {"x": 0.0, "y": -0.5, "y.dot": 1.0})


def test_a_singular_point_is_refused():
    # Euler's angles do not separate precession and spin at θ = 0
    with pytest.raises(BadLinearPoint, match="the mass matrix is singular at this point"):
        linearize(lagrange_top.build(), {"psi.dot": 100})


def test_independent_coordinates_may_be_chosen():
    s = pendulum()
    about = {"x": 0.3, "y": -0.4}
    for name, k in (("x", 0), ("y", 1)):
        m = linearize(s, about, coordinates=[name])
        assert (name, "x.dot") == m.states
        assert np.abs(m.A - Projected(s).differences([0.3, -0.4], [0], [k])[1]).max() <= 1e-7
    with pytest.raises(BadLinearPoint, match="the given coordinates are not independent"):
        linearize(s, {"y": -0.5}, coordinates=["y"])
    with pytest.raises(BadLinearPoint, match="name 1 of the coordinates x, y as independent"):
        linearize(s, about, coordinates=["x", "y"])


def admissible(system, rng):
    """A random state on the rows, at the time of the differences."""
    field = Projected(system)
    q, u = rng.uniform(0.2, 0.9, field.kin.n_q), rng.uniform(-0.8, 0.8, field.kin.n_u)
    if system.name == "Bricard's mechanism":
        # far from where it is assembled other branches lie, with singular positions
        q = np.array([0.5, -0.33, 0.5, -0.33, 0.5])
    if field.kin.nonlinear:
        # ẋ² + ẏ² = k² ż²
        u = np.array([0.6, 0.8, -0.5])
    q = field.onto_rows(q, u, list(range(field.kin.n_q)))
    return field, q, u


@pytest.mark.each_time(16)
@pytest.mark.parametrize("name", gallery.names())
def test_slopes_equal_differences_of_the_projected_field(name):
    system = gallery.build(name)
    field, q, u = admissible(system, np.random.default_rng(7))
    kin = field.kin
    about = {kin.scalar(i): x for i, x in zip(kin.q, q, strict=True)} | {
        kin.name(i): x for i, x in zip(kin.u, u, strict=True)
    }
    m = linearize(system, about, t=T)
    names = [q.name for q in system.q]
    f0, A = field.differences(q, u, free_of(m, names))
    scale = max(1.0, np.abs(A).max())
    assert np.abs(m.A - A).max() <= 1e-7 * scale
    assert np.abs(m.offset - f0).max() <= 1e-9 * max(1.0, np.abs(f0).max())


def joints_of_every_kind():
    """A ball joint, a hinge, a slider, a flywheel that turns with the hinge, a
    first-order state.
    """
    s = gimbal()
    R = s.constant("R", 0.7)
    i = s.state("i", rate=lambda i: s["F"] - R * i * s["rail"])
    s.force(i * s["rail.dot"] * s.N.z, at=s.bodies[2].G, name="pull")
    wheel = s.N.rotated(s["hip"], s.N.z, "W")
    s.body("wheel", 1, s.O, wheel, da.inertia(wheel, 0, 0, 0.6))
    return s


def test_trees_through_their_tables_equal_the_general_route(monkeypatch):
    outputs = ["i", "hip", "hip.dot.dot", "rail.dot.dot*i", "F*hip"]
    about = {"e0": 0.8, "e2": 0.6, "hip": 0.3, "rail": 0.2, "omega_e0x": 0.4, "rail.dot": -0.5}
    inputs = {"F": 0.3}
    quick = linearize(joints_of_every_kind(), about, outputs=outputs, inputs=inputs)
    monkeypatch.setattr(tree_jacobian, "link_tables", lambda _: None)
    slow = linearize(joints_of_every_kind(), about, outputs=outputs, inputs=inputs)
    for name in ("A", "B", "C", "D", "offset", "y"):
        np.testing.assert_allclose(getattr(quick, name), getattr(slow, name), atol=1e-12)
    for one, other in zip(quick.residual[:4], slow.residual[:4], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_along_a_run():
    s = gallery.build("bead-on-hoop")
    run = da.simulate(s, 1, start={"theta": 0.2}).at([0, 0.5, 1])
    models = linearize_along(run, ["theta.dot.dot"])
    for k, m in enumerate(models):
        alone = linearize(
            s, {"theta": run["theta"][k], "theta.dot": run["theta.dot"][k]}, t=run.t[k]
        )
        assert np.abs(m.A - alone.A).max() <= 1e-12
        assert pytest.approx(m.offset[1]) == m.y[0]
        assert run.t[k] == m.t


def test_second_order_form_separates_the_parts():
    m = linearize(cart_and_bar.build(), inputs={"F": 0})
    s = m.second_order()
    M, a, k, g = 2 + 1, 0.5, 10, 9.81
    assert pytest.approx(np.array([[M, a], [a, 4 / 3 * a**2]]), abs=1e-14) == s.M
    assert pytest.approx(np.array([[k, 0], [0, g * a]]), abs=1e-13) == s.stiffness
    assert 0 == np.abs(s.circulatory).max() == np.abs(s.damping).max() == np.abs(s.gyroscopic).max()
    assert pytest.approx(np.array([1, 2 * a])) == s.B[:, 0]


def test_damping_and_gyroscopic_parts():
    s = da.System("Charged bead on a turning plate")
    x, y = s.coordinates("x y")
    Omega = s.constant("Omega", 3)
    A = s.N.rotated(Omega * s.t, s.N.z)
    P = s.O.offset(x * A.x + y * A.y)
    s.particle("bead", 2, P)
    s.potential(40 * (x**2 + y**2) / 2)
    s.dissipation(0.5 * (x.dot**2 + y.dot**2) / 2)
    form = linearize(s, equilibrium=True).second_order()
    assert pytest.approx(np.array([[0, -12], [12, 0]]), abs=1e-12) == form.gyroscopic
    assert pytest.approx(0.5 * np.eye(2), abs=1e-12) == form.damping
    assert pytest.approx((40 - 2 * 9) * np.eye(2), abs=1e-12) == form.stiffness


def test_second_order_form_is_refused_where_it_does_not_hold():
    m = linearize(rolling_disk.build(), {"theta": math.pi / 2, "psi.dot": 5})
    with pytest.raises(
        NotApplicable, match=r"phi\.dot enter the equations of theta; use A of first order"
    ):
        m.second_order(["theta"])
    with pytest.raises(
        NotApplicable, match="the rate of x is not a speed; this holds for phi, theta, psi"
    ):
        m.second_order(["x"])


def test_hand_over_to_scipy():
    m = linearize(cart_pole(), outputs=["theta"])
    space = m.state_space()
    assert (4, 4) == space.A.shape
    assert (m.B == space.B).all()
    assert (m.C == space.C).all()
    assert (4, 4) == linearize(pendulum_pair()).state_space().C.shape


def test_hand_over_to_python_control():
    m = linearize(cart_pole(), outputs=["theta"])
    if find_spec("control") is None:
        with pytest.raises(MissingPackage, match="needs the package python-control"):
            m.control()
    else:
        assert (m.A == m.control().A).all()


def pendulum_pair():
    return gallery.build("double-pendulum")


def test_a_closed_loop():
    s = cart_pole()
    m = linearize(s, inputs={"F": "-40*theta - 10*theta.dot"})
    assert () == m.inputs
    plant = linearize(s)
    gain = np.array([[0, -40, 0, -10]])
    assert np.abs(m.A - (plant.A + plant.B @ gain)).max() <= 1e-12


def test_motions_given_at_the_call_are_told_apart():
    s = da.System("Bead in a turning tube")
    q, theta = s.coordinate("q"), s.specified("theta")
    s.particle("bead", 1, s.O.offset((1 + q) * s.N.rotated(theta, s.N.z).x))
    s.potential(50 * q**2)
    # ω² = k/m − Ω²
    found = [
        np.abs(linearize(s, inputs={theta: Omega * s.t}).eigenvalues).max() for Omega in (5, 6, 8)
    ]
    assert pytest.approx([np.sqrt(75), 8, 6]) == found


def test_one_moment_of_a_shaken_pendulum_is_not_rest():
    """Kapitza's pendulum stands upside down where its frozen equations say unstable; a hoop that
    turns evenly is as at rest.
    """
    s = da.System("shaken", gravity=9.81)
    P = s.O.offset(s.specified("z", "sin(200*t)/20") * s.N.y)
    s.rod("rod", s.pin("theta", P), 1, 1)
    model, rest = da.linearize(s, {"theta": da.pi}), da.equilibrium(s, guess={"theta": 3.1})
    assert not model.steady
    assert "an equilibrium" not in str(model)
    assert not rest.steady
    assert (rest.stability.verdict, "balance of one moment" in str(rest)) == ("undetermined", True)
    hoop = gallery.build("bead-on-hoop")
    assert da.linearize(hoop).steady
    assert da.equilibrium(hoop).stability.verdict == "unstable"
