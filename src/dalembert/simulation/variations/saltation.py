"""S⁺ = ∂y⁺/∂y (S⁻ + f⁻ ∂t*) + ∂y⁺/∂t ∂t* + ∂y⁺/∂p − f⁺ ∂t*,   ∂t* = −(∂g/∂y S⁻ + ∂g/∂p) / ġ⁻

What an event g(y, t, p) = 0 does to sensitivities: its time moves with p, and before and after it the motion goes its own way.
y⁺ is what a reset or an impact makes of y; where the state stays as it was only ∂t* is noted.

Source: HNW1 II.6 (discontinuities); the matrix by which S jumps is called the saltation matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.algebra.duals import jacobian
from dalembert.numerics.compiled import CompiledFunction
from dalembert.ode.constrained.rates import ConstrainedRates
from dalembert.simulation.events.acting import Actor
from dalembert.simulation.events.watching import EventFunctions
from dalembert.simulation.variations.variation import EventSlope, Variation
from dalembert.states.evaluator import Evaluator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


class Saltation:
    """The jumps of S at the events of one run; called with an event, its time and the states before and after, S behind them."""

    def __init__(
        self,
        variation: Variation,
        rates: CompiledFunction | ConstrainedRates,
        p: Numbers,
        evaluator: Evaluator,
        functions: EventFunctions,
        actor: Actor,
    ) -> None:
        self._variation, self._rates, self._p = variation, rates, p
        self._evaluator, self._functions, self._actor = evaluator, functions, actor
        # places of the constants among the numbers, and their symbols
        self._places = [j for j, x in enumerate(variation.numbers) if x.constant is not None]
        self._constants = [x.constant for x in variation.numbers if x.constant is not None]

    def __call__(self, i: int, t: float, before: Numbers, after: Numbers) -> None:
        """Note ∂t* and, where the state was changed, let S jump: `after` is written to."""
        k, n = self._variation.start.shape
        S, y = before[n : n * (1 + k)].reshape(k, n), before[:n]
        f = self._rates.call(np.append(y, t), self._p)[:n]
        moment = self._moment(i, t, y, S, f)
        self._variation.events.append(EventSlope(t, self._functions.events[i].title, moment))
        if after is before:
            return
        slopes = self._actor.slopes(i, y, t, self._constants)
        new = (S + np.outer(moment, f)) @ slopes[:, :n].T + np.outer(moment, slopes[:, n])
        new[self._places] += slopes[:, n + 1 :].T
        f_after = self._rates.call(np.append(after[:n], t), self._p)[:n]
        after[n : n * (1 + k)] = (new - np.outer(moment, f_after)).ravel()

    def _moment(self, i: int, t: float, y: Numbers, S: Numbers, f: Numbers) -> Numbers:
        """∂t* for every p; no number where the motion only touches the event, ġ = 0."""
        gradient = self._functions.gradients(np.append(y, t))[i]
        rate = float(gradient[:-1] @ f + gradient[-1])
        change = S @ gradient[:-1]
        if self._constants:
            evaluator = self._evaluator
            state = {**evaluator.numbers, **dict(zip(evaluator.kin.state, y, strict=True)), evaluator.time: t}
            change[self._places] += jacobian(evaluator.tape, [self._functions.nodes[i]], self._constants, state)[1][0, 0]
        return np.asarray(-change / rate) if rate else np.full(len(S), np.nan)
