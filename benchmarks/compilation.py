"""From equations to native code: with nothing kept, and from the cache."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterator

import systems
from measure import Timing, Work, alone, fresh, least, timed
from peers import Unavailable, attempt, peer
from results import Report, Within

import dalembert as da
from dalembert.runtime.numerics.forward_dynamics import NativeDynamics

NOTE = (
    "The equations are derived and LLVM is loaded; what is timed is the way from the equations to "
    "a function that can be called. "
    "The code for batches is compiled when it is first asked for and has rows of its own."
)
COLD = {7: 0.15, 50: 1.5, 200: 7.0}
CACHED = {7: 0.005, 50: 0.01, 200: 0.02}
_serial = itertools.count(1)


@contextlib.contextmanager
def kept_in(folder: str) -> Iterator[None]:
    """The object cache in another folder."""
    before = os.environ.get("DALEMBERT_CACHE")
    os.environ["DALEMBERT_CACHE"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["DALEMBERT_CACHE"]
        else:
            os.environ["DALEMBERT_CACHE"] = before


def run(report: Report, *, quick: bool) -> None:
    """Chains of all sizes, a new small system, and what others take."""
    report.section("Compile", NOTE)
    cold = {
        n: _both(
            report,
            f"spatial chain, {n} joints",
            systems.chain(n),
            n,
            rounds=2 if quick or n == 200 else 5,
        )
        for n in COLD
    }
    for n in (2, 5, 10):
        _both(report, f"planar pendulum, {n} links", systems.pendulum(n))
    _both(report, "rolling disk", systems.disk())
    _new_system(report)
    _others(report, cold[7])


def _both(report: Report, what: str, s: da.System, joints: int = 0, rounds: int = 5) -> Timing:
    """A system with nothing kept and from the cache, for one state and for batches; the first of
    the four times.
    """
    report.progress(what)
    equations = da.forward_dynamics(s)
    (Q, _), (U, _) = (systems.states(k, 16) for k in (len(equations.q), len(equations.u)))
    found: dict[str, Timing] = {}
    for goals, title, empty, count in (
        (COLD, "nothing kept", True, rounds),
        (CACHED, "from the cache", False, 9),
    ):
        found[title] = _in_caches(lambda: NativeDynamics(s, equations), empty=empty, rounds=count)
        many = _in_caches(
            lambda: NativeDynamics(s, equations)(Q, U), empty=empty, rounds=min(count, 3)
        )
        goal = {"dalembert": Within(goals[joints])} if joints else None
        report.compare(
            f"{what}, {title}", {"dalembert": found[title], "dalembert, batch too": many}, goal
        )
    return found["nothing kept"]


def _in_caches(work: Work, *, empty: bool, rounds: int) -> Timing:
    """Work in a new empty cache each time, or in one that has seen it before."""
    alone()
    samples = []
    with tempfile.TemporaryDirectory() as place:
        for k in range(rounds + 1):
            with kept_in(f"{place}/{k if empty else 0}"):
                samples.append(timed(work))
    return least(samples[1:])


def _double_pendulum() -> da.System:
    """A double pendulum that was never seen before: its numbers are part of its code."""
    s = da.System("New", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1 + next(_serial) / 1000)
    s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
    return s


def _new_system(report: Report) -> None:
    """A system that no cache has seen, when the loop itself was compiled before."""
    report.progress("a new small system")
    da.simulate(_double_pendulum(), 0.1, start={"alpha": 1.0})
    compiled = fresh(_double_pendulum, da.compile)
    simulated = fresh(_double_pendulum, lambda s: da.simulate(s, 0.01, start={"alpha": 1.0}))
    report.compare(
        "new double pendulum, da.compile from its description",
        {"dalembert": compiled},
        {"dalembert": Within(0.05)},
    )
    report.compare(
        "new double pendulum, da.simulate from its description",
        {"dalembert": simulated},
        {"dalembert": Within(0.05)},
    )


def _others(report: Report, cold: Timing) -> None:
    """Tools that call a C compiler; its time is counted."""
    report.progress("C compilers of others")
    for what, ours, name, make in (
        ("spatial chain, 7 joints", cold, "CasADi and the C compiler", _casadi),
        (
            "double pendulum",
            fresh(_double_pendulum, da.compile),
            "PyDy, Cython and the C compiler",
            _pydy,
        ),
    ):
        try:
            theirs: Timing | str = attempt(make)
        except Unavailable as reason:
            theirs = str(reason)
        report.compare(f"{what}, against C compilers", {"dalembert": ours, name: theirs})


def _casadi() -> Timing:
    tool = peer("casadi")
    f = tool.forward_dynamics(systems.links(7))
    return least([timed(lambda: tool.Compiled(f))])


def _pydy() -> Timing:
    tool = peer("pydy")
    tool.pendulum_equations(2)
    return least([timed(lambda: tool.rates(2, "sympy"))])
