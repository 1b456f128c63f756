"""What a unit of time costs by each method, counted in operations: the order of Taylor's method, and which of the two to take.

    Taylor        (1.6 b (n + 2) + 0.67 s n² + 100 n + 2000) (ε/100)^(−1/(n + 1)) × 1.7      b operations of one order, s sums
    Runge–Kutta   (12 (1.3 r + 22 a) + 4300) ε^(−1/8)                            r operations of the rates, a sines and cosines

ε is rtol; Taylor's method estimates its error sharply and is held to a hundredth of it. That steps go with these powers of ε holds
within a few per cent from 1e-4 to 1e-14; that Taylor's are 1.7 times as many at ε = 1, and what an operation of each kind takes beside
the others, was measured (docs/decisions/0019).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from dalembert.errors import NotApplicable
from dalembert.numerics.jet_code import LARGEST_ORDER
from dalembert.ode.constrained.rates import ConstrainedRates
from dalembert.ode.problem import SMALLEST_ORDER

if TYPE_CHECKING:
    from dalembert.numerics.jet_code import CompiledJets
    from dalembert.simulation.model import NativeModel

# of a step, and of an order, beside what the coefficients take
_STEP: Final = 2000.0
_ORDER: Final = 100.0
_PER_OPERATION_OF_ORDER: Final = 1.6
_PER_SUM: Final = 0.67
_STRICT: Final = 0.01
_MORE_STEPS: Final = 1.7
# of a step of twelve stages, beside its evaluations
_STAGES: Final = 12
_STAGES_STEP: Final = 4300.0
_PER_OPERATION: Final = 1.3
_PER_ANGLE: Final = 22.0
# beyond so many operations of the rates little was ever gained, and much would be compiled to find that out
_LARGEST: Final = 1400


def best_order(jets: CompiledJets, rtol: float) -> int:
    """The order that takes a run through at the least cost."""
    return _best_order(jets.operations, jets.pairs, rtol)


@functools.lru_cache(maxsize=1024)
def _best_order(operations: int, pairs: int, rtol: float) -> int:
    return min(range(SMALLEST_ORDER, LARGEST_ORDER + 1), key=lambda n: _step(operations, pairs, n) * _steps(n, rtol))


def taylor_cost(jets: CompiledJets, order: int, rtol: float) -> float:
    """Operations for a unit of time, which is the same unknown one for both methods."""
    return step_operations(jets, order) * _steps(order, rtol)


def _steps(order: int, rtol: float) -> float:
    return float((_STRICT * rtol) ** (-1.0 / (order + 1)))


def step_operations(jets: CompiledJets, order: int) -> float:
    """Operations of one step by Taylor's method."""
    return _step(jets.operations, jets.pairs, order)


def _step(operations: int, pairs: int, order: int) -> float:
    return _STEP + _ORDER * order + _PER_OPERATION_OF_ORDER * operations * (order + 2) + _PER_SUM * pairs * order**2


def runge_kutta_cost(model: NativeModel, rtol: float) -> float:
    """The same by the method of twelve stages."""
    return float(runge_kutta_step_operations(model) * rtol ** (-1.0 / 8) / _MORE_STEPS)


def runge_kutta_step_operations(model: NativeModel) -> float:
    """Operations of one step by Runge and Kutta's method."""
    operations, angles = model.operations
    return _STAGES * (_PER_OPERATION * operations + _PER_ANGLE * angles) + _STAGES_STEP


def taylor_is_cheaper(model: NativeModel, rtol: float) -> bool:
    """Whether Taylor's method is applicable and the cheaper one."""
    if isinstance(model.rates, ConstrainedRates) or model.operations[0] > _LARGEST:
        return False
    try:
        jets = model.jets
    except NotApplicable:
        return False
    return taylor_cost(jets, best_order(jets, rtol), rtol) < runge_kutta_cost(model, rtol)
