"""What closed loops cost: the operations of the derivation and of the motion, and the
evaluations that a run takes.
"""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.agreement.agreement_table import count_operations
from dalembert.symbolic.algebra.expression_graph import dependencies
from dalembert.symbolic.algebra.tape import LEAVES

# a derivation of so many operations takes a tenth of a second, an evaluation of so many five
# microseconds
DERIVED = {"whipple-bicycle": 3500, "andrews-squeezer": 1700}
MOVED = {"whipple-bicycle": 4200, "andrews-squeezer": 1900}
EVALUATIONS = {"whipple-bicycle": (40.0, 4000), "andrews-squeezer": (0.03, 2000)}


@pytest.mark.parametrize("name", DERIVED)
def test_the_derivation_stays_small(name):
    assert 0 < count_operations(da.kane(gallery.build(name))) <= DERIVED[name]


@pytest.mark.parametrize("name", MOVED)
def test_an_evaluation_stays_small(name):
    f = da.forward_dynamics(gallery.build(name))
    assert (
        0
        < sum(f.tape.nodes[i][0] not in LEAVES for i in dependencies(f.tape, f.udot))
        <= MOVED[name]
    )


@pytest.mark.parametrize("name", EVALUATIONS)
def test_a_run_takes_few_evaluations(name):
    entry = gallery.entry(name)
    duration, most = EVALUATIONS[name]
    found = da.simulate(
        entry.build(), duration, start=entry.start, rtol=1e-10, atol=1e-10, audit=False
    )
    assert 0 < found.solution.calls <= most
