"""δq = Re(C v e^{λt}): equilibria and steady motions of a system, and how it moves near them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import DalembertError, NotApplicable
from dalembert.linear.linearize import linearize
from dalembert.linear.model import LinearModel, Mode
from dalembert.model.system import System
from dalembert.states.evaluator import label
from dalembert.statics.equilibrium import Equilibrium, equilibrium

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.run_options import RunOptions
    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

# radians or units of length that the largest coordinate of an animated mode reaches
_AMPLITUDE: Final = 0.3
_FRAMES: Final = 61
_STEADY_SEARCHES: Final = 4
MOST_COORDINATES: Final = 12


@dataclass(frozen=True, eq=False)
class Vibration:
    """A point, its stability, and the linear model about it; the outputs of the model are all coordinates."""

    title: str
    equilibrium: Equilibrium
    model: LinearModel = field(repr=False)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """One mode for each pair of eigenvalues, without the zeros of ignorable coordinates."""
        return tuple(m for m in self.model.modes().modes if not m.structural and m.eigenvalue.imag >= 0)

    def motion(self, mode: Mode) -> Numbers:
        """The coordinates over one period (or one time constant) of a mode, in rows."""
        delta = self.model.C @ mode.shape
        phases = np.linspace(0.0, 1.0, _FRAMES)
        oscillates = abs(mode.eigenvalue.imag) > 1e-9 * abs(mode.eigenvalue)
        # growth and decay over one period would hide the shape, so only the phase goes round
        turn = np.exp(2j * np.pi * phases) if oscillates else np.sin(2 * np.pi * phases).astype(complex)
        swing = np.real(np.outer(turn, delta))
        largest = float(np.abs(swing).max(initial=0.0))
        return np.asarray(self.equilibrium.q + (_AMPLITUDE / largest if largest > 0 else 0.0) * swing)

    def period(self, mode: Mode) -> float:
        """2π/|Im λ|, or 2π/|λ| where nothing oscillates."""
        rate = abs(mode.eigenvalue.imag) or abs(mode.eigenvalue) or 1.0
        return float(2 * np.pi / rate)


def vibrations(system: System, options: RunOptions) -> tuple[Vibration, ...]:
    """The equilibrium nearest to zero, and a steady motion with one of the start's speeds, where they exist."""
    if len(system.q) > MOST_COORDINATES:
        msg = f"not searched for: with {len(system.q)} coordinates that takes minutes; `dalembert equilibrium` and `dalembert modes` do it"
        raise NotApplicable(msg)
    found: list[Vibration] = []
    reasons: list[DalembertError] = []
    for title, given in _places(system, options):
        try:
            found.append(_about(system, title, given, options))
        except DalembertError as problem:
            reasons.append(problem)
    if not found and reasons:
        raise reasons[0]
    return tuple(found)


def _places(system: System, options: RunOptions) -> Iterator[tuple[str, dict[str, float]]]:
    """At rest, then with each rate or speed of the start alone."""
    yield "At rest", {}
    coordinates = {s.name for s in system.symbols.values() if s.kind == "coordinate"}
    rates = {name: x for name, x in options.start.items() if name not in coordinates and x}
    for name, x in list(rates.items())[:_STEADY_SEARCHES]:
        yield f"Steady motion with {label(name)} = {x:.6g}", {name: x}


def _about(system: System, title: str, given: Mapping[str, float], options: RunOptions) -> Vibration:
    coordinates = [s.name for s in system.symbols.values() if s.kind == "coordinate"]
    # the search begins where the run does
    guess = {name: x for name, x in options.start.items() if name in coordinates}
    point = equilibrium(system, given, guess=guess, values=options.values, inputs=options.inputs)
    about = dict(point.point)
    model = linearize(system, about, values=options.values, inputs=options.inputs, outputs=coordinates, equilibrium=True)
    return Vibration(title, point, model)


def shape_run(run: Trajectory, v: Vibration, mode: Mode) -> Trajectory:
    """The mode as a motion of the same system."""
    q, u = v.motion(mode), v.equilibrium.u
    # a run that keeps all rates in its state has other speeds; the shape shows positions only
    u = u if len(u) == run.u.shape[1] else np.zeros(run.u.shape[1])
    return run.with_states(np.linspace(0.0, v.period(mode), len(q)), q, np.broadcast_to(u, (len(q), len(u))))
