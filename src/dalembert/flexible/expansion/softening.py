"""Ω > ω₁: where a beam that turns with its frame and does not shorten has lost its stiffness.

The inertia force of a turning frame pushes a bent beam outward, across its axis, with ρA Ω² v. What balances it is the pull
along the beam, which reaches the bending only through the shortening ½∫v′² dx. Without it the beam bends without bound as soon as
Ω exceeds its lowest frequency ω₁, however stiff the real one becomes by turning.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.errors import DalembertError, warn
from dalembert.flexible.expansion.discretised import Discretised
from dalembert.flexible.expansion.ritz import Ritz, ritz
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.model.system import System
from dalembert.numerics.symbol_values import number
from dalembert.states.start import find_start
from dalembert.states.values import Values, values_of_run

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory

# how many times of a run are looked at before it begins
_LOOKED_AT: Final = 256


def warn_of_softening(
    kin: Kinematics, duration: float, t0: float, start: Mapping[Any, Any], values: Mapping[Any, Any], inputs: Mapping[Any, Any]
) -> None:
    """Say before a run that a beam without shortening will turn faster than it can stand."""
    softened = _softened(kin.system)
    if not softened:
        return
    try:
        span = number("t0", t0), number("t0", t0) + number("duration", duration)
        chosen = values_of_run(kin, values, inputs)
        found = [
            (bent, _lowest(ritz(bent, values), bent, plane), list(_turning(chosen, bent, plane, start, span)))
            for bent in softened
            for plane in range(len(bent.member.bending))
        ]
    except DalembertError:
        return  # what is wrong with the times, the start or the values is said by the run itself
    for bent, omega, turning in found:
        _judge(bent, omega, turning)


def warn_of_softened_run(run: Trajectory, values: Mapping[Any, Any]) -> None:
    """Say after a run that a beam whose frame turns as the motion has it came to turn faster than it can stand."""
    for bent in _softened(run.system):
        for plane in range(len(bent.member.bending)):
            e = _square(bent, plane)
            # where only given motions turn it, and where it was too fast at the start, this was said before
            if _moved(run.system, e) and len(run):
                rates = np.sqrt(np.maximum(np.asarray(run[e], dtype=float), 0.0)).tolist()
                omega = _lowest(ritz(bent, values), bent, plane)
                if rates[0] <= omega:
                    _judge(bent, omega, list(zip(run.t.tolist(), rates, strict=True)))


def _softened(system: System) -> list[Discretised]:
    """The members that bend, turn with their frame and do not shorten."""
    expansions = system.expansions.values()
    return [b for b in expansions if isinstance(b, Discretised) and b.member.bending and not b.member.shortening]


def _judge(bent: Discretised, omega: float, turning: Sequence[tuple[float, float]]) -> None:
    too_fast = [t for t, rate in turning if rate > omega]
    if too_fast:
        warn(_message(bent, omega, max(rate for _, rate in turning), too_fast[0]))


def _message(bent: Discretised, omega: float, fastest: float, since: float) -> str:
    m = bent.member
    turns = f"turns at up to {fastest:.4g} rad/s in its plane of bending"
    limit = f"faster than its lowest frequency {omega:.4g} rad/s (from t = {since:.3g} on)"
    happens = f"its shortening is left out: it will bend without bound, which no real {m.kind} does"
    return f"{m.kind} {m.name!r} {turns}, {limit}, and {happens}; declare it with shortening=True"


def _lowest(found: Ritz, bent: Discretised, plane: int) -> float:
    """ω₁ of bending in one plane."""
    first = 0
    for name, functions in bent.functions.items():
        if name == "vw"[plane]:
            own = slice(first, first + len(functions))
            return float(Ritz(found.M[own, own], found.K[own, own], (len(functions),)).frequencies()[0])
        first += len(functions)
    return math.inf


def _square(bent: Discretised, plane: int) -> Scalar:
    """ω·ω − (ω·e_y)²: how fast the frame turns about axes across the direction of bending, squared."""
    w = bent.member.frame.w
    return w @ w - (w @ bent.member.bending[plane]) ** 2


def _moved(system: System, e: Scalar) -> bool:
    """Whether coordinates or their rates enter."""
    moved = {i for q in system.q for i in (q.i, q.dot.i)}
    return bool(moved & set(symbols_of(e.tape, [e.i])))


def _turning(
    chosen: Values, bent: Discretised, plane: int, start: Mapping[Any, Any], span: tuple[float, float]
) -> Iterator[tuple[float, float]]:
    """(t, Ω) at times of the run, as far as that is known before it begins."""
    kin, e = chosen.kin, _square(bent, plane)
    inside = symbols_of(e.tape, [e.i])
    state: dict[int, float] = {}
    times = np.linspace(*span, _LOOKED_AT).tolist()
    if _moved(kin.system, e):
        # it turns as the motion will have it: only the start is known
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = find_start(kin, start, chosen.value_at(span[0]), span[0])
        state = {**dict(zip(kin.q, begin.q.tolist(), strict=True)), **dict(zip(kin.qdot, begin.qdot.tolist(), strict=True))}
        times = times[:1]
    for t in times:
        known = {**chosen.value_at(t), **state, kin.system.t.i: t}
        if any(i not in known for i in inside):
            return
        yield t, math.sqrt(max(evaluate(e.tape, [e.i], known.__getitem__, Floats())[0], 0.0))
