"""(t_i, y_i): the points of a run in memory that grows with it and is handed over without copying."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.simulation.step import DENSE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.run import Run

_FIRST_POINTS: Final = 512
_FEWEST_POINTS: Final = 16
_FIRST_NUMBERS: Final = 2**18


class Points:
    """Times, states and, if kept, the dense output of the step that ends there; point 0 is the start and ends no step."""

    def __init__(self, t0: float, start: NDArray[np.float64], *, dense: bool) -> None:
        room = min(max(_FIRST_NUMBERS // (start.size * DENSE_ROWS), _FEWEST_POINTS), _FIRST_POINTS)
        self._arrays = [np.empty(room), np.empty((room, start.size))]
        if dense:
            self._arrays.append(np.empty((room, DENSE_ROWS, start.size)))
        self._shared = False
        self._arrays[0][0] = t0
        self._arrays[1][0] = start

    def bind(self, run: Run) -> None:
        """Tell the run where to write."""
        run.capacity = min(len(array) for array in self._arrays)
        addresses = [array.ctypes.data for array in self._arrays]
        run.times, run.states, run.dense = addresses if len(addresses) > 2 else [*addresses, 0]  # noqa: PLR2004 - dense or not

    def grow(self) -> None:
        """Twice the room."""
        self._resize(2 * len(self._arrays[0]))

    def view(self, count: int, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
        """The first points and components, and the dense output of the steps between them; later growth leaves them alone."""
        if not self._shared:
            self._resize(count)
        self._shared = True
        times, states, *dense = self._arrays
        return times[:count], states[:count, :size], dense[0][1:count, :, :size] if dense else None

    def _resize(self, room: int) -> None:
        if self._shared:
            copies = [np.empty((room, *array.shape[1:])) for array in self._arrays]
            for copy, array in zip(copies, self._arrays, strict=True):
                copy[: len(array)] = array
            self._arrays, self._shared = copies, False
        else:
            for array in self._arrays:
                # nobody else holds these arrays, so they may move; large ones do so without being copied
                array.resize((room, *array.shape[1:]), refcheck=False)
