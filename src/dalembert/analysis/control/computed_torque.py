"""w = B⁻¹ (M a − f), a = q̈_r + K_d (q̇_r − q̇) + K_p (q_r − q): computed torque as expressions.

The required loads are those of inverse dynamics, link by link where the bodies form an open tree.
In the closed loop each error obeys ë + K_d ė + K_p e = 0, whatever the motion.

Source: R. M. Murray, Z. Li, S. S. Sastry, A Mathematical Introduction to Robotic Manipulation
(1994), section 4.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dalembert.analysis.control.state_model import BadControl, drive_names
from dalembert.analysis.inverse.inverse_dynamics import actuation_matrix
from dalembert.errors import BadExpression, DalembertError
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.required_loads import required_loads
from dalembert.runtime.numerics.symbol_values import finite_number, require_mapping, symbol_name
from dalembert.symbolic.algebra.elimination import solve_rows
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution
from dalembert.symbolic.algebra.scalar import Scalar, as_node


@check_options
def computed_torque(
    system: System,
    reference: Mapping[Any, Any],
    *,
    stiffness: Any = 100.0,
    damping: Any = None,
    drives: Sequence[Any] | None = None,
) -> dict[str, Scalar]:
    """{input: expression} that makes a system follow q_r(t), for inputs= of da.simulate.

    reference  {coordinate: expression of t or text}, one for every coordinate
    stiffness  K_p in 1/s², a number or {coordinate: number}
    damping    K_d in 1/s, likewise; by default 2 √K_p, which is critical
    drives     the inputs that are set, one for every speed; by default all
    """
    kin = kinematics(system)
    names = drive_names(kin, drives)
    _check(kin, names)
    loads = required_loads(kin)
    t = loads.tape.fork()
    nodes, B = actuation_matrix(system, loads, list(names))
    wanted = _accelerations(kin, t, _motions(system, t, reference), stiffness, damping)
    insert = Substitution(t, wanted)
    rows = [(t.neg(insert(r)), row) for r, row in zip(nodes, B, strict=True)]
    try:
        results = solve_rows(t, rows)
    except DalembertError as problem:
        msg = (
            f"computed_torque: the inputs {', '.join(names)} do not determine the accelerations: "
            f"{problem}"
        )
        raise BadControl(msg) from problem
    return {name: Scalar(t, results[k]) for k, name in enumerate(names)}


def _check(kin: Kinematics, names: Sequence[str]) -> None:
    if kin.n_q != kin.n_u or kin.rows_with_multipliers:
        msg = (
            "computed_torque: for systems without constraints and quaternions, where every "
            "coordinate has its rate as a speed"
        )
        raise BadControl(msg)
    if len(names) != kin.n_u:
        have = f"{len(names)} inputs ({', '.join(names)}) and {kin.n_u} degrees of freedom"
        msg = f"computed_torque: {have}; one input for each is needed; choose them with drives="
        raise BadControl(msg)


def _motions(system: System, t: Any, reference: Mapping[Any, Any]) -> dict[str, int]:
    """{coordinate: q_r(t)}"""
    from dalembert.symbolic.algebra.parser import parse

    results: dict[str, int] = {}
    symbols = {name: s.scalar for name, s in system.symbols.items()} | {"t": system.t}
    for key, value in require_mapping("reference", reference).items():
        name = symbol_name(system, key, ("coordinate",))
        try:
            results[name] = (
                parse(value, symbols, t).i if isinstance(value, str) else as_node(t, value)
            )
        except BadExpression as problem:
            msg = f"computed_torque: the reference of {name} cannot be read: {problem}"
            raise BadControl(msg) from problem
    missing = [str(q.name) for q in system.q if str(q.name) not in results]
    if missing:
        msg = (
            f"computed_torque: no reference for {', '.join(missing)}; give one for every coordinate"
        )
        raise BadControl(msg)
    return results


def _accelerations(
    kin: Kinematics,
    t: Any,
    motions: Mapping[str, int],
    stiffness: Any,
    damping: Any,
) -> dict[int, int]:
    """{u̇: q̈_r + K_d (q̇_r − q̇) + K_p (q_r − q)}"""
    rate = Derivative(t, lambda x: t.one if x == kin.system.t.i else None)
    results: dict[int, int] = {}
    for q, qdot in zip(kin.q, kin.qdot_of_u, strict=True):
        name = kin.name(q)
        motion = Scalar(t, motions[name])
        velocity = Scalar(t, rate(motion.i))
        K_p = _gain("stiffness", stiffness, name)
        K_d = 2 * K_p**0.5 if damping is None else _gain("damping", damping, name)
        a = (
            Scalar(t, rate(velocity.i))
            + K_d * (velocity - Scalar(t, qdot))
            + K_p * (motion - Scalar(t, q))
        )
        if qdot not in kin.u:
            msg = f"computed_torque: the rate of {name} is no speed; leave out s.speeds(…)"
            raise BadControl(msg)
        results[kin.udot[kin.u.index(qdot)]] = a.i
    return results


def _gain(what: str, given: Any, name: str) -> float:
    chosen = given
    if isinstance(given, Mapping):
        by_name = {str(getattr(k, "name", None) or k): x for k, x in given.items()}
        if name not in by_name:
            msg = f"computed_torque: no {what} for {name}"
            raise BadControl(msg)
        chosen = by_name[name]
    value = finite_number(what, chosen)
    if value < 0.0:
        msg = f"computed_torque: the {what} of {name} is {value:g}; it must not be negative"
        raise BadControl(msg)
    return value
