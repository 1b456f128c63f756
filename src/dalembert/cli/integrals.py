"""integrals: which energy integrals of a system are constant, and how well a run keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dalembert.api.energy_integrals import energy_integrals
from dalembert.api.energy_integrals import routh as reduced
from dalembert.api.simulate import simulate as run_of
from dalembert.cli.declared import Option
from dalembert.cli.errors import exit_by_verdict
from dalembert.cli.options import Given, Input, SystemName, numbers, pairs
from dalembert.cli.output import Json, echo, tell, wrote
from dalembert.cli.program import proposed, subject
from dalembert.cli.simulate import DURATION
from dalembert.report import document, results
from dalembert.report.writing import Writing


def integrals(
    system: SystemName,
    values: Given = None,
    inputs: Input = None,
    routh: Annotated[bool, Option("--routh", help="Remove the ignorable coordinates: the Routhian and its equations.")] = False,
    plot: Annotated[Path | None, Option(metavar="FILE.png", help="Run it, and save a plot of E_Z, E, 𝓗 and C.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """The table of the six integrals, decided exactly; with --plot also a run."""
    chosen = subject(system, values)
    given = numbers(chosen.system, "--set", values)
    motions = dict(pairs("--input", inputs))
    found = energy_integrals(chosen.system, values=given, inputs=motions)
    removed = {"routh": reduced(chosen.system)} if routh else {}
    tell(found, [*document.heading(chosen), *results.energy_integrals(found, Writing())], as_json=as_json, **removed)
    if routh and not as_json:
        echo(str(removed["routh"]))
    if plot is not None:
        from dalembert.integrals.plotting import plot_integrals

        shown = proposed(system, chosen.system)
        start, length = (shown.start, shown.duration) if shown else ({}, DURATION)
        motions = {**(shown.inputs if shown else {}), **motions}
        run = run_of(chosen.system, length, start=start, values=given, inputs=motions, events=shown.events if shown else ())
        plot_integrals(run, plot)
        if not as_json:
            echo(str(run.integrals))
        wrote(plot, as_json=as_json)
    exit_by_verdict([None if found.undecided else True])
