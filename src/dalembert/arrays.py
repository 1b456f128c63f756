"""Arrays of numbers and of places, as annotations name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Indices = NDArray[np.intp]
else:
    # opening numpy.typing takes longer than it should in a short command
    Numbers = Indices = Any
