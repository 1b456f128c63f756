"""Whether a system with friction can rest in a position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dalembert.api.compile import what_to_integrate
from dalembert.api.simulate import checked_system
from dalembert.equations.form import ExplicitEquations
from dalembert.errors import NotApplicable
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.friction.rest import RestPosition


def rests(
    system: System,
    *,
    at: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> RestPosition:
    """H λ = −c, N ≥ 0, |T| ≤ k μ_s N: whether friction and contacts hold a system at rest, and what part k of the friction it takes.

    `at` gives the position as `start` of a run does. Equilibria with friction are sets: those positions with k ≤ 1.
    """
    from dalembert.friction.rest import rest_position

    checked_system(system, "rests")
    if not system.contacts:
        msg = "rests: this system has no contact and no friction; da.equilibrium finds where it rests"
        raise NotApplicable(msg)
    kin, equations = what_to_integrate(system, "native")
    assert isinstance(equations, ExplicitEquations)
    return rest_position(kin, equations, at or {}, values or {}, inputs or {}, t)
