"""A time or a ratio of times in the docs is a row of the benchmark."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# only while it is imported: modules there have names of folders of the tests
sys.path.insert(0, str(ROOT / "benchmarks"))
import sensitivities  # noqa: E402

sys.path.remove(str(ROOT / "benchmarks"))

# what a reader takes for a measurement of speed
CLAIM = re.compile(
    r"\d ?(µs|ns)\b|times (as (fast|long)|faster|slower|less time)|\d ?× (faster|slower)"
)
# pages whose numbers a script writes from its own measurements
WRITTEN = {"docs/equations.md", "docs/robots.md"}
MARKED = re.compile(r"<!-- (measured|bars).*?-->|^```.*?^```", re.DOTALL | re.MULTILINE)
# a part of the page's table, and the rows of the benchmark that it is about
SENSITIVITIES = {
    "chain of seven joints": "spatial chain, 7 joints",
    "flexible slider-crank": "flexible-slider-crank",
    "bicycle": "whipple-bicycle",
}


def pages():
    folders = (ROOT / "docs", ROOT / "docs" / "howto", ROOT / "docs" / "tutorial")
    return [page for folder in folders for page in sorted(folder.glob("*.md"))]


def claims(text):
    """Lines with a speed that was typed."""
    return [line for line in MARKED.sub("", text).splitlines() if CLAIM.search(line)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_no_speed_is_typed(page):
    if page.relative_to(ROOT).as_posix() in WRITTEN:
        return
    assert [] == claims(page.read_text(encoding="utf-8")), "name rows: <!-- measured … -->"


@pytest.mark.parametrize(
    "line", ["takes 3 µs", "ten times as fast", "2× faster", "It is three times slower."]
)
def test_a_typed_speed_is_noticed(line):
    assert [line] == claims(f"<!-- measured\nchain 7: 3 µs\n-->\n{line}\nplain")


def test_the_table_of_sensitivities_names_rows_of_the_benchmark():
    page = (ROOT / "docs" / "howto" / "sensitivities.md").read_text(encoding="utf-8")
    rows = {*sensitivities.SYSTEMS, f"spatial chain, {sensitivities.JOINTS} joints"}
    for system, row in SENSITIVITIES.items():
        assert f"| {system} |" in page
        assert row in rows
