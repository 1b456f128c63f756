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
    r"""Compare what the principles cost.

    Vector and scalar approaches, generalized velocities and generalized speeds: the table of Baruh (2000), for this system,
    with the operations of the equations as each principle gives them and the CPU time of their derivation.

    \b
    dalembert compare rolling-disk
    dalembert compare file.py:pendulum
    """
    chosen = subject(system, values)
    found = comparison(chosen.system)
    tell(found, [*document.heading(chosen), *results.effort(found)], as_json=as_json, statement=found.statement)
