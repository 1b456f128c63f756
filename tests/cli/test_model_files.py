"""check, new, convert, schema, and files in the place of names."""

from __future__ import annotations

import json

import pytest

from cli.running import run
from dalembert.exchange.modelfile.templates import TEMPLATES


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
    model.write_text(
        model.read_text(encoding="utf-8").replace("constants = { ", 'constants = { c = "1 m", '),
        encoding="utf-8",
    )
    found = run("check", str(model))
    assert 2 == found.exit_code
    assert "model.toml:4:15: constant 'c': declared but used nowhere" in found.stderr


def test_new_prints_a_file(model):
    assert model.read_text(encoding="utf-8") == run("new", "robot-arm").stdout
    assert "did you mean 'pendulum'?" in run("new", "pendulm").stderr


def test_convert_goes_both_ways(model, tmp_path):
    assert 0 == run("convert", str(model), str(tmp_path / "model.json")).exit_code
    assert "Arm" == json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["name"]
    assert (
        run("convert", str(model), "toml").stdout
        == run("convert", str(tmp_path / "model.json"), "toml").stdout
    )
    assert "[run]\nduration = 10" in run("convert", "simple-pendulum", "toml").stdout
    assert 2 == run("convert", str(model), "model.yaml").exit_code


def test_schema_is_json():
    assert "dalembert model" == json.loads(run("schema").stdout)["title"]


def test_set_takes_units_and_refuses_the_wrong_one(model):
    assert 0 == run("derive", str(model), "--set", "n=1", "--set", "m=500 g").exit_code
    assert "but [kg] is needed" in run("derive", str(model), "--set", "m=3 m").stderr
    assert "no constant is called 'k'" in run("derive", str(model), "--set", "k=3").stderr


@pytest.mark.parametrize("command", ["derive", "agree", "hybrid", "compare"])
def test_set_on_a_name_is_taken_or_refused(command):
    name = "cantilever" if command == "hybrid" else "simple-pendulum"
    assert "is not a constant or an input" in run(command, name, "--set", "ll=2").stderr
    assert 0 == run(command, name, "--set", "L=2" if command == "hybrid" else "l=2").exit_code


def test_set_changes_the_values_and_the_size_of_a_gallery_system():
    assert "m = 3\n" in run("convert", "simple-pendulum", "toml", "--set", "m=3").stdout
    two = run("derive", "pendulum-absolute", "--set", "n=2").stdout
    assert "θ̈₂" in two
    assert "θ̈₃" not in two
    assert (
        "--set n=x: it is a whole number, such as 3"
        in run("derive", "pendulum-absolute", "--set", "n=x").stderr
    )
    assert "--set N: did you mean 'n'?" in run("derive", "pendulum-absolute", "--set", "N=2").stderr
    assert "a mass must be positive" in run("derive", "simple-pendulum", "--set", "m=-1").stderr


def test_set_reaches_a_function_of_python(tmp_path):
    program = tmp_path / "chain.py"
    program.write_text(
        "import dalembert as da\n\n\ndef chain(n=1):\n    s = da.System('Chain', gravity=9.81)\n   "
        " P = s.O\n    m = s.constant('m', 1)\n"
        "    for k in range(n):\n        P = s.rod(f'rod {k}', s.pin(f'q_{k}', P), m, 1).tip\n    "
        "return s\n",
        encoding="utf-8",
    )
    found = run("convert", f"{program}:chain", "toml", "--set", "n=2", "--set", "m=1/3")
    assert "[pin.q_1]" in found.stdout
    assert 'm = "1/3"' in found.stdout or "m = 0.333" in found.stdout
    assert "did you mean 'm'?" in run("derive", f"{program}:chain", "--set", "mm=2").stderr


def test_check_reports_all_faults_at_once(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(
        'name = "P"\ngravity = "gg"\nconstants = { m = "1 kgg", l = "1 m", g = "9.81 q" }\n'
        'pin.theta = "O"\npin.phi = "Q"\n\n[rod.upper]\nat = "theta"\nmass = 2\nlngth = "l"\n',
        encoding="utf-8",
    )
    ended = run("check", str(path))
    assert 2 == ended.exit_code
    for place in ("2:12", "3:15", "3:39", "5:12", "10:1"):
        assert 1 == ended.output.count(f"bad.toml:{place}: ")
