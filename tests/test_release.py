"""Version, changelog, citation and recipes agree, and `make release` finds what does not."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import dalembert as da

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
sys.path.insert(0, str(ROOT / "packaging"))

import release  # noqa: E402 - a script, no package


def test_the_version_stands_in_one_place():
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text()
    assert "load_file_data('pyproject.toml'" in recipe
    assert PROJECT["version"] not in recipe
    assert PROJECT["version"] not in (ROOT / "docs/conf.py").read_text()


def test_the_changelog_begins_with_this_version():
    newest = next(iter(release.sections()))
    assert PROJECT["version"].partition(".dev")[0] == newest


def test_the_citation_names_the_last_release():
    dated = {v: date for v, (date, _) in release.sections().items() if date != "unreleased"}
    newest = next(iter(dated))
    text = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {newest}\ndate-released: {dated[newest]}\n" in text


@pytest.mark.parametrize("number", release.sections())
def test_a_release_is_described_in_sixty_lines_under_five_headings(number):
    _, text = release.sections()[number]
    assert text.strip().count("\n") < 60
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert [h for h in release.HEADINGS if h in headings] == headings


def tree(folder: Path) -> Path:
    """A copy of what a release consists of, without its faults."""
    for name in ("pyproject.toml", "CHANGELOG.md", "CITATION.cff"):
        shutil.copy(ROOT / name, folder / name)
    project = folder / "pyproject.toml"
    text = re.sub(r'^version = ".*"', 'version = "0.2.0"', project.read_text(), flags=re.MULTILINE)
    project.write_text(
        text.replace(
            "[project.scripts]",
            '[project.urls]\nRepository = "https://example.org"\n[project.scripts]',
        )
    )
    return folder


def test_a_development_version_is_no_release(tmp_path):
    found = "\n".join(release.faults(tree(tmp_path)))
    assert "development version" not in found
    assert "CITATION" not in found
    assert "CHANGELOG" not in found
    assert "Repository" not in found
    # planted: no wheel, no documentation
    assert "run make dist" in found
    assert "run make docs" in found


@pytest.mark.parametrize(
    ("file", "old", "new", "answer"),
    [
        ("pyproject.toml", '"0.2.0"', '"0.2.0.dev1"', "is a development version"),
        ("pyproject.toml", '"0.2.0"', '"0.9.0"', "no section '## 0.9.0"),
        ("CHANGELOG.md", "0.2.0 (2026-11-17)", "0.2.0 (unreleased)", "section 0.2.0 has no date"),
        ("CHANGELOG.md", "### Fixed", "### News", "heading 'News'"),
        ("CITATION.cff", "version: 0.2.0", "version: 0.1.0", "no line 'version: 0.2.0'"),
    ],
)
def test_a_planted_fault_is_named(file, old, new, answer, tmp_path):
    path = tree(tmp_path) / file
    path.write_text(path.read_text().replace(old, new))
    assert answer in "\n".join(release.faults(tmp_path))


def test_conda_asks_for_what_the_wheel_asks_for():
    run = (
        (ROOT / "packaging/conda/meta.yaml")
        .read_text()
        .partition("  run:\n")[2]
        .partition("\n\n")[0]
    )
    asked = {
        line.strip("- ").replace(" ", "").replace("matplotlib-base", "matplotlib")
        for line in run.splitlines()
    }
    assert {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"} == asked


def test_a_wheel_is_tried_by_the_workflow_of_every_developer():
    assert "make test" in (ROOT / ".github/workflows/test.yml").read_text()
    assert "exec make test" in (ROOT / ".ci/run").read_text()


def test_the_version_is_that_of_the_distribution():
    assert version("dalembert") == da.__version__
