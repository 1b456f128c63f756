"""u̇ of one state and of many, and the loads for given u̇: native loop, one call from Python,
batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import native_loop
import numpy
import systems
from measure import Timing, race
from numpy.typing import NDArray
from peers import Unavailable, attempt, peer
from results import Report, Slower

import dalembert as da

NOTE = (
    "Time for one state. Native loop: 1024 states, one call for each from a loop in native code "
    "(Pinocchio: its own, abaInParallel on one"
    " thread). One call: from Python, with numpy arrays that exist. Batch: one call from Python "
    "for states in rows, 1024 if not said "
    "otherwise, q and u in arrays of their own, into a new array. Scalar loop: the same states one "
    "by one from a loop in native code that"
    " Python calls once, already side by side with t, into an array that exists. Constants at run "
    "time: all 13 numbers of each body are "
    "parameters, as they are for Pinocchio and MuJoCo; in the other rows they are part of the "
    "code. Inverse dynamics: the loads for given"
    " q, u and u̇ by da.inverse_dynamics in the same native loop, by Pinocchio's rneaInParallel on "
    "one thread."
)
STATES = 1024
COMPARED = 200
AGREEMENT = 1e-11
Rows = NDArray[Any]
Loops = dict[str, Callable[[], Rows]]


def run(report: Report, *, quick: bool) -> None:
    """Spatial chains and planar pendulums."""
    report.section("Evaluate", NOTE)
    for n in (7, 20) if quick else (7, 20, 50, 200):
        _chain(report, n)
    for n in (7,) if quick else (7, 50):
        _inverse(report, n)
    for n in (2, 5) if quick else (2, 5, 10):
        _pendulum(report, n)
    _disk(report)


class _Ours:
    """The compiled chain, numbers built in or as parameters."""

    def __init__(self, system: da.System) -> None:
        self.f = da.compile(system)

    def loop(self, Q: Rows, U: Rows) -> Callable[[], Rows]:
        """The native loop over states side by side with t = 0."""
        X = numpy.hstack([Q, U, numpy.zeros((len(Q), 1))])
        # the code itself, without the call from Python
        return native_loop.compiled_rows(self.f._udot, X, self.f._defaults)  # noqa: SLF001


def _chain(report: Report, n: int) -> None:
    report.progress(f"spatial chain, {n} joints")
    ours, flexible = _Ours(systems.chain(n)), _Ours(systems.chain(n, symbolic=True))
    missing: dict[str, str] = {}
    others = {
        name: tool
        for name in ("Pinocchio", "MuJoCo")
        if (tool := _tool(name, n, missing)) is not None
    }
    _agreement(report, n, ours, flexible, others)
    Q, U = systems.states(n, STATES)
    loops: Loops = {
        "dalembert": ours.loop(Q, U),
        "dalembert, constants at run time": flexible.loop(Q, U),
    }
    loops |= {name: tool.loop(Q, U) for name, tool in others.items()}
    batches: Loops = {
        "dalembert": lambda: ours.f(Q, U),
        "dalembert, constants at run time": lambda: flexible.f(Q, U),
    }
    _casadi(n, Q, U, loops, missing)
    _bitwise(report, f"spatial chain, {n} joints", ours, Q, U)
    timings = {
        k: t.per(STATES)
        for k, t in race(loops | {f"batch of {k}": b for k, b in batches.items()}).items()
    }
    found: dict[str, Timing | str] = {k: timings[k] for k in loops} | missing
    report.compare(f"chain {n}, native loop", found, {"Pinocchio": Slower(5)} if n == 7 else None)
    batch: dict[str, Timing | str] = {k: timings[f"batch of {k}"] for k in batches}
    batch["Pinocchio"] = timings["Pinocchio"] if "Pinocchio" in others else missing["Pinocchio"]
    report.compare(f"chain {n}, batch", batch, {"Pinocchio": Slower(15)} if n == 7 else None)
    _one_call(report, n, ours, others, missing)


def _inverse(report: Report, n: int) -> None:
    """τ(q, u, u̇) link by link, and Pinocchio's rnea."""
    report.progress(f"inverse dynamics, {n} joints")
    (Q, U), (_, A) = systems.states(n, STATES), systems.states(n, STATES, seed=3)
    X = numpy.hstack([Q, U, A, numpy.zeros((STATES, 1))])
    loops: Loops = {}
    for name, symbolic in (("dalembert", False), ("dalembert, constants at run time", True)):
        native = da.inverse_dynamics(systems.chain(n, symbolic=symbolic)).native
        loops[name] = native_loop.compiled_rows(native.function, X, native.values({}))
    missing: dict[str, str] = {}
    tool = _tool("Pinocchio", n, missing)
    if tool is not None:
        loops["Pinocchio"] = tool.inverse_loop(Q, U, A)
        error = relative(loops["dalembert"](), loops["Pinocchio"]())
        report.check(
            f"chain {n}: inverse dynamics at {STATES} states, relative",
            f"{error:.1e} ≤ 1e-11",
            passed=error <= AGREEMENT,
        )
    found: dict[str, Timing | str] = {k: t.per(STATES) for k, t in race(loops).items()} | missing
    report.compare(
        f"chain {n}, inverse dynamics, native loop",
        found,
        {"Pinocchio": Slower(3)} if n == 7 else None,
    )


def _tool(name: str, n: int, missing: dict[str, str]) -> Any:
    """A peer's chain, or None and the reason."""
    try:
        tool = peer(name.lower())
        return attempt(lambda: tool.Chain(systems.links(n)))
    except Unavailable as reason:
        missing[name] = str(reason)
        return None


