"""What became of some members: outcome, reasons, and the numbers that are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.studies.plan import StudyPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# outcomes of a member: one that was refused has never begun, one that was ended came to an event that ends the run
FINISHED: Final = 0
STOPPED: Final = 1
REFUSED: Final = 2
ENDED: Final = 3
# in a file: not run yet
WAITING: Final = 4
OUTCOMES: Final = ("finished", "stopped", "refused", "ended", "waiting")
# a reason is kept up to this length
REASON: Final = 320


@dataclass(eq=False)
class Chunk:
    """Rows of some members, in their order."""

    outcome: NDArray[np.uint8]
    # the time reached, and the steps it took
    reached: Numbers
    steps: Numbers
    # max |E_Z − E_Z(t₀)| as a part of max (K₂ + |𝒰 − 𝒰₀| + |Z|)
    drift: Numbers | None
    kept: dict[str, Numbers]
    reasons: dict[int, str] = field(default_factory=dict)

    @classmethod
    def empty(cls, plan: StudyPlan, count: int, *, audit: bool) -> Chunk:
        """Room for so many members, nothing known of any."""
        shapes = {kept.name: (count, plan.times.size) if plan.over_time(kept) else (count,) for kept in plan.kept}
        kept = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
        drift = np.full(count, np.nan) if audit else None
        return cls(np.zeros(count, dtype=np.uint8), np.full(count, np.nan), np.zeros(count), drift, kept)

    def refuse(self, row: int, reason: str) -> None:
        """A member that cannot begin."""
        self.outcome[row] = REFUSED
        self.reasons[row] = reason

    def columns(self) -> dict[str, NDArray[Any]]:
        """Everything but the reasons as arrays with a row for each member."""
        drift = {} if self.drift is None else {"drift": self.drift}
        return {**self.kept, "outcome": self.outcome, "reached": self.reached, "steps": self.steps, **drift}

    def reason_bytes(self) -> NDArray[np.uint8]:
        """The reasons as UTF-8, a row for each member, zeros behind the last letter."""
        rows = np.zeros((len(self.outcome), REASON), dtype=np.uint8)
        for row, reason in self.reasons.items():
            # never cut inside a letter
            text = reason.encode()[:REASON].decode(errors="ignore").encode()
            rows[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
        return rows


def reasons_of(rows: NDArray[np.uint8]) -> list[str]:
    """Texts from their bytes."""
    return [row.tobytes().rstrip(b"\0").decode() for row in rows]
