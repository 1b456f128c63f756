"""The exported equations: how fast they are in other tools, and how long an export takes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import systems
from evaluate import relative
from measure import Timing, fresh, race
from numpy.typing import NDArray
from results import Goal, Report, Slower, Within

import dalembert as da
from dalembert.exchange.exports.c import CSource
from dalembert.exchange.exports.export_model import ExportRequest, exported_model

NOTE = (
    "Time for ẋ of one state of the spatial chain. dalembert: its native code for u̇ in a native "
    "loop over 1024 states. C: the exported "
    "source by gcc -O3, plain and for this processor, in a loop in C. JAX: one call of "
    "jit(vmap(rates)) for 1024 states, on one thread. "
    "CasADi: its virtual machine, one call of map for 1024 states. Export: from the described "
    "system to the text of both files."
)
STATES = 1024
FLAGS = {"C, gcc -O3": ("-O3",), "C, gcc -O3 -march=native": ("-O3", "-march=native")}
Rows = NDArray[Any]


class AsFast(Slower):
    """A goal: at least so many times dalembert's own speed."""

    def judge(self, _timing: Timing, ratio: float) -> tuple[str, str, bool]:
        """The goal, what was found, and whether it is met."""
        return self.wanted, f"{1 / ratio:.2f}×", 1 / ratio >= self.factor


def run(report: Report, *, quick: bool) -> None:
    """The chain of 7 in every tool, the chain of 50 (20 if quick) exported."""
    report.section("Export", NOTE)
    _speed(report, 7)
    _export(report, 20 if quick else 50)


def _speed(report: Report, n: int) -> None:
    report.progress(f"spatial chain, {n} joints")
    system = systems.chain(n)
    Q, U = systems.states(n, STATES)
    from evaluate import _Ours

    ours = _Ours(system)
    expected = numpy.hstack([U, ours.f(Q, U)])
    runs: dict[str, Callable[[], Rows]] = {"dalembert": ours.loop(Q, U)}
    missing: dict[str, Timing | str] = {}
    X = numpy.hstack([Q, U])
    for name, make in {
        **{name: _c(flags) for name, flags in FLAGS.items()},
        "JAX, batch": _jax,
        "CasADi, batch": _casadi,
    }.items():
        try:
            runs[name] = make(system, X)
        except (ImportError, da.DalembertError, OSError) as problem:
            missing[name] = f"not here: {problem}"
            continue
        error = relative(expected, runs[name]())
        report.check(
            f"chain {n}: {name} at {STATES} states, relative",
            f"{error:.1e} ≤ 1e-12",
            passed=bool(error <= 1e-12),
        )
    found: dict[str, Timing | str] = {
        name: timing.per(STATES) for name, timing in race(runs).items()
    }
    goals: dict[str, Goal] = dict.fromkeys(FLAGS, AsFast(0.8))
    report.compare(f"chain {n}, rates", found | missing, goals)


def _c(flags: tuple[str, ...]) -> Callable[[da.System, Rows], Callable[[], Rows]]:
    """The C export by gcc, in a loop of its own."""

    def make(system: da.System, X: Rows) -> Callable[[], Rows]:
        gcc = shutil.which("gcc")
        if gcc is None:
            msg = "gcc is not installed"
            raise OSError(msg)
        with tempfile.TemporaryDirectory() as folder:
            da.export(system, "c", folder, name="m")
            loop = (
                "void loop(const double *x, double *y, const m_parameters *p, int n)\n{\n    "
                "double w[1] = {0};\n    int k;\n"
            )
            loop += (
                "    for (k = 0; k < n; ++k)\n        m_rates(0, x + m_n_x*k, w, p, y + "
                "m_n_x*k);\n}\n"
            )
            Path(folder, "loop.c").write_text('#include "m.h"\n' + loop, encoding="utf-8")
            subprocess.run(
                [gcc, *flags, "-shared", "-fPIC", "-o", "m.so", "m.c", "loop.c", "-lm"],
                cwd=folder,
                check=True,
            )
            library = ctypes.CDLL(str(Path(folder, "m.so")))
        p, Y = (ctypes.c_double * 10_000)(), numpy.zeros_like(X)
        library.m_defaults(p)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (X, Y)]

        def work() -> Rows:
            library.loop(*pointers, p, len(X))
            return Y

        return work

    return make


def _jax(system: da.System, X: Rows) -> Callable[[], Rows]:
    import jax

    f = jax.jit(jax.vmap(da.to_jax(system).rates, (None, 0)))
    given = jax.numpy.asarray(X)
    return lambda: numpy.asarray(f(0.0, given))


def _casadi(system: da.System, X: Rows) -> Callable[[], Rows]:
    import casadi

    f = da.to_casadi(system)["rates"].map(len(X))
    given = casadi.DM(X.T)
    p = casadi.DM(
        [
            float(c.value)
            for c in system.symbols.values()
            if c.kind == "constant" and c.value is not None
        ]
    )
    return lambda: f(casadi.DM.zeros(1, 1), given, casadi.DM(0, 1), p).full().T


def _export(report: Report, n: int) -> None:
    report.progress(f"export of the spatial chain, {n} joints")
    timing = fresh(lambda: systems.chain(n), lambda system: da.export(system, "c"))
    report.compare(
        f"chain {n}, to C", {"dalembert": timing}, {"dalembert": Within(1.0)} if n == 50 else None
    )
    source = CSource(
        exported_model(systems.chain(n), ExportRequest(values={}, inputs={}, start={})), "m"
    )
    operations = sum(
        len(lowered.prologue) + len(lowered.body) for lowered in source.lowered_functions.values()
    )
    lines = source.source()
    ratio = (lines.count("const real v") + lines.count(" = turn(")) / operations
    report.check(
        f"chain {n}: assignments in C for each operation of the program",
        f"{ratio:.2f} ≤ 1.3",
        passed=ratio <= 1.3,
    )
