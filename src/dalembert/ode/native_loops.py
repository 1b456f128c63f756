"""The native loop of each method, compiled once per machine and loaded once per process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from dalembert.numerics.jit import Library, load
from dalembert.ode.control import EXPORTS, loop_text
from dalembert.ode.rosenbrock import rosenbrock_text
from dalembert.ode.taylor import taylor_text
from dalembert.once import made_once

if TYPE_CHECKING:
    from dalembert.ode.problem import InitialValueProblem

_FUNCTION: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class NativeLoop(NamedTuple):
    """Functions of the address of a `Run`; the library keeps them alive."""

    library: Library
    start: Callable[[int], int]
    advance: Callable[[int], int]


def native_loop(problem: InitialValueProblem) -> NativeLoop:
    """The one of the method that a problem asks for."""
    return _rosenbrock() if problem.jacobian else _runge_kutta() if problem.taylor is None else _taylor()


@made_once
def _runge_kutta() -> NativeLoop:
    # written without waste, so that optimization would take longer than it could save
    return _functions(load(loop_text, EXPORTS, optimize=0))


@made_once
def _taylor() -> NativeLoop:
    return _functions(load(taylor_text, EXPORTS))


@made_once
def _rosenbrock() -> NativeLoop:
    return _functions(load(rosenbrock_text, EXPORTS))


def _functions(library: Library) -> NativeLoop:
    return NativeLoop(library, *(_FUNCTION(library.address(name)) for name in EXPORTS))
