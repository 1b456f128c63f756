"""C99 by gcc: every function of every system against our own numbers, without a warning, under
sanitizers.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.exchange.exports.c import CSource, files
from exports.cases import CLOSE, COUNT, SYSTEMS, back_on_rows, case, near_rows, off

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
compilers = [
    pytest.param(name, marks=[] if name == "gcc" else [pytest.mark.slow])
    for name in ("gcc", "clang")
]


def compiled(compiler, folder, sources, *flags):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    library = folder / "library.so"
    subprocess.run(
        [compiler, *STRICT, *flags, "-shared", "-fPIC", "-o", library, *sources, "-lm"],
        cwd=folder,
        check=True,
    )
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module", params=compilers)
def library(request, tmp_path_factory):
    """All systems in one library."""
    folder = tmp_path_factory.mktemp("c")
    for name in SYSTEMS:
        for file, text in files(case(name).model, case(name).identifier).items():
            (folder / file).write_text(text)
    return compiled(
        request.param, folder, [f"{case(name).identifier}.c" for name in SYSTEMS], "-O0"
    )


class Model:
    """The functions of one system in a library."""

    def __init__(self, library, case, real=ctypes.c_double):
        self.library, self.case, self.real = library, case, real
        source = CSource(case.model, case.identifier)
        fields = [source.names[p.name] for p in case.model.parameters]
        self.p = (real * (len(fields) + max(1, len(source.precomputed[1]))))()
        self.call("defaults", None, self.p)
        for k, p in enumerate(case.model.parameters):
            assert self.p[k] == pytest.approx(p.value)
            self.p[k] = case.p[p.name]
        self.call("prepare", None, self.p)

    def call(self, name, result, *arguments):
        function = getattr(self.library, f"{self.case.identifier}_{name}")
        function.restype = result
        return function(*arguments)

    def array(self, numbers):
        return (self.real * max(1, len(numbers)))(*numbers)

    def values(self, f, x):
        rows = []
        for t, state, w in zip(self.case.t, x, self.case.w, strict=True):
            results = [(self.real * len(r.nodes))() for r in f.results]
            self.call(
                f.name, None, self.real(t), self.array(state), self.array(w), self.p, *results
            )
            rows.append(np.concatenate(results))
        return np.array(rows)

    def projected(self, x):
        rows = []
        for t, state, w in zip(self.case.t, x, self.case.w, strict=True):
            y = self.array(state)
            assert self.call("project", self.real, self.real(t), y, self.array(w), self.p) < 1e-10
            rows.append(np.array(y))
        return np.array(rows)


@pytest.mark.each_time(8)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_function_gives_our_numbers(library, name):
    one = case(name)
    model = Model(library, one)
    for f in one.model.public_functions:
        assert off(model.values(f, one.x), one.expected(f.name)) < CLOSE, f.name
    assert off(model.values(one.model.named["rates"], one.x), one.rates) < CLOSE
    if one.model.has_projection:
        assert off(model.projected(near_rows(one)), back_on_rows(one)) < CLOSE


@pytest.mark.slow
def test_sanitizers_find_nothing(tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    lines, sources = [], []
    for name in ("four-bar", "free-body-quaternion"):
        one = case(name)
        me, m = one.identifier, one.model
        for file, text in files(m, me).items():
            (tmp_path / file).write_text(text)
        sources.append(f"{me}.c")
        x = ", ".join(map(repr, one.x[0].tolist()))
        calls = "".join(
            f"double {''.join(f'{r.name}[{len(r.nodes)}], ' for r in f.results)[:-2]};"
            f"{me}_{f.name}(0.1, x, w, &p, {', '.join(r.name for r in f.results)}); }} {{"
            for f in m.public_functions
        )
        project = f"{me}_project(0.1, x, w, &p);" if m.has_projection else ""
        lines.append(
            f"{{ double x[] = {{{x}}}, w[8] = {{0}}; {me}_parameters p; {me}_defaults(&p); {{ "
            f"{calls} }} {project} }}"
        )
    main = (
        "".join(f'#include "{s[:-2]}.h"\n' for s in sources)
        + "int main(void) {"
        + "\n".join(lines)
        + "return 0; }\n"
    )
    (tmp_path / "main.c").write_text(main)
    flags = (
        "-std=c99",
        "-Wall",
        "-g",
        "-O1",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    )
    subprocess.run(
        ["gcc", *flags, "-o", "main", "main.c", *sources, "-lm"], cwd=tmp_path, check=True
    )
    done = subprocess.run(["./main"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_float_is_written_in_floats(tmp_path):
    one = case("double-pendulum")
    text = "".join(files(one.model, "double_pendulum", "float").values())
    for file, content in files(one.model, "double_pendulum", "float").items():
        (tmp_path / file).write_text(content)
    assert "typedef float double_pendulum_real;" in text
    assert "sinf(" in text
    library = compiled(
        "gcc", tmp_path, ["double_pendulum.c"], "-O1", "-Wdouble-promotion", "-Wfloat-conversion"
    )
    model = Model(library, one, ctypes.c_float)
    assert off(model.values(one.model.named["rates"], one.x), one.rates) < 1e-4


def test_sines_are_those_of_the_library_to_the_last_place(tmp_path):
    s = da.System("turning")
    x = s.coordinate("x")
    s.particle("P", s.constant("m", 1), s.O.offset(x * s.N.x))
    da.export(s, "c", tmp_path, outputs=["sin(x)", "cos(x)"])
    library = compiled("gcc", tmp_path, ["turning.c"], "-O2")
    p, y = (ctypes.c_double * 8)(), (ctypes.c_double * 2)()
    library.turning_defaults(p)
    rng = np.random.default_rng(3)
    quarters = np.arange(-40, 41) * np.pi / 2
    for angle in (
        *rng.uniform(-10, 10, 2000),
        *rng.uniform(-1e6, 1e6, 2000),
        *quarters,
        1e6,
        -1e6,
        1e7,
        1e300,
        0.0,
        1e-300,
    ):
        library.turning_outputs(ctypes.c_double(0), (ctypes.c_double * 2)(angle, 0.0), None, p, y)
        for found, expected in zip(y, (np.sin(angle), np.cos(angle)), strict=True):
            assert abs(found - expected) <= 2 * np.spacing(abs(expected)), angle
    library.turning_outputs(ctypes.c_double(0), (ctypes.c_double * 2)(np.nan, 0.0), None, p, y)
    assert np.isnan(y[0])


def test_names_that_c_does_not_take_are_changed_and_said(tmp_path):
    s = da.System("switch")
    x = s.coordinate("x")
    k, m = s.constants(register=2, int=3)
    s.particle("P", m, s.O.offset(x * s.N.x))
    s.potential(k * x**2 / 2)
    made = da.export(s, "c", tmp_path)
    header = made.files["switch.h"]
    assert "switch_real register_;" in header
    assert (
        "Renamed for this language: int -> int_, register -> register_" in header
        or "register -> register_" in header
    )
    compiled("gcc", tmp_path, ["switch.c"])


def test_constants_without_a_value_stay_parameters(tmp_path):
    s = da.System("Oscillator")
    x = s.coordinate("x")
    k, m = s.constants("k m")
    s.particle("P", m, s.O.offset(x * s.N.x))
    s.potential(k * x**2 / 2)
    made = da.export(s, "c", tmp_path)
    assert "k = no value in the description" in made.files["oscillator.h"]
    library = compiled("gcc", tmp_path, ["oscillator.c"])
    p = (ctypes.c_double * 8)()
    library.oscillator_defaults(p)
    assert np.isnan(p[0])
    p[0], p[1] = (
        (8.0, 2.0)
        if "real k;" in made.files["oscillator.h"].partition("real m;")[0]
        else (2.0, 8.0)
    )
    library.oscillator_prepare(p)
    dx = (ctypes.c_double * 2)()
    library.oscillator_rates(ctypes.c_double(0), (ctypes.c_double * 2)(1.0, 0.5), None, p, dx)
    assert list(dx) == [0.5, -4.0]


def test_the_file_has_no_more_operations_than_the_program():
    m = case("spatial-chain").model
    source = CSource(m, "chain")
    program = sum(len(x.prologue) + len(x.body) for x in source.lowered_functions.values())
    written = source.source().count("const real v")
    assert written <= program
    assert program <= sum(
        len(x.program.prologue) + 2 * len(x.program.body) for x in source.lowered_functions.values()
    )


def test_where_independent_speeds_are_all_but_singular_the_rates_are_right():
    """da.compile eliminates a speed that hardly moves anything; with all rates in the state no
    digit is lost.
    """
    import mpmath

    from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
    from dalembert.symbolic.algebra.expression_graph import evaluate

    class Digits(FloatArithmetic):
        def const(self, value):
            return mpmath.mpf(value.numerator) / value.denominator

        def call(self, function, a, node):
            return getattr(mpmath, function)(a)

    one = case("flexible-slider-crank")
    m, found = one.model, one.expected("rates")
    with mpmath.workdps(50):
        for k in range(0, COUNT, 10):
            numbers = dict(zip(m.varying_symbols, (*one.x[k], one.t[k]), strict=True)) | {
                v.node: one.p[v.name] for v in m.parameters
            }
            exact = evaluate(
                m.tape, m.named["rates"].nodes, lambda i, n=numbers: mpmath.mpf(n[i]), Digits()
            )
            assert off(found[k : k + 1], np.array([[float(e) for e in exact]])) < CLOSE


@pytest.mark.slow
def test_all_of_the_gallery_can_be_written():
    for name in gallery.names():
        assert da.export(gallery.build(name), "c").files
