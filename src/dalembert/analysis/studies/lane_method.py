"""Which method the members of a study run by in lanes: the one of a single run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dalembert.errors import NotApplicable
from dalembert.runtime.numerics.jit import simd_width
from dalembert.runtime.numerics.taylor_recurrence import TaylorRecurrence
from dalembert.runtime.ode.vectorized.layout import LaneSeries
from dalembert.runtime.simulation.energy_audit import Audit, Quadratures, native_audit
from dalembert.runtime.simulation.run_options import AUTO, NATIVE
from dalembert.runtime.simulation.taylor_and_rosenbrock import best_order, taylor_is_cheaper

if TYPE_CHECKING:
    from dalembert.analysis.studies.ensemble_plan import EnsemblePlan
    from dalembert.runtime.numerics.compiled_function import CompiledFunction, NativeSource
    from dalembert.runtime.simulation.model import NativeModel
    from dalembert.runtime.states.run_values import RunValues

# numbers in a vector from which on two of them are held in registers
_VECTOR: Final = 4


def lane_series(
    plan: EnsemblePlan,
    values: RunValues,
    model: NativeModel,
    audit: Audit | None,
    quadratures: Quadratures | None,
) -> LaneSeries | None:
    """Taylor's method with its order, where a single run would take it; None for Runge and Kutta's.

    `audit` is integrated alongside in a lane, `quadratures` alongside a single run.
    """
    name, rtol = plan.options.integrator, float(plan.options.rtol)
    if name == NATIVE or (name == AUTO and not taylor_is_cheaper(model, rtol)):
        return None
    try:
        if quadratures is not None and audit is not None:
            whole = native_audit(values, quadratures)
            TaylorRecurrence(whole.tape, whole.nodes, whole.state)
        quadrature = audit.jets if audit is not None and audit.rates is not None else None
        return LaneSeries(best_order(model.jets, rtol), model.jets, quadrature)
    except NotApplicable:
        if name == AUTO:
            return None
        raise


def quadrature_rates(
    audit: Audit | None, series: LaneSeries | None
) -> CompiledFunction | NativeSource | None:
    """The rate of the audit, in the form that the method takes."""
    if series is not None:
        return None if series.quadrature is None else series.quadrature.zero
    return None if audit is None else audit.rates


def default_lanes(series: LaneSeries | None) -> int:
    """Two vectors are in work while one waits for its results; sums of series never wait, and
    fill the nearest memory sooner.
    """
    return simd_width() if series is not None or simd_width() < _VECTOR else 8
