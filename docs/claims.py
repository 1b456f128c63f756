"""Every numbered equation and worked example of the five sources, with the call that shows it
and the test that checks it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_suffix(".txt")
TESTS = Path(__file__).parents[1] / "tests"
MARK = "<!-- claims -->"
# the last numbered equation of each work, as printed
LAST = {"Bar00": "62", "Gre03": "4.60", "Mei85": "7.47", "Mar": "20", "Mit22": "58"}


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    key: str
    number: str
    kind: str
    what: str
    call: str
    test: str

    @property
    def numbers(self) -> range:
        """The equations it covers, (4.10)–(4.12) as 10, 11, 12; none for an example, a figure or
        a remark.
        """
        return numbers_of(self.number)

    def shares_number(self, number: str) -> bool:
        """Whether it covers one of these equations, or is the same example, figure or remark."""
        return number == self.number or not set(self.numbers).isdisjoint(numbers_of(number))

    @property
    def is_tested(self) -> bool:
        """Whether the test it names is there."""
        file, _, name = self.test.partition("::")
        path = TESTS / file
        return path.is_file() and f"def {name}(" in path.read_text(encoding="utf-8")


def numbers_of(text: str) -> range:
    """The equations of (4.10)–(4.12) as 10, 11, 12; none for words."""
    match = re.fullmatch(r"(?:\d+\.)?(\d+)(?:-(?:\d+\.)?(\d+))?", text)
    return range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)


def rows() -> list[Row]:
    """The table, in the order of the works."""
    key, read = "", []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            key = line.strip("[]")
        elif line and not line.startswith("#"):
            number, kind, what, call, test = (cell.strip() for cell in line.split("|"))
            read.append(Row(key, number, kind, what, call, test))
    return read


def with_claims(text: str) -> str:
    """The page with the tables of the five works where it asks for them."""
    return (
        text.replace(MARK, "\n\n".join(f"### {key}\n\n{_table(key)}" for key in LAST))
        if MARK in text
        else text
    )


def _table(key: str) -> str:
    lines = [
        f"| {row.number.replace('-', '–')} | {row.kind} | {row.what} | {_code(row.call)} | "
        f"{_code(row.test.partition('::')[2])} |"
        for row in rows()
        if row.key == key
    ]
    return "\n".join(
        ["| number | kind | what | shown by | checked by |", "|---|---|---|---|---|", *lines]
    )


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
