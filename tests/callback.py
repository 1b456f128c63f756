"""y' = f(t, y) with f a Python function, through the same native loop as compiled right-hand
sides.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.runtime.ode.failures import RightHandSideFailed
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Progress, integrate
from dalembert.runtime.ode.keyboard_interrupt import Interruption, defer_keyboard_interrupt
from dalembert.runtime.ode.solution import Outcome, Solution
from dalembert.runtime.simulation.callback_inputs import CALLBACK_FAILED, RHS_TYPE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PythonFunction = Callable[[float, "NDArray[np.float64]"], "ArrayLike"]

_NUMBERS: Final = ctypes.POINTER(ctypes.c_double)


class RightHandSide:
    """A Python function with a native address; `raised` is what it raised, if anything."""

    def __init__(
        self, function: PythonFunction, size: int, interruption: Interruption | None = None
    ) -> None:
        self.raised: BaseException | None = None
        self._interruption = Interruption() if interruption is None else interruption
        self._function = function
        self._views: dict[int, NDArray[np.float64]] = {}
        self._size = size
        self._native = RHS_TYPE(self._call)
        self.address: int = ctypes.cast(self._native, ctypes.c_void_p).value or 0

    def _call(self, t: float, y: int, dy: int, _context: int) -> int:
        # an exception cannot pass through native code, so it waits here
        if self._interruption.should_stop():
            self.raised = KeyboardInterrupt()
            return CALLBACK_FAILED
        try:
            self._view(dy)[:] = self._function(t, self._view(y).copy())
        # raised again on the other side, Ctrl-C included
        except BaseException as error:  # noqa: BLE001
            self.raised = error
            return CALLBACK_FAILED
        return 0

    def _view(self, address: int) -> NDArray[np.float64]:
        """The numbers at an address; there are as many addresses as rows in the work space."""
        view = self._views.get(address)
        if view is None:
            view = self._views[address] = np.ctypeslib.as_array(
                ctypes.cast(address, _NUMBERS), (self._size,)
            )
        return view


def integrate_function(
    function: PythonFunction,
    y0: ArrayLike,
    t0: float,
    t1: float,
    *,
    on_progress: Progress | None = None,
    **options: Any,
) -> Solution:
    """The motion of y' = function(t, y); options are those of `BoundaryValueProblem`. What the
    function raises is raised here.
    """
    try:
        with defer_keyboard_interrupt() as interruption:
            rhs = RightHandSide(function, np.size(y0), interruption)
            return integrate(
                InitialValueProblem(rhs=rhs.address, y0=y0, t0=t0, t1=t1, **options), on_progress
            )
    except RightHandSideFailed as failure:
        if rhs.raised is None:
            raise
        if isinstance(rhs.raised, KeyboardInterrupt):
            return replace(
                failure.solution,
                outcome=Outcome.INTERRUPTED,
                message=f"interrupted at t = {failure.time:.17g}",
            )
        raise rhs.raised from None
