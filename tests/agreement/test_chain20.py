"""A spatial chain of 20 joints with the bodies' own rates as speeds, u_i = ω_i · axis_i ≠ q̇_i:
every principle derives it and agrees.
"""

import time

import pytest

import dalembert as da
from dalembert.gallery import spatial_chain
from dalembert.mechanics.agreement.agreement_table import certify_equal
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES

JOINTS = 20


@pytest.fixture(scope="module")
def kin():
    s = spatial_chain.build(JOINTS)
    for i, body in enumerate(s.bodies):
        B = body.frame
        s.speed(f"u_{i + 1}", B.w @ (B.x, B.y, B.z)[i % 3])
    return da.kinematics(s)


@pytest.fixture(scope="module")
def reference(kin):
    return da.kane(kin).equations


def test_the_speeds_are_not_the_rates(kin):
    # from the third joint on, a body's rate about its axis contains what the joints before it turn
    assert all(len(W) > 1 for _, W in kin.WX[2:])


@pytest.mark.each_time(4)
@pytest.mark.parametrize(("principle", "derive"), PRINCIPLES, ids=[p.name for p, _ in PRINCIPLES])
def test_every_principle_derives_it_and_agrees(principle, derive, kin, reference):
    start = time.process_time()
    d = derive(kin)
    seconds = time.process_time() - start
    # the effort, to be read
    print(f"\n{principle.title}, {JOINTS} joints: {seconds:.3f} s CPU")  # noqa: T201
    assert certify_equal(reference, d.equations).holds
