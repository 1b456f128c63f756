"""∂u̇/∂(q, u, τ) of chains, linear models, and gradients of costs: how long they take."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from typing import Any

import native_loop
import numpy
import systems
from growth import exponent
from measure import Timing, least, race, timed
from numpy.typing import NDArray
from peers import Unavailable, attempt, peer
from results import NoSlower, Report, Slower, Within

import dalembert as da

NOTE = (
    "Derivatives: ∂u̇/∂(q, u, τ) of the spatial chain, all columns, for one state. Native loop: "
    "256 states, one call for each from a loop "
    "in native code; Pinocchio's computeABADerivatives has no loop of its own and is called from "
    "Python, which costs it 0.6 µs. Batch: one "
    "call from Python for 1024 states in rows. First call: derive, differentiate and compile, "
    "nothing cached, for one state. Gradient: an "
    "end cost of a run of 5 s of the seven-joint chain at rtol 1e-9 by all 82 constants that "
    "occur, and the run itself."
)
STATES = 256
MANY = 1024
Rows = NDArray[Any]
_WRT = ("q", "u", "loads")
# more than the number from which on code is compiled at once
_OFTEN = 10**6


def run(report: Report, *, quick: bool) -> None:
    """Chains of several lengths, linear models, gradients."""
    report.section("Derivatives", NOTE)
    for n in (7,) if quick else (7, 20, 50):
        _chain(report, n, quick=quick)
    _growth(report, (12, 20) if quick else (12, 25, 50))
    _linear(report)
    _gradient(report)


def _chain(report: Report, n: int, *, quick: bool) -> None:
    report.progress(f"derivatives of the chain of {n} joints")
    d = da.derivatives(systems.chain(n), with_respect_to=_WRT, points=_OFTEN)
    Q, U = systems.states(n, STATES)
    X, p = numpy.hstack([Q, U, numpy.zeros((STATES, 1))]), numpy.array([9.81])
    slopes = d.parts[0].slopes
    loops: dict[str, Callable[[], object]] = {}
    if n <= 10:
        loops["dalembert"] = native_loop.compiled_rows(slopes.native, X, p)
    else:
        loops["dalembert"] = lambda: slopes.rows(X, p)
    missing: dict[str, str] = {}
    try:
        tool = attempt(lambda: peer("pinocchio").Chain(systems.links(n)))
        loops["Pinocchio"] = tool.derivatives(Q, U)
        _agreement(report, n, d, tool)
    except Unavailable as reason:
        missing["Pinocchio"] = str(reason)
    try:
        casadi = peer("casadi")
        whole = numpy.hstack([Q, U, numpy.zeros_like(Q)])
        # a C compiler takes minutes over it
        if n <= 7 and not quick:
            loops["CasADi, C code"] = attempt(
                lambda: casadi.whole_loop(casadi.derivatives(systems.links(n)), whole)
            )
    except Unavailable as reason:
        missing["CasADi, C code"] = str(reason)
    goals = {"Pinocchio": Slower(2), "CasADi, C code": Slower(1.5)} if n == 7 else None
    found: dict[str, Timing | str] = {k: t.per(STATES) for k, t in race(loops).items()} | missing
    report.compare(f"chain {n}, derivatives, native loop", found, goals)
    Q, U = systems.states(n, MANY)
    batch: dict[str, Timing | str] = {
        "dalembert": race({"batch": lambda: d(Q, U)})["batch"].per(MANY)
    }
    batch |= {k: x for k, x in found.items() if k == "Pinocchio"}
    report.compare(
        f"chain {n}, derivatives, batch", batch, {"Pinocchio": Slower(8)} if n == 7 else None
    )


def _agreement(report: Report, n: int, d: Any, tool: Any) -> None:
    Q, U = systems.states(n, 50, seed=2)
    mine = d(Q, U)
    theirs = tool.derivative_values(Q, U)
    error = float((abs(mine - theirs).max(axis=(1, 2)) / abs(theirs).max(axis=(1, 2))).max())
    bound = 1e-11 if n <= 20 else 1e-10
    report.check(
        f"chain {n}: derivatives at 50 states, relative",
        f"{error:.1e} ≤ {bound:.0e}",
        passed=error <= bound,
    )


def _first_call(n: int) -> float:
    """CPU seconds from the description to the derivatives at one state, nothing of this system
    cached.
    """
    _warm()
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("DALEMBERT_CACHE", "")
        s = systems.chain(n)
        os.environ["DALEMBERT_CACHE"] = folder
        try:
            q = numpy.full(n, 0.3)
            return timed(lambda: da.derivatives(s, with_respect_to=_WRT, points=_OFTEN)(q, q))[0]
        finally:
            os.environ["DALEMBERT_CACHE"] = before


def _size_and_time(n: int) -> tuple[float, float]:
    """The operations of the compiled tables of a chain of n joints, and the time of one call."""
    d = da.derivatives(systems.chain(n), with_respect_to=_WRT, points=_OFTEN)
    slopes, x, p = d.parts[0].slopes, numpy.full(2 * n + 1, 0.3), numpy.array([9.81])
    slopes.call(x, p)
    call = min(timed(lambda: slopes.call(x, p), calls=50)[0] for _ in range(10)) / 50
    return float(len(slopes.source.live_nodes)), call


def _warm() -> None:
    """Generic code, which is compiled once on a machine."""
    s = systems.chain(11)
    q = numpy.full(11, 0.3)
    d = da.derivatives(s, with_respect_to=_WRT, points=_OFTEN)
    d(q, q)
    d(numpy.stack([q, q]), numpy.stack([q, q]))


def _growth(report: Report, sizes: tuple[int, ...]) -> None:
    """How code and time grow with the number of joints."""
    report.progress("growth of derivatives")
    firsts = {n: _first_call(n) for n in sizes}
    last = sizes[-1]
    measured = {n: _size_and_time(n) for n in sizes}
    for k, what, limit in ((0, "code", 1.15), (1, "time of a call", 2.1)):
        slope = exponent({n: each[k] for n, each in measured.items()})
        verdict = "met" if slope <= limit else "**missed**"
        goal = f"derivatives: growth of {what} with joints, exponent"
        report.goals.append((goal, f"≤ {limit:g}", f"{slope:.2f}", verdict))
    found: dict[str, Timing | str] = {
        f"dalembert, {n} joints": Timing(x, x, math.nan) for n, x in firsts.items()
    }
    report.compare(
        "derivatives, first call",
        found,
        {f"dalembert, {last} joints": Within(3.0)} if last == 50 else None,
    )


def _linear(report: Report) -> None:
    """da.linearize at one point, and along a run."""
    report.progress("linear models")
    s = systems.chain(7)
    about = {f"q_{k}": 0.1 * k for k in range(1, 8)}
    run_ = da.simulate(s, 5, start=about)
    point = race({"point": lambda: da.linearize(s, about)})["point"]
    report.compare(
        "chain 7, linear model of a point", {"dalembert": point}, {"dalembert": Within(3e-4)}
    )
    loops: dict[str, Callable[[], object]] = {"dalembert": lambda: da.linearize_along(run_)}
    missing: dict[str, Timing | str] = {}
    try:
        tool = attempt(lambda: peer("pinocchio").Chain(systems.links(7)))
        loops["Pinocchio"] = tool.derivatives(run_.q, run_.u)
    except Unavailable as reason:
        missing["Pinocchio"] = str(reason)
    found = {k: t.per(len(run_.t)) for k, t in race(loops).items()} | missing
    goals = {"Pinocchio": Slower(1 / 3)}
    report.compare("chain 7, linear models along a run, for one", found, goals)


def _gradient(report: Report) -> None:
    """run.gradient and the run."""
    report.progress("gradients")
    s = systems.chain(7, symbolic=True)
    start = {f"q_{k}": 0.3 for k in range(1, 8)}

    def motion() -> Any:
        return da.simulate(s, 5, start=start, rtol=1e-9, atol=1e-9, audit=False, progress=False)

    run_ = motion()
    first = least([timed(lambda: run_.gradient(end="q_7**2"))])
    timings = race(
        {
            "dalembert, the run": motion,
            "dalembert, its gradient": lambda: run_.gradient(end="q_7**2"),
        }
    )
    goals = {"dalembert, its gradient": NoSlower(8), "dalembert, first gradient": Within(1.0)}
    report.compare(
        "chain 7, gradient by 82 constants", {**timings, "dalembert, first gradient": first}, goals
    )
