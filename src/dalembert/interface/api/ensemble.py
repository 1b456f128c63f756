"""Many runs of one system: which equations, which members, where they run.
Keywords: Monte Carlo.
"""

from __future__ import annotations

import functools
import os
import pickle
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Unpack

import numpy as np

from dalembert.analysis.studies.contact_runs import ContactRunner, native_contacts_obstacle
from dalembert.analysis.studies.energy_errors import excessive_drifts, warn_of_energy_errors
from dalembert.analysis.studies.ensemble_plan import (
    EnsemblePlan,
    ParameterRole,
    hash_equations,
    key_name,
    parse_outputs,
)
from dalembert.analysis.studies.execution import (
    MemoryStore,
    Runner,
    chunk_ranges,
    chunk_size,
    cpu_count,
    ensemble_progress,
    run_locally,
    run_on_engine,
)
from dalembert.analysis.studies.parameter_grid import BadStudy, parameter_grid
from dalembert.analysis.studies.result import Ensemble
from dalembert.analysis.studies.sequential_runs import SequentialRunner
from dalembert.analysis.studies.vectorized_runs import VectorizedRunner, vectorization_obstacle
from dalembert.analysis.studies.zarr_store import ZarrStore
from dalembert.errors import BadExpression, NotApplicable, Unknown
from dalembert.foundation.suggestions import check_options, suggest_name
from dalembert.interface.api.simulate import (
    check_system,
    energy_quadratures,
    parse_run_options,
    run_system,
)
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.numerics.symbol_values import strip_units
from dalembert.runtime.simulation.run_options import (
    RunKeywords,
    RunOptions,
    take_run_options,
    time_span,
)
from dalembert.runtime.simulation.simulate import RunMemory
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.evaluator import label
from dalembert.symbolic.algebra.scalar import Scalar

# numbers of members in lanes for which native text is written
_LANES: Final = (1, 2, 4, 8)


@check_options
@take_run_options(RunKeywords)
def ensemble(
    system: System,
    duration: float,
    *,
    over: Mapping[Any, Any],
    n: int | None = None,
    sampling: str = "random",
    seed: int = 0,
    keep: Any = None,
    audit: bool = True,
    threads: int | None = None,
    lanes: int | None = None,
    chunk: int | None = None,
    save: str | os.PathLike[str] | None = None,
    engine: Any = None,
    **options: Unpack[RunKeywords],
) -> Ensemble:
    """Simulate a system many times, vectorized and in threads: parameter sweeps and Monte Carlo.

    over     what varies: {"m": [1, 2, 3]} is an axis of a grid, {"theta": scipy.stats.norm(0,
             0.1)} is drawn, {("m", "l"): rows} varies together; names are constants, coordinates
             and speeds (their initial values), inputs (held at a number, or where `inputs` gives
             an expression for it, that times the number)
    n        how often to draw, at every point of the grid
    sampling  "random", "latin" (hypercube) or "sobol"
    seed     of the draws
    keep     what is kept of every member: "theta" at the times `at` or else at the end,
             "end(theta)", "max(theta)", "min(theta)", "mean(theta)", "time(theta - 1, up)" for the
             first time at which an expression crosses zero; by default all coordinates and speeds
    audit    keep the drift of K₂ + 𝒰 + Z relative to the energies
    threads, lanes, chunk   how many threads, how many members in the lanes of each, how many in
             memory at once; not a bit of the results depends on them
    save     "study.zarr": write chunk by chunk; after an interruption the same call resumes
    engine   where chunks run if not here: a dask.distributed.Client, the address of its
             scheduler, or an executor of concurrent.futures

    The other options are those of `simulate`, and every member is bit-identical to such a run; with
    "native", "taylor" and "auto" members are vectorized, with other integrators sequential. A
    member that fails is a row with its reason.
    """
    check_system(system, "ensemble")
    progress = options.pop("progress", None)
    chosen = replace(parse_run_options(system, options), progress=False)
    plan = _ensemble_plan(system, duration, chosen, over, (n, sampling, seed), keep, audit=audit)
    _check_parallel_options(threads, lanes, chunk)
    _check_memory(plan, saved=save is not None)
    begin = time.perf_counter()
    store, drifts = _run_plan(plan, save, engine, (threads, lanes, chunk), progress)
    single = functools.partial(_run_single, plan)
    done = Ensemble(plan, *store.read(), single, time.perf_counter() - begin)
    warn_of_energy_errors(done, drifts)
    return done


