"""The route native code takes, on systems that random search found it wrong for."""

import pytest

import dalembert as da
from agreement.floats import compiled_route_agrees
from dalembert.mechanics.kinetics.free_bodies import loads_by_group
from dalembert.mechanics.kinetics.rigid_groups import RigidGroups


def ball_and_slider(**definitions):
    """A body on a quaternion ball joint and a particle that slides beside it."""
    s = da.System("ball and slider")
    B = s.ball("e_0 e_1 e_2 e_3", s.O).frame
    x = s.coordinate("x")
    s.body("body", 2, s.O.offset(B.x + B.y), B, da.inertia(B, 7, 8, 9))
    s.particle("particle", 3, s.O.offset(x * s.N.x))
    s.gravity(-9.81 * s.N.z)
    u = s.speeds("u_1 u_2 u_3", B.w, B)
    for name, definition in definitions.items():
        s.speed(name, definition(x, u, B))
    return s


@pytest.mark.parametrize(
    "definition",
    [
        lambda x, u, B: x.dot + u[0],
        lambda x, u, B: x.dot + 2 * (B.w @ B.y),
        lambda x, u, B: (2 + da.cos(x)) * x.dot + x * u[2],
    ],
    ids=["u_4 = ẋ + u_1", "u_4 = ẋ + 2 ω·b_2", "u_4 = (2 + cos x) ẋ + x u_3"],
)
def test_a_speed_that_contains_the_spin_of_a_quaternion(definition):
    s = ball_and_slider(u_4=definition)
    assert "link by link" == da.forward_dynamics(s).route
    assert compiled_route_agrees(s)


def test_three_slides_in_the_frame_of_a_quaternion():
    s = da.System("carriage in a ball joint")
    P = s.ball("e_0 e_1 e_2 e_3", s.O)
    B = P.frame
    x, y, z = s.coordinates("x y z")
    (k,) = s.constants("k")
    G = P.offset(x * B.x + y * B.y + z * B.z, "G")
    s.body("carriage", 2, G, B, da.inertia(B, 7, 8, 9))
    s.particle("mass", 3, P.offset(B.x + 2 * B.y, "A", B))
    s.spring(k, G, P.offset(B.x, "C", B))
    s.force(k * s.N.x, at=G)
    assert "link by link" == da.forward_dynamics(s).route
    assert compiled_route_agrees(s)


def test_a_mass_fixed_to_another_body_carries_its_own_weight():
    s = da.System("nut on a bar")
    q = s.coordinate("q")
    m, M, I, g = s.constants("m M I g")
    B = s.N.rotated(q, s.N.z)
    s.body("bar", M, s.O.offset(B.x), B, da.inertia(B, 0, 0, I))
    s.particle("nut", m, s.O.offset(2 * B.x))
    s.gravity(-g * s.N.y)
    bar, nut = loads_by_group(RigidGroups(da.kinematics(s).fork()))
    assert ("weight of bar", "weight of nut") == (bar.name, nut.name)
    assert ["0", "−M g", "0"] == [str(c) for c in bar.vector.to(s.N)]
    assert ["0", "−m g", "0"] == [str(c) for c in nut.vector.to(s.N)]
    assert (s.bodies[0].G, s.bodies[1].G) == (bar.at, nut.at)


def hand():
    """Two shared coordinates, one along a finger and across to the other, one that skips a joint
    between its links.
    """
    s = da.System("hand")
    a, b, c, d = s.coordinates("a b c d")
    g = s.constant("g", 9)
    N = s.N

    def link(name, P, B, m):
        s.body(
            name,
            m,
            P.offset(B.x / 3 + B.y / 5, None, B),
            B,
            da.inertia(B, m, 2 * m, m + 1, 0, m / 7),
        )
        return P.offset(B.x, None, B)

    palm = N.rotated(a, N.y)
    wrist = link("palm", s.O, palm, 5)
    first = palm.rotated(b, palm.z)
    knuckle = link("first", wrist, first, 2)
    second = first.rotated(2 * b + c, first.x)
    tip = link("second", knuckle, second, 1)
    third = second.rotated(d, second.y)
    link("third", tip, third, 3)
    other = palm.rotated(1 - 3 * c, palm.x)
    joint = link("other", wrist, other, 2)
    bent = other.rotated(-b, other.z)
    link("bent", joint.offset(c * other.y, None, bent), bent, 4)
    s.body("wheel", 1, s.O, N.rotated(b, N.z), da.inertia(N.rotated(b, N.z), 0, 0, 6))
    s.gravity(-g * N.z)
    s.torque(2 * first.z, first, reaction=palm)
    return s


def test_coordinates_that_move_several_links():
    s = hand()
    assert "link by link" == da.forward_dynamics(s).route == da.inverse_dynamics(s).route
    assert compiled_route_agrees(s)
    q, u, udot = [0.3, -0.4, 0.5, 0.7], [1.0, -2.0, 0.5, 0.3], [0.2, 0.4, -1.0, 2.0]
    state = da.state_values(
        s,
        dict(zip("abcd", q, strict=True)) | {f"{n}.dot": x for n, x in zip("abcd", u, strict=True)},
    )
    by_kane = da.compile(da.kane(s))(q, u)
    assert by_kane == pytest.approx(da.compile(s)(q, u), rel=1e-12)
    assert state.M @ udot - state.f == pytest.approx(da.inverse_dynamics(s)(q, u, udot), rel=1e-12)
    assert by_kane == pytest.approx(state.udot, rel=1e-10)
