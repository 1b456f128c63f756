"""optimize: the motion of least cost that a model file asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import PROGRAM_FAILED, CommandExit
from dalembert.cli.output import Json, check_image_path, print_result, report_written
from dalembert.cli.shared_options import SetValues, SystemName
from dalembert.cli.system_lookup import find_system
from dalembert.errors import Unknown

Minimize = Annotated[
    str | None, Option(metavar="EXPRESSION", help="Integrand of the cost, such as F**2.")
]
Starts = Annotated[
    int | None,
    Option(metavar="COUNT", help="Number of starts; all local solutions are listed."),
]
Output = Annotated[
    Path | None,
    Option("-o", "--output", metavar="FILE.csv", help="States and inputs over time."),
]
Plot = Annotated[
    Path | None, Option(metavar="FILE.png", help="Where to save a plot with bounds and replay.")
]
Page = Annotated[
    Path | None, Option(metavar="FILE.html", help="One page: animation, plots and audit.")
]


def optimize(
    system: SystemName,
    values: SetValues = None,
    minimize: Minimize = None,
    starts: Starts = None,
    output: Output = None,
    plot: Plot = None,
    page: Page = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Find the optimal motion of a model with a section [optimize].

    The section has the options of da.optimize: duration, minimize, start, end, bounds, path,
    parameters, guess and others. The answer is replayed by the integrator; the audit is printed.
    Ctrl-C keeps the best point so far. The exit code is 1 if the audit fails.

    \b
    dalembert optimize cart-pole.toml
    dalembert optimize cart-pole.toml --starts 20 --plot best.png --page best.html
    """
    from dalembert.analysis.optimal.optimize import optimize as optimal
    from dalembert.exchange.modelfile.run_settings import Settings

    check_image_path(plot)
    described = find_system(system, values).system
    section = described.settings.optimize if isinstance(described.settings, Settings) else {}
    options = {**section}
    if minimize is not None:
        options["minimize"] = minimize
    if starts is not None:
        options["starts"] = starts
    if not options:
        missing = "add one with duration, minimize, start and end"
        msg = f"{system}: it has no section [optimize]; {missing}"
        raise Unknown(msg)
    best = optimal(described, options.pop("duration", "free"), **options)
    print_result(best.summary() if as_json else best, as_json=as_json)
    if output is not None:
        best.to_csv(output)
        report_written(output, as_json=as_json)
    if plot is not None:
        best.plot(path=plot)
        report_written(plot, as_json=as_json)
    if page is not None:
        best.page(page)
        report_written(page, as_json=as_json)
    if not best.audit.passed:
        raise CommandExit(PROGRAM_FAILED)
