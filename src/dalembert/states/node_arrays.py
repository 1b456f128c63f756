"""Arrays whose entries are expressions: constants are known once, the rest is one compiled function of the state and the parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.algebra.folds import symbols_of
from dalembert.algebra.tape import Tape
from dalembert.numerics.compiled import CompiledFunction
from dalembert.numerics.symbol_values import MissingValue
from dalembert.states.evaluator import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


class NodeArrays:
    """Named arrays of nodes, each with its shape, one behind the other."""

    def __init__(self, tape: Tape, arrays: Mapping[str, tuple[tuple[int, ...], Sequence[int]]], state: Sequence[int]) -> None:
        nodes = [i for _, own in arrays.values() for i in own]
        known = [tape.value(i) for i in nodes]
        self.template = np.array([0.0 if x is None else float(x) for x in known])
        self.places = np.array([k for k, x in enumerate(known) if x is None], dtype=np.int64)
        outs = [nodes[k] for k in self.places.tolist()]
        self.parameters = tuple(i for i in symbols_of(tape, outs) if i not in state)
        self._names = tuple(label(str(tape.nodes[i][1])) for i in self.parameters)
        self.function = CompiledFunction(tape, outs, state, self.parameters) if outs else None
        self.starts: dict[str, int] = {}
        self._shapes: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        end = 0
        for name, (shape, _) in arrays.items():
            self.starts[name], end = end, end + math.prod(shape)
            self._shapes[name] = self.starts[name], end, shape

    def parameters_of(self, values: Mapping[int, float]) -> Numbers:
        """The numbers of the parameters; what has none is named."""
        try:
            return np.array([values[i] for i in self.parameters], dtype=np.float64)
        except KeyError:
            missing = next(name for i, name in zip(self.parameters, self._names, strict=True) if i not in values)
            msg = f"no value for {missing}"
            raise MissingValue(msg) from None

    def flat(self, x: Numbers, p: Numbers) -> Numbers:
        """All entries; NaN where one is not defined."""
        found = self.template.copy()
        if self.function is not None:
            y = self.function.call(x, p)
            found[self.places] = np.where(np.isfinite(y), y, np.nan)
        return found

    def at(self, x: Numbers, p: Numbers) -> dict[str, Numbers]:
        """The arrays at one state."""
        found = self.flat(x, p)
        return {name: found[begin:end].reshape(shape) for name, (begin, end, shape) in self._shapes.items()}
