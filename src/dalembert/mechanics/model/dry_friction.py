"""N and T, T = −μ n sign(v), |T| ≤ μ_s n: the unknown forces of contacts as inputs, and dry
friction along a row.

Friction acts under a normal force that is solved for during the simulation, given, or that of a
constraint row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from dalembert.errors import BadDescription, NotLinear
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body, ContactGeometry, Load, UnilateralContact
from dalembert.mechanics.model.force_reduction import reduce_loads
from dalembert.mechanics.model.from_energies import generalized_load
from dalembert.mechanics.model.loads import check_load_name
from dalembert.mechanics.model.registry import (
    Registry,
    constant_value,
    expression,
    rate_coefficients,
    refuse_accelerations,
    refuse_inputs,
    scalar,
    substitute_speeds,
    time_varying_names,
)
from dalembert.mechanics.model.symbols import input as declare_input
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.functions import exp
from dalembert.symbolic.algebra.scalar import Scalar

LAWS: Final = ("newton", "poisson")
# what a run decides about slip in a plane: whether its acceleration is prescribed, the
# acceleration and its rate in both directions, when that began and ends, and the slip speed at
# which the next change is due
PLANE_SYMBOLS: Final = (
    "held", "rate_1", "rate_2", "jerk_1", "jerk_2", "begin", "end", "level", "sense",
)  # fmt: skip


def contact_name(s: Registry, name: str | None, kind: str, parts: tuple[str, ...] = ()) -> str:
    """The given name, or the kind of contact with a number; refused where another contact has
    it.
    """
    if name is not None and (not isinstance(name, str) or not name.strip()):
        msg = f"a contact is named by a string, not {name!r}"
        raise BadDescription(msg)
    number = 1 + len(s.contacts)
    # friction that is viscous alone is a load without a contact
    while any(load.name.startswith(f"{kind} {number},") for load in s.loads):
        number += 1
    label = name or f"{kind} {number}"
    if any(c.name in (label, *(f"{label}, {p}" for p in parts)) for c in s.contacts):
        msg = f"{label!r} is declared already, as a contact"
        raise BadDescription(msg)
    return label


def friction_coefficients(
    s: Registry, label: str, friction: Any, static: Any
) -> tuple[Scalar, Scalar] | None:
    """μ and μ_s; None where there is no friction."""
    mu = scalar(s, friction)
    mu_s = mu if static is None else scalar(s, static)
    low, high = constant_value(s, mu), constant_value(s, mu_s)
    if low is not None and low < 0:
        msg = f"{label}: friction = {low:g}; a coefficient of friction is not negative"
        raise BadDescription(msg)
    if low is not None and high is not None and high < low:
        msg = (
            f"{label}: static = {high:g} is less than friction = {low:g}; static friction is at "
            "least as large as sliding friction"
        )
        raise BadDescription(msg)
    return None if mu == 0 and mu_s == 0 else (mu, mu_s)


def contact_forces(
    s: Registry, label: str, *, normal: bool, slips: bool
) -> tuple[Scalar | None, Scalar | None]:
    """The inputs N and T of a contact."""
    ending = _name_ending(label)
    return (
        declare_input(s, f"N_{ending}") if normal else None,
        declare_input(s, f"T_{ending}") if slips else None,
    )


def plane_friction_forces(s: Registry, label: str) -> tuple[Scalar, Scalar]:
    """The inputs T1 and T2 of friction in a plane."""
    ending = _name_ending(label)
    return declare_input(s, f"T1_{ending}"), declare_input(s, f"T2_{ending}")


def _name_ending(label: str) -> str:
    return re.sub(r"\W+", "_", label).strip("_")


def load_along_row(
    s: Registry,
    label: str,
    v: Scalar,
    Q: Scalar | None,
    across: tuple[Scalar, Scalar] | None = None,
) -> Load:
    """Q along a row: the generalized forces Q ∂v/∂q̇; `across` is a second row with its Q."""
    assert Q is not None
    sums: dict[int, Scalar] = {}
    for row, force in ((v, Q), *(() if across is None else (across,))):
        for k, a in rate_coefficients(s, row).items():
            part = force * Scalar(s.space.tape, a)
            sums[k] = sums[k] + part if k in sums else part
    return generalized_load(s, label, [(s.q[k], part) for k, part in sums.items()])


def declare_contact(
    s: Registry,
    label: str,
    load: Load,
    forces: tuple[Scalar | None, Scalar | None],
    *,
    gap: Scalar | None = None,
    approach: Scalar | None = None,
    slip: Scalar | None = None,
    normal: Scalar | str | None = None,
    mu: tuple[Scalar, Scalar] | None = None,
    stribeck: Any = None,
    restitution: Any = 0,
    law: str = "newton",
    two_sided: bool = False,
    arrow: tuple[Point, Vector | None, Vector | None] | None = None,
    across: tuple[Scalar, Scalar] | None = None,
    active: Any = None,
    geometry: ContactGeometry | None = None,
) -> None:
    """The contact with its load, unless something about it cannot be; `across` is the second slip
    velocity of friction in a plane, with its force.
    """
    e = _restitution(s, label, restitution, law)
    slip_across, T_across = (None, None) if across is None else across
    opens = approach if gap is not None and not two_sided else None
    _check_contact_rows(s, label, (approach, slip, slip_across), opens)
    present = _activity(s, label, active)
    mu_k, mu_s = mu if mu is not None else (None, None)
    if stribeck is not None and mu is not None and slip is not None:
        mu_k = _stribeck_friction(s, label, mu, stribeck, (slip, slip_across))
    modes, plane = _mode_symbols(s, in_plane=across is not None)
    check_load_name(s, load.name, "contact")
    s.loads.append(load)
    pressing, n = (normal, None) if isinstance(normal, str) else (None, normal)
    by_a_row = pressing is not None and pressing not in {c.name for c in s.contacts}
    s.contacts.append(
        UnilateralContact(
            label, gap, approach, slip, *forces, n, mu_k, mu_s, e, law, two_sided or by_a_row,
            modes, arrow, pressing, slip_across, T_across, plane, present, geometry,
        )
    )  # fmt: skip


def _check_contact_rows(
    s: Registry, label: str, rows: tuple[Scalar | None, ...], opens: Scalar | None
) -> None:
    """Refuse rows with inputs, and a gap that no motion opens."""
    for row in rows:
        if row is not None:
            refuse_inputs(s, label, row)
    if opens is not None and not rate_coefficients(s, opens):
        msg = f"{label}: this gap is the same in every position; no motion opens or closes it"
        raise BadDescription(msg)


def _restitution(s: Registry, label: str, restitution: Any, law: str) -> Scalar:
    """e of Newton's or Poisson's law, 0 ≤ e ≤ 1: a number or an expression of constants."""
    e = scalar(s, restitution)
    if law not in LAWS:
        msg = f"{label}: law={law!r} is unknown: choose 'newton' or 'poisson'"
        raise BadDescription(msg)
    if changing := time_varying_names(s, e.i, inputs=True):
        msg = (
            f"{label}: restitution = {e} contains {', '.join(changing)}; give a number, or an "
            f"expression of constants"
        )
        raise BadDescription(msg)
    if (value := constant_value(s, e)) is not None and not 0 <= value <= 1:
        msg = (
            f"{label}: restitution = {value:g}: it must lie between 0 (no rebound) and 1 "
            f"(nothing lost)"
        )
        raise BadDescription(msg)
    return e


def _stribeck_friction(
    s: Registry,
    label: str,
    mu: tuple[Scalar, Scalar],
    stribeck: Any,
    slips: tuple[Scalar, Scalar | None],
) -> Scalar:
    """μ + (μ_s − μ) exp(−|v|²/v_s²)"""
    v_s = scalar(s, stribeck)
    if (value := constant_value(s, v_s)) is not None and value <= 0:
        msg = (
            f"{label}: stribeck = {value:g}; give the slip velocity at which static friction is "
            f"lost, a positive one"
        )
        raise BadDescription(msg)
    v, across = slips
    squares = (v / v_s) ** 2
    if across is not None:
        squares = squares + (across / v_s) ** 2
    return mu[0] + (mu[1] - mu[0]) * exp(-squares)


def _mode_symbols(s: Registry, *, in_plane: bool) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Symbols for what a run decides about the next contact, and about its slip in a plane."""
    tape, k = s.space.tape, len(s.contacts) + 1
    modes = ("closed", "stick", "direction", "side", "slack")

    def symbols(names: Iterable[str]) -> tuple[Scalar, ...]:
        return tuple(Scalar(tape, tape.private_symbol(f"{name}_{k}")) for name in names)

    return symbols(modes), symbols(PLANE_SYMBOLS if in_plane else ())


