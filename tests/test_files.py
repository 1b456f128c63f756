"""What is written appears whole or not at all: failures and kills at every step of writing."""

import contextlib
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import dalembert as da
from cli.running import environment, run
from dalembert import gallery
from dalembert.errors import Unwritable
from dalembert.foundation.atomic_write import (
    atomic_replace,
    check_extension,
    unused_path,
    write_text,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


STEPS = ("touch", "open", "fsync", "replace")


def test_a_new_file_and_one_in_place_of_another(tmp_path):
    path = tmp_path / "a.txt"
    assert path == write_text(path, "first\n")
    path.chmod(0o640)
    write_text(path, "second · ω\r\n")
    assert "second · ω\r\n".encode() == path.read_bytes()
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)
    assert ["a.txt"] == names(tmp_path)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert "new" == (tmp_path / "real.txt").read_text()
    assert (tmp_path / "link.txt").is_symlink()


def test_a_pipe_is_written_to_as_it_is():
    reading, writing = os.pipe()
    write_text(f"/dev/fd/{writing}", "through")
    os.close(writing)
    with open(reading, "rb") as file:  # noqa: PTH123 - a pipe
        assert b"through" == file.read()


@pytest.mark.parametrize("name", [".", "missing/a.txt", "a" * 300])
def test_where_nothing_can_be_written(tmp_path, name):
    with pytest.raises(Unwritable, match=r"cannot write .*; name another place"):
        write_text(tmp_path / name, "x")
    assert [] == names(tmp_path)


def test_a_name_is_a_name_and_its_ending_says_what_it_is():
    with pytest.raises(Unwritable, match="a file is given by its name, not by 3"):
        write_text(3, "x")
    with pytest.raises(
        Unwritable, match=r"x\.xyz: the ending decides on the format; give one of \.svg, \.png"
    ):
        check_extension("folder/x.xyz", (".svg", ".png"))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_step_leaves_what_was_there(tmp_path, monkeypatch, step, problem):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(*_args, **_more):
        raise problem

    monkeypatch.setattr(*((os, step) if step == "fsync" else (Path, step)), fail)
    with pytest.raises(Unwritable if isinstance(problem, OSError) else KeyboardInterrupt):
        write_text(path, "new")
    monkeypatch.undo()
    assert ("old", ["a.txt"]) == (path.read_text(), names(tmp_path))


def half_written(part):
    part.write_text("half")
    raise ZeroDivisionError


def test_a_failure_of_whoever_writes_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_replace(path) as part:
        half_written(part)
    assert ("old", ["a.txt"]) == (path.read_text(), names(tmp_path))


KILLED = """
import os, pathlib, signal, sys
from dalembert.foundation import atomic_write

path, new = pathlib.Path(sys.argv[1]) / "a.txt", "new" * 100_000

def killed_at(owner, name, before):
    plain = getattr(owner, name)
    def call(*args, **more):
        if before:
            os.kill(os.getpid(), signal.SIGKILL)
        plain(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, call)

for old in ("old" * 1000, None):
    calls = [(pathlib.Path, "touch"), (pathlib.Path, "open")]
    calls += [(os, "fsync"), (os, "replace"), (os, "close")]
    for owner, name in calls:
        for before in (True, False):
            path.unlink(missing_ok=True) if old is None else path.write_text(old)
            child = os.fork()
            if not child:
                killed_at(owner, name, before)
                atomic_write.write_text(path, new)
                os._exit(0)
            os.waitpid(child, 0)
            there = path.read_text() if path.exists() else None
            assert there in (old, new), (name, before, there and len(there))
print("whole")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="forks and signals of POSIX")
def test_a_kill_at_any_step_leaves_no_half_file(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert ("whole\n", "", 0) == (done.stdout, done.stderr, done.returncode)


# ---- everything that writes ----------------------------------------------------------------------


@contextlib.contextmanager
def full_after(size):
    """No file grows beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def pendulum():
    return da.simulate(
        gallery.build("double-pendulum"), 1, start=gallery.entry("double-pendulum").start
    )


def command(*arguments):
    """A command that ends with an error in one sentence."""

    def call(path):
        result = run(*arguments, str(path))
        if result.exit_code:
            assert result.stderr.startswith("dalembert: ")
            assert "Traceback" not in result.stderr
            raise Unwritable(result.stderr)

    return call


WRITERS = {
    "run.csv": lambda run: run.to_csv,
    "reactions.csv": lambda run: run.reactions.to_csv,
    "run.svg": lambda run: lambda path: run.plot(path=path),
    "run.png": lambda run: lambda path: run.plot(path=path),
    "reactions.svg": lambda run: lambda path: run.reactions.plot(path=path),
    "derived.md": lambda _: command("derive", "simple-pendulum", "-o"),
    "derived.tex": lambda _: command("derive", "simple-pendulum", "--format", "latex", "-o"),
    "hybrid.html": lambda _: command("hybrid", "cantilever", "-o"),
}
SLOW_WRITERS = {
    "film.gif": lambda run: lambda path: run.animate(path=path),
    "film.html": lambda run: lambda path: run.animate(path=path),
    "still.png": lambda run: lambda path: run.animate(path=path),
    "modes.png": lambda _: command("modes", "whipple-bicycle", "--sweep", "v=0:10", "--plot"),
    "beam.png": lambda _: command("member", "cantilever", "--plot"),
    "report.md": lambda _: command("report", "simple-pendulum", "-o"),
    "report.html": lambda _: command("report", "simple-pendulum", "-o"),
}


@pytest.mark.each_time(4)
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize(
    "name", [*WRITERS, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW_WRITERS)]
)
def test_a_full_disk_leaves_the_old_file(name, pendulum, tmp_path):
    path = tmp_path / name
    writer = (WRITERS | SLOW_WRITERS)[name](pendulum)
    writer(path)
    size = path.stat().st_size
    assert [name] == names(tmp_path)
    path.write_text("old")
    for limit in (0, 1, size // 2, size - 1):
        with full_after(limit), pytest.raises(Unwritable):
            writer(path)
        assert ("old", [name]) == (path.read_text(), names(tmp_path))
    writer(path)
    assert path.stat().st_size > 3


def test_a_name_that_nobody_gave_overwrites_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert unused_path("plot.svg") == "plot.svg"
    (tmp_path / "plot.svg").write_text("mine")
    (tmp_path / "plot-2.svg").write_text("mine too")
    assert unused_path("plot.svg") == "plot-3.svg"
