"""Terminals, pipes, encodings and signals: real processes."""

import os
import signal
import subprocess
import sys

import pytest

from cli.running import command, environment, run, start

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of POSIX")


@pytest.mark.slow
def test_two_processes_write_the_same_bytes():
    first, second = (
        start(
            "report", "rolling-disk", "--text", text=False, PYTHONHASHSEED=seed, DALEMBERT_SEED="7"
        )
        for seed in ("1", "2")
    )
    assert b"" == first.stderr
    assert first.stdout == second.stdout


def test_a_process_separates_its_streams_and_codes(tmp_path):
    result = start("derive", "rolling-dsk", cwd=tmp_path)
    assert (2, "") == (result.returncode, result.stdout)
    assert (
        "dalembert: no system named 'rolling-dsk' in the gallery; did you mean 'rolling-disk'?\n"
        == result.stderr
    )


def test_without_unicode_names_are_spelled_out():
    result = start("derive", "rolling-disk", PYTHONIOENCODING="ascii")
    assert 0 == result.returncode
    assert "1/4 m r^2 (1 + 5 cos^2 theta) phi'' + 3/2 m r^2 psi'' cos theta" in result.stdout
    assert "============" in result.stdout
    assert "?" not in result.stdout


def test_the_c_locale_does_no_harm():
    result = start("agree", "vehicle", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert (0, "") == (result.returncode, result.stderr)
    assert "agree exactly" in result.stdout


def test_a_pipe_gets_no_colours_and_whole_lines():
    result = start("report", "spatial-chain", "--text")
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) > 200
    assert "…" not in result.stdout
    assert all(line == line.rstrip() for line in result.stdout.splitlines())


def test_columns_set_the_width_and_nothing_is_lost():
    narrow = run(
        "derive", "rolling-disk", "--by", "lagrange", "--steps", "brief", columns=72
    ).stdout
    wide = run("derive", "rolling-disk", "--by", "lagrange", "--steps", "brief").stdout
    assert (
        max(len(line) for line in narrow.splitlines()) <= 72 + 12
    )  # dots above letters take no room
    assert wide.split() == narrow.split()


@pytest.mark.parametrize(("variable", "coloured"), [("NO_COLOR", False), ("FORCE_COLOR", True)])
def test_colours_as_the_environment_says(variable, coloured):
    more = {variable: "1", "TERM": "xterm-256color"}
    assert coloured == ("\x1b[" in start("gallery", **more).stdout)


@POSIX
def test_a_closed_pipe_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        command("gallery"), stdout=writing, stderr=subprocess.PIPE, env=environment()
    )
    os.close(writing)
    assert b"" == process.communicate(timeout=120)[1]
    assert 141 == process.returncode


@POSIX
def test_a_closed_output_is_an_error_and_files_are_written_all_the_same(tmp_path):
    def closed(*arguments):
        line = ["sh", "-c", 'exec "$@" >&-', "sh", *command(*arguments)]
        return subprocess.run(
            line,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(),
            cwd=tmp_path,
            text=True,
            timeout=120,
        )

    result = closed("gallery")
    assert 1 == result.returncode
    assert result.stderr.startswith("dalembert: the standard output is closed")
    result = closed("simulate", "simple-pendulum", "--for", "1", "-o", "run.csv")
    assert 1 == result.returncode
    assert (tmp_path / "run.csv").read_text(encoding="utf-8").startswith("t,")
    assert 0 == closed("derive", "simple-pendulum", "-o", "eom.md").returncode


@POSIX
def test_a_full_disk_is_one_sentence():
    if not os.path.exists("/dev/full"):  # noqa: PTH110 - a device
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123 - a device
        result = subprocess.run(
            command("gallery"),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(),
            text=True,
        )
    assert 1 == result.returncode
    assert result.stderr.startswith("dalembert: cannot write the output: ")
    assert 1 == result.stderr.count("\n")


@POSIX
def test_an_interrupt_is_quiet(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import signal\ndef f():\n    print('started', flush=True)\n    signal.pause()\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        command("derive", "slow.py:f"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    )
    assert b"started\n" == process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert 130 == process.returncode
    assert b"" == complaint.strip()


def test_a_mistake_of_ours_is_one_sentence(monkeypatch):
    def mistaken(_):
        message = "something silly"
        raise IndexError(message)

    monkeypatch.setattr("dalembert.cli.derive.kinematics", mistaken)
    result = run("derive", "vehicle")
    assert 70 == result.exit_code
    assert (
        "dalembert: internal error, please report it: IndexError: something silly" in result.stderr
    )
    assert "Traceback" not in result.stderr
    monkeypatch.setenv("DALEMBERT_TRACEBACK", "1")
    assert "Traceback" in run("derive", "vehicle").stderr


# {a command: what it must not open, since it needs none of it}
CLOSED = {
    ("derive", "rolling-disk"): (
        "pydantic",
        "rich.console",
        "numpy",
        "dalembert.runtime.numerics",
        "dalembert.runtime.states",
        "dalembert.exchange.modelfile.element_schema",
    ),
    ("derive", "rolling-disk", "--by", "lagrange", "--steps", "full"): (
        "scipy",
        "llvmlite",
    ),
    ("agree", "simple-pendulum"): (
        "pydantic",
        "dalembert.exchange.modelfile.element_schema",
        "dalembert.interface.page",
    ),
    ("gallery",): ("numpy", "flint"),
}
HEAVY = ("sympy", "scipy", "matplotlib", "mujoco", "pint", "xarray", "IPython")


@pytest.mark.each_time(2)
@pytest.mark.parametrize("line", CLOSED)
def test_a_command_opens_only_what_it_needs(line):
    program = (
        "import sys; from dalembert.cli import main\ntry: main()\nexcept SystemExit: "
        "print(*sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *line],
        capture_output=True,
        check=True,
        env=environment(),
        encoding="utf-8",
    )
    opened = result.stdout.splitlines()[-1].split()
    assert [] == [module for module in opened if module in (*CLOSED[line], *HEAVY)]
    if line == ("derive", "rolling-disk"):
        # 138 when this was last looked at; each takes a millisecond
        assert sum(module.startswith("dalembert") for module in opened) <= 140
