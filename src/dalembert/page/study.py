"""Everything a page shows about one system, computed once: derivations, agreement, a run, integrals, linear modes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dalembert.agreement.agreement_table import Agreement
from dalembert.agreement.catalogue import PRINCIPLES
from dalembert.api.agreement import agreement
from dalembert.api.energy_integrals import energy_integrals
from dalembert.api.simulate import simulate
from dalembert.errors import DalembertError, DalembertWarning, NotApplicable
from dalembert.integrals.energy_integrals import EnergyIntegrals
from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System
from dalembert.principles.base import Derivation
from dalembert.principles.derived import derived
from dalembert.report.document import Subject

if TYPE_CHECKING:
    from dalembert.page.vibration import Vibration
    from dalembert.simulation.trajectory import Trajectory


@dataclass(frozen=True)
class Wish:
    """How a system is to be set in motion, and how it is named on the command line and in Python."""

    duration: float = 10.0
    start: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    # numbers, expressions, or text that can be read as one
    inputs: Mapping[str, Any] = field(default_factory=dict)
    rtol: float = 1e-11
    atol: float = 1e-11
    # what `dalembert report` was asked for: a name of the gallery or path/to/file.py:function; empty in a program
    name: str = ""
    # the options that were given on the command line, as they were given
    options: tuple[str, ...] = ()
    events: Sequence[Any] = ()


@dataclass(frozen=True)
class Study:
    """A system and all that is known about it; what could not be had is None, with the reason."""

    subject: Subject
    wish: Wish
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


def study(subject: Subject, wish: Wish, tell: Tell = lambda _: None) -> Study:
    """Derive, compare, run, decide, linearize; `tell` hears what is going on."""
    from dalembert.page.vibration import vibrations

    system = subject.system
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", DalembertWarning)
        tell(STAGES[0])
        agreed = agreement(system)
        derivations = tuple(_derivations(system))
        tell(STAGES[1])
        run, why_no_run = _attempt(lambda: _run(system, wish))
        tell(STAGES[2])
        found, why_no_integrals = _attempt(lambda: energy_integrals(system, values=wish.values, inputs=wish.inputs))
        tell(STAGES[3])
        near, why_no_vibrations = _attempt(lambda: vibrations(system, wish))
    remarks = tuple(dict.fromkeys(str(w.message) for w in heard if issubclass(w.category, DalembertWarning)))
    return Study(
        subject=subject,
        wish=wish,
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


def _run(system: System, wish: Wish) -> Trajectory:
    from dalembert.ode.failures import RunInterrupted, RunStopped

    try:
        return simulate(
            system,
            wish.duration,
            start=wish.start,
            values=wish.values,
            inputs=wish.inputs,
            rtol=wish.rtol,
            atol=wish.atol,
            events=wish.events,
            progress=False,
        )
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
