"""What a member cannot be expanded in is refused in the user's terms."""

import numpy as np
import pytest

import dalembert as da


def beam():
    s = da.System("S")
    return s, s.beam("b", s.O, s.N.x, s.N.y, length=1, stiffness=2, density=3)


@pytest.mark.parametrize(
    "functions",
    [
        None,
        "ab",
        0,
        -1,
        10**40,
        2.0,
        [1],
        [int],
        [],
        {"v": None},
        {"w": 2},
        np.array([1, 2]),
        object(),
    ],
)
def test_functions(functions):
    with pytest.raises(da.DalembertError):
        da.discretise(*beam(), functions)


@pytest.mark.parametrize("names", ["", "eta", 3, {"v": 3}, {"v": None}, {"w": "eta"}])
def test_names(names):
    with pytest.raises(da.DalembertError):
        da.discretise(*beam(), 2, names=names)


@pytest.mark.parametrize("symbol", [None, "V", "", 3, ["v"]])
def test_a_field_that_is_none(symbol):
    bent = da.discretise(*beam(), 2)
    with pytest.raises(da.BadDescription, match="its fields are v"):
        bent.value(symbol, 1)
    # what it has not is zero
    assert bent.value("u", 1) == 0


@pytest.mark.parametrize("member", ["c", 3, ["b"], {}])
def test_a_member_that_is_none(member):
    s, _ = beam()
    for function in (da.member_modes, da.member_deflection, da.member_buckling):
        with pytest.raises(da.DalembertError, match="there is no member"):
            function(s, member)


@pytest.mark.parametrize("values", ["EI", 3, [1]])
def test_values_are_named(values):
    s, _ = beam()
    with pytest.raises(da.DalembertError, match="give names with their values"):
        da.member_modes(s, values=values)
