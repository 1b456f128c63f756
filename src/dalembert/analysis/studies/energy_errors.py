"""max |E_Z − E_Z(t₀)| ≤ 300 tolerances of the energies: which runs of an ensemble exceed it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.analysis.studies.result import ENDED, FINISHED, Ensemble, ResultChunk
from dalembert.errors import DalembertError, DalembertWarning, warn
from dalembert.runtime.simulation.diagnosis import (
    EXCESSIVE,
    allowed_energy_error,
    energy_tolerance_unit,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dalembert.analysis.studies.ensemble_plan import EnsemblePlan

# runs that are repeated to confirm an energy error, and indices that a warning lists
_CONFIRMED: Final = 3
_LISTED: Final = 8


def excessive_drifts(plan: EnsemblePlan, chunk: ResultChunk, first: int) -> dict[int, float]:
    """{index of a run: drift}, of completed runs whose drift is above the limit or no number."""
    if chunk.drift is None:
        return {}
    o = plan.options
    limit = EXCESSIVE * energy_tolerance_unit(float(o.rtol), float(np.max(o.atol)))
    completed = (chunk.outcome == FINISHED) | (chunk.outcome == ENDED)
    drift = np.nan_to_num(chunk.drift, nan=np.inf)
    return {first + int(k): float(drift[k]) for k in np.flatnonzero(completed & (drift > limit))}


def warn_of_energy_errors(ensemble: Ensemble, drifts: Mapping[int, float]) -> None:
    """Warn about runs whose energy error is larger than their tolerances explain.

    The drift of a vectorized run is relative to the energies of its motion alone. So the largest
    ones are repeated as single runs, whose energies are those of the full criterion.
    """
    worst = sorted(drifts, key=lambda k: -drifts[k])
    if not any(_is_confirmed(ensemble, k, drifts[k]) for k in worst[:_CONFIRMED]):
        return
    listed = ", ".join(map(str, sorted(worst)[:_LISTED])) + (", …" if len(worst) > _LISTED else "")
    worst_drift = drifts[worst[0]]
    size = (
        f"an energy error of up to {worst_drift:.1e}, more than {EXCESSIVE:g} tolerances"
        if np.isfinite(worst_drift)
        else "an energy audit without a value"
    )
    warn(
        f"{len(worst)} of {len(ensemble)} runs have {size}: this is not the system's motion in "
        f"runs {listed}; give a smaller rtol, or look at one with .run(index)"
    )


def _is_confirmed(ensemble: Ensemble, index: int, drift: float) -> bool:
    """Whether the run by itself warns or stops, or the ensemble drifts where it does not."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            run = ensemble.run(index)
        except DalembertError:
            return True
    if run.energy_audit is None:
        return False
    o = ensemble.plan.options
    allowed = allowed_energy_error(run, float(o.rtol), o.atol)[1]
    return drift * run.integrals.scale > allowed or any(
        issubclass(w.category, DalembertWarning) for w in seen
    )
