"""Rows that are not linear in the velocities, as they are shown: the rows are those declared,
and the slopes are theirs.
"""

from dataclasses import replace

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import NotApplicable
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from laws.along import Along


def broken(d, rows, slopes):
    """The items that are not what they are called."""
    kin, t, along = d.kinematics, d.tape, Along(d.kinematics)
    rates = {kin.name(i): i for i in kin.qdot}
    shown = [item.value for item in rows.items]
    found = [
        item.label
        for item, row in zip(rows.items, kin.nonlinear, strict=True)
        if not provably_zero(t, [t.sub(item.value, row.nonlinear)])[0]
    ]
    for item in slopes.items:
        above, _, below = item.label.partition("/∂")
        want = along.partial(rates[below])(shown[int(above.removeprefix("∂φ_")) - 1])
        if not provably_zero(t, [t.sub(item.value, want)])[0]:
            found.append(item.label)
    return found


def shown(name):
    kin = da.kinematics(gallery.build(name))
    for _, derive in PRINCIPLES:
        try:
            d = derive(kin)
        except NotApplicable:
            continue
        steps = [step for step in d.steps if step.source == "NF72"]
        if steps:
            yield d, *steps


@pytest.mark.parametrize("name", ["appell-hamel"])
def test_rows_and_slopes_are_what_they_are_called(name):
    found = list(shown(name))
    assert len(found) > 3
    for d, rows, slopes in found:
        assert [] == broken(d, rows, slopes), d.principle.name


def test_a_turned_sign_in_a_slope_is_found():
    d, rows, slopes = next(shown("appell-hamel"))
    for k, item in enumerate(slopes.items):
        items = (
            *slopes.items[:k],
            replace(item, value=d.tape.neg(item.value)),
            *slopes.items[k + 1 :],
        )
        assert [item.label] == broken(d, rows, replace(slopes, items=items))
