"""A failure is its data: every cause has a text, copies keep all of it, and the old public name
is the same class.
"""

import pickle

import pytest

import dalembert as da
from dalembert.runtime.ode.failures import Cause, NoProgress


def blow_up():
    s = da.System("pole")
    x = s.coordinate("x")
    s.particle("P", 1, s.O.offset(x * s.N.x, "P", s.N))
    s.force(x**2 * s.N.x, s.bodies[0].G)
    with pytest.raises(da.StepCollapsed) as stopped:
        da.simulate(s, 30, start={"x": 5.0})
    return stopped.value


def test_the_data_of_a_failure():
    failure = blow_up()
    assert Cause.BLOW_UP is failure.cause
    assert "x.dot" == failure.component_name
    assert failure.time == failure.trajectory.t[-1]
    assert failure.facts["value"] == failure.values[failure.component]
    assert f"{failure.facts['rate']:.6g} per unit of time" in str(failure)
    assert "blow up" == failure.cause.title


def test_a_copy_in_another_process_says_the_same():
    failure = blow_up()
    again = pickle.loads(pickle.dumps(failure))
    assert str(failure) == str(again)
    assert (failure.cause, failure.component, failure.time, failure.likely) == (
        again.cause,
        again.component,
        again.time,
        again.likely,
    )
    start = da.BadStart("x contradicts 'rod'", "start")
    assert "start: x contradicts 'rod'" == str(start) == str(pickle.loads(pickle.dumps(start)))


def test_a_renamed_class_is_the_same_object_and_warns():
    with pytest.warns(DeprecationWarning, match=r"da\.Crawling is now called da\.NoProgress"):
        assert NoProgress is da.Crawling
    assert "Crawling" not in dir(da)
    failure = NoProgress(Cause.STIFFNESS, blow_up().solution, component=0, rate=1e9, h=1e-9)
    with pytest.warns(DeprecationWarning, match="NoProgress"):
        old = da.Crawling
    with pytest.raises(old, match=r"stiffness: something around component 0 settles 1e\+09 times"):
        raise failure
    assert failure.is_stiff
    assert "choose integrator='rosenbrock', 'Radau', 'BDF' or 'CVODE'" == failure.advice
