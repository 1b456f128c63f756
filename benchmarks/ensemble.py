"""Many runs: ten thousand double pendulums against a loop, heyoka's batches and SciPy; a chain
against MuJoCo's rollouts; growth.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy
from measure import Timing, alone, race, timed
from numpy.typing import NDArray
from peers import Unavailable, many
from results import Report, Slower
from runs import Ours
from systems import chain, links, pendulum_from_vertical, states

import dalembert as da
from dalembert.analysis.studies import vectorized_runs
from dalembert.gallery import slider_crank
from dalembert.runtime.numerics.jit import simd_width

Numbers = NDArray[numpy.float64]
_TOLERANCE = 1e-9
_NOTE = (
    "Double pendulums from rest, 10 s, rtol = atol = 1e-9, angles drawn between −π/2 and π/2; CPU "
    "time of one member on one thread. "
    "dalembert: the whole call of `da.ensemble` after the first, which compiles. Loop: the native "
    "loop of `da.simulate` alone, member "
    "after member. heyoka: batches of its recommended width at the loosest tolerance whose middle "
    "error is not larger, by "
    "`ensemble_propagate_until_batch` and by a plain loop over batches, the better of the two. "
    "MuJoCo: `rollout` of the chain with RK4 "
    "at the longest of a few steps whose middle error is not larger."
)


def run(report: Report, *, quick: bool) -> None:
    """Every comparison on one thread, then threads, overhead and growth."""
    report.section("Many runs", _NOTE)
    count = 1000 if quick else 10_000
    report.progress(f"{count} double pendulums")
    _pendulums(report, count, quick=quick)
    report.progress("double pendulums by Taylor's method")
    _by_series(report, 400 if quick else 1000)
    report.progress("chains of 7 joints")
    _chains(report, 64 if quick else 512)
    report.progress("threads, overhead, growth")
    _shares(report, count)
    _growth(report, (10**3, 10**4) if quick else (10**3, 10**4, 10**5, 10**6))


def _starts(count: int, n: int) -> Numbers:
    generator = numpy.random.default_rng(1)
    return generator.uniform(-numpy.pi / 2, numpy.pi / 2, (count, n))


def _asked(system: da.System, angles: Numbers) -> dict[tuple[str, ...], Numbers]:
    names = tuple(s.name for s in system.symbols.values() if s.kind == "coordinate")
    return {names: angles}


def _end(study: da.Ensemble) -> Numbers:
    return numpy.column_stack([study[kept.name].values for kept in study.plan.outputs])


def _middle(found: Numbers, exact: Numbers) -> float:
    return float(numpy.median(numpy.abs(found - exact).max(axis=1)))


def _pendulums(report: Report, count: int, *, quick: bool) -> None:
    system, angles = pendulum_from_vertical(2), _starts(count, 2)
    over, ours = _asked(system, angles), Ours(system, "native")
    few = 200

    def study(lanes: int | None = None, threads: int = 1, audit: bool = False) -> da.Ensemble:
        return da.ensemble(system, 10.0, over=over, audit=audit, lanes=lanes, threads=threads)

    def loop() -> Numbers:
        return numpy.array([ours.run([*row, 0.0, 0.0], 10.0, _TOLERANCE)[0] for row in angles])

    works: dict[str, Callable[[], object]] = {
        "dalembert": study,
        "dalembert, with the energy audit": lambda: study(audit=True),
    }
    works |= {
        f"dalembert, {lanes} lane{'s' * (lanes > 1)}": (lambda lanes=lanes: study(lanes))
        for lanes in (1, 4, 8)
    }
    works["loop"] = loop
    report.check(
        "members and the loop, bit for bit",
        f"{count} ends",
        passed=bool((_end(study()) == loop()).all()),
    )
    exact = _end(
        da.ensemble(
            system,
            10.0,
            over=_asked(system, angles[:few]),
            rtol=1e-13,
            atol=1e-13,
            audit=False,
            threads=1,
        )
    )
    error = _middle(_end(study())[:few], exact)
    goals = {
        "loop": Slower(3.0 if simd_width() == 8 else 2.0),
        "heyoka": Slower(0.7),
        "SciPy DOP853, lambdify": Slower(500.0),
    }
    heyoka = _or_reason(lambda: many.Pendulums(angles, 10.0, error, exact))
    if not isinstance(heyoka, str):
        works["heyoka"] = heyoka.run
    timings: dict[str, Timing | str] = {
        name: t.per(count)
        for name, t in race(works, rounds=3 if quick else 5, block=0.0, limit=120.0).items()
    }
    if isinstance(heyoka, str):
        timings["heyoka"] = heyoka
    scipy = _or_reason(lambda: many.lambdified(angles[:4], 10.0, _TOLERANCE))
    timings["SciPy DOP853, lambdify"] = (
        scipy if isinstance(scipy, str) else race({"": scipy}, rounds=3, limit=60.0)[""].per(4)
    )
    report.compare(f"{count} double pendulums, 10 s, tolerance 1e-09", timings, goals)
    if not isinstance(heyoka, str):
        report.text(
            f"Middle error of dalembert's ends {error:.1e}; heyoka at tolerance "
            f"{heyoka.tolerance:g}: {heyoka.error:.1e}, by {heyoka.how}."
        )


def _by_series(report: Report, count: int) -> None:
    """Both methods in lanes where `auto` takes Taylor's, each beside a loop of its own runs."""
    system, angles, tolerance = pendulum_from_vertical(2), _starts(count, 2), 1e-12
    over = _asked(system, angles)

    def study(integrator: str, lanes: int | None = None) -> da.Ensemble:
        asked = {"rtol": tolerance, "atol": tolerance, "audit": False, "threads": 1}
        return da.ensemble(system, 10.0, over=over, integrator=integrator, lanes=lanes, **asked)

    def loop(ours: Ours) -> Numbers:
        return numpy.array([ours.run([*row, 0.0, 0.0], 10.0, tolerance)[0] for row in angles])

    ends, alone_ = (
        _end(study("taylor")),
        {name: Ours(system, name) for name in ("native", "taylor")},
    )
    same = bool((ends == loop(alone_["taylor"])).all())
    report.check(
        "members and the loop by Taylor's method, bit for bit", f"{count} ends", passed=same
    )
    works: dict[str, Callable[[], object]] = {"dalembert, Taylor": lambda: study("taylor")}
    works |= {
        f"dalembert, Taylor, {n} lane{'s' * (n > 1)}": (lambda n=n: study("taylor", n))
        for n in (1, 4, 8)
    }
    works["dalembert, Runge–Kutta"] = lambda: study("native")
    works |= {
        f"loop, {what}": (lambda name=name: loop(alone_[name]))
        for what, name in (("Taylor", "taylor"), ("Runge–Kutta", "native"))
    }
    few = min(count, 200)
    exact = _end(
        da.ensemble(
            system,
            10.0,
            over=_asked(system, angles[:few]),
            rtol=1e-14,
            atol=1e-14,
            audit=False,
            integrator="taylor",
        )
    )
    error = _middle(ends[:few], exact)
    heyoka = _or_reason(lambda: many.Pendulums(angles, 10.0, error, exact))
    if not isinstance(heyoka, str):
        works["heyoka"] = heyoka.run
    timings: dict[str, Timing | str] = {
        name: t.per(count) for name, t in race(works, rounds=5, block=0.0, limit=60.0).items()
    }
    if isinstance(heyoka, str):
        timings["heyoka"] = heyoka
    goals = {"loop, Taylor": Slower(1.5), "heyoka": Slower(1.0)}
    report.compare(
        f"{count} double pendulums, 10 s, tolerance {tolerance:.0e}, Taylor's method",
        timings,
        goals,
    )
    report.text(
        f"Middle error of these ends by Taylor's method {error:.1e}, by Runge–Kutta "
        f"{_middle(_end(study('native'))[:few], exact):.1e}."
    )


