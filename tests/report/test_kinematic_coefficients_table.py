"""Kinematic coefficients from r, v and a in one table."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report.kinematic_coefficients import coefficients, equality_verdicts


@pytest.mark.parametrize("name", ["vehicle", "cart-and-bar", "hoist", "rolling-disk"])
def test_the_three_are_equal(name):
    # Bar00 (4)
    kin = da.kinematics(gallery.build(name)).fork()
    listed = list(coefficients(kin))
    assert len(listed) >= len(kin.system.bodies) - 1
    assert all(equality_verdicts(kin, [three for _, _, three in listed]))


def test_a_turned_sign_in_any_of_the_three_is_found():
    kin = da.kinematics(gallery.build("vehicle")).fork()
    for _, _, three in coefficients(kin):
        for i, part in enumerate(three):
            wrong = (*three[:i], -part, *three[i + 1 :])
            assert [False, True] == equality_verdicts(kin, [wrong, three])
