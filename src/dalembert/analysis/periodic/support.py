"""M (q̇⁺ − q̇⁻) = Jᵀ Λ,  J q̇⁺ = 0: a foot lands and stays, the other one is released.

M is the mass matrix of the system without its constraints, J the velocity of the landing point.
The constraints that held the old foot give no impulse, and nothing is lost or gained besides.
The result is an event with a reset, for da.simulate and da.periodic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.errors import NotApplicable, NotASystem, Unknown
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.runtime.simulation.events.event import Event, event
from dalembert.runtime.states.evaluator import label
from dalembert.symbolic.algebra.elimination import solve_rows
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    copy_expressions,
    gradient,
)
from dalembert.symbolic.algebra.functions import maximum
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.sparse_matrix import (
    Column,
    gradient_column,
    sum_of_products,
)


def support_change(
    system: System,
    foot: Point,
    *,
    gap: Scalar | str,
    relabel: Mapping[Any, Any],
    when: Scalar | str | None = None,
    name: str = "strike",
) -> Event:
    """A foot strikes the ground and becomes the support; then coordinates change roles.

    system   its coordinates include the position of the foot that stands, which constraints hold in
             place
    foot     the point that lands: its velocity vanishes after the impact, the foot that stood is
             free
    gap      the distance of the foot from the ground
    relabel  what coordinates are afterwards, in terms of those before: {"a": "b", "b": "a"} swaps
             two legs
    when     an expression that must be positive for the strike to count; legs that pass each other
             do not strike
    """
    if not isinstance(system, System):
        msg = f"support_change: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    kin = kinematics(system).fork()
    after = _rates_after(kin, foot)
    reset = _relabel(kin, system, relabel, after)
    height = system.expression(gap) if isinstance(gap, str) else gap
    if when is not None:
        condition = system.expression(when) if isinstance(when, str) else when
        height = maximum(height, -condition)
    return event(height, direction="down", reset=reset, name=name)


def _rates_after(kin: Kinematics, foot: Point) -> list[int]:
    """q̇⁺ as nodes in q and q̇⁻."""
    t, n = kin.tape, kin.n_q
    T = Quantities(kin).rates.T.value
    linear, qdot = LinearCoefficients(t, kin.qdot), Column(t, kin.qdot)
    M = [linear(p)[1] for p in gradient_column(T, qdot)]
    J = _foot_rows(kin, foot, linear)
    rows = []
    for r in range(n):
        impulse = {n + j: t.neg(row[r]) for j, row in enumerate(J) if r in row}
        before = t.neg(sum_of_products(t, ((a, kin.qdot[k]) for k, a in M[r].items())))
        rows.append((before, {**M[r], **impulse}))
    rows += [(t.zero, dict(row)) for row in J]
    result = solve_rows(t, rows)
    if any(k not in result for k in range(n)):
        msg = (
            "support_change: the mass matrix without constraints is singular; give every "
            "coordinate some mass"
        )
        raise NotApplicable(msg)
    return [result[k] for k in range(n)]


def _foot_rows(kin: Kinematics, foot: Point, linear: LinearCoefficients) -> list[dict[int, int]]:
    """J of v = J q̇: a row for each direction in which the point that lands can move."""
    t, v, N = kin.tape, kin.motion_in_rates.v(foot), kin.system.N
    parts = [(axis.on(t) @ v).i for axis in (N.x, N.y, N.z)]
    J = [linear(part)[1] for part in parts if not provably_zero(t, [part])[0]]
    if not J:
        msg = f"support_change: {foot.name} does not move; name the point that lands"
        raise NotApplicable(msg)
    return J


def _relabel(
    kin: Kinematics, system: System, relabel: Mapping[Any, Any], after: list[int]
) -> dict[str, Scalar]:
    """New coordinates e(q), and new speeds Σ ∂e/∂q q̇⁺."""
    t = kin.tape
    names = {q.name: k for k, q in enumerate(system.q)}
    new = dict(enumerate(kin.q))
    for key, value in relabel.items():
        own = str(getattr(key, "name", None) or key)
        if own not in names:
            msg = (
                f"support_change: {own!r} is no coordinate; the coordinates are "
                f"{', '.join(map(str, names))}"
            )
            raise Unknown(msg)
        new[names[own]] = as_node(t, system.expression(value) if isinstance(value, str) else value)
    if any(u not in kin.qdot for u in kin.u):
        msg = "support_change: the speeds are not rates of coordinates; leave out s.speeds"
        raise NotApplicable(msg)
    nodes = {label(kin.name(kin.q[k])): e for k, e in new.items() if e != kin.q[k]}
    for u in kin.u:
        e = new[kin.qdot.index(u)]
        by = gradient(t, {e: t.one}, kin.q)
        nodes[label(kin.name(u))] = kin.in_speeds(sum_of_products(t, zip(by, after, strict=True)))
    home = system.space.tape
    moved = copy_expressions(t, home, list(nodes.values()))
    return {key: Scalar(home, i) for key, i in zip(nodes, moved, strict=True)}
