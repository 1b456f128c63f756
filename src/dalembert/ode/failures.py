"""Why a run cannot begin, or why it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.errors import DalembertError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dalembert.ode.solution import Solution
    from dalembert.simulation.trajectory import Trajectory


class BadRun(DalembertError):
    """A run that cannot begin."""


class BadDuration(BadRun):
    """Times that are not finite or do not increase."""


class BadTolerance(BadRun):
    """A tolerance or a largest step out of range."""


class BadStart(BadRun):
    """Start values that are not finite, or a number of components that does not fit."""


class OutsideRun(DalembertError):
    """A time at which the motion is not known."""


class RunStopped(DalembertError):
    """A run that stopped before its end: the time and the state reached, the motion so far, the code of the function that refused."""

    # whether the motion so far knows what happened in it
    told = False

    def __init__(self, reason: str, solution: Solution, code: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.solution, self.code = reason, solution, code
        # the motion so far with names, where a system was run
        self.trajectory: Trajectory | None = None

    def __str__(self) -> str:
        return self.reason

    @property
    def time(self) -> float:
        """The last time that was reached."""
        return float(self.solution.t[-1])

    @property
    def state(self) -> NDArray[np.float64]:
        """The state at that time."""
        state: NDArray[np.float64] = self.solution.y[-1]
        return state

    def __reduce__(self) -> tuple[type[RunStopped], tuple[str, Solution, int]]:
        return type(self), (self.reason, self.solution, self.code)


class Crawling(RunStopped):
    """A run that does not get on: chattering, stiffness, or more steps than can be kept."""

    @property
    def is_stiff(self) -> bool:
        """Whether something that settles much faster than the motion holds the steps down."""
        return "stiffness:" in self.reason


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C during a run; `trajectory` is the motion so far."""

    def __init__(self, message: str, trajectory: Trajectory) -> None:
        super().__init__(message)
        self.trajectory = trajectory

    def __reduce__(self) -> tuple[type[RunInterrupted], tuple[str, Trajectory]]:
        return type(self), (str(self), self.trajectory)


class StepCollapsed(RunStopped):
    """No step is small enough for the tolerance: a blow-up in finite time, or a jump."""


class NotFinite(RunStopped):
    """The right-hand side is infinite or NaN however small the step."""


class RightHandSideFailed(RunStopped):
    """The right-hand side cannot be evaluated, for instance because a matrix is singular."""


class ProjectionFailed(RunStopped):
    """No point on the constraints was found."""


class StepRefused(RunStopped):
    """The acceptance test refuses every step, however small."""
