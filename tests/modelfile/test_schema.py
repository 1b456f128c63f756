"""The schema takes what the reader takes, and marks what it refuses."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from dalembert import gallery
from dalembert.exchange.modelfile.element_schema import ELEMENT_TYPES, SECTIONS
from dalembert.exchange.modelfile.json_schema import schema
from dalembert.exchange.modelfile.save import toml_text
from dalembert.exchange.modelfile.templates import TEMPLATES

jsonschema = pytest.importorskip("jsonschema")
FILES = sorted((Path(__file__).parents[2] / "examples" / "models").glob("*.toml"))


def faults(text):
    return [
        e.message for e in jsonschema.Draft7Validator(schema()).iter_errors(tomllib.loads(text))
    ]


def test_it_has_every_kind_and_section():
    jsonschema.Draft7Validator.check_schema(schema())
    assert {*ELEMENT_TYPES, *SECTIONS, "$schema", "exercise"} == set(schema()["properties"])


@pytest.mark.parametrize(
    "text", [*(f.read_text(encoding="utf-8") for f in FILES), *TEMPLATES.values()]
)
def test_good_files_pass(text):
    assert [] == faults(text)


@pytest.mark.parametrize(
    "name", ["cantilever", "beam-with-tip-mass", "andrews-squeezer", "suslov", "bouncing-ball"]
)
def test_what_is_written_passes(name):
    assert [] == faults(toml_text(gallery.build(name)))


@pytest.mark.parametrize(
    "text",
    [
        "rodd.bar = {}",
        "rod.bar = { at = 'O' }",
        "rod.bar = { at = 3, mass = 1, length = 1 }",
        "run.duraton = 3",
        "name = 3",
    ],
)
def test_bad_files_are_marked(text):
    assert faults(text)
