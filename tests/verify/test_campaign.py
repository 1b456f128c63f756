"""Planted errors are named and rewritings are right: a few drawn here, the tables of 1 400 systems
as committed.
"""

import pytest

from verify.campaign import DATA, answers, read
from verify.plants import KINDS

RIGHT = {
    "equal",
    "equal after combining rows",
    "equal on the motions that the constraints allow",
    "true where a factor does not vanish",
}
# one of each kind of error
SEEDS = (410, 1746, 2345, 2596, 2736, 2825, 3224, 4244, 4405, 5555, 5595, 6620)


@pytest.mark.parametrize("seed", SEEDS)
def test_errors_in_random_systems_are_named_and_rewritings_are_right(seed):
    trials = answers(seed)
    assert trials["plants"]
    assert {"named"} == {trial.outcome for trial in trials["plants"]}
    assert {trial.outcome for trial in trials["rewritings"]} <= RIGHT


def share(lines, wanted):
    counted = [line for line in lines if not line["outcome"].startswith("refused")]
    return sum(line["outcome"] in wanted for line in counted) / len(counted)


def test_the_table_of_single_errors():
    lines = read(DATA / "plants.csv")
    assert len(lines) == len({line["seed"] for line in lines}) >= 1000
    assert {*KINDS} == {line["what"].partition(" ")[0] for line in lines}
    assert {*range(1, 7)} == {int(line["freedoms"]) for line in lines}
    assert share(lines, {"named"}) >= 0.98
    assert not [line for line in lines if line["outcome"].startswith("called")]


def test_the_table_of_two_errors():
    lines = read(DATA / "pairs.csv")
    # where one change suffices, the errors are not two
    two = [line for line in lines if line["outcome"] != "fewer changes suffice"]
    assert len(two) >= 1000
    assert share(two, {"named"}) >= 0.9


def test_the_table_of_rewritings():
    lines = read(DATA / "rewritings.csv")
    assert len(lines) >= 1000
    wrong = [
        line
        for line in lines
        if line["outcome"] not in RIGHT and not line["outcome"].startswith("refused")
    ]
    assert [] == wrong
