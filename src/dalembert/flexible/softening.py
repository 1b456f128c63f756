"""Ω > ω₁: where a beam that turns with its frame and does not shorten has lost its stiffness.

The inertia force of a turning frame pushes a bent beam outward, across its axis, with ρA Ω² v. What balances it is the pull
along the beam, which reaches the bending only through the shortening ½∫v′² dx. Without it the beam bends without bound as soon as
Ω exceeds its lowest frequency ω₁, however stiff the real one becomes by turning.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate, symbols_of
from dalembert.errors import DalembertError, DalembertWarning
from dalembert.flexible.discretised import Discretised
from dalembert.flexible.ritz import Ritz, ritz
from dalembert.kinematics.kinematics import Kinematics
from dalembert.simulation.setting import Setting, setting
from dalembert.simulation.starting.start import find_start

# how many times of a run are looked at before it begins
_LOOKED_AT: Final = 256


def warn_of_softening(
    kin: Kinematics, duration: float, t0: float, start: Mapping[Any, Any], values: Mapping[Any, Any], inputs: Mapping[Any, Any]
) -> None:
    """Say before a run that a beam without shortening will turn faster than it can stand."""
    softened = [b for b in kin.system.expansions.values() if isinstance(b, Discretised) and not b.member.shortening and b.member.bending]
    if not softened or not math.isfinite(duration):
        return
    chosen = setting(kin, values, inputs)
    for bent in softened:
        for plane, symbol in enumerate("vw"[: len(bent.member.bending)]):
            try:
                omega = _lowest(ritz(bent, values), bent, symbol)
                turning = list(_turning(chosen, bent, plane, start, (t0, t0 + duration)))
            except DalembertError:
                return  # what is wrong with the start or the values is said by the run itself
            too_fast = [t for t, rate in turning if rate > omega]
            if too_fast:
                warnings.warn(_message(bent, omega, max(rate for _, rate in turning), too_fast[0]), DalembertWarning, stacklevel=3)


def _message(bent: Discretised, omega: float, fastest: float, since: float) -> str:
    m = bent.member
    turns = f"turns at up to {fastest:.4g} rad/s in its plane of bending"
    limit = f"faster than its lowest frequency {omega:.4g} rad/s (from t = {since:.3g} on)"
    happens = f"its shortening is left out: it will bend without bound, which no real {m.kind} does"
    return f"{m.kind} {m.name!r} {turns}, {limit}, and {happens}; declare it with shortening=True"


def _lowest(found: Ritz, bent: Discretised, symbol: str) -> float:
    """ω₁ of bending in one plane."""
    first = 0
    for name, functions in bent.functions.items():
        if name == symbol:
            own = slice(first, first + len(functions))
            return float(Ritz(found.M[own, own], found.K[own, own], (len(functions),)).frequencies()[0])
        first += len(functions)
    return math.inf


def _turning(
    chosen: Setting, bent: Discretised, plane: int, start: Mapping[Any, Any], span: tuple[float, float]
) -> Iterator[tuple[float, float]]:
    """(t, √(ω·ω − (ω·e_y)²)): how fast the frame turns about axes across the direction of bending."""
    m, kin = bent.member, chosen.kin
    w = m.frame.w
    e = (w @ w - (w @ m.bending[plane]) ** 2).i
    tape = m.length.tape
    inside = symbols_of(tape, [e])
    moved = {*(q.i for q in kin.system.q), *(q.dot.i for q in kin.system.q)}
    state: dict[int, float] = {}
    times = np.linspace(*span, _LOOKED_AT).tolist()
    if moved & set(inside):
        # it turns as the motion will have it: only the start is known
        begin = find_start(kin, start, chosen.value_at(span[0]), span[0])
        state = {**dict(zip(kin.q, begin.q.tolist(), strict=True)), **dict(zip(kin.qdot, begin.qdot.tolist(), strict=True))}
        times = times[:1]
    for t in times:
        known = {**chosen.value_at(t), **state, kin.system.t.i: t}
        if any(i not in known for i in inside):
            return
        yield t, math.sqrt(max(evaluate(tape, [e], known.__getitem__, Floats())[0], 0.0))
