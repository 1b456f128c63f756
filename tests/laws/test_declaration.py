"""The order of declaration never matters, a derivation never changes, everything but a System
survives as it is.
"""

import hashlib
import os
import pickle
import sys
from pathlib import Path
from subprocess import run

import pytest

import dalembert as da
from comparisons import PRINCIPLES
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint
from laws.cases import NAMES, build


def reversed_declarations(s):
    """The same system with its loads, constraints and bodies declared in the opposite order."""
    for elements in (s.bodies, s.loads, s.potentials, s.dissipations, s.constraints):
        elements.reverse()
    return s


def too_long(text):
    """Whether the normal form was given up for intermediate z's, which are named in the order of
    the computation.
    """
    return "intermediates" in text


@pytest.mark.each_time(24)
@pytest.mark.parametrize("principle", PRINCIPLES)
@pytest.mark.parametrize("name", NAMES)
def test_order_of_loads_constraints_and_bodies_does_not_change_the_result(name, principle):
    first, second = principle(build(name)), principle(reversed_declarations(build(name)))
    point = SamplePoint(first.tape, 9)
    other = SamplePoint(second.tape, 9, prime=point.prime)
    assert point.values(first.equations.residuals) == other.values(second.equations.residuals)
    text = str(first.equations)
    assert too_long(text) or text == str(second.equations)


@pytest.mark.slow
def test_most_equations_are_short_enough_to_be_compared_as_text():
    plane = {"andrews-squeezer", "dumbbell", "four-bar", "moving-knife-edge", "n-four-bar"}
    spatial = {"bricard", "flyball-governor", "rattleback", "whipple-bicycle"}
    assert plane | spatial >= {
        name for name in NAMES if too_long(str(da.kane(build(name)).equations))
    }


def cart(order):
    """The cart and bar with its declarations in any order that names things before they are
    used.
    """
    s = da.System("Cart and bar")
    x, theta = s.coordinates("x theta")
    M, m, a, k, g = s.constants(M=2, m=1, a=0.5, k=10, g=9.81)
    F = s.input("F")
    C = s.O.offset(x * s.N.x)
    B = s.N.rotated(theta, s.N.z)
    declarations = {
        "cart": lambda: s.particle("cart", M, C),
        "bar": lambda: s.body("bar", m, C.offset(-a * B.y), B, da.rod_inertia(B.y, m, 2 * a)),
        "spring": lambda: s.potential(k * x**2 / 2),
        "gravity": lambda: s.gravity(-g * s.N.y),
        "force": lambda: s.force(F * s.N.x, at=C.offset(-2 * a * B.y)),
        "damping": lambda: s.dissipation(k * theta.dot**2 / 2),
        "speeds": lambda: s.speeds(u1=x.dot, u2=theta.dot + x.dot),
    }
    for name in order:
        declarations[name]()
    return s


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_order_of_every_declaration_does_not_change_the_text(principle):
    order = ["cart", "bar", "spring", "gravity", "force", "damping", "speeds"]
    first = str(principle(cart(order)).equations)
    for k in range(1, len(order)):
        assert first == str(principle(cart(order[k:] + order[:k])).equations)
    assert first == str(principle(cart(order[::-1])).equations)


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_a_derivation_does_not_change_when_the_system_grows(principle):
    s = build("simple-pendulum")
    kin = da.kinematics(s)
    d = principle(kin)
    before = str(d.equations)
    s.particle("late", s.constant("m_late", 3), s.bodies[0].G)
    assert before == str(d.equations) == str(principle(kin).equations)
    assert before != str(principle(s).equations)


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_a_derivation_does_not_depend_on_what_ran_before(principle):
    s, other = build("rolling-disk"), build("rolling-disk")
    for p in PRINCIPLES:
        p(s).equations  # noqa: B018 - asked for its side effects, of which there must be none
    s.expression("m*g*r*phi*theta")
    assert principle(other).tape.nodes == principle(s).tape.nodes


@pytest.mark.each_time(12)
@pytest.mark.parametrize("name", NAMES)
def test_a_system_survives_pickling(name):
    s = build(name)
    back = pickle.loads(pickle.dumps(s))
    assert str(da.kane(s).equations) == str(da.kane(back).equations)
    assert da.kane(s).tape.nodes == da.kane(back).tape.nodes
    # and can still grow
    back.constant("a_new_constant", 1)


@pytest.mark.each_time(24)
@pytest.mark.parametrize("principle", PRINCIPLES)
@pytest.mark.parametrize("name", NAMES)
def test_derivation_and_equations_survive_pickling(name, principle):
    d = principle(build(name))
    back, equations = pickle.loads(pickle.dumps((d, d.equations)))
    assert d.principle == back.principle
    assert d.native == back.native
    # the text is made of these alone
    assert d.equations.residuals == back.equations.residuals == equations.residuals
    assert d.tape.nodes == back.tape.nodes == equations.tape.nodes
    assert [str(step.title) for step in d.steps] == [str(step.title) for step in back.steps]


def digest():
    """A fingerprint of every derivation: the nodes of its tape, and for each system the text of
    its equations.
    """
    total = hashlib.sha256()
    for name in NAMES:
        for principle in PRINCIPLES:
            d = principle(build(name))
            total.update(repr(d.equations.residuals).encode())
            total.update(repr(d.tape.nodes).encode())
        total.update(str(d.equations).encode())
        total.update(d.equations.latex().encode())
    return total.hexdigest()


@pytest.mark.slow
def test_the_same_bytes_with_every_hash_seed():
    code = "from laws.test_declaration import digest; print(digest())"
    # other tests may have put folders in front that have a module `laws` too
    path = os.pathsep.join([str(Path(__file__).parents[1]), *(p for p in sys.path if p)])
    seeds = ("1", "20240229")
    outputs = [
        run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    ]
    assert outputs[0] == outputs[1]
    assert 64 == len(outputs[0].strip())
