"""Each likely modelling error is warned about once; correct models and the gallery are not."""

from __future__ import annotations

import warnings

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.model.likely_errors import CHECKS


def pendulum_on_pendulum():
    s = da.System("Arm", gravity=9.81)
    upper = s.rod("upper", s.pin("a", s.O), mass=1, length=1)
    return s, upper, s.rod("lower", s.pin("b", upper.tip), mass=1, length=1)


def weight_as_potential():
    s = da.System("Mass", gravity=9.81)
    y, m = s.coordinate("y"), s.constant("m", 2)
    s.particle("bob", m, s.O.offset(y * s.N.y))
    s.potential(m * 9.81 * y)
    return s


def weight_as_force():
    s = da.System("Mass", gravity=9.81)
    P = s.O.offset(s.coordinate("y") * s.N.y)
    s.particle("bob", 2, P)
    s.force(-2 * 9.81 * s.N.y, at=P)
    return s


def motor_without_reaction():
    s, _, lower = pendulum_on_pendulum()
    s.torque(s.input("T") * s.N.z, on=lower)
    return s


def spring_without_reaction():
    s, _, lower = pendulum_on_pendulum()
    s.torque(-3 * s["b"] * s.N.z, on=lower)
    return s


def wheel(position):
    s = da.System("Wheel", gravity=9.81)
    x, theta = s.coordinates("x theta") if position is None else (None, s.coordinate("theta"))
    B = s.N.rotated(theta, s.N.z)
    G = s.O.offset((x if position is None else position * theta) * s.N.x)
    return s, s.disk("wheel", G, B, mass=1, radius=0.5, axis=B.z), x, theta


def rolling_about_the_centre():
    s, disk, _, _ = wheel(None)
    s.roll(disk, disk.G, along="x")
    return s


def rolling_with_the_wrong_sign():
    return wheel(0.5)[0]


def constrained_with_the_wrong_sign():
    s, _, x, theta = wheel(None)
    s.constrain(x.dot - theta.dot / 2)
    return s


def position_with_the_wrong_sign():
    s, _, x, theta = wheel(None)
    s.constrain(x - theta / 2)
    return s


def frame_of_the_neighbour():
    s = da.System("Arm", gravity=9.81)
    a, b = s.coordinates("a b")
    A = s.N.rotated(a, s.N.z, "A")
    B = A.rotated(b, A.z, "B")
    s.body("upper", 1, s.O.offset(-0.5 * A.y), A, da.rod_inertia(A.y, 1, 1))
    s.body("lower", 1, s.O.offset(-1 * A.y).offset(-0.5 * B.y), A, da.rod_inertia(A.y, 1, 1))
    return s


ERRORS = [
    (weight_as_potential, "double weight", "weight of 'bob'"),
    (weight_as_force, "double weight", "weight of 'bob'"),
    (motor_without_reaction, "torque without reaction", "reaction=upper"),
    (spring_without_reaction, "torque without reaction", "reaction=upper"),
    (rolling_about_the_centre, "rolling about the centre", "centre of 'wheel'"),
    (rolling_with_the_wrong_sign, "rolling with the wrong sign", "highest point is at rest"),
    (constrained_with_the_wrong_sign, "rolling with the wrong sign", "highest point is at rest"),
    (position_with_the_wrong_sign, "rolling with the wrong sign", "highest point is at rest"),
    (frame_of_the_neighbour, "frame of another body", "give B as its frame"),
]


@pytest.mark.parametrize(
    ("build", "name", "words"), ERRORS, ids=lambda x: getattr(x, "__name__", "")
)
def test_a_likely_error_is_warned_about_once_and_can_be_accepted(build, name, words):
    s = build()
    with pytest.warns(da.DalembertWarning) as caught:
        da.kinematics(s)
    (message,) = [str(w.message) for w in caught]
    assert words in message
    assert f"s.accept('{name}')" in message
    again = build()
    again.accept(name)
    da.kinematics(again)


def test_correct_models_are_not_warned_about():
    s, upper, lower = pendulum_on_pendulum()
    s.torque(s.input("T") * s.N.z, on=lower, reaction=upper)
    s.torque(s.input("S") * s.N.z, on=upper)
    da.kinematics(s)
    s, _, x, theta = wheel(None)
    s.constrain(x.dot + theta.dot / 2)
    da.kinematics(s)
    da.kinematics(wheel(-0.5)[0])
    s = da.System("Lifted", gravity=9.81)
    P = s.O.offset(s.coordinate("y") * s.N.y)
    s.particle("bob", 2, P)
    s.force(2 * 9.81 * s.N.y, at=P)
    da.kinematics(s)


def test_the_gallery_gives_no_false_alarm():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in gallery.names():
            da.kinematics(gallery.build(name))


def test_an_unknown_check_is_refused_with_the_list():
    s = da.System("Empty")
    with pytest.raises(da.BadDescription, match="they are double weight, torque without reaction"):
        s.accept("torque")
    assert {name for _, name, _ in ERRORS} == set(CHECKS)


def test_potentials_of_other_coordinates_cost_no_derivatives(monkeypatch):
    from dalembert.mechanics.model import likely_errors

    s, calls = da.System("Chain", gravity=9.81), []
    tip = s.O
    for k in range(12):
        tip = s.rod(f"link {k}", s.pin(f"q{k}", tip), mass=1, length=1).tip
        s.potential(s[f"q{k}"] ** 2)
    true = likely_errors.gradient

    def counted(*given):
        calls.append(given)
        return true(*given)

    monkeypatch.setattr(likely_errors, "gradient", counted)
    assert [] == list(likely_errors.double_weight(s))
    # q0 alone moves the first link
    assert len(calls) <= 12
