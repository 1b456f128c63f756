"""What a verb takes, a file can say: the table of kinds against the signatures of the language."""

from __future__ import annotations

import inspect

import pytest

import dalembert as da
from dalembert.exchange.modelfile.element_schema import (
    ELEMENT_TYPES,
    NESTED_TABLES,
    SECTIONS,
    SETTINGS,
)

# verbs that are sections of a file, or words of one
ELSEWHERE = {
    "constant": "constants",
    "constants": "constants",
    "coordinates": "coordinates",
    "display": "displays",
    "expression": "expressions",
    "gravity": "gravity",
    "input": "inputs",
    "inputs": "inputs",
    "rate": "states",
    "specified": "specified",
    "speed": "speeds",
    "speeds": "speeds",
    "state": "states",
    "units": "units",
}
# why the rest is not in a file
NOT_SAID = {
    "accept": "switches a warning off",
    "attach": "the other system's declarations, each by itself",
    "conjugate_unit": "a question",
    "dimension": "a question",
    "end": "a table inside a member: PARTS['end']",
    "expand": "what [discretise] does",
    "from_energies": "coordinates, constants, kinetic_energy, potential and dissipation, each by "
    "itself",
    "snapshot": "a copy",
    "known_dimensions": "a question",
    "link": "a link of a loaded robot",
    "save": "writes the file",
    "cache_key": "a question",
    "unit": "a question",
    "view": "a picture of a run",
}
# kinds that are no verbs of System: its geometry, and functions of a member
NO_VERBS = {"frame", "point", "discretise"}
# keys of a file that a verb has no word for
FILE_ONLY = {
    **{joint: {"coordinate", "display"} for joint in ("pin", "slide")},
    **{joint: {"coordinates"} for joint in ("ball", "free", "universal")},
    "coordinate": {"unit"},
}
# what a run is asked for by whoever runs it
RUN_ONLY = {"system", "at", "progress", "audit", "sensitivities"}


def verbs():
    return [name for name, f in inspect.getmembers(da.System, callable) if not name.startswith("_")]


def words(f):
    return set(inspect.signature(f).parameters) - {"self", "s"}


def test_every_verb_is_a_kind_or_a_section_or_has_a_reason():
    assert set(verbs()) == (set(ELEMENT_TYPES) - NO_VERBS) | set(ELSEWHERE) | set(NOT_SAID)
    assert set(ELSEWHERE.values()) <= set(SECTIONS)


@pytest.mark.parametrize("name", sorted(set(ELEMENT_TYPES) - NO_VERBS))
def test_every_word_of_a_verb_is_a_key(name):
    kind = ELEMENT_TYPES[name]
    assert words(getattr(da.System, name)) - {kind.name_argument} == {
        k.name for k in kind.keys
    } - FILE_ONLY.get(name, set())


def test_required_keys_are_those_without_a_default():
    for name in sorted(set(ELEMENT_TYPES) - NO_VERBS - set(FILE_ONLY)):
        parameters = inspect.signature(getattr(da.System, name)).parameters
        needed = {n for n, p in parameters.items() if p.default is p.empty} - {
            "self",
            "s",
            ELEMENT_TYPES[name].name_argument,
        }
        # s.roll is told its body; in a file the name of the element may be that of the body
        optional = {"body"} if name == "roll" else set()
        assert needed - optional == {k.name for k in ELEMENT_TYPES[name].keys if k.required}, name


def test_ends_and_runs():
    assert words(da.System.end) == {k.name for k in NESTED_TABLES["end"]}
    assert words(da.simulate) - RUN_ONLY == set(SETTINGS["run"])
