"""simulate: name=value on the command line, a motion in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Unpack

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import INTERRUPTED, PROGRAM_FAILED, CommandExit, print_error
from dalembert.cli.output import Json, check_image_path, print_line, print_result, report_written
from dalembert.cli.shared_options import RunFlags, RunTime, SystemName, take_run_flags
from dalembert.cli.system_lookup import find_system, run_request
from dalembert.errors import Unwritable
from dalembert.foundation.atomic_write import check_extension
from dalembert.interface.api.simulate import simulate as run_of
from dalembert.mechanics.model.system import System
from dalembert.runtime.simulation.events.event import event
from dalembert.runtime.simulation.summary import summary_dict

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

Stop = Annotated[
    list[str] | None,
    Option("--stop-when", metavar="EXPRESSION", help="End the run where this crosses zero."),
]


Integrator = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="native, taylor, rosenbrock, auto, RK45, DOP853, Radau, BDF, LSODA, CVODE, IDA or "
        "heyoka.",
        show_default="native",
    ),
]
Stabilize = Annotated[
    str | None,
    Option(
        metavar="HOW",
        help="Constraint stabilization: projection, baumgarte or none.",
        show_default="projection",
    ),
]
Output = Annotated[
    Path | None,
    Option("-o", "--output", metavar="FILE", help="The motion: .csv, .parquet, .mat, .h5, .nc."),
]
Plot = Annotated[Path | None, Option(metavar="FILE.png", help="Write a plot.")]
Reactions = Annotated[
    Path | None,
    Option(metavar="FILE.csv", help="Write the reactions; their magnitudes are printed."),
]
Sensitivity = Annotated[
    list[str] | None,
    Option(
        "--sensitivity",
        metavar="NAME",
        help="Sensitivity to a constant or initial value; repeatable.",
    ),
]
Energy = Annotated[
    float | None,
    Option(
        "--energy-tolerance",
        metavar="E",
        help="Absolute energy tolerance (energy integral E_Z).",
    ),
]
Relative = Annotated[
    float | None,
    Option("--relative-energy-tolerance", metavar="PART", help="Relative energy tolerance."),
]


@take_run_flags
def simulate(
    system: SystemName,
    duration: RunTime = None,
    *,
    integrator: Integrator = None,
    stabilize: Stabilize = None,
    output: Output = None,
    plot: Plot = None,
    stop_when: Stop = None,
    reactions: Reactions = None,
    sensitivity: Sensitivity = None,
    energy: Energy = None,
    relative: Relative = None,
    as_json: Json = False,
    **flags: Unpack[RunFlags],
) -> None:
    r"""Simulate a system.

    Values that --start does not name are zero where the constraints allow it, otherwise solved
    for. Without --start and --for a system of the gallery runs as the gallery proposes. The
    summary is printed; -o writes times, coordinates and speeds. --guess gives a value near
    which a coordinate is solved for, which selects the assembly of a linkage. --reactions
    writes the wrench in every joint, the force of every constraint and the load of every
    prescribed motion. --stop-when ends the run where an expression crosses zero. --sensitivity
    m integrates the derivatives of the motion with respect to m, prints their largest values
    and writes them with the motion. The exit code is 1 if the run stops before its end; the
    part up to there is still written.

    \b
    dalembert simulate double-pendulum --for 10 --start alpha=1 --plot a.png
    dalembert simulate rolling-disk --set m=2 --start theta=1.2 \
        --start psi.dot=6 -o disk.csv
    dalembert simulate cart-and-bar --input "F=2*sin(t)" --rtol 1e-12
    dalembert simulate four-bar --start theta_1=1 --guess theta_3=1.5 \
        --reactions forces.csv
    dalembert simulate double-pendulum --stop-when "alpha + 1/2"
    dalembert simulate double-pendulum --sensitivity l_1 --sensitivity alpha \
        -o swing.csv
    """
    _check_file_names(output, plot, reactions)
    described = find_system(system, flags.get("values")).system
    length, wish = run_request(system, described, duration, flags)
    wish["events"] = [*wish["events"], *(event(text, stop=True) for text in stop_when or ())]
    wish["sensitivities"] = sensitivity or ()
    given = {
        "integrator": integrator,
        "stabilize": stabilize,
        "energy_tolerance": energy,
        "relative_energy_tolerance": relative,
    }
    wish |= {name: x for name, x in given.items() if x is not None}
    wish = {**_options_of_file(described), **wish}
    run, code = _run_with_exit_code(described, length, wish)
    print_result(summary_dict(run) if as_json else run, as_json=as_json)
    if sensitivity and not as_json:
        print_line(str(run.sensitivities))
    _write_files(run, output, plot, reactions, as_json=as_json)
    if code:
        raise CommandExit(code)


# options of a run that a model file may give
_OF_FILE: Final = (
    "t0",
    "rtol",
    "atol",
    "max_step",
    "integrator",
    "stabilize",
    "baumgarte_rate",
    "energy_tolerance",
    "relative_energy_tolerance",
    "keep_energy",
)


def _options_of_file(system: System) -> dict[str, Any]:
    """Run options of a model file; what the command line gives overrides them."""
    given = system.settings.run if system.settings is not None else {}
    return {name: given[name] for name in _OF_FILE if name in given}


def _run_with_exit_code(
    system: System, length: float, options: dict[str, Any]
) -> tuple[Trajectory, int]:
    """The run and the exit code; a run that stops is reported, and its part up to there is kept."""
    from dalembert.runtime.ode.failures import RunInterrupted, RunStopped

    try:
        return run_of(system, length, **options), 0
    except RunInterrupted as ended:
        return ended.trajectory, INTERRUPTED
    except RunStopped as failure:
        if failure.trajectory is None:
            raise
        print_error(str(failure))
        return failure.trajectory, PROGRAM_FAILED


# ---- files -----------------------------------------------------------------------------------


def _check_file_names(output: Path | None, plot: Path | None, reactions: Path | None) -> None:
    """An ending that cannot be written is refused before the run."""
    if output is not None:
        from dalembert.runtime.simulation.table_export import check_table_format

        check_table_format(output)
    check_image_path(plot)
    if reactions is not None:
        check_extension(reactions, (".csv",))


def _write_files(
    run: Trajectory,
    output: Path | None,
    plot: Path | None,
    reactions: Path | None,
    *,
    as_json: bool,
) -> None:
    """Table, plot and reactions of the run, each where it was requested."""
    if output is not None:
        _write_or_rescue(run.write, output, as_json=as_json)
    if plot is not None:
        _write_or_rescue(lambda path: run.plot(path=path), plot, as_json=as_json)
    if reactions is not None:
        if not as_json:
            print_line(str(run.reactions))
        _write_or_rescue(run.reactions.to_csv, reactions, as_json=as_json)


def _write_or_rescue(write: Callable[[Path], object], path: Path, *, as_json: bool) -> None:
    """Written to the requested file; if that fails, to another, so that the run is not lost."""
    try:
        write(path)
    except Unwritable as problem:
        spare = Path(tempfile.mkdtemp(prefix="dalembert-")) / (path.name or "run.csv")
        write(spare)
        print_error(f"{problem.what or problem}; the result is in {spare}")
        raise CommandExit(PROGRAM_FAILED) from None
    report_written(path, as_json=as_json)
