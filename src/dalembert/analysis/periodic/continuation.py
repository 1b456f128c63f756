"""da.continuation: families of equilibria or periodic motions along a parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, overload

from dalembert.analysis.periodic.equilibria import EquilibriumFamily, with_stability
from dalembert.analysis.periodic.family import Family, follow
from dalembert.analysis.periodic.orbit import PeriodicOrbit
from dalembert.analysis.statics.continuation import continuation as equilibrium_branch
from dalembert.errors import BadExpression, NotASystem, Unknown
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue, finite_number
from dalembert.runtime.states.evaluator import Key

_OWN: Final = ("energy", "period")


@overload
def continuation(
    system: System,
    parameter: Key,
    over: tuple[float, float],
    given: Mapping[Any, Any] | None = None,
    *,
    guess: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
    step: float = 0.02,
) -> EquilibriumFamily: ...
@overload
def continuation(
    system: PeriodicOrbit | Family,
    parameter: Key | None = None,
    over: tuple[float, float] | None = None,
    *,
    step: float = 0.02,
    points: int = 500,
    longest_period: float = math.inf,
    on_progress: Callable[[int, float], object] | None = None,
) -> Family: ...
def continuation(
    system: System | PeriodicOrbit | Family,
    parameter: Key | None = None,
    over: tuple[float, float] | None = None,
    given: Mapping[Any, Any] | None = None,
    *,
    guess: Mapping[Any, Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
    step: float = 0.02,
    points: int = 500,
    longest_period: float = math.inf,
    on_progress: Callable[[int, float], object] | None = None,
) -> EquilibriumFamily | Family:
    """A family along its arc, with special points located and named.

    system      a System: equilibria (or steady motions) from the first value of the parameter to
                the second,
                with folds, bifurcations, Hopf points and collisions of frequencies.
                An orbit of da.periodic: periodic motions through it, with folds, period doublings,
                tori and branch points.
                A family: it continues from its last orbit, to the new end of `over`
    parameter   a constant or an input (equilibria); a constant, "energy" or "period" (periodic
                motions)
    over        the first and the last value
    step        a length along the curve, in which the range of the parameter counts as one
    points      the largest number of orbits in each direction
    longest_period   orbits with a longer period end the family
    """
    if isinstance(system, System):
        if parameter is None or over is None:
            msg = "continuation of an equilibrium needs a constant and its range: (s, 'l', (1, 2))"
            raise BadExpression(msg)
        chosen = {"guess": guess, "values": values, "inputs": inputs}
        branch = equilibrium_branch(system, parameter, over, given, **chosen, t=t, step=step)
        return with_stability(branch, dict(values or {}), dict(inputs or {}), t)
    if not isinstance(system, PeriodicOrbit | Family):
        msg = f"continuation: give a System or an orbit of da.periodic, not {type(system).__name__}"
        raise NotASystem(msg)
    if not isinstance(points, int) or points < 1:
        msg = f"continuation: points={points!r:.60}; give 1, 2, …"
        raise BadValue(msg)
    orbit, parameter, over = _continued_orbit(system, parameter, over)
    name = _parameter_name(orbit, parameter)
    family = follow(
        orbit,
        name,
        _range(name, over),
        step=_positive_step(step),
        points=points,
        longest_period=longest_period,
        on_progress=on_progress,
    )
    return _join_families(system, family) if isinstance(system, Family) else family


def _continued_orbit(
    system: PeriodicOrbit | Family, parameter: Key | None, over: tuple[float, float] | None
) -> tuple[PeriodicOrbit, Key | None, tuple[float, float] | None]:
    """An orbit, or the last one of a family with its parameter and range."""
    if isinstance(system, PeriodicOrbit):
        return system, parameter, over
    return system.orbits[-1], parameter or system.parameter, system.over if over is None else over


def _join_families(first: Family, second: Family) -> Family:
    """A family and what follows its last orbit."""
    k = len(first.orbits)
    here = first.orbits[-1]
    begin = next((i for i, o in enumerate(second.orbits) if o.period == here.period), 0)
    later = [
        m._replace(position=m.position - begin + k - 1) for m in second.marks if m.position > begin
    ]
    return Family(
        first.parameter,
        second.over,
        [*first.orbits, *second.orbits[begin + 1 :]],
        [*first.marks, *later],
        (first.ends[0], second.ends[1]),
        second.step,
    )


def _parameter_name(orbit: PeriodicOrbit, parameter: Key | None) -> str:
    if parameter is None:
        msg = "continuation: name what changes along the family: a constant, 'energy' or 'period'"
        raise Unknown(msg)
    name = str(getattr(parameter, "name", None) or parameter)
    if name in _OWN or name in orbit.constants:
        return name
    known = [*_OWN, *orbit.constants]
    hint = suggest_name(name, known) or f"known are {', '.join(known)}"
    msg = f"continuation: no constant {name!r}: {hint}"
    raise Unknown(msg)


def _range(name: str, over: Any) -> tuple[float, float]:
    if not isinstance(over, tuple | list) or len(over) != 2:
        msg = f"continuation: over={over!r:.60}; give the first and the last value of {name}"
        raise BadValue(msg)
    begin, end = (finite_number(name, x) for x in over)
    if begin == end:
        msg = f"continuation: over={over!r:.60}; the two values must differ"
        raise BadValue(msg)
    return begin, end


def _positive_step(step: float) -> float:
    if not 0.0 < finite_number("step", step) < math.inf:
        msg = f"continuation: step={step!r:.60}; give a positive number"
        raise BadValue(msg)
    return float(step)
