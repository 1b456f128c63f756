"""Random systems with one to three contacts in space against time stepping without modes."""

import csv

import numpy as np
import pytest

import dalembert as da
from friction import moreau_jean


@pytest.mark.parametrize("seed", [1, 13])
def test_time_stepping_converges_to_the_run_of_a_random_system(seed):
    draw = moreau_jean.Draw(seed)
    row = moreau_jean.compare(draw, moreau_jean.system(draw.kind))
    assert "agrees" == row[-1], row


@pytest.mark.slow
def test_time_stepping_does_not_converge_to_a_run_with_other_friction():
    draw = moreau_jean.Draw(13)
    wrong = draw.values() | {"mu0": 1.05 * draw.mu[0]}
    draw.values = lambda: wrong
    row = moreau_jean.compare(draw, moreau_jean.system(draw.kind))
    assert "differs" == row[-1], row


def test_all_draws_of_the_campaign_agree_or_are_drawn_again_or_refused():
    with moreau_jean.TABLE.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert list(moreau_jean.HEADER) == header
    decided = [row for row in rows if len(row) == len(header)]
    assert len(decided) >= 80
    assert {"agrees"} == {row[-1] for row in decided}
    assert np.unique([int(row[0]) for row in rows]).size == len(rows)


def test_friction_that_another_share_would_hold_is_refused_by_name():
    draw = moreau_jean.Draw(104)
    with pytest.raises(da.RunStopped, match="the friction of 'plane 1' is not determined"):
        moreau_jean.compare(draw, moreau_jean.system(draw.kind))
