"""∂f_i/∂x_j: the derivatives of expressions of a tape as native code."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.folds import gradient
from dalembert.algebra.tape import Tape
from dalembert.numerics.compiled import CompiledFunction


def jacobian(tape: Tape, outs: Sequence[int], state: Sequence[int], parameters: Sequence[int]) -> CompiledFunction:
    """∂outs/∂state, row by row."""
    here = tape.fork()
    slopes = [i for out in outs for i in gradient(here, {out: here.one}, state)]
    return CompiledFunction(here, slopes, state, parameters)
