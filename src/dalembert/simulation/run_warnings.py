"""What is said of a run that went on: its accuracy suffers, or its tolerance decides.

q̇ = W u + X near a position where W grows without bound; a motion so small that the absolute tolerance decides about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.folds import symbols_of
from dalembert.errors import warn
from dalembert.numerics.compiled import CompiledFunction
from dalembert.once import MadeOnce
from dalembert.simulation.trajectory import Trajectory
from dalembert.states.evaluator import Evaluator, label
from dalembert.states.values import Values, parameters_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.simulation.trajectory import Trajectory


_LARGE: Final = 300.0


@dataclass(frozen=True)
class _Suspects:
    """The entries of W that depend on the position, and the name of the coordinate in whose row each stands."""

    entries: CompiledFunction
    parameters: tuple[int, ...]
    names: tuple[str, ...]


_SUSPECTS: Final = MadeOnce[_Suspects | None]()


def warn_of_singular_speeds(run: Trajectory) -> None:
    """Say so where the run passed close to positions in which the speeds no longer determine the rates."""
    values = run.values
    suspects = _SUSPECTS(values.kin, values.bound, lambda: _suspects(values))
    if suspects is None:
        return
    p = np.array(parameters_of(values, suspects.parameters))
    y, t = run.y, run.t
    states = np.empty((len(t), y.shape[1] + 1))
    states[:, :-1], states[:, -1] = y, t
    entries = suspects.entries.batch(states, p)
    # for most this is all there is to see
    if entries.max() <= _LARGE and entries.min() >= -_LARGE:
        return
    size = np.abs(entries)
    largest = size.max(axis=0)
    suspicious = (largest > _LARGE * np.maximum(1.0, size.min(axis=0))).nonzero()[0]
    if suspicious.size:
        worst = suspicious[np.argmax(largest[suspicious])]
        msg = (
            f"near t = {run.t[np.argmax(size[:, worst])]:.6g} the rate of {suspects.names[worst]} is {largest[worst]:.0e} times a speed: "
            f"the speeds are singular close to that position, and energy drifted by {_drift(run):.0e}; declare speeds that stay regular "
            "there (s.speeds), or none: then all rates are kept; where angles are singular, use a quaternion"
        )
        warn(msg)


def _suspects(values: Values) -> _Suspects | None:
    """Compiled on a tape of their own; None where W depends on no coordinate."""
    evaluator = Evaluator(values.kin, values.numbers, values.bindings)
    kin, tape = evaluator.kin, evaluator.tape
    inside = [(q, w) for q, (_, W) in zip(kin.q, kin.WX, strict=True) for w in W.values()]
    moving = [(q, evaluator.reduced(w)) for q, w in inside if not set(kin.q).isdisjoint(symbols_of(tape, (w,)))]
    if not moving:
        return None
    nodes, state = [w for _, w in moving], (*kin.state, evaluator.time)
    parameters = tuple(i for i in symbols_of(tape, nodes) if i not in state)
    return _Suspects(CompiledFunction(tape, nodes, state, parameters), parameters, tuple(label(kin.name(q)) for q, _ in moving))


def _drift(run: Trajectory) -> float:
    """The drift of K₂ + 𝒰 + Z, or where it was not carried along that of T + V."""
    return run.energy_drift if run.energy_audit is None else run.integrals.relative_drift


# with so many digits between the motion and the tolerance nothing need be said
_DIGITS: Final = 1e3


def warn_of_small_motion(run: Trajectory, rtol: float, atol: ArrayLike) -> None:
    """Where every coordinate and speed stays near the absolute tolerance their errors are not those that rtol promises."""
    if (type(atol) is not float and np.ndim(atol)) or not len(run):
        return
    tolerance = atol if type(atol) is float else float(np.asarray(atol))
    # most motions begin large enough, and need not be looked at to their end
    if max(map(abs, (*run.start.q.tolist(), *run.start.u.tolist())), default=0.0) >= _DIGITS * tolerance:
        return
    largest = float(np.max(np.abs(run.y), initial=0.0))
    if 0.0 < largest < _DIGITS * tolerance and rtol * largest < tolerance:
        wanted = f"{10.0 ** np.floor(np.log10(largest * 1e-9)):.0e}"
        warn(
            f"all coordinates and speeds stay below {largest:.1e}, where the absolute tolerance atol = {tolerance:g} decides and "
            f"relative errors may be large; give atol={wanted}, or larger units"
        )
