import ctypes
import gc
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading

import pytest

from dalembert.errors import DalembertError
from dalembert.runtime.numerics import jit

STATM = pathlib.Path("/proc/self/statm")
DOUBLE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def plus(number):
    """A library with f(x) = x + number."""
    return jit.load(
        f"define double @f(double %x) {{\n  %y = fadd double %x, {float(number)}\n  ret double "
        f"%y\n}}",
        ("f",),
        optimize=0,
    )


def value(library, x=1.0):
    return DOUBLE(library.address("f"))(x)


def resident():
    """Megabytes of memory in use."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


@pytest.mark.parametrize(
    "function", ["sin", "cos", "exp", "log", "sinh", "cosh", "asin", "acos", "atan", "sqrt", "tan"]
)
def test_the_mathematics_library_is_there(function):
    text = f"""declare double @{function}(double)
define double @f(double %x) {{
  %y = call double @{function}(double %x)
  ret double %y
}}"""
    assert getattr(math, function)(0.5) == value(jit.load(text, ("f",)), 0.5)


@pytest.mark.parametrize("function", ["atan2", "pow", "fmod"])
def test_the_functions_of_two_numbers_too(function):
    text = f"""declare double @{function}(double, double)
define double @f(double %x) {{
  %y = call double @{function}(double %x, double 1.5)
  ret double %y
}}"""
    assert getattr(math, function)(0.5, 1.5) == value(jit.load(text, ("f",)), 0.5)


@pytest.mark.parametrize("optimize", [0, 1, 2, 3])
@pytest.mark.parametrize("codegen", [0, 1, 2, 3])
def test_every_level(optimize, codegen):
    text = "define double @f(double %x) {\n  %y = fmul double %x, 3.0\n  ret double %y\n}"
    assert 6.0 == value(jit.load(text, ("f",), optimize=optimize, codegen=codegen), 2.0)


def test_text_that_is_not_valid_is_an_error_of_ours():
    with pytest.raises(jit.CannotCompile, match="not valid LLVM text"):
        jit.load("define double @f(", ("f",))
    assert issubclass(jit.CannotCompile, DalembertError)


def test_many_libraries_live_side_by_side():
    libraries = [plus(k) for k in range(200)]
    assert [k + 1.0 for k in range(200)] == [value(library) for library in libraries]


def test_libraries_call_one_another_by_address():
    inner = plus(5)
    text = f"""define double @f(double %x) {{
  %g = inttoptr i64 {inner.address("f")} to ptr
  %y = call double %g(double %x)
  ret double %y
}}"""
    assert 6.0 == value(jit.load(text, ("f",)))


@pytest.mark.skipif(not STATM.exists(), reason="memory in use is read from /proc")
@pytest.mark.parametrize("cycles", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_released_code_gives_its_memory_back(cycles, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", "off")
    for k in range(70):
        plus(k)
    gc.collect()
    before = resident()
    for k in range(cycles):
        assert k + 1.0 == value(plus(k))
    assert resident() - before < 5


def test_threads_compile_and_release_at_once():
    wrong = []

    def work(start):
        for k in range(start, start + 25):
            library = plus(k)
            if value(library) != k + 1.0:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(100 * t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_uses_old_code_and_compiles_new():
    old = plus(1)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if (value(old), value(plus(12345))) == (2.0, 12346.0) else 1)
    assert 0 == os.waitpid(pid, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
# a child of a process with busy threads may inherit a lock of the system's allocator, whoever wrote
# the program
@pytest.mark.slow
def test_a_child_born_while_others_compile_is_not_stuck():
    stop = threading.Event()

    def work():
        k = 0
        while not stop.is_set():
            plus(k)
            k += 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for k in range(10):
            pid = os.fork()
            if pid == 0:
                signal.alarm(30)
                os._exit(0 if value(plus(77 + k)) == 78.0 + k else 1)
            assert 0 == os.waitpid(pid, 0)[1]
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_llvm_is_imported_only_when_needed():
    code = (
        "import sys, dalembert.runtime.numerics.compiled_function; sys.exit('llvmlite' in "
        "sys.modules)"
    )
    assert 0 == subprocess.run([sys.executable, "-c", code], check=False).returncode


def test_nothing_is_said_at_exit():
    code = """
from dalembert.runtime.numerics import jit
library = jit.load("define void @f() {\\n  ret void\\n}", ("f",))
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


def test_code_of_another_version_is_not_found():
    assert (
        jit._source_hash.__wrapped__("runtime/ode")
        == jit._source_hash.__wrapped__("runtime/ode")
        != jit._source_hash.__wrapped__("runtime/numerics")
    )
    # a chapter that is not there would make every process compile again
    with pytest.raises(FileNotFoundError):
        jit._source_hash.__wrapped__("nothing")


def test_the_hash_of_sources_follows_every_change(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "law.py"
    source.write_text("a = 1")
    os.utime(source, (1e9, 1e9))
    monkeypatch.setattr(jit, "_RESOLUTION", -1e9)
    first = jit._hash_of_files([str(source)])
    (kept,) = (tmp_path / "cache").iterdir()
    # the second time no source is read
    monkeypatch.setattr(jit, "open", lambda *_: pytest.fail("read again"), raising=False)
    assert first == jit._hash_of_files([str(source)])
    monkeypatch.delattr(jit, "open")
    # of the same length and with the same time of writing, as packages install it
    source.write_text("a = 2")
    os.utime(source, (1e9, 1e9))
    second = jit._hash_of_files([str(source)])
    assert second != first
    # what was written a moment ago may still change
    kept.unlink()
    source.write_text("a = 1")
    monkeypatch.undo()
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "another"))
    assert first == jit._hash_of_files([str(source)])
    assert not (tmp_path / "another").exists()


def test_without_sources_kept_code_is_not_found(tmp_path, monkeypatch):
    # as where only bytecode is installed
    (tmp_path / "runtime" / "numerics").mkdir(parents=True)
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "runtime" / "numerics" / "jit.py"))
    first, second = (jit._source_hash.__wrapped__("runtime/numerics") for _ in range(2))
    assert first != second


def test_without_llvm_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    jit._llvm.cache_clear()
    try:
        with pytest.raises(jit.CannotCompile, match="install"):
            jit._llvm()
    finally:
        jit._llvm.cache_clear()