def _run_plan(
    plan: EnsemblePlan,
    save: str | os.PathLike[str] | None,
    engine: Any,
    parallel: tuple[int | None, int | None, int | None],
    progress: bool | None,
) -> tuple[MemoryStore | ZarrStore, dict[int, float]]:
    """All members chunk by chunk, in `parallel` threads, lanes and chunks: where their results
    are, and energy errors that are too large.
    """
    threads, lanes, chunk = parallel
    count = len(plan.grid)
    runner, how = _select_runner(plan, lanes)
    length = chunk_size(plan, chunk)
    store = (
        MemoryStore(plan, how)
        if save is None
        else ZarrStore(save, plan, length, how, runner.run(np.arange(0), 1))
    )
    # chunks that a file has are not run again
    chunks = zip(chunk_ranges(count, store.length or length), store.done_chunks, strict=False)
    pending = [piece for piece, done in chunks if not done]
    before = count - sum(last - first for first, last in pending)
    drifts: dict[int, float] = {}
    with ensemble_progress(count, progress, before) as show:
        if engine is None:
            results = run_locally(runner, pending, threads or cpu_count(), show, before)
        else:
            results = run_on_engine(engine, plan, pending, run_chunk, show, before)
        for (first, _), result in results:
            store.write(first, result)
            drifts |= excessive_drifts(plan, result, first)
    return store, drifts


def _ensemble_plan(
    system: System,
    duration: float,
    options: RunOptions,
    over: Mapping[Any, Any],
    draws: tuple[int | None, str, int],
    keep: Any,
    *,
    audit: bool,
) -> EnsemblePlan:
    """The study as data, with everything checked that can be before a member runs."""
    time_span(duration, options)
    if not isinstance(over, Mapping) or not over:
        msg = (
            "over: say what varies, as in over={'m': [1, 2, 3]} or over={'theta': "
            "scipy.stats.norm(0, 0.1)}"
        )
        raise BadStudy(msg)
    kin, equations = select_equations(system, options.integrator)
    members = parameter_grid(
        {_axis_name(key): _convert_units(system, key, values) for key, values in over.items()},
        *draws,
    )
    roles = {name: _parameter_role(system, kin, name, options) for name in members.names}
    kept = parse_outputs(keep, [label(kin.name(i)) for i in kin.state])
    return EnsemblePlan(
        system,
        float(duration),
        options,
        members,
        roles,
        kept,
        audit,
        hash_equations(kin, equations),
    )


def _axis_name(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_axis_name, key))
    return label(str(key.name)) if isinstance(key, Scalar) and key.name else str(key)


def _convert_units(system: System, key: Any, values: Any) -> Any:
    """With texts such as "30 deg" as numbers."""
    if (
        isinstance(key, str | Scalar)
        and isinstance(values, list | tuple)
        and any(isinstance(v, str) for v in values)
    ):
        return [strip_units(system, {key: v})[key] for v in values]
    return values


def _parameter_role(
    system: System, kin: Kinematics, name: str, options: RunOptions
) -> ParameterRole:
    """What a varied name is, or an error that names the nearest."""
    symbol = system.symbols.get(name)
    given = {key_name(key): value for key, value in options.inputs.items()}
    if symbol is not None and symbol.kind == "constant":
        return ParameterRole.CONSTANT
    if symbol is not None and symbol.is_open:
        held = name not in given or isinstance(given[name], int | float)
        return ParameterRole.INPUT if held else ParameterRole.AMPLITUDE
    states = {
        text: i for i in (*kin.state, *kin.qdot) for text in (kin.name(i), label(kin.name(i)))
    }
    if (
        name in states
        or (symbol is not None and symbol.kind in ("coordinate", "speed"))
        or _is_expression(system, name)
    ):
        if name in map(key_name, options.start):
            msg = f"over: {name!r} is also given in start; give it once"
            raise BadStudy(msg)
        return ParameterRole.START
    known = [*system.symbols, *(text for text in states if "'" not in text)]
    hint = suggest_name(name, known) or f"known are {', '.join(dict.fromkeys(known))}"
    msg = (
        f"over: {name!r} is no constant, coordinate, speed, state or input of {system.name!r}: "
        f"{hint}"
    )
    raise Unknown(msg)


