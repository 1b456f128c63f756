import math

import pytest

import dalembert as da


def sleigh():
    s = da.System("Sleigh")
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(phi, s.N.z)
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("sleigh", 1, P, B, da.inertia(B, 1, 1, 1))
    s.constrain(P.v @ B.y)
    s.speeds(u=P.v @ B.x, omega=phi.dot)
    return s


def test_two_equations_that_turn_with_the_frame_need_no_division():
    kin = da.kinematics(sleigh())
    x, y, phi = (str(da.Scalar(kin.tape, i)) for i in kin.qdot_of_u)
    assert ("u cos φ", "u sin φ", "ω") == (x, y, phi)


@pytest.mark.parametrize("heading", [0, math.pi / 2, math.pi, 3 * math.pi / 2])
def test_no_heading_is_singular(heading):
    run = da.simulate(sleigh(), 1, start={"phi": heading, "u": 1})
    assert math.cos(heading) == pytest.approx(run["x"][-1])
    assert math.sin(heading) == pytest.approx(run["y"][-1])


def test_a_ball_rolls_from_the_zero_rotation_of_a_quaternion():
    s = da.System("Ball")
    x, y = s.coordinates("x y")
    B = s.N.quaternion(*s.coordinates("e_0 e_1 e_2 e_3"))
    C = s.O.offset(x * s.N.x + y * s.N.y)
    s.roll(s.sphere("ball", C.offset(0.1 * s.N.z), B, 1, 0.1), C)
    s.speeds(u1=x.dot, u2=y.dot, u3=B.w @ s.N.z)
    run = da.simulate(s, 1, start={"u1": 0.5})
    assert 5.0 == pytest.approx(run[B.w @ s.N.y][-1])


def test_equations_that_are_singular_somewhere_stay_so():
    # x and y from r and θ: at the origin the angle's rate is not determined
    s = da.System("Polar speeds")
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.speeds(u=x * x.dot + y * y.dot, h=x * y.dot - y * x.dot)
    assert da.simulate(s, 1, start={x: 0, y: 1, "h": 1}).energy_drift < 1e-8
    with pytest.raises(da.DalembertError, match="division by zero"):
        da.simulate(s, 1, start={x: 0, y: 0})
