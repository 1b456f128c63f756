"""Rows of benchmarks/results.md, so that a page quotes what was measured last and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results.md"
MARK = re.compile(r"^<!-- measured\n(?P<wanted>.*?)\n-->$", re.DOTALL | re.MULTILINE)


def with_measurements(text: str) -> str:
    """The page with a table where it names measurements, one in each line."""
    return MARK.sub(lambda found: _table(found["wanted"].splitlines()), text)


def _table(wanted: list[str]) -> str:
    rows = _rows()
    lines = [f"| {what} | {tool} | {seconds} | {ratio} |" for what in wanted for tool, seconds, ratio in _of(what, rows)]
    return "\n".join(["| what | tool | CPU time | ÷ dalembert |", "|---|---|---|---|", *lines])


def _of(what: str, rows: list[list[str]]) -> list[tuple[str, str, str]]:
    found = [(tool, seconds, ratio) for name, tool, seconds, _, _, ratio, *_ in rows if name == what]
    if not found:
        msg = f"benchmarks/results.md has no row {what!r}"
        raise LookupError(msg)
    return found


def _rows() -> list[list[str]]:
    """The cells of every row that measures one thing: what, tool, CPU, wall, noise, ratio."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [row for row in cells if len(row) >= 6]


def day() -> str:
    """When it was measured, and on what."""
    text = RESULTS.read_text(encoding="utf-8")
    found = {key: re.search(rf"^\| {key} +\| (.*?) +\|$", text, re.MULTILINE) for key in ("date", "processor", "system")}
    return ", ".join(match[1] for match in found.values() if match)
