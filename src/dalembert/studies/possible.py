"""m > 0, I ≥ 0: which members of a table may describe no real body, found for all of them at once.

Only suspicion: who is suspected is then judged as the values of a single run are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.algebra.folds import symbols_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.states.values import Values

    Numbers = NDArray[np.float64]


class Possible:
    """The masses and inertias that what varies has a part in."""

    def __init__(self, values: Values, varied: dict[int, int]) -> None:
        self._evaluator = evaluator = values.evaluator
        tape = evaluator.tape

        def varies(nodes: list[int]) -> bool:
            inside = set(symbols_of(tape, nodes))
            return not inside.isdisjoint(varied) and inside <= {*varied, *values.numbers}

        bodies = values.kin.system.bodies
        self._masses = [body.mass.i for body in bodies if varies([body.mass.i])]
        turning = [list(b.inertia.on(tape).to(b.frame).entries()) for b in bodies if b.frame is not None and b.inertia is not None]
        self._inertias = [entries for entries in turning if varies(entries)]

    def suspects(self, varied: dict[int, Numbers], count: int) -> list[int]:
        """Members with a mass that is not positive, or an inertia with a moment that is not."""
        bad = np.zeros(count, dtype=bool)
        if self._masses:
            bad |= ~(self._evaluator.arrays(self._masses, varied, count) > 0.0).all(axis=0)
        for entries in self._inertias:
            xx, yy, zz, xy, yz, xz = self._evaluator.arrays(entries, varied, count)
            I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
            # rounding may make a moment that is zero negative; the judge knows
            bad |= ~(np.linalg.eigvalsh(np.nan_to_num(I)) >= 0.0).all(axis=1)
        return [int(k) for k in np.flatnonzero(bad)]
