"""Into how many parts a full turn must be divided, so that sines and cosines of all multiples of π that occur have values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dalembert.algebra.exact.modular import SMALLEST_PERIOD
from dalembert.algebra.folds import needed
from dalembert.algebra.ingredients import has_pi
from dalembert.algebra.tape import Number, Tape


def common_period(tape: Tape, outs: Sequence[int]) -> int:
    """The least multiple of 24 such that all multiples of π under sines and cosines are multiples of 2π/period."""
    period, pi = SMALLEST_PERIOD, tape.pi
    if not has_pi(tape, outs):
        return period
    turns = {a for op, a, _ in map(tape.nodes.__getitem__, needed(tape, outs)) if op in ("sin", "cos")}
    if not has_pi(tape, turns):
        return period
    # each node's rational part and its multiple of π, as in its form
    parts: dict[int, tuple[Number, Number]] = {pi: (0, 1)}
    for i in needed(tape, sorted(turns)):
        op, a, b = tape.nodes[i]
        if op == "const":
            parts[i] = a, 0
        elif op in ("add", "sub", "mul", "neg"):
            (m, k), (n, j) = parts.get(a, (0, 0)), parts.get(b, (0, 0))
            found = {"add": (m + n, k + j), "sub": (m - n, k - j), "mul": (m * n, m * j + n * k), "neg": (-m, -k)}[op]
            if any(found):
                parts[i] = found
    return math.lcm(period, *(2 * parts.get(a, (0, 0))[1].denominator for a in turns))
