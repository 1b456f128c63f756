"""The certificate of agreement, with the compiled route as one more row."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace

from dalembert.errors import IllPosed
from dalembert.foundation.caching import sparse_collection
from dalembert.foundation.suggestions import check_options
from dalembert.interface.api.load import crosscheck
from dalembert.mechanics.agreement.agreement_table import Agreement
from dalembert.mechanics.agreement.agreement_table import agreement as certify
from dalembert.mechanics.agreement.principle_registry import (
    PRINCIPLES,
    derive_equations_of_motion,
)
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import cached_derivation
from dalembert.runtime.dynamics.compile import compile as compiled_route
from dalembert.runtime.simulation.progress import progress_bar


@sparse_collection()
@check_options
def agreement(
    system: System,
    *,
    compiled: bool = True,
    seed: int | None = None,
    progress: bool | None = None,
) -> Agreement:
    """Compare the equations of all principles exactly, with a kinematic audit and a check of
    the compiled code.

    progress    show a bar after a second; by default where the output is a terminal
    """
    wanted = sys.stderr.isatty() if progress is None else progress
    with (
        progress_bar(len(PRINCIPLES) + 1, lambda k, step: (k, step)) if wanted else nullcontext()
    ) as show:
        result = certify(system, seed=seed, on_progress=show)
    if not compiled:
        return result
    from dalembert.runtime.numerics.forward_dynamics import check_compiled

    try:
        native = compiled_route(system)
    except IllPosed:
        return result  # the principles may agree on equations that determine no motion
    witnesses = (
        ()
        if system.origin is None
        else tuple(c for c in crosscheck(system).engines if not c.unavailable_reason)
    )
    return replace(
        result,
        compiled=check_compiled(
            native, cached_derivation(derive_equations_of_motion, kinematics(system)).equations
        ),
        external_checks=witnesses,
    )
