"""simulate: name=value on the command line, a motion in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalembert.api.simulate import simulate as run_of
from dalembert.cli.declared import Option
from dalembert.cli.errors import INTERRUPTED, PROGRAM_FAILED, Ended, say
from dalembert.cli.options import (
    AbsoluteTolerance,
    Beginning,
    Given,
    Guess,
    Input,
    RelativeTolerance,
    RunTime,
    Start,
    SystemName,
    numbers,
    pairs,
)
from dalembert.cli.output import Json, echo, tell, wrote
from dalembert.cli.program import proposed, proposed_start, subject
from dalembert.errors import DalembertError, Unwritable
from dalembert.files import check_ending
from dalembert.model.system import System
from dalembert.report.blocks import Block
from dalembert.simulation.events.event import event
from dalembert.simulation.summary import figures

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory

DURATION = 10.0

Stop = Annotated[list[str] | None, Option("--stop-when", metavar="EXPRESSION", help="End the run where this crosses zero.")]


def simulate(
    system: SystemName,
    duration: RunTime = None,
    values: Given = None,
    start: Start = None,
    guess: Guess = None,
    inputs: Input = None,
    t0: Beginning = 0.0,
    rtol: RelativeTolerance = 1e-9,
    atol: AbsoluteTolerance = 1e-9,
    integrator: Annotated[
        str, Option(metavar="NAME", help="native, taylor, rosenbrock, auto, RK45, DOP853, Radau, BDF, LSODA, CVODE, IDA or heyoka.")
    ] = "native",
    stabilize: Annotated[
        str | None, Option(metavar="HOW", help="Drift off the constraints: projection, baumgarte or none.", show_default="projection")
    ] = None,
    output: Annotated[Path | None, Option("-o", "--output", metavar="FILE", help="The motion: .csv, .parquet, .mat, .h5, .nc.")] = None,
    plot: Annotated[Path | None, Option(metavar="FILE.png", help="Where to save a plot.")] = None,
    stop_when: Stop = None,
    reactions: Annotated[Path | None, Option(metavar="FILE.csv", help="Where to write the reactions; their sizes are printed.")] = None,
    sensitivity: Annotated[list[str] | None, Option("--sensitivity", metavar="NAME", help="A constant or start value to vary.")] = None,
    energy: Annotated[float | None, Option("--energy-tolerance", metavar="E", help="How much K₂ + 𝒰 + Z may change in all.")] = None,
    relative: Annotated[float | None, Option("--relative-energy-tolerance", metavar="PART", help="The same, as a part of them.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """A run from the command line: the summary is printed, the motion is written where it is wanted."""
    if output is not None:
        from dalembert.simulation.tables import check_table

        check_table(output)
    if plot is not None:
        from dalembert.simulation.plotting.plot import check_plot

        check_plot(plot)
    if reactions is not None:
        check_ending(reactions, (".csv",))
    described = subject(system, values).system
    shown = proposed(system, described)
    chosen = numbers(described, "--start", start)
    wish: dict[str, Any] = {
        "start": chosen or dict(shown.start if shown and not guess else proposed_start(described)),
        "guess": numbers(described, "--guess", guess),
        "t0": t0,
        "values": numbers(described, "--set", values),
        "inputs": {**(shown.inputs if shown else {}), **dict(pairs("--input", inputs))},
        "rtol": rtol,
        "atol": atol,
        "integrator": integrator,
        "stabilize": stabilize,
        "events": [*(shown.events if shown else ()), *(event(text, stop=True) for text in stop_when or ())],
        "sensitivities": sensitivity or (),
        "energy_tolerance": energy,
        "relative_energy_tolerance": relative,
    }
    length = duration if duration is not None else shown.duration if shown else DURATION
    run, code = _finished(described, length, wish)
    tell(figures(run) if as_json else run, as_json=as_json)
    if sensitivity and not as_json:
        echo(str(run.sensitivities))
    if output is not None:
        _write(run.write, output, as_json=as_json)
    if plot is not None:
        _write(lambda path: run.plot(path=path), plot, as_json=as_json)
    if reactions is not None:
        if not as_json:
            echo(str(run.reactions))
        _write(run.reactions.to_csv, reactions, as_json=as_json)
    if code:
        raise Ended(code)


def demonstration(
    system: System,
    duration: float,
    start: Mapping[str, float],
    values: Mapping[str, float],
    inputs: Mapping[str, str],
    events: Sequence[Any] = (),
) -> Iterator[Block]:
    """A run for a report, or the reason why there is none."""
    from dalembert.report.results import motion, not_run

    try:
        run = run_of(system, duration, start=start, values=values, inputs=inputs, events=events, progress=False)
    except DalembertError as problem:
        return not_run(str(problem))
    return motion(run)


def _finished(system: System, length: float, wish: dict[str, Any]) -> tuple[Trajectory, int]:
    """The run and the exit code; a run that stops is told about, and what there is of it is kept."""
    from dalembert.ode.failures import RunInterrupted, RunStopped

    try:
        return run_of(system, length, **wish), 0
    except RunInterrupted as ended:
        return ended.trajectory, INTERRUPTED
    except RunStopped as failure:
        if failure.trajectory is None:
            raise
        say(str(failure))
        return failure.trajectory, PROGRAM_FAILED


# ---- files -----------------------------------------------------------------------------------


def _write(write: Callable[[Path], object], path: Path, *, as_json: bool) -> None:
    """Written where it was asked for; if that cannot be, where it can, so that the run is not lost."""
    try:
        write(path)
    except Unwritable as problem:
        spare = Path(tempfile.mkdtemp(prefix="dalembert-")) / (path.name or "run.csv")
        write(spare)
        say(f"{str(problem).partition(';')[0]}; the result is in {spare}")
        raise Ended(PROGRAM_FAILED) from None
    wrote(path, as_json=as_json)