def _activity(s: Registry, label: str, active: Any) -> Scalar | bool | None:
    """An expression of positions, velocities and time; True, False or None as they are."""
    if active is None or isinstance(active, bool):
        return active
    e = expression(s, active)
    refuse_accelerations(s, label, (e.i,))
    if (value := constant_value(s, e)) is not None:
        msg = (
            f"{label}: active = {value:g} never changes; give an expression that is positive while "
            f"it is there, such as '2 - t', or True or False, which events change"
        )
        raise BadDescription(msg)
    return e


# ---- friction along a row
# --------------------------------------------------------------------------


class FrictionTerms(NamedTuple):
    """The friction declared for a row: μ, μ_s and the normal force."""

    friction: Any
    static: Any
    normal: Any

    def is_given(self, what: str) -> bool:
        """Whether friction was declared; its terms without it are refused."""
        if self.friction is None and (self.static is not None or self.normal is not None):
            msg = f"{what}: static= and normal= without friction=; give friction=μ too"
            raise BadDescription(msg)
        return self.friction is not None


def _add_viscous_load(s: Registry, name: str, c: Scalar, rows: Sequence[Scalar]) -> None:
    """−c v along one or two rows."""
    v, *others = rows
    across = (others[0], -c * others[0]) if others else None
    s.loads.append(load_along_row(s, check_load_name(s, name, "friction"), v, -c * v, across))