def _or_reason(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (ImportError, Unavailable) as problem:
        return f"not there: {problem}"


def _chains(report: Report, count: int) -> None:
    system = chain(7)
    q, u = states(7, count)
    q, u = 0.3 * q, numpy.zeros_like(u)
    names = [s.name for s in system.symbols.values() if s.kind == "coordinate"]
    over = {tuple(names): q}
    exact = _end(
        da.ensemble(system, 1.0, over=over, rtol=1e-13, atol=1e-13, audit=False, threads=1)
    )

    def study() -> da.Ensemble:
        return da.ensemble(
            system, 1.0, over=over, rtol=_TOLERANCE, atol=_TOLERANCE, audit=False, threads=1
        )

    error = _middle(_end(study()), exact)
    mujoco = _or_reason(lambda: many.Rollouts(links(7), q, u, error, exact))
    works: dict[str, Callable[[], object]] = {"dalembert": study}
    if not isinstance(mujoco, str):
        works["mujoco.rollout, RK4"] = mujoco.run
    timings: dict[str, Timing | str] = {
        name: t.per(count) for name, t in race(works, rounds=3, block=0.0, limit=60.0).items()
    }
    if isinstance(mujoco, str):
        timings["mujoco.rollout, RK4"] = mujoco
    report.compare(
        f"{count} chains of 7 joints, 1 s, tolerance 1e-09",
        timings,
        {"mujoco.rollout, RK4": Slower(5.0)},
    )
    if not isinstance(mujoco, str):
        report.text(
            f"Middle error of dalembert's ends {error:.1e}; MuJoCo with steps of {mujoco.step:.2g} "
            f"s: {mujoco.error:.1e}."
        )


def _shares(report: Report, count: int) -> None:
    """What a call spends outside native code, within each call; two threads by the clock and by
    the processor, in turns.
    """
    system = pendulum_from_vertical(2)
    over = _asked(system, _starts(count, 2))
    native: list[float] = []
    plain = vectorized_runs.run_ensemble

    def watched(*arguments: Any) -> Any:
        begin = time.process_time()
        tables = plain(*arguments)
        native.append(time.process_time() - begin)
        return tables

    def study(threads: int) -> da.Ensemble:
        return da.ensemble(system, 10.0, over=over, audit=False, threads=threads)

    study(1)
    alone()
    samples: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    vectorized_runs.run_ensemble = watched
    try:
        for _ in range(9):
            for threads, found in samples.items():
                found.append(timed(lambda threads=threads: study(threads)))  # type: ignore[misc]
    finally:
        vectorized_runs.run_ensemble = plain
    overhead = min(
        1.0 - inside / whole for inside, (whole, _) in zip(native[::2], samples[1], strict=True)
    )
    cpu, wall = (min(s[k] for s in samples[1]) / min(s[k] for s in samples[2]) for k in (0, 1))
    report.text(
        f"Of the CPU time of a call {overhead:.1%} is spent outside native code (goal: at most 3 "
        f"%). Two threads are {wall:.2f} times as "
        f"fast as one by the clock (goal: 1.8, on two processors that nobody else uses; load "
        f"{os.getloadavg()[0]:.1f} here) and take "
        f"{1 / cpu:.2f} times the CPU time of one."
    )


def _growth(report: Report, counts: tuple[int, ...]) -> None:
    """Two constants varied, one number kept: CPU seconds a + b n; and on a closed loop, where
    every start is solved for.
    """
    system = pendulum_from_vertical(1)
    constants = [
        s.name for s in system.symbols.values() if s.kind == "constant" and s.value is not None
    ][:2]
    name = next(s.name for s in system.symbols.values() if s.kind == "coordinate")

    def pendulums(count: int) -> Callable[[], da.Ensemble]:
        side = round(count**0.5)
        over = {
            constants[0]: numpy.linspace(0.5, 2.0, side),
            constants[1]: numpy.linspace(0.5, 2.0, count // side),
        }
        return lambda: da.ensemble(
            system, 1.0, over=over, start={name: 1.0}, keep=f"end({name})", audit=False, threads=1
        )

    _grown(report, "pendulum, 1 s", pendulums, counts)
    crank = slider_crank.build()

    def cranks(count: int) -> Callable[[], da.Ensemble]:
        side = round(count**0.5)
        over = {
            "theta": numpy.linspace(-1.0, 1.0, side),
            "l_1": numpy.linspace(0.05, 0.14, count // side),
        }
        given = {"start": {"omega": 5.0}, "inputs": {"M": 0}, "audit": False, "threads": 1}
        return lambda: da.ensemble(crank, 0.05, over=over, keep="end(phi)", **given)

    _grown(
        report,
        "slider-crank closed at every start, 0.05 s",
        cranks,
        tuple(n for n in counts if n <= 10**5),
    )


def _grown(
    report: Report,
    what: str,
    study: Callable[[int], Callable[[], da.Ensemble]],
    counts: tuple[int, ...],
) -> None:
    times = []
    for count in counts:
        samples = [timed(study(count)) for _ in range(4 if count <= 10**4 else 2)]
        times.append(min(s[0] for s in samples))
    rows = []
    for k, (count, seconds) in enumerate(zip(counts, times, strict=True)):
        slope = (
            "" if not k else f"{(seconds - times[k - 1]) / (count - counts[k - 1]) * 1e6:.3g} µs"
        )
        rows.append([f"{count}", f"{seconds * 1e3:.4g} ms", slope])
    slope = (times[1] - times[0]) / (counts[1] - counts[0])
    report.table((f"members: {what}", "CPU", "for each more"), rows)
    report.text(
        f"a + b n with a = {(times[0] - slope * counts[0]) * 1e3:.3g} ms (goal: at most 50 ms)."
    )
