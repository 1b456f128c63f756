"""What is said about a release in several files is said alike."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("file", ["CITATION.cff", "packaging/conda/meta.yaml"])
def test_the_version_is_everywhere_the_same(file):
    stated = re.findall(r'^(?:version: |{% set version = ")([\d.]+)', (ROOT / file).read_text(), re.MULTILINE)
    assert [PROJECT["version"]] == stated


def test_conda_asks_for_what_the_wheel_asks_for():
    run = (ROOT / "packaging/conda/meta.yaml").read_text().partition("  run:\n")[2].partition("\n\n")[0]
    asked = {line.strip("- ").replace(" ", "").replace("matplotlib-base", "matplotlib") for line in run.splitlines()}
    assert {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"} == asked


def test_a_wheel_is_tried_by_the_workflow_of_every_developer():
    assert "make test" in (ROOT / ".github/workflows/test.yml").read_text()
    assert "exec make test" in (ROOT / ".ci/run").read_text()