def _casadi(n: int, Q: Rows, U: Rows, loops: Loops, missing: dict[str, str]) -> None:
    """CasADi's C code, up to a size that a C compiler takes in seconds."""
    if n > 50:
        return
    try:
        tool = peer("casadi")
        loops["CasADi, C code"] = attempt(
            lambda: tool.Compiled(tool.forward_dynamics(systems.links(n))).loop(Q, U)
        )
    except Unavailable as reason:
        missing["CasADi, C code"] = str(reason)


def _agreement(
    report: Report, n: int, ours: _Ours, flexible: _Ours, others: dict[str, Any]
) -> None:
    """Largest difference relative to the largest acceleration of its state."""
    Q, U = systems.states(n, COMPARED, seed=2)
    mine = ours.f(Q, U)
    told = {"constants at run time": flexible.f(Q, U)}
    told |= {
        name: numpy.array([tool.one(q, u) for q, u in zip(Q, U, strict=True)])
        for name, tool in others.items()
    }
    for name, theirs in told.items():
        error = relative(mine, theirs)
        # MuJoCo factors the mass matrix, whose condition grows with the chain
        bound = AGREEMENT if name != "MuJoCo" else 1e-8
        report.check(
            f"chain {n}: {name} at {COMPARED} states, relative",
            f"{error:.1e} ≤ {bound:.0e}",
            passed=bool(error <= bound),
        )


def relative(mine: Rows, theirs: Rows) -> float:
    """max over states of max|a − b| / max|b|"""
    return float((numpy.abs(mine - theirs).max(axis=1) / numpy.abs(theirs).max(axis=1)).max())


def _bitwise(report: Report, what: str, ours: _Ours, Q: Rows, U: Rows) -> None:
    single = numpy.array([ours.f(q, u) for q, u in zip(Q, U, strict=True)])
    same = numpy.array_equal(ours.f(Q, U), single) and numpy.array_equal(ours.loop(Q, U)(), single)
    report.check(
        f"{what}: batch, loop and {len(Q)} single calls",
        "the same bits" if same else "different bits",
        passed=same,
    )


def _one_call(
    report: Report, n: int, ours: _Ours, others: dict[str, Any], missing: dict[str, str]
) -> None:
    Q, U = systems.states(n, 1)
    q, u = Q[0], U[0]
    calls: dict[str, Callable[[], object]] = {"dalembert": lambda: ours.f(q, u)}
    for name, tool in others.items():
        calls[name] = lambda tool=tool: tool.one(q, u)  # type: ignore[misc]
    absent = {name: reason for name, reason in missing.items() if name in ("Pinocchio", "MuJoCo")}
    try:
        casadi = peer("casadi")
        calls["CasADi, its interpreter"] = attempt(
            lambda: casadi.one(casadi.forward_dynamics(systems.links(n)), q, u)
        )
    except Unavailable as reason:
        absent["CasADi, its interpreter"] = str(reason)
    report.compare(
        f"chain {n}, one call",
        {**race(calls), **absent},
        {"Pinocchio": Slower(1)} if n == 7 else None,
    )


def _pendulum(report: Report, n: int) -> None:
    report.progress(f"planar pendulum, {n} links")
    ours = _Ours(systems.pendulum(n))
    Q, U = systems.states(n, STATES)
    q, u = Q[0].copy(), U[0].copy()
    y = numpy.concatenate([q, u])
    calls: dict[str, Callable[[], object]] = {"dalembert": lambda: ours.f(q, u)}
    missing: dict[str, str] = {}
    for name, make in (("SymPy, lambdify and solve", _lambdified), ("PyDy, Cython", _pydy)):
        try:
            rates = attempt(lambda make=make: make(n))  # type: ignore[misc]
        except Unavailable as reason:
            missing[name] = str(reason)
            continue
        calls[name] = lambda rates=rates: rates(y)  # type: ignore[misc]
        error = relative(ours.f(q, u)[None], numpy.array(rates(y)[n:])[None])
        report.check(
            f"pendulum of {n} links: {name}, relative",
            f"{error:.1e} ≤ 1e-11",
            passed=error <= AGREEMENT,
        )
    report.compare(f"pendulum {n}, one call", {**race(calls), **missing})
    _own(report, f"pendulum {n}", ours, Q, U)


def _own(report: Report, what: str, ours: _Ours, Q: Rows, U: Rows) -> None:
    """Batch and scalar loop of a system that has no peer in native code."""
    for count, goal in ((64, 1), (STATES, 3)):
        q, u = Q[:count], U[:count]
        found = race(
            {"dalembert, batch": lambda q=q, u=u: ours.f(q, u), "scalar loop": ours.loop(q, u)}
        )  # type: ignore[misc]
        report.compare(
            f"{what}, {count} states",
            {k: t.per(count) for k, t in found.items()},
            {"scalar loop": Slower(goal)},
        )


def _lambdified(n: int) -> Callable[[Rows], Rows]:
    rates = peer("sympy_mechanics").rates_by_solve(n)
    return lambda y: rates(0.0, y)


def _pydy(n: int) -> Callable[[Rows], Rows]:
    # the solver that makes the fastest code
    made: Callable[[Rows], Rows] = peer("pydy").rates(n, "sympy")
    return made


def _disk(report: Report) -> None:
    report.progress("rolling disk")
    ours = _Ours(systems.disk())
    Q, U = systems.states(5, STATES)
    Q[:, 3] = 1.0 + 0.1 * Q[:, 3]
    _own(report, "rolling disk", ours, Q, U[:, :3].copy())
