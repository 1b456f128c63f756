"""Right-hand sides in native code for the tests of the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from dalembert.runtime.numerics.ir_builder import FunctionBuilder, Operand, ScalarArray, Value
from dalembert.runtime.numerics.jit import Library, load
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT32, INTRINSICS, POINTER

Body = Callable[[FunctionBuilder, Value, list[Value]], Sequence[Operand]]

MU = 0.012277471
DOUBLE_PENDULUM_G = 9.81


def right_hand_side(name: str, size: int, body: Body) -> str:
    """int32 name(double t, const double *y, double *dy, void *context)"""
    f = FunctionBuilder(name, INT32, DOUBLE, POINTER, POINTER, POINTER, exported=True)
    t, y, dy, _ = f.parameters
    for place, rate in enumerate(body(f, t, [ScalarArray(y)[i] for i in range(size)])):
        ScalarArray(dy)[place] = rate
    f.ret(0)
    return f.text()


def kepler(f: FunctionBuilder, _t: Value, y: list[Value]) -> Sequence[Operand]:
    r2 = y[0] * y[0] + y[1] * y[1]
    r3 = r2 * f.intrinsic("sqrt", r2)
    return y[2], y[3], 0.0 - y[0] / r3, 0.0 - y[1] / r3


def kepler_with_quadratures(f: FunctionBuilder, t: Value, y: list[Value]) -> Sequence[Operand]:
    """The area swept, the path length, and one that is soon not finite."""
    speed = f.intrinsic("sqrt", y[2] * y[2] + y[3] * y[3])
    return *kepler(f, t, y), (y[0] * y[3] - y[1] * y[2]) * 0.5, speed, y[0] / (t - t)


def arenstorf(f: FunctionBuilder, _t: Value, y: list[Value]) -> Sequence[Operand]:
    """The restricted three-body problem, HNW1 II.0 (0.1)."""
    a, b = y[0] + MU, y[0] - (1.0 - MU)
    d1, d2 = a * a + y[1] * y[1], b * b + y[1] * y[1]
    d1, d2 = d1 * f.intrinsic("sqrt", d1), d2 * f.intrinsic("sqrt", d2)
    return (
        y[2],
        y[3],
        y[0] + 2.0 * y[3] - (1.0 - MU) * a / d1 - MU * b / d2,
        y[1] - 2.0 * y[2] - (1.0 - MU) * y[1] / d1 - MU * y[1] / d2,
    )


def double_pendulum(f: FunctionBuilder, _t: Value, y: list[Value]) -> Sequence[Operand]:
    """Two equal masses on equal rods of length 1: [2 c; c 1] (α₁, α₂) = (−s ω₂² − 2 g sin θ₁, s
    ω₁² − g sin θ₂).
    """
    g, difference = DOUBLE_PENDULUM_G, y[0] - y[1]
    s, c, s1, s2 = (
        f.emit(DOUBLE, f"call double @{name}({x})")
        for name, x in (("sin", difference), ("cos", difference), ("sin", y[0]), ("sin", y[1]))
    )
    r1, r2 = 0.0 - s * y[3] * y[3] - 2.0 * g * s1, s * y[2] * y[2] - g * s2
    return y[2], y[3], (r1 - c * r2) / (2.0 - c * c), (2.0 * r2 - c * r1) / (2.0 - c * c)


@pytest.fixture(scope="session")
def native() -> Library:
    """kepler, kepler_with_quadratures, arenstorf and double_pendulum."""
    text = [INTRINSICS, "declare double @sin(double)", "declare double @cos(double)"]
    bodies = ((kepler, 4), (kepler_with_quadratures, 7), (arenstorf, 4), (double_pendulum, 4))
    text += [right_hand_side(body.__name__, size, body) for body, size in bodies]
    return load("\n".join(text), tuple(body.__name__ for body, _ in bodies))


@pytest.fixture
def pendulum_rates() -> Callable[[float, np.ndarray], list[float]]:
    """The double pendulum once more, for other integrators."""

    def rates(_t: float, y: np.ndarray) -> list[float]:
        g, s, c = DOUBLE_PENDULUM_G, np.sin(y[0] - y[1]), np.cos(y[0] - y[1])
        r1, r2 = -s * y[3] ** 2 - 2 * g * np.sin(y[0]), s * y[2] ** 2 - g * np.sin(y[1])
        return [y[2], y[3], (r1 - c * r2) / (2 - c * c), (2 * r2 - c * r1) / (2 - c * c)]

    return rates
