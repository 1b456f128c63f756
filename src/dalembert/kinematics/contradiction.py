"""φ_i − Σ_j c_j φ_j with A_i = Σ_j c_j A_j: what remains of a row where the rows that it depends on hold."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate, symbols_of
from dalembert.algebra.tape import Tape

# states at which it must be the same number
_STATES = 3
_SAME = 1e-9


def left_over(
    tape: Tape, numbers: dict[int, float], row: tuple[int, dict[int, int]], others: Sequence[tuple[int, dict[int, int]]]
) -> float | None:
    """The number that remains, or None where it depends on the state or on constants without a value.

    A row is (φ, A); `numbers` gives the constants.
    """
    nodes = [x for value, A in (row, *others) for x in (value, *A.values())]
    inside = symbols_of(tape, nodes)
    if any(i not in numbers and i not in tape.moving for i in inside):
        return None
    draw = random.Random(1)  # noqa: S311 - nothing is to be kept secret
    found = []
    for _ in range(_STATES):
        state = {i: numbers.get(i, draw.uniform(0.2, 0.9)) for i in inside}
        found.append(_at(tape, state, row, others))
    first = found[0]
    same = all(abs(x - first) <= _SAME * (1 + abs(first)) for x in found)
    return first if same and abs(first) > _SAME else None


def _at(tape: Tape, state: dict[int, float], row: tuple[int, dict[int, int]], others: Sequence[tuple[int, dict[int, int]]]) -> float:
    import numpy as np

    def numbers(value: int, A: dict[int, int]) -> tuple[float, dict[int, float]]:
        x, *slopes = evaluate(tape, [value, *A.values()], state.__getitem__, Floats())
        return float(x), dict(zip(A, map(float, slopes), strict=True))

    own, rest = numbers(*row), [numbers(*other) for other in others]
    columns = sorted({k for _, A in (own, *rest) for k in A})
    slopes = np.array([[A.get(k, 0.0) for k in columns] for _, A in rest]).reshape(len(rest), len(columns))
    c, *_ = np.linalg.lstsq(slopes.T, np.array([own[1].get(k, 0.0) for k in columns]), rcond=None)
    return own[0] - float(c @ np.array([x for x, _ in rest]))
