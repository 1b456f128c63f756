"""T, V, p, H, G and J as a user asks for them: against the laws that bind them, and against the
equations of motion.
"""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.kinetics import spatial_fields
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.exact.zero_test import provably_zero

SYSTEMS = ("double-pendulum", "rolling-disk", "four-bar", "cart-and-bar", "gyroscope")


def vanishes(*expressions):
    """Exactly, wherever the coordinates are."""
    return all(all(provably_zero(e.tape, [e.i])) for e in expressions)


def equal(a, b, frame):
    return vanishes(*(a - b).to(frame))


def thrown():
    """Two bodies joined by a hinge, with a spring and a torque between them, thrown into the
    air.
    """
    s = da.System("thrown", gravity=9.81)
    m, c = s.constants(m=1.5, c=0.4)
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P", s.N)
    a, b, e, d = s.coordinates("a b e d")
    A = s.N.rotations("zxy", a, b, e)[-1]
    first = s.body("first", m, P, A, da.inertia(A, 0.2, 0.3, 0.4))
    hinge = P.offset(0.3 * A.x, "hinge")
    B = A.rotated(d, A.y)
    second = s.body(
        "second", 2 * m, hinge.offset(0.5 * B.x, "second"), B, da.inertia(B, 0.1, 0.3, 0.35)
    )
    s.potential(c * d**2, "spring")
    s.torque(c * d.dot * A.y, on=B, reaction=A)
    return s, first, second


