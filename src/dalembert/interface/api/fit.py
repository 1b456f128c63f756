"""da.fit: constants and start values of a system from measured time series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from dalembert.analysis.studies.execution import cpu_count
from dalembert.analysis.studies.fit import Experiment, solve_fit
from dalembert.analysis.studies.fit_data import (
    BadData,
    MeasuredColumn,
    in_system_units,
    read_tables,
)
from dalembert.analysis.studies.fit_result import Fit
from dalembert.analysis.studies.sensor_model import Priors, SensorModel
from dalembert.errors import Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import check_options, suggest_name
from dalembert.interface.api.simulate import check_system, simulate
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import finite_number
from dalembert.runtime.simulation.run_options import StepKeywords, take_run_options
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.symbolic.algebra.scalar import Scalar


@check_options
@take_run_options(StepKeywords)
def fit(
    system: System,
    data: Any,
    unknown: Sequence[Any] | Mapping[Any, float],
    *,
    start: Mapping[Any, Any] | Sequence[Mapping[Any, Any]] | None = None,
    guess: Mapping[Any, float] | Sequence[Mapping[Any, float]] | None = None,
    inputs: Mapping[Any, Any] | Sequence[Mapping[Any, Any]] | None = None,
    t0: float | Sequence[float] | None = None,
    events: Sequence[Any] = (),
    noise: float | Mapping[str, float] | None = None,
    bounds: Mapping[Any, tuple[float, float]] | None = None,
    max_evaluations: int = 200,
    threads: int | None = None,
    offsets: Sequence[str] = (),
    delays: Sequence[str] = (),
    priors: Mapping[Any, tuple[float, float]] | None = None,
    loss: str = "squares",
    **options: Unpack[StepKeywords],
) -> Fit:
    """Estimate constants and initial values from measurements, by least squares with exact
    Jacobian.

    data      {"t": times, "theta": values, …}, or {"l*sin(theta)": (times, values), …} where
              columns have times of their own, a data frame, or the name of a CSV file; a column is
              any expression, a gap is None or an empty cell; or a list of such tables, one for
              each experiment
    unknown   names of constants and initial values, ["m", "theta"], or {"m": 1.5} with a first
              guess of each
    start, guess, values, inputs, events, rtol, atol, max_step   as in da.simulate, for all that is
              known; start, guess, inputs and t0 may be lists, one for each table. An initial value
              among the unknowns is then found for each, theta[1], theta[2], …, where start is a
              list, and is the same for all where it is not
    t0        when the run begins, by default with the first measurement
    noise     the standard deviation of the measurements, one or {column: σ}; without it each
              column's is estimated
    bounds    {"m": (0, 10)}: between which values to look
    max_evaluations   the largest number of evaluations
    threads   how many tables run at once, by default as many as there are processors; not a bit of
              the result depends on it
    offsets   columns whose sensors add an unknown constant, ["theta"]: found as "offset of theta"
    delays    columns that are measured with an unknown delay, found as "delay of theta"; the run
              must begin before the first measurement, t0=…
    priors    {"m": (1.2, 0.1)}: what is known before the data, a mean and a standard deviation
    loss      "squares", or "huber", with which outliers count by their size and not by its square

    Inputs are taken as they are given, without noise: noise on a recorded drive biases the result.
    """
    check_system(system, "fit")
    tables = [tuple(in_system_units(system, c) for c in table) for table in read_tables(data)]
    values = options.pop("values", None) or {}
    unknowns = _first_unknowns(system, unknown, per_table=len(tables) > 1 and _is_list(start))
    given = (("start", start), ("guess", guess), ("inputs", inputs), ("t0", t0))
    each = {what: _per_table(what, x, len(tables)) for what, x in given}
    common = {"events": events, **options}
    experiments = _experiments(tables, unknowns, each, values, common, at_times=not delays)
    columns_by_name = list(dict.fromkeys(c.name for columns in tables for c in columns))
    sensors = _sensor_model(columns_by_name, offsets, delays, len(unknowns.theta))
    if sensors.delays:
        _check_delays(experiments, each["t0"])
    theta = unknowns.theta | dict.fromkeys(sensors.names, 0.0)
    every = tuple(theta)
    return solve_fit(
        tuple(experiments), every, np.array(list(theta.values())),
        _standard_deviations(columns_by_name, noise), _bound_arrays(every, unknowns.local, bounds),
        max_evaluations, _thread_count(threads), sensors, _priors(every, priors),
        robust=_is_robust(loss),
    )  # fmt: skip


def _experiments(
    tables: Sequence[tuple[MeasuredColumn, ...]],
    unknowns: _Unknowns,
    each: Mapping[str, Sequence[Any]],
    values: Mapping[Any, Any],
    common: Mapping[str, Any],
    *,
    at_times: bool,
) -> list[Experiment]:
    """The run that each table is compared with; unknowns of its own enter on the way."""
    experiments = []
    for k, columns in enumerate(tables):
        begin, end = _time_span(columns, each["t0"][k])
        known = {"start": dict(each["start"][k] or {}), "values": dict(values)}
        places = unknowns.unknown_positions(k, columns, begin, known)
        times = np.unique(np.concatenate([c.t for c in columns])) if at_times else None
        wish = {what: each[what][k] for what in ("guess", "inputs")}
        wish |= {"t0": begin, **common, "at": times}
        local, constants = unknowns.local, unknowns.constants
        runner = _simulator(unknowns.system, end - begin, known, constants, local, wish)
        experiments.append(Experiment(columns, local, places, runner))
    return experiments


def _first_unknowns(
    system: System, unknown: Sequence[Any] | Mapping[Any, float], *, per_table: bool
) -> _Unknowns:
    """The unknowns as they were named, with their guesses, before any table is read."""
    local = _unknown_names(system, unknown)
    constants = {
        n for n in local if n in system.symbols and system.symbols[n].kind in ("constant", "input")
    }
    guesses = {_key_name(k): v for k, v in unknown.items()} if isinstance(unknown, Mapping) else {}
    return _Unknowns(system, local, constants, guesses, per_table, {})


@dataclass(frozen=True)
class _Unknowns:
    """The unknowns of a fit with their first guesses, which grow table by table."""

    system: System
    local: tuple[str, ...]
    constants: set[str]
    guesses: Mapping[str, float]
    # whether every table has initial values of its own, theta[1], theta[2], …
    per_table: bool
    theta: dict[str, float]

    def unknown_positions(
        self,
        k: int,
        columns: Sequence[MeasuredColumn],
        begin: float,
        known: dict[str, dict[str, Any]],
    ) -> tuple[int, ...]:
        """Where the unknowns of table k are in θ; new ones enter with a first guess."""
        measured = {c.name: float(c.values[0]) for c in columns if c.t[0] == begin}
        names = []
        for n in self.local:
            own = self.per_table and n not in self.constants
            names.append(f"{n}[{k + 1}]" if own else n)
            if names[-1] not in self.theta:
                self.theta[names[-1]] = _initial_guess(
                    self.system, n, self.guesses, known, measured
                )
        return tuple(map(list(self.theta).index, names))


def _sensor_model(
    columns: Sequence[str], offsets: Sequence[str], delays: Sequence[str], first: int
) -> SensorModel:
    for what, given in (("offsets", offsets), ("delays", delays)):
        if isinstance(given, str) or (wrong := [n for n in given if str(n) not in columns]):
            shown = given if isinstance(given, str) else wrong[0]
            msg = f"{what}: {shown!r} is no list of columns; columns are {', '.join(columns)}"
            raise Unknown(msg)
    return SensorModel(tuple(map(str, offsets)), tuple(map(str, delays)), first)


def _check_delays(experiments: Sequence[Experiment], begins: Sequence[float | None]) -> None:
    for e, t0 in zip(experiments, begins, strict=True):
        first = min(float(c.t[0]) for c in e.columns)
        if t0 is None or float(t0) >= first:
            msg = (
                f"delays: the run must begin before the first measurement, at t = {first:g}; give "
                f"t0= earlier than that by the longest delay"
            )
            raise BadData(msg)


def _priors(names: Sequence[str], given: Mapping[Any, tuple[float, float]] | None) -> Priors:
    known = {_key_name(k): v for k, v in (given or {}).items()}
    for n, pair in known.items():
        if n not in names:
            msg = f"priors: {n!r} is not among the unknowns {', '.join(names)}"
            raise Unknown(msg)
        if len(pair) != 2 or not float(pair[1]) > 0.0:
            msg = f"priors of {n}: {pair!r:.40}; give a mean and a positive standard deviation"
            raise Unknown(msg)
    return Priors.of(names, {n: (float(a), float(b)) for n, (a, b) in known.items()})


def _is_robust(loss: str) -> bool:
    if loss not in ("squares", "huber"):
        msg = f"loss={loss!r:.40}; give 'squares' or 'huber'"
        raise Unknown(msg)
    return loss == "huber"


def _simulator(
    system: System,
    duration: float,
    known: Any,
    constants: set[str],
    names: Sequence[str],
    options: Any,
) -> Any:
    """θ ↦ the run of one table"""

    def simulate_theta(theta: FloatArray) -> Trajectory:
        given = dict(zip(names, theta.tolist(), strict=True))
        return simulate(
            system,
            duration,
            start={
                **_drop_keys(known["start"], names),
                **{n: x for n, x in given.items() if n not in constants},
            },
            values={
                **_drop_keys(known["values"], names),
                **{n: x for n, x in given.items() if n in constants},
            },
            sensitivities=names,
            audit=False,
            progress=False,
            **options,
        )

    return simulate_theta


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple)


def _per_table(what: str, given: Any, count: int) -> list[Any]:
    """One for each table: the same for all, or those of a list."""
    if not _is_list(given):
        return [given] * count
    if len(given) != count:
        tables = "one table" if count == 1 else f"{count} tables"
        msg = (
            f"{what}: {len(given)} in the list for {tables}; give one for each, or one for all "
            f"without a list"
        )
        raise Unknown(msg)
    return list(given)


def _thread_count(threads: Any) -> int:
    if threads is None:
        return cpu_count()
    if not isinstance(threads, int) or threads < 1:
        msg = f"threads = {threads!r}: give a whole number, at least 1"
        raise Unknown(msg)
    return threads


def _key_name(key: Any) -> str:
    return str(key.name if isinstance(key, Scalar) else key).replace("'", ".dot")


def _drop_keys(given: Mapping[Any, Any], names: Sequence[str]) -> dict[Any, Any]:
    return {k: v for k, v in given.items() if _key_name(k) not in names}


def _unknown_names(system: System, unknown: Any) -> tuple[str, ...]:
    if (
        isinstance(unknown, str | Scalar)
        or not isinstance(unknown, Sequence | Mapping)
        or not len(unknown)
    ):
        msg = (
            "fit: name the unknowns in a list, such as unknown=['m', 'theta'], or with first "
            "guesses, unknown={'m': 1.5}"
        )
        raise Unknown(msg)
    names = tuple(_key_name(k) for k in unknown)
    rates = {f"{x.name}.dot" for x in system.q}
    for n in names:
        if n not in system.symbols and n not in rates:
            known = [*system.symbols, *sorted(rates)]
            msg = (
                f"fit: {n!r} is no constant and no start value of {system.name!r}; "
                f"{suggest_name(n, known) or 'known are ' + ', '.join(known)}"
            )
            raise Unknown(msg)
    return names


def _initial_guess(
    system: System,
    name: str,
    firsts: Mapping[str, Any],
    known: Mapping[str, Mapping[Any, Any]],
    measured: Mapping[str, float],
) -> float:
    """The first guess: given with the unknown, as a value or start, as declared, as first
    measured; otherwise zero for a start value.
    """
    if name in firsts:
        return finite_number(name, firsts[name])
    for given in known.values():
        for key, value in given.items():
            if _key_name(key) == name:
                return finite_number(name, value)
    symbol = system.symbols.get(name)
    if symbol is not None and symbol.value is not None:
        return float(symbol.value)
    if symbol is not None and symbol.kind in ("constant", "input"):
        msg = f"fit: {name} has no value to begin with; give a first guess, unknown={{{name!r}: …}}"
        raise Unknown(msg)
    return measured.get(name, 0.0)


def _time_span(columns: Sequence[MeasuredColumn], t0: float | None) -> tuple[float, float]:
    first, last = min(float(c.t[0]) for c in columns), max(float(c.t[-1]) for c in columns)
    begin = first if t0 is None else finite_number("t0", t0)
    if begin > first:
        msg = f"data: t = {first:g} is before the run begins, t0 = {begin:g}"
        raise BadData(msg)
    if last <= begin:
        msg = (
            f"data: all values are at t = {last:g}; a run needs some time between its start and "
            f"a measurement"
        )
        raise BadData(msg)
    return begin, last


def _standard_deviations(names: Sequence[str], noise: Any) -> Mapping[str, float] | None:
    if noise is None:
        return None
    given = (
        {str(k): v for k, v in noise.items()}
        if isinstance(noise, Mapping)
        else dict.fromkeys(names, noise)
    )
    missing, more = [n for n in names if n not in given], [n for n in given if n not in names]
    if missing or more:
        what = f"no σ for column {missing[0]!r}" if missing else f"{more[0]!r} is no column"
        msg = f"noise: {what}; give one for each of {', '.join(names)}, or one number for all"
        raise Unknown(msg)
    sigmas = {n: finite_number(f"noise of {n}", given[n]) for n in names}
    if (wrong := next((n for n, s in sigmas.items() if s <= 0.0), None)) is not None:
        msg = f"noise of {wrong} = {sigmas[wrong]:g}: a standard deviation must be positive"
        raise Unknown(msg)
    return sigmas


def _bound_arrays(
    names: Sequence[str], local: Sequence[str], bounds: Mapping[Any, tuple[float, float]] | None
) -> tuple[list[float], list[float]]:
    """Of every unknown, by its name with or without the number of its table."""
    given = {_key_name(k): v for k, v in (bounds or {}).items()}
    if (more := next((n for n in given if n not in names and n not in local), None)) is not None:
        msg = f"bounds: {more!r} is not among the unknowns {', '.join(names)}"
        raise Unknown(msg)
    pairs = [given.get(n, given.get(n.partition("[")[0], (-math.inf, math.inf))) for n in names]
    for n, (low, high) in zip(names, pairs, strict=True):
        if not low < high:
            msg = f"bounds of {n}: {low:g} is not below {high:g}"
            raise Unknown(msg)
    return [float(low) for low, _ in pairs], [float(high) for _, high in pairs]
