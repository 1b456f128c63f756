"""A random start that is a true motion: the system is run with inputs that are random sines.

Such a motion keeps constraint equations and does not depend on the choice of coordinates, so that
descriptions of one system in different coordinates find the same solutions.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dalembert.analysis.optimal.guess import PhaseGuess, phase_guess, straight_line
from dalembert.analysis.optimal.phase_functions import PhaseFunctions
from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.runtime.simulation.simulate import simulate_equations
from dalembert.runtime.simulation.trajectory import Trajectory

_WAVES: Final = 4
_RTOL: Final = 1e-6
# powers of ten between which the size of an input without bounds is drawn
_SIZES: Final = (0.0, 2.0)
_DEPENDENT: Final = 1e-9


def random_motion(phase: PhaseFunctions, duration: float, seed: int) -> PhaseGuess | None:
    """A run from the start with random inputs; None where the system cannot be run like that."""
    draw = np.random.default_rng(seed)
    inputs = _random_inputs(phase, duration, draw)
    if inputs is None:
        return None
    try:
        run = _run(phase, duration, inputs)
    except DalembertError:
        return None
    return phase_guess(phase, run)


def _random_inputs(
    phase: PhaseFunctions, duration: float, draw: np.random.Generator
) -> dict[Any, Any] | None:
    """Σ a_k sin(kπt/T) for every input; None if one of them is not an input of the system."""
    eq, kinds = phase.equations, {s.scalar.i: s for s in phase.phase.system.symbols.values()}
    first = len(phase.names) - len(eq.inputs)
    result: dict[Any, Any] = {}
    for k, i in enumerate(eq.inputs):
        if i not in kinds or kinds[i].kind != "input":
            return None
        bounds = np.abs([phase.lower[first + k], phase.upper[first + k]])
        limit = float(bounds.max())
        size = limit / 2 if np.isfinite(limit) else 10.0 ** draw.uniform(*_SIZES)
        sizes = size * draw.standard_normal(_WAVES) / np.arange(1, _WAVES + 1)
        waves = [
            f"({a!r})*sin({(j + 1) * np.pi / duration!r}*t)" for j, a in enumerate(sizes.tolist())
        ]
        result[kinds[i].name] = " + ".join(waves)
    return result


def _run(phase: PhaseFunctions, duration: float, inputs: dict[Any, Any]) -> Trajectory:
    """The run from the first state of the straight line; dependent values are a guess."""
    names, line = phase.names[: phase.n_states], straight_line(phase)(np.zeros(1))[0]
    state = dict(zip(names, line.tolist(), strict=False))
    given = phase.phase
    dependent = _dependent_names(phase, line)
    options = RunOptions(
        start={k: v for k, v in state.items() if k not in dependent},
        guess={k: v for k, v in state.items() if k in dependent and not k.endswith(".dot")},
        values=dict(given.values),
        inputs={**given.inputs, **inputs},
        rtol=_RTOL,
        atol=_RTOL,
        t0=phase.begin,
        progress=False,
    )
    kin, equations = select_equations(given.system, options.integrator)
    return simulate_equations(kin, equations, duration, options)


def _dependent_names(phase: PhaseFunctions, line: FloatArray) -> set[str]:
    """The states that the constraint equations determine from the others."""
    eq = phase.equations
    if not eq.constraints:
        return set()
    from scipy.linalg import qr

    common = np.zeros(len(phase.common))
    J = phase.constraint_values(line[None], common, np.zeros(1))[1][0]
    kin, n_phi, names = eq.evaluator.kin, len(eq.gamma), set[str]()
    for rows, symbols in ((J[:n_phi], kin.q), (J[n_phi:], kin.u)):
        columns = [eq.states.index(i) for i in symbols]
        _, R, pivots = qr(rows[:, columns], mode="economic", pivoting=True)
        diagonal = np.abs(np.diag(R))
        rank = int((diagonal > _DEPENDENT * max(float(diagonal.max(initial=0.0)), 1e-300)).sum())
        names |= {phase.names[columns[int(k)]] for k in pivots[:rank]}
    return names
