import os
import stat
import subprocess
import sys
import warnings

import pytest

from dalembert.errors import DalembertWarning
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.object_cache import ObjectCache
from numerics.test_jit import plus, value

posix = pytest.mark.skipif(os.name != "posix", reason="owners and rights are those of POSIX")


@pytest.fixture
def compilations(monkeypatch):
    """How often something was compiled."""
    count = []
    compile_ = jit._compile_object
    monkeypatch.setattr(jit, "_compile_object", lambda *a: count.append(1) or compile_(*a))
    return count


@pytest.fixture
def place(tmp_path, monkeypatch):
    # this process keeps the description of its processor elsewhere
    jit.host()
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(place):
    return sorted(place.glob("*")) if place.exists() else []


def test_compiled_once(place, compilations):
    assert [2.5, 2.5] == [value(plus(1.5)) for _ in range(2)]
    assert 1 == len(compilations) == len(files(place))


def test_levels_are_kept_apart(place, compilations):
    text = "define void @f() {\n  ret void\n}"
    for optimize, codegen in ((0, 2), (2, 2), (0, 1)):
        jit.load(text, ("f",), optimize=optimize, codegen=codegen)
    assert 3 == len(compilations) == len(files(place))


def test_text_is_not_written_if_its_identity_is_known(place):
    def never():
        raise AssertionError

    text = "define double @f(double %x) {\n  ret double %x\n}"
    jit.load(lambda: text, ("f",), identity=b"identity")
    assert 3.0 == value(jit.load(never, ("f",), identity=b"identity"), 3.0)
    assert 1 == len(files(place))


@pytest.mark.parametrize("word", ["off", "OFF", "0", "none"])
def test_switched_off(word, tmp_path, monkeypatch, compilations):
    monkeypatch.setenv("DALEMBERT_CACHE", word)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert [2.5, 2.5] == [value(plus(1.5)) for _ in range(2)]
    assert 2 == len(compilations)
    assert [] == files(tmp_path)


def flipped(data):
    return data[:100] + bytes([data[100] ^ 1]) + data[101:]


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-1], lambda data: data[:0], flipped, lambda data: data[32:]]
)
def test_a_spoilt_file_is_compiled_again_and_mended(place, compilations, spoil):
    plus(2.5)
    (path,) = files(place)
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    assert 3.5 == value(plus(2.5))
    assert 2 == len(compilations)
    assert whole == path.read_bytes()


def test_an_object_the_linker_refuses_is_compiled_again(place, compilations, capfd):
    plus(2.5)
    (path,) = files(place)
    ObjectCache(place).write(path.stem, b"not an object")
    assert 3.5 == value(plus(2.5))
    assert 2 == len(compilations)


def test_an_object_under_another_name_is_not_taken(place, compilations):
    plus(2.5)
    plus(3.5)
    first, second = files(place)
    first.write_bytes(second.read_bytes())
    assert [3.5, 4.5] == [value(plus(2.5)), value(plus(3.5))]
    assert 3 == len(compilations)


@posix
def test_only_the_owner_can_look(place):
    umask = os.umask(0)
    try:
        plus(4.5)
    finally:
        os.umask(umask)
    assert 0o700 == stat.S_IMODE(place.stat().st_mode)
    assert [0o600] == [stat.S_IMODE(path.stat().st_mode) for path in files(place)]


@posix
def test_a_directory_that_others_can_write_is_refused(place, compilations):
    plus(5.5)
    place.chmod(0o777)
    for _ in range(2):
        with pytest.warns(DalembertWarning, match="can be written by others"):
            assert 6.5 == value(plus(5.5))
    assert 3 == len(compilations)


@posix
def test_a_directory_of_somebody_else_is_refused(place, compilations, monkeypatch):
    plus(5.5)
    monkeypatch.setattr(os, "getuid", lambda: place.stat().st_uid + 1)
    with pytest.warns(DalembertWarning, match="belongs to somebody else"):
        assert 6.5 == value(plus(5.5))
    assert 2 == len(compilations)


@posix
@pytest.mark.skipif(os.name == "posix" and os.getuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_home(place, tmp_path):
    tmp_path.chmod(0o500)
    assert 7.5 == value(plus(6.5))
    tmp_path.chmod(0o700)
    assert not place.exists()


def test_a_place_that_cannot_be_made(tmp_path, monkeypatch, compilations):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "file" / "cache"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [7.5, 7.5] == [value(plus(6.5)) for _ in range(2)]
    assert 2 == len(compilations)


def test_a_disk_that_refuses_to_write(place, monkeypatch):
    def full(*_):
        raise OSError

    plus(1.25)
    monkeypatch.setattr("dalembert.runtime.numerics.object_cache._write_new", full)
    assert 7.5 == value(plus(6.5))
    assert 1 == len(files(place))


def test_no_home(monkeypatch):
    monkeypatch.delenv("DALEMBERT_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    # what Python gives for a user without a home
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert ObjectCache.from_environment().directory is None
    assert 7.5 == value(plus(6.5))


@posix
def test_the_usual_place(monkeypatch, tmp_path):
    monkeypatch.delenv("DALEMBERT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert str(tmp_path / "dalembert") == ObjectCache.from_environment().directory
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert str(tmp_path / ".cache" / "dalembert") == ObjectCache.from_environment().directory


def test_the_unused_longest_go_first(tmp_path):
    cache = ObjectCache(tmp_path, limit=1000)
    for k, key in enumerate("abc"):
        cache.write(key, bytes(250))
        os.utime(tmp_path / f"{key}.obj", (k, k))
    assert cache.read("a") is not None
    cache.write("d", bytes(250))
    assert [True, False, True, True] == [cache.read(key) is not None for key in "abcd"]
    cache.write("e", bytes(2000))
    assert cache.read("e") is None
    (tmp_path / "notes.txt").write_bytes(bytes(5000))
    cache.write("f", bytes(250))
    assert (tmp_path / "notes.txt").exists()


def test_two_processes_at_once(place):
    code = """
import ctypes
from dalembert.runtime.numerics import jit
for k in range(30):
    text = f"define double @f(double %x) {{\\n  %y = fadd double %x, {k}.0\\n  ret double %y\\n}}"
    library = jit.load(text, ("f",), optimize=0)
    assert k + 1.0 == ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(library.address("f"))(1.0)
"""
    runs = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [0, 0, 0] == [run.wait() for run in runs]
    # and one that describes the processor
    assert 30 + bool(jit._processor()) == len(files(place))


def test_a_directory_is_looked_through_once_and_again_only_near_the_limit(tmp_path, monkeypatch):
    looks = []
    shrink = ObjectCache._evict_oldest
    monkeypatch.setattr(
        ObjectCache,
        "_evict_oldest",
        lambda self, directory: (looks.append(directory), shrink(self, directory)),
    )
    cache = ObjectCache(tmp_path, limit=100_000)
    for k in range(200):
        ObjectCache(tmp_path, limit=100_000).write(f"{k:03}", bytes(968))
        assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= cache.limit
    assert 1 < len(looks) < 30
    assert cache.read("199") is not None
    assert cache.read("000") is None
