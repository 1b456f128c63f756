"""Errors and warnings in the user's terms."""

import warnings

import dalembert as da
from dalembert.errors import warn


def test_a_warning_points_at_the_users_own_line():
    s = da.System("One end too light")
    B = s.N.rotations("xyz", *s.coordinates("a b c"))[-1]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        s.body("impossible", 1, s.O, B, da.inertia(B, 2, 2, 1, xy=1.9))
        warn("from outside")
    assert [__file__, __file__] == [w.filename for w in heard]
    assert all(w.category is da.DalembertWarning for w in heard)
