"""All faults of a text at once, each where it is."""

from __future__ import annotations

import random

import pytest

from dalembert.exchange.modelfile.templates import TEMPLATES
from dalembert.interface.studio.faults import element_lines, read_with_faults

TEXT = """\
name = "P"
gravity = "gg"
constants = { m = "1 kgg", l = "1 m", g = "9.81 q" }
pin.theta = "O"
pin.phi = "Q"

[rod.upper]
at = "theta"
mass = 2
lngth = "l"

[particle.tip]
mass = "l"
at = "upper.tip"

[run]
duration = "10 s"
start = { thta = "60 deg", theta = 1 }
"""


def places(text, file="model.toml"):
    system, faults = read_with_faults(text, file)
    assert (system is None) == bool(faults)
    lines = text.split("\n")
    return [(f.line, lines[f.line - 1][f.column - 1 :][: f.length]) for f in faults]


def test_every_fault_is_reported_with_its_word():
    expected = [(2, "gg"), (3, "m"), (3, "g"), (5, "Q"), (10, "lngth"), (18, "thta")]
    assert expected == places(TEXT)


def test_what_follows_from_a_fault_is_not_reported():
    """particle.tip is fixed to upper, which cannot be read: only upper is at fault."""
    assert 12 not in [line for line, _ in places(TEXT)]
    assert 14 not in [line for line, _ in places(TEXT)]


def test_syntax_does_not_hide_other_faults():
    text = TEXT.replace('duration = "10 s"', "duration = 10 s")
    assert {2, 5, 10, 17, 18} <= {line for line, _ in places(text)}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_text_without_faults_is_read(name):
    system, faults = read_with_faults(TEMPLATES[name], "model.toml")
    assert [] == faults
    assert system is not None


def test_elements_know_their_lines():
    system, _ = read_with_faults(TEMPLATES["pendulum"], "model.toml")
    lines = TEMPLATES["pendulum"].split("\n")
    first, last = element_lines(system.settings.source)["bar"]
    assert "rod.bar" in lines[first - 1]
    assert first == last


@pytest.mark.parametrize(
    "text", ["", "x", "[", "[[rod]]", "name = 3", "rod = 1", "[run]\nstart = 1", "\0", "a = '''"]
)
def test_fragments_are_read_or_refused(text):
    system, faults = read_with_faults(text, "model.toml")
    assert (system is None) == bool(faults)


def test_a_text_that_is_too_long_is_not_read():
    system, (fault,) = read_with_faults("#" * 10_000_000, "model.toml")
    assert system is None
    assert "more than any model needs" in fault.sentence


def test_random_edits_are_read_or_refused():
    """40 seeded edits of every template: never another exception, always a place inside the
    text.
    """
    draw = random.Random(7)
    for text in TEMPLATES.values():
        for _ in range(40):
            at = draw.randrange(len(text))
            cut = draw.choice(["", "x", '"', "[", "}", "=", "\n", "1e9", "theta"])
            edited = text[:at] + cut + text[at + draw.randrange(6) :]
            system, faults = read_with_faults(edited, "model.toml")
            assert (system is None) == bool(faults)
            assert all(0 <= f.line <= edited.count("\n") + 1 for f in faults)