def _is_expression(system: System, text: str) -> bool:
    """x - y: a start value that is not a coordinate itself."""
    if text.isidentifier():
        return False
    try:
        system.expression(text)
    except BadExpression:
        return False
    return True


def _select_runner(plan: EnsemblePlan, lanes: int | None = None) -> tuple[Runner, str]:
    """What runs the members of a plan, and how, in words."""
    kin, equations = select_equations(plan.system, plan.options.integrator)
    memory = RunMemory()
    why, alone = (
        vectorization_obstacle(plan, equations),
        SequentialRunner(plan, functools.partial(_run_single, plan, memory=memory)),
    )
    if not native_contacts_obstacle(plan):
        return ContactRunner(plan, alone, memory), "native code in threads (contacts)"
    if why is None:
        assert isinstance(equations, ExplicitEquations)
        quadratures = energy_quadratures(
            kin, audit=plan.audit, required=False, project_energy=False
        )
        try:
            side_by_side = VectorizedRunner(plan, kin, equations, quadratures, lanes, alone)
        except NotApplicable:
            if plan.options.integrator != "taylor":
                raise
            # every member reports it
            why = "no Taylor series"
        else:
            why = side_by_side.discontinuity_obstacle()
            if not why:
                return side_by_side, "vectorized"
    return alone, f"sequential ({why})"


def _run_single(
    plan: EnsemblePlan, options: RunOptions, memory: RunMemory | None = None
) -> Trajectory:
    """One member as a run of its own."""
    return run_system(plan.system, plan.duration, options, audit=plan.audit, memory=memory)


def run_chunk(payload: bytes, first: int, last: int) -> Any:
    """Members first, …, last − 1 of a pickled plan, on whatever machine this is; what was
    compiled for it is kept.
    """
    return _load_runner(payload).run(np.arange(first, last), 1)


@functools.lru_cache(maxsize=4)
def _load_runner(payload: bytes) -> Runner:
    # from the client that this worker serves
    return _select_runner(pickle.loads(payload))[0]  # noqa: S301


def _check_parallel_options(threads: int | None, lanes: int | None, chunk: int | None) -> None:
    for name, given in (("threads", threads), ("chunk", chunk)):
        if given is not None and (
            isinstance(given, bool) or not isinstance(given, int) or given < 1
        ):
            msg = f"{name} = {given!r}: give a whole number, at least 1"
            raise BadStudy(msg)
    if lanes is not None and lanes not in _LANES:
        msg = (
            f"lanes = {lanes!r}: choose one of {', '.join(map(str, _LANES))}; it changes no result"
        )
        raise BadStudy(msg)


def _check_memory(plan: EnsemblePlan, *, saved: bool) -> None:
    """Refuse a study whose results cannot be held, saying how much it is and what to keep
    instead.
    """
    kept = plan.values_per_run + 8
    count, room = len(plan.grid), _free_memory()
    size = 8.0 * count * kept
    # a file is written chunk by chunk, and only what is requested afterwards is read
    if saved or size <= room / 2:
        return
    instead = "keep max(…), mean(…) or end(…) instead, fewer times, or single runs by .run(k)"
    much = (
        f"{count} runs with {kept} numbers each take {size / 2**30:.3g} GiB, and "
        f"{room / 2**30:.3g} GiB are free"
    )
    msg = f"{much}: {instead}, or save='study.zarr'"
    raise BadStudy(msg)


def _free_memory() -> float:
    """Bytes that are free."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 2.0**33
