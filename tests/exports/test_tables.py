"""Recorded tables in exported code give the rates that native code has, knots included."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import NotApplicable

_RNG = np.random.default_rng(7)
# a clock of its own, with jitter
KNOTS = np.cumsum(_RNG.uniform(0.005, 0.02, 400))
VALUES = np.cumsum(_RNG.normal(size=400))


def _cart() -> da.System:
    s = da.System("cart", gravity=9.81)
    m, l = s.constants(m=0.3, l=0.4)
    at = s.slide("x", s.O, s.N.x)
    s.particle("cart", 1, at)
    s.rod("pole", s.pin("theta", at), m, l)
    s.force(s.input("F") * s.N.x, at=at)
    return s


def _times(table: da.Table) -> np.ndarray[Any, np.dtype[np.float64]]:
    inside = _RNG.uniform(table.t[0] - 1, table.t[-1] + 1, 600)
    return np.concatenate([inside, table.t])


@pytest.mark.parametrize("kind", ["held", "linear", "cubic"])
def test_c_reads_the_table(kind: str, tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    s, table = _cart(), da.table(KNOTS, VALUES, kind, extrapolation="hold")
    da.export(s, "c", tmp_path, inputs={"F": table}, name="cart")
    free = da.export(s, "c", tmp_path / "free", name="cart")
    assert free is not None
    bound, plain = (_library(compiler, tmp_path / d) for d in ("", "free"))
    worst = 0.0
    for t in _times(table).tolist():
        x = _RNG.uniform(-1, 1, 4)
        expected, actual = plain(t, x, [table(t)]), bound(t, x, [0.0])
        worst = max(worst, float(np.max(np.abs(actual - expected) / (1 + np.abs(expected)))))
    assert worst <= 1e-13


def _library(compiler: str, folder: Path) -> Any:
    target = folder / "cart.so"
    command = [compiler, "-O2", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run(
        [*command, str(folder / "cart.c"), "-o", str(target), "-lm"], check=True, timeout=120
    )
    library = ctypes.CDLL(str(target))
    parameters = (ctypes.c_double * 64)()
    library.cart_defaults(parameters)

    def rates(t: float, x: Any, w: list[float]) -> Any:
        dx = (ctypes.c_double * 4)()
        given = (ctypes.c_double * 4)(*x)
        library.cart_rates(ctypes.c_double(t), given, (ctypes.c_double * 1)(*w), parameters, dx)
        return np.array(dx)

    return rates


@pytest.mark.parametrize("kind", ["held", "linear", "cubic"])
def test_numpy_module_reads_the_table(kind: str) -> None:
    s, table = _cart(), da.table(KNOTS, VALUES, kind, extrapolation="continue")
    modules = []
    for inputs in ({"F": table}, {}):
        text = da.export(s, "numpy", inputs=inputs).files
        module: dict[str, Any] = {}
        exec(next(iter(text.values())), module)
        modules.append(module)
    t = _times(table)
    x = _RNG.uniform(-1, 1, (len(t), 4))
    actual = modules[0]["rates"](t, x)
    expected = modules[1]["rates"](t, x, table(t)[:, None])
    np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-13)


def test_an_fmu_reads_the_table(tmp_path: Path) -> None:
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed (extra: test)")
    from fmpy.fmi2 import FMU2Model

    s, table = _cart(), da.table(KNOTS, VALUES, "cubic", extrapolation="hold")
    file = tmp_path / "cart.fmu"
    da.export(s, "fmu", file, inputs={"F": table}, version="2.0")
    scope: dict[str, Any] = {}
    exec(next(iter(da.export(s, "numpy").files.values())), scope)
    described = fmpy.read_model_description(str(file))
    model = FMU2Model(
        guid=described.guid,
        unzipDirectory=fmpy.extract(str(file), tmp_path / "open"),
        modelIdentifier=described.modelExchange.modelIdentifier,
    )
    model.instantiate()
    model.setupExperiment()
    model.enterInitializationMode()
    model.exitInitializationMode()
    model.enterContinuousTimeMode()
    t = _times(table)
    x = _RNG.uniform(-1, 1, (len(t), 4))
    actual = np.empty_like(x)
    state, rates = (ctypes.c_double * 4)(), (ctypes.c_double * 4)()
    for k, time in enumerate(t.tolist()):
        model.setTime(time)
        state[:] = x[k].tolist()
        model.setContinuousStates(state, 4)
        model.getDerivatives(rates, 4)
        actual[k] = rates
    model.terminate()
    model.freeInstance()
    expected = scope["rates"](t, x, table(t)[:, None])
    assert np.max(np.abs(actual - expected) / (1 + np.abs(expected))) <= 1e-13


@pytest.mark.parametrize("format_", ["modelica", "casadi"])
def test_formats_without_tables_are_refused(format_: str) -> None:
    table = da.table(KNOTS, VALUES, extrapolation="hold")
    with pytest.raises(NotApplicable, match="carries no recorded tables; export to c, fmu"):
        da.export(_cart(), format_, inputs={"F": table})
    with pytest.raises(NotApplicable, match="extrapolation='hold'"):
        da.export(_cart(), "c", inputs={"F": da.table(KNOTS, VALUES)})
