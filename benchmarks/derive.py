"""From a description to its equations."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy
import systems
from measure import Timing, alone, fresh, least, program, timed
from peers import Unavailable, attempt, peer
from results import Report, Slower, Within

import dalembert as da

NOTE = (
    "The description is given, its derivation is timed; for dalembert that includes the "
    "kinematics, for SymPy the velocities belong "
    "to the description. KanesMethod forms M and f in any case; dalembert when asked, which is the "
    "second row."
)
_IMPORT = """
import time
cpu, wall = time.process_time(), time.perf_counter()
import dalembert
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
_COMMAND = """
import time
wall = time.perf_counter()
import sys
from dalembert.cli import main
sys.argv = ["dalembert", "derive", "rolling-disk"]
try:
    main()
finally:
    print(time.process_time(), time.perf_counter() - wall)
"""
KANE = {7: 0.02, 20: 0.1, 50: 0.5}
LAGRANGE = (10, 20, 40)
FORWARD = (7, 50, 200)


def run(report: Report, *, quick: bool) -> None:
    """All derivations."""
    report.section("Derive", NOTE)
    _pendulum(report, quick=quick)
    _disk(report)
    _growth(
        report,
        "spatial chain by Kane",
        da.kane,
        {n: Within(s) for n, s in KANE.items()},
        {} if quick else {7: _sympy_chain},
    )
    _growth(
        report,
        "spatial chain by Lagrange",
        da.lagrange,
        {n: Within(0.1) if n == 40 else None for n in LAGRANGE},
        {},
    )
    _forward(report)
    _start_up(report)


def _with_M_and_f(system: da.System) -> object:
    equations = da.kane(system).equations
    return equations.mass_nodes, equations.forcing_nodes


def _pendulum(report: Report, *, quick: bool) -> None:
    for n in (5,) if quick else (2, 5, 10):
        what = f"planar pendulum, {n} links, relative angles, Kane"
        report.progress(what)
        timings: dict[str, Timing | str] = {
            "dalembert": fresh(lambda n=n: systems.pendulum(n), da.kane),  # type: ignore[misc]
            "dalembert, M and f too": fresh(lambda n=n: systems.pendulum(n), _with_M_and_f),
            # type: ignore[misc]
            "SymPy mechanics": _sympy(lambda tool, n=n: tool.pendulum(n)),  # type: ignore[misc]
        }
        report.compare(what, timings, {"SymPy mechanics": Slower(1000)} if n == 10 else None)
        if n == 10 and isinstance(timings["SymPy mechanics"], Timing):
            ratio = timings["SymPy mechanics"].cpu / timings["dalembert, M and f too"].cpu  # type: ignore[union-attr]
            report.text(
                f"With M and f counted on our side too, the ratio for 10 links is {ratio:.0f}."
            )


def _sympy(describe: Callable[[Any], Any]) -> Timing | str:
    """KanesMethod once: it is slow enough to need no rounds."""
    try:
        tool = peer("sympy_mechanics")
        d = attempt(lambda: describe(tool))
        alone()
        sample = timed(lambda: tool.kane(d))
    except Unavailable as reason:
        return str(reason)
    return least([sample])


def _sympy_chain() -> Timing | str:
    return _sympy(lambda tool: tool.chain(systems.links(7)))


def _disk(report: Report) -> None:
    report.progress("rolling disk")
    timings = {
        "dalembert": fresh(systems.disk, da.kane),
        "SymPy mechanics": _sympy(lambda tool: tool.rolling_disk()),
    }
    report.compare("rolling disk, Kane", timings)
    report.compare("rolling disk, Lagrange", {"dalembert": fresh(systems.disk, da.lagrange)})


def _growth(
    report: Report,
    what: str,
    derive: Callable[[da.System], object],
    goals: dict[int, Any],
    others: dict[int, Any],
) -> None:
    """One principle for several sizes, and the exponent with which its time grows."""
    found = {}
    for n, goal in goals.items():
        report.progress(f"{what}, {n} joints")
        found[n] = fresh(lambda n=n: systems.chain(n), derive)  # type: ignore[misc]
        timings = {"dalembert": found[n]} | (
            {"SymPy mechanics": others[n]()} if n in others else {}
        )
        report.compare(f"{what}, {n} joints", timings, {"dalembert": goal} if goal else None)
    report.text(_exponent(what, {n: t.cpu for n, t in found.items()}))


def _exponent(what: str, times: dict[int, float]) -> str:
    slope = numpy.polyfit([log(n) for n in times], [log(t) for t in times.values()], 1)[0]
    return f"Growth, {what}: time ~ n^{slope:.2f} over {', '.join(map(str, times))} joints."


def _forward(report: Report) -> None:
    """The route that native code takes, against the same algorithm written by hand."""
    found = {}
    for n in FORWARD:
        what = f"spatial chain, forward dynamics link by link, {n} joints"
        report.progress(what)
        found[n] = fresh(lambda n=n: systems.chain(n), da.forward_dynamics, rounds=5)  # type: ignore[misc]
        report.compare(what, {"dalembert": found[n], "CasADi, by hand": _casadi(n)})
    report.text(_exponent("forward dynamics link by link", {n: t.cpu for n, t in found.items()}))


def _casadi(n: int) -> Timing | str:
    try:
        tool, links = peer("casadi"), systems.links(n)
        return fresh(lambda: links, tool.forward_dynamics, rounds=3)
    except Unavailable as reason:
        return str(reason)


def _start_up(report: Report) -> None:
    report.progress("import and command")
    report.compare("import dalembert", {"dalembert": program(_IMPORT)}, {"dalembert": Within(0.2)})
    report.compare(
        "dalembert derive rolling-disk",
        {"dalembert": program(_COMMAND)},
        {"dalembert": Within(0.6)},
    )
