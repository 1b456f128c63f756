"""Verdicts on energy integrals against runs: ten systems of benchmarks/energy_verdicts.py, and the
committed table of all of them.
"""

import csv
import importlib.util
import sys
from itertools import islice
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "energy_verdicts.py"
# split loads, moving coordinates, quasi-velocities, prescribed motions, moving constraints
CHOSEN = (4, 6, 16, 18, 24, 27, 31, 39, 49, 53)


@pytest.fixture(scope="module")
def campaign():
    spec = importlib.util.spec_from_file_location("energy_verdicts", _SCRIPT)
    module = importlib.util.module_from_spec(spec)
    # a data class looks its module up
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def table():
    with _SCRIPT.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_sixty_systems_and_every_verdict_agrees(table):
    assert 60 == len(table)
    assert {"yes"} == {row["agrees"] for row in table}
    # every verdict occurs, and so does every reason for which U does not exist
    assert {"c", "n", "–"} == {v for row in table for v in row["verdicts"].split()}
    reasons = [row["reason"] for row in table if row["verdicts"].endswith("–")]
    assert len(reasons) >= 10
    assert all(any(f"({n}) " in reason for reason in reasons) for n in ("i", "ii", "iii"))


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("number", CHOSEN)
def test_verdicts_agree_with_runs(number, campaign, table):
    case = next(islice(campaign.cases(), number - 1, None))
    row = campaign.check(case, campaign.SEED + number)
    assert "yes" == row["agrees"]
    assert table[number - 1]["verdicts"] == row["verdicts"]


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_the_check_finds_a_wrong_verdict(campaign, monkeypatch):
    """A potential that is none makes an integral that is called constant change."""
    case = next(islice(campaign.cases(), 15, None))
    right = campaign.changes
    monkeypatch.setattr(
        campaign, "changes", lambda run: {s: x + 1e-8 for s, x in right(run).items()}
    )
    assert "NO" == campaign.check(case, campaign.SEED)["agrees"]
