"""path/to/file.py:function: the user's own program."""

import pytest

from cli.running import run, start

PROGRAM = '''
import warnings

import dalembert as da
import helper


def pendulum():
    """A rod on a hinge.

    More about it.
    """
    s = da.System("Pendulum", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O), mass=1, length=2)
    return s


ready = pendulum()


def tilted():
    s = da.System("Tilted")
    return s.N.rotated(1, 0 * s.N.z)


def idle():
    s = pendulum()
    s.constant("k")
    return s


def divides():
    return helper.divide(1, 0)


def ends():
    raise SystemExit("enough")


def inside():
    s = da.System("Inside")
    if s.coordinate("x"):
        return s


def warns():
    s = da.System("Warns", gravity=9.81)
    B = s.N.rotations("zxz", *s.coordinates("x y z"))[-1]
    s.body("b", 1, s.O, B, da.inertia(B, 2, 2, 1, xy=1.9))
    return s


def number():
    return 3


def needs(mass, *rest, length=1):
    return mass


def leaves():
    raise SystemExit(5)


answer = 42
'''
HELPER = """
def divide(a, b):
    try:
        return a / b
    except ZeroDivisionError as problem:
        raise RuntimeError("no division today") from problem
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "helper.py").write_text(HELPER, encoding="utf-8")
    (tmp_path / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    (tmp_path / "folder.py").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_function_of_the_user_is_a_system(folder):
    result = run("derive", "mine.py:pendulum")
    assert 0 == result.exit_code
    assert "A rod on a hinge." in result.stdout
    assert "More about it" not in result.stdout
    assert "4/3 θ̈ = −9.81 sin θ" in result.stdout
    assert (
        result.stdout.partition("A rod")[0]
        in run("derive", str(folder / "mine.py") + ":pendulum").stdout
    )
    assert "θ̈" in run("derive", "mine.py:ready").stdout


@pytest.mark.parametrize("command", ["derive", "agree", "report"])
def test_every_command_takes_it(folder, command):
    assert 0 == run(command, "mine.py:pendulum").exit_code


def test_a_refused_description_shows_the_users_line(folder):
    result = run("derive", "mine.py:tilted")
    assert 2 == result.exit_code
    assert (
        "dalembert: rotation axis: it is the zero vector, which has no direction\n" in result.stderr
    )
    line = 1 + PROGRAM.split("\n").index("    return s.N.rotated(1, 0 * s.N.z)")
    assert f"  mine.py, line {line}: return s.N.rotated(1, 0 * s.N.z)\n" in result.stderr
    assert "Traceback" not in result.stderr


def test_what_does_not_fit_together_names_the_function(folder):
    result = run("derive", "mine.py:idle")
    assert 2 == result.exit_code
    assert (
        "dalembert: mine.py:idle: constant 'k': declared but used nowhere; remove it or use it\n"
        == result.stderr
    )


def test_the_programs_own_error_shows_its_traceback_and_none_of_ours(folder):
    result = run("derive", "mine.py:divides")
    assert 1 == result.exit_code
    assert "" == result.stdout
    assert "mine.py:divides failed with its own error" in result.stderr
    assert 2 == result.stderr.count("Traceback (most recent call last)")
    for part in (
        'mine.py", line',
        'helper.py", line',
        "in divides",
        "ZeroDivisionError",
        "RuntimeError: no division today",
    ):
        assert part in result.stderr
    for part in ("program.py", "importlib", "click", "errors.py"):
        assert part not in result.stderr


def test_an_error_deep_inside_ends_at_the_users_line(folder):
    result = run("derive", "mine.py:inside")
    assert 1 == result.exit_code
    assert 'if s.coordinate("x"):' in result.stderr
    assert "TypeError: an expression is neither true nor false" in result.stderr
    assert "scalar.py" not in result.stderr


def test_a_syntax_error_shows_the_line(folder):
    result = run("derive", "broken.py:f")
    assert 1 == result.exit_code
    assert 'broken.py", line 1' in result.stderr
    assert "SyntaxError" in result.stderr
    assert "importlib" not in result.stderr


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_sentence_with_the_users_line(folder):
    result = run("derive", "mine.py:warns")
    assert 0 == result.exit_code
    assert "dalembert: warning: body 'b'" in result.stderr
    assert "(mine.py, line" in result.stderr


@pytest.mark.parametrize(("name", "code", "said"), [("leaves", 5, "5"), ("ends", 1, "'enough'")])
def test_a_program_may_leave_as_it_likes_and_is_told_what_was_wanted(folder, name, code, said):
    result = run("derive", f"mine.py:{name}")
    assert code == result.exit_code
    assert (
        f"dalembert: mine.py:{name} ended itself with sys.exit({said}); let it return a System "
        f"instead\n" == result.stderr
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mine.py:pendulm", "mine.py has no function 'pendulm'; did you mean 'pendulum'?"),
        ("mine.py:zzz", "it has pendulum, tilted, idle"),
        ("mine.py", "mine.py: say which function builds the system, mine.py:pendulum"),
        ("mine.py:", "mine.py: say which function builds the system, mine.py:pendulum"),
        ("broken.py", "broken.py: say which function builds the system, broken.py:function"),
        ("mine.py:number", "mine.py:number() returned int, not a System"),
        (
            "mine.py:needs",
            "mine.py:needs needs mass; give a function that can be called without arguments",
        ),
        ("mine.py:answer", "mine.py:answer is int, neither a function nor a System"),
        ("min.py:pendulum", "there is no file min.py; did you mean 'mine.py'?"),
        ("nowhere/x.py:f", "there is no file nowhere"),
        ("folder.py:f", "folder.py is a folder"),
        (".", ". is a folder"),
        ("../../x", "there is no file"),
        ("notes.txt:f", "notes.txt is not a Python file"),
        (":f", "no system named ':f'"),
        ("mine.py:a:b", "there is no file mine.py:a"),
        ("mine.py:__import__", "has no function '__import__'"),
        ("x" * 5000 + "/y.py:f", "cannot be read"),
        ("a\0b.py:f", "there is no file a/x00b.py"),
        ("a\x1b[31mb", "no system named 'a/x1b[31mb'"),
    ],
)
def test_what_is_not_there_is_one_sentence(folder, text, sentence):
    result = run("derive", text)
    assert 2 == result.exit_code
    assert "" == result.stdout
    assert sentence in result.stderr.replace("\\\\", "/").replace("\\", "/")
    assert "Traceback" not in result.stderr


def test_a_neighbour_named_like_a_library_does_no_harm(folder):
    (folder / "rich.py").write_text("raise RuntimeError('not this one')", encoding="utf-8")
    (folder / "random.py").write_text("raise RuntimeError('not this one')", encoding="utf-8")
    result = start("derive", "mine.py:pendulum", cwd=folder, PYTHONSAFEPATH="1")
    assert "" == result.stderr
    assert 0 == result.returncode