def friction(
    s: Registry,
    slip: Any,
    friction: Any,
    *,
    normal: Any = None,
    static: Any = None,
    stribeck: Any = None,
    viscous: Any = 0,
    active: Any = None,
    name: str | None = None,
) -> None:
    """T = −μ n sign(v) in slip, |T| ≤ μ_s n at rest: dry friction along a row v(q, q̇, t), such as
    the rate of a joint.

    `normal` is n, the force that presses (for a pin its radius times the force, for a clutch the
    torque per μ), or the name of a constraint row whose force does, from either side, and is solved
    for during the simulation; `viscous` adds −c v; `stribeck` is the velocity v_s of μ + (μ_s − μ)
    exp(−(v/v_s)²). A row on positions is taken by its rate.

    A pair of rows, s.friction((v1, v2), …), has friction in a plane: |T| ≤ μ n is a round cone, and
    T acts along −v/|v|. `normal` may also name a contact: its N presses.

    `active` is an expression that is positive while the friction is there, or True or False at the
    start, which events change.
    """
    label = contact_name(s, name, "friction")
    rows = _slip_velocities(s, label, slip)
    if normal is None:
        msg = (
            f"{label}: friction needs a normal force; give normal=…, or declare the contact "
            f"itself with s.contact(point, …, friction=…)"
        )
        raise BadDescription(msg)
    mu = friction_coefficients(s, label, friction, static)
    c = scalar(s, viscous)
    if c != 0:
        _add_viscous_load(s, f"{label}, viscous", c, rows)
    elif mu is None:
        msg = f"{label}: friction = 0 and viscous = 0: nothing holds and nothing slows down"
        raise BadDescription(msg)
    if mu is None:
        return
    n = _normal_force(s, label, normal)
    T, across = _friction_forces(s, label, rows)
    declare_contact(
        s, label, load_along_row(s, label, rows[0], T, across), (None, T), slip=rows[0], normal=n,
        mu=mu, stribeck=stribeck, across=across, active=active,
    )  # fmt: skip


def _friction_forces(
    s: Registry, label: str, rows: Sequence[Scalar]
) -> tuple[Scalar | None, tuple[Scalar, Scalar] | None]:
    """T along the first row, and the second row with its force."""
    if len(rows) == 1:
        return contact_forces(s, label, normal=False, slips=True)[1], None
    T, T_across = plane_friction_forces(s, label)
    return T, (rows[1], T_across)


