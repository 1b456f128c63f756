"""Old names of results and options go on working in this release, with a warning."""

import inspect
import re
import warnings

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.foundation.renamed_names import ATTRIBUTES, OPTIONS


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_every_new_name_is_there_and_no_old_one(kind):
    cls = getattr(da, kind)
    source = "".join(
        inspect.getsource(c) for c in cls.__mro__ if c.__module__.startswith("dalembert")
    )
    for old, new in ATTRIBUTES[kind].items():
        assert hasattr(cls, new) or re.search(rf"\b(self\.)?{new}\b\s*[:=,]", source), new
        assert not hasattr(cls, old), old


def test_old_names_are_the_same_objects():
    s = gallery.build("simple-pendulum")
    run = da.simulate(s, 0.1, start={"phi": 1.0})
    with pytest.warns(DeprecationWarning, match=r"Trajectory.seconds is now .*wall_time"):
        assert run.wall_time == run.seconds
    with pytest.warns(DeprecationWarning, match="trivial_constraints"):
        assert s.trivial_constraints is s.dropped
    with pytest.warns(DeprecationWarning, match="relative_loss"):
        assert run.integrals.relative_loss == run.integrals.lost
    with pytest.warns(DeprecationWarning, match="partial_velocities") as caught:
        assert da.kinematics(s).partials is not None
    assert __file__ == caught[0].filename


def test_an_old_option_is_passed_on():
    assert {"fit": {"most": "max_evaluations"}} == OPTIONS
    s = gallery.build("simple-pendulum")
    data = {"t": [0, 0.2, 0.4], "phi": [1, 0.8, 0.4]}
    with pytest.warns(DeprecationWarning, match="max_evaluations"):
        old = da.fit(s, data, ["g"], start={"phi": 1.0}, most=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = da.fit(s, data, ["g"], start={"phi": 1.0}, max_evaluations=50)
    assert list(new.theta) == list(old.theta)
