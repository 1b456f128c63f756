"""A result depends on what is asked, never on what was asked before or at the same time, not in
the last bit.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

# a time-dependent row, closed loop, all rates beside their rows
NAMES = ("moving-knife-edge", "four-bar", "bricard")


def numbers(system, name, **wish):
    """The motion and what rode along, at the end of a short run."""
    e = gallery.entry(name)
    run = da.simulate(
        system, min(e.duration, 0.5), start=e.start, inputs=e.inputs, progress=False, **wish
    )
    return (
        run.q[-1].tolist(),
        run.quadratures[-1].tolist(),
        run.integrals.E_Z.tolist() if wish.get("audit", True) else [],
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_run_does_not_know_what_ran_before(name):
    expected = numbers(gallery.build(name), name)
    system = gallery.build(name)
    numbers(system, name, audit=False)
    da.reactions(system)
    assert expected == numbers(system, name)


@pytest.mark.parametrize("name", NAMES)
def test_threads_share_a_system(name):
    expected = numbers(gallery.build(name), name)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        system = gallery.build(name)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: numbers(system, name), range(4)))
    finally:
        sys.setswitchinterval(before)
    assert [expected] * 4 == found
    assert np.isfinite(expected[0]).all()


@pytest.mark.parametrize(
    "name", ["double-pendulum", "rolling-disk", "chaplygin-sleigh", "four-bar"]
)
def test_bodies_cut_free_again_are_the_same(name):
    """What was searched for once is used again: about other points, by reactions and by a second
    derivation in between.
    """
    system = gallery.build(name)
    first = da.newton_euler(system)
    body = da.kinematics(system).system.bodies[-1]
    other = da.newton_euler(system, about={body: system.O})
    da.reactions(system)
    again = da.newton_euler(system)
    fresh = da.newton_euler(gallery.build(name))
    for d in (again, fresh):
        assert d.native == first.native
        assert d.tape.nodes == first.tape.nodes
        assert [step.items for step in d.steps][1:] == [step.items for step in first.steps][1:]
    assert other.native.printed != first.native.printed
