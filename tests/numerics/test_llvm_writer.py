"""LLVM text that computes what it says."""

from __future__ import annotations

import ctypes

import numpy as np

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    ScalarArray,
    StructView,
    VectorArray,
)
from dalembert.runtime.numerics.jit import load
from dalembert.runtime.numerics.llvm_types import DOUBLE, DOUBLE4, INT64, INTRINSICS, POINTER
from dalembert.runtime.ode.step_size_control import loop_ir


def test_numbers_loops_and_conditions() -> None:
    """Σ i² for i < n, skipping i = 3, unless n is negative."""
    f = FunctionBuilder("sum", DOUBLE, INT64, exported=True)
    (n,) = f.parameters
    with f.if_then(n < 0):
        f.ret(-1.0)
    total = f.variable(f.value(0.0, DOUBLE))
    with f.loop(n) as i, f.if_then(i.not_equal(3)):
        total.value = total.value + f.value(i, DOUBLE) * f.value(i, DOUBLE)
    f.ret(total.value)
    library = load(INTRINSICS + "\n" + f.text(), ("sum",))
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(library.address("sum"))
    assert [call(n) for n in (-5, 0, 1, 3, 5, 100)] == [-1.0, 0.0, 0.0, 5.0, 21.0, 328341.0]


def test_arrays_of_four_and_records() -> None:
    """out = 2 x − 1/y + z with z a field of a structure."""
    f = FunctionBuilder("lanes", INT64, POINTER, POINTER, exported=True)
    record = StructView(f.parameters[0], (("groups", INT64), ("z", DOUBLE)))
    x = VectorArray(f.parameters[1])
    z = f.value(record.z, DOUBLE4)
    with f.loop(record.groups) as i:
        x[i] = 2.0 * x[i] - 1.0 / f.intrinsic("fabs", x[i]) + z
    record.z = f.select(record.z > 0.0, record.z * 2.0, 0.0)
    ScalarArray(f.parameters[1])[0] = -7.0
    f.ret(record.groups + 1)
    library = load(INTRINSICS + "\n" + f.text(), ("lanes",))

    class Pair(ctypes.Structure):
        _fields_ = (("groups", ctypes.c_int64), ("z", ctypes.c_double))

    pair, numbers = Pair(2, 0.5), np.arange(1.0, 9.0)
    expected = 2 * numbers - 1 / numbers + 0.5
    expected[0] = -7.0
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
        library.address("lanes")
    )
    assert call(ctypes.addressof(pair), numbers.ctypes.data) == 3
    assert np.array_equal(expected, numbers)
    assert pair.z == 1.0


def test_the_loop_is_the_same_text_every_time_and_short() -> None:
    first = loop_ir()
    loop_ir.cache_clear()
    assert first == loop_ir()
    # what is written, read and compiled once per machine
    assert first.count("\n") < 6000
