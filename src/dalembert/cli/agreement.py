"""agree, compare: every principle compared exactly, and what each way to the equations of motion costs."""

from __future__ import annotations

from typing import Annotated

from dalembert import gallery as systems
from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import exit_by_verdict
from dalembert.cli.output import Json, tell
from dalembert.cli.shared_options import AnySystem, Given, SystemName, check_one_or_all
from dalembert.cli.system_lookup import subject
from dalembert.interface.api.agreement import agreement
from dalembert.interface.report import result_blocks, system_report, terminal_renderer
from dalembert.interface.report.document_blocks import VerdictSpan
from dalembert.mechanics.agreement.agreement_table import Agreement


def agree(
    system: AnySystem = "",
    values: Given = None,
    *,
    every: Annotated[bool, Option("--all", help="All systems of the gallery.")] = False,
    times: Annotated[bool, Option("--times", help="Also show what each derivation costs.")] = False,
    as_json: Json = False,
) -> None:
    r"""Compare the principles exactly.

    Every principle that applies is derived and compared with the first; the kinematics they share is audited. The exit code
    is 1 if anything disagrees, 3 if something could not be decided.

    \b
    dalembert agree rolling-disk
    dalembert agree file.py:pendulum --times
    dalembert agree --all
    """
    check_one_or_all(system, every=every)
    verdicts = _all_agreements(as_json=as_json) if every else [_agreement(system, values, times=times, as_json=as_json)]
    exit_by_verdict(verdicts)


def _agreement(name: str, values: list[str] | None, *, times: bool, as_json: bool) -> bool | None:
    chosen = subject(name, values)
    found = agreement(chosen.system)
    blocks = [*system_report.heading(chosen), *result_blocks.agreement(found, times=times)]
    tell(found, blocks, as_json=as_json, holds=found.holds, statement=found.statement)
    return found.holds


def _all_agreements(*, as_json: bool) -> list[bool | None]:
    """One line for each system, as soon as it is known."""
    if as_json:
        found = {name: agreement(systems.build(name)) for name in systems.names()}
        tell([{"name": name, "holds": each.holds, "verdict": _summary(each)} for name, each in found.items()], as_json=True)
        return [each.holds for each in found.values()]
    out = terminal_renderer.output()
    width = max(map(len, systems.names()))
    verdicts: list[bool | None] = []
    for name in systems.names():
        each = agreement(systems.build(name))
        verdicts.append(each.holds)
        terminal_renderer.line(out, f"{name:{width}}  ", VerdictSpan(_summary(each), each.holds))
    terminal_renderer.line(out, VerdictSpan(f"{verdicts.count(True)} of {len(verdicts)} systems agree.", all(verdicts)))
    return verdicts


def _summary(found: Agreement) -> str:
    verdict = f"{found.counted} principles agree exactly, error < {found.bound:.0e}" if found.agree else found.statement
    return f"{verdict}; audit {sum(f.holds is True for f in found.audit)}/{len(found.audit)}"


def compare(
    system: SystemName,
    values: Given = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Compare what the principles cost.

    Vector and scalar approaches, generalized velocities and generalized speeds: the table of Baruh (2000), for this system,
    with the operations of the equations as each principle gives them and the CPU time of their derivation.

    \b
    dalembert compare rolling-disk
    dalembert compare file.py:pendulum
    """
    from dalembert.mechanics.agreement.comparison import comparison

    chosen = subject(system, values)
    found = comparison(chosen.system)
    tell(found, [*system_report.heading(chosen), *result_blocks.effort(found)], as_json=as_json, statement=found.statement)