START = {
    "x": 0.1,
    "y": 1.0,
    "a": 0.3,
    "b": 0.5,
    "d": 0.4,
    "x.dot": 1.0,
    "z.dot": 0.4,
    "a.dot": 2.0,
    "b.dot": 1.0,
    "d.dot": -1.0,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_energies_are_those_of_the_equations(name):
    s = gallery.build(name)
    kin = kinematics(s).fork()
    assert vanishes(da.potential_energy(s) - spatial_fields.potential_energy(kin))
    assert vanishes(da.kinetic_energy(s) - Quantities(kin).rates.T.value)


@pytest.mark.parametrize("name", SYSTEMS)
def test_momentum_is_that_of_the_mass_centre_and_turns_with_it(name):
    s = gallery.build(name)
    M, G, p = sum(b.mass for b in s.bodies), da.mass_centre(s), da.momentum(s)
    assert equal(p, M * G.v, s.N)
    # H_O = H_G + (G − O) × p
    assert equal(da.angular_momentum(s), da.angular_momentum(s, G) + (G - s.O).cross(p), s.N)


@pytest.mark.parametrize("name", SYSTEMS)
def test_parts_add_up(name):
    s = gallery.build(name)
    parts = [
        (da.kinetic_energy(s, of=b), da.momentum(s, of=b.name), da.angular_momentum(s, of=[b]))
        for b in s.bodies
    ]
    T, p, H = (sum(x[1:], x[0]) for x in zip(*parts, strict=True))
    assert vanishes(T - da.kinetic_energy(s))
    assert equal(p, da.momentum(s), s.N)
    assert equal(H, da.angular_momentum(s), s.N)
    weights = [da.potential_energy(s, of=[*s.bodies])] + [
        da.potential_energy(s, of=v.name) for v in s.potentials
    ]
    assert vanishes(sum(weights) - da.potential_energy(s))


def test_koenig():
    s, *bodies = thrown()
    G = da.mass_centre(s)
    relative = [b.G.v - G.v for b in bodies]
    w = [b.frame.w @ (b.inertia @ b.frame.w) for b in bodies]
    about_G = sum(b.mass * (v @ v) + x for b, v, x in zip(bodies, relative, w, strict=True)) / 2
    assert vanishes(da.kinetic_energy(s) - sum(b.mass for b in bodies) * (G.v @ G.v) / 2 - about_G)


def test_only_what_acts_from_outside_changes_momenta():
    s, first, second = thrown()
    run = da.simulate(s, 0.5, start=START)
    G, p = da.mass_centre(s), da.momentum(s)
    M, g = 4.5, 9.81
    rate = np.column_stack([run[x.dot] for x in p.to(s.N)])
    assert np.allclose(rate, [0, -M * g, 0], atol=1e-9)
    # about the mass centre nothing turns it
    H = run[da.angular_momentum(s, G)]
    assert np.allclose(H, H[0], atol=1e-8)
    assert np.linalg.norm(H[0]) > 0.1
    # about a point that moves: Ḣ_P = M_P − v_P × p
    P = second.G
    rates = np.column_stack([run[x.dot] for x in da.angular_momentum(s, P).to(s.N)])
    moment = run[(G - P).cross(-M * g * s.N.y) - P.v.cross(p)]
    assert np.allclose(rates, moment, atol=1e-8)
    assert np.allclose(run[da.kinetic_energy(s)], run.kinetic_energy)
    assert np.allclose(
        run[da.potential_energy(s, of=[first, second])] + run["c*d**2"], run.potential_energy
    )


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("rates", [False, True])
def test_velocities_are_jacobian_times_speeds(name, rates):
    s = gallery.build(name)
    kin = kinematics(s).fork()
    for body in s.bodies:
        for place in (body.G, body.frame) if body.is_rigid else (body.G,):
            J = da.jacobian(s, place, rates=rates)
            motion = kin.motion_in_rates if rates else kin.motion
            v = motion.v(place) if isinstance(place, da.Point) else motion.w(place)
            product = [sum(c * u for c, u in zip(row, J.speeds, strict=True)) for row in J.rows]
            assert vanishes(
                *(a + b - c for a, b, c in zip(product, J.bias.to(s.N), v.to(s.N), strict=True))
            )


def test_a_force_at_a_point_adds_its_transposed_jacobian_to_f():
    s = gallery.build("double-pendulum")
    P = s.bodies[1].G.offset(0.3 * s.bodies[1].frame.x, "P")
    J, at = da.jacobian(s, P), {"alpha": 0.3, "beta": -0.8, "alpha.dot": 1.0}
    before, J_at = da.state_values(s, at).f, da.evaluate(s, J, at=at)
    s.force(2 * s.N.x - 3 * s.N.y, at=P)
    assert np.allclose(da.state_values(s, at).f - before, J_at.T @ [2, -3, 0])


def test_jacobian_of_the_arm_of_two_links():
    """J = [−l₁ s₁ − l₂ s₁₂, −l₂ s₁₂; l₁ c₁ + l₂ c₁₂, l₂ c₁₂], as every book of robotics has it."""
    s = da.System("arm")
    l1, l2 = s.constants(l1=1, l2=0.7)
    a, b = s.coordinates("a b")
    A = s.N.rotated(a, "z")
    elbow = s.O.offset(l1 * A.x)
    hand = elbow.offset(l2 * A.rotated(b, "z").x, "hand")
    s.particle("elbow", 1, elbow)
    s.particle("hand", 1, hand)
    J, c, n = da.jacobian(s, hand), da.cos, da.sin
    book = [
        [-l1 * n(a) - l2 * n(a + b), -l2 * n(a + b)],
        [l1 * c(a) + l2 * c(a + b), l2 * c(a + b)],
    ]
    assert vanishes(*(J[i, r] - book[i][r] for i in range(2) for r in range(2)))
    assert J[2] == (0, 0)
    assert vanishes(J.to(A)[1, 0] - l1 - l2 * c(b))
    assert "hand" in repr(J)


def test_expressions_run_and_compile():
    s, *_ = thrown()
    run = da.simulate(s, 0.3, start=START)
    G, T, J = da.mass_centre(s), da.kinetic_energy(s), da.jacobian(s, da.mass_centre(s))
    assert np.allclose(np.einsum("tij,tj->ti", run[J], run.u), run[G.v])
    several = da.compile(s, [T, G.a, "a.dot.dot"])
    expected = np.column_stack([run[T], run[G.a], run["a.dot.dot"]])
    assert np.allclose(several(run.q, run.u, run.t), expected)
    assert np.allclose(da.compile(s, J)(run.q[2], run.u[2]), run[J][2])
    assert da.compile(s, [0, da.sqrt(2), 0.5])(run.q[2], run.u[2]) == pytest.approx(
        [0, 2**0.5, 0.5]
    )
    assert da.compile(s, T)(run.q[2], run.u[2], m=3.0).shape == ()
    assert "mass centre" in [P.name for P in s.space.points]
    assert da.mass_centre(s) is G


def test_a_mass_centre_is_saved_with_the_model(tmp_path):
    s = gallery.build("double-pendulum")
    s.force(2 * s.N.x, at=da.mass_centre(s))
    s.save(tmp_path / "s.toml")
    again = da.load(tmp_path / "s.toml")
    at = {"alpha": 0.3, "beta": 0.4}
    assert np.allclose(da.state_values(s, at).f, da.state_values(again, at).f)


def test_what_cannot_be_asked():
    s, first, _ = thrown()
    other = da.System("other")
    given = da.System.from_energies(T="m*x.dot**2/2", q="x", constants={"m": 1})
    assert vanishes(da.kinetic_energy(given) - given.expression("m*x.dot**2/2"))
    for wrong, words in (
        (lambda: da.momentum(given), "given by its energies"),
        (lambda: da.kinetic_energy(given, of="x"), "given by its energies"),
        (lambda: da.kinetic_energy(other), "no bodies"),
        (lambda: da.kinetic_energy(s, of="wheel"), "not among first, second"),
        (lambda: da.angular_momentum(s, first), "mass centre is .G"),
        (lambda: da.jacobian(first.G, s), "the system comes first"),
        (lambda: da.jacobian(s, first), "body.G"),
        (lambda: da.momentum("s"), "give a System"),
        (lambda: da.compile(s, first.G), "is a point"),
        (lambda: da.jacobian(s, first.G)[4, 0], "3 rows"),
    ):
        with pytest.raises(da.DalembertError, match=words):
            wrong()
