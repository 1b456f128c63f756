"""Freedoms counted, redundant rows named with the rows they repeat, contradictions refused with
the residual.
"""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import IllPosed, Unknown
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.failures import BadStart


def particle(names="x y", *, name="Particle"):
    s = da.System(name)
    q = s.coordinates(names)
    for k, x in enumerate(q):
        s.particle(f"mass {k}", 1, s.O.offset(x * s.N.x, f"P{k}"))
    return s, *q


def four_bar(**lengths):
    """A parallelogram closed in space: the row along z repeats nothing in a plane, so two pins
    are closed twice.
    """
    s = da.System("Four-bar closed twice")
    l = {
        name: s.constant(name, x)
        for name, x in ({"a": 1, "b": 2, "c": 1.5, "d": 2.2} | lengths).items()
    }
    angles = s.coordinates("alpha beta gamma")
    P = s.O
    for theta, length in zip(angles, "abc", strict=True):
        B = s.N.rotated(theta, s.N.z)
        s.particle(f"tip of {length}", 1, P.offset(l[length] * B.x))
        P = P.offset(l[length] * B.x, f"end of {length}", B)
    gap = P - s.O.offset(l["d"] * s.N.x)
    s.constrain(gap @ s.N.x, "pin D x")
    s.constrain(gap @ s.N.y, "pin D y")
    return s, gap


# ---- freedoms ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "configuration", "velocity"),
    [
        ("dumbbell", 5, 5),
        ("rolling-disk", 5, 3),
        ("whipple-bicycle", 7, 3),
        ("free-body-quaternion", 6, 6),
        ("four-bar", 1, 1),
        ("double-pendulum", 2, 2),
    ],
)
def test_freedoms_of_the_gallery(name, configuration, velocity):
    found = da.constraints(gallery.build(name))
    assert (configuration, velocity) == (found.configuration_freedoms, found.velocity_freedoms)
    assert () == found.redundant


def test_the_account_in_words():
    text = str(da.constraints(gallery.build("rolling-disk")))
    assert "5 coordinates, 2 constraint rows" in text
    assert "rolling of disk along z: omitted, because it always holds in these coordinates" in text
    assert "configuration: 5 degrees of freedom" in text
    assert "velocity: 3 degrees of freedom (5 − 2 independent constraints)" in text
    assert "redundant: none" in text


def test_nothing_is_left_free():
    s, x, y = particle()
    s.constrain(x - 1, "a")
    s.constrain(y.dot - 2, "b")
    assert "nothing can move" in str(da.constraints(s))


# ---- redundancy ----------------------------------------------------------------------------------


def test_a_row_that_repeats_two_others_everywhere_is_named_with_them():
    s, gap = four_bar()
    s.constrain(3 * (gap @ s.N.x) - 2 * (gap @ s.N.y), "brace")
    (row,) = da.constraints(s, guess={"alpha": 1}).redundant
    assert ("brace", ("pin D x", "pin D y"), True) == (row.row, row.repeats, row.everywhere)
    assert "`brace` repeats what `pin D x` and `pin D y` already impose" == str(row)


def test_a_velocity_row_repeats_a_position_row_and_not_the_other_way_round():
    s, x, y = particle()
    s.constrain(x.dot * y + x * y.dot, "rate")
    s.constrain(x * y - 2, "product")
    (row,) = da.constraints(s).redundant
    assert ("rate", ("product",)) == (row.row, row.repeats)


def test_the_height_of_a_rolling_disk_makes_one_rolling_row_redundant():
    s = gallery.build("rolling-disk-centre")
    s.constrain(s["z"] - s["r"] * da.sin(s["theta"]), "height")
    found = da.constraints(s)
    assert "`rolling of disk along z` repeats what `height` already imposes" in str(found)
    assert (5, 3, 0) == (found.configuration_freedoms, found.velocity_freedoms, found.integrable)


