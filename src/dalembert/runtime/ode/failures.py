"""Why a run cannot begin, or why it stopped: failures that carry their cause as data, and the
one place that writes their messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dalembert.errors import DalembertError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dalembert.runtime.ode.solution import Solution
    from dalembert.runtime.simulation.trajectory import Trajectory


class Cause(IntEnum):
    """Why a run did not reach its end; the numbers are those in the files of studies."""

    NONE = 0
    # before the first step
    REFUSED = 1
    INITIAL_CONDITIONS = 2
    # an event that ends the run
    TERMINAL_EVENT = 3
    # no step is small enough
    STEP_SIZE = 10
    BLOW_UP = 11
    NOT_FINITE = 12
    NOT_FINITE_AT_START = 13
    RIGHT_HAND_SIDE = 14
    PROJECTION = 15
    ACCEPTANCE = 16
    # no progress
    CHATTERING = 20
    STIFFNESS = 21
    TOO_MANY_STEPS = 22
    NO_PROGRESS = 23
    # events and contacts
    ACCUMULATING_EVENTS = 30
    REPEATED_EVENTS = 31
    TOO_MANY_EVENTS = 32
    NO_CONTACT_MOTION = 40
    SEVERAL_CONTACT_MOTIONS = 41
    JAMMED_CONTACT = 42
    NO_IMPULSES = 43
    IMPACT_ENERGY = 44
    MODE_CHANGES = 45
    SHARED_PLANE_FRICTION = 46
    ADDED_APART = 47
    # another package's integrator gave up
    INTEGRATOR = 50
    # what the system's matrices show at the last state
    SINGULAR_ATTITUDE = 60
    DEAD_POINT = 61
    CONTRADICTING_ROWS = 62
    SINGULAR_MASS_MATRIX = 63
    UNBOUNDED_RATE = 64
    INFINITE_LOAD = 65

    @property
    def title(self) -> str:
        """STEP_SIZE → step size"""
        return self.name.lower().replace("_", " ")


class BadRun(DalembertError):
    """A run that cannot begin."""


class BadDuration(BadRun):
    """Times that are not finite or do not increase."""


class BadTolerance(BadRun):
    """A tolerance or a largest step out of range."""


class BadStart(BadRun):
    """Start values that are not finite, do not fit the constraints, or are too many or too few.

    `sentence` is the message without `where`, the argument that it is about.
    """

    cause = Cause.INITIAL_CONDITIONS

    def __init__(self, sentence: str, where: str = "") -> None:
        super().__init__(sentence, where)
        self.sentence, self.where = sentence, where

    def __str__(self) -> str:
        return f"{self.where}: {self.sentence}" if self.where else self.sentence


class OutsideRun(DalembertError):
    """A time at which the motion is not known."""


class LikelyCause(NamedTuple):
    """A cause with the numbers and names that its text shows."""

    cause: Cause
    facts: Mapping[str, Any]


class RunStopped(DalembertError):
    """A run that stopped before its end: why, with which numbers, and the motion so far.

    `cause` says why, `component` which component of the state is at fault, `facts` holds the
    numbers, `advice` says what to do, `likely` what the system's matrices show. `code` is that of
    the function that refused.
    """

    # whether the motion so far knows what happened in it
    has_event_history = False

    def __init__(
        self,
        cause: Cause,
        solution: Solution,
        *,
        component: int | None = None,
        code: int = 0,
        **facts: Any,
    ) -> None:
        super().__init__()
        self.cause, self.solution, self.component, self.code = cause, solution, component, code
        self.facts: Mapping[str, Any] = {
            "t": self.time,
            "steps": solution.steps,
            "code": code,
            **facts,
        }
        # the motion so far with names, where a system was run
        self.trajectory: Trajectory | None = None
        # of the components of the state, and their last values, where they are known
        self.names: tuple[str, ...] = ()
        self.values: tuple[float, ...] = ()
        self.likely: LikelyCause | None = None
        # the part of the energy integral that the integrator lost, where this is no motion of the
        # system
        self.energy_lost = 0.0
        # whether the energy tolerance leaves no step
        self.energy_limited = False

    def __str__(self) -> str:
        return stop_message(self)

    @property
    def reason(self) -> str:
        """The message."""
        return str(self)

    @property
    def advice(self) -> str:
        """What to do about it; empty where there is no general advice."""
        # a tolerance that is loose already is not to be loosened
        useless = self.energy_lost and self.cause is Cause.TOO_MANY_STEPS
        return "" if useless else _TEXTS[self.cause].advice.format(**self.facts)

    @property
    def component_name(self) -> str:
        """The name of the component at fault, or its number."""
        if self.component is None:
            return ""
        return self.names[self.component] if self.names else f"component {self.component}"

    @property
    def time(self) -> float:
        """The last time that was reached."""
        return float(self.solution.t[-1])

    @property
    def state(self) -> NDArray[np.float64]:
        """The state at that time."""
        state: NDArray[np.float64] = self.solution.y[-1]
        return state

    def __reduce__(self) -> tuple[type[RunStopped], tuple[Cause, Solution], dict[str, Any]]:
        return type(self), (self.cause, self.solution), {**self.__dict__, "trajectory": None}


class NoProgress(RunStopped):
    """A run that makes no progress: chattering, stiffness, or more steps than can be kept."""

    @property
    def is_stiff(self) -> bool:
        """Whether something that settles much faster than the motion holds the steps down."""
        return self.cause is Cause.STIFFNESS


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


# ---- messages --------------------------------------------------------------------------------


class _Text(NamedTuple):
    """The text of a cause, what to do, what stands between them, and where the run stopped."""

    what: str
    advice: str = ""
    joint: str = "; "
    where: str = "stopped at t = {t:.17g} after {steps} steps: "


_SHRUNK: Final = (
    "the step has shrunk to {h:.1e}; {component} is {value:.6g} and changes at "
    "{rate:.6g} per unit of time"
)
_GIVE_WAY: Final = "lower the friction, or let something give way"
_SPRING: Final = f"{_GIVE_WAY}, such as a spring at the contact"
_HERE: Final = "at {place} "
_TEXTS: Final = {
    Cause.STEP_SIZE: _Text(
        _SHRUNK, "look for a jump or a kink in the right-hand side, or loosen the tolerance", ": "
    ),
    Cause.BLOW_UP: _Text(_SHRUNK + ": it grows without bound in finite time"),
    Cause.NOT_FINITE: _Text(
        "the right-hand side is infinite or not a number just beyond, even for a step of {h:.1e}"
    ),
    Cause.NOT_FINITE_AT_START: _Text(
        "the right-hand side is infinite or not a number already at the start"
    ),
    Cause.RIGHT_HAND_SIDE: _Text(
        "the right-hand side cannot be evaluated just beyond (code {code})"
    ),
    Cause.PROJECTION: _Text(
        "the projection finds no point on the constraints just beyond (code {code})"
    ),
    Cause.ACCEPTANCE: _Text(
        "the acceptance test refuses every step, down to {h:.1e} (code {code})"
    ),
    Cause.CHATTERING: _Text(
        "chattering: the rate of {component} jumps between {low:.6g} and {high:.6g} from step to "
        "step, and steps have shrunk to {h:.1e}",
        "if sign or |·| of a velocity models friction, declare it with s.friction, "
        "smooth it (tanh(v/ε)), "
        "or let an event end or change the motion there",
    ),
    Cause.STIFFNESS: _Text(
        "stiffness: something around {component} settles {rate:.0e} times in a unit of time, and "
        "no longer step than {h:.1e} is stable",
        "choose integrator='rosenbrock', 'Radau', 'BDF' or 'CVODE'",
    ),
    Cause.TOO_MANY_STEPS: _Text(
        "at this pace the run takes {needed:.0e} steps, more than fit into memory",
        "make it shorter, loosen rtol and atol, or continue from this state in a new run",
    ),
    Cause.NO_PROGRESS: _Text(
        "at this pace the run takes too many steps",
        "simulate this run separately to get the cause",
    ),
    Cause.INTEGRATOR: _Text("{detail}"),
    Cause.ACCUMULATING_EVENTS: _Text(
        "{event!r} fires ever more often: {count} times by t = {t:.9g}, the last interval "
        "{interval:.2g}, and infinitely often before t = {limit:.9g}",
        "End the run there, or continue from there with a constraint in place of the impact",
        ". ",
        "",
    ),
    Cause.REPEATED_EVENTS: _Text(
        "{event!r} fires again and again at t = {t:.9g} ({count} times): its effect on the state "
        "does not lead away from the event",
        "Where a contact lasts, end the run there (da.event(gap, stop=True)) and continue with a "
        "constraint; check a reset",
        ". ",
        "",
    ),
    Cause.TOO_MANY_EVENTS: _Text(
        "{event!r} fires too often: {count} events by t = {t:.9g}",
        "give an event expression that changes more slowly",
        where="",
    ),
    Cause.NO_CONTACT_MOTION: _Text(
        "no motion satisfies the laws of contact of {contacts} here: whether the contact is open, "
        "sticks or slips, a force or an "
        "acceleration has the wrong sign (Painlevé's paradox: rigid bodies with so much friction "
        "jam)",
        _SPRING,
        where=_HERE,
    ),
    Cause.SEVERAL_CONTACT_MOTIONS: _Text(
        "more than one motion satisfies the laws of contact here ({ways}): Painlevé's paradox",
        _GIVE_WAY,
        where=_HERE,
    ),
    Cause.JAMMED_CONTACT: _Text(
        "the normal force of the slipping contact {contacts} grows without bound "
        "(Painlevé's paradox: with so much friction rigid bodies jam)",
        _SPRING,
        where=_HERE,
    ),
    Cause.SHARED_PLANE_FRICTION: _Text(
        "the friction of {contacts} is not determined: several contacts share a load in a plane, "
        "the share of least norm leaves the cone, and another share holds",
        "describe fewer contact points, or give each one direction of slip, along=…",
        where=_HERE,
    ),
    Cause.NO_IMPULSES: _Text(
        "no impulses satisfy the laws of impact and friction here", _GIVE_WAY, where=_HERE
    ),
    Cause.ADDED_APART: _Text(
        "{contact!r} becomes active where its gap is {gap:.6g}: {why}",
        "change when it becomes active, or the position at which that happens",
        where=_HERE,
    ),
    Cause.IMPACT_ENERGY: _Text(
        "{law} law of impact would create the energy {energy:.6g} at {contacts}, where friction "
        "reverses the slip",
        "{cure}",
        where=_HERE,
    ),
    Cause.MODE_CHANGES: _Text("{contacts} {change} without end at t = {t:.9g}{since}", where=""),
    Cause.SINGULAR_ATTITUDE: _Text(
        "approach to a singular attitude: {angles} rotate {body!r} about the same axis there, so "
        "their rates blow up while the motion is "
        "smooth",
        "describe the attitude by a quaternion, or by angles about other axes",
    ),
    Cause.DEAD_POINT: _Text(
        "a singular position, a dead point (smallest singular value of the rows {least:.1e}, "
        "largest violation {residual:.1e} of {row!r})"
    ),
    Cause.CONTRADICTING_ROWS: _Text(
        "constraint rows that contradict one another from there on "
        "(smallest singular value of the rows {least:.1e}, largest violation {residual:.1e} of "
        "{row!r})"
    ),
    Cause.SINGULAR_MASS_MATRIX: _Text(
        "the mass matrix is singular there; nothing resists the speed {speed} ({why})"
    ),
    Cause.UNBOUNDED_RATE: _Text(
        "the rate of {coordinate} grows without bound; other coordinates or speeds avoid such a "
        "singular position"
    ),
    Cause.INFINITE_LOAD: _Text(
        "a load or a prescribed motion that is infinite, or not a number, there"
    ),
}
_UNDER_TOLERANCE: Final = (
    "K₂ + 𝒰 + Z is not kept within the energy tolerance by any step: "
    "rounding errors exceed it; give a larger one"
)


def stop_message(failure: RunStopped) -> str:
    """The message of a run that stopped: where, why, what to do; then the state by name and what
    is likely behind it.
    """
    text, facts = _TEXTS[failure.cause], {**failure.facts, "component": failure.component_name}
    lines = [
        text.where.format(**facts)
        + text.what.format(**facts)
        + (text.joint + failure.advice if failure.advice else "")
    ]
    if failure.values:
        lines.append(
            "state: "
            + ", ".join(
                f"{name} = {x:.6g}" for name, x in zip(failure.names, failure.values, strict=True)
            )
        )
    if failure.likely is not None:
        lines.append(
            f"likely cause: {_TEXTS[failure.likely.cause].what.format(**failure.likely.facts)}"
        )
    if failure.energy_lost:
        lines.append(energy_message(failure.energy_lost))
    if failure.energy_limited:
        lines.append(_UNDER_TOLERANCE)
    return "\n".join(lines)


def energy_message(lost: float) -> str:
    """The message about a motion that the energy integral shows to be wrong."""
    return (
        f"this is the integrator's error, not the system's motion: K₂ + 𝒰 + Z has changed by "
        f"{lost:.0%} of its value; give a smaller rtol"
    )
