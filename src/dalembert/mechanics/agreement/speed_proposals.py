"""u = ω·b, v·b: speeds that a description suggests, as components of angular velocities and of
velocities along the axes of frames.

Body components of ω make Euler's equations; velocity components of a contact point or a mass centre
make constraint equations short. Which choice is good is measured, not assumed.

Source: Bar00, after (30); Gre03 4.1.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from dalembert.errors import BadDescription, DalembertError
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    Substitution,
    copy_expressions,
    evaluate,
    symbols_of,
)

if TYPE_CHECKING:
    from dalembert.mechanics.geometry.frame import Frame
    from dalembert.mechanics.geometry.vector import Vector
    from dalembert.symbolic.algebra.scalar import Scalar

# more choices than these are not tried
MAX_PROPOSALS: Final = 16
_AXES: Final = ("x", "y", "z")
_INDEPENDENT: Final = 1e-9


class Candidate(NamedTuple):
    """One speed that may be chosen: what it is, and its expression in the rates."""

    text: str
    expression: Scalar


class Proposal(NamedTuple):
    """A system with other speeds, and what they are."""

    name: str
    system: System
    definitions: tuple[str, ...]


def propose_speeds(system: System) -> list[Proposal]:
    """Copies of a system, each with speeds along the axes of one frame; those that do not determine
    the velocities are left out.
    """
    if system.speed_list:
        msg = (
            "compare_speeds: this system has declared speeds; give one without s.speeds(…), or two "
            "or more systems by name, compare_speeds(rates=s1, body=s2)"
        )
        raise BadDescription(msg)
    system = copy.deepcopy(system)
    kin = kinematics(system)
    proposals: dict[tuple[str, ...], Proposal] = {}
    for name, candidates in _families(system):
        chosen = _independent(kin, [*candidates, *_rates(system)])
        definitions = tuple(c.text for c in chosen)
        if len(proposals) < MAX_PROPOSALS and definitions not in proposals:
            other = _with_speeds(system, chosen)
            if other is not None:
                proposals[definitions] = Proposal(name, other, definitions)
    return list(proposals.values())


def _families(system: System) -> Iterator[tuple[str, list[Candidate]]]:
    """Angular velocities, and velocities of mass centres, contact points and points of loads, along
    each frame.
    """
    frames = [F for F in system.space.frames if F is not system.N]
    for body in system.bodies:
        contacts = [c.contact.point for c in system.constraints if c.contact is not None]
        loaded = [P for load in system.loads for _, P in load.forces]
        points = dict.fromkeys([body.G, *contacts, *loaded])
        for F in frames:
            omega = [] if body.frame is None else _components(f"ω of {body.name}", body.frame.w, F)
            if omega:
                yield f"ω of {body.name} in {F.name}", omega
            for P in points:
                along = _components(f"v of {P.name}", P.v, F)
                yield f"v of {P.name} in {F.name}", [*along, *omega]


def _components(text: str, v: Vector, F: Frame) -> list[Candidate]:
    return [Candidate(f"{text} along {F.name}.{axis}", v @ getattr(F, axis)) for axis in _AXES]


def _rates(system: System) -> list[Candidate]:
    return [Candidate(str(q.dot), q.dot) for q in system.q]


def _independent(kin: Kinematics, candidates: list[Candidate]) -> list[Candidate]:
    """The first candidates that determine the independent speeds, at one random state."""
    import numpy as np

    t = kin.fork().tape
    in_u = Substitution(t, dict(zip(kin.qdot, kin.qdot_of_u, strict=True)))
    linear = LinearCoefficients(t, kin.u)
    draw = random.Random(7)  # noqa: S311 - nothing is to be kept secret
    values: dict[int, float] = {}
    chosen: list[Candidate] = []
    rows: list[list[float]] = []
    nodes = copy_expressions(kin.system.space.tape, t, [c.expression.i for c in candidates])
    for c, node in zip(candidates, nodes, strict=True):
        _, slopes = linear(in_u(node))
        for i in symbols_of(t, tuple(slopes.values())):
            values.setdefault(i, draw.uniform(0.3, 1.1))
        numbers = evaluate(t, list(slopes.values()), values.__getitem__, FloatArithmetic())
        row = [0.0] * kin.n_u
        for k, x in zip(slopes, numbers, strict=True):
            row[k] = float(x)
        if np.linalg.matrix_rank(np.array([*rows, row]), tol=_INDEPENDENT) > len(rows):
            chosen.append(c)
            rows.append(row)
        if len(chosen) == kin.n_u:
            break
    return chosen


def _with_speeds(system: System, chosen: list[Candidate]) -> System | None:
    """A copy with these speeds; None where they do not determine the rates."""
    names = [f"u_{k}" for k in range(1, len(chosen) + 1)]
    if any(name in system.symbols for name in names):
        names = [f"speed_{k}" for k in range(1, len(chosen) + 1)]
    other, expressions = copy.deepcopy((system, [c.expression for c in chosen]))
    try:
        for name, expression in zip(names, expressions, strict=True):
            other.speed(name, expression)
        kinematics(other)
    except DalembertError:
        return None
    return other
