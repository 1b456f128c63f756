"""Random conservative systems of two degrees of freedom: a family from each linear mode."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from types import ModuleType

_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "lyapunov_families.py"


def _campaign() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lyapunov_families", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_families_start_with_the_period_of_their_mode() -> None:
    """T → 2π/ω as the amplitude vanishes, to 1e-5, for 15 systems of the campaign."""
    table = _campaign().rows(15)
    assert ["started"] * 30 == [row[-1] for row in table]


def test_the_table_of_the_campaign_has_two_hundred_systems() -> None:
    with _SCRIPT.with_suffix(".csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert 400 == len(rows)
    assert {"started"} == {row["outcome"] for row in rows}
    assert max(float(row["error of the limit of T"]) for row in rows) < 1e-5
