"""The native loop of each method, compiled once per machine and loaded once per process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from dalembert.foundation.caching import cached_call
from dalembert.runtime.numerics.jit import Level, Library, TextFunction, load

if TYPE_CHECKING:
    from dalembert.runtime.ode.initial_value_problem import InitialValueProblem

_FUNCTION: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
# the functions of each loop
EXPORTS: Final = ("start", "advance")


class NativeLoop(NamedTuple):
    """Functions of the address of a `Run`; the library keeps them alive."""

    library: Library
    start: Callable[[int], int]
    advance: Callable[[int], int]


def _lazy_loop(source: str, optimize: Level = 0) -> Callable[[], NativeLoop]:
    """The functions of a text of this chapter, named by its module and function."""

    def make() -> NativeLoop:
        text = TextFunction(f"dalembert.runtime.ode.{source}")
        library = load(text, EXPORTS, optimize=optimize)
        return NativeLoop(library, *(_FUNCTION(library.address(name)) for name in EXPORTS))

    return cached_call(make)


# short loops over orders, which the passes unroll, make the second one worth optimizing
_RUNGE_KUTTA, _TAYLOR, _ROSENBROCK = (
    _lazy_loop("step_size_control:loop_ir"),
    _lazy_loop("taylor:taylor_ir", 2),
    _lazy_loop("rosenbrock:rosenbrock_ir"),
)


def native_loop(problem: InitialValueProblem) -> NativeLoop:
    """The one of the method that a problem asks for."""
    return (
        _ROSENBROCK()
        if problem.jacobian
        else _RUNGE_KUTTA()
        if problem.taylor is None
        else _TAYLOR()
    )
