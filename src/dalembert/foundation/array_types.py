"""Arrays of numbers, of places and of yes or no, as annotations name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IndexArray = NDArray[np.intp]
    BoolArray = NDArray[np.bool_]
else:
    # opening numpy.typing takes longer than it should in a short command
    FloatArray = IndexArray = BoolArray = Any
