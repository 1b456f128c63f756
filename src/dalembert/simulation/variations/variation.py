"""S = ∂(q, u)/∂p beside the motion of a run: its numbers p, its equations, its start and its tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.algebra.folds import needed, symbols_of
from dalembert.errors import NotApplicable, warn
from dalembert.simulation.jump_times import jump_times
from dalembert.simulation.model import NativeModel
from dalembert.simulation.variations.equations import varied_model
from dalembert.simulation.variations.numbers import VariedNumber, varied_numbers
from dalembert.simulation.variations.start import start_slopes
from dalembert.states.start import Start
from dalembert.states.values import Values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]


class EventSlope(NamedTuple):
    """∂t/∂p of an event that happened at time t, for every p."""

    t: float
    name: str
    slopes: Numbers


@dataclass(frozen=True, eq=False)
class Variation:
    """What is varied, the model with state (q, u, S, t) and the numbers of its parameters, S at the start, and what events tell."""

    numbers: tuple[VariedNumber, ...]
    model: NativeModel
    p: Numbers
    # a row for each number
    start: Numbers
    events: list[EventSlope] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers."""
        return tuple(x.name for x in self.numbers)

    def atol(self, atol: ArrayLike) -> ArrayLike:
        """|p| S counts as x does: what is allowed of x, and of S as much over |p|; a wrong shape is left for others to refuse."""
        own, n = np.asarray(atol), self.start.shape[1]
        if own.shape not in ((), (n,)):
            return atol
        each = np.broadcast_to(own, n)
        return np.concatenate([each, *(each / x.size for x in self.numbers)])


def variation_of_run(
    chosen: Values, model: NativeModel, p: Numbers, start: Start, given: tuple[Mapping[Any, Any], Mapping[Any, Any]], wanted: object
) -> Variation:
    """The variation of a run from its start; `given` is what was given for it, and guessed."""
    numbers = varied_numbers(chosen, given[0], start, wanted)
    enlarged = varied_model(chosen.kin, model, tuple(x.constant for x in numbers))
    return Variation(numbers, enlarged, p, start_slopes(chosen, *given, start, numbers))


def check_smooth(variation: Variation, time: int, span: tuple[float, float]) -> None:
    """Refuse numbers that move the times at which f jumps, and say where a jump that depends on the state is not seen."""
    tape, entries = variation.model.tape, variation.model.entries
    nodes = variation.model.nodes if entries is None else (*entries.f, *entries.gamma)
    p = dict(zip(variation.model.parameters, variation.p.tolist(), strict=True))
    times = jump_times(tape, time, p, *span)
    for x in variation.numbers if times else ():
        if x.constant in p and jump_times(tape, time, {**p, x.constant: x.value + 1e-6 * x.size}, *span) != times:
            msg = f"sensitivities: {x.name} moves a time at which the loads jump, t = {times[0]:.6g}; write the jump as an event"
            raise NotApplicable(msg)
    state = set(variation.model.state[:-1])
    signs = [tape.nodes[i][1] for i in needed(tape, nodes) if tape.nodes[i][0] == "sign"]
    if any(not state.isdisjoint(symbols_of(tape, (a,))) for a in signs):
        warn("sensitivities: a load jumps with the state (sign), and what the jump does to sensitivities is not seen; use an event")
