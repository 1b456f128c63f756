"""Robots by the name of their file."""

from __future__ import annotations

import pytest

from cli.running import run

# what is left out is told on the way
pytestmark = pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")


def test_a_file_is_derived_compared_and_run(arm, walker, tmp_path):
    assert "shoulder" in run("derive", str(arm)).stdout
    agreed = run("agree", str(arm))
    assert 0 == agreed.exit_code
    assert "MuJoCo: agrees" in agreed.stdout
    motion = run("simulate", str(walker), "--for", "0.01", "-o", str(tmp_path / "run.csv"))
    assert 0 == motion.exit_code
    # the file is written with the trunk a metre above the ground
    header, first = (tmp_path / "run.csv").read_text().splitlines()[:2]
    assert 1.0 == float(first.split(",")[header.split(",").index("root_z")])


def test_a_free_root_and_a_wrong_one(arm):
    assert "base_x" in run("simulate", f"{arm}:free", "--for", "0.01").stdout
    wrong = run("derive", f"{arm}:loose")
    assert 0 != wrong.exit_code
    assert ":free or :fixed" in wrong.stderr
