"""A refused description shows the user's own line and the message, in Python and in notebooks."""

import os
import subprocess
import sys

import pytest

from dalembert.short_tracebacks import short_lines

MAX_LINES = 8
SETUP = """
import dalembert as da
s = da.System("w", gravity=9.81)
x, y = s.coordinates("x y")
P = s.O.offset(x*s.N.x + y*s.N.y)
"""
REFUSED = [
    's.body("b", -1, s.O, s.N, da.inertia(s.N, 1, 1, 1))',
    's.particle("p", -1, P)',
    's.coordinate("x")',
    's.coordinates("x y")',
    's.particle("p", "1 m", P)',
    's.spring("k", s.O, s.O, 3)',
    's.constrain(1, "row")',
    's.constrain(x - x, "row")',
    's.force("F", at=P)',
    's["z"]',
    "s.N.rotated(x, s.N.x + 3)",
    's.N.rotations("abc", x, y, x)',
    "da.simulate(s, -1)",
    "da.simulate(s, 1)",
    's.particle("p", 1, P); da.simulate(s, 1, start={"z": 1})',
    's.particle("q", 1, P); da.simulate(s, 1, integrator="Euler77")',
    's.particle("r", 1, P); da.linearize(s, at={"q": 1})',
    "da.kane(3)",
    's.particle("u", 1, P); da.evaluate(s, "x +* y")',
    's.particle("v", 1, P); da.simulate(s, 1, durations=3)',
    's.constants(m="heavy")',
    'da.load("there-is-no-such-file.toml")',
]  # fmt: skip


def refusal(code):
    scope = {}
    exec(compile(SETUP, "setup", "exec"), scope)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the family of our errors
        exec(compile(code, "user.py", "exec"), scope)
    return caught.value


@pytest.mark.parametrize("code", REFUSED)
def test_the_users_line_and_the_message_are_all_there_is(code):
    error = refusal(code)
    lines = short_lines(error)
    assert len(lines) <= MAX_LINES, lines
    assert any('File "user.py", line 1' in line for line in lines)
    assert str(error).splitlines()[0] in lines[-1 - str(error).count("\n")]
    assert not any("During handling" in line or "/dalembert/" in line for line in lines)


def test_a_notebook_shows_the_short_form(capsys):
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell()
    shell.run_cell(SETUP)
    capsys.readouterr()
    for code in REFUSED:
        shell.run_cell(code)
        shown = capsys.readouterr().out.strip().splitlines()
        assert 3 <= len(shown) <= MAX_LINES, shown
        assert any(line.startswith("dalembert.") for line in shown), shown


@pytest.mark.parametrize(("debug", "internal"), [("", False), ("1", True)])
def test_a_script_shows_internals_only_on_request(tmp_path, debug, internal):
    path = tmp_path / "model.py"
    path.write_text(SETUP + REFUSED[0] + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "DALEMBERT_DEBUG": debug},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 1 == done.returncode
    assert internal == ("in body" in done.stderr)
    assert "a mass must be positive" in done.stderr


def test_errors_of_others_keep_their_traceback(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("import dalembert\nimport json\njson.loads('{')\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert "json/decoder.py" in done.stderr.replace("\\", "/")


def test_an_error_in_a_function_of_the_users_is_shown_first(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(
        SETUP
        + "s.particle('p', 1, P)\n"
        + "s.force(s.input('F')*s.N.x, at=P)\n"
        + "def law(t, now):\n    return 1/now['x']\n"
        + "da.simulate(s, 1, inputs={'F': da.sampled(law, every=0.1)})\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    shown = done.stderr.splitlines()
    assert "    return 1/now['x']" in shown
    assert shown.index("which caused:") > shown.index("ZeroDivisionError: float division by zero")
    assert "its function raised ZeroDivisionError" in shown[-1]
    assert not any("/dalembert/runtime/" in line for line in shown)
