"""agree: every principle compared exactly."""

from __future__ import annotations

from typing import Annotated

from dalembert import gallery as systems
from dalembert.agreement.agreement_table import Agreement
from dalembert.api.agreement import agreement
from dalembert.cli.declared import Option
from dalembert.cli.errors import exit_by_verdict
from dalembert.cli.options import AnySystem, Given
from dalembert.cli.program import subject
from dalembert.errors import Unknown
from dalembert.report import document, terminal
from dalembert.report.blocks import VerdictSpan
from dalembert.report.comparison import agreement as comparison


def agree(
    system: AnySystem = "",
    values: Given = None,
    *,
    every: Annotated[bool, Option("--all", help="All systems of the gallery.")] = False,
    times: Annotated[bool, Option("--times", help="Also show what each derivation costs.")] = False,
) -> None:
    """The certificate: every principle compared exactly, on one system or on all."""
    if every == bool(system):
        msg = "name one system, or say --all" if not system else "name one system or say --all, not both"
        raise Unknown(msg)
    verdicts = _all_agreements() if every else [_agreement(system, values, times=times)]
    exit_by_verdict(verdicts)


def _agreement(name: str, values: list[str] | None, *, times: bool) -> bool | None:
    chosen = subject(name, values)
    found = agreement(chosen.system)
    terminal.show([*document.heading(chosen), *comparison(found, times=times)])
    return found.holds


def _all_agreements() -> list[bool | None]:
    """One line for each system, as soon as it is known."""
    out = terminal.console()
    width = max(map(len, systems.names()))
    verdicts: list[bool | None] = []
    for name in systems.names():
        found = agreement(systems.build(name))
        verdicts.append(found.holds)
        terminal.line(out, f"{name:{width}}  ", VerdictSpan(_summary(found), found.holds))
    terminal.line(out, VerdictSpan(f"{verdicts.count(True)} of {len(verdicts)} systems agree.", all(verdicts)))
    return verdicts


def _summary(found: Agreement) -> str:
    verdict = f"{found.counted} principles agree exactly, error < {found.bound:.0e}" if found.agree else found.statement
    return f"{verdict}; audit {sum(f.holds is True for f in found.audit)}/{len(found.audit)}"
