"""What each principle costs on one system, with the steps that its equations take in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dalembert.errors import BadDescription
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.agreement.comparison import Comparison, IntegrationEffort
from dalembert.mechanics.agreement.comparison import comparison as compare_equations
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import cached_derivation


@check_options
def comparison(
    system: System,
    duration: float | None = None,
    *,
    start: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    rtol: float = 1e-6,
) -> Comparison:
    """Every principle on one system, by approach and by velocity variables, with the measured
    effort of each.

    With a `duration` the equations are also integrated in each form that the principles give, in
    (q, u), in (q, q̇) and in (q, p), with multipliers where there are constraint rows: steps and
    evaluations to the tolerance `rtol` and the constraint violation, without and with projection.

    Source: Bar00 Table 1, footnote 2.
    """
    measured = compare_equations(system, PRINCIPLES)
    if duration is None:
        if start or values or inputs:
            msg = "comparison: start, values and inputs belong to a run; give its duration too"
            raise BadDescription(msg)
        return measured
    from dalembert.runtime.dynamics.principle_runs import (
        integrated_state,
        integration_effort,
        prepare_measured_run,
    )

    run = prepare_measured_run(system, duration, start or {}, values or {}, inputs or {}, rtol)
    kin = kinematics(system)
    efforts: dict[str, IntegrationEffort] = {}
    routes = []
    for r, (_, derive) in zip(measured.routes, PRINCIPLES, strict=True):
        if r.applicable:
            d = cached_derivation(derive, kin)
            state = integrated_state(d)
            # principles with the same state and multipliers give the same ẋ
            if state not in efforts:
                efforts[state] = integration_effort(d, run)
            routes.append(replace(r, integration=efforts[state]))
        else:
            routes.append(r)
    return replace(measured, routes=tuple(routes))
