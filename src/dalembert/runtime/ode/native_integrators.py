"""The native loop of each method, compiled once per machine and loaded once per process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from dalembert.foundation.caching import cached_call
from dalembert.runtime.numerics.jit import Level, Library, load
from dalembert.runtime.ode.step_size_control import EXPORTS, loop_ir

if TYPE_CHECKING:
    from dalembert.runtime.ode.initial_value_problem import InitialValueProblem

Text: TypeAlias = Callable[[], str]
_FUNCTION: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class NativeLoop(NamedTuple):
    """Functions of the address of a `Run`; the library keeps them alive."""

    library: Library
    start: Callable[[int], int]
    advance: Callable[[int], int]


def _lazy_loop(source: Callable[[], Text], optimize: Level = 0) -> Callable[[], NativeLoop]:
    """The functions of a text, whose module is imported when they are first asked for."""

    def make() -> NativeLoop:
        library = load(source(), EXPORTS, optimize=optimize)
        return NativeLoop(library, *(_FUNCTION(library.address(name)) for name in EXPORTS))

    return cached_call(make)


def _taylor() -> Text:
    from dalembert.runtime.ode.taylor import taylor_ir

    return taylor_ir


def _rosenbrock() -> Text:
    from dalembert.runtime.ode.rosenbrock import rosenbrock_ir

    return rosenbrock_ir


# short loops over orders, which the passes unroll, make the second one worth optimizing
_RUNGE_KUTTA, _TAYLOR, _ROSENBROCK = (
    _lazy_loop(lambda: loop_ir),
    _lazy_loop(_taylor, 2),
    _lazy_loop(_rosenbrock),
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
