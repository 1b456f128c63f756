"""Every result shows itself at the prompt: a few readable lines, never an address or a node
number.
"""

import dataclasses
import re

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.foundation.display import MAX_LINES, Displayable, shorten


@pytest.fixture(scope="module")
def results():
    s = gallery.build("cart-and-bar")
    d = da.kane(s)
    run = da.simulate(s, 0.1, start={"theta": 0.5}, inputs={"F": 0})
    linear = da.linearize(s)
    carrier = da.System("carrier", gravity=9.81)
    return {
        "derivation": d, "equations": d.equations, "principle": d.principle, "step": d.steps[0],
        "kinematics": d.kinematics,
        "agreement": da.agreement(s), "comparison": da.comparison(s),
        "integrals": da.energy_integrals(s), "run": run,
        "run reactions": run.reactions, "joint load": run.reactions.joints["theta"],
        "reactions": da.reactions(s), "native": da.compile(s),
        "equilibrium": da.equilibrium(s, inputs={"F": 0}), "statics": da.virtual_work(s),
        "linear": linear, "modes": linear.modes,
        "constraints": da.constraints(s), "system": s, "body": s.bodies[1], "bodies": s.bodies,
        "inertia": s.bodies[1].inertia,
        "vector": s.bodies[0].G.v, "inverse": da.inverse_dynamics(s), "regressor": da.regressor(s),
        "sympy": d.sympy(),
        "attachment": carrier.attach(s, at=carrier.O),
        "jacobian": da.jacobian(s, s.bodies[1].G), "momentum": da.momentum(s),
        "native expressions": da.compile(s, da.kinetic_energy(s)),
        "ensemble": da.ensemble(s, 0.1, over={"theta": [0.1, 0.2], "F": [0.0]}),
    }  # fmt: skip


def test_results_show_themselves_in_a_few_lines(results):
    for name, result in results.items():
        text = repr(result)
        assert not re.search(r" at 0x|tape=|nodes=|<dalembert", text), (name, text)
        assert text.count("\n") <= MAX_LINES, (name, text)


def test_every_public_result_class_has_a_text_of_its_own():
    for name in dir(da):
        thing = getattr(da, name)
        if isinstance(thing, type) and not issubclass(thing, BaseException):
            made_by_dataclass = dataclasses.is_dataclass(thing) and hasattr(
                thing.__repr__, "__wrapped__"
            )
            assert thing.__repr__ is not object.__repr__, name
            assert not made_by_dataclass, name


def test_a_long_text_is_cut_with_a_word():
    text = shorten("\n".join(map(str, range(40))))
    assert text.splitlines()[-1] == f"… {40 - MAX_LINES} more lines: print it to see all"
    assert shorten("x" * 1000).endswith("… cut to fit: print it to see all")


def test_fields_are_listed_where_a_class_writes_no_text():
    @dataclasses.dataclass(frozen=True)
    class RowOfNumbers(Displayable):
        name: str
        values: np.ndarray
        nothing: None = None

    assert (
        repr(RowOfNumbers("x", np.array([1.0, 2.0])))
        == "Row of numbers\n  name     x\n  values   [1.0, 2.0]"
    )


def test_vectors_dyadics_and_jacobians_are_typeset_in_notebooks(results):
    for name in ("vector", "momentum", "inertia", "jacobian"):
        assert "<math" in results[name]._repr_html_(), name
        assert "\\" in results[name]._repr_latex_(), name


def test_every_public_result_is_typeset_in_a_notebook():
    # what a description is made of has a name, numbers their digits, a cause its title, and an
    # event that happened its line
    plain = {"Cause", "ExactNumber", "PiNumber", "Frame", "Point", "Member", "Occurrence"}
    ways = ("_repr_html_", "_repr_latex_", "_repr_markdown_", "_repr_svg_")
    classes = {
        n: x
        for n in dir(da)
        if isinstance(x := getattr(da, n), type) and not issubclass(x, BaseException)
    }
    assert plain == {n for n, x in classes.items() if not any(hasattr(x, way) for way in ways)}


def test_reactions_and_members_are_shown_in_a_notebook(results):
    assert "force in theta" in results["run reactions"]._repr_html_()
    assert "no constraint rows" in results["constraints"]._repr_markdown_()
    s = da.System("beam")
    s.beam("beam", s.O, s.N.x, s.N.y, 1, 1, 1, left="clamped", right="free")
    assert "3.516" in da.member_modes(s, count=2)._repr_html_()
