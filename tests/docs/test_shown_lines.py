"""Every line of the page of equations is printed by its call."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from claims import rows
from shown_lines import PAGE, lines, methods, page, printed, squeezed

LINES = lines()
SYSTEMS = (
    "mass-on-incline", "dumbbell", "cart-and-bar", "knife-edge-rod", "rolling-disk", "vehicle",
    "free-body", "beam-on-ball-joint", "hoist", "positioning-device",
)  # fmt: skip


def missing(systems):
    return [x for x in LINES if x.system in systems and not x.is_printed]


def test_the_vehicle_and_the_cart():
    assert [] == missing(("vehicle", "cart-and-bar"))


@pytest.mark.slow
def test_every_line_is_printed_by_its_call():
    assert [] == missing(SYSTEMS)


def test_a_changed_line_is_noticed():
    for x in LINES:
        if x.system == "vehicle":
            wrong = x.line.replace("−", "+") if "−" in x.line else x.line + " + 1"
            assert not replace(x, line=wrong).is_printed, x


def test_ten_systems_and_twenty_four_methods_are_shown():
    assert set(SYSTEMS) == {x.system for x in LINES}
    numbers = {f"{x.key} {x.number}" for x in LINES}
    assert 24 == len(methods())
    assert {} == {name: [n for n in shown if n not in numbers] for name, shown in methods().items()
                  if not numbers.issuperset(shown)}  # fmt: skip


def test_the_numbers_are_those_of_the_sources():
    known = {(row.key, n) for row in rows() for n in row.numbers}
    for x in LINES:
        first = x.number.partition("-")[0].rpartition(".")[2]
        assert not first.isdigit() or (x.key, int(first)) in known, x


def test_the_page_is_what_the_script_writes():
    assert page() == PAGE.read_text(encoding="utf-8")


def test_spaces_do_not_count():
    assert "v of C = (u₁ − h u₂) B.x" in squeezed(printed("vehicle", "kane"))
