"""report: the page, the lines that matter, pictures, and the whole gallery."""

import re
import shlex

import pytest

from cli.running import run
from dalembert import gallery

PROGRAM = '''
import dalembert as da

def pendulum():
    """A rod on a hinge."""
    s = da.System("Pendulum <b>", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O), mass=1, length=s.constant("l", 2))
    return s

def falling():
    s = da.System("Falling")
    y = s.coordinate("y")
    s.particle("stone", s.constant("m"), s.O.offset(y * s.N.y))
    s.gravity(-9.81 * s.N.y)
    return s
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "$(rm) mine.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page_is_written_and_the_three_lines_that_matter_are_printed(folder):
    result = run("report", "rolling-disk", "--for", "1")
    assert 0 == result.exit_code
    agreement, energy, constraints, written = result.stdout.splitlines()
    assert re.match(
        r"agreement +11 principles agree exactly, at 2 random points of random 127-bit prime "
        r"fields",
        agreement,
    )
    assert re.match(r"energy +\d\.\de-1\d: relative drift of the energy integral E_Z", energy)
    assert re.match(r"constraints +\d\.\de[+-]\d\d: largest violation", constraints)
    assert re.fullmatch(
        rf"written: {re.escape(str(folder.resolve()))}.rolling-disk\.html \(\d\.\d MB\)", written
    )
    assert (folder / "rolling-disk.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_the_command_in_the_page_makes_the_page_again(folder):
    name = "$(rm) mine.py:pendulum"
    asked = [
        "report",
        name,
        "--for",
        "0.5",
        "--set",
        "l=1.5",
        "--start",
        "theta=pi/3",
        "-o",
        "one.html",
    ]
    assert 0 == run(*asked).exit_code
    first = (folder / "one.html").read_text(encoding="utf-8")
    (command,) = re.findall(r"<code>dalembert (report .*?)</code>", first)
    again = shlex.split(command.replace("&#x27;", "'"))
    assert 0 == run(*again, "-o", "two.html").exit_code
    assert first == (folder / "two.html").read_text(encoding="utf-8")
    assert "Pendulum &lt;b&gt;" in first
    assert "<b>Pendulum <b>" not in first
    assert "1.5" in first
    # the name of the page is that of the function
    run(*again)
    assert (folder / "pendulum.html").is_file()


def test_the_ending_decides_on_what_is_written(folder):
    assert 0 == run("report", "simple-pendulum", "-o", "report.tex").exit_code
    assert (folder / "report.tex").read_text(encoding="utf-8").startswith(r"\documentclass")
    assert 0 == run("report", "simple-pendulum", "-o", "report.txt").exit_code
    assert "Agreement of the principles" in (folder / "report.txt").read_text(encoding="utf-8")
    assert 0 == run("report", "simple-pendulum", "-o", "page").exit_code
    assert (folder / "page").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_pictures_are_written_beside_the_page(folder):
    result = run(
        "report", "simple-pendulum", "--for", "0.2", "--png", "start.png", "--gif", "swing.gif"
    )
    assert 0 == result.exit_code
    assert b"\x89PNG" == (folder / "start.png").read_bytes()[:4]
    assert b"GIF8" == (folder / "swing.gif").read_bytes()[:4]


def test_without_values_the_page_says_so(folder):
    result = run("report", "$(rm) mine.py:falling")
    assert 0 == result.exit_code
    assert "not run: no value for the constant m" in result.stdout
    refused = run("report", "$(rm) mine.py:falling", "--png", "start.png")
    assert 2 == refused.exit_code
    assert "there is no motion to show" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "name one system, or say --all"),
        (("vehicle", "--all"), "name one system or say --all, not both"),
        (("--all", "--for", "3"), "--all takes no option but -o"),
        (
            ("vehicle", "--text", "--gif", "a.gif"),
            "--png, --gif, --mp4 and --open go with the page",
        ),
        (
            ("vehicle", "-o", "nowhere/page.html"),
            "cannot write nowhere/page.html: No such file or directory",
        ),
        (("vehicle", "--start", "theta"), "write it as --start name=value"),
        (("vehicle", "--set", "m=heavy"), "'heavy' is not a number"),
        (("vehicle", "-o", "vehicle.pdf"), "there is no format .pdf; give FILE.html"),
        (("<script>alert(1)</script>",), "no file"),
        (("$(rm)",), "no system named '$(rm)' in the gallery"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(folder, arguments, sentence):
    result = run("report", *arguments)
    assert 2 == result.exit_code
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


def test_all_makes_a_page_for_each_and_an_index_of_thumbnails(folder, monkeypatch):
    known = ("simple-pendulum", "mass-on-incline")
    monkeypatch.setattr(gallery, "names", lambda: known)
    result = run("report", "--all", "-o", "site")
    assert 0 == result.exit_code
    assert ["1", "2"] == [line.split()[0] for line in result.stdout.splitlines()[:2]]
    index = (folder / "site" / "index.html").read_text(encoding="utf-8")
    for name in known:
        assert f'href="{name}.html"' in index
        assert (folder / "site" / f"{name}.html").is_file()
    assert 2 == index.count('class="sketch"')