def test_a_row_that_repeats_others_only_where_they_hold():
    s, gap = four_bar()
    # (gap·x)(1 + β²) is another function of position with the same zeros
    s.constrain((gap @ s.N.x) * (1 + s["beta"] ** 2), "doubled")
    found = da.constraints(s, guess={"alpha": 1})
    (row,) = found.redundant
    assert ("doubled", ("pin D x",), False) == (row.row, row.repeats, row.everywhere)
    assert (1, 1) == (found.configuration_freedoms, found.velocity_freedoms)
    assert "wherever the constraints hold" in str(found)


def test_bricard_moves_although_it_is_counted_as_fixed():
    entry = gallery.entry("bricard")
    s = entry.build()
    names = {q.name for q in s.q}
    found = da.constraints(s, guess={k: x for k, x in entry.start.items() if k in names})
    assert len(found.rows) == len(s.q)
    assert (1, 1) == (found.configuration_freedoms, found.velocity_freedoms)
    (row,) = found.redundant
    assert not row.everywhere
    assert len(row.repeats) == len(found.rows) - 1


def test_without_values_the_exact_part_is_said_and_the_rest_is_not_claimed():
    s, _ = four_bar(a=None)
    found = da.constraints(s)
    assert found.position is None
    assert "not checked where the constraints hold: no value for the constant a" in str(found)


def test_a_loop_that_cannot_be_assembled_is_said_with_its_residual():
    s, _ = four_bar(d=9)
    text = str(da.constraints(s))
    assert "not assembled, so not checked where the constraints hold: `pin D x` leaves" in text


def test_a_singular_position_is_no_redundancy():
    s, x, y = particle()
    s.constrain(x**2 - y**2, "cross")
    found = da.constraints(s)
    assert () == found.redundant
    assert 1 == found.velocity_freedoms


# ---- contradictions ------------------------------------------------------------------------------


def test_positions_that_contradict_each_other_are_refused_with_the_residual():
    s, x, y = particle()
    s.constrain(x - y - 1, "first")
    s.constrain(2 * x - 2 * y - 5, "second")
    with pytest.raises(
        IllPosed,
        match=r"`second` contradicts `first`: where this holds, the residual of `second` is -3",
    ):
        da.constraints(s)


def test_velocities_that_contradict_each_other_are_refused_with_the_residual():
    s, x, y = particle()
    s.constrain(x.dot - 1, "first")
    s.constrain(y.dot + s.t, "second")
    s.constrain(x.dot + y.dot - 4, "third")
    # 1 − t − 4 at t = 2
    with pytest.raises(
        IllPosed,
        match=r"`third` contradicts `first` and `second`: where these hold, the residual of "
        r"`third` is -5",
    ):
        da.constraints(s, t0=2.0)


def test_contradictions_of_motions_are_refused_even_without_numbers():
    s, x, _ = particle()
    s.constrain(x.dot - s.constant("a"), "first")
    s.constrain(x.dot - s.constant("b"), "second")
    with pytest.raises(IllPosed, match="`second` contradicts `first`; remove one"):
        da.constraints(s)


# ---- bad input -----------------------------------------------------------------------------------


def test_bad_input():
    s = gallery.build("four-bar")
    with pytest.raises(TypeError, match="give a System, not str"):
        da.constraints("four-bar")
    with pytest.raises(BadStart, match="omega is not a coordinate"):
        da.constraints(s, start={"omega": 1})
    with pytest.raises(da.DalembertError, match="theta_1 = nan is not finite"):
        da.constraints(s, start={"theta_1": float("nan")})
    with pytest.raises(Unknown, match="'l_9' is not"):
        da.constraints(s, values={"l_9": 1})
    with pytest.raises(da.DalembertError, match="w = 'sin' cannot be read"):
        da.constraints(s, inputs={"w": "sin"})
    s, _ = four_bar(a=None)
    with pytest.raises(MissingValue, match="no value for the constant a"):
        da.constraints(s, start={"alpha": 1})
