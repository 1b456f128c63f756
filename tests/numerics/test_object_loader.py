import ctypes
import math
import pathlib
import subprocess
import sys

import pytest

from dalembert.runtime.numerics import jit, object_loader

pytestmark = pytest.mark.skipif(
    not object_loader.IS_AVAILABLE, reason="object files are read on x86-64 Linux only"
)
DOUBLE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
# constants, a variable, a global read through the table of addresses, absolute addresses of
# functions, functions of C at two places, a local call
TEXT = """
@shared = global double 0.25
@counter = internal global double 0.0
@choices = constant [2 x ptr] [ptr @sine, ptr @cosine]
declare double @sin(double)
declare double @cos(double)
define double @sine(double %x) { %y = call double @sin(double %x)
  ret double %y }
define double @cosine(double %x) { %y = call double @cos(double %x)
  ret double %y }
define double @f(double %x) {
  %n = load volatile double, ptr @counter
  %m = fadd double %n, 1.0
  store volatile double %m, ptr @counter
  %g = load double, ptr @shared
  %place = getelementptr [2 x ptr], ptr @choices, i64 0, i64 1
  %function = load volatile ptr, ptr %place
  %c = call double %function(double %x)
  %s = call double @sine(double %x)
  %a = fmul double %c, 0.1
  %b = fadd double %a, %s
  %d = fadd double %b, %g
  %y = fadd double %d, %m
  ret double %y
}
"""


@pytest.fixture
def image():
    jit.host()
    with jit._llvm_lock():
        return jit._compile_object(jit._target_machine(2), TEXT, 0)


def test_all_kinds_of_relocations_have_the_bits_of_python(image):
    loaded = object_loader.LoadedObject(image, {})
    f = DOUBLE(loaded["f"])
    for count in (1.0, 2.0):
        assert math.cos(0.7) * 0.1 + math.sin(0.7) + 0.25 + count == f(0.7)
    types = {
        int(kind)
        for _, relocations in object_loader._ObjectFile(image).relocations
        for kind in relocations["type"]
    }
    assert {object_loader._ABSOLUTE, object_loader._RELATIVE, object_loader._CALL} < types
    assert types & {*object_loader._BY_WORD}


def test_both_linkers_give_equal_bits(image, monkeypatch):
    loaded = object_loader.LoadedObject(image, {})
    ours = DOUBLE(loaded["f"])(0.3)
    monkeypatch.setattr(object_loader, "IS_AVAILABLE", False)
    library = jit.load(TEXT, ("f",))
    assert "LoadedObject" not in type(library._tracker).__name__
    assert ours == DOUBLE(library.address("f"))(0.3)


def test_what_the_loader_refuses_is_linked_by_llvm(image, monkeypatch):
    def refuse(*_):
        raise object_loader.CannotLink

    loaded = object_loader.LoadedObject(image, {})
    expected = DOUBLE(loaded["f"])(0.3)
    monkeypatch.setattr(object_loader, "LoadedObject", refuse)
    library = jit.load(TEXT, ("f",))
    assert expected == DOUBLE(library.address("f"))(0.3)


def test_imported_addresses_take_precedence(image):
    cosine = ctypes.cast(ctypes.CDLL(None).cos, ctypes.c_void_p).value
    loaded = object_loader.LoadedObject(image, {"sin": cosine})
    assert math.cos(0.7) * 0.1 + math.cos(0.7) + 0.25 + 1.0 == DOUBLE(loaded["f"])(0.7)


def test_code_cannot_be_written(image):
    loaded = object_loader.LoadedObject(image, {})
    rights = {}
    for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        span, right, *_ = line.split()
        begin, end = (int(x, 16) for x in span.split("-"))
        rights |= {name: right for name in ("f", "shared") if begin <= loaded[name] < end}
    assert {"f": "r-xp", "shared": "rw-p"} == rights


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda image: b"MZ" + image[2:], "not an object file"),
        (lambda image: _with_relocation_type(image, 23), r"relocations of the types \[23\]"),
        (lambda image: image.replace(b"\0cos\0", b"\0cOs\0"), "no function cOs"),
    ],
)
def test_what_is_unknown_is_refused(image, spoil, message):
    with pytest.raises(object_loader.CannotLink, match=message):
        object_loader.LoadedObject(spoil(image), {})


def _with_relocation_type(image, kind):
    """The image with another type in its first relocation."""
    section = next(s for s in object_loader._ObjectFile(image).sections if s["type"] == 4)
    place = int(section["offset"]) + 8
    return image[:place] + kind.to_bytes(4, "little") + image[place + 4 :]


def test_a_warm_process_does_not_load_llvm(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    code = (
        "import sys\nfrom dalembert.runtime.numerics import jit\n"
        "jit.load('define void @f() {\\n  ret void\\n}', ('f',))\n"
        "print('llvmlite.binding' in sys.modules)"
    )
    said = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert ["True\n", "False\n"] == [done.stdout for done in said]


def test_another_processor_is_described_by_llvm_again(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    model = tmp_path / "modalias"
    monkeypatch.setattr(jit, "_MODEL", model)
    asked = []
    llvm = jit._llvm
    monkeypatch.setattr(jit, "_llvm", lambda: asked.append(model.read_text()) or llvm())
    for text in ("cpu:first", "cpu:first", "cpu:second", "cpu:first"):
        model.write_text(text)
        assert jit._toolchain() == jit._toolchain.__wrapped__()
    assert ["cpu:first", "cpu:second"] == asked
    model.unlink()
    assert b"" == jit._processor()
