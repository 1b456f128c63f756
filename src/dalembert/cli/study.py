"""study: what varies and what is kept on the command line, many runs in a file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Unpack

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import PROGRAM_FAILED, CommandExit
from dalembert.cli.output import Json, check_image_path, print_result, report_written
from dalembert.cli.shared_options import (
    RunFlags,
    RunTime,
    SystemName,
    parse_number,
    take_run_flags,
)
from dalembert.cli.system_lookup import find_system, run_request
from dalembert.errors import Unknown
from dalembert.foundation.suggestions import suggest_name

if TYPE_CHECKING:
    from dalembert.mechanics.model.system import System

Over = Annotated[
    list[str] | None,
    Option(
        "--over",
        metavar="WHAT",
        help='name=first:last:count, name=1,2,3 or "name~normal(0, 0.1)"; as often as needed.',
    ),
]
Keep = Annotated[
    list[str] | None,
    Option(
        "--keep",
        metavar="EXPRESSION",
        help="theta, max(theta), min, mean, end, time(theta - 1); repeatable.",
    ),
]
_DISTRIBUTION_PATTERN: Final = re.compile(r"\s*(.+?)\s*~\s*(\w+)\s*\((.*)\)\s*")
# names that everybody knows, with the numbers that everybody gives
_STANDARD_DISTRIBUTIONS: Final = {
    "normal": ("mean", "standard deviation"),
    "uniform": ("least", "greatest"),
    "lognormal": ("mean of ln", "deviation of ln"),
}


N = Annotated[int | None, Option("--n", metavar="COUNT", help="Number of samples.")]
At = Annotated[
    str | None,
    Option(
        "--at",
        metavar="TIMES",
        help="Times at which values are kept: first:last:count or 1,2,3.",
    ),
]
Output = Annotated[
    Path | None,
    Option(
        "-o",
        "--output",
        metavar="FILE.zarr",
        help="Output file; an unfinished ensemble is resumed.",
    ),
]
Plot = Annotated[Path | None, Option(metavar="FILE.png", help="Write a plot.")]
Workers = Annotated[
    int | None,
    Option("--workers", metavar="COUNT", help="Threads.", show_default="all processors"),
]
Scheduler = Annotated[
    str | None,
    Option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster, tcp://host:8786."),
]


@take_run_flags
def study(
    system: SystemName,
    over: Over = None,
    *,
    n: N = None,
    sampling: Annotated[str, Option(metavar="HOW", help="random, latin or sobol.")] = "random",
    seed: Annotated[int, Option(help="Seed of the samples.")] = 0,
    keep: Keep = None,
    at: At = None,
    duration: RunTime = None,
    output: Output = None,
    plot: Plot = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: Json = False,
    **flags: Unpack[RunFlags],
) -> None:
    r"""Simulate an ensemble: parameter sweep or Monte Carlo.

    --over names what varies: constants, initial values of coordinates and speeds, inputs.
    Ranges and lists make a grid; distributions (normal, uniform, lognormal, or any of
    scipy.stats) are drawn --n times at every point of it. --keep names the results of every
    run: an expression (at the times --at, or at the end), its max, min or mean, or the first
    time at which it crosses zero. -o saves them in a file chunk by chunk; the same command
    resumes an unfinished file. The exit code is 1 if no run reached its end.

    \b
    dalembert study double-pendulum --over alpha=0:3:40 --over beta=0:3:40 \
        --keep "time(beta - pi, up)" --for 10 -o flips.zarr
    dalembert study cart-and-bar --over "theta~normal(0.5, 0.1)" --n 10000 \
        --keep "max(x)" --workers 4 -o study.zarr
    dalembert report study.zarr
    """
    from dalembert.interface.api.ensemble import ensemble

    if workers is not None and scheduler is not None:
        msg = "--workers (threads) and --scheduler (its own workers): give one of them"
        raise Unknown(msg)
    check_image_path(plot)
    described = find_system(system, flags.get("values")).system
    varied = parse_sweep(described, over)
    length, wish = run_request(system, described, duration, flags)
    if not flags.get("start"):
        # varied quantities have no initial value of the gallery
        wish["start"] = {name: x for name, x in wish["start"].items() if name not in varied}
    times = None if at is None else _parse_values(described, "--at", "t", at)
    samples: dict[str, Any] = {"over": varied, "n": n, "sampling": sampling, "seed": seed}
    samples |= {"keep": keep, "threads": workers, "save": output, "engine": scheduler}
    made = ensemble(described, length, at=times, **samples, **wish)
    facts = {"system": described.name, "outcomes": made.outcomes}
    print_result({**facts, "members": made.rows()} if as_json else made, as_json=as_json)
    if output is not None:
        _write_study_command(output, {"system": system, "duration": length}, flags)
        report_written(f"{output}; a page of it: dalembert report {output}", as_json=as_json)
    if plot is not None:
        report_written(made.plot(path=str(plot)).path, as_json=as_json)
    if not made.outcomes.get("finished") and not made.outcomes.get("ended"):
        raise CommandExit(PROGRAM_FAILED)


def _write_study_command(output: Path, request: dict[str, Any], flags: RunFlags) -> None:
    """The command behind a study, kept in its file for the page and for a later run."""
    from dalembert.analysis.studies.zarr_store import write_command

    given = {name: flags.get(name) for name in ("values", "start", "inputs", "guess")}
    write_command(output, json.dumps({**request, **given}, default=list))


def parse_sweep(system: System, over: Iterable[str] | None) -> dict[str, Any]:
    """{name: values or a distribution} of what --over says."""
    sweep: dict[str, Any] = {}
    for text in over or ():
        drawn = _DISTRIBUTION_PATTERN.fullmatch(text)
        if drawn:
            name, values = drawn[1], _parse_distribution(system, text, drawn)
        else:
            name, equals, listed = (part.strip() for part in text.partition("="))
            if not (name and equals and listed):
                msg = (
                    f"--over {text!r}: write it as name=first:last:count, name=1,2,3 or "
                    f'"name~normal(0, 0.1)"'
                )
                raise Unknown(msg)
            values = _parse_values(system, "--over", name, listed)
        if name in sweep:
            msg = f"--over {name}: it is given twice"
            raise Unknown(msg)
        sweep[name] = values
    if not sweep:
        msg = (
            'nothing varies: give --over name=first:last:count, name=1,2,3 or "name~normal(0, 0.1)"'
        )
        raise Unknown(msg)
    return sweep


def _parse_values(system: System, option: str, name: str, text: str) -> list[float]:
    """0.1:10:50 in equal steps, or 1,2,3 as listed."""
    if ":" not in text:
        return [parse_number(system, option, name, part.strip()) for part in text.split(",")]
    parts = [part.strip() for part in text.split(":")]
    if len(parts) != 3 or not parts[2].isdigit() or int(parts[2]) < 1:
        msg = f"{option} {name}={text}: a range is first:last:count, such as 0.1:10:50"
        raise Unknown(msg)
    import numpy as np

    first, last = (parse_number(system, option, name, part) for part in parts[:2])
    return [float(x) for x in np.linspace(first, last, int(parts[2]))]


def _parse_distribution(system: System, text: str, drawn: re.Match[str]) -> Any:
    """normal(mean, deviation), uniform(least, greatest), lognormal(mean, deviation of the
    logarithm), or by its name in scipy.stats.
    """
    from scipy import stats

    name, kind = drawn[1], drawn[2]
    given = [
        parse_number(system, "--over", f"{name}~{kind}", part.strip())
        for part in drawn[3].split(",")
        if part.strip()
    ]
    if kind in _STANDARD_DISTRIBUTIONS:
        return _standard_distribution(text, kind, given)
    family: Any = getattr(stats, kind, None)
    if not hasattr(family, "ppf"):
        names = [
            *_STANDARD_DISTRIBUTIONS,
            *(each for each in dir(stats) if hasattr(getattr(stats, each), "ppf")),
        ]
        hint = suggest_name(kind, names) or "normal and uniform are, and those of scipy.stats"
        msg = f"--over {text}: no distribution is called {kind!r}; {hint}"
        raise Unknown(msg)
    try:
        return family(*given)
    except TypeError as problem:
        msg = f"--over {text}: scipy.stats.{kind} takes other numbers: {problem}"
        raise Unknown(msg) from problem


def _standard_distribution(text: str, kind: str, given: list[float]) -> Any:
    """normal, uniform or lognormal with their two numbers."""
    from scipy import stats

    if len(given) != 2:
        meaning = " and ".join(_STANDARD_DISTRIBUTIONS[kind])
        msg = f"--over {text}: {kind} takes two numbers, {meaning}"
        raise Unknown(msg)
    a, b = given
    if kind == "uniform":
        if b <= a:
            msg = f"--over {text}: the range from {a:g} to {b:g} is empty"
            raise Unknown(msg)
        return stats.uniform(a, b - a)
    if b <= 0.0:
        msg = f"--over {text}: the deviation {b:g} must be positive"
        raise Unknown(msg)
    return stats.norm(a, b) if kind == "normal" else stats.lognorm(b, 0.0, math.exp(a))
