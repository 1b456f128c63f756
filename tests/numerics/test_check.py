"""The compiled route against Kane's equations, wherever it may go wrong."""

from importlib import import_module

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.runtime.numerics.forward_dynamics import TOLERANCE, check_compiled

# the function of the same name hides the module
recursive = import_module("dalembert.mechanics.equations.articulated_body")


def check(s):
    return check_compiled(da.compile(s), da.kane(s).equations)


@pytest.mark.each_time(16)
@pytest.mark.parametrize("name", gallery.names())
def test_the_compiled_route_agrees_for_every_system_of_the_gallery(name):
    found = check(gallery.build(name))
    assert found.agrees, str(found)
    assert 20 == found.states


def test_the_agreement_holds_it_against_the_principles():
    found = da.agreement(gallery.build("rolling-disk"))
    assert found.agree
    assert "M = L D Lᵀ" == found.compiled.route
    assert str(found).endswith(str(found.compiled))
    assert da.agreement(gallery.build("rolling-disk"), compiled=False).compiled is None


def ball_joint():
    """A body on a quaternion ball joint with every kind of load."""
    s = da.System("Pendulum on a ball joint", gravity=9.81)
    k, c, a = s.constants(k=20, c=0.3, a=0.4)
    F, M = s.inputs("F M")
    hand = s.ball("e_0 e_1 e_2 e_3", s.O)
    B = hand.frame
    G, tip = hand.offset(-a * B.y + 0.1 * B.x), hand.offset(-2 * a * B.y)
    s.body("body", 2, G, B, da.inertia(B, 0.3, 0.2, 0.25, xy=0.05, xz=0.02))
    anchor = s.O.offset(s.N.x)
    s.spring(k, tip, anchor, rest=0.5)
    s.damper(c, tip, anchor)
    s.force(F * B.z, at=tip)
    s.torque(M * B.x, on=B)
    s.potential(3 * ((G - s.O) @ s.N.z) ** 2)
    return s


def chain():
    """Two more joints behind the ball: a hinge and a slider, so that loads pass through them."""
    s = ball_joint()
    elbow = s.pin("beta", s.bodies[0].G, axis=s.bodies[0].frame.z)
    arm = s.rod("arm", elbow, 1, 0.7)
    bead = s.slide("x", arm.tip)
    s.particle("bead", 0.5, bead)
    s.spring(5, bead, s.O)
    return s


@pytest.mark.parametrize("build", [ball_joint, chain])
def test_a_ball_joint_with_every_kind_of_load(build):
    found = check(build())
    assert "link by link" == found.route
    assert found.max_residual <= 1e-10


def test_a_ball_joint_with_the_components_of_its_spin():
    s = ball_joint()
    B = s.bodies[0].frame
    s.speeds("w_1 w_2 w_3", B.w, B)
    found = check(s)
    assert "link by link" == found.route
    assert found.max_residual <= 1e-10


def no_coriolis(sweep, link):
    """Forgets 2 ω×ṙ and everything else that is there at q̈ = 0."""
    HONEST_VELOCITY(sweep, link)
    if link in sweep.bias:
        sweep.bias[link] = (sweep.tree.zero, sweep.tree.zero)


HONEST_VELOCITY = recursive.ArticulatedBodyAlgorithm._propagate_velocity
MISTAKES = {
    "_propagate_velocity": no_coriolis,
    # every load taken as 1
    "_spherical_joint_load": lambda sweep, link: [
        sweep.load.update({s: sweep.t.const(1)}) for s, _, _ in link.joint_axes
    ],
    # as if nothing turned
    "_inherited_acceleration": lambda sweep, link: sweep.accelerations[link.parent],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_recursion_is_caught(monkeypatch, mistake):
    monkeypatch.setattr(recursive.ArticulatedBodyAlgorithm, mistake, MISTAKES[mistake])
    found = check(chain())
    assert not found.agrees
    assert found.max_residual > 1e3 * TOLERANCE


def test_a_mistake_in_the_recursion_spoils_the_agreement(monkeypatch):
    monkeypatch.setattr(recursive.ArticulatedBodyAlgorithm, "_propagate_velocity", no_coriolis)
    found = da.agreement(gallery.build("double-pendulum"))
    assert not found.agree
    assert "DIFFERS" in str(found)
    # the principles themselves are not touched by it
    assert all(row.agrees for row in found.rows)


def test_a_mistake_after_the_recursion_is_caught(monkeypatch):
    s = gallery.build("double-pendulum")
    f = da.compile(s)
    monkeypatch.setattr(f, "evaluate_each", lambda X, P: 1.0001 * type(f).evaluate_each(f, X, P))
    found = check_compiled(f, da.kane(s).equations)
    assert not found.agrees
    assert "native code, link by link: DIFFERS, relative residual" in str(found)


def test_numbers_that_are_none_do_not_pass(monkeypatch):
    s = gallery.build("double-pendulum")
    f = da.compile(s)
    monkeypatch.setattr(f, "evaluate_each", lambda X, P: np.nan * type(f).evaluate_each(f, X, P))
    assert not check_compiled(f, da.kane(s).equations).agrees


def spherical(length):
    """A pendulum in x and y below its pivot: z = −√(l² − x² − y²) is real in a part of all
    states only.
    """
    s = da.System("Pendulum in x and y")
    x, y = s.coordinates("x y")
    s.particle(
        "bob", 1, s.O.offset(x * s.N.x + y * s.N.y - da.sqrt(length**2 - x**2 - y**2) * s.N.z)
    )
    return s


def test_states_without_values_are_not_counted_as_a_difference():
    found = check(spherical(1))
    assert found.agrees
    assert 20 == found.states


def test_without_any_state_nothing_is_claimed():
    found = check(spherical(0.001))
    assert 0 == found.states
    assert "not compared" in str(found)


# ---- exact values --------------------------------------------------------------------------------


def cancelling(size, factor):
    """F = −((size c + x) − size c), which is −x."""
    s = da.System("cancelling")
    (x,) = s.coordinates("x")
    c = s.constant("c", 1.3) if factor else 1
    P = s.O.offset(x * s.N.x)
    s.particle("P", 1, P)
    s.force(-((size * c + x) - size * c) * s.N.x, P)
    return s


def test_constants_are_gathered_before_anything_is_compiled():
    s = cancelling(1e17, factor=False)
    assert check(s).digits_lost < 1
    run = da.simulate(s, 1.0, start={"x": 1.0})
    assert run["x"][-1] == pytest.approx(np.cos(1.0), abs=1e-6)


def test_digits_that_cancel_are_seen():
    # floats of the same tape give the same wrong numbers, and a residual of zero
    found = check(cancelling(1e17, factor=True))
    assert not found.agrees
    assert found.digits_lost > 15
    assert "DIFFERS" in str(found)
    assert not da.agreement(cancelling(1e17, factor=True)).agree


def test_more_than_six_digits_are_worth_a_warning():
    with pytest.warns(da.DalembertWarning, match="loses 7 of 16 digits"):
        found = check(cancelling(1e7, factor=True))
    assert found.agrees
    assert 6 < found.digits_lost < 8
    assert "of 16 digits lost" in str(found)
    assert check(cancelling(100.0, factor=True)).digits_lost < 4