def switched_row(s: Registry, e: Scalar, name: str | None, active: Any) -> None:
    """e = 0 while it is active: a guide with the force N along the row, which has either sign."""
    label = contact_name(s, name, "constraint")
    if any(c.name == label for c in s.constraints):
        msg = f"{label!r} is declared already, as a constraint"
        raise BadDescription(msg)
    v = _velocity_row(s, label, e)
    N, _ = contact_forces(s, label, normal=True, slips=False)
    declare_contact(
        s, label, load_along_row(s, label, v, N), (N, None), gap=None if v is e else e, approach=v,
        two_sided=True, active=active,
    )  # fmt: skip


def rolling_friction(
    s: Registry,
    label: str,
    direction: Vector,
    at: Point,
    body: Body,
    ground: Body | None,
    v: Scalar,
    given: FrictionTerms,
) -> None:
    """A row of rolling that may slip: T along the direction at the point of contact, and its
    opposite on what it rolls on.
    """
    if given.normal is None:
        way = (
            "normal=…, such as normal=m*g, or free its height and declare s.contact(…, "
            "radius=…, "
            "friction=…)"
        )
        msg = f"{label}: friction on a row without a normal force; give {way}"
        raise BadDescription(msg)
    mu = friction_coefficients(s, label, given.friction, given.static)
    if mu is None:
        msg = f"{label}: friction = 0 has no effect; leave the constraint out"
        raise BadDescription(msg)
    n = _normal_force(s, label, given.normal)
    _, T = contact_forces(s, label, normal=False, slips=True)
    F = T * direction
    acting = (
        reduce_loads((F, at, body))
        if ground is None
        else reduce_loads((F, at, body), (-F, at, ground))
    )
    declare_contact(
        s,
        label,
        Load(label, *acting),
        (None, T),
        slip=v,
        normal=n,
        mu=mu,
        arrow=(at, None, direction),
    )


def _normal_force(s: Registry, label: str, normal: Any) -> Scalar | str:
    """An expression, or the name of the row whose force it is."""
    names = [c.name for c in s.constraints if not c.redundant]
    names += [c.name for c in s.contacts if c.N is not None and c.name not in names]
    if isinstance(normal, str) and normal in names:
        return normal
    if isinstance(normal, str) and not re.fullmatch(r"[\s\d./eE+-]+", normal):
        rows = (
            f"there are {', '.join(map(repr, names))}"
            if names
            else "there are none yet; declare it before its friction"
        )
        msg = f"{label}: normal={normal!r:.60} names no constraint row or contact ({rows})"
        raise BadDescription(msg)
    n = scalar(s, normal)
    refuse_accelerations(s, label, (n.i,))
    if (pressing := constant_value(s, n)) is not None and pressing < 0:
        msg = f"{label}: normal = {pressing:g}; a normal force is not negative"
        raise BadDescription(msg)
    return n


def _slip_velocities(s: Registry, label: str, slip: Any) -> list[Scalar]:
    """One slip velocity, or two."""
    rows = list(slip) if isinstance(slip, tuple | list) else [slip]
    if len(rows) not in {1, 2}:
        msg = f"{label}: {len(rows)} slip velocities; give one, or two of a plane"
        raise BadDescription(msg)
    return [_velocity_row(s, label, scalar(s, e)) for e in rows]


def _velocity_row(s: Registry, label: str, e: Scalar) -> Scalar:
    """A row as a velocity: itself, or its rate where it is on positions."""
    refuse_inputs(s, label, e)
    if not {q.dot.i for q in s.q}.intersection(
        symbols_of(s.space.tape, (substitute_speeds(s, e.i),))
    ):
        e = e.dot
    try:
        moved = rate_coefficients(s, e)
    except NotLinear as problem:
        msg = (
            f"{label}: its velocity is {problem}; friction and rows that are switched are linear "
            f"in the rates"
        )
        raise BadDescription(msg) from problem
    if not moved:
        msg = f"{label}: no rate enters {e}, so nothing can slip or stick"
        raise BadDescription(msg)
    return e
