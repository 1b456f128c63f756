"""Values of a run: an input that was read before is the same expression, on the same nodes."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.runtime.states.run_values import run_values


@pytest.mark.parametrize("text", ["2*sin(10*t)", "3/7*t - 0.25*theta + 2.5", "theta' - 0.3*x", "4"])
def test_a_text_read_again_gives_the_same_nodes(text):
    again, fresh = (kinematics(gallery.build("cart-and-bar")) for _ in range(2))
    run_values(again, {}, {"F": text})
    read, first = run_values(again, {}, {"F": text}), run_values(fresh, {}, {"F": text})
    assert first.bindings == read.bindings
    assert first.kin.tape.nodes == read.kin.tape.nodes
    assert first.numbers == read.numbers


def test_a_fork_copies_its_tape_when_it_is_asked_for():
    kin = kinematics(gallery.build("cart-and-bar"))
    fork = kin.fork()
    kin.tape.symbol("grown")
    assert len(fork.tape) == kin.base_tape_length
    assert fork.tape is fork.tape is not kin.tape


def test_a_run_by_a_text_is_the_run_by_the_expression_to_the_last_bit():
    s = gallery.build("cart-and-bar")
    by_text = [
        da.simulate(s, 0.5, start={"theta": 0.5}, inputs={"F": "2*sin(10*t)"}).y for _ in range(2)
    ]
    by_expression = da.simulate(s, 0.5, start={"theta": 0.5}, inputs={"F": 2 * da.sin(10 * s.t)}).y
    assert np.array_equal(by_text[0], by_text[1])
    assert np.array_equal(by_text[0], by_expression)


def test_a_mass_without_a_value_is_refused():
    s = da.System("Quotient")
    a, b = s.constants(a=1, b=2)
    x = s.coordinate("x")
    s.particle("p", b / a, s.O.offset(x * s.N.x))
    with pytest.raises(
        da.BadValue,
        match=r"a = 0, b = 2: b/a, in a mass or a moment of inertia, has no value: .*division by "
        r"zero",
    ):
        da.simulate(s, 1, values={"a": 0})
