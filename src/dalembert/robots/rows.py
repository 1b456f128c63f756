"""Equalities of a robot as constraint rows: coupled joints and tendons, connected points, welded bodies."""

from __future__ import annotations

from typing import Any

from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadDescription
from dalembert.robots.build import RobotBuilder
from dalembert.robots.carriers import Carrier, decimals
from dalembert.robots.loads import length
from dalembert.robots.poses import rotation
from dalembert.robots.record import Equality


def add_equalities(b: RobotBuilder) -> None:
    """Every equality as the rows that its kind closes; a joint that follows another has no coordinate of its own, so no row."""
    substituted = list(b.coupled.values())
    for equality in b.robot.equalities:
        if equality in substituted:
            continue
        if equality.kind in ("joint", "tendon"):
            _couple(b, equality)
        elif equality.kind == "connect":
            first, second = equality.places
            P, Q = b.carriers[equality.first].at(first), b.carriers[equality.second].at(second)
            b.s.close(P, Q, "ball", name=equality.name)
        else:
            _weld(b, equality)


def _couple(b: RobotBuilder, equality: Equality) -> None:
    """x₁ − x₁₀ = c₀ + c₁ d + c₂ d² + …, d = x₂ − x₂₀"""
    x1, x2 = _measured(b, equality, equality.first), _measured(b, equality, equality.second)
    r1, r2 = decimals(equality.reference[:1])[0], decimals(equality.reference[1:])[0]
    row: Any = x1 - r1
    d: Any = x2 - r2
    for power, c in enumerate(equality.polynomial):
        if c:
            row = row - decimals([c])[0] * d**power
    if isinstance(row, Scalar):
        b.s.constrain(row, equality.name)
    elif abs(float(row)) > 1e-9:
        msg = f"{equality.name}: the joints that it couples are locked at values that it does not allow"
        raise BadDescription(msg)


def _measured(b: RobotBuilder, equality: Equality, k: int) -> Any:
    """A joint's coordinate, a tendon's length; zero for the side that is not there."""
    if k < 0:
        return decimals([equality.reference[1]])[0]
    if equality.kind == "tendon":
        L = length(b, b.robot.tendons[k])
        return decimals([0.0])[0] if L is None else L
    moved = b.joints[k]
    return decimals([b.choices.locked[b.robot.joints[k].name]])[0] if moved is None else moved.coordinates[0]


def _weld(b: RobotBuilder, equality: Equality) -> None:
    first, second = b.carriers[equality.first], b.carriers[equality.second]
    P = _riding(first, equality.places[0], rotation(equality.quat))
    Q = _riding(second, equality.places[1], None)
    b.s.close(P, Q, "weld", name=equality.name)


def _riding(carrier: Carrier, place: Any, further: Any) -> Any:
    """A point of a body that rides on a frame along the body's own axes."""
    P = carrier.at(place)
    return P.offset(0 * carrier.frame.x, None, carrier.axes(further))
