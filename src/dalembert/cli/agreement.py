"""agree, compare: every principle compared exactly, and what each way to the equations of motion
costs.
"""

from __future__ import annotations

from typing import Annotated

from dalembert import gallery as systems
from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import exit_by_verdict
from dalembert.cli.output import Json, print_result
from dalembert.cli.shared_options import (
    AnySystem,
    Input,
    RunTime,
    SetValues,
    Start,
    SystemName,
    check_system_or_all,
)
from dalembert.cli.system_lookup import find_system, run_options
from dalembert.errors import DalembertError
from dalembert.interface.api.agreement import agreement
from dalembert.interface.api.comparison import comparison
from dalembert.interface.report import result_blocks, system_report, terminal_renderer
from dalembert.interface.report.document_blocks import Block, VerdictSpan, paragraph
from dalembert.mechanics.agreement.agreement_table import Agreement
from dalembert.mechanics.kinematics.system_kinematics import kinematics


def agree(
    system: AnySystem = "",
    values: SetValues = None,
    *,
    every: Annotated[bool, Option("--all", help="All systems of the gallery.")] = False,
    times: Annotated[
        bool, Option("--times", help="Also show the effort of each derivation.")
    ] = False,
    as_json: Json = False,
) -> None:
    r"""Compare the principles exactly.

    Every principle that applies is derived and compared with the first; the kinematics they share
    is audited. The exit code is 1 if anything disagrees, 3 if something could not be decided.

    \b
    dalembert agree rolling-disk
    dalembert agree file.py:pendulum --times
    dalembert agree --all
    """
    check_system_or_all(system, every=every)
    verdicts = (
        _all_agreements(as_json=as_json)
        if every
        else [_agreement(system, values, times=times, as_json=as_json)]
    )
    exit_by_verdict(verdicts)


def _agreement(name: str, values: list[str] | None, *, times: bool, as_json: bool) -> bool | None:
    chosen = find_system(name, values)
    result = agreement(chosen.system)
    blocks = [*system_report.title_blocks(chosen), *result_blocks.agreement(result, times=times)]
    print_result(result, blocks, as_json=as_json, holds=result.holds, statement=result.statement)
    return result.holds


def _all_agreements(*, as_json: bool) -> list[bool | None]:
    """One line for each system, as soon as it is known."""
    if as_json:
        agreements = {name: agreement(systems.build(name)) for name in systems.names()}
        print_result(
            [
                {"name": name, "holds": each.holds, "verdict": _agreement_summary(each)}
                for name, each in agreements.items()
            ],
            as_json=True,
        )
        return [each.holds for each in agreements.values()]
    out = terminal_renderer.output()
    width = max(map(len, systems.names()))
    verdicts: list[bool | None] = []
    for name in systems.names():
        each = agreement(systems.build(name))
        verdicts.append(each.holds)
        terminal_renderer.print_line(
            out, f"{name:{width}}  ", VerdictSpan(_agreement_summary(each), each.holds)
        )
    terminal_renderer.print_line(
        out, VerdictSpan(f"{verdicts.count(True)} of {len(verdicts)} systems agree.", all(verdicts))
    )
    return verdicts


def _agreement_summary(result: Agreement) -> str:
    verdict = (
        f"{result.count_text} principles agree exactly, error < {result.bound:.0e}"
        if result.agree
        else result.statement
    )
    return f"{verdict}; audit {sum(f.holds is True for f in result.audit)}/{len(result.audit)}"


def compare(
    system: SystemName,
    values: SetValues = None,
    duration: RunTime = None,
    start: Start = None,
    inputs: Input = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Compare the effort of the principles.

    Vector and scalar approaches, generalized velocities and generalized speeds: the table of
    Baruh (2000) for this system, with the operations of the equations by each principle and the
    CPU time of their derivation. One run measures the integration effort of each form of the
    equations. For nonholonomic constraints it shows the terms that are lost if they are
    inserted into the kinetic energy too early.

    \b
    dalembert compare rolling-disk
    dalembert compare file.py:pendulum --for 5 --start theta=1
    """
    chosen = find_system(system, values)
    length, options = run_options(system, chosen.system, duration, values, start, inputs)
    run = {key: options[key] for key in ("start", "values", "inputs")}
    note: list[Block] = []
    try:
        cost_comparison = comparison(chosen.system, length, **run)
    except DalembertError as reason:
        if duration is not None or start or inputs:
            raise
        cost_comparison = comparison(chosen.system)
        note = [paragraph(f"Ease of integration is not measured: {reason}.")]
    print_result(
        cost_comparison,
        [
            *system_report.title_blocks(chosen),
            *result_blocks.cost_table(cost_comparison),
            *note,
            *result_blocks.premature_constraint_blocks(kinematics(chosen.system)),
        ],
        as_json=as_json,
        statement=cost_comparison.statement,
    )
