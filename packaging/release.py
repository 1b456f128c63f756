"""Check that the working tree is a release: version, changelog, citation, address, wheel,
documentation and tag.

`python packaging/release.py` prints every check and ends with exit code 1 if one fails. `make
release` builds the wheel and the documentation first. The version stands in pyproject.toml and
nowhere else.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = re.compile(
    r"^## (?P<version>\S+) \((?P<date>unreleased|\d{4}-\d\d-\d\d)\)$", re.MULTILINE
)
HEADINGS = ("Breaking", "Added", "Changed", "Fixed", "Performance")


def version(root: Path = ROOT) -> str:
    """The version in pyproject.toml."""
    return str(_project(root)["version"])


def sections(root: Path = ROOT) -> dict[str, tuple[str, str]]:
    """{version: (date, text)} of the changelog."""
    parts = SECTION.split((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    return {parts[k]: (parts[k + 1], parts[k + 2]) for k in range(1, len(parts), 3)}


def faults(root: Path = ROOT) -> Iterator[str]:
    """What prevents a release, one sentence each."""
    now = version(root)
    if not re.fullmatch(r"\d+\.\d+\.\d+", now):
        yield f"pyproject.toml: version {now} is a development version; write MAJOR.MINOR.PATCH"
    yield from _changelog_faults(now, root)
    yield from _citation_faults(now, root)
    if "Repository" not in _project(root).get("urls", {}):
        yield "pyproject.toml: [project.urls] has no Repository; add the public address"
    yield from _wheel_faults(now, root)
    if not (root / "docs/_build/html/index.html").is_file():
        yield "docs/_build/html/index.html is missing; run make docs"
    yield from _tag_faults(now, root)


def _changelog_faults(now: str, root: Path) -> Iterator[str]:
    date, text = sections(root).get(now, ("", ""))
    if not date:
        yield f"CHANGELOG.md: no section '## {now} (YYYY-MM-DD)'"
    elif date == "unreleased":
        yield f"CHANGELOG.md: section {now} has no date"
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    for heading in headings:
        if heading not in HEADINGS:
            yield f"CHANGELOG.md: heading {heading!r} in {now}; write one of {', '.join(HEADINGS)}"
    if re.search(r"^### .+\n\s*(?=### |\Z)", text, re.MULTILINE):
        yield f"CHANGELOG.md: a heading of {now} has no entries; remove it"


def _citation_faults(now: str, root: Path) -> Iterator[str]:
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    date = sections(root).get(now, ("", ""))[0]
    for line in (f"version: {now}", f"date-released: {date}"):
        if f"\n{line}\n" not in text:
            yield f"CITATION.cff: no line '{line}'"


def _wheel_faults(now: str, root: Path) -> Iterator[str]:
    wheels = sorted((root / "dist").glob("*.whl"))
    if [f"dalembert-{now}-py3-none-any.whl"] != [wheel.name for wheel in wheels]:
        yield (
            f"dist: expected one wheel of version {now}, found {[w.name for w in wheels]}; run "
            f"make dist"
        )
        return
    names = zipfile.ZipFile(wheels[0]).namelist()
    for wanted in ("dalembert/__init__.pyi", "dalembert/py.typed"):
        if wanted not in names:
            yield f"{wheels[0].name}: {wanted} is missing"


def _tag_faults(now: str, root: Path) -> Iterator[str]:
    if _git(root, "status", "--porcelain"):
        yield "git: the working tree has changes; commit them"
    tagged = _git(root, "rev-list", "-n", "1", f"v{now}")
    if tagged and tagged != _git(root, "rev-parse", "HEAD"):
        yield f"git: tag v{now} is on another commit; raise the version"


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _project(root: Path) -> dict[str, object]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


if __name__ == "__main__":
    problems = list(faults())
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{version()} can be released: git tag -a v{version()} -m 'dalembert {version()}'")
    sys.exit(bool(problems))
