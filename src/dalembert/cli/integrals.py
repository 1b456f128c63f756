"""integrals: which energy integrals of a system are constant, and how well a run keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import exit_by_verdict
from dalembert.cli.output import Json, print_line, print_result, report_written
from dalembert.cli.shared_options import (
    Input,
    SetValues,
    SystemName,
    parse_assignments,
    parse_numbers,
)
from dalembert.cli.system_lookup import find_system, run_options
from dalembert.interface.api.energy_integrals import energy_integrals
from dalembert.interface.api.energy_integrals import routh as reduced
from dalembert.interface.api.simulate import simulate
from dalembert.interface.report import result_blocks, system_report
from dalembert.interface.report.energy_steps import energy_derivation
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.terminal_renderer import print_blocks

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

Routh = Annotated[
    bool,
    Option("--routh", help="Remove the ignorable coordinates: the Routhian and its equations."),
]
Steps = Annotated[
    str | None,
    Option(
        metavar="full|teach",
        help="Show how the integrals follow: v_R, v_t, K₂, σ_R, 𝒫, E_Z; teach adds reasons.",
    ),
]
Plot = Annotated[
    Path | None,
    Option(metavar="FILE.png", help="Simulate and plot the integrals E_Z, E, 𝓗 and C."),
]


def integrals(
    system: SystemName,
    values: SetValues = None,
    inputs: Input = None,
    routh: Routh = False,
    steps: Steps = None,
    plot: Plot = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Decide which energy integrals are constant.

    The six integrals of Mitiguy's chapter 34 in the speeds of the system: each is proved constant
    on every motion or shown not to be, with the coefficients that would have to vanish. Constants
    count as arbitrary unless --set makes them zero.

    \b
    dalembert integrals positioning-device
    dalembert integrals hoist --steps teach
    dalembert integrals positioning-device --set b=0 --input Omega=4 \
        --plot energies.png
    """
    chosen = find_system(system, values)
    given = parse_numbers(chosen.system, "--set", values)
    motions = dict(parse_assignments("--input", inputs))
    result = energy_integrals(chosen.system, values=given, inputs=motions)
    explanation = None if steps is None else result.explain(steps)
    removed = {"routh": reduced(chosen.system)} if routh else {}
    shown = {} if explanation is None else {"steps": str(explanation)}
    print_result(
        result,
        [
            *system_report.title_blocks(chosen),
            *result_blocks.energy_integrals(result, FormulaWriter()),
        ],
        as_json=as_json,
        **removed,
        **(shown if as_json else {}),
    )
    if explanation is not None and not as_json:
        print_line("")
        print_blocks(energy_derivation(result, "teach" if steps == "teach" else "full"))
    if routh and not as_json:
        print_line(str(removed["routh"]))
    if plot is not None:
        length, wish = run_options(system, chosen.system, values=values, inputs=inputs)
        _plot_run(simulate(chosen.system, length, **wish), plot, as_json=as_json)
    exit_by_verdict([None if result.undecided else True])


def _plot_run(run: Trajectory, path: Path, *, as_json: bool) -> None:
    """The integrals along a run as a plot, and their largest changes as a table."""
    from dalembert.analysis.integrals.plotting import plot_integrals

    plot_integrals(run, path)
    if not as_json:
        print_line(str(run.integrals))
    report_written(path, as_json=as_json)
