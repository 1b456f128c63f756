"""N and T: the unknown forces of a contact as inputs, its coefficients, and its load along its rows."""

from __future__ import annotations

import re
from typing import Any, Final

from dalembert.algebra.folds import Linear
from dalembert.algebra.functions import exp
from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadDescription
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.elements import FrictionalContact, Load
from dalembert.model.loads import checked_load_name
from dalembert.model.registry import Registry, in_rates, movers, number, refuse_inputs, scalar
from dalembert.model.symbols import input as declare_input
from dalembert.model.virtual_work import moved_by

LAWS: Final = ("newton", "poisson")


def contact_name(s: Registry, name: str | None, kind: str, parts: tuple[str, ...] = ()) -> str:
    """The given name, or the kind of contact with a number; refused where another contact has it."""
    if name is not None and (not isinstance(name, str) or not name.strip()):
        msg = f"a contact is named by a string, not {name!r}"
        raise BadDescription(msg)
    label = name or f"{kind} {1 + len(s.contacts)}"
    if any(c.name in (label, *(f"{label}, {p}" for p in parts)) for c in s.contacts):
        msg = f"{label!r} is declared already, as a contact"
        raise BadDescription(msg)
    return label


def coefficients(s: Registry, label: str, friction: Any, static: Any) -> tuple[Scalar, Scalar] | None:
    """μ and μ_s; None where there is no friction."""
    mu = scalar(s, friction)
    mu_s = mu if static is None else scalar(s, static)
    low, high = number(s, mu), number(s, mu_s)
    if low is not None and low < 0:
        msg = f"{label}: friction = {low:g}; a coefficient of friction is not negative"
        raise BadDescription(msg)
    if low is not None and high is not None and high < low:
        msg = f"{label}: static = {high:g} is less than friction = {low:g}; what is at rest holds at least as well as what slips"
        raise BadDescription(msg)
    return None if mu == 0 and mu_s == 0 else (mu, mu_s)


def contact_forces(s: Registry, label: str, *, normal: bool, slips: bool) -> tuple[Scalar | None, Scalar | None]:
    """The inputs N and T of a contact."""
    ending = re.sub(r"\W+", "_", label).strip("_")
    return (declare_input(s, f"N_{ending}") if normal else None, declare_input(s, f"T_{ending}") if slips else None)


def along_row(s: Registry, label: str, v: Scalar, Q: Scalar | None) -> Load:
    """Q along a row: the generalized forces Q ∂v/∂q̇."""
    assert Q is not None
    tape = s.space.tape
    _, slopes = Linear(tape, [q.dot.i for q in s.q])(in_rates(s, v.i))
    pairs = [(s.q[k], Q * Scalar(tape, a)) for k, a in slopes.items()]
    return Load(label, tuple((F * s.space.N.x, moved_by(s, q)) for q, F in pairs), along=tuple(q for q, _ in pairs))


def declare_contact(
    s: Registry,
    label: str,
    load: Load,
    gap: Scalar | None,
    approach: Scalar | None,
    slip: Scalar | None,
    forces: tuple[Scalar | None, Scalar | None],
    normal: Scalar | str | None,
    mu: tuple[Scalar, Scalar] | None,
    stribeck: Any,
    impact: tuple[Any, str],
    two_sided: bool,
    arrow: tuple[Point, Vector | None, Vector | None] | None,
) -> None:
    """The contact with its load, unless something about it cannot be."""
    e, law = scalar(s, impact[0]), impact[1]
    if law not in LAWS:
        msg = f"{label}: law={law!r} is unknown: choose 'newton' or 'poisson'"
        raise BadDescription(msg)
    if changing := movers(s, e.i, inputs=True):
        msg = f"{label}: restitution = {e} contains {', '.join(changing)}; give a number, or an expression of constants"
        raise BadDescription(msg)
    if (found := number(s, e)) is not None and not 0 <= found <= 1:
        msg = f"{label}: restitution = {found:g}: it must lie between 0 (no rebound) and 1 (nothing lost)"
        raise BadDescription(msg)
    for row in (approach, slip):
        if row is not None:
            refuse_inputs(s, label, row)
    if approach is not None and gap is not None and not two_sided and not _moves(s, approach):
        msg = f"{label}: nothing that moves can open or close this gap; it is the same in every position"
        raise BadDescription(msg)
    mu_k, mu_s = mu if mu is not None else (None, None)
    if stribeck is not None and mu is not None and slip is not None:
        if (found := number(s, scalar(s, stribeck))) is not None and found <= 0:
            msg = f"{label}: stribeck = {found:g}; give the slip velocity at which static friction is lost, a positive one"
            raise BadDescription(msg)
        mu_k = mu[0] + (mu[1] - mu[0]) * exp(-((slip / scalar(s, stribeck)) ** 2))
    tape, k = s.space.tape, len(s.contacts) + 1
    flags = [Scalar(tape, tape.private_symbol(f"{what}_{k}")) for what in ("closed", "stick", "direction", "side", "slack")]
    checked_load_name(s, load.name, "contact")
    s.loads.append(load)
    pressing = normal if isinstance(normal, str) else None
    n = None if isinstance(normal, str) else normal
    s.contacts.append(
        FrictionalContact(
            label, gap, approach, slip, *forces, n, mu_k, mu_s, e, law, two_sided or pressing is not None, tuple(flags), arrow, pressing
        )
    )


def _moves(s: Registry, v: Scalar) -> bool:
    _, slopes = Linear(s.space.tape, [q.dot.i for q in s.q])(in_rates(s, v.i))
    return bool(slopes)
