"""Derivations of chains take work proportional to the joints, by the number of calls of functions:
no clock is read.
"""

import sys

import pytest

import dalembert as da
from dalembert.gallery import spatial_chain
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.symbolic.algebra.expression_graph import dependencies_in


def ring(n):
    """Rods in a closed loop, with absolute angles."""
    s = da.System("Ring", gravity=9.81)
    tip = s.O
    for k in range(n):
        F = s.N.rotated(s.coordinate(f"q_{k}"), s.N.z, f"F{k}")
        s.body(f"rod {k}", 1, tip.offset(F.x / 2, frame=F), F, da.rod_inertia(F.x, 1, 1))
        tip = tip.offset(F.x, f"tip {k}", F)
    s.coincide(tip, s.O, "closure")
    return s


def visit_each_time(s):
    """Kane's equations, and all nodes visited again for every equation."""
    d = da.kane(s).equations
    for _ in d.residuals:
        dependencies_in(d.tape.nodes, d.residuals)


WORK = {
    "description of a chain": (spatial_chain.build, lambda s: None),
    "Kane": (spatial_chain.build, da.kane),
    "equations of a run, chain": (spatial_chain.build, lambda s: select_equations(s, "native")),
    "equations of a run, ring": (ring, lambda s: select_equations(s, "native")),
}


def calls(build, work, n):
    """How many functions are called, those written in C too."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work(build(n))
    finally:
        sys.setprofile(before)
    return count


def growth(build, work, step=8):
    """How much more further joints take than as many before them."""
    work(build(3))
    first, second, third = (calls(build, work, step * k) for k in (1, 2, 3))
    return (third - second) / (second - first)


@pytest.mark.parametrize("name", WORK)
def test_work_grows_with_the_number_of_joints(name):
    assert 0.9 <= growth(*WORK[name]) <= 1.1


def test_a_visit_of_all_nodes_for_every_joint_is_noticed():
    assert growth(spatial_chain.build, visit_each_time, step=4) >= 1.2
