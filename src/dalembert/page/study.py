"""Everything a page shows about one system, computed once: derivations, agreement, a run, integrals, linear modes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dalembert.agreement.agreement_table import Agreement
from dalembert.agreement.catalogue import PRINCIPLES
from dalembert.api.agreement import agreement
from dalembert.api.energy_integrals import energy_integrals
from dalembert.api.simulate import run_system
from dalembert.errors import DalembertError, DalembertWarning, NotApplicable
from dalembert.integrals.energy_integrals import EnergyIntegrals
from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System
from dalembert.principles.base import Derivation, derived
from dalembert.report.document import Subject
from dalembert.simulation.events.event import read_events
from dalembert.simulation.run_options import RunOptions

if TYPE_CHECKING:
    from dalembert.page.vibration import Vibration
    from dalembert.simulation.trajectory import Trajectory

TOLERANCE: Final = 1e-11


@dataclass(frozen=True)
class ReportRequest:
    """How a system is to be set in motion, and how it is named on the command line and in Python."""

    duration: float = 10.0
    run: RunOptions = field(default_factory=RunOptions)
    # what `dalembert report` was asked for: a name of the gallery or path/to/file.py:function; empty in a program
    name: str = ""
    # the options that were given on the command line, as they were given
    options: tuple[str, ...] = ()


def page_run(
    start: Mapping[Any, float] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    events: Sequence[Any] = (),
) -> RunOptions:
    """A run that is looked at closely: finer than usual, and without a bar of its own."""
    return RunOptions(
        start=start or {},
        values=values or {},
        inputs=inputs or {},
        rtol=TOLERANCE,
        atol=TOLERANCE,
        progress=False,
        events=read_events(events),
    )


@dataclass(frozen=True)
class Study:
    """A system and all that is known about it; what could not be had is None, with the reason."""

    subject: Subject
    request: ReportRequest
    derivations: tuple[Derivation, ...]
    agreed: Agreement
    run: Trajectory | None
    why_no_run: str = ""
    integrals: EnergyIntegrals | None = None
    why_no_integrals: str = ""
    vibrations: tuple[Vibration, ...] = ()
    why_no_vibrations: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def system(self) -> System:
        """The system itself."""
        return self.subject.system


Tell = Callable[[str], None]
# what `tell` is told in the course of one study, before the page is written
STAGES = ("principles and their agreement", "motion", "energy integrals", "equilibria and linear modes")


def study(subject: Subject, request: ReportRequest, tell: Tell = lambda _: None) -> Study:
    """Derive, compare, run, decide, linearize; `tell` hears what is going on."""
    from dalembert.page.vibration import vibrations

    system = subject.system
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", DalembertWarning)
        tell(STAGES[0])
        agreed = agreement(system)
        derivations = tuple(_derivations(system))
        tell(STAGES[1])
        run, why_no_run = _attempt(lambda: _run(system, request))
        tell(STAGES[2])
        found, why_no_integrals = _attempt(lambda: energy_integrals(system, values=request.run.values, inputs=request.run.inputs))
        tell(STAGES[3])
        near, why_no_vibrations = _attempt(lambda: vibrations(system, request.run))
    remarks = tuple(dict.fromkeys(str(w.message) for w in heard if issubclass(w.category, DalembertWarning)))
    return Study(
        subject=subject,
        request=request,
        derivations=derivations,
        agreed=agreed,
        run=run,
        why_no_run=why_no_run,
        integrals=found,
        why_no_integrals=why_no_integrals,
        vibrations=near or (),
        why_no_vibrations=why_no_vibrations,
        remarks=remarks,
    )


def _derivations(system: System) -> list[Derivation]:
    kin = kinematics(system)
    found = []
    for _, derive in PRINCIPLES:
        try:
            found.append(derived(derive, kin))
        except NotApplicable:
            continue  # the table of agreement says why
    return found


def _run(system: System, request: ReportRequest) -> Trajectory:
    from dalembert.ode.failures import RunInterrupted, RunStopped

    try:
        return run_system(system, request.duration, request.run)
    except RunInterrupted as ended:
        part: Trajectory = ended.trajectory
        return part
    except RunStopped as failure:
        # what there is of it is shown, and that it stopped
        if failure.trajectory is None or len(failure.trajectory) < 3:
            raise
        warnings.warn(str(failure), DalembertWarning, stacklevel=2)
        found: Trajectory = failure.trajectory
        return found


def _attempt(make: Callable[[], Any]) -> tuple[Any, str]:
    """What could be made, or the reason why not."""
    try:
        return make(), ""
    except DalembertError as problem:
        return None, str(problem)
