"""λ by the names of rows, and what to ask for where a name has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from dalembert.errors import Unknown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dalembert.kinematics.system_kinematics import Kinematics


class RowMultipliers(dict[str, "NDArray[np.float64]"]):
    """λ of every row that stands beside the equations, over the times of a run."""

    def __init__(self, found: dict[str, NDArray[np.float64]], kin: Kinematics | None = None) -> None:
        super().__init__(found)
        self._kin = kin

    def __missing__(self, name: str) -> NoReturn:
        if self._kin is None:
            raise KeyError(name)
        contact = next((c for c in self._kin.system.contacts if c.name == name), None)
        if contact is not None:
            forces = " and ".join(f"run[{str(force.name)!r}]" for force in (contact.N, contact.T) if force is not None)
            msg = f"multipliers: {name!r} is a contact or friction, whose force the run finds mode by mode: {forces}"
        elif any(row.name == name for row in self._kin.acting_rows):
            msg = f"multipliers: the row {name!r} was eliminated, and this run has no λ of it; its force is in run.reactions"
        else:
            rows = ", ".join(map(repr, self)) or "none"
            msg = f"multipliers: no row is called {name!r}; the rows of this run that have a λ: {rows}"
        raise Unknown(msg)

    def __reduce__(self) -> tuple[type[RowMultipliers], tuple[dict[str, NDArray[np.float64]]]]:
        return RowMultipliers, (dict(self),)
