"""check, new, convert, schema, and files in the place of names."""

from __future__ import annotations

import json

import pytest

from cli.running import run
from dalembert.modelfile.templates import TEMPLATES


@pytest.fixture
def model(tmp_path):
    file = tmp_path / "model.toml"
    file.write_text(TEMPLATES["robot-arm"], encoding="utf-8")
    return file


def test_check_tells_what_it_found(model):
    said = run("check", str(model), "--set", "n=1").stdout
    assert "Arm: 1 coordinate, 1 body" in said
    assert "all sums fit" in said
    assert "principles agree exactly" in said


def test_check_has_a_place_for_a_symbol_that_is_used_nowhere(model):
    model.write_text(model.read_text(encoding="utf-8").replace("constants = { ", 'constants = { c = "1 m", '), encoding="utf-8")
    found = run("check", str(model))
    assert 2 == found.exit_code
    assert "model.toml:4:15: constant 'c': declared but used nowhere" in found.stderr


def test_new_prints_a_file(model):
    assert model.read_text(encoding="utf-8") == run("new", "robot-arm").stdout
    assert "did you mean 'pendulum'?" in run("new", "pendulm").stderr


def test_convert_goes_both_ways(model, tmp_path):
    assert 0 == run("convert", str(model), str(tmp_path / "model.json")).exit_code
    assert "Arm" == json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["name"]
    assert run("convert", str(model), "toml").stdout == run("convert", str(tmp_path / "model.json"), "toml").stdout
    assert "[run]\nduration = 10" in run("convert", "simple-pendulum", "toml").stdout
    assert 2 == run("convert", str(model), "model.yaml").exit_code


def test_schema_is_json():
    assert "dalembert model" == json.loads(run("schema").stdout)["title"]


def test_set_takes_units_and_refuses_the_wrong_one(model):
    assert 0 == run("derive", str(model), "--set", "n=1", "--set", "m=500 g").exit_code
    assert "but [kg] is needed" in run("derive", str(model), "--set", "m=3 m").stderr
    assert "no constant is called 'k'" in run("derive", str(model), "--set", "k=3").stderr
