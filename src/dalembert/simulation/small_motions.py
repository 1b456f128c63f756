"""A motion so small that the absolute tolerance decides about it: it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.simulation.trajectory import Trajectory

# with so many digits between the motion and the tolerance nothing need be said
_DIGITS: Final = 1e3


def warn_of_small_motion(run: Trajectory, rtol: float, atol: ArrayLike) -> None:
    """Where every coordinate and speed stays near the absolute tolerance their errors are not those that rtol promises."""
    if (type(atol) is not float and np.ndim(atol)) or not len(run):
        return
    tolerance = atol if type(atol) is float else float(np.asarray(atol))
    # most motions begin large enough, and need not be looked at to their end
    if max(map(abs, (*run.start.q.tolist(), *run.start.u.tolist())), default=0.0) >= _DIGITS * tolerance:
        return
    largest = float(np.max(np.abs(run.y), initial=0.0))
    if 0.0 < largest < _DIGITS * tolerance and rtol * largest < tolerance:
        wanted = f"{10.0 ** np.floor(np.log10(largest * 1e-9)):.0e}"
        warn(
            f"all coordinates and speeds stay below {largest:.1e}, where the absolute tolerance atol = {tolerance:g} decides and "
            f"relative errors may be large; give atol={wanted}, or larger units"
        )
