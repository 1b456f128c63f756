"""compare: what each way to the equations of motion costs, arranged as in Bar00 Table 1."""

from __future__ import annotations

from dalembert.agreement.comparison import comparison
from dalembert.cli.options import Given, SystemName
from dalembert.cli.output import Json, tell
from dalembert.cli.program import subject
from dalembert.report import document, results


def compare(
    system: SystemName,
    values: Given = None,
    *,
    as_json: Json = False,
) -> None:
    """Vector and scalar approaches, generalized velocities and generalized speeds, on one system."""
    chosen = subject(system, values)
    found = comparison(chosen.system)
    tell(found, [*document.heading(chosen), *results.effort(found)], as_json=as_json, statement=found.statement)
