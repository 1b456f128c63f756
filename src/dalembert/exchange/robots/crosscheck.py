"""The same states in a System and in the engines that know its file: accelerations, mass matrix,
energies.

Differences are relative to the size of what is compared, and to the condition of the mass matrix
where a system is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.inverse.state_values import StateValues, state_values
from dalembert.errors import BadDescription
from dalembert.exchange.robots.joint_velocities import JointVelocities
from dalembert.exchange.robots.optional_engines import pinocchio
from dalembert.exchange.robots.reference_engines import Engine, MuJoCo, Pinocchio
from dalembert.exchange.robots.robot_record import RobotSource
from dalembert.exchange.robots.transforms import Numbers
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.kinetics.spatial_fields import potential_energy
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of

# u̇ by native code: f(q, u, t, **values)
NativeRates = Callable[..., Any]

STATES: Final = 20
TOLERANCE: Final = 1e-9
# no condition excuses more
_WORST: Final = 1e-6
_EPSILON: Final = float(np.finfo(float).eps)


@dataclass(frozen=True)
class EngineComparison(Displayable):
    """One engine: the largest relative differences over all states, and the joint where the
    accelerations differ most.
    """

    engine: str
    states: int
    accelerations: float
    mass_matrix: float
    energies: float
    worst_joint: str
    condition: float
    # why it could not be asked
    unavailable_reason: str = ""

    @property
    def agrees(self) -> bool:
        """Whether rounding explains the differences: 1e-9, or what the condition of the mass
        matrix makes of rounding.
        """
        allowed = min(max(TOLERANCE, 100 * _EPSILON * self.condition), _WORST)
        return (
            not self.unavailable_reason
            and self.accelerations <= allowed
            and max(self.mass_matrix, self.energies) <= TOLERANCE
        )

    def __bool__(self) -> bool:
        return self.agrees

    def __str__(self) -> str:
        if self.unavailable_reason:
            return f"{self.engine}: not compared: {self.unavailable_reason}"
        verdict = "agrees" if self.agrees else f"DIFFERS, most at {self.worst_joint}"
        sizes = (
            f"accelerations {self.accelerations:.1e}, mass matrix {self.mass_matrix:.1e}, "
            f"energies {self.energies:.1e}"
        )
        return (
            f"{self.engine}: {verdict} at {self.states} random states; largest relative "
            f"differences: {sizes}"
        )


@dataclass(frozen=True)
class CrossCheck(Displayable):
    """A System against the engines that read the same file."""

    system: str
    engines: tuple[EngineComparison, ...]

    @property
    def agrees(self) -> bool:
        """Whether at least one engine was run, and every one that was run agrees."""
        asked = [c for c in self.engines if not c.unavailable_reason]
        return bool(asked) and all(c.agrees for c in asked)

    def __bool__(self) -> bool:
        return self.agrees

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.system}: the engines that know its file", *(f"  {c}" for c in self.engines)]
        )


def crosscheck(
    system: System, native: NativeRates, origin: RobotSource, *, states: int = STATES, seed: int = 1
) -> CrossCheck:
    """Both engines, each at the same random states; an engine that refuses the file is named
    with its reason.
    """
    sample = StateSample(system, native, origin, states, seed)
    asked = ("MuJoCo", "Pinocchio") if origin.path_is_urdf else ("MuJoCo",)
    return CrossCheck(system.name, tuple(_compare_engine(sample, origin, name) for name in asked))


def _compare_engine(sample: StateSample, origin: RobotSource, name: str) -> EngineComparison:
    try:
        engine: Engine
        if name == "MuJoCo":
            engine = MuJoCo(origin)
        else:
            pin = pinocchio()
            if pin is None:
                return _unavailable(name, "it is not installed")
            engine = Pinocchio(origin, pin)
    except ValueError as problem:
        return _unavailable(name, "it refuses the file: " + " ".join(str(problem).split()))
    return sample.against(engine)


def _unavailable(name: str, why: str) -> EngineComparison:
    return EngineComparison(name, 0, 0.0, 0.0, 0.0, "", 0.0, why)


class _StateErrors(NamedTuple):
    """Relative differences at one state; where the accelerations differ most; V of both."""

    acceleration: float
    where: str
    mass_matrix: float
    condition: float
    kinetic: float
    potentials: tuple[float, float]


class StateSample:
    """Random states of a System, with everything that is compared there."""

    def __init__(
        self, system: System, native: NativeRates, origin: RobotSource, states: int, seed: int
    ) -> None:
        self.system, self.origin = system, origin
        self.kin = kinematics(system)
        self.velocities = JointVelocities(self.kin, origin)
        self.energy = _energies(self.kin)
        rng = np.random.default_rng(seed)
        self.inputs = [n for n, s in system.symbols.items() if s.kind == "input"]
        self.points = [self._random_state(rng, native) for _ in range(states)]

    def _random_state(
        self, rng: np.random.Generator, native: NativeRates
    ) -> tuple[StateValues, Numbers, Numbers]:
        """A state on the rows, random controls, and u̇ there by native code."""
        control = rng.uniform(-1, 1, len(self.inputs))
        given = {n: float(x) for n, x in zip(self.inputs, control, strict=True)}
        q = {str(x.name): float(rng.uniform(-1, 1)) for x in self.system.q}
        dependent = {
            n
            for r in self.kin.rows
            if r.phi is not None and not r.is_norm
            for n in self._coordinates_in_row(r)
        }
        free = {n: x for n, x in q.items() if n not in dependent}
        state = state_values(
            self.system, free, inputs=given, guess={n: 0.3 * q[n] for n in dependent}
        )
        u = rng.uniform(-1, 1, self.kin.n_u)
        state = StateValues(state.kinematics, 0.0, state.q, u, state.numbers)
        return state, control, np.asarray(native(state.q, u, 0.0, **given))

    def _coordinates_in_row(self, row: Any) -> set[str]:
        """The coordinates that a row is about."""
        inside = set(symbols_of(self.kin.tape, (row.phi,)))
        return {self.kin.name(q) for q in self.kin.q if q in inside}

    def against(self, engine: Engine) -> EngineComparison:
        """The largest differences over all states."""
        errors = [self._errors_at(engine, *point) for point in self.points]
        # the first of the states that differ most
        worst = max(errors, key=lambda e: e.acceleration)
        return EngineComparison(
            engine.name,
            len(self.points),
            worst.acceleration,
            max(e.mass_matrix for e in errors),
            max(*(e.kinetic for e in errors), _potential_gap([e.potentials for e in errors])),
            worst.where if worst.acceleration > 0.0 else "",
            max(1.0, *(e.condition for e in errors)),
        )

    def _errors_at(
        self, engine: Engine, state: StateValues, control: Numbers, udot: Numbers
    ) -> _StateErrors:
        """The differences at one state."""
        qpos, qvel, B, drift = self.velocities.at(state)
        theirs = engine.at(qpos, qvel, control)
        a = theirs.accelerations(self.velocities.free)
        gap = np.abs(B @ udot + drift - a)
        worst = float(np.max(gap)) / max(float(np.max(np.abs(a))), 1.0)
        where = self.velocities.names[int(np.argmax(gap))]
        if theirs.violation > TOLERANCE and theirs.violation >= worst:
            worst, where = theirs.violation, "the positions that couplings and loops allow"
        M = theirs.M[np.ix_(self.velocities.free, self.velocities.free)]
        projected = B.T @ M @ B
        T, V = self.energy(state)
        return _StateErrors(
            worst,
            where,
            float(np.max(np.abs(projected - state.M)) / np.max(np.abs(projected))),
            float(np.linalg.cond(M)),
            abs(T - theirs.kinetic) / max(abs(theirs.kinetic), 1.0),
            (V, theirs.potential),
        )


def _potential_gap(pairs: Sequence[tuple[float, float]]) -> float:
    """V is counted from any level: its changes are compared."""
    ours, theirs = (np.array(x) for x in zip(*pairs, strict=True))
    changes = np.abs((ours - ours[0]) - (theirs - theirs[0]))
    return float(np.max(changes) / max(1.0, float(np.max(np.abs(theirs)))))


def _energies(kin: Kinematics) -> Callable[[StateValues], tuple[float, float]]:
    """T, and V of springs and of gravity, at a state."""
    fork = kin.fork()
    t = fork.tape
    T, V = Quantities(fork).speeds.T.value.i, potential_energy(fork).i

    def at(state: StateValues) -> tuple[float, float]:
        known = dict(state.numbers) | dict(
            zip((*fork.q, *fork.u), (*state.q.tolist(), *state.u.tolist()), strict=True)
        )
        known[fork.system.t.i] = state.t
        kinetic, stored = evaluate(t, [T, V], known.__getitem__, FloatArithmetic())
        return float(kinetic), float(stored)

    return at


def origin_of(system: object) -> RobotSource:
    """Where a System was read from; an error for one that was described by hand."""
    origin = getattr(system, "origin", None)
    if not isinstance(origin, RobotSource):
        msg = (
            "crosscheck: this system was not read from a URDF or MJCF file by da.load, so no "
            "engine knows it"
        )
        raise BadDescription(msg)
    return origin
