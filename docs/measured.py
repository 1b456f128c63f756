"""Rows of benchmarks/results.md, so that pages and the README quote the last measurement and
nothing else.

`python docs/measured.py` rewrites the table of speeds in the README.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results.md"
README = ROOT / "README.md"
MARK = re.compile(r"^<!-- measured\n(?P<wanted>.*?)\n-->$", re.DOTALL | re.MULTILINE)
_SPEEDS = re.compile(r"(?<=<!-- speeds -->\n).*?(?=<!-- /speeds -->)", re.DOTALL)

# the README's table: (task in words, name of the measurement, other tool)
SPEEDS = (
    (
        "derive a 10-link pendulum by Kane's method",
        "planar pendulum, 10 links, relative angles, Kane",
        "SymPy mechanics",
    ),
    ("forward dynamics of a 7-joint chain", "chain 7, native loop", "Pinocchio"),
    ("simulate a rolling disk to 1e-9", "rolling disk, 10 s, error 1e-09", "heyoka"),
    (
        "simulate a double pendulum",
        "pendulum of 2 links, 10 s, relative angles, tolerance 1e-09",
        "SciPy DOP853, lambdify and solve",
    ),
    (
        "simulate a mechanism of 40 closed loops",
        "40 four-bar windows, 1 s, error 1e-05",
        "CasADi, CVODES",
    ),
    (
        "one of 10 000 double pendulums in parallel",
        "10000 double pendulums, 10 s, tolerance 1e-09",
        "heyoka",
    ),
)


def with_measurements(text: str) -> str:
    """The page with a table where it names measurements, one in each line."""
    return MARK.sub(lambda match: _table(match["wanted"].splitlines()), text)


def with_speeds(text: str) -> str:
    """The README with its table of speeds."""
    lines = [
        f"| {task} | {_cell(name, 'dalembert')[0]} | {tool}: {_cell(name, tool)[0]} | "
        f"{_cell(name, tool)[1]} |"
        for task, name, tool in SPEEDS
    ]
    table = "\n".join(["| task | dalembert | other tool | ratio |", "|---|---|---|---|", *lines])
    return _SPEEDS.sub(lambda _: f"{table}\n", text)


def measurements(what: str) -> list[tuple[str, str, str]]:
    """(tool, CPU time, ratio to dalembert) of all tools that were measured on one task."""
    rows = [
        (tool, seconds, ratio) for name, tool, seconds, _, _, ratio, *_ in _rows() if name == what
    ]
    if not rows:
        msg = f"benchmarks/results.md has no row {what!r}"
        raise LookupError(msg)
    return rows


def _cell(what: str, tool: str) -> tuple[str, str]:
    """(CPU time, ratio) of one tool."""
    for name, seconds, ratio in measurements(what):
        if name == tool:
            return seconds, ratio
    msg = f"benchmarks/results.md has no row {what!r} of {tool!r}"
    raise LookupError(msg)


def _table(wanted: list[str]) -> str:
    lines = [
        f"| {what} | {tool} | {seconds} | {ratio} |"
        for what in wanted
        for tool, seconds, ratio in measurements(what)
    ]
    return "\n".join(["| what | tool | CPU time | ÷ dalembert |", "|---|---|---|---|", *lines])


def _rows() -> list[list[str]]:
    """The cells of every row that measures one thing: what, tool, CPU, wall, noise, ratio."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| ")
    ]
    return [row for row in cells if len(row) >= 6]


def day() -> str:
    """Date, processor and system of the measurements."""
    text = RESULTS.read_text(encoding="utf-8")
    cells = {
        key: re.search(rf"^\| {key} +\| (.*?) +\|$", text, re.MULTILINE)
        for key in ("date", "processor", "system")
    }
    return ", ".join(match[1] for match in cells.values() if match)


if __name__ == "__main__":
    README.write_text(with_speeds(README.read_text(encoding="utf-8")), encoding="utf-8")
