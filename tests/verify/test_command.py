"""dalembert verify, exercise and serve: what they print, and how they end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RIGHT = "phi'' + g/l*sin(phi) = 0"


def run(*words, data=None):
    return subprocess.run(
        [sys.executable, "-m", "dalembert", *words], input=data, capture_output=True, check=False
    )


def test_a_right_answer_ends_well():
    done = run("verify", "simple-pendulum", RIGHT)
    assert 0 == done.returncode
    assert "The answer is right" in done.stdout.decode()


def test_a_wrong_answer_shows_the_term():
    done = run("verify", "simple-pendulum", "phi'' + g*l*sin(phi) = 0", "--marks", "10")
    text = done.stdout.decode()
    assert 1 == done.returncode
    assert "g l sin φ should be g sin(φ)/l" in text or "l g sin φ should be" in text
    assert "^^^^" in text
    assert "marks: 7.5 of 10" in text


def test_json_has_the_fields_of_the_schema():
    data = json.loads(run("verify", "simple-pendulum", RIGHT, "--json").stdout)
    fields = {"system", "verdict", "holds", "sentence", "bound", "rows", "combination", "condition"}
    assert fields <= set(data)
    assert ("equal", True) == (data["verdict"], data["holds"])


@pytest.mark.each_time(2)
@pytest.mark.parametrize("answer", ["", "nonsense = 1", "missing.txt", "0 = 0"])
def test_what_cannot_be_read_ends_with_two(answer):
    done = run("verify", "simple-pendulum", answer)
    assert 2 == done.returncode
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"dalembert: ")


@pytest.mark.slow
def test_files_and_the_standard_input(tmp_path):
    file = tmp_path / "answer.txt"
    file.write_text(RIGHT, encoding="utf-8")
    assert 0 == run("verify", "simple-pendulum", str(file)).returncode
    assert 0 == run("verify", "simple-pendulum", "-", data=RIGHT.encode()).returncode
    assert 2 == run("verify", "simple-pendulum", "-", data=b"\xff\xfe").returncode
    file.write_bytes(b"x" * 10_000_000)
    assert 2 == run("verify", "simple-pendulum", str(file)).returncode


@pytest.mark.slow
def test_exercises_from_the_line(tmp_path):
    file = tmp_path / "pendulum.toml"
    assert 0 == run("exercise", "new", "simple-pendulum", "-o", str(file)).returncode
    assert 0 == run("exercise", "page", str(file), "-o", str(tmp_path / "page.html")).returncode
    (tmp_path / "pendulum").mkdir()
    (tmp_path / "pendulum" / "anna.txt").write_text(RIGHT, encoding="utf-8")
    done = run("exercise", "grade", str(tmp_path), "--json")
    (grade,) = json.loads(done.stdout)
    assert ("anna", 10) == (grade["student"], grade["points"])
    assert 2 == run("exercise", "mark", str(tmp_path)).returncode
    assert 2 == run("serve").returncode
